//===- Emission.cpp - The code of LLIR's ops ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Kernels.h"
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
  } else if (fn == llir::Fn::Bitcast) {
    Type type = getComputeType(element);
    if (auto vector = dyn_cast<VectorType>(args[0].getType()))
      type = vector.clone(type);
    result = args[0];
    if (type != result.getType())
      result = arith::BitcastOp::create(b, type, result);
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

Index Emitter::lookUpRow(llir::GatherOp gather, const Index &index) {
  size_t rank = getExtentsOf(gather.getIndices()).size();
  Value row =
      emit(gather.getIndices(), Index(index.begin(), index.begin() + rank));
  if (getElementTypeOrSelf(row.getType()).isInteger(32)) {
    Type type = b.getI64Type();
    if (auto vector = dyn_cast<VectorType>(row.getType()))
      type = vector.clone(type);
    row = arith::ExtSIOp::create(b, type, row);
  }
  Expr extent = getExtentsOf(gather.getData())[0];
  if (gather.getChecked())
    row = emitRangeCheck(row, extent);
  unsigned dim = addDim(extent);
  setDimByLane(dim, row);
  Index inner{Expr::dim(dim)};
  inner.insert(inner.end(), index.begin() + rank, index.end());
  return inner;
}

SmallVector<Value> GatherEmission::emitElements(Operation *op, Emitter &e,
                                                const Index &index,
                                                ValueRange) const {
  auto gather = cast<llir::GatherOp>(op);
  return {e.emit(gather.getData(), e.lookUpRow(gather, index))};
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// The type of the single value of the state.
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

/// The beginning and end of a segment: scalars, or vectors over the lanes.
struct Segment {
  Value begin, end;
};
} // namespace

/// The segment at `index`, checked to be within the rows. If it is not, the
/// kernel's status becomes 1 and the segment is empty.
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
  // An invalid segment is replaced by an empty one.
  begin = arith::SelectOp::create(b, bad, zero, begin);
  end = arith::SelectOp::create(b, bad, zero, end);
  return {begin, end};
}

namespace {
/// A segment reduction while it is emitted.
struct SegmentLoop {
  SegmentLoop(Emitter &e, llir::SegmentReduceOp op, const Index &index)
      : e(e), op(op), element(getElementType(op)),
        wide(llir::getAccumulatorType(element)),
        rows(getExtentsOf(op.getData())[0]), segment(emitSegment(e, op, index)),
        dim(e.addDim(rows)), at{Expr::dim(dim)} {
    at.insert(at.end(), index.begin() + 1, index.end());
    byLane = isa<VectorType>(segment.begin.getType());
    isVector = byLane || (e.isVector() && e.variesOverLanes(op.getData(), at));
  }

  Value getInitial() const;
  /// The state after the current row is added.
  Value take(Value before) const {
    Value term = emitCast(e.b, e.emit(op.getData(), at), element, wide);
    if (isVector)
      term = e.spread(term);
    return combine(e.b, op.getKind(), before, term);
  }
  /// The same for row `step` of the segment (a vector with `byLane`). Lanes
  /// past the end of their segment read some valid row and keep their state.
  Value takeStep(Value step, Value before) const {
    ImplicitLocOpBuilder &b = e.b;
    Value last = e.value(e.simplify(rows + Expr(-1)));
    Value row =
        arith::AddIOp::create(b, segment.begin, byLane ? e.spread(step) : step);
    Value isInside =
        arith::CmpIOp::create(b, arith::CmpIPredicate::slt, row, segment.end);
    row = arith::MinSIOp::create(b, row, byLane ? e.spread(last) : last);
    if (byLane)
      e.setDimByLane(dim, row);
    else
      e.setDim(dim, row);
    return arith::SelectOp::create(b, isInside, take(before), before);
  }
  /// The number of rows of the segment; the maximum over the lanes if each has
  /// its own.
  Value getLength() const {
    Value length = arith::SubIOp::create(e.b, segment.end, segment.begin);
    return byLane ? Value(vector::ReductionOp::create(
                        e.b, vector::CombiningKind::MAXSI, length))
                  : length;
  }

  Emitter &e;
  mutable llir::SegmentReduceOp op;
  Type element, wide;
  Expr rows;
  Segment segment;
  unsigned dim;
  Index at;
  bool byLane, isVector;
};
} // namespace

Value SegmentLoop::getInitial() const {
  return ::getInitial(e.b, op.getKind(), isVector ? e.laneType(wide) : wide);
}

SmallVector<Value> luminal::emitSegments(Emitter &e,
                                         ArrayRef<llir::SegmentReduceOp> ops,
                                         const Index &index) {
  SmallVector<SegmentLoop> loops;
  std::vector<Expr> rows;
  for (llir::SegmentReduceOp op : ops) {
    loops.emplace_back(e, op, index);
    rows.push_back(loops.back().rows);
  }
  Emitter::Repeated repeated(e, rows);
  SmallVector<Value> states;
  for (const SegmentLoop &loop : loops)
    states.push_back(loop.getInitial());
  if (loops.size() == 1 && !loops.front().byLane) {
    const SegmentLoop &loop = loops.front();
    states = e.forLoop(loop.segment.begin, loop.segment.end, e.constant(1),
                       states, [&](Value at, ValueRange before) {
                         e.setDim(loop.dim, at);
                         return SmallVector<Value>{loop.take(before[0])};
                       });
  } else {
    Value longest = e.constant(0);
    for (const SegmentLoop &loop : loops)
      longest = e.maxS(longest, loop.getLength());
    states =
        e.forLoop(e.constant(0), longest, e.constant(1), states,
                  [&](Value step, ValueRange before) {
                    SmallVector<Value> next;
                    for (auto [loop, state] : llvm::zip_equal(loops, before))
                      next.push_back(loop.takeStep(step, state));
                    return next;
                  });
  }
  for (auto [loop, state] : llvm::zip_equal(loops, states))
    state = emitCast(e.b, state, loop.wide, loop.element);
  return states;
}

SmallVector<Value> SegmentEmission::emitElements(Operation *op, Emitter &e,
                                                 const Index &index,
                                                 ValueRange) const {
  return emitSegments(e, {cast<llir::SegmentReduceOp>(op)}, index);
}

//===----------------------------------------------------------------------===//
// Loops of schedules
//===----------------------------------------------------------------------===//

namespace {
/// A state of one value, which an op of kind `getKind` combines with one term.
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
  bool roundsSteps(Operation *op) const {
    return getKind(op) == llir::ReduceKind::Sum &&
           isa<FloatType>(getAccumulator(op));
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
    return {emitCast(e.b, x, getElementType(gemm.getLhs()), wide),
            emitCast(e.b, y, getElementType(gemm.getRhs()), wide)};
  }
  /// Multiplies the factors as they are added.
  SmallVector<Value> emitStep(Operation *op, ImplicitLocOpBuilder &b,
                              ValueRange state, ValueRange terms) const {
    Type wide = getElementTypeOrSelf(state[0].getType());
    if (isa<FloatType>(wide))
      return {math::FmaOp::create(b, terms[0], terms[1], state[0])};
    Value term = emitFn(b, llir::Fn::Mul, {terms[0], terms[1]}, wide);
    return {combine(b, getKind(op), state[0], term)};
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
    attachScans(*context);
    attachSequences(*context);
    attachSorts(*context);
  });
}
