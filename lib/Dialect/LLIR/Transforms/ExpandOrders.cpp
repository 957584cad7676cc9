//===- ExpandOrders.cpp - Expands sorts and scans into kernels ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/Dialect/LLIR/expand-orders.mlir.
//
//===----------------------------------------------------------------------===//

#include "luminal/Dialect/LLIR/Transforms/Passes.h"
#include "luminal/Dialect/LLIR/Utils/Remarks.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace luminal::llir {
#define GEN_PASS_DEF_EXPANDORDERSPASS
#include "luminal/Dialect/LLIR/Transforms/Passes.h.inc"
} // namespace luminal::llir

#define DEBUG_TYPE "llir-expand-orders"

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;

namespace {
struct ExpandOrders : llir::impl::ExpandOrdersPassBase<ExpandOrders> {
  using ExpandOrdersPassBase::ExpandOrdersPassBase;
  void runOnOperation() override;
};
} // namespace

void ExpandOrders::runOnOperation() {
  if (getOperation().isDeclaration())
    return;
  MachineModel machine = MachineModel::getLeastGPU();
  machine.workers = static_cast<unsigned>(workers);
  Reporter reporter(&getContext(), DEBUG_TYPE, getOperation().getSymName());
  Block &block = getOperation().getBody().front();
  Assumptions symbols = hlir::getAssumptions(block.getTerminator());
  for (Operation &op : llvm::make_early_inc_range(block.without_terminator())) {
    auto expanded = dyn_cast<ExpandOpInterface>(op);
    // On a CPU the runtime's libraries compute these ops.
    if (!expanded || (!blockThreads && isa<LibraryOpInterface>(op)))
      continue;
    // The op was replaced together with another one.
    if (op.use_empty()) {
      op.erase();
      continue;
    }
    ImplicitLocOpBuilder b(op.getLoc(), &op);
    SmallVector<Value> values = expanded.expand(b, symbols, machine);
    int64_t kernels = 0;
    for (Operation *at = op.getPrevNode();
         at && at->getLoc() == op.getLoc() && isa<KernelOp, AliasOp>(at);
         at = at->getPrevNode())
      kernels += isa<KernelOp>(at);
    reporter.passed(op.getLoc(), "kernels",
                    {{"op", op.getName().stripDialect()}, {"count", kernels}});
    for (auto [result, value] : llvm::zip_equal(op.getResults(), values))
      if (!result.use_empty())
        result.replaceAllUsesWith(value);
    op.erase();
  }
}
