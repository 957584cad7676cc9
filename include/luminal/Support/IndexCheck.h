//===- IndexCheck.h - Whether index arithmetic stays in bounds ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one place that decides whether an index expression, evaluated over an
// iteration space, has a value and lies inside an extent. The answer is one of
// three:
//   - it holds for all symbols in range,
//   - it holds if and only if some inequalities between expressions over
//     symbols hold (`Requirement`); these are checked at each call, or
//   - an error: it is refuted, or cannot be decided.
//
// An expression stands for an exact integer. Sums and products in emitted code
// wrap modulo 2^64, which is exact if the final value fits; so the result and
// every operand of floordiv, mod, max and min must fit into int64_t. No divisor
// may be 0.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_SUPPORT_INDEXCHECK_H
#define LUMINAL_SUPPORT_INDEXCHECK_H

#include "luminal/Support/Expr.h"
#include <set>
#include <unordered_map>

namespace luminal {

/// Largest value of a symbol without an upper bound. Binding a symbol to a
/// larger value is an error; proofs about 64-bit arithmetic rely on this.
constexpr int64_t kLargestExtent = int64_t(1) << 48;

/// `range`, with this upper bound if it has none.
SymbolRange boundedRange(SymbolRange range);
/// The same facts, with this upper bound on every unbounded symbol.
Assumptions boundSymbols(const Assumptions &assumptions);

/// A condition on the symbols of a program: `lesser <= greater`, where both fit
/// into int64_t. It need not hold if an extent of `space` is 0.
struct Requirement {
  Expr lesser, greater;
  std::vector<Expr> space;
  /// Start of the error message if the condition fails, with its place in the
  /// program.
  std::string what;

  /// std::nullopt if the condition holds, else "<what>: expected m <= n, found
  /// 8 and 5".
  std::optional<std::string>
  getViolation(const Expr::SymbolValues &symbols) const;
  /// Whether both are the same condition; ignores `what`.
  bool isSameCondition(const Requirement &other) const {
    return lesser == other.lesser && greater == other.greater &&
           space == other.space;
  }
};

/// Checks expressions over one iteration space.
class IndexChecker {
public:
  /// `space` holds the extents of the dims: 0 <= d_i < space[i].
  IndexChecker(const Assumptions &symbols, std::vector<Expr> space);

  /// Each check returns an error or std::nullopt. Conditions that cannot be
  /// decided here are appended to `requirements`, without `what`.

  /// Checks that `e` has a value at every point, within [0, limit).
  std::optional<std::string> checkInside(const Expr &e, const Expr &limit);
  /// Checks that `e` has a value at every point.
  std::optional<std::string> checkValue(const Expr &e);
  /// Checks that `e` has a value of at least `least` at every point.
  std::optional<std::string> checkAtLeast(const Expr &e, const Expr &least);
  /// Checks that every operand of floordiv, mod, max and min in `e` has a
  /// value.
  std::optional<std::string> checkOperands(const Expr &e);

  /// The cheap part of checkInside: an error if the index is outside for all
  /// symbols in range.
  std::optional<std::string> refuteInside(const Expr &e, const Expr &limit);

  std::vector<Requirement> requirements;

private:
  enum class Trend { Constant, Rising, Falling, Linear, Unknown };
  /// How `e` changes as a dim increases.
  Trend trendIn(const Expr &e, unsigned dim);
  /// Minimum or maximum (`greatest`) of `e` over the space, as an expression
  /// over symbols. Exact: some point attains it.
  std::optional<Expr> extreme(const Expr &e, bool greatest);
  std::optional<Expr> extremeOfGroup(const Expr &e, bool greatest);
  /// The extreme if `e` is monotone or linear in each dim: at a corner.
  std::optional<Expr> atCorners(const Expr &e, bool greatest);
  std::optional<Expr> ofMod(const Expr &e, bool greatest);
  /// The extreme over all points of a small constant space.
  std::optional<Expr> byEnumeration(const Expr &e, bool greatest);
  /// Requires lesser <= greater, both over symbols; an error if that never
  /// holds.
  std::optional<std::string> require(const Expr &lesser, const Expr &greater,
                                     const std::string &problem);
  /// Checks that `e` fits into int64_t at every point.
  std::optional<std::string> checkFits(const Expr &e);
  /// Checks that `e` is never 0.
  std::optional<std::string> checkDivisor(const Expr &e);

  Assumptions points; ///< Facts about symbols and dims.
  Assumptions sizes;  ///< Facts about symbols if no extent is 0.
  std::vector<Expr> space;
  /// Whether the space has no points.
  bool isEmpty = false;
  /// Extents that may be 0.
  std::vector<Expr> mayBeZero;
  std::set<Expr> checked;
};

} // namespace luminal

#endif // LUMINAL_SUPPORT_INDEXCHECK_H
