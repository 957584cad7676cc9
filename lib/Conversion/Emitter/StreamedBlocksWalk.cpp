//===- StreamedBlocksWalk.cpp - The chunks of a work item -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// If a mask has been proved (MaskAnalysis), a block iterates only over the
// chunks that some row of its tile needs. A skipped chunk contributes zeros
// times elements of right operands, so those elements are first checked to be
// finite. If the mask is added to scores, the operands of the scores are
// checked too.
//
//===----------------------------------------------------------------------===//

#include "ScoredBound.h"
#include "StreamedBlocks.h"
#include "luminal/Conversion/ScalarMath.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace luminal;
using namespace luminal::blocks;
using namespace mlir;

/// Chunks that are checked for non-finite elements in one iteration, so that
/// their loads overlap.
static constexpr int64_t kCheckedChunks = 4;

/// The first row of the work item. If later rows need longer spans, work items
/// are assigned from the last row backwards, so that the longest ones start
/// first.
Value StreamedBlocks::getFirstRow(ArrayRef<IndexRange> ranges) {
  if (!rowAxis)
    return e.constant(0);
  Value lo = ranges[rowAxis - s.axes.data()].lo;
  std::optional<int> grows =
      span ? getDirection(span->hi, rowAxis->dim) : std::optional(0);
  if (grows.value_or(0) <= 0)
    return lo;
  Expr last = (rowAxis->countBlocks() - 1) * tile.rows;
  return e.sub(e.value(e.simplify(last)), lo);
}

/// The lowest index of the spans of the tile's rows, and the end of the
/// highest. Empty spans are included.
std::pair<Value, Value> StreamedBlocks::getBounds(const StreamSpan &of) {
  if (!rowAxis)
    return {e.value(of.lo), e.value(of.hi)};
  Value one = e.constant(1);
  Value end =
      e.minS(e.add(firstRow, e.constant(tile.rows)), e.value(rowAxis->extent));
  std::optional<int> lo = getDirection(of.lo, rowAxis->dim),
                     hi = getDirection(of.hi, rowAxis->dim);
  if (lo && hi) {
    auto at = [&](Value row, const Expr &x) {
      e.setDim(rowAxis->dim, row);
      return e.value(x);
    };
    Value last = e.sub(end, one);
    return {at(*lo < 0 ? last : firstRow, of.lo),
            at(*hi < 0 ? firstRow : last, of.hi)};
  }
  SmallVector<Value> found =
      e.forLoop(firstRow, end, one,
                {e.constant(std::numeric_limits<int64_t>::max()),
                 e.constant(std::numeric_limits<int64_t>::min())},
                [&](Value row, ValueRange before) {
                  e.setDim(rowAxis->dim, row);
                  return SmallVector<Value>{e.minS(before[0], e.value(of.lo)),
                                            e.maxS(before[1], e.value(of.hi))};
                });
  return {found[0], found[1]};
}

/// Finds the ranges in which the condition of some select may be false for some
/// row of the tile.
void StreamedBlocks::findExceptions() {
  exceptions.clear();
  for (const StreamSelect &select : selects)
    for (const StreamSpan &of : select.exceptions)
      exceptions.push_back(getBounds(of));
}

/// Whether all conditions hold in the whole chunk that begins at `lo`.
Value StreamedBlocks::isRegular(Value lo) {
  Value end = e.add(lo, e.constant(t.chunk));
  Value all;
  for (auto [first, last] : exceptions) {
    Value meets =
        arith::AndIOp::create(e.b, e.less(lo, last), e.less(first, end));
    all = all ? Value(arith::OrIOp::create(e.b, all, meets)) : meets;
  }
  Value one = arith::ConstantOp::create(e.b, e.b.getBoolAttr(true));
  return arith::XOrIOp::create(e.b, all, one);
}

