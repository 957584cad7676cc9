//===- IntegerRange.h - Constant bounds of integer elements ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shared by two analyses: the e-graph's, of classes, and that of
// llir-prove-indices, of values, which also has bounds over symbols.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_DIALECT_HLIR_IR_INTEGERRANGE_H
#define LUMINAL_DIALECT_HLIR_IR_INTEGERRANGE_H

#include "luminal/Dialect/HLIR/IR/HLIR.h"

namespace luminal::hlir {

/// Inclusive.
struct IntegerRange {
  int64_t lo, hi;
};

/// The range of the elements of a nonempty integer constant.
std::optional<IntegerRange> getRange(mlir::DenseIntElementsAttr elements);

/// The range of an expression over an index space, for all symbols in range.
std::optional<IntegerRange> getRange(const Expr &e,
                                     const Assumptions &assumptions);

/// Whether elements of the type i32 or i64 hold all of it without wrapping.
bool holds(mlir::Type element, IntegerRange range);

} // namespace luminal::hlir

#endif // LUMINAL_DIALECT_HLIR_IR_INTEGERRANGE_H
