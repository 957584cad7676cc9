//===- Loops.h - Short names for building loops ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_CONVERSION_GEMMLOOPS_LOOPS_H
#define LUMINAL_LIB_CONVERSION_GEMMLOOPS_LOOPS_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace luminal {

/// Short names for i64 arithmetic, loops and memory accesses.
struct Loops {
  mlir::ImplicitLocOpBuilder &b;

  mlir::Value constant(int64_t v) {
    return mlir::arith::ConstantIntOp::create(b, b.getI64Type(), v);
  }
  mlir::Value add(mlir::Value x, mlir::Value y) {
    return mlir::arith::AddIOp::create(b, x, y);
  }
  mlir::Value add(mlir::Value x, int64_t y) {
    return y == 0 ? x : add(x, constant(y));
  }
  mlir::Value sub(mlir::Value x, mlir::Value y) {
    return mlir::arith::SubIOp::create(b, x, y);
  }
  mlir::Value mul(mlir::Value x, mlir::Value y) {
    return mlir::arith::MulIOp::create(b, x, y);
  }
  mlir::Value mul(mlir::Value x, int64_t y) {
    return y == 1 ? x : mul(x, constant(y));
  }
  mlir::Value divide(mlir::Value x, int64_t y) {
    return b.createOrFold<mlir::arith::DivUIOp>(x, constant(y));
  }
  mlir::Value min(mlir::Value x, mlir::Value y) {
    return mlir::arith::MinSIOp::create(b, x, y);
  }
  mlir::Value floorTo(mlir::Value x, int64_t multiple) {
    return b.createOrFold<mlir::arith::AndIOp>(x, constant(-multiple));
  }
  mlir::Value lt(mlir::Value x, mlir::Value y) {
    return mlir::arith::CmpIOp::create(b, mlir::arith::CmpIPredicate::slt, x,
                                       y);
  }
  mlir::Value le(mlir::Value x, mlir::Value y) {
    return mlir::arith::CmpIOp::create(b, mlir::arith::CmpIPredicate::sle, x,
                                       y);
  }

  mlir::Value element(mlir::Value base, mlir::Type type,
                      mlir::LLVM::GEPArg index) {
    return mlir::LLVM::GEPOp::create(b, base.getType(), type, base,
                                     llvm::ArrayRef<mlir::LLVM::GEPArg>{index});
  }
  mlir::Value load(mlir::Type type, mlir::Value pointer, unsigned alignment) {
    return mlir::LLVM::LoadOp::create(b, type, pointer, alignment);
  }
  void store(mlir::Value v, mlir::Value pointer, unsigned alignment) {
    mlir::LLVM::StoreOp::create(b, v, pointer, alignment);
  }

  using Body = llvm::function_ref<llvm::SmallVector<mlir::Value>(
      mlir::Value index, mlir::ValueRange carried)>;
  llvm::SmallVector<mlir::Value> loop(mlir::Value begin, mlir::Value end,
                                      int64_t step, mlir::ValueRange carried,
                                      Body body) {
    auto op = mlir::scf::ForOp::create(b, begin, end, constant(step), carried);
    mlir::OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(op.getBody());
    llvm::SmallVector<mlir::Value> next =
        body(op.getInductionVar(), op.getRegionIterArgs());
    if (!carried.empty())
      mlir::scf::YieldOp::create(b, next);
    return llvm::SmallVector<mlir::Value>(op.getResults());
  }
  void loop(mlir::Value begin, mlir::Value end, int64_t step,
            llvm::function_ref<void(mlir::Value)> body) {
    loop(begin, end, step, {}, [&](mlir::Value i, mlir::ValueRange) {
      body(i);
      return llvm::SmallVector<mlir::Value>();
    });
  }
  /// Emits only `then` if `condition` is null.
  void branch(mlir::Value condition, llvm::function_ref<void()> then,
              llvm::function_ref<void()> otherwise) {
    if (!condition)
      return then();
    auto op = mlir::scf::IfOp::create(b, condition, /*withElseRegion=*/true);
    mlir::OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(op.thenBlock());
    then();
    b.setInsertionPointToStart(op.elseBlock());
    otherwise();
  }
  /// Emits `then` unconditionally if `condition` is null.
  void ifThen(mlir::Value condition, llvm::function_ref<void()> then) {
    if (!condition)
      return then();
    auto op = mlir::scf::IfOp::create(b, condition, /*withElseRegion=*/false);
    mlir::OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(op.thenBlock());
    then();
  }
  /// Whether `x` is known to be a multiple of `divisor`.
  bool isMultiple(mlir::Value x, int64_t divisor) {
    std::optional<int64_t> known = mlir::getConstantIntValue(x);
    return known && *known % divisor == 0;
  }

