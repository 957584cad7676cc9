//===- StreamedBlocksAhead.cpp - Overlaps products with terms -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Overlaps wgmma with the computation of terms. The scores of a chunk are
// started before the sums of the previous chunk. The terms of the chunk, which
// need only its scores, are computed while the sums are in flight. Therefore
// right operands of scores are copied one chunk further ahead than those of
// sums.
//
//===----------------------------------------------------------------------===//

#include "StreamedBlocks.h"

using namespace luminal;
using namespace luminal::blocks;
using namespace mlir;

/// Packs the terms of the chunk into the operand format of the products.
void StreamedBlocks::packTerms() {
  for (auto &sum : sums) {
    auto it = llvm::find_if(terms, [&](const Terms &term) {
      return term.value == StreamedSpace::getTerms(sum->p.op);
    });
    sum->packed = sum->tile->pack(*layout, it->elements);
  }
}

/// Makes later code depend on the terms, through the states that they were
/// added to. Otherwise `ptxas` may schedule the terms after the wait for the
/// products that they should overlap with.
void StreamedBlocks::holdBack() {
  SmallVector<Value> known;
  for (const RowState &state : states)
    for (const SmallVector<Value> &row : state.rows)
      for (Value v : row)
        if (v.getType().isF32())
          known.push_back(v);
  if (known.empty())
    for (auto &sum : sums)
      llvm::append_range(known, sum->packed);
  sums.front()->tile->holdBack(known);
}

/// Starts the products of the packed terms with the chunk in stage `slot`.
void StreamedBlocks::startSums(Value slot) {
  for (auto &sum : sums) {
    sum->running = sum->packed;
    sum->sums =
        sum->tile->startTerms(sum->sums, sum->running, getRight(*sum, slot));
  }
}

/// Waits for these products. Their operands must not be overwritten earlier.
void StreamedBlocks::settleSums() {
  sums.front()->tile->wait(0);
  for (auto &sum : sums) {
    sum->sums = sum->tile->settle(sum->sums);
    sum->tile->settle(sum->running);
  }
}

/// Starts copies for a chunk of scores and a chunk of sums, each if it is in
/// the range, as one group.
void StreamedBlocks::startCopiesAhead(CopiedChunk ofScores, CopiedChunk ofSums,
                                      IndexRange walked) {
  auto start = [&](ArrayRef<std::unique_ptr<Product>> products,
                   CopiedChunk chunk) {
    e.ifThen(e.less(chunk.lo, walked.hi),
             [&] { startCopies(products, chunk); });
  };
  start(scores, ofScores);
  start(sums, ofSums);
  NVVM::CpAsyncCommitGroupOp::create(e.b);
}

/// Starts the copies that fit before the first chunk is computed: one group for
/// each chunk of scores. The first group has no chunk of sums.
void StreamedBlocks::startFirstCopies(IndexRange walked) {
  for (int64_t i = 0; i < tile.stages; ++i) {
    auto at = [&](int64_t number) -> CopiedChunk {
      return {e.add(walked.lo, e.constant(number * t.chunk)),
              e.constant(number)};
    };
    startCopiesAhead(at(i), i ? at(i - 1) : CopiedChunk{walked.hi, at(0).slot},
                     walked);
  }
}

/// Waits until the next chunk of scores and this chunk of sums are visible to
/// all threads, and all threads are done with the previous chunk.
void StreamedBlocks::meetAhead() {
  e.clearPlaces();
  NVVM::CpAsyncWaitGroupOp::create(e.b, tile.stages - 2);
  publish();
}

/// Multiplies the terms of the chunk at `lo`, which is in stage `place`, and
/// computes the terms of the next chunk meanwhile.
void StreamedBlocks::emitChunkAhead(Value lo, RingPlace place,
                                    IndexRange walked) {
  Value slot = place.slot;
  RingPlace nextPlace = getNextPlace(place);
  // The waits contain branches, so they come before products are in flight.
  if (warpRole == WarpRole::Consumer) {
    e.clearPlaces();
    awaitCopies(CopiedFor::Scores, nextPlace);
    awaitCopies(CopiedFor::Sums, place);
  } else {
    meetAhead();
    // The previous chunk was the last one multiplied: its stages are free.
    int64_t stages = tile.stages;
    startCopiesAhead(
        {e.add(lo, e.constant(stages * t.chunk)), slot},
        {e.add(lo, e.constant((stages - 1) * t.chunk)), getSlotBefore(slot)},
        walked);
  }
  Value next = e.add(lo, e.constant(t.chunk));
  e.setDim(t.begin, next);
  for (auto &product : scores)
    product->sums = product->tile->start(product->tile->begin(),
                                         product->left->getOperand(),
                                         getRight(*product, nextPlace.slot));
  startSums(slot);
  scores.front()->tile->wait(sums.size());
  for (auto &product : scores)
    product->sums = product->tile->settle(product->sums);
  release(CopiedFor::Scores, nextPlace);
  emitRows(next);
  packTerms();
  holdBack();
  settleSums();
  release(CopiedFor::Sums, place);
  for (auto &sum : sums)
    scaleSums(*sum);
}

/// Iterates over the chunks of `walked`, from neutral states. The copies of the
/// first chunks are in flight already.
void StreamedBlocks::emitWalkAhead(IndexRange walked) {
  SmallVector<Value> initial = getCarried();
  Value chunk = e.constant(t.chunk);
  auto walk = [&] {
    e.clearPlaces();
    if (warpRole == WarpRole::Any)
      NVVM::CpAsyncWaitGroupOp::create(e.b, tile.stages - 1);
    publish();
    RingPlace place = getFirstPlace();
    if (warpRole == WarpRole::Consumer)
      awaitCopies(CopiedFor::Scores, place);
    e.setDim(t.begin, walked.lo);
    for (auto &product : scores)
      product->sums = product->tile->multiply(product->tile->begin(),
                                              product->left->getOperand(),
                                              getRight(*product, place.slot));
    release(CopiedFor::Scores, place);
    // No rescaling is needed: the sums are still 0.
    emitRows(walked.lo);
    packTerms();
    auto getAll = [&] {
      SmallVector<Value> all = getCarried();
      for (auto &sum : sums)
        llvm::append_range(all, sum->packed);
      all.push_back(place.slot);
      if (place.phase)
        all.push_back(place.phase);
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
      place.slot = all.front();
      if (place.phase)
        place.phase = all.back();
    };
    setAll(e.forLoop(walked.lo, e.sub(walked.hi, chunk), chunk, getAll(),
                     [&](Value lo, ValueRange carried) {
                       setAll(carried);
                       emitChunkAhead(lo, place, walked);
                       place = getNextPlace(place);
                       return getAll();
                     }));
    if (warpRole == WarpRole::Consumer)
      awaitCopies(CopiedFor::Sums, place);
    else
      meetAhead();
    if (beforeLastSums)
      beforeLastSums();
    startSums(place.slot);
    settleSums();
    release(CopiedFor::Sums, place);
    keepPlace(getNextPlace(place));
    return getCarried();
  };
  setCarried(e.ifElse(e.less(walked.lo, walked.hi),
                      ValueRange(initial).getTypes(), walk, [&] {
                        if (beforeLastSums)
                          beforeLastSums();
                        return initial;
                      }));
}
