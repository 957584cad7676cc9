//===- Preparation.h - The memory of what is prepared ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_DIALECT_LLIR_TRANSFORMS_PREPARATION_H
#define LUMINAL_DIALECT_LLIR_TRANSFORMS_PREPARATION_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace luminal::llir {

/// Bytes of what programs of kernels prepare from their weights, which are the
/// same: each equal value once, as llir-plan-memory makes it.
struct PreparedBytes {
  int64_t values = 0;
  /// Of weights that nothing else reads, so that they need not stay.
  int64_t replaced = 0;
};
PreparedBytes countPreparedBytes(llvm::ArrayRef<mlir::func::FuncOp> programs);

/// Bytes of the weights of a program.
int64_t countWeightBytes(mlir::func::FuncOp program);

} // namespace luminal::llir

#endif // LUMINAL_DIALECT_LLIR_TRANSFORMS_PREPARATION_H
