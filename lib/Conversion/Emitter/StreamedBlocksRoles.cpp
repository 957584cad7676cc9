//===- StreamedBlocksRoles.cpp - Warps that copy for others ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// With `warps = specialized` four warps of a block (producers) copy right
// operands, and the others (consumers) multiply. Chunks take the stages in turn
// through all units of a block. Of each stage there are two barriers in shared
// memory (mbarrier), one for scores and one for sums: that its chunk is there,
// which the copies themselves say, and that it was multiplied. So consumers of
// other rows are not held to the same chunk, and no consumer has the addresses
// of copies in registers, of which producers give back most of theirs.
//
//===----------------------------------------------------------------------===//

#include "StreamedBlocks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace luminal;
using namespace luminal::blocks;
using namespace mlir;

/// Of the hardware's numbered barriers, 0 is that of all threads of a block.
static constexpr int32_t kConsumerBarrier = 1;

static Value getI32(Emitter &e, int64_t n) {
  return arith::ConstantOp::create(e.b, e.b.getI32IntegerAttr(int32_t(n)));
}

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

/// Where the walk of a unit begins.
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

/// The next unit's walk begins there.
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

/// Waits until the chunk of a stage is there, or was multiplied.
void StreamedBlocks::waitForRing(CopiedFor what, bool isFull, RingPlace place) {
  // No chunk was there before the first ones.
  Value phase =
      isFull ? place.phase
             : Value(arith::XOrIOp::create(e.b, place.phase, getI32(e, 1)));
  emitPTX(e.b,
          "{\n.reg .pred p;\nagain:\n"
          "mbarrier.try_wait.parity.shared::cta.b64 p, [$0], $1;\n"
          "@p bra done;\nbra again;\ndone:\n}",
          {getRingBarrier(what, isFull, place.slot), phase}, "r,r,~{memory}");
}

/// What was copied is seen by tensor cores, which read it themselves.
void StreamedBlocks::awaitCopies(CopiedFor what, RingPlace place) {
  waitForRing(what, /*isFull=*/true, place);
  emitSharedFence(e);
}

/// The warp has multiplied what is in a stage: its first thread says so,
/// without a branch beside which products could not go on.
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

/// All have read what an earlier unit left: of the consumers' own operands, and
/// where blocks look at what others skip, of what it found.
void StreamedBlocks::meetBeforeUnit() {
  if (warpRole == WarpRole::Any || tile.skipped == StreamTile::Skipped::Shared)
    barrier();
  else if (warpRole == WarpRole::Consumer)
    meetConsumers();
}

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

/// Copies the chunk from `lo` on to a stage that is free.
void StreamedBlocks::produce(CopiedFor what, Value lo, RingPlace place) {
  waitForRing(what, /*isFull=*/false, place);
  startCopies(what == CopiedFor::Scores ? scores : sums, {lo, place.slot});
  NVVM::CpAsyncMBarrierArriveOp::create(
      e.b, getRingBarrier(what, /*isFull=*/true, place.slot),
      /*noinc=*/e.b.getBoolAttr(true));
}

/// Copies what is walked, scores a chunk ahead of sums, as consumers take them.
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

/// The code of each role walks all units of the block.
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
