//===- WholeKernel.h - A kernel of one op -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_DIALECT_LLIR_IR_WHOLEKERNEL_H
#define LUMINAL_LIB_DIALECT_LLIR_IR_WHOLEKERNEL_H

#include "luminal/Dialect/LLIR/IR/LLIR.h"

namespace luminal::llir {

/// Builds a kernel that holds only an `OpTy`, on the kernel's operands.
template <typename OpTy>
KernelOp makeWholeKernel(mlir::ImplicitLocOpBuilder &b, mlir::TypeRange results,
                         mlir::ValueRange operands, mlir::NamedAttrList attrs) {
  auto kernel = KernelOp::create(b, results, operands, /*in_place=*/false,
                                 /*loops=*/nullptr);
  mlir::Block &block = kernel.getBody().emplaceBlock();
  for (mlir::Value operand : operands)
    block.addArgument(operand.getType(), b.getLoc());
  mlir::OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&block);
  auto op = OpTy::create(b, results, block.getArguments(),
                         llvm::ArrayRef<mlir::NamedAttribute>(attrs));
  YieldOp::create(b, op->getResults());
  return kernel;
}

} // namespace luminal::llir

#endif // LUMINAL_LIB_DIALECT_LLIR_IR_WHOLEKERNEL_H
