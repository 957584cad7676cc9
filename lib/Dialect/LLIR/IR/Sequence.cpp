//===- Sequence.cpp - Sequences of kernels --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Body.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;

LogicalResult SequenceOp::verifyRegions() {
  if (failed(verifyBody(*this)))
    return failure();
  Block &block = getBody().front();
  auto yield = cast<YieldOp>(block.getTerminator());
  DenseSet<Value> yielded;
  for (Value v : yield.getValues())
    if (!v.getDefiningOp<KernelOp>() || !yielded.insert(v).second)
      return emitOpError() << "yields a value that is not the result of one of "
                              "its kernels, or one twice";
  if (getKernels().empty())
    return emitOpError() << "expects a kernel";
  for (Operation &op : block.without_terminator()) {
    auto kernel = dyn_cast<KernelOp>(op);
    if (!kernel && !isa<AliasOp>(op))
      return op.emitOpError() << "is not allowed in a sequence";
    if (usesSymbols(&op))
      return op.emitOpError() << "is part of a sequence, but has sizes that "
                                 "are not known at compile time";
    if (!kernel)
      continue;
    if (!kernel.getLoops() || kernel.getLoops()->getCases().size() != 1)
      return op.emitOpError()
             << "is part of a sequence, but has no schedule with a single case";
    // A sequence must not write its operands.
    if (kernel.getInPlace() && !kernel.getInputs()[0].getDefiningOp<KernelOp>())
      return op.emitOpError() << "updates in place an operand that no kernel "
                                 "of its sequence has written";
  }
  return success();
}

/// Any element of the operands may be read.
void SequenceOp::getReads(const Index &, AddDim addDim, ReadAt read) {
  for (OpOperand &operand : getInputsMutable()) {
    Index at;
    for (const Expr &extent : hlir::getExtents(operand.get()))
      at.push_back(addDim(extent));
    read(operand, at);
  }
}

Cost SequenceOp::getCost() {
  Cost cost;
  cost.launches = 1;
  for (KernelOp kernel : getKernels()) {
    Cost own = kernel.getCost();
    cost.flops = cost.flops + own.flops;
  }
  for (Type type : getInputs().getTypes())
    cost.bytesRead = cost.bytesRead + countBytes(type);
  for (Type type : getResultTypes())
    cost.bytesWritten = cost.bytesWritten + countBytes(type);
  return cost;
}

int64_t SequenceOp::getCodeSize() {
  int64_t size = 1;
  for (KernelOp kernel : getKernels())
    for (Operation &op : kernel.getOps())
      if (auto code = dyn_cast<CodeOpInterface>(op))
        size += code.getCodeSize();
  return size;
}
int64_t SequenceOp::getLoopCopies() { return 1; }

unsigned SequenceOp::countThreads() {
  unsigned threads = 0;
  for (KernelOp kernel : getKernels())
    threads =
        std::max(threads, kernel.getLoops()->getCases().front().getThreads());
  return threads;
}

Expr SequenceOp::countUnits() { return 1; }
Expr SequenceOp::countOperations() { return Expr::max(1, getCost().flops); }

WholeThreads SequenceOp::chooseThreads(const Assumptions &,
                                       const MachineModel &) {
  unsigned threads = countThreads();
  return {threads, std::max(1u, threads)};
}

std::string SequenceOp::checkTeam(unsigned threads, unsigned team,
                                  const MachineModel &) {
  unsigned most = countThreads();
  if (!most)
    return "runs on a GPU, but the schedules of its kernels do not";
  return threads == team && threads == most
             ? std::string()
             : "is shared by " + std::to_string(team) + " threads of " +
                   std::to_string(threads) + ", expected a block of " +
                   std::to_string(most) + ", as one of its kernels has";
}
