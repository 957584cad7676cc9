//===- BlockTile.cpp - How a block of threads multiplies a tile -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "BlockTile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace luminal;
using namespace mlir;

/// Rows are 16 bytes longer than k, so that neighbouring rows begin in other
/// banks of shared memory.
int64_t BlockTile::getStride() const {
  return shape.depth + 128 / getStored().getIntOrFloatBitWidth();
}

//===----------------------------------------------------------------------===//
// Tensor cores
//===----------------------------------------------------------------------===//

namespace {
/// Eight warps, two by four; each multiplies by mma.m16n8k16.
class TensorTile : public BlockTile {
public:
  TensorTile(Emitter &e, TileShape shape, Type element, Value thread)
      : BlockTile(e, shape), element(element) {
    Value warp = e.divU(thread, e.constant(32));
    Value inWarp = e.remU(thread, e.constant(32));
    group = e.divU(inWarp, e.constant(4));
    member = e.remU(inWarp, e.constant(4));
    rows = shape.rows / 2;
    columns = shape.columns / 4;
    firstRow = e.mul(e.divU(warp, e.constant(4)), e.constant(rows));
    firstColumn = e.mul(e.remU(warp, e.constant(4)), e.constant(columns));
  }

  Type getElement() const override { return element; }

  SmallVector<Value> begin() override {
    Value zero = arith::ConstantOp::create(e.b, e.b.getF32FloatAttr(0));
    return SmallVector<Value>(rows / 16 * (columns / 8) * 4, zero);
  }

  SmallVector<Value> multiply(ValueRange sums, Value left,
                              Value right) override {
    SmallVector<Value> next(sums);
    for (int64_t k = 0; k < shape.depth; k += 16) {
      SmallVector<std::array<Value, 2>> b;
      for (int64_t c = 0; c < columns; c += 8) {
        Value row = e.add(firstColumn, e.add(group, e.constant(c)));
        b.push_back({loadPair(right, row, k), loadPair(right, row, k + 8)});
      }
      for (int64_t r = 0; r < rows; r += 16) {
        Value row = e.add(firstRow, e.add(group, e.constant(r)));
        Value below = e.add(row, e.constant(8));
        std::array<Value, 4> a = {
            loadPair(left, row, k), loadPair(left, below, k),
            loadPair(left, row, k + 8), loadPair(left, below, k + 8)};
        for (auto [j, pair] : llvm::enumerate(b))
          multiplyOne(a, pair, &next[(r / 16 * b.size() + j) * 4]);
      }
    }
    return next;
  }

  void forEach(ValueRange sums,
               function_ref<void(Value, Value, Value)> body) override {
    size_t i = 0;
    for (int64_t r = 0; r < rows; r += 16)
      for (int64_t c = 0; c < columns; c += 8)
        for (int64_t part = 0; part < 4; ++part, ++i) {
          Value row = e.add(group, e.constant(r + part / 2 * 8));
          Value column =
              e.add(e.mul(member, e.constant(2)), e.constant(c + part % 2));
          body(e.add(firstRow, row), e.add(firstColumn, column), sums[i]);
        }
  }

private:
  /// Two elements along k of a row, as the instruction takes them.
  Value loadPair(Value memory, Value row, int64_t k) {
    Value at = e.add(e.mul(row, e.constant(getStride())),
                     e.add(e.mul(member, e.constant(2)), e.constant(k)));
    Type type = e.b.getI32Type();
    if (element.isF16())
      type = VectorType::get({2}, element);
    return LLVM::LoadOp::create(e.b, type, e.address(memory, at, getStored()),
                                4);
  }

