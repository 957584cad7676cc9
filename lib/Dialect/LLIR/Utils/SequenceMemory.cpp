//===- SequenceMemory.cpp - Memory of a sequence's values -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Dialect/LLIR/Utils/SequenceMemory.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;

/// Returns the bytes of a tensor; sizes in a sequence are known.
static int64_t getBytesOf(Type type) { return *countBytes(type).asConstant(); }

namespace {
/// Memory of one or more values whose lifetimes do not overlap.
struct Shared {
  int64_t bytes = 0;
  unsigned first = 0, last = 0;
  int64_t begin = 0;
  /// The kernel that writes the memory last, and its step.
  Operation *writer = nullptr;
  unsigned written = 0;
};
} // namespace

/// Shared memory in bytes up to which yielded values are also kept there.
static constexpr int64_t kMostCopied = 32 << 10;

/// Places all memory by first fit, in order of first use; there are few.
static int64_t place(MutableArrayRef<Shared> all) {
  constexpr int64_t kAlignment = 16;
  int64_t end = 0;
  for (auto [i, own] : llvm::enumerate(all)) {
    bool moved = true;
    while (moved) {
      moved = false;
      for (const Shared &other : all.take_front(i))
        if (other.last >= own.first && other.begin < own.begin + own.bytes &&
            own.begin < other.begin + other.bytes) {
          own.begin = llvm::alignTo(other.begin + other.bytes, kAlignment);
          moved = true;
        }
    }
    end = std::max(end, own.begin + own.bytes);
  }
  return llvm::alignTo(end, kAlignment);
}

SequenceMemory::SequenceMemory(SequenceOp sequence) {
  Block &block = sequence.getBody().front();
  for (BlockArgument argument : block.getArguments())
    places[argument] = {Place::Kind::Operand, argument.getArgNumber(), 0};
  SmallVector<Shared> shared;
  for (auto [step, op] : llvm::enumerate(block.without_terminator())) {
    if (auto alias = dyn_cast<AliasOp>(op)) {
      Place at = places.at(alias.getOperand());
      Type element = cast<RankedTensorType>(alias.getType()).getElementType();
      at.offset += *alias.getOffset().getResults()[0].asConstant() *
                   dtypeSize(*hlir::getDType(element));
      places[alias.getResult()] = at;
      continue;
    }
    auto kernel = cast<KernelOp>(op);
    for (Value operand : kernel.getInputs())
      if (Place at = places.at(operand); at.kind == Place::Kind::Shared)
        shared[at.number].last = step;
    for (Value result : kernel.getResults()) {
      if (kernel.getInPlace()) {
        Place at = places[result] = places.at(kernel.getInputs()[0]);
        if (at.kind == Place::Kind::Shared) {
          shared[at.number].writer = &op;
          shared[at.number].written = step;
        }
        continue;
      }
      places[result] = {Place::Kind::Shared, int64_t(shared.size()), 0};
      shared.push_back({getBytesOf(result.getType()), unsigned(step),
                        unsigned(step), 0, &op, unsigned(step)});
    }
  }
  // Yielded values, and everything that shares their memory, are in a result.
  DenseMap<int64_t, int64_t> results;
  for (auto [i, v] : llvm::enumerate(block.getTerminator()->getOperands())) {
    Place at = places.at(v);
    if (at.kind != Place::Kind::Shared || at.offset != 0 ||
        shared[at.number].bytes != getBytesOf(v.getType()) ||
        !results.try_emplace(at.number, i).second)
      problem = "two results share one memory";
  }
  SmallVector<Shared> withCopies = shared;
  for (auto [number, result] : results) {
    shared[number].bytes = 0;
    if (withCopies[number].last == withCopies[number].written)
      withCopies[number].bytes = 0;
  }
  bytes = place(shared);
  if (int64_t most = place(withCopies); most <= std::max(bytes, kMostCopied)) {
    shared = std::move(withCopies);
    bytes = most;
  }
  for (auto [i, v] : llvm::enumerate(block.getTerminator()->getOperands()))
    if (Place at = places.at(v); at.kind == Place::Kind::Shared) {
      const Shared &memory = shared[at.number];
      if (memory.bytes > 0)
        copies[memory.writer].push_back({unsigned(i), memory.begin});
    }
  for (auto &[v, at] : places) {
    if (at.kind != Place::Kind::Shared)
      continue;
    const Shared &memory = shared[at.number];
    auto it = results.find(at.number);
    if (it != results.end() && memory.bytes == 0)
      at = {Place::Kind::Result, it->second, at.offset};
    else
      at.number = memory.begin;
  }
}
