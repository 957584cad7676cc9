//===- SplitKernel.cpp - Splits a kernel of rows --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Dialect/LLIR/Transforms/SplitKernel.h"
#include "luminal/Dialect/LLIR/Analysis/KernelAnalysis.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;

namespace {
class Splitter {
public:
  explicit Splitter(KernelOp kernel) : kernel(kernel), builder(kernel) {
    Block &body = kernel.getBody().front();
    for (auto [argument, operand] :
         llvm::zip_equal(body.getArguments(), kernel.getInputs()))
      outside[argument] = operand;
  }

  /// Builds a kernel that computes `values` of the original body. From here on
  /// they are read as its results.
  KernelOp build(ArrayRef<Value> values);
  /// Builds a kernel that updates operand 0, `memory`, which holds the
  /// destination, in place. Other readers of the destination recompute it.
  KernelOp buildInPlace(UpdateOpInterface update, Value memory);

private:
  /// Clones the ops that `v` depends on.
  void clone(Value v, OpBuilder &inner, Block &body);
  /// Builds a kernel whose body `fill` writes; its results are `values`.
  KernelOp build(ArrayRef<Value> values,
                 function_ref<SmallVector<Value>(OpBuilder &, Block &)> fill);

  KernelOp kernel;
  OpBuilder builder;
  /// Values of the body that kernels read as operands.
  llvm::MapVector<Value, Value> outside;
  IRMapping made;
  SmallVector<Value> operands;
};
} // namespace

void Splitter::clone(Value root, OpBuilder &inner, Block &body) {
  // Uses a worklist, because chains may be long.
  SmallVector<Value> work{root};
  while (!work.empty()) {
    Value v = work.back();
    if (made.contains(v)) {
      work.pop_back();
      continue;
    }
    if (auto it = outside.find(v); it != outside.end()) {
      made.map(v, body.addArgument(v.getType(), v.getLoc()));
      operands.push_back(it->second);
      work.pop_back();
      continue;
    }
    Operation *op = v.getDefiningOp();
    size_t size = work.size();
    for (Value operand : op->getOperands())
      if (!made.contains(operand))
        work.push_back(operand);
    if (work.size() > size)
      continue;
    inner.clone(*op, made);
    work.pop_back();
  }
}

KernelOp
Splitter::build(ArrayRef<Value> values,
                function_ref<SmallVector<Value>(OpBuilder &, Block &)> fill) {
  made.clear();
  operands.clear();
  Region region;
  Block &body = region.emplaceBlock();
  OpBuilder inner(kernel.getContext());
  inner.setInsertionPointToEnd(&body);
  YieldOp::create(inner, kernel.getLoc(), fill(inner, body));
  auto built = KernelOp::create(builder, kernel.getLoc(),
                                TypeRange(ValueRange(values)), operands,
                                /*in_place=*/false, /*loops=*/nullptr);
  built.getBody().takeBody(region);
  for (auto [v, result] : llvm::zip_equal(values, built.getResults()))
    outside[v] = result;
  return built;
}

KernelOp Splitter::build(ArrayRef<Value> values) {
  return build(values, [&](OpBuilder &inner, Block &body) {
    SmallVector<Value> results;
    for (Value v : values) {
      clone(v, inner, body);
      results.push_back(made.lookup(v));
    }
    return results;
  });
}

KernelOp Splitter::buildInPlace(UpdateOpInterface update, Value memory) {
  OpOperand &dest = update.getDestMutable();
  auto fill = [&](OpBuilder &inner, Block &body) {
    Value target = body.addArgument(memory.getType(), memory.getLoc());
    operands.push_back(memory);
    Operation *copy = update->cloneWithoutRegions();
    for (OpOperand &operand : update->getOpOperands()) {
      Value input = target;
      if (&operand != &dest) {
        clone(operand.get(), inner, body);
        input = made.lookup(operand.get());
      }
      copy->setOperand(operand.getOperandNumber(), input);
    }
    inner.insert(copy);
    return SmallVector<Value>(copy->getResults());
  };
  KernelOp built = build(SmallVector<Value>(update->getResults()), fill);
  built.setInPlace(true);
  return built;
}

/// Returns the values of a kernel's body that its results depend on.
static DenseSet<Value> findRead(KernelOp kernel) {
  DenseSet<Value> read;
  for (Operation &op : llvm::reverse(kernel.getBody().front()))
    if (isa<YieldOp>(op) || llvm::any_of(op.getResults(), [&](Value v) {
          return read.contains(v);
        }))
      read.insert(op.operand_begin(), op.operand_end());
  return read;
}

SmallVector<KernelOp> llir::splitByReductions(KernelOp kernel) {
  if (kernel.getInPlace())
    return {};
  DenseSet<Value> read = findRead(kernel);
  // The level of each op: the longest chain of reductions that ends there.
  DenseMap<Operation *, unsigned> levels;
  SmallVector<SmallVector<Value>> reductions;
  for (Operation &op : kernel.getOps()) {
    unsigned level = 0;
    for (Value operand : op.getOperands())
      if (Operation *def = operand.getDefiningOp())
        level = std::max(level, levels.lookup(def));
    if (hasLoops(&op)) {
      if (!isa<RowReductionOpInterface>(op))
        return {};
      if (reductions.size() == level)
        reductions.emplace_back();
      llvm::append_range(reductions[level],
                         llvm::make_filter_range(op.getResults(), [&](Value v) {
                           return read.contains(v);
                         }));
      ++level;
    }
    levels[&op] = level;
  }
  if (reductions.empty())
    return {};
  // Ops that depend only on results of the last level are computed with it.
  ValueRange yielded = getYielded(kernel);
  auto isOfLast = [&](Value v) {
    return hlir::getExtents(v) == hlir::getExtents(reductions.back().front());
  };
  if (!reductions.back().empty() && llvm::all_of(yielded, isOfLast))
    reductions.pop_back();
  if (reductions.empty())
    return {};
  Splitter splitter(kernel);
  SmallVector<KernelOp> kernels;
  for (ArrayRef<Value> level : reductions)
    if (!level.empty())
      kernels.push_back(splitter.build(level));
  kernels.push_back(splitter.build(SmallVector<Value>(yielded)));
  return kernels;
}

/// Returns the update of a kernel that has one.
static UpdateOpInterface getUpdate(KernelOp kernel) {
  return *kernel.getBody().getOps<UpdateOpInterface>().begin();
}

SmallVector<KernelOp> llir::splitByUpdate(KernelOp kernel) {
  UpdateOpInterface update = getUpdate(kernel);
  // The destination has a kernel by itself: no op there reads it while the
  // update changes it.
  SmallVector<KernelOp> kernels = {Splitter(kernel).build(update.getDest())};
  Splitter splitter(kernel);
  kernels.push_back(
      splitter.buildInPlace(update, kernels.front().getResult(0)));
  ValueRange yielded = getYielded(kernel);
  if (yielded != update->getResults())
    kernels.push_back(splitter.build(SmallVector<Value>(yielded)));
  return kernels;
}

SmallVector<KernelOp> llir::splitByCopy(KernelOp kernel) {
  Splitter splitter(kernel);
  KernelOp copy = splitter.build(Value(kernel.getBody().getArgument(0)));
  OpBuilder builder(kernel);
  auto updating = cast<KernelOp>(builder.clone(*kernel));
  updating->setOperand(0, copy.getResult(0));
  updating.setInPlace(true);
  return {copy, updating};
}
