//===- Loops.cpp - Loops and reductions of kernels ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Emitter.h"
#include "luminal/Conversion/ScalarMath.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace luminal;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

SmallVector<Value>
Emitter::forLoop(Value lo, Value hi, Value step, ValueRange init,
                 function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  auto loop = scf::ForOp::create(b, lo, hi, step, init);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  MemoScope inner(*this);
  SmallVector<Value> next =
      body(loop.getInductionVar(), loop.getRegionIterArgs());
  // Without carried values the builder has already added the terminator.
  if (!init.empty())
    scf::YieldOp::create(b, next);
  return loop.getResults();
}

void Emitter::forLoop(Value lo, Value hi, Value step,
                      function_ref<void(Value)> body) {
  forLoop(lo, hi, step, ValueRange(), [&](Value iv, ValueRange) {
    body(iv);
    return SmallVector<Value>();
  });
}

void Emitter::ifThen(Value condition, function_ref<void()> body) {
  auto branch = scf::IfOp::create(b, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  MemoScope inner(*this);
  body();
}

SmallVector<Value>
Emitter::ifElse(Value condition, TypeRange types,
                function_ref<SmallVector<Value>()> then,
                function_ref<SmallVector<Value>()> otherwise) {
  auto branch = scf::IfOp::create(b, types, condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  auto fill = [&](Block *block, function_ref<SmallVector<Value>()> body) {
    b.setInsertionPointToStart(block);
    MemoScope inner(*this);
    SmallVector<Value> values = body();
    if (!types.empty())
      scf::YieldOp::create(b, values);
  };
  fill(branch.thenBlock(), then);
  fill(branch.elseBlock(), otherwise);
  return branch.getResults();
}

void Emitter::laneLoop(unsigned dim, Value lo, Value hi, unsigned width,
                       function_ref<void()> body) {
  Lane saved = lane;
  Value step = constant(width);
  Value whole = hi, rest;
  if (width > 1) {
    rest = remU(sub(hi, lo), step);
    whole = sub(hi, rest);
  }
  // Code that never runs is not emitted where sizes are known.
  auto known = [](Value v) { return getConstantIntValue(v); };
  if (!(known(lo) && known(lo) == known(whole)))
    forLoop(lo, whole, step, [&](Value iv) {
      setDim(dim, iv);
      setLane(dim, width);
      body();
    });
  if (rest && known(rest) != 0)
    ifThen(less(constant(0), rest), [&] {
      setDim(dim, whole);
      setLane(dim, width, rest);
      body();
    });
  lane = saved;
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

Value Emitter::combine(llir::ReduceKind kind, Value x, Value y) {
  if (kind == llir::ReduceKind::Max)
    return emitMax(b, x, y);
  return emitFn(b, llir::Fn::Add, {x, y}, getElementTypeOrSelf(x.getType()));
}

Value Emitter::initial(llir::ReduceKind kind, Type type) {
  Type element = getElementTypeOrSelf(type);
  TypedAttr attr = b.getZeroAttr(element);
  if (kind == llir::ReduceKind::Max) {
    if (auto f = dyn_cast<FloatType>(element))
      attr = FloatAttr::get(
          f, APFloat::getInf(f.getFloatSemantics(), /*Negative=*/true));
    else if (!element.isInteger(1))
      attr = b.getIntegerAttr(
          element, APInt::getSignedMinValue(element.getIntOrFloatBitWidth()));
  }
  if (auto vector = dyn_cast<VectorType>(type))
    attr = DenseElementsAttr::get(vector, Attribute(attr));
  return arith::ConstantOp::create(b, attr);
}

Value Emitter::horizontal(llir::ReduceKind kind, Value v) {
  auto type = cast<VectorType>(v.getType());
  while (type.getDimSize(0) > 1) {
    int64_t half = type.getDimSize(0) / 2;
    Value low = vector::ExtractStridedSliceOp::create(
        b, v, ArrayRef<int64_t>{0}, ArrayRef<int64_t>{half},
        ArrayRef<int64_t>{1});
    Value high = vector::ExtractStridedSliceOp::create(
        b, v, ArrayRef<int64_t>{half}, ArrayRef<int64_t>{half},
        ArrayRef<int64_t>{1});
    v = combine(kind, low, high);
    type = cast<VectorType>(v.getType());
  }
  return vector::ExtractOp::create(b, v, int64_t(0));
}

Value Emitter::emitReduction(llir::ReduceKind kind, Type element,
                             const Expr &extent, bool varies,
                             llir::LoopFormAttr form,
                             function_ref<Value(const Expr &)> body) {
  bool narrow = element.isF16() || element.isBF16();
  Type accumulator = narrow ? Type(b.getF32Type()) : element;
  Repeated repeated(*this, {extent});
  unsigned k = addDim(extent);
  Expr kExpr = Expr::dim(k);
  Lane outer = lane;
  if (!varies)
    clearLane();
  unsigned width = varies ? 1 : form.getNumber("lanes", 1);
  unsigned unroll = form.getNumber("unroll", 1);
  Type type = varies      ? laneType(accumulator)
              : width > 1 ? Type(VectorType::get({width}, accumulator))
                          : accumulator;
  // Combines `acc` with the element at the current value of dim k.
  auto join = [&](Value acc) {
    Value x = emitCast(b, body(kExpr), element, accumulator);
    if (isVector())
      x = spread(x);
    Value next = combine(kind, acc, x);
    if (!varies && lane.mask)
      next = arith::SelectOp::create(b, lane.mask, next, acc);
    return next;
  };
  Value n = value(extent), step = constant(width);
  Value block = constant(int64_t(width) * unroll);
  SmallVector<Value> accs(unroll, initial(kind, type));
  Value whole = sub(n, remU(n, block));
  accs = forLoop(constant(0), whole, block, accs,
                 [&](Value iv, ValueRange carried) {
                   SmallVector<Value> next;
                   for (unsigned u = 0; u < unroll; ++u) {
                     MemoScope inner(*this);
                     setDim(k, add(iv, constant(int64_t(u) * width)));
                     if (!varies && width > 1)
                       setLane(k, width);
                     next.push_back(join(carried[u]));
                   }
                   return next;
                 });
  Value acc = accs[0];
  for (Value x : llvm::drop_begin(accs))
    acc = combine(kind, acc, x);
  Value wholeSteps = whole;
  if (unroll > 1) {
    wholeSteps = width > 1 ? sub(n, remU(n, step)) : n;
    acc = forLoop(whole, wholeSteps, step, acc,
                  [&](Value iv, ValueRange carried) {
                    setDim(k, iv);
                    if (!varies && width > 1)
                      setLane(k, width);
                    return SmallVector<Value>{join(carried[0])};
                  })[0];
  }
  // Where the extent is proved to be whole vectors there is no rest.
  if (width > 1 && !simplify(Expr::mod(extent, width)).isConstant(0)) {
    clearLane();
    Value rest = sub(n, wholeSteps);
    acc = ifElse(
        less(constant(0), rest), TypeRange{type},
        [&] {
          setDim(k, wholeSteps);
          setLane(k, width, rest);
          return SmallVector<Value>{join(acc)};
        },
        [&] { return SmallVector<Value>{acc}; })[0];
  }
  lane = outer;
  if (!varies && width > 1)
    acc = horizontal(kind, acc);
  return emitCast(b, acc, accumulator, element);
}
