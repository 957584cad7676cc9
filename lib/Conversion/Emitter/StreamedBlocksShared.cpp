//===- StreamedBlocksShared.cpp - Checks of chunks that blocks skip -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A block that skips a masked chunk assumes that zero times its elements is 0,
// which holds only if they are finite (StreamedBlocksWalk.cpp). With `skipped =
// shared` a block does not check the elements that it skips: the blocks of
// other rows multiply them anyway. A non-finite element makes the sums of its
// column non-finite in every row, including rows in which it is masked. So each
// block reports whether it has a row whose sums are all finite. The last block
// to report recomputes all rows without skipping if some block has no such row.
//
// There are two counters for each group of blocks, the blocks of all rows. One
// counts the blocks that have computed their rows and, in the upper half of the
// word, those of them without a finite row. The other counts the blocks that
// have written their results.
//
//===----------------------------------------------------------------------===//

#include "StreamedBlocks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace luminal;
using namespace luminal::blocks;
using namespace mlir;

/// Whether (i1) some product has non-finite sums in all rows of this thread.
Value StreamedBlocks::hasNoFiniteRow() {
  ImplicitLocOpBuilder &b = e.b;
  Value any = arith::ConstantOp::create(b, b.getBoolAttr(false));
  if (warpRole == WarpRole::Producer)
    return any;
  for (auto &sum : sums) {
    Type type = sum->p.accumulator;
    Value zero = arith::ConstantOp::create(b, b.getZeroAttr(type)), all;
    for (unsigned number = 0; number < layout->countRows(); ++number) {
      if (!isUsed(number))
        continue;
      // Sums times zero: NaN if one of them is not finite.
      Value zeros = zero;
      for (auto [i, v] : llvm::enumerate(sum->sums))
        if (sum->tile->getRowNumber(i) == number)
          zeros = math::FmaOp::create(b, v, zero, zeros);
      Value isBad =
          arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, zeros, zeros);
      all = all ? Value(arith::AndIOp::create(b, all, isBad)) : isBad;
    }
    any = arith::OrIOp::create(b, any, all);
  }
  return any;
}

/// Calls `body` with 0, 1, ... until its result (i1) is false.
static void repeat(Emitter &e, function_ref<Value(Value)> body) {
  ImplicitLocOpBuilder &b = e.b;
  auto loop = scf::WhileOp::create(b, TypeRange(b.getI64Type()),
                                   ValueRange(e.constant(0)), nullptr, nullptr);
  OpBuilder::InsertionGuard guard(b);
  // The memo scope requires an insertion point inside the function.
  b.setInsertionPointToStart(loop.getBeforeBody());
  Emitter::MemoScope scope(e);
  Value number = loop.getBeforeArguments()[0];
  Value goesOn = body(number);
  scf::ConditionOp::create(b, goesOn, e.add(number, e.constant(1)));
  b.setInsertionPointToStart(loop.getAfterBody());
  scf::YieldOp::create(b, loop.getAfterArguments());
}

namespace {
/// The counters of one group of blocks.
struct Counters {
  Counters(Emitter &e, Value group, Value blocks)
      : e(e), b(e.b), blocks(blocks),
        walked(
            e.address(e.counters, e.mul(group, e.constant(2)), b.getI64Type())),
        written(e.address(walked, e.constant(1), b.getI64Type())) {}

  /// Counts a block that has computed its rows. The result (i1) is true if it
  /// is the last one and some block reported a problem. The last one resets the
  /// counter.
  Value arrive(Value foundBad) {
    Type i64 = b.getI64Type();
    Value bad = e.mul(arith::ExtUIOp::create(b, i64, foundBad),
                      e.constant(int64_t(1) << 32));
    Value before = LLVM::AtomicRMWOp::create(
        b, LLVM::AtomicBinOp::add, walked, e.add(bad, e.constant(1)),
        LLVM::AtomicOrdering::monotonic, e.syncScope, /*alignment=*/8);
    Value now = e.add(before, e.add(bad, e.constant(1)));
    Value count = arith::AndIOp::create(b, now, e.constant(0xffffffff));
    Value isLast =
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq, count, blocks);
    e.ifThen(isLast,
             [&] { LLVM::StoreOp::create(b, e.constant(0), walked, 8); });
    Value isBad =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ne, now, count);
    return arith::AndIOp::create(b, isLast, isBad);
  }
  /// Counts a block that has written its results; the last one resets the
  /// counter.
  void leave() {
    Type i32 = b.getI32Type();
    fence();
    LLVM::AtomicRMWOp::create(
        b, LLVM::AtomicBinOp::uinc_wrap, written,
        arith::TruncIOp::create(b, i32, e.sub(blocks, e.constant(1))),
        LLVM::AtomicOrdering::monotonic, e.syncScope, /*alignment=*/4);
  }
  /// Waits until all other blocks have written their results.
  void waitForOthers() {
    Type i32 = b.getI32Type();
    Value others =
        arith::TruncIOp::create(b, i32, e.sub(blocks, e.constant(1)));
    repeat(e, [&](Value) -> Value {
      auto load = LLVM::LoadOp::create(b, i32, written, 4, /*isVolatile=*/true);
      return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, load, others);
    });
    fence();
  }