  void multiplyOne(ArrayRef<Value> a, ArrayRef<Value> b, Value *sums) {
    SmallVector<Value> args(a);
    llvm::append_range(args, b);
    args.append(sums, sums + 4);
    Type f32 = e.b.getF32Type();
    auto result = LLVM::LLVMStructType::getLiteral(e.b.getContext(),
                                                   {f32, f32, f32, f32});
    StringRef name = element.isF16() ? "llvm.nvvm.mma.m16n8k16.row.col.f32.f32"
                                     : "llvm.nvvm.mma.m16n8k16.row.col.bf16";
    auto call = LLVM::CallIntrinsicOp::create(e.b, Type(result),
                                              e.b.getStringAttr(name), args);
    for (int64_t i = 0; i < 4; ++i)
      sums[i] = LLVM::ExtractValueOp::create(e.b, call.getResults(), i);
  }

  Type element;
  Value group, member;
  /// Of the warp.
  int64_t rows, columns;
  Value firstRow, firstColumn;
};

//===----------------------------------------------------------------------===//
// Multiplication and addition
//===----------------------------------------------------------------------===//

/// 16 by 16 threads; each has every 16th row and column.
class PlainTile : public BlockTile {
public:
  PlainTile(Emitter &e, TileShape shape, Type element, Value thread)
      : BlockTile(e, shape), element(element),
        row(e.divU(thread, e.constant(16))),
        column(e.remU(thread, e.constant(16))), rows(shape.rows / 16),
        columns(shape.columns / 16) {}

  Type getElement() const override { return element; }

  SmallVector<Value> begin() override {
    Value zero = arith::ConstantOp::create(e.b, e.b.getZeroAttr(element));
    return SmallVector<Value>(rows * columns, zero);
  }

  SmallVector<Value> multiply(ValueRange sums, Value left,
                              Value right) override {
    unsigned lanes = 128 / element.getIntOrFloatBitWidth();
    return e.forLoop(e.constant(0), e.constant(shape.depth), e.constant(lanes),
                     sums, [&](Value k, ValueRange carried) {
                       SmallVector<Value> next(carried), a, b;
                       for (int64_t i = 0; i < rows; ++i)
                         a.push_back(loadVector(left, row, i, k, lanes));
                       for (int64_t j = 0; j < columns; ++j)
                         b.push_back(loadVector(right, column, j, k, lanes));
                       for (unsigned l = 0; l < lanes; ++l)
                         for (int64_t i = 0; i < rows; ++i)
                           for (int64_t j = 0; j < columns; ++j)
                             take(next[i * columns + j], at(a[i], l),
                                  at(b[j], l));
                       return next;
                     });
  }

  void forEach(ValueRange sums,
               function_ref<void(Value, Value, Value)> body) override {
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j)
        body(e.add(row, e.constant(16 * i)), e.add(column, e.constant(16 * j)),
             sums[i * columns + j]);
  }

private:
  Value loadVector(Value memory, Value first, int64_t i, Value k,
                   unsigned lanes) {
    Value line = e.add(first, e.constant(16 * i));
    Value position = e.add(e.mul(line, e.constant(getStride())), k);
    return LLVM::LoadOp::create(e.b, VectorType::get({lanes}, element),
                                e.address(memory, position, element), 16);
  }
  Value at(Value v, unsigned l) {
    return vector::ExtractOp::create(e.b, v, int64_t(l));
  }
  void take(Value &sum, Value x, Value y) {
    if (isa<FloatType>(element))
      sum = math::FmaOp::create(e.b, x, y, sum);
    else
      sum = arith::AddIOp::create(e.b, sum, arith::MulIOp::create(e.b, x, y));
  }

  Type element;
  Value row, column;
  /// Of the thread.
  int64_t rows, columns;
};
} // namespace

std::unique_ptr<BlockTile> luminal::makeTensorTile(Emitter &e, TileShape shape,
                                                   Type element, Value thread) {
  return std::make_unique<TensorTile>(e, shape, element, thread);
}

std::unique_ptr<BlockTile> luminal::makePlainTile(Emitter &e, TileShape shape,
                                                  Type element, Value thread) {
  return std::make_unique<PlainTile>(e, shape, element, thread);
}
