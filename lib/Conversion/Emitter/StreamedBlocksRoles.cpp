//===- StreamedBlocksRoles.cpp - Producer and consumer warps --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// With `warps = specialized`, four warps of a block (producers) copy right
// operands, and the others (consumers) compute. Chunks use the pipeline stages
// in turn, across all work items of a block. Each stage has two pairs of
// mbarriers, for the operands of scores and of sums. In a pair, `full` is
// signalled by the asynchronous copies when the chunk has landed, and `empty`
// by the consumer warps when they have multiplied it. So consumers of different
// rows need not be at the same chunk. Consumers need no registers for copy
// addresses, and producers give most of their registers to the consumers
// (setmaxnreg).
//
//===----------------------------------------------------------------------===//

#include "StreamedBlocks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace luminal;
using namespace luminal::blocks;
using namespace mlir;

/// Hardware barrier 0 is that of all threads of a block.
static constexpr int32_t kConsumerBarrier = 1;

static Value getI32(Emitter &e, int64_t n) {
  return arith::ConstantOp::create(e.b, e.b.getI32IntegerAttr(int32_t(n)));
}

//===----------------------------------------------------------------------===//
// Pipeline stages
//===----------------------------------------------------------------------===//

/// The place at which a work item's loop begins.
RingPlace StreamedBlocks::getFirstPlace() {
  if (warpRole == WarpRole::Any)
    return {e.constant(0), {}};
  return {LLVM::LoadOp::create(e.b, e.b.getI64Type(), keptSlot),
          LLVM::LoadOp::create(e.b, e.b.getI32Type(), keptPhase)};
}

RingPlace StreamedBlocks::getNextPlace(RingPlace place) {
  RingPlace next{getNextSlot(place.slot), {}};
  if (place.phase) {
    Value wraps = arith::CmpIOp::create(e.b, arith::CmpIPredicate::eq,
                                        next.slot, e.constant(0));
    next.phase = arith::XOrIOp::create(
        e.b, place.phase, arith::ExtUIOp::create(e.b, e.b.getI32Type(), wraps));
  }
  return next;
}

/// Stores the place at which the next work item's loop begins.
void StreamedBlocks::keepPlace(RingPlace place) {
  if (!place.phase)
    return;
  LLVM::StoreOp::create(e.b, place.slot, keptSlot);
  LLVM::StoreOp::create(e.b, place.phase, keptPhase);
}

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

Value StreamedBlocks::getRingBarrier(CopiedFor what, bool isFull, Value slot) {
  int64_t first = (2 * int64_t(what) + (isFull ? 0 : 1)) * tile.stages;
  Value at = e.address(ring, e.add(slot, e.constant(first)), e.b.getI64Type());
  auto sharedType = LLVM::LLVMPointerType::get(
      e.b.getContext(), static_cast<unsigned>(NVVM::NVVMMemorySpace::Shared));
  return LLVM::AddrSpaceCastOp::create(e.b, sharedType, at);
}

/// Waits until a stage is full, or empty.
void StreamedBlocks::waitForRing(CopiedFor what, bool isFull, RingPlace place) {
  // All stages are empty at first: wait for the opposite phase.
  Value phase =
      isFull ? place.phase
             : Value(arith::XOrIOp::create(e.b, place.phase, getI32(e, 1)));
  emitPTX(e.b,
          "{\n.reg .pred p;\nagain:\n"
          "mbarrier.try_wait.parity.shared::cta.b64 p, [$0], $1;\n"
          "@p bra done;\nbra again;\ndone:\n}",
          {getRingBarrier(what, isFull, place.slot), phase}, "r,r,~{memory}");
}

/// Waits for a chunk and makes it visible to tensor cores, which read it
/// asynchronously.
void StreamedBlocks::awaitCopies(CopiedFor what, RingPlace place) {
  waitForRing(what, /*isFull=*/true, place);
  emitSharedFence(e);
}

/// Signals that this warp has multiplied the chunk in a stage. The first thread
/// of the warp does so, predicated instead of in a branch: a branch would force
/// products in flight to complete.
void StreamedBlocks::release(CopiedFor what, RingPlace place) {
  if (warpRole != WarpRole::Consumer)
    return;
  Value inWarp = arith::TruncIOp::create(e.b, e.b.getI32Type(),
                                         e.remU(thread, e.constant(warp)));
  emitPTX(e.b,
          "{\n.reg .pred p;\nsetp.eq.u32 p, $1, 0;\n"
          "@p mbarrier.arrive.shared::cta.b64 _, [$0];\n}",
          {getRingBarrier(what, /*isFull=*/false, place.slot), inWarp},
          "r,r,~{memory}");
}

