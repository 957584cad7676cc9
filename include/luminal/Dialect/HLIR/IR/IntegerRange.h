//===- IntegerRange.h - Constant bounds of integer elements ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What two analyses ask alike: the e-graph's, of classes, and that of
// llir-prove-indices, of values, which knows bounds over symbols as well.
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

/// The elements of an integer constant that has any.
std::optional<IntegerRange> getRange(mlir::DenseIntElementsAttr elements);

/// An expression over an index space, for all symbols in range.
std::optional<IntegerRange> getRange(const Expr &e,
                                     const Assumptions &assumptions);

/// Whether elements of the type i32 or i64 hold all of it without wrapping.
bool holds(mlir::Type element, IntegerRange range);

} // namespace luminal::hlir

#endif // LUMINAL_DIALECT_HLIR_IR_INTEGERRANGE_H
