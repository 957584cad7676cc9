//===- Emission.cpp - The code of LLIR's ops ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Conversion/Emitter.h"
#include "luminal/Conversion/LLIRToLLVM.h"
#include "luminal/Conversion/ScalarMath.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"

#include "luminal/Conversion/Emission.cpp.inc"

using namespace luminal;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Ops without loops
//===----------------------------------------------------------------------===//

namespace {
struct ElementwiseEmission
    : EmissionOpInterface::ExternalModel<ElementwiseEmission,
                                         llir::ElementwiseOp> {
  SmallVector<Value> emitElements(Operation *op, Emitter &e, const Index &,
                                  ValueRange operands) const;
};

struct ViewEmission
    : EmissionOpInterface::ExternalModel<ViewEmission, llir::ViewOp> {
  SmallVector<Value> emitElements(Operation *, Emitter &, const Index &,
                                  ValueRange operands) const {
    return {operands[0]};
  }
};

struct ConstantEmission
    : EmissionOpInterface::ExternalModel<ConstantEmission, llir::ConstantOp> {
  SmallVector<Value> emitElements(Operation *op, Emitter &e, const Index &,
                                  ValueRange) const;
};

struct IotaEmission
    : EmissionOpInterface::ExternalModel<IotaEmission, llir::IotaOp> {
  SmallVector<Value> emitElements(Operation *op, Emitter &e, const Index &index,
                                  ValueRange) const;
};

struct GatherEmission
    : EmissionOpInterface::ExternalModel<GatherEmission, llir::GatherOp> {
  SmallVector<Value> emitElements(Operation *op, Emitter &e, const Index &index,
                                  ValueRange) const;
};
} // namespace

SmallVector<Value>
ElementwiseEmission::emitElements(Operation *op, Emitter &e, const Index &,
                                  ValueRange operands) const {
  auto elementwise = cast<llir::ElementwiseOp>(op);
  ImplicitLocOpBuilder &b = e.b;
  SmallVector<Value> args(operands);
  if (llvm::any_of(args, [](Value v) { return isa<VectorType>(v.getType()); }))
    for (Value &arg : args)
      arg = e.spread(arg);
  Type element = getElementType(op->getResult(0));
  llir::Fn fn = elementwise.getFn();
  Value result;
  if (fn == llir::Fn::Select && element.isBF16()) {
    Value x = e.toStorage(args[1], element), y = e.toStorage(args[2], element);
    result = emitFn(b, fn, {args[0], x, y}, getStorageType(element));
    result = e.fromStorage(result, element);
  } else if (fn == llir::Fn::Cast) {
    result = emitCast(b, args[0], getElementType(op->getOperand(0)), element);
  } else {
    result = emitFn(b, fn, args, element);
  }
  if (!result)
    result = e.failValue(op,
                         "has no code for " + llir::stringifyFn(fn) +
                             " of these element types",
                         element);
  return {result};
}

SmallVector<Value> ConstantEmission::emitElements(Operation *op, Emitter &e,
                                                  const Index &,
                                                  ValueRange) const {
  auto splat =
      dyn_cast<SplatElementsAttr>(cast<llir::ConstantOp>(op).getValue());
  Type element = getElementType(op->getResult(0));
  if (!splat)
    return {e.failValue(
        op, "is not a splat; inside a kernel it must be an operand", element)};
  Type type = getComputeType(element);
  TypedAttr attr;
  if (isa<FloatType>(element)) {
    APFloat v = splat.getSplatValue<APFloat>();
    if (isa<IntegerType>(type))
      attr = e.b.getIntegerAttr(type, v.bitcastToAPInt());
    else
      attr = FloatAttr::get(type, v);
  } else {
    attr = e.b.getIntegerAttr(type, splat.getSplatValue<APInt>());
  }
  return {arith::ConstantOp::create(e.b, attr)};
}

