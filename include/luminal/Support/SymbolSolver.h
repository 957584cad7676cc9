//===- SymbolSolver.h - Symbols from the extents of inputs ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How symbols are solved from the extents of a program's inputs and from its
// integer inputs. The compiler rejects a program with an unsolvable symbol;
// runtime and interpreter compute the values by the same plan. An integer input
// is treated as an extent that may be negative. A symbol follows from
//   - its range, if that is a single value,
//   - an extent that is the symbol itself,
//   - an extent that is linear in it, with no other symbol unknown, or
//   - an extent that increases strictly with it over its range (`n * n`),
//     with no other symbol unknown.
// Every other extent is only checked.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_SUPPORT_SYMBOLSOLVER_H
#define LUMINAL_SUPPORT_SYMBOLSOLVER_H

#include "luminal/Support/Expr.h"
#include "luminal/Support/Result.h"

namespace luminal {

/// How the value of one symbol is found.
struct SymbolSource {
  enum class Kind : uint8_t { Range, Bare, Linear, Rising };
  Kind kind = Kind::Bare;
  /// Index of the symbol, and of the extent it follows from (unused for Range).
  uint32_t symbol = 0, extent = 0;
  /// For Linear: the extent is stride * symbol + rest.
  Expr stride, rest;
};

/// A symbol and the range of its values.
struct NamedRange {
  std::string name;
  SymbolRange range;
};

/// An integer that each call passes beside its tensors, and the expression over
/// the symbols that it must equal.
struct IntegerInput {
  std::string name;
  Expr value;
};

/// The sources of all solvable symbols, ordered so that each needs only earlier
/// ones. `symbols` are sorted by name; `extents` are the extents of all
/// tensors, then the expressions of all integers.
std::vector<SymbolSource> planSymbols(const std::vector<NamedRange> &symbols,
                                      const std::vector<Expr> &extents);

/// Solves for a symbol, given that `extent`, the expression of the source, has
/// the value `value`. The result is in the symbol's range, and at most
/// kLargestExtent for a symbol without an upper bound. `known` holds the
/// symbols found before. The error describes the constraint that `value`
/// violates.
Result<int64_t> solveSymbol(const SymbolSource &source,
                            const NamedRange &symbol, const Expr &extent,
                            int64_t value, const Expr::SymbolValues &known);

/// The error text for a symbol without a source: "the value of 'n' does not
/// follow from ...".
std::string describeUnsolved(const std::string &symbol,
                             const std::vector<Expr> &extents);

} // namespace luminal

#endif // LUMINAL_SUPPORT_SYMBOLSOLVER_H
