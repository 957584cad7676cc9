//===- Preparation.h - Memory for prepared values -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_DIALECT_LLIR_TRANSFORMS_PREPARATION_H
#define LUMINAL_DIALECT_LLIR_TRANSFORMS_PREPARATION_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace luminal::llir {

/// Bytes that programs prepare from their weights. The programs have the same
/// weights. Each equal value counts once, as llir-plan-memory shares it.
struct PreparedBytes {
  int64_t values = 0;
  /// Bytes of the weights that nothing else reads, so that they need not stay
  /// in memory.
  int64_t replaced = 0;
};
PreparedBytes countPreparedBytes(llvm::ArrayRef<mlir::func::FuncOp> programs);

/// Returns the bytes of the weights of a program.
int64_t countWeightBytes(mlir::func::FuncOp program);

} // namespace luminal::llir

#endif // LUMINAL_DIALECT_LLIR_TRANSFORMS_PREPARATION_H
