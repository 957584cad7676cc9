//===- Body.h - Regions over operands -------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_DIALECT_LLIR_IR_BODY_H
#define LUMINAL_LIB_DIALECT_LLIR_IR_BODY_H

#include "luminal/Dialect/LLIR/IR/LLIR.h"

namespace luminal::llir {

/// Checks that the block of `op` has an argument for each operand and yields a
/// value for each result, with the same types.
inline mlir::LogicalResult verifyBody(mlir::Operation *op) {
  mlir::Block &block = op->getRegion(0).front();
  if (block.getArgumentTypes() != op->getOperandTypes())
    return op->emitOpError() << "the block's arguments are not of the types of "
                             << "the operands";
  auto yield = llvm::dyn_cast<YieldOp>(block.getTerminator());
  if (!yield)
    return op->emitOpError() << "expects its body to end in llir.yield";
  if (yield.getValues().getTypes() != op->getResultTypes())
    return op->emitOpError() << "yields other types than those of its results";
  return mlir::success();
}

} // namespace luminal::llir

#endif // LUMINAL_LIB_DIALECT_LLIR_IR_BODY_H
