//===- Dataflow.cpp - Data dependences of a block's ops -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Dialect/HLIR/Transforms/Dataflow.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace luminal::hlir;

void luminal::hlir::forEachRead(Operation *op, function_ref<void(Value)> fn) {
  for (Value operand : op->getOperands())
    fn(operand);
  Block *around = op->getBlock();
  for (Region &region : op->getRegions())
    region.walk<WalkOrder::PreOrder>([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (operand.getParentBlock() == around)
          fn(operand);
    });
}

Dataflow::Dataflow(Block &block) {
  struct Frame {
    Operation *op;
    SmallVector<Operation *, 4> needs;
    unsigned next = 0;
  };
  std::vector<Frame> stack;
  DenseSet<Operation *> entered;
  auto enter = [&](Operation *op) {
    if (!entered.insert(op).second)
      return;
    Frame frame{op, {}};
    forEachRead(op, [&](Value value) {
      Operation *def = value.getDefiningOp();
      if (def && def->getBlock() == &block)
        frame.needs.push_back(def);
    });
    stack.push_back(std::move(frame));
  };
  for (Operation &root : block) {
    if (&root != &block.back() && isMemoryEffectFree(&root))
      continue;
    enter(&root);
    while (!stack.empty()) {
      Frame &top = stack.back();
      if (top.next != top.needs.size()) {
        enter(top.needs[top.next++]);
        continue;
      }
      indices[top.op] = ops.size();
      ops.push_back(top.op);
      stack.pop_back();
    }
  }
}

std::optional<unsigned> Dataflow::getIndex(Operation *op) const {
  auto it = indices.find(op);
  if (it == indices.end())
    return std::nullopt;
  return it->second;
}

std::optional<unsigned> Dataflow::getIndex(Value value) const {
  Operation *def = value.getDefiningOp();
  return def ? getIndex(def) : std::nullopt;
}

void luminal::hlir::sortByDataflow(Block &block) {
  Dataflow flow(block);
  SmallVector<Operation *> dead;
  for (Operation &op : block)
    if (!flow.getIndex(&op))
      dead.push_back(&op);
  // The remaining ops are moved behind them, in the new order.
  for (Operation *op : flow.getOps())
    op->moveBefore(&block, block.end());
  for (Operation *op : dead)
    op->dropAllUses();
  for (Operation *op : llvm::reverse(dead))
    op->erase();
}
