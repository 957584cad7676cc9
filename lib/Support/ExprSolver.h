//===- ExprSolver.h - Bounds and rewrites under assumptions ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One object answers one query about some Assumptions: it caches what it proved
// and counts its steps, so the time per query is bounded. Bounds
// (ExprBounds.cpp) and rewrites (ExprSimplify.cpp) call each other: the bound
// of a floordiv is a simplified floordiv of a bound, and a floordiv is removed
// if a bound decides it.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_LIB_SUPPORT_EXPRSOLVER_H
#define LUMINAL_LIB_SUPPORT_EXPRSOLVER_H

#include "ExprIntervals.h"
#include <unordered_map>

namespace luminal {

/// Answers one query about an expression under given ranges.
class ExprSolver {
public:
  ExprSolver(const std::map<std::string, SymbolRange> &symbols,
             const std::vector<Expr> &extents);

  Expr simplify(const Expr &e);
  /// Whether no divisor in `e` can be 0. If one can, no rewrite may remove it.
  bool hasValue(const Expr &e);

  /// Greatest lower (least upper) constant bound of `e` that the search finds;
  /// `e` must be simplified.
  std::optional<int64_t> lower(const Expr &e);
  std::optional<int64_t> upper(const Expr &e);
  bool nonNegative(const Expr &e);
  /// Bounds without elimination; `e` need not be simplified.
  Interval interval(const Expr &e);
  bool positive(const Expr &e) { return nonNegative(e - Expr(1)); }
  /// For queries of callers, which are worth a search over cases.
  bool atLeastByCases(const Expr &e, int64_t limit);
  std::optional<int64_t> lowerByCases(const Expr &e);
  /// 0 <= e < limit.
  bool inRange(const Expr &e, const Expr &limit) {
    return nonNegative(e) && nonNegative(limit - e - Expr(1));
  }

private:
  // Rewrites.
  Expr simplifyOnce(const Expr &e);
  /// x floordiv c, simplified; both operands are simplified.
  Expr floorDiv(const Expr &x, const Expr &c);
  /// x mod c, simplified; both operands are simplified.
  Expr mod(const Expr &x, const Expr &c);
  /// The max or min of simplified operands, simplified.
  Expr extremum(Expr::Kind kind, const Expr &a, const Expr &b);
  /// x = c * quotient + rest, where the quotient collects everything that is
  /// divisible regardless of ranges.
  struct Division {
    Expr quotient, rest;
  };
  /// Divides term by term, without using ranges.
  Division divide(const Expr &x, const Expr &c);
  /// For a divisor with several terms: a division whose rest is proved to be in
  /// [0, c).
  std::optional<Division> divideIntoRange(const Expr &x, const Expr &c);
  /// For some g other than 1: c = g * c', x = g * a + b with 0 <= b < g. `c` is
  /// c'.
  struct Common {
    Expr a, b, g, c;
  };
  std::optional<Common> commonFactor(const Expr &x, const Expr &c);
  /// An expression equal to x modulo c, without inner mods by a multiple of c;
  /// x itself if it has none.
  Expr dropInnerMods(const Expr &x, const Expr &c);
  Expr join(const Expr &e);
  /// Combines two terms of `e`; std::nullopt if no pair can be combined.
  std::optional<Expr> joinOnce(const Expr &e);

  // Bounds.
  Interval computeInterval(const Expr &e);
  std::optional<int64_t> computeLower(const Expr &e);
  /// Lower bound of `e` by eliminating `atom`, a factor of its terms.
  std::optional<int64_t> eliminate(const Expr &e, const Expr &atom);
  std::optional<int64_t> lowerOfPair(const Expr &e);
  /// `atom` is x floordiv `divisor`, or x itself.
  struct Quotient {
    Expr atom, divisor;
  };
  /// Sorts so that each divisor divides the next one; false if they form no
  /// chain.
  static bool sortByDivisors(std::vector<Quotient> &quotients);
  std::optional<int64_t> lowerOfDigits(const Expr &e);
  /// The part of lowerOfDigits for quotients of `x`.
  std::optional<int64_t> lowerOfDigits(const Expr &e, const Expr &x);
  /// Rewrites mods of `x` and of its quotients: y mod b = y - b * (y floordiv
  /// b).
  Expr expandMods(const Expr &e, const Expr &x);
  /// Lower and upper bounds of an atom, as expressions.
  void bounds(const Expr &atom, std::vector<Expr> &lows,
              std::vector<Expr> &highs);
  /// A bound of `e` without dims, if the sign of every dim's coefficient is
  /// known.
  std::optional<Expr> withoutDims(const Expr &e, bool wantUpper);
  SymbolRange rangeOf(const Expr &symbol) const;
  /// Derives facts from an extent being at least 1.
  void learn(const Expr &extent);
  void forget();

  /// Counts a step; returns whether the limit is not reached.
  bool step() { return depth < kMaxDepth && ++steps < kMaxSteps; }
  struct Nested {
    explicit Nested(unsigned &depth) : depth(++depth) {}
    ~Nested() { --depth; }
    unsigned &depth;
  };
  static constexpr unsigned kMaxDepth = 48;
  static constexpr unsigned kMaxSteps = 20000;

  std::map<std::string, SymbolRange, std::less<>> symbols;
  const std::vector<Expr> &extents;
  /// Non-negative expressions over symbols, which follow from extents being at
  /// least 1.
  std::vector<Expr> facts;
  /// Compound factors of extents, which are at least 1.
  std::vector<Expr> positiveAtoms;
  std::unordered_map<Expr, Expr, ExprHash> simplified;
  std::unordered_map<Expr, std::optional<int64_t>, ExprHash> lowers;
  std::unordered_map<Expr, Interval, ExprHash> intervals;
  unsigned depth = 0;
  unsigned steps = 0;
};

/// numerator / denominator, if it divides exactly.
std::optional<Term> divideTerm(const Term &numerator, const Term &denominator);
/// e / divisor, if it divides exactly, term by term or as polynomials.
std::optional<Expr> divideExactly(const Expr &e, const Expr &divisor);
/// e = coefficient * atom + rest, where rest and coefficient do not contain the
/// atom as a factor; std::nullopt if the atom occurs in a higher power.
std::optional<Expr::Linear> linearInAtom(const Expr &e, const Expr &atom);
/// The distinct factors of all terms, in order.
std::vector<Expr> atomsOf(const Expr &e);

} // namespace luminal

#endif // LUMINAL_LIB_SUPPORT_EXPRSOLVER_H
