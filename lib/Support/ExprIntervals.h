//===- ExprIntervals.h - Intervals of expressions -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Interval arithmetic for every kind of node, and a search over cases built on
// it. An interval ignores that two operands depend on the same symbol; if a
// proof fails for that reason, the search splits the symbol's range in two and
// examines both halves.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_LIB_SUPPORT_EXPRINTERVALS_H
#define LUMINAL_LIB_SUPPORT_EXPRINTERVALS_H

#include "ExprDetail.h"
#include <functional>

namespace luminal {

/// Inclusive bounds of the values of an expression. Finite bounds are int64_t.
struct Interval {
  using Int = __int128;
  static constexpr Int kInfinity = (Int(1) << 63) + 1;

  Int lo = -kInfinity, hi = kInfinity;

  static Interval point(int64_t value) { return {value, value}; }
  static Interval of(const SymbolRange &range) {
    return {range.lo, range.hi ? Int(*range.hi) : kInfinity};
  }
  bool isPoint() const { return lo == hi; }
  std::optional<int64_t> lower() const {
    return lo < INT64_MIN ? std::nullopt
                          : std::optional<int64_t>(static_cast<int64_t>(lo));
  }
  std::optional<int64_t> upper() const {
    return hi > INT64_MAX ? std::nullopt
                          : std::optional<int64_t>(static_cast<int64_t>(hi));
  }
};

/// The interval of a node of this kind, from those of its operands (at least
/// one). Equal operands are adjacent: a square is not negative.
Interval intervalOf(Expr::Kind kind, const std::vector<Expr> &operands,
                    const std::vector<Interval> &values);

/// The greatest constant that a bounded search proves to be at most `e`, for
/// symbols in `rangeOf` and dims in `extents`; std::nullopt if it proves none.
/// The search stops early when it proves `enough`, or finds a value below it.
std::optional<int64_t>
lowerByCases(const Expr &e,
             const std::function<SymbolRange(const Expr &)> &rangeOf,
             const std::vector<Expr> &extents, std::optional<int64_t> enough);

} // namespace luminal

#endif // LUMINAL_LIB_SUPPORT_EXPRINTERVALS_H