private:
  /// The atomics are relaxed, so ordering needs a fence (PartsEmitter.cpp).
  void fence() {
    LLVM::FenceOp::create(b, LLVM::AtomicOrdering::acq_rel, e.syncScope);
  }

  Emitter &e;
  ImplicitLocOpBuilder &b;
  Value blocks, walked, written;
};
} // namespace

/// Computes and writes a work item (round 0). If it is the last of its group
/// and some block reported a problem, rounds 1, 2, ... recompute every work
/// item of the group without skipping.
void StreamedBlocks::emitUnitsShared(const Grid &grid) {
  ImplicitLocOpBuilder &b = e.b;
  Emitter::Repeated repeated(e, {s.extents.begin(), s.extents.end()});
  Value none = e.constant(0), one = e.constant(1);
  Value blocks = e.value(e.simplify(rowAxis->countBlocks()));
  Type i8 = b.getI8Type();
  Value isFirst =
      warpRole == WarpRole::Producer
          ? Value(arith::ConstantOp::create(b, b.getBoolAttr(false)))
          : arith::CmpIOp::create(b, arith::CmpIPredicate::eq, thread, none);
  auto both = [&](Value x, Value y) -> Value {
    return arith::AndIOp::create(b, x, y);
  };
  auto emitRound = [&](Value unit, Value round) {
    Value isAgain = e.less(none, round);
    Value isOnce =
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq, round, none);
    Value counts = both(isFirst, isOnce);
    auto getCounters = [&] {
      return Counters(e, e.divU(unit, blocks), blocks);
    };
    // Results of round 0 must not be written after those of later rounds.
    Value isSecond =
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq, round, one);
    e.ifThen(both(isFirst, isSecond), [&] { getCounters().waitForOthers(); });
    Value first = e.mul(e.divU(unit, blocks), blocks);
    Value at = arith::SelectOp::create(b, isAgain,
                                       e.add(first, e.sub(round, one)), unit);
    emitWalk(setUnit(e, s, grid, at), {none, e.value(t.extent)}, isAgain);
    Value foundBad =
        isAnyOfBlock(arith::OrIOp::create(b, foundGap, hasNoFiniteRow()));
    // All threads are past the loop, so the shared memory of the right operands
    // can hold the flag.
    e.ifThen(counts, [&] {
      Value mustRepeat = getCounters().arrive(foundBad);
      LLVM::StoreOp::create(b, arith::ExtUIOp::create(b, i8, mustRepeat),
                            shared, 1);
    });
    emitEnd();
    // After the barrier all threads have written their results and can read the
    // flag.
    barrier();
    Value mustRepeat = arith::TruncIOp::create(
        b, b.getI1Type(), LLVM::LoadOp::create(b, i8, shared, 1));
    // The block that recomputes the group counts as written once it is done
    // with all rows.
    Value goesOn =
        arith::SelectOp::create(b, isOnce, mustRepeat, e.less(round, blocks));
    Value isDone = arith::XOrIOp::create(
        b, goesOn, arith::ConstantOp::create(b, b.getBoolAttr(true)));
    e.ifThen(both(isFirst, isDone), [&] { getCounters().leave(); });
    return goesOn;
  };
  e.forLoop(loop.begin, loop.end, loop.step, [&](Value unit) {
    repeat(e, [&](Value round) { return emitRound(unit, round); });
  });
}