  mlir::Value zero(mlir::Type type) {
    return mlir::arith::ConstantOp::create(b, b.getZeroAttr(type));
  }
  mlir::Value broadcast(mlir::Value scalar, mlir::VectorType type) {
    return mlir::vector::BroadcastOp::create(b, type, scalar);
  }
  mlir::Value multiplyAdd(mlir::Value x, mlir::Value y, mlir::Value sum) {
    if (mlir::isa<mlir::FloatType>(mlir::getElementTypeOrSelf(x.getType())))
      return mlir::math::FmaOp::create(b, x, y, sum);
    return mlir::arith::AddIOp::create(b, mlir::arith::MulIOp::create(b, x, y),
                                       sum);
  }
  mlir::Value sum(mlir::Value x, mlir::Value y) {
    if (mlir::isa<mlir::FloatType>(mlir::getElementTypeOrSelf(x.getType())))
      return mlir::arith::AddFOp::create(b, x, y);
    return mlir::arith::AddIOp::create(b, x, y);
  }
  /// Concatenates the lanes of the vectors, whose number is a power of two.
  mlir::Value concatenate(llvm::ArrayRef<mlir::Value> parts) {
    if (parts.size() == 1)
      return parts[0];
    mlir::Value x = concatenate(parts.take_front(parts.size() / 2));
    mlir::Value y = concatenate(parts.drop_front(parts.size() / 2));
    int64_t lanes = mlir::cast<mlir::VectorType>(x.getType()).getNumElements();
    return mlir::vector::ShuffleOp::create(
        b, x, y, llvm::to_vector(llvm::seq<int64_t>(0, 2 * lanes)));
  }
  /// Transposes squares of vectors (a power of two of them) by swapping
  /// off-diagonal blocks, with one shuffle per vector and stage. The squares
  /// are side by side in the lanes.
  void transpose(llvm::MutableArrayRef<mlir::Value> lines) {
    int64_t n = lines.size();
    int64_t lanes =
        mlir::cast<mlir::VectorType>(lines[0].getType()).getNumElements();
    for (int64_t step = 1; step < n; step *= 2) {
      llvm::SmallVector<int64_t> first, second;
      for (int64_t j = 0; j < lanes; ++j) {
        first.push_back(j & step ? lanes + j - step : j);
        second.push_back(j & step ? lanes + j : j + step);
      }
      for (int64_t i = 0; i < n; ++i) {
        if (i & step)
          continue;
        mlir::Value x = lines[i], y = lines[i + step];
        lines[i] = mlir::vector::ShuffleOp::create(b, x, y, first);
        lines[i + step] = mlir::vector::ShuffleOp::create(b, x, y, second);
      }
    }
  }
  /// Adds the lanes of each vector by halves, in the same order on every
  /// target. The sums are the lanes of the returned vectors, in order; further
  /// lanes are unused.
  llvm::SmallVector<mlir::Value>
  reduceLanes(llvm::ArrayRef<mlir::Value> vectors) {
    llvm::SmallVector<mlir::Value> lines(vectors);
    int64_t lanes =
        mlir::cast<mlir::VectorType>(lines[0].getType()).getNumElements();
    // A line holds sums with `width` lanes each; two lines combine to one with
    // half as many lanes per sum.
    for (int64_t width = lanes; width > 1; width /= 2) {
      bool isLast = lines.size() == 1;
      int64_t held =
          mlir::cast<mlir::VectorType>(lines[0].getType()).getNumElements();
      llvm::SmallVector<int64_t> low, high;
      for (int64_t i = 0, n = isLast ? held : 2 * held; i < n; ++i)
        (i % width < width / 2 ? low : high).push_back(i);
      llvm::SmallVector<mlir::Value> next;
      for (size_t i = 0; i < lines.size(); i += 2) {
        mlir::Value x = lines[i], y = lines[std::min(i + 1, lines.size() - 1)];
        next.push_back(sum(mlir::vector::ShuffleOp::create(b, x, y, low),
                           mlir::vector::ShuffleOp::create(b, x, y, high)));
      }
      lines = std::move(next);
    }
    return lines;
  }
};

} // namespace luminal

#endif // LUMINAL_LIB_CONVERSION_GEMMLOOPS_LOOPS_H
