//===- StreamReference.cpp - The reference of an online softmax -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "StreamReference.h"
#include "luminal/Conversion/ScalarMath.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace luminal;
using namespace mlir;

static constexpr double kLowest = -std::numeric_limits<double>::infinity();

static Value makeConstant(Emitter &e, Type type, double v) {
  return arith::ConstantOp::create(e.b, e.b.getFloatAttr(type, v));
}

/// Whether (i1) a running maximum is still -inf.
static Value isLowest(Emitter &e, Value v) {
  if (v.getType().getIntOrFloatBitWidth() < 32)
    v = emitCast(e.b, v, v.getType(), e.b.getF32Type());
  Value lowest = makeConstant(e, v.getType(), kLowest);
  return arith::CmpFOp::create(e.b, arith::CmpFPredicate::OEQ, v, lowest);
}

StreamReference StreamReference::get(StreamedStages &t,
                                     const StreamedSpace::Anchor &anchor) {
  return {anchor.reference, t.space->getMaximum(anchor.reference), anchor.base,
          StreamedStages::getWideType(anchor.reference)};
}

Value StreamReference::getConstant(Emitter &e, double v) const {
  return makeConstant(e, type, v);
}

bool StreamReference::isDifference(Operation *op, Value terms) const {
  auto difference = dyn_cast_or_null<llir::ElementwiseOp>(op);
  if (!difference || difference.getFn() != llir::Fn::Sub ||
      difference.getInputs()[0] != terms)
    return false;
  auto view = difference.getInputs()[1].getDefiningOp<llir::ViewOp>();
  return view && view.getOperand() == value;
}

/// The reference for the running maximum `ofMaximum`, in `type` (never bf16:
/// some targets convert bf16 values when they move them). A fresh scope is
/// needed because the reference for another maximum may be remembered.
Value StreamReference::emit(Emitter &e, const Index &index,
                            Value ofMaximum) const {
  Emitter::FreshScope scope(e);
  llir::RowReductionOpInterface op = maximum;
  e.remember(op->getResult(0), index, ofMaximum);
  return emitCast(e.b, e.emit(value, index), getElementType(value), type);
}

Value StreamReference::emitUsed(Emitter &e, const Index &index,
                                Value maximum) const {
  Value now = arith::SelectOp::create(
      e.b, isLowest(e, maximum), getConstant(e, 0), emit(e, index, maximum));
  e.remember(value, index, emitCast(e.b, now, type, getElementType(value)));
  return now;
}

Value StreamReference::emitFactor(Emitter &e, Value used, Value now,
                                  Value before) const {
  Value change = emitFn(e.b, llir::Fn::Sub, {used, now}, type);
  Value factor = emitFn(e.b, base, {change}, type);
  return arith::SelectOp::create(e.b, isLowest(e, before), getConstant(e, 1),
                                 factor);
}

Value StreamReference::emitEndFactor(Emitter &e, const Index &index,
                                     Value maximum, const Expr &extent) const {
  Value u = emit(e, index, maximum);
  Value term = emitFn(e.b, llir::Fn::Sub, {getConstant(e, kLowest), u}, type);
  term = emitFn(e.b, base, {term}, type);
  Value one = getConstant(e, 1);
  Value factor = emitFn(e.b, llir::Fn::Add, {one, term}, type);
  Value isEmpty = arith::AndIOp::create(e.b, isLowest(e, maximum),
                                        e.less(e.constant(0), e.value(extent)));
  return arith::SelectOp::create(e.b, isEmpty, factor, one);
}
