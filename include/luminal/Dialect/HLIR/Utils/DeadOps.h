//===- DeadOps.h - Dead code elimination ------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_DIALECT_HLIR_UTILS_DEADOPS_H
#define LUMINAL_DIALECT_HLIR_UTILS_DEADOPS_H

#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace luminal {

/// Erases the ops of a block without readers, and the ops that only these read.
/// Ops without results stay, and so do ops in regions of ops that stay.
inline void eraseDeadOps(mlir::Block &block) {
  for (mlir::Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (mlir::isOpTriviallyDead(&op))
      op.erase();
}

} // namespace luminal

#endif // LUMINAL_DIALECT_HLIR_UTILS_DEADOPS_H
