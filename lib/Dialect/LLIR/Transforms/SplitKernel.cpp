//===- SplitKernel.cpp - A kernel of rows as several ----------------------===//
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

  /// The kernel of `values`, of the kernel's body. From here on they are read
  /// as its results.
  KernelOp build(ArrayRef<Value> values);

private:
  /// Clones what `v` is made of.
  void clone(Value v, OpBuilder &inner, Block &body);

  KernelOp kernel;
  OpBuilder builder;
  /// Values of the body that kernels read as operands.
  llvm::MapVector<Value, Value> outside;
  IRMapping made;
  SmallVector<Value> operands;
};
} // namespace

void Splitter::clone(Value root, OpBuilder &inner, Block &body) {
  // By a worklist: chains may be long.
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

KernelOp Splitter::build(ArrayRef<Value> values) {
  made.clear();
  operands.clear();
  Region region;
  Block &body = region.emplaceBlock();
  OpBuilder inner(kernel.getContext());
  inner.setInsertionPointToEnd(&body);
  SmallVector<Value> results;
  for (Value v : values) {
    clone(v, inner, body);
    results.push_back(made.lookup(v));
  }
  YieldOp::create(inner, kernel.getLoc(), results);
  auto built = KernelOp::create(builder, kernel.getLoc(),
                                TypeRange(ValueRange(values)), operands,
                                /*in_place=*/false, /*loops=*/nullptr);
  built.getBody().takeBody(region);
  for (auto [v, result] : llvm::zip_equal(values, built.getResults()))
    outside[v] = result;
  return built;
}

SmallVector<KernelOp> llir::splitByReductions(KernelOp kernel) {
  if (kernel.getInPlace())
    return {};
  // The level of each op: how many reductions, one after the other, end there.
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
      llvm::append_range(reductions[level], op.getResults());
      ++level;
    }
    levels[&op] = level;
  }
  if (reductions.empty())
    return {};
  // Nothing follows where all that is yielded are the only level's results.
  ValueRange yielded = getYielded(kernel);
  if (reductions.size() == 1 && llvm::all_of(yielded, [&](Value v) {
        return llvm::is_contained(reductions[0], v);
      }))
    return {};
  Splitter splitter(kernel);
  SmallVector<KernelOp> kernels;
  for (ArrayRef<Value> level : reductions)
    kernels.push_back(splitter.build(level));
  kernels.push_back(splitter.build(SmallVector<Value>(yielded)));
  return kernels;
}
