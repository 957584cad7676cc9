//===- ProductPairs.cpp - Products of bf16 pairs --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of bf16 pairs (AVX512_BF16). The instruction multiplies the two
// halves of each 32 bits of two vectors and adds both products to an f32. So a
// step of k is a pair of bf16, the lower half first. Denormals are treated as
// zero (Intel, Instruction Set Extensions, VDPBF16PS).
//
//===----------------------------------------------------------------------===//

#include "ProductEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace luminal;
using namespace mlir;

/// `sum` (f32) plus the products of the pairs in x and y (i32).
static Value multiplyPairs(ImplicitLocOpBuilder &b, Value x, Value y,
                           Value sum) {
  auto type = cast<VectorType>(sum.getType());
  int64_t lanes = type.getNumElements();
  auto halves = VectorType::get({2 * lanes}, b.getBF16Type());
  std::string name =
      "llvm.x86.avx512bf16.dpbf16ps." + std::to_string(32 * lanes);
  SmallVector<Value> operands = {sum, LLVM::BitcastOp::create(b, halves, x),
                                 LLVM::BitcastOp::create(b, halves, y)};
  return LLVM::CallIntrinsicOp::create(b, type, b.getStringAttr(name), operands)
      .getResults();
}

static bool isMultiple(Emitter &e, const Expr &extent, int64_t of) {
  return Assumptions(e.getRanges())
      .simplify(Expr::mod(extent, of))
      .isConstant(0);
}

/// Packs elements of both into pairs, lane by lane.
Value ProductEmitter::combine(Value even, Value odd) {
  even = e.toStorage(even, p.factor), odd = e.toStorage(odd, p.factor);
  auto type = dyn_cast<VectorType>(even.getType());
  if (!type) {
    Type i32 = e.b.getI32Type();
    Value low = arith::ExtUIOp::create(e.b, i32, even);
    Value high = arith::ExtUIOp::create(e.b, i32, odd);
    Value by = arith::ConstantIntOp::create(e.b, i32, 16);
    return arith::OrIOp::create(e.b, low, arith::ShLIOp::create(e.b, high, by));
  }
  int64_t lanes = type.getNumElements();
  SmallVector<int64_t> order;
  for (int64_t i = 0; i < lanes; ++i)
    order.append({i, lanes + i});
  Value both = vector::ShuffleOp::create(e.b, even, odd, order);
  return vector::BitCastOp::create(
      e.b, VectorType::get({lanes}, e.b.getI32Type()), both);
}

/// `count` consecutive pairs along k from `step` on, all inside.
Value ProductEmitter::loadPairs(const ProductSide &side, Value at, Value step,
                                unsigned count) {
  Value k = e.mul(step, e.constant(2));
  Value halves = e.toStorage(load(side, at, k, p.kDim, 2 * count), p.factor);
  Value pairs = vector::BitCastOp::create(
      e.b, VectorType::get({int64_t(count)}, e.b.getI32Type()), halves);
  return count > 1 ? pairs : vector::ExtractOp::create(e.b, pairs, 0);
}

/// The pair at `step`, or `width` of them along the side's own dim. If the
/// second element is past the end of k it is 0.
Value ProductEmitter::loadPair(const ProductSide &side, Value at, Value step,
                               unsigned width, Value count) {
  std::optional<unsigned> laneDim;
  if (width > 1)
    laneDim = side.dim;
  Value k = e.mul(step, e.constant(2)), next = e.add(k, e.constant(1));
  Value even = load(side, at, k, laneDim, width, count);
  if (isMultiple(e, p.kExtent, 2))
    return combine(even, load(side, at, next, laneDim, width, count));
  Value last = e.sub(e.value(p.kExtent), e.constant(1));
  Value odd = load(side, at, e.minS(next, last), laneDim, width, count);
  Value isThere =
      arith::CmpIOp::create(e.b, arith::CmpIPredicate::sle, next, last);
  Value zero = arith::ConstantOp::create(e.b, e.b.getZeroAttr(odd.getType()));
  return combine(even, arith::SelectOp::create(e.b, isThere, odd, zero));
}

