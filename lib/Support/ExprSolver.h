//===- ExprSolver.h - Bounds and rewrites under assumptions ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One object answers one query about some Assumptions: it caches what it proved
// and counts its steps, so that the time for each expression is bounded. Bounds
// (ExprBounds.cpp) and rewrites (ExprSimplify.cpp) call each other: a bound of
// a floordiv is a simplified floordiv of a bound; a floordiv is removed where a
// bound decides it.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_LIB_SUPPORT_EXPRSOLVER_H
#define LUMINAL_LIB_SUPPORT_EXPRSOLVER_H

#include "ExprIntervals.h"
#include <unordered_map>

namespace luminal {

class ExprSolver {
public:
  ExprSolver(const std::map<std::string, SymbolRange> &symbols,
             const std::vector<Expr> &extents);

  Expr simplify(const Expr &e);
  /// Whether no divisor in `e` is ever 0. Where one may be, no rewrite may drop
  /// it.
  bool hasValue(const Expr &e);

  /// Greatest lower (least upper) constant bound of `e` that the search finds;
  /// `e` must be simplified.
  std::optional<int64_t> lower(const Expr &e);
  std::optional<int64_t> upper(const Expr &e);
  bool nonNegative(const Expr &e);
  /// Bounds without elimination; `e` need not be simplified.
  Interval interval(const Expr &e);
  bool positive(const Expr &e) { return nonNegative(e - Expr(1)); }
  /// The same queries from outside, which are worth a search over
  /// cases.
  bool atLeastByCases(const Expr &e, int64_t limit);
  std::optional<int64_t> lowerByCases(const Expr &e);
  /// 0 <= e < limit.
  bool inRange(const Expr &e, const Expr &limit) {
    return nonNegative(e) && nonNegative(limit - e - Expr(1));
  }

private:
  // Rewrites.
  Expr simplifyOnce(const Expr &e);
  Expr floorDiv(const Expr &x, const Expr &c);
  Expr mod(const Expr &x, const Expr &c);
  Expr extremum(Expr::Kind kind, const Expr &a, const Expr &b);
  /// x = c * quotient + rest, where the quotient takes everything that divides
  /// without knowledge of ranges.
  struct Division {
    Expr quotient, rest;
  };
  Division divide(const Expr &x, const Expr &c);
  /// For a divisor of several terms: a division whose rest is proved to lie in
  /// [0, c).
  std::optional<Division> divideIntoRange(const Expr &x, const Expr &c);
  /// c = g * c', x = g * a + b with 0 <= b < g, for some g other than 1: a, b,
  /// g and c'.
  struct Common {
    Expr a, b, g, c;
  };
  std::optional<Common> commonFactor(const Expr &x, const Expr &c);
  /// x modulo c, with inner mods by a multiple of c dropped; the same
  /// expression where there are none.
  Expr dropInnerMods(const Expr &x, const Expr &c);
  Expr join(const Expr &e);
  std::optional<Expr> joinOnce(const Expr &e);

  // Bounds.
  Interval computeInterval(const Expr &e);
  std::optional<int64_t> computeLower(const Expr &e);
  std::optional<int64_t> eliminate(const Expr &e, const Expr &atom);
  std::optional<int64_t> lowerOfPair(const Expr &e);
  /// `atom` is x floordiv divisor, or x itself.
  struct Quotient {
    Expr atom, divisor;
  };
  /// So that each divisor divides the next one; false where they are no chain.
  static bool sortByDivisors(std::vector<Quotient> &quotients);
  std::optional<int64_t> lowerOfDigits(const Expr &e);
  /// By those of `x`.
  std::optional<int64_t> lowerOfDigits(const Expr &e, const Expr &x);
  /// y mod b = y - b * (y floordiv b), of `x` and of its quotients.
  Expr expandMods(const Expr &e, const Expr &x);
  void bounds(const Expr &atom, std::vector<Expr> &lows,
              std::vector<Expr> &highs);
  /// A bound of `e` without dims, where every dim enters with a known sign.
  std::optional<Expr> withoutDims(const Expr &e, bool wantUpper);
  SymbolRange rangeOf(const Expr &symbol) const;
  void learn(const Expr &extent);
  void forget();

  /// Counts a step; returns whether any are left.
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
  /// Expressions over symbols that are not negative, since no extent is zero.
  std::vector<Expr> facts;
  /// Compound factors of extents: at least 1.
  std::vector<Expr> positiveAtoms;
  std::unordered_map<Expr, Expr, ExprHash> simplified;
  std::unordered_map<Expr, std::optional<int64_t>, ExprHash> lowers;
  std::unordered_map<Expr, Interval, ExprHash> intervals;
  unsigned depth = 0;
  unsigned steps = 0;
};

/// numerator / denominator where it divides exactly.
std::optional<Term> divideTerm(const Term &numerator, const Term &denominator);
/// e / divisor where it divides exactly: term by term, or as polynomials.
std::optional<Expr> divideExactly(const Expr &e, const Expr &divisor);
/// e = coefficient * atom + rest, where rest and coefficient are free of the
/// atom at their top level; nothing if the atom occurs in a higher power.
std::optional<Expr::Linear> linearInAtom(const Expr &e, const Expr &atom);
/// The distinct factors of all terms, in order.
std::vector<Expr> atomsOf(const Expr &e);

} // namespace luminal

#endif // LUMINAL_LIB_SUPPORT_EXPRSOLVER_H
