//===- FoldIntegers.h - Folds integers that equal an expression -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_DIALECT_HLIR_TRANSFORMS_FOLDINTEGERS_H
#define LUMINAL_DIALECT_HLIR_TRANSFORMS_FOLDINTEGERS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace luminal::hlir {

/// Calls `found` for each value of `func` that is one expression of its index
/// for all symbols, together with a new value before it that states the
/// expression: an `hlir.iota`, or a view of a constant.
void findKnownIntegers(
    mlir::func::FuncOp func,
    llvm::function_ref<void(mlir::Value value, mlir::Value same)> found);

} // namespace luminal::hlir

#endif // LUMINAL_DIALECT_HLIR_TRANSFORMS_FOLDINTEGERS_H
