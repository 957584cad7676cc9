//===- SymbolSolver.h - Symbols from the extents of inputs ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one rule by which symbols are solved from the extents of a program's
// inputs, and from the integers that it is called with: the compiler refuses a
// program with an unsolvable symbol; runtime and interpreter find values by the
// same plan. An integer is an extent here, which may be negative. A symbol
// follows from
//   - its range, if that is one value,
//   - an extent that is the symbol,
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

/// Where the value of one symbol comes from.
struct SymbolSource {
  enum class Kind : uint8_t { Range, Bare, Linear, Rising };
  Kind kind = Kind::Bare;
  /// Positions in the list of symbols and of extents (not of a Range).
  uint32_t symbol = 0, extent = 0;
  /// For Linear: the extent is stride * symbol + rest.
  Expr stride, rest;
};

struct NamedRange {
  std::string name;
  SymbolRange range;
};

/// An integer that each call gives, as it gives the extents of its tensors:
/// what it must be equal to, an expression over the symbols.
struct IntegerInput {
  std::string name;
  Expr value;
};

/// The sources of all symbols that have one, in an order in which each needs
/// only earlier ones. `symbols` are sorted by name; `extents` are those of all
/// tensors, then the values of all integers.
std::vector<SymbolSource> planSymbols(const std::vector<NamedRange> &symbols,
                                      const std::vector<Expr> &extents);

/// The value of the symbol where `extent`, the expression of the source, is
/// `value`; in the symbol's range, and at most kLargestExtent for symbols
/// without an upper bound. `known` are the symbols found before. The error says
/// what `value` is not.
Result<int64_t> solveSymbol(const SymbolSource &source,
                            const NamedRange &symbol, const Expr &extent,
                            int64_t value, const Expr::SymbolValues &known);

/// "the value of 'n' does not follow from ...": for a symbol without a source.
std::string describeUnsolved(const std::string &symbol,
                             const std::vector<Expr> &extents);

} // namespace luminal

#endif // LUMINAL_SUPPORT_SYMBOLSOLVER_H
