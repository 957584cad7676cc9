//===- CheckKernels.cpp - Invariants of kernels after fusion --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/Dialect/LLIR/check-kernels.mlir.
//
//===----------------------------------------------------------------------===//

#include "luminal/Dialect/LLIR/Transforms/Passes.h"

namespace luminal::llir {
#define GEN_PASS_DEF_CHECKKERNELSPASS
#include "luminal/Dialect/LLIR/Transforms/Passes.h.inc"
} // namespace luminal::llir

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;

namespace {
struct CheckKernels : llir::impl::CheckKernelsPassBase<CheckKernels> {
  void runOnOperation() override {
    getOperation().walk([&](KernelOp kernel) {
      for (OpResult result : kernel->getResults()) {
        if (!result.use_empty())
          continue;
        kernel.emitOpError() << "result " << result.getResultNumber()
                             << " has no reader: it would be written to memory "
                                "for nothing";
        return signalPassFailure();
      }
    });
  }
};
} // namespace
