//===- StreamedBlocksWalk.cpp - Which chunks a block of threads walks -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where a mask is proved (MaskAnalysis), a block walks only the chunks that
// some row of its needs: what it leaves out are zeros times elements of right
// operands, which are looked at for a value that is not finite first.
//
//===----------------------------------------------------------------------===//

#include "StreamedBlocks.h"
#include "luminal/Conversion/ScalarMath.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace luminal;
using namespace luminal::blocks;
using namespace mlir;

/// Chunks that are looked at together for elements that are not finite, so that
/// their reads are on the way at a time.
static constexpr int64_t kCheckedChunks = 4;

/// The indices of the stream that some row of the tile needs, in whole chunks.
IndexRange StreamedBlocks::getNeeded() {
  Value none = e.constant(0), one = e.constant(1), extent = e.value(t.extent);
  Value lastRow = e.add(firstRow, rowAxis ? e.constant(tile.rows) : one);
  if (rowAxis)
    lastRow = e.minS(lastRow, e.value(rowAxis->extent));
  SmallVector<Value> found = e.forLoop(
      firstRow, lastRow, one, {extent, none},
      [&](Value row, ValueRange before) {
        if (rowAxis)
          e.setDim(rowAxis->dim, row);
        Value lo = e.maxS(none, e.value(span->lo));
        Value hi = e.minS(extent, e.value(span->hi));
        Value isSome = e.less(lo, hi);
        auto select = [&](Value now, Value old) -> Value {
          return arith::SelectOp::create(e.b, isSome, now, old);
        };
        return SmallVector<Value>{select(e.minS(before[0], lo), before[0]),
                                  select(e.maxS(before[1], hi), before[1])};
      });
  Value chunk = e.constant(t.chunk);
  auto roundDown = [&](Value v) { return e.mul(e.divU(v, chunk), chunk); };
  Value hi = roundDown(e.add(found[1], e.constant(t.chunk - 1)));
  hi = e.minS(hi, extent);
  // Where no row needs anything, all is before the end.
  return {e.minS(roundDown(found[0]), hi), hi};
}

/// `zeros` and zero times what the thread brings of a right operand for chunks
/// in [from, to), and maybe of some after them: NaN where an element is not
/// finite. In the operand's own type, of which threads multiply two narrow
/// elements at a time.
Value StreamedBlocks::emitZeros(const Product &sum, Value from, Value to,
                                Value zeros) {
  Type element = sum.tile->getElement();
  Value step = e.constant(kCheckedChunks * t.chunk);
  // There is a chunk where there is something to check.
  Value last = e.sub(e.value(t.extent), e.constant(t.chunk));
  return e.forLoop(from, to, step, zeros, [&](Value lo, ValueRange before) {
    SmallVector<Value> vectors;
    for (int64_t i = 0; i < kCheckedChunks; ++i) {
      Value begin = e.add(lo, e.constant(i * t.chunk));
      if (isWhole(t.extent, t.chunk))
        begin = e.minS(begin, last);
      e.setDim(t.begin, begin);
      llvm::append_range(vectors,
                         sum.right->load(e.constant(0), e.constant(0)));
    }
    Value result = before[0];
    Value zero =
        arith::ConstantOp::create(e.b, e.b.getZeroAttr(result.getType()));
    for (Value v : vectors) {
      v = e.fromStorage(v, element);
      if (v.getType() != result.getType())
        v = vector::BroadcastOp::create(e.b, result.getType(), v);
      result = math::FmaOp::create(e.b, v, zero, result);
    }
    return SmallVector<Value>{result};
  })[0];
}

/// The chunks of `part` that the block walks: those that it needs, or all where
/// what it would leave out is not finite.
IndexRange StreamedBlocks::getWalked(IndexRange part) {
  if (!span)
    return part;
  IndexRange needed = getNeeded();
  if (parts > 1) {
    // Nothing of the part is needed where it ends before it begins.
    needed.lo = e.maxS(part.lo, e.minS(part.hi, needed.lo));
    needed.hi = e.maxS(needed.lo, e.minS(part.hi, needed.hi));
  }
  Value isBad = arith::ConstantOp::create(e.b, e.b.getBoolAttr(false));
  for (auto &sum : sums) {
    Emitter::Repeated repeated(e, {t.extent});
    // As the thread reads it.
    Type element = sum->tile->getElement();
    unsigned lanes = sum->right->getLanes();
    Type type = lanes > 1 ? Type(VectorType::get({lanes}, element)) : element;
    Value zeros = arith::ConstantOp::create(e.b, e.b.getZeroAttr(type));
    zeros = emitZeros(*sum, part.lo, needed.lo, zeros);
    zeros = emitZeros(*sum, needed.hi, part.hi, zeros);
    for (unsigned i = 0; i < lanes; ++i) {
      Value x =
          lanes > 1 ? Value(vector::ExtractOp::create(e.b, zeros, i)) : zeros;
      Type wide = sum->p.accumulator;
      x = emitCast(e.b, x, element, wide);
      isBad = arith::OrIOp::create(
          e.b, isBad,
          arith::CmpFOp::create(e.b, arith::CmpFPredicate::UNO, x, x));
    }
  }
  // Of any thread of the block.
  Value all = arith::ConstantOp::create(e.b, e.b.getI32IntegerAttr(0));
  isBad = LLVM::CallIntrinsicOp::create(
              e.b, e.b.getI1Type(),
              e.b.getStringAttr("llvm.nvvm.barrier.cta.red.or.aligned.all"),
              ValueRange{all, isBad})
              .getResult(0);
  return {arith::SelectOp::create(e.b, isBad, part.lo, needed.lo),
          arith::SelectOp::create(e.b, isBad, part.hi, needed.hi)};
}
