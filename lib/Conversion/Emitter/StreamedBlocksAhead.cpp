//===- StreamedBlocksAhead.cpp - Terms beside the products of a chunk -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Four warps together (wgmma) multiply while they do something else. With four
// chunks of right operands in shared memory, the scores of a chunk begin before
// the terms of the chunk before are multiplied, and the next terms are computed
// while that goes on: they need the scores alone.
//
//===----------------------------------------------------------------------===//

#include "StreamedBlocks.h"

using namespace luminal;
using namespace luminal::blocks;
using namespace mlir;

/// Chunks in shared memory: of the scores, of the terms before, and two on
/// their way.
static constexpr unsigned kChunksAhead = 4;

bool StreamedBlocks::isAhead() const {
  auto isCopied = [](const std::unique_ptr<Product> &product) {
    return product->isCopied();
  };
  return tile.useWarpGroups && tile.stages >= kChunksAhead && !scores.empty() &&
         !sums.empty() && llvm::all_of(scores, isCopied) &&
         llvm::all_of(sums, isCopied);
}

/// The terms of the chunk as they are multiplied.
void StreamedBlocks::packTerms() {
  for (auto &sum : sums) {
    auto it = llvm::find_if(terms, [&](const Terms &term) {
      return term.value == StreamedSpace::getTerms(sum->p.op);
    });
    sum->packed = sum->tile->pack(*layout, it->elements);
  }
}

/// Begins to multiply the packed terms, of the chunk from `lo` on.
void StreamedBlocks::startSums(Value lo) {
  for (auto &sum : sums) {
    sum->running = sum->packed;
    sum->sums =
        sum->tile->startTerms(sum->sums, sum->running, getRight(*sum, lo));
  }
}

/// Waits for that. What was multiplied is not overwritten before.
void StreamedBlocks::settleSums() {
  sums.front()->tile->wait(0);
  for (auto &sum : sums) {
    sum->sums = sum->tile->settle(sum->sums);
    sum->tile->settle(sum->running);
  }
}

/// Multiplies the terms of the chunk from `lo` on, and computes those of the
/// next one.
void StreamedBlocks::emitChunkAhead(Value lo, IndexRange walked) {
  e.clearPlaces();
  NVVM::CpAsyncWaitGroupOp::create(e.b, tile.stages - 3);
  // All have read the chunk before.
  publish();
  Value next = e.add(lo, e.constant(t.chunk));
  e.setDim(t.begin, next);
  for (auto &product : scores)
    product->sums = product->tile->start(product->tile->begin(),
                                         product->left->getOperand(),
                                         getRight(*product, next));
  startSums(lo);
  scores.front()->tile->wait(sums.size());
  for (auto &product : scores)
    product->sums = product->tile->settle(product->sums);
  emitRows(next);
  packTerms();
  startCopies(e.add(lo, e.constant((tile.stages - 1) * t.chunk)), walked);
  settleSums();
  for (auto &sum : sums)
    scaleSums(*sum);
}

/// The states of the unit's rows, from their initial ones, for the chunks that
/// are walked; copies of the first ones are on their way.
void StreamedBlocks::emitWalkAhead(IndexRange walked) {
  SmallVector<Value> initial = getCarried();
  Value chunk = e.constant(t.chunk);
  auto walk = [&] {
    e.clearPlaces();
    NVVM::CpAsyncWaitGroupOp::create(e.b, tile.stages - 2);
    publish();
    e.setDim(t.begin, walked.lo);
    for (auto &product : scores)
      product->sums = product->tile->multiply(product->tile->begin(),
                                              product->left->getOperand(),
                                              getRight(*product, walked.lo));
    // Sums are 0, whatever the factor.
    emitRows(walked.lo);
    packTerms();
    auto getAll = [&] {
      SmallVector<Value> all = getCarried();
      for (auto &sum : sums)
        llvm::append_range(all, sum->packed);
      return all;
    };
    auto setAll = [&](ValueRange all) {
      size_t states = initial.size();
      setCarried(all.take_front(states));
      all = all.drop_front(states);
      for (auto &sum : sums)
        for (Value &v : sum->packed) {
          v = all.front();
          all = all.drop_front();
        }
    };
    setAll(e.forLoop(walked.lo, e.sub(walked.hi, chunk), chunk, getAll(),
                     [&](Value lo, ValueRange carried) {
                       setAll(carried);
                       emitChunkAhead(lo, walked);
                       return getAll();
                     }));
    Value before =
        e.divU(e.sub(e.sub(walked.hi, walked.lo), e.constant(1)), chunk);
    startSums(e.add(walked.lo, e.mul(before, chunk)));
    settleSums();
    return getCarried();
  };
  setCarried(e.ifElse(e.less(walked.lo, walked.hi),
                      ValueRange(initial).getTypes(), walk,
                      [&] { return initial; }));
}