SmallVector<Value> IotaEmission::emitElements(Operation *op, Emitter &e,
                                              const Index &index,
                                              ValueRange) const {
  Expr at = e.simplify(*cast<llir::IotaOp>(op).getElementExpr(index));
  Value v = e.usesLanes(at) ? e.laneValues(at) : e.value(at);
  Type element = getElementType(op->getResult(0));
  if (element.isInteger(64))
    return {v};
  Type type = element;
  if (auto vector = dyn_cast<VectorType>(v.getType()))
    type = vector.clone(element);
  return {arith::TruncIOp::create(e.b, type, v)};
}

SmallVector<Value> GatherEmission::emitElements(Operation *op, Emitter &e,
                                                const Index &index,
                                                ValueRange) const {
  auto gather = cast<llir::GatherOp>(op);
  size_t rank = getExtentsOf(gather.getIndices()).size();
  Value row =
      e.emit(gather.getIndices(), Index(index.begin(), index.begin() + rank));
  if (getElementTypeOrSelf(row.getType()).isInteger(32)) {
    Type type = e.b.getI64Type();
    if (auto vector = dyn_cast<VectorType>(row.getType()))
      type = vector.clone(type);
    row = arith::ExtSIOp::create(e.b, type, row);
  }
  Expr extent = getExtentsOf(gather.getData())[0];
  if (gather.getChecked())
    row = e.emitRangeCheck(row, extent);
  unsigned dim = e.addDim(extent);
  e.setDimByLane(dim, row);
  Index inner{Expr::dim(dim)};
  inner.insert(inner.end(), index.begin() + rank, index.end());
  return {e.emit(gather.getData(), inner)};
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// The type of the one value that a state has.
static Type getAccumulator(Operation *op) {
  return cast<llir::ReductionOpInterface>(op).getStateTypes()[0];
}

static Value combine(ImplicitLocOpBuilder &b, llir::ReduceKind kind, Value x,
                     Value y) {
  if (kind == llir::ReduceKind::Max)
    return emitMax(b, x, y);
  return emitFn(b, llir::Fn::Add, {x, y}, getElementTypeOrSelf(x.getType()));
}

static Value getInitial(ImplicitLocOpBuilder &b, llir::ReduceKind kind,
                        Type type) {
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

//===----------------------------------------------------------------------===//
// Segments
//===----------------------------------------------------------------------===//

namespace {
struct SegmentEmission
    : EmissionOpInterface::ExternalModel<SegmentEmission,
                                         llir::SegmentReduceOp> {
  SmallVector<Value> emitElements(Operation *op, Emitter &e, const Index &index,
                                  ValueRange) const;
};

/// Begin and end of a segment: numbers, or vectors over the lanes.
struct Segment {
  Value begin, end;
};
} // namespace

/// The segment at `index`, within the rows; where it is not, the kernel's
/// status becomes 1.
static Segment emitSegment(Emitter &e, llir::SegmentReduceOp op,
                           const Index &index) {
  ImplicitLocOpBuilder &b = e.b;
  Expr count = getExtentsOf(op.getBegins())[0],
       rows = getExtentsOf(op.getData())[0];
  Index next = op.getNext(index);
  for (Expr &at : next)
    at = e.simplify(at);
  Value begin = e.emit(op.getBegins(), Index{index[0]}),
        end = e.emit(op.getBegins(), next);
  bool isVector = e.usesLanes(index[0]);
  auto number = [&](const Expr &x) -> Value {
    return isVector ? e.spread(e.value(x)) : e.value(x);
  };
  auto widen = [&](Value v) -> Value {
    v = isVector ? e.spread(v) : v;
    if (getElementTypeOrSelf(v.getType()).isInteger(64))
      return v;
    Type type = b.getI64Type();
    if (auto vector = dyn_cast<VectorType>(v.getType()))
      type = vector.clone(type);
    return arith::ExtSIOp::create(b, type, v);
  };
  auto compare = [&](arith::CmpIPredicate p, Value x, Value y) -> Value {
    return arith::CmpIOp::create(b, p, x, y);
  };
  begin = widen(begin);
  end = widen(end);
  Value segment = isVector ? e.laneValues(index[0]) : e.value(index[0]);
  Value zero = number(0), all = number(rows);
  Value isLast = compare(arith::CmpIPredicate::eq, segment,
                         number(e.simplify(count + Expr(-1))));
  end = arith::SelectOp::create(b, isLast, all, end);
  Value isFirst = compare(arith::CmpIPredicate::eq, segment, zero);
  Value bad = arith::AndIOp::create(
      b, isFirst, compare(arith::CmpIPredicate::ne, begin, zero));
  for (auto [least, most] :
       {std::pair(zero, begin), std::pair(begin, end), std::pair(end, all)})
    bad = arith::OrIOp::create(b, bad,
                               compare(arith::CmpIPredicate::sgt, least, most));
  e.refuseWhere(bad);
  // What is read stays inside.
  begin = arith::SelectOp::create(b, bad, zero, begin);
  end = arith::SelectOp::create(b, bad, zero, end);
  return {begin, end};
}

SmallVector<Value> SegmentEmission::emitElements(Operation *op, Emitter &e,
                                                 const Index &index,
                                                 ValueRange) const {
  auto segments = cast<llir::SegmentReduceOp>(op);
  ImplicitLocOpBuilder &b = e.b;
  Type element = getElementType(op->getResult(0)),
       wide = llir::getAccumulatorType(element);
  Expr rows = getExtentsOf(segments.getData())[0];
  Segment segment = emitSegment(e, segments, index);
  Emitter::Repeated repeated(e, {rows});
  unsigned dim = e.addDim(rows);
  Index inner{Expr::dim(dim)};
  inner.insert(inner.end(), index.begin() + 1, index.end());
  bool byLane = isa<VectorType>(segment.begin.getType());
  bool isVector =
      byLane || (e.isVector() && e.variesOverLanes(segments.getData(), inner));
  Type state = isVector ? e.laneType(wide) : wide;
  auto take = [&](Value before) -> Value {
    Value term = emitCast(b, e.emit(segments.getData(), inner), element, wide);
    if (isVector)
      term = e.spread(term);
    return combine(b, segments.getKind(), before, term);
  };
  Value initial = getInitial(b, segments.getKind(), state);
  SmallVector<Value> result;
  if (!byLane) {
    result = e.forLoop(segment.begin, segment.end, e.constant(1), {initial},
                       [&](Value at, ValueRange before) {
                         e.setDim(dim, at);
                         return SmallVector<Value>{take(before[0])};
                       });
  } else {
    // As many steps as the longest has; lanes that are through read some row.
    Value length = arith::SubIOp::create(b, segment.end, segment.begin);
    Value longest =
        vector::ReductionOp::create(b, vector::CombiningKind::MAXSI, length);
    Value last = e.spread(e.value(e.simplify(rows + Expr(-1))));
    result = e.forLoop(
        e.constant(0), longest, e.constant(1), {initial},
        [&](Value step, ValueRange before) {
          Value at = arith::AddIOp::create(b, segment.begin, e.spread(step));
          Value isInside = arith::CmpIOp::create(b, arith::CmpIPredicate::slt,
                                                 at, segment.end);
          e.setDimByLane(dim, arith::MinSIOp::create(b, at, last));
          return SmallVector<Value>{
              arith::SelectOp::create(b, isInside, take(before[0]), before[0])};
        });
  }
  return {emitCast(b, result[0], wide, element)};
}

//===----------------------------------------------------------------------===//
// Loops of schedules
//===----------------------------------------------------------------------===//

namespace {
/// One accumulator, which an op of kind `getKind` combines with one term.
template <typename Model, typename Op>
struct OneAccumulator : ReductionEmissionOpInterface::ExternalModel<Model, Op> {
  static llir::ReduceKind getKind(Operation *op) {
    return Model::kindOf(cast<Op>(op));
  }
  SmallVector<Value> emitInitial(Operation *op, ImplicitLocOpBuilder &b,
                                 TypeRange types) const {
    return {getInitial(b, getKind(op), types[0])};
  }
  SmallVector<Value> emitStep(Operation *op, ImplicitLocOpBuilder &b,
                              ValueRange state, ValueRange terms) const {
    return {combine(b, getKind(op), state[0], terms[0])};
  }
  SmallVector<Value> emitMerge(Operation *op, ImplicitLocOpBuilder &b,
                               ValueRange x, ValueRange y) const {
    return {combine(b, getKind(op), x[0], y[0])};
  }
  SmallVector<Value> emitScaled(Operation *op, ImplicitLocOpBuilder &b,
                                ValueRange state, Value factor) const {
    if (getKind(op) != llir::ReduceKind::Sum)
      return {};
    Type type = state[0].getType();
    return {emitFn(b, llir::Fn::Mul, {state[0], factor}, type)};
  }
  SmallVector<Value> emitResults(Operation *op, ImplicitLocOpBuilder &b,
                                 ValueRange state) const {
    return {emitCast(b, state[0], getAccumulator(op),
                     getElementType(op->getResult(0)))};
  }
};

struct ReduceEmission : OneAccumulator<ReduceEmission, llir::ReduceOp> {
  static llir::ReduceKind kindOf(llir::ReduceOp op) { return op.getKind(); }
  SmallVector<Value> emitTerms(Operation *op, Emitter &e,
                               const Index &index) const {
    Value operand = op->getOperand(0);
    return {emitCast(e.b, e.emit(operand, index), getElementType(operand),
                     getAccumulator(op))};
  }
};

struct GemmEmission : OneAccumulator<GemmEmission, llir::GemmOp> {
  static llir::ReduceKind kindOf(llir::GemmOp) { return llir::ReduceKind::Sum; }
  SmallVector<Value> emitTerms(Operation *op, Emitter &e,
                               const Index &index) const {
    auto gemm = cast<llir::GemmOp>(op);
    Type wide = getAccumulator(op);
    Value x = e.emit(gemm.getLhs(), e.mapIndex(gemm.getLhsMap(), index));
    Value y = e.emit(gemm.getRhs(), e.mapIndex(gemm.getRhsMap(), index));
    x = emitCast(e.b, x, getElementType(gemm.getLhs()), wide);
    y = emitCast(e.b, y, getElementType(gemm.getRhs()), wide);
    if (isa<VectorType>(x.getType()) || isa<VectorType>(y.getType()))
      x = e.spread(x), y = e.spread(y);
    return {emitFn(e.b, llir::Fn::Mul, {x, y}, wide)};
  }
};
} // namespace

void luminal::registerLLIRToLLVMDialects(DialectRegistry &registry) {
  registry.insert<arith::ArithDialect, cf::ControlFlowDialect,
                  LLVM::LLVMDialect, math::MathDialect, scf::SCFDialect,
                  ub::UBDialect, vector::VectorDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registry.addExtension(+[](MLIRContext *context, llir::LLIRDialect *) {
    llir::ElementwiseOp::attachInterface<ElementwiseEmission>(*context);
    llir::ViewOp::attachInterface<ViewEmission>(*context);
    llir::ConstantOp::attachInterface<ConstantEmission>(*context);
    llir::IotaOp::attachInterface<IotaEmission>(*context);
    llir::GatherOp::attachInterface<GatherEmission>(*context);
    llir::SegmentReduceOp::attachInterface<SegmentEmission>(*context);
    llir::ReduceOp::attachInterface<ReduceEmission>(*context);
    llir::GemmOp::attachInterface<GemmEmission>(*context);
  });
}