/// Computes the elements of the selects at all positions of the chunk that
/// begins at `lo`; without evaluating the conditions if these hold in the whole
/// chunk.
void StreamedBlocks::chooseMasks(Value lo) {
  chosen.clear();
  if (selects.empty())
    return;
  SmallVector<Type> types;
  size_t places = layout->countSums();
  for (StreamSelect &select : selects)
    types.append(places, getElementType(select.op.getResult()));
  auto emitAll = [&](bool areTrue) {
    SmallVector<Value> elements;
    for (StreamSelect &select : selects)
      llvm::append_range(
          elements,
          emitPlaces(getElementType(select.op.getResult()), lo,
                     /*areInside=*/false, [&](size_t, Value) {
                       for (StreamSelect &other : selects)
                         if (areTrue)
                           e.remember(other.op.getResult(), at,
                                      e.emit(other.op.getInputs()[1], at));
                       return e.emit(select.op.getResult(), at);
                     }));
    return elements;
  };
  SmallVector<Value> all = e.ifElse(
      isRegular(lo), types, [&] { return emitAll(true); },
      [&] { return emitAll(false); });
  for (size_t i = 0; i < selects.size(); ++i)
    chosen.emplace_back(all.begin() + i * places,
                        all.begin() + (i + 1) * places);
}

/// The range of the stream that some row of the tile needs, rounded to whole
/// chunks.
IndexRange StreamedBlocks::getNeeded() {
  Value none = e.constant(0), extent = e.value(t.extent);
  auto [lo, hi] = getBounds(*span);
  lo = e.maxS(none, lo);
  hi = e.maxS(none, e.minS(extent, hi));
  Value chunk = e.constant(t.chunk);
  auto roundDown = [&](Value v) { return e.mul(e.divU(v, chunk), chunk); };
  hi = roundDown(e.add(hi, e.constant(t.chunk - 1)));
  hi = e.minS(hi, extent);
  // The range is empty if no row needs anything.
  return {e.minS(roundDown(lo), hi), hi};
}

