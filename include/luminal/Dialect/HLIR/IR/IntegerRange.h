//===- IntegerRange.h - Constant bounds of integer elements ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two analyses share this: the e-graph's analysis of classes, and that of
// llir-prove-indices of values, which also has bounds over symbols.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_DIALECT_HLIR_IR_INTEGERRANGE_H
#define LUMINAL_DIALECT_HLIR_IR_INTEGERRANGE_H

#include "luminal/Dialect/HLIR/IR/HLIR.h"

namespace luminal::hlir {

/// An inclusive range.
struct IntegerRange {
  int64_t lo, hi;
};

/// Returns the range of the elements of a nonempty integer constant.
std::optional<IntegerRange> getRange(mlir::DenseIntElementsAttr elements);

/// Returns the range of an expression over an index space, for all symbols in
/// their ranges.
std::optional<IntegerRange> getRange(const Expr &e,
                                     const Assumptions &assumptions);

/// Returns whether the element type represents the whole range without
/// wrapping.
bool holds(mlir::Type element, IntegerRange range);

} // namespace luminal::hlir

#endif // LUMINAL_DIALECT_HLIR_IR_INTEGERRANGE_H
