//===- ArgMax.cpp - An anchor that the library does not know --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ArgMax.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"

using namespace luminal;
using namespace luminal::test;
using namespace mlir;

TestDialect::TestDialect(MLIRContext *context)
    : Dialect(getDialectNamespace(), context, TypeID::get<TestDialect>()) {
  addOperations<ArgMaxOp>();
}

llir::Cost ArgMaxOp::getCost() {
  SmallVector<Expr> extents = hlir::getExtents(getOperand());
  Expr count = product({extents.begin(), extents.end()});
  return {count * 4, 0, count * 2, 1};
}

Expr ArgMaxOp::getReducedExtent() {
  return hlir::getExtents(getOperand()).back();
}

void ArgMaxOp::getReads(const Index &index, llir::AddDim addDim,
                        llir::ReadAt read) {
  Index inner = index;
  inner.push_back(addDim(getReducedExtent()));
  read(getOperation()->getOpOperand(0), inner);
}

SmallVector<Type> ArgMaxOp::getStateTypes() {
  return {Float32Type::get(getContext()), IntegerType::get(getContext(), 64)};
}

SmallVector<Value> ArgMaxOp::emitInitial(ImplicitLocOpBuilder &b,
                                         TypeRange types) {
  auto fill = [&](Type type, TypedAttr attr) -> Value {
    if (auto vector = dyn_cast<VectorType>(type))
      attr = DenseElementsAttr::get(vector, Attribute(attr));
    return arith::ConstantOp::create(b, attr);
  };
  APFloat least = APFloat::getInf(APFloat::IEEEsingle(), /*Negative=*/true);
  return {fill(types[0], b.getFloatAttr(b.getF32Type(), least)),
          fill(types[1], b.getI64IntegerAttr(0))};
}

SmallVector<Value> ArgMaxOp::emitTerms(Emitter &e, const Index &index) {
  Expr at = index.back();
  return {e.emit(getOperand(), index),
          e.usesLanes(at) ? e.laneValues(at) : e.value(at)};
}

/// The larger of two elements; the first if they are equal.
static SmallVector<Value> choose(ImplicitLocOpBuilder &b, ValueRange x,
                                 ValueRange y) {
  using arith::CmpFPredicate;
  Value greater = arith::CmpFOp::create(b, CmpFPredicate::OGT, y[0], x[0]);
  Value equal = arith::CmpFOp::create(b, CmpFPredicate::OEQ, y[0], x[0]);
  Value before =
      arith::CmpIOp::create(b, arith::CmpIPredicate::slt, y[1], x[1]);
  Value takes =
      arith::OrIOp::create(b, greater, arith::AndIOp::create(b, equal, before));
  return {arith::SelectOp::create(b, takes, y[0], x[0]),
          arith::SelectOp::create(b, takes, y[1], x[1])};
}

SmallVector<Value> ArgMaxOp::emitStep(ImplicitLocOpBuilder &b, ValueRange state,
                                      ValueRange terms) {
  return choose(b, state, terms);
}
SmallVector<Value> ArgMaxOp::emitMerge(ImplicitLocOpBuilder &b, ValueRange x,
                                       ValueRange y) {
  return choose(b, x, y);
}
SmallVector<Value> ArgMaxOp::emitResults(ImplicitLocOpBuilder &,
                                         ValueRange state) {
  return SmallVector<Value>(state);
}
