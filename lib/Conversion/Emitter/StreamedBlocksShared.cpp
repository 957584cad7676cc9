//===- StreamedBlocksShared.cpp - Checks of chunks that blocks skip -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A block that skips a masked chunk assumes that zero times its elements is 0,
// which holds only if they are finite (StreamedBlocksWalk.cpp). With `skipped =
// shared` a block does not check the elements that it skips: the blocks of
// other rows multiply them anyway. A non-finite element makes the sums of its
// column non-finite in every row, including rows in which it is masked. So each
// block reports whether it has a row whose sums are all finite. The last block
// recomputes all rows without skipping if some block has no such row.
//
// There are two counters for each group of blocks, the blocks of all rows. One
// counts the blocks that begin their last chunk: the last to do so is the one
// that may have to recompute. It knows before it has written its results, so no
// block waits for the answer. The other counts the blocks that have written
// their results and, in the upper half of the word, those of them without a
// finite row. Only the last block waits for it: the others, which run already,
// have at most a chunk left.
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

  /// Counts a block that begins its last chunk; the last one resets the
  /// counter. The result (i32) is for `isLast`.
  Value arrive() {
    return LLVM::AtomicRMWOp::create(
        b, LLVM::AtomicBinOp::uinc_wrap, walked, narrow(countOthers()),
        LLVM::AtomicOrdering::monotonic, e.syncScope, /*alignment=*/4);
  }
  /// Whether (i1) the block that got `arrival` from `arrive` is the last one.
  Value isLast(Value arrival) {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, arrival,
                                 narrow(countOthers()));
  }
  /// Counts a block that has written its results, and is not the last one.
  void leave(Value foundBad) {
    fence();
    Value bad = e.mul(arith::ExtUIOp::create(b, b.getI64Type(), foundBad),
                      e.constant(int64_t(1) << 32));
    LLVM::AtomicRMWOp::create(b, LLVM::AtomicBinOp::add, written,
                              e.add(bad, e.constant(1)),
                              LLVM::AtomicOrdering::monotonic, e.syncScope,
                              /*alignment=*/8);
  }
  /// The last block waits until all others have written their results, and
  /// resets the counter. The result (i1) is whether one of them reported a
  /// problem.
  Value waitForOthers() {
    Type i64 = b.getI64Type();
    auto load = [&]() -> Value {
      return LLVM::LoadOp::create(b, i64, written, 8, /*isVolatile=*/true);
    };
    repeat(e, [&](Value) -> Value {
      Value count = arith::AndIOp::create(b, load(), e.constant(0xffffffff));
      return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, count,
                                   countOthers());
    });
    fence();
    Value isBad = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, load(),
                                        countOthers());
    LLVM::StoreOp::create(b, e.constant(0), written, 8);
    return isBad;
  }

private:
  Value countOthers() { return e.sub(blocks, e.constant(1)); }
  Value narrow(Value v) {
    return arith::TruncIOp::create(b, b.getI32Type(), v);
  }
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
  Type i8 = b.getI8Type(), i32 = b.getI32Type();
  Value no = arith::ConstantOp::create(b, b.getBoolAttr(false));
  Value isFirst =
      warpRole == WarpRole::Producer
          ? no
          : arith::CmpIOp::create(b, arith::CmpIPredicate::eq, thread, none);
  Value arrival = makeThreadMemory(e, i32, 1);
  auto both = [&](Value x, Value y) -> Value {
    return arith::AndIOp::create(b, x, y);
  };
  auto negate = [&](Value x) -> Value {
    return arith::XOrIOp::create(
        b, x, arith::ConstantOp::create(b, b.getBoolAttr(true)));
  };
  auto emitRound = [&](Value unit, Value round) {
    Value isAgain = e.less(none, round);
    Value counts = both(isFirst, negate(isAgain));
    auto getCounters = [&] {
      return Counters(e, e.divU(unit, blocks), blocks);
    };
    Value first = e.mul(e.divU(unit, blocks), blocks);
    Value at = arith::SelectOp::create(b, isAgain,
                                       e.add(first, e.sub(round, one)), unit);
    beforeLastSums = [&] {
      e.ifThen(counts, [&] {
        LLVM::StoreOp::create(b, getCounters().arrive(), arrival);
      });
    };
    emitWalk(setUnit(e, s, grid, at), {none, e.value(t.extent)}, isAgain);
    beforeLastSums = nullptr;
    Value foundBad =
        isAnyOfBlock(arith::OrIOp::create(b, foundGap, hasNoFiniteRow()));
    emitEnd();
    Value isLast = both(
        counts, getCounters().isLast(LLVM::LoadOp::create(b, i32, arrival)));
    // All threads are past the loop, so the shared memory of the right operands
    // can hold the flag.
    e.ifThen(counts, [&] {
      Value mustRepeat = e.ifElse(
          isLast, b.getI1Type(),
          [&] {
            return SmallVector<Value>{arith::OrIOp::create(
                b, foundBad, getCounters().waitForOthers())};
          },
          [&] { return SmallVector<Value>{no}; })[0];
      LLVM::StoreOp::create(b, arith::ExtUIOp::create(b, i8, mustRepeat),
                            shared, 1);
    });
    // After the barrier all threads have written their results and can read the
    // flag.
    barrier();
    Value mustRepeat = arith::TruncIOp::create(
        b, b.getI1Type(), LLVM::LoadOp::create(b, i8, shared, 1));
    e.ifThen(both(counts, negate(isLast)),
             [&] { getCounters().leave(foundBad); });
    return Value(
        arith::SelectOp::create(b, isAgain, e.less(round, blocks), mustRepeat));
  };
  e.forLoop(loop.begin, loop.end, loop.step, [&](Value unit) {
    repeat(e, [&](Value round) { return emitRound(unit, round); });
  });
}
