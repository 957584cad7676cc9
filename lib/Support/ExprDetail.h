//===- ExprDetail.h - Nodes and terms behind Expr -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shared by Expr.cpp, ExprParser.cpp, ExprSimplify.cpp and ExprBounds.cpp. An
// expression is a sum of terms; a term is a coefficient times a sorted list of
// factors; a factor is a dim, a symbol, a floordiv, mod, max or min node, or
// (only if expanding the product would be too large) a sum.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_LIB_SUPPORT_EXPRDETAIL_H
#define LUMINAL_LIB_SUPPORT_EXPRDETAIL_H

#include "luminal/Support/Expr.h"

namespace luminal {

struct Expr::Node : Expr::Counted {
  Kind kind = Kind::Constant;
  /// The value of a constant, or the index of a dim.
  int64_t value = 0;
  std::string name;
  std::vector<Expr> operands;
  size_t hash = 0;
  /// Number of leaves of the tree, saturating; size limits and size comparisons
  /// use it.
  uint32_t weight = 1;
  uint32_t depth = 1;
  /// Number of floordiv, mod, max and min nodes of the tree, saturating.
  uint32_t compounds = 0;
  bool hasDims = false;
  /// Whether the sum at the top of this node contains an unexpanded product.
  bool opaque = false;
  /// Next node in the same bucket of the intern table.
  Node *next = nullptr;
};

struct ExprHash {
  size_t operator()(const Expr &e) const { return e.hash(); }
};

/// coefficient * product(factors).
struct Term {
  std::vector<Expr> factors;
  int64_t coefficient = 1;
};

/// Access to nodes and terms for the implementation of Expr.
struct ExprBuilder {
  static const Expr::Node &get(const Expr &e) {
    return *static_cast<const Expr::Node *>(e.node);
  }
  static uint32_t weight(const Expr &e) { return get(e).weight; }
  static uint32_t depth(const Expr &e) { return get(e).depth; }
  static uint32_t compounds(const Expr &e) { return get(e).compounds; }
  /// Returns the unique node with this kind, value, name and operands.
  static Expr intern(Expr::Kind kind, int64_t value, std::string_view name,
                     std::vector<Expr> operands);
  /// The same; the node is never freed.
  static Expr keepForever(Expr e);
  static const Expr &undefined();

  /// The terms of a sum, in normal order; empty for 0.
  static std::vector<Term> terms(const Expr &e);
  /// The number of terms, without copying them.
  static size_t numTerms(const Expr &e);
  /// The normal form of a sum of terms whose factors are sorted.
  static Expr sum(std::vector<Term> terms);
  static Expr fromTerm(Term term);
  /// A binary node of the given kind from operands in normal form, folded as
  /// far as possible without facts.
  static Expr rebuild(Expr::Kind kind, const Expr &a, const Expr &b);
  /// Of two lists one of which is a prefix of the other, the longer comes
  /// first, so that terms are ordered as in `d0 * s + d0 + 1`.
  static int compareFactors(const std::vector<Expr> &a,
                            const std::vector<Expr> &b);
  /// Sorted union, with multiplicity.
  static std::vector<Expr> mergeFactors(const std::vector<Expr> &a,
                                        const std::vector<Expr> &b);
};

inline std::optional<int64_t> checkedAdd(int64_t a, int64_t b) {
  int64_t r;
  return __builtin_add_overflow(a, b, &r) ? std::nullopt
                                          : std::optional<int64_t>(r);
}
inline std::optional<int64_t> checkedMul(int64_t a, int64_t b) {
  int64_t r;
  return __builtin_mul_overflow(a, b, &r) ? std::nullopt
                                          : std::optional<int64_t>(r);
}
/// Division rounded toward minus infinity; std::nullopt if the divisor is zero
/// or the result overflows.
template <typename Int>
std::optional<Int> checkedFloorDiv(Int a, Int b) {
  if (b == 0)
    return std::nullopt;
  Int negated;
  if (b == -1)
    return __builtin_sub_overflow(Int(0), a, &negated)
               ? std::nullopt
               : std::optional<Int>(negated);
  Int q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}
template <typename Int>
std::optional<Int> checkedFloorMod(Int a, Int b) {
  if (b == 0)
    return std::nullopt;
  if (b == -1)
    return Int(0);
  Int r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

} // namespace luminal

#endif // LUMINAL_LIB_SUPPORT_EXPRDETAIL_H