/// Fills the end of the copied row with zeros up to a whole step of k. Must be
/// called before the row is copied.
void ProductEmitter::clearRest(Value row) {
  // The elements that the last step may lack: the second one of a pair, or
  // those of a tile register's line.
  int64_t whole = p.hasTiles() ? 2 * GemmLoops::kTileSteps : 2;
  if (isMultiple(e, p.kExtent, whole))
    return;
  int64_t count = p.hasTiles() ? whole : 1;
  // For an empty row the position is clamped to 0: alignment padding follows,
  // so the write is harmless.
  Value rest = e.sub(e.value(2 * p.countSteps(p.kExtent)), e.constant(count));
  rest = arith::MaxSIOp::create(e.b, rest, e.constant(0));
  Type i16 = e.b.getI16Type();
  Type type = count > 1 ? Type(VectorType::get({count}, i16)) : i16;
  Value zero = arith::ConstantOp::create(e.b, e.b.getZeroAttr(type));
  LLVM::StoreOp::create(e.b, zero, e.address(row, rest, i16), 2);
}

/// The rows from `row` on as contiguous lines for tile registers.
GemmLoops::Lines ProductEmitter::getLines(Value row) {
  Type i16 = e.b.getI16Type();
  if (copiesRows) {
    Value stride = e.value(getRowStride(p.kExtent));
    Value at = e.mul(e.sub(row, rowCopyBegin), stride);
    return {e.address(rowCopy, at, i16), e.mul(stride, e.constant(2))};
  }
  Emitter::Repeated repeated(e, {p.kExtent});
  e.setDim(p.rows.dim, row);
  e.setDim(p.kDim, e.constant(0));
  auto [base, position] =
      e.findMemory(p.rows.operand, p.getOperandIndex(p.rows));
  std::optional<Expr::Linear> linear = position.linearIn(p.rows.dim);
  assert(linear && "rows that are not plain");
  return {e.address(base, e.value(position), i16), e.value(2 * linear->stride)};
}

Value ProductEmitter::loadRowPair(Value row, Value step) {
  if (!copiesRows)
    return loadPairs(p.rows, row, step, 1);
  Value steps = e.value(p.countSteps(p.kExtent));
  Value at = e.add(e.mul(e.sub(row, rowCopyBegin), steps), step);
  Type i32 = e.b.getI32Type();
  return LLVM::LoadOp::create(e.b, i32, e.address(rowCopy, at, i32), 4);
}

void ProductEmitter::usePairs(GemmLoops &g) {
  g.k = e.value(Expr::ceilDiv(p.kExtent, 2));
  if (p.hasTiles()) {
    g.paddedK = e.value(p.countSteps(p.kExtent));
    g.getLines = [&](ImplicitLocOpBuilder &, Value row) {
      return getLines(row);
    };
  }
  g.wholeK = e.value(Expr::floorDiv(p.kExtent, 2));
  g.multiplyAdd = multiplyPairs;
  g.loadRow = [&](ImplicitLocOpBuilder &, Value row, Value step) {
    return loadRowPair(row, step);
  };
  g.loadColumn = [&](ImplicitLocOpBuilder &, Value step, Value column) {
    return loadPair(p.columns, column, step, 1);
  };
  if (g.loadColumns)
    g.loadColumns = [&](ImplicitLocOpBuilder &, Value step, Value column,
                        Value count) {
      return loadPair(p.columns, column, step, lanes, count);
    };
  if (g.loadAlongK)
    g.loadAlongK = [&, width = g.lanesAlongK](ImplicitLocOpBuilder &,
                                              Value step, Value column) {
      return loadPairs(p.columns, column, step, width);
    };
}
