//===- UpdateKernel.cpp - Kernels that update rows in any order -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scatters whose updates may be applied in any order. A work item is a block of
// the updates. Work items that update the same element write the same bits, or
// use atomics, which are exact for integers; floats are compared as the
// integers of their bits. A thread group shares the columns of a row, whose
// index is loaded once.
//
// Integer sums into few elements are first counted in shared memory
// (`private`), and each block then adds its counts to the elements.
//
//===----------------------------------------------------------------------===//

#include "ScatterLoops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace luminal;
using namespace mlir;

namespace {
class UpdateKernel : ScatterLoops {
public:
  UpdateKernel(Emitter &e, const WorkLoop &loop) : ScatterLoops(e, loop) {}

  WorkShape emit() {
    if (!findResult())
      return {};
    auto groups = llir::getGroups(e.loopCase.getGrid());
    domain = makeDomain(e, hlir::getExtents(op.getUpdates()), groups);
    auto columnsBegin = domain.index.begin() + indexExtents.size();
    updateIndex.assign(domain.index.begin(), columnsBegin);
    columns.assign(columnsBegin, domain.index.end());
    if (!checkInPlace(columns))
      return {};
    Grid grid(domain, groups, e.loopCase);
    Emitter::Repeated repeated(e,
                               {domain.extents.begin(), domain.extents.end()});
    if (unsigned count = getNumber("private", 0))
      makeCounters(count);
    e.forLoop(loop.begin, loop.end, loop.step, [&](Value unit) {
      if (low)
        return addPrivately(grid, unit);
      if (e.team.count == 1)
        return grid.emitIndices(e, unit, [&] { updateOne(); });
      grid.emitUnit(e, unit, [&](const Axis *columns, IndexRange range) {
        updateRow(*columns, range);
      });
    });
    return {grid.countUnits(), grid.getUnitLength() * getElementCost(e.kernel),
            0};
  }

private:
  unsigned getNumber(StringRef name, unsigned otherwise) {
    return e.loopCase.getForm(llir::getPosition(op)).getNumber(name, otherwise);
  }

  /// Shared memory has 32-bit atomics only, so the upper half of 64-bit sums is
  /// counted separately.
  void makeCounters(unsigned count) {
    type = cast<IntegerType>(getElementType(op.getUpdates()));
    low = e.makeShared(e.b.getI32Type(), count);
    if (type.getWidth() > 32)
      high = e.makeShared(e.b.getI32Type(), count);
  }

  void addPrivately(const Grid &grid, Value unit) {
    ImplicitLocOpBuilder &b = e.b;
    Value zero = arith::ConstantOp::create(b, b.getI32IntegerAttr(0));
    forEachCounter([&](Value at) {
      for (Value counters : {low, high})
        if (counters)
          LLVM::StoreOp::create(b, zero,
                                e.address(counters, at, b.getI32Type()));
    });
    NVVM::Barrier0Op::create(b);
    grid.emitUnit(e, unit, [&](const Axis *updates, IndexRange range) {
      Emitter::Span span{range.lo,
                         e.sub(range.hi, range.lo),
                         {Expr(updates->block), updates->extent}};
      e.teamLoop(updates->dim, span, /*width=*/1, getNumber("unroll", 1),
                 ValueRange(), [&](ValueRange) {
                   Value v = e.emit(op.getUpdates(), domain.index);
                   atRow(updateIndex, [&] { count(v); });
                   return SmallVector<Value>();
                 });
    });
    NVVM::Barrier0Op::create(b);
    forEachCounter([&](Value at) {
      Value sum = readCounter(at);
      Value none = arith::ConstantOp::create(b, b.getIntegerAttr(type, 0));
      e.setDim(row, at);
      e.ifThen(arith::CmpIOp::create(b, arith::CmpIPredicate::ne, sum, none),
               [&] {
                 combineAtomically(
                     LLVM::AtomicBinOp::add,
                     e.getOperandAddress(op.getDest(), {Expr::dim(row)}), sum);
               });
    });
    NVVM::Barrier0Op::create(b);
  }

  void forEachCounter(function_ref<void(Value)> body) {
    e.forLoop(e.team.member, e.value(extents[0]), e.constant(e.team.count),
              body);
  }

  /// Adds `v` to the counter of the row.
  void count(Value v) {
    ImplicitLocOpBuilder &b = e.b;
    Type i32 = b.getI32Type();
    Value at = e.value(Expr::dim(row));
    auto add = [&](Value counters, Value part) -> Value {
      return LLVM::AtomicRMWOp::create(
          b, LLVM::AtomicBinOp::add, e.address(counters, at, i32), part,
          LLVM::AtomicOrdering::monotonic, "block", /*alignment=*/4);
    };
    if (!high) {
      add(low, v);
      return;
    }
    Value lowPart = arith::TruncIOp::create(b, i32, v);
    Value width = arith::ConstantOp::create(b, b.getI64IntegerAttr(32));
    Value highPart =
        arith::TruncIOp::create(b, i32, arith::ShRUIOp::create(b, v, width));
    Value before = add(low, lowPart);
    Value carry = arith::CmpIOp::create(
        b, arith::CmpIPredicate::ult, arith::AddIOp::create(b, before, lowPart),
        before);
    highPart = arith::AddIOp::create(b, highPart,
                                     arith::ExtUIOp::create(b, i32, carry));
    Value zero = arith::ConstantOp::create(b, b.getI32IntegerAttr(0));
    e.ifThen(arith::CmpIOp::create(b, arith::CmpIPredicate::ne, highPart, zero),
             [&] { add(high, highPart); });
  }

