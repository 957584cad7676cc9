//===- Remarks.cpp - Remarks about kernels --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Dialect/LLIR/Utils/Remarks.h"
#include "luminal/Dialect/LLIR/IR/LLIR.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace luminal;

std::string luminal::describe(Operation *op) {
  std::string name = op->getName().stripDialect().str();
  if (auto elementwise = dyn_cast<llir::ElementwiseOp>(op))
    name += " " + stringifyFn(elementwise.getFn()).str();
  if (auto kernel = dyn_cast<llir::KernelOp>(op))
    name += " " + kernel.getTitle();
  return name;
}

std::string luminal::describeWithPlace(Operation *op) {
  return describe(op) + " at " + hlir::describePlace(op->getLoc());
}

std::string DecisionBase::str() const {
  if (!amount)
    return reason.str();
  return llvm::formatv("{0} ({1:F0}, at most {2:F0})", reason, amount->first,
                       amount->second)
      .str();
}
