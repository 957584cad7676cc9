//===- IndexCheck.h - Whether index arithmetic stays in bounds ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one place that decides whether an index, read over an index space, has a
// value and lies inside an extent. The answer is one of three:
//   - it holds for all symbols in range,
//   - it holds exactly where some inequalities between expressions over symbols
//     do (`Requirement`), which are checked once a call, or
//   - an error: it is refuted, or cannot be decided.
//
// An expression means an exact integer. Sums and products of emitted code wrap
// modulo 2^64, which gives the exact result wherever that fits; so the result
// and every operand of floordiv, mod, max and min must fit into int64_t. No
// divisor may be 0.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_SUPPORT_INDEXCHECK_H
#define LUMINAL_SUPPORT_INDEXCHECK_H

#include "luminal/Support/Expr.h"
#include <set>
#include <unordered_map>

namespace luminal {

/// The greatest value of a symbol without an upper bound. Binding a symbol to
/// more is an error; proofs about 64-bit arithmetic rely on it.
constexpr int64_t kLargestExtent = int64_t(1) << 48;

/// `range` with that bound.
SymbolRange boundedRange(SymbolRange range);
/// The same facts with every symbol bounded this way.
Assumptions boundSymbols(const Assumptions &assumptions);

/// A condition on the symbols of a program: `lesser <= greater`, both with a
/// value in int64_t, unless an extent of `space` is 0.
struct Requirement {
  Expr lesser, greater;
  std::vector<Expr> space;
  /// The error where it does not hold, with its place in the program.
  std::string what;

  /// std::nullopt if it holds, else "<what>: expected m <= n, found 8 and 5".
  std::optional<std::string>
  getViolation(const Expr::SymbolValues &symbols) const;
  /// The same condition, regardless of `what`.
  bool isSameCondition(const Requirement &other) const {
    return lesser == other.lesser && greater == other.greater &&
           space == other.space;
  }
};

/// Checks of expressions over one index space.
class IndexChecker {
public:
  /// `space` holds the extents of the dims: 0 <= d_i < space[i].
  IndexChecker(const Assumptions &symbols, std::vector<Expr> space);

  /// Each returns an error, or nothing; requirements without `what` are added
  /// to `requirements`.

  /// `e` has a value at every point, and it is in [0, limit).
  std::optional<std::string> checkInside(const Expr &e, const Expr &limit);
  /// `e` has a value at every point.
  std::optional<std::string> checkValue(const Expr &e);
  /// `e` has a value, and it is at least `least`.
  std::optional<std::string> checkAtLeast(const Expr &e, const Expr &least);
  /// Every operand of floordiv, mod, max and min in `e` has a value.
  std::optional<std::string> checkOperands(const Expr &e);

  /// The cheap part of checkInside: finds an index that is outside for all
  /// symbols in range, if any.
  std::optional<std::string> refuteInside(const Expr &e, const Expr &limit);

  std::vector<Requirement> requirements;

private:
  enum class Trend { Constant, Rising, Falling, Linear, Unknown };
  Trend trendIn(const Expr &e, unsigned dim);
  /// The least (greatest) value of `e` over the space, as an expression over
  /// symbols. Exact: some point has that value.
  std::optional<Expr> extreme(const Expr &e, bool greatest);
  std::optional<Expr> extremeOfGroup(const Expr &e, bool greatest);
  std::optional<Expr> atCorners(const Expr &e, bool greatest);
  std::optional<Expr> ofMod(const Expr &e, bool greatest);
  std::optional<Expr> byEnumeration(const Expr &e, bool greatest);
  /// Requires lesser <= greater, which are over symbols; an error where that
  /// never holds.
  std::optional<std::string> require(const Expr &lesser, const Expr &greater,
                                     const std::string &problem);
  std::optional<std::string> checkFits(const Expr &e);
  std::optional<std::string> checkDivisor(const Expr &e);

  Assumptions points; ///< Symbols and dims.
  Assumptions sizes;  ///< Symbols, where no extent is 0.
  std::vector<Expr> space;
  /// No point is read.
  bool isEmpty = false;
  /// Extents that may be 0.
  std::vector<Expr> mayBeZero;
  std::set<Expr> checked;
};

} // namespace luminal

#endif // LUMINAL_SUPPORT_INDEXCHECK_H