  Value readCounter(Value at) {
    ImplicitLocOpBuilder &b = e.b;
    auto read = [&](Value counters) -> Value {
      return LLVM::LoadOp::create(b, b.getI32Type(),
                                  e.address(counters, at, b.getI32Type()));
    };
    if (!high)
      return read(low);
    Value width = arith::ConstantOp::create(b, b.getI64IntegerAttr(32));
    return arith::OrIOp::create(
        b, arith::ExtUIOp::create(b, type, read(low)),
        arith::ShLIOp::create(b, arith::ExtUIOp::create(b, type, read(high)),
                              width));
  }

  /// The update is loaded in parallel with its index.
  void updateOne() {
    Value v = e.emit(op.getUpdates(), domain.index);
    atRow(updateIndex, [&] { write(v); });
  }

  void updateRow(const Axis &axis, IndexRange range) {
    unsigned unroll = getNumber("unroll", 1);
    atRow(updateIndex, [&] {
      Emitter::Span span{
          range.lo, e.sub(range.hi, range.lo), {Expr(axis.block), axis.extent}};
      if (!axis.block)
        span = e.getWhole(axis.extent);
      e.teamLoop(axis.dim, span, axis.lanes, unroll, ValueRange(),
                 [&](ValueRange) {
                   write(e.emit(op.getUpdates(), domain.index));
                   return SmallVector<Value>();
                 });
    });
  }

  void write(Value v) {
    // For other combinations there is at most one update per element
    // (llir::isOrderFree).
    Type type = v.getType();
    bool isMax = op.getCombine() == hlir::Combine::Max,
         isFloat = isMax && (type.isF32() || type.isF64()),
         isAtomic = op.getCombine() != hlir::Combine::Set &&
                    (type.isInteger(32) || type.isInteger(64) || isFloat);
    if (!isAtomic)
      return e.storeAt(0, position(columns), combine(position(columns), v));
    Value at =
        e.getOperandAddress(op.getDest(), join({Expr::dim(row)}, columns));
    if (isFloat)
      return writeMaximum(at, v);
    combineAtomically(isMax ? LLVM::AtomicBinOp::max : LLVM::AtomicBinOp::add,
                      at, v);
  }

  void combineAtomically(LLVM::AtomicBinOp kind, Value at, Value v) {
    LLVM::AtomicRMWOp::create(e.b, kind, at, v, LLVM::AtomicOrdering::monotonic,
                              e.syncScope,
                              v.getType().getIntOrFloatBitWidth() / 8);
  }

  /// The bits of positive floats order as signed integers and are above those
  /// of all negative floats, which order in reverse. A NaN is written as the
  /// positive NaN, which is above infinity in both orders. A NaN that is
  /// already there, with any bits, stays: no one overwrites it. The value read
  /// first may be stale but only grows, so most updates end with that read.
  void writeMaximum(Value at, Value v) {
    ImplicitLocOpBuilder &b = e.b;
    using F = arith::CmpFPredicate;
    using I = arith::CmpIPredicate;
    auto type = cast<FloatType>(v.getType());
    Type bits = b.getIntegerType(type.getWidth());
    Value nan = arith::ConstantOp::create(
        b, b.getFloatAttr(type, APFloat::getQNaN(type.getFloatSemantics())));
    Value isNan = arith::CmpFOp::create(b, F::UNO, v, v);
    Value number = arith::BitcastOp::create(
        b, bits, arith::SelectOp::create(b, isNan, nan, v));
    Value before = LLVM::LoadOp::create(
        b, bits, at, /*alignment=*/type.getWidth() / 8, /*isVolatile=*/false,
        /*isNonTemporal=*/false, /*isInvariant=*/false,
        /*isInvariantGroup=*/false, LLVM::AtomicOrdering::monotonic,
        e.syncScope);
    Value old = arith::BitcastOp::create(b, type, before);
    Value isNumber = arith::CmpFOp::create(b, F::ORD, old, old),
          isNotMore = arith::CmpFOp::create(b, F::ULE, old, v),
          isOther = arith::CmpIOp::create(b, I::ne, before, number);
    Value isNew = arith::AndIOp::create(
        b, arith::AndIOp::create(b, isNumber, isNotMore), isOther);
    Value zero = arith::ConstantOp::create(b, b.getIntegerAttr(bits, 0));
    Value isNegative = arith::CmpIOp::create(b, I::slt, number, zero),
          isPositive = arith::CmpIOp::create(b, I::sge, number, zero);
    e.ifThen(arith::AndIOp::create(b, isNew, isPositive),
             [&] { combineAtomically(LLVM::AtomicBinOp::max, at, number); });
    e.ifThen(arith::AndIOp::create(b, isNew, isNegative),
             [&] { combineAtomically(LLVM::AtomicBinOp::umin, at, number); });
  }

  Index updateIndex, columns;
  /// The counters of a block: the low 32 bits, and the high bits of wider ones.
  Value low, high;
  IntegerType type;
};
} // namespace

WorkShape luminal::emitUpdates(Emitter &e, const WorkLoop &loop) {
  return UpdateKernel(e, loop).emit();
}
