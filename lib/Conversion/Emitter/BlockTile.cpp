//===- BlockTile.cpp - How a block of threads multiplies a tile -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "BlockTile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
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
    inWarp = e.remU(thread, e.constant(32));
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
      for (int64_t c = 0; c < columns; c += 16)
        loadColumns(right, c, k, b);
      for (int64_t r = 0; r < rows; r += 16) {
        SmallVector<Value> a = loadRows(left, r, k);
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
  /// `count` blocks of 8 by 8 elements, of which this thread names the row at
  /// (row, k); as the instruction takes them.
  SmallVector<Value> loadBlocks(Value memory, Value row, Value k, int count) {
    ImplicitLocOpBuilder &b = e.b;
    Value at = e.add(e.mul(row, e.constant(getStride())), k);
    auto shared = LLVM::LLVMPointerType::get(
        b.getContext(), static_cast<unsigned>(NVVM::NVVMMemorySpace::Shared));
    Value address = LLVM::AddrSpaceCastOp::create(
        b, shared, e.address(memory, at, getStored()));
    Type i32 = b.getI32Type();
    auto words = LLVM::LLVMStructType::getLiteral(
        b.getContext(), SmallVector<Type>(count, i32));
    std::string name = "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x" +
                       std::to_string(count) + ".b16.p3";
    auto call = LLVM::CallIntrinsicOp::create(
        b, Type(words), b.getStringAttr(name), ValueRange{address});
    SmallVector<Value> blocks;
    for (int64_t i = 0; i < count; ++i) {
      Value block = LLVM::ExtractValueOp::create(b, call.getResults(), i);
      if (element.isF16())
        block =
            LLVM::BitcastOp::create(b, VectorType::get({2}, element), block);
      blocks.push_back(block);
    }
    return blocks;
  }
  /// Of 16 rows from `r` on: two blocks of rows, then the same further along k.
  SmallVector<Value> loadRows(Value memory, int64_t r, int64_t k) {
    Value row = e.add(e.remU(inWarp, e.constant(16)), e.constant(r));
    Value along = e.mul(e.divU(inWarp, e.constant(16)), e.constant(8));
    return loadBlocks(memory, e.add(firstRow, row), e.add(along, e.constant(k)),
                      4);
  }
  /// Of 16 columns from `c` on, or 8 where the warp has no more: for each 8 of
  /// them two blocks along k.
  void loadColumns(Value memory, int64_t c, int64_t k,
                   SmallVectorImpl<std::array<Value, 2>> &pairs) {
    Value column = e.remU(inWarp, e.constant(8));
    Value along = e.mul(e.remU(e.divU(inWarp, e.constant(8)), e.constant(2)),
                        e.constant(8));
    int count = columns - c >= 16 ? 4 : 2;
    if (count == 4)
      column =
          e.add(column, e.mul(e.divU(inWarp, e.constant(16)), e.constant(8)));
    SmallVector<Value> blocks =
        loadBlocks(memory, e.add(firstColumn, e.add(column, e.constant(c))),
                   e.add(along, e.constant(k)), count);
    for (int i = 0; i < count; i += 2)
      pairs.push_back({blocks[i], blocks[i + 1]});
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
  Value inWarp, group, member;
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