void StreamedBlocks::meetConsumers() {
  if (warpRole == WarpRole::Any)
    return barrier();
  NVVM::BarrierOp::create(e.b, TypeRange(), getI32(e, kConsumerBarrier),
                          getI32(e, tile.threads), NVVM::BarrierReductionAttr(),
                          Value());
}

/// Waits until all threads are done with the previous work item: with the
/// consumers' own operands and, if blocks check what others skip, with the
/// result of that check.
void StreamedBlocks::meetBeforeUnit() {
  if (warpRole == WarpRole::Any || tile.skipped == StreamTile::Skipped::Shared)
    barrier();
  else if (warpRole == WarpRole::Consumer)
    meetConsumers();
}

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

/// Waits for an empty stage and copies the chunk at `lo` to it.
void StreamedBlocks::produce(CopiedFor what, Value lo, RingPlace place) {
  waitForRing(what, /*isFull=*/false, place);
  startCopies(what == CopiedFor::Scores ? scores : sums, {lo, place.slot});
  NVVM::CpAsyncMBarrierArriveOp::create(
      e.b, getRingBarrier(what, /*isFull=*/true, place.slot),
      /*noinc=*/e.b.getBoolAttr(true));
}

/// Copies the chunks of the range as consumers free the stages; scores are one
/// chunk ahead of sums.
void StreamedBlocks::emitProducer(IndexRange walked) {
  Value chunk = e.constant(t.chunk);
  e.ifThen(e.less(walked.lo, walked.hi), [&] {
    RingPlace place = getFirstPlace();
    produce(CopiedFor::Scores, walked.lo, place);
    SmallVector<Value> last =
        e.forLoop(walked.lo, walked.hi, chunk, {place.slot, place.phase},
                  [&](Value lo, ValueRange carried) {
                    RingPlace now{carried[0], carried[1]},
                        next = getNextPlace(now);
                    Value after = e.add(lo, chunk);
                    e.ifThen(e.less(after, walked.hi),
                             [&] { produce(CopiedFor::Scores, after, next); });
                    produce(CopiedFor::Sums, lo, now);
                    return SmallVector<Value>{next.slot, next.phase};
                  });
    keepPlace({last[0], last[1]});
  });
}

/// Emits the loop over work items once for each role.
WorkShape StreamedBlocks::emitRoles(Emitter::Team team) {
  ImplicitLocOpBuilder &b = e.b;
  ring = e.makeLaunchShared();
  Value others =
      e.address(ring, e.constant(tile.countBarrierBytes()), b.getI8Type());
  Value isFirst = arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                        team.member, e.constant(0));
  e.ifThen(isFirst, [&] {
    int64_t warps = tile.threads / warp;
    for (CopiedFor what : {CopiedFor::Scores, CopiedFor::Sums})
      for (unsigned i = 0; i < tile.stages; ++i)
        for (bool isFull : {true, false})
          NVVM::MBarrierInitOp::create(
              b, getRingBarrier(what, isFull, e.constant(i)),
              getI32(e, isFull ? tile.producers : warps), Value());
  });
  barrier();
  WorkShape shape;
  auto emitRole = [&](WarpRole role, int64_t registers,
                      NVVM::SetMaxRegisterAction action) {
    NVVM::SetMaxRegisterOp::create(
        b, b.getI32IntegerAttr(int32_t(registers)),
        NVVM::SetMaxRegisterActionAttr::get(b.getContext(), action));
    StreamedBlocks of(e, loop, role);
    e.team = team;
    of.find();
    of.ring = ring;
    of.shared = others;
    of.keptSlot = makeThreadMemory(e, b.getI64Type(), 1);
    of.keptPhase = makeThreadMemory(e, b.getI32Type(), 1);
    of.keepPlace({e.constant(0), getI32(e, 0)});
    shape = of.emitUnits();
    return SmallVector<Value>();
  };
  e.ifElse(
      e.less(team.member, e.constant(tile.threads)), {},
      [&] {
        return emitRole(WarpRole::Consumer,
                        tile.countConsumerRegisters(
                            std::max<int64_t>(1, countResidents()), e.machine),
                        NVVM::SetMaxRegisterAction::increase);
      },
      [&] {
        return emitRole(WarpRole::Producer, StreamTile::kProducerRegisters,
                        NVVM::SetMaxRegisterAction::decrease);
      });
  return shape;
}