/// Adds to `zeros` zero times the thread's elements of a right operand, for the
/// chunks in [from, to) and possibly some after them. The result is NaN if one
/// of them is not finite. Computed in the operand's type, so that narrow
/// elements are multiplied in pairs.
Value StreamedBlocks::emitZeros(const Product &sum, Value from, Value to,
                                Value zeros) {
  Type element = sum.tile->getElement();
  Value step = e.constant(kCheckedChunks * t.chunk);
  // If there is anything to check, there is at least one chunk.
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

/// Whether (i1) this thread found a non-finite element in the right operands of
/// sums, for chunks in these ranges.
Value StreamedBlocks::findNotFinite(ArrayRef<IndexRange> ranges) {
  Value isBad = arith::ConstantOp::create(e.b, e.b.getBoolAttr(false));
  if (warpRole == WarpRole::Producer)
    return isBad;
  for (auto &sum : sums) {
    Emitter::Repeated repeated(e, {t.extent});
    // In vectors as the thread loads them.
    Type element = sum->tile->getElement();
    unsigned lanes = sum->right->getLanes();
    Type type = lanes > 1 ? Type(VectorType::get({lanes}, element)) : element;
    Value zeros = arith::ConstantOp::create(e.b, e.b.getZeroAttr(type));
    for (const IndexRange &range : ranges)
      zeros = emitZeros(*sum, range.lo, range.hi, zeros);
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
  return isBad;
}

/// Whether (i1) this thread found an operand of the scores that is too large
/// (ScoredBound.h): among the rows, and in chunks at every `step`th index of
/// each range.
Value StreamedBlocks::findUnbounded(ArrayRef<IndexRange> ranges, Value step) {
  Value isBad = arith::ConstantOp::create(e.b, e.b.getBoolAttr(false));
  if (warpRole == WarpRole::Producer)
    return isBad;
  for (auto &product : scores) {
    Emitter::Repeated repeated(e, {t.extent});
    auto element = cast<FloatType>(product->tile->getElement());
    auto begin = [&](const BlockSide &side) -> Value {
      Type type = e.b.getIntegerType(element.getWidth());
      if (side.getLanes() > 1)
        type = VectorType::get({side.getLanes()}, type);
      return arith::ConstantOp::create(e.b, e.b.getZeroAttr(type));
    };
    auto take = [&](Value largest, ValueRange vectors) {
      for (Value v : vectors) {
        v = emitMagnitude(e.b, e.fromStorage(v, element));
        if (v.getType() != largest.getType())
          v = vector::BroadcastOp::create(e.b, largest.getType(), v);
        largest = arith::MaxUIOp::create(e.b, largest, v);
      }
      return largest;
    };
    auto note = [&](Value largest) {
      Value exceeds = emitExceedsBound(e.b, largest, element);
      if (auto type = dyn_cast<VectorType>(exceeds.getType()))
        for (int64_t i = 0; i < type.getNumElements(); ++i)
          isBad = arith::OrIOp::create(
              e.b, isBad, vector::ExtractOp::create(e.b, exceeds, i));
      else
        isBad = arith::OrIOp::create(e.b, isBad, exceeds);
    };
    note(take(begin(*product->left),
              product->left->load(firstRow, e.constant(0))));
    Value largest = begin(*product->right);
    for (const IndexRange &range : ranges)
      largest = e.forLoop(
          range.lo, range.hi, step, largest, [&](Value lo, ValueRange before) {
            return SmallVector<Value>{
                take(before[0], product->right->load(lo, e.constant(0)))};
          })[0];
    note(largest);
  }
  return isBad;
}

/// Whether (i1) `v` holds in any thread of the block. This is also a barrier.
Value StreamedBlocks::isAnyOfBlock(Value v) {
  Value all = arith::ConstantOp::create(e.b, e.b.getI32IntegerAttr(0));
  return LLVM::CallIntrinsicOp::create(
             e.b, e.b.getI1Type(),
             e.b.getStringAttr("llvm.nvvm.barrier.cta.red.or.aligned.all"),
             ValueRange{all, v})
      .getResult(0);
}

/// The chunks of `part` that the block iterates over: those that it needs, or
/// all of them if what it would skip is not finite.
IndexRange StreamedBlocks::getWalked(IndexRange part) {
  if (!span)
    return part;
  IndexRange needed = getNeeded();
  if (parts > 1) {
    // The range is empty if the part has nothing that is needed.
    needed.lo = e.maxS(part.lo, e.minS(part.hi, needed.lo));
    needed.hi = e.maxS(needed.lo, e.minS(part.hi, needed.hi));
  }
  IndexRange rest[] = {{part.lo, needed.lo}, {needed.hi, part.hi}};
  Value isBad = findNotFinite(rest);
  if (span->assumesBounded)
    isBad = arith::OrIOp::create(e.b, isBad,
                                 findUnbounded(rest, e.constant(t.chunk)));
  isBad = isAnyOfBlock(isBad);
  return {arith::SelectOp::create(e.b, isBad, part.lo, needed.lo),
          arith::SelectOp::create(e.b, isBad, part.hi, needed.hi)};
}

/// The same where other blocks check what this block skips: the chunks that it
/// needs, or the whole stream if `isAll` (i1). Spans do not decrease with the
/// row. So chunks that no block iterates over are before the span of the first
/// block, or between the spans of two consecutive blocks. This block checks
/// those next to its own span.
IndexRange StreamedBlocks::getWalkedShared(Value isAll) {
  Value none = e.constant(0), extent = e.value(t.extent);
  IndexRange needed = getNeeded();
  Value ownRow = firstRow,
        isFirst =
            arith::CmpIOp::create(e.b, arith::CmpIPredicate::eq, ownRow, none);
  firstRow = e.add(ownRow, e.constant(tile.rows));
  Value isLast =
      e.less(e.sub(e.value(rowAxis->extent), e.constant(1)), firstRow);
  IndexRange next = getNeeded();
  firstRow = ownRow;
  Value before = arith::SelectOp::create(e.b, isFirst, needed.lo, none),
        after = arith::SelectOp::create(e.b, isLast, extent, next.lo);
  foundGap = findNotFinite({{none, before}, {needed.hi, after}});
  if (span->assumesBounded) {
    // The blocks share the check of the scores' operands, a chunk each in turn.
    Value chunk = e.constant(t.chunk);
    Value own = e.mul(e.divU(firstRow, e.constant(tile.rows)), chunk),
          step = e.mul(e.value(e.simplify(rowAxis->countBlocks())), chunk);
    foundGap = arith::OrIOp::create(e.b, foundGap,
                                    findUnbounded({{own, extent}}, step));
  }
  return {arith::SelectOp::create(e.b, isAll, none, needed.lo),
          arith::SelectOp::create(e.b, isAll, extent, needed.hi)};
}
