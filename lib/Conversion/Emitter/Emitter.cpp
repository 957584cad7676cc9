//===- Emitter.cpp - Elements of the values of a kernel -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Emitter.h"
#include "luminal/Conversion/ScalarMath.h"
#include "luminal/Dialect/LLIR/Schedules/Schedules.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace luminal;
using namespace mlir;

Type luminal::getComputeType(Type element) {
  if (hlir::isStorageType(element))
    return IntegerType::get(element.getContext(), 8);
  return element;
}

Type luminal::getStorageType(Type element) {
  if (element.isInteger(1))
    return IntegerType::get(element.getContext(), 8);
  // Some targets convert bf16 values back and forth when they are moved.
  if (element.isBF16())
    return IntegerType::get(element.getContext(), 16);
  return getComputeType(element);
}

Emitter::Emitter(ImplicitLocOpBuilder &b, llir::KernelOp kernel,
                 SymbolRanges ranges, ArrayRef<Value> buffers,
                 std::map<std::string, Value> symbols)
    : KernelAnalysis(kernel, std::move(ranges)), b(b),
      symbols(std::move(symbols)), buffers(buffers) {
  memo.emplace_back();
  Type i32 = b.getI32Type();
  auto ptr = LLVM::LLVMPointerType::get(b.getContext());
  status = LLVM::AllocaOp::create(b, ptr, i32, constant(1));
  Value zero = arith::ConstantOp::create(b, b.getI32IntegerAttr(0));
  LLVM::StoreOp::create(b, zero, status);
}

void Emitter::fail(Operation *op, const Twine &what) {
  if (!failed)
    op->emitOpError() << what;
  failed = true;
}

Value Emitter::failValue(Operation *op, const Twine &what, Type element) {
  fail(op, what);
  return LLVM::PoisonOp::create(b, getComputeType(element));
}

void Emitter::remember(Value v, const Index &index, Value element) {
  memo.back().elements[v].push_back({index, element});
}

Value Emitter::lookUp(Value v, const Index &index) const {
  for (const Memo &m : llvm::reverse(memo)) {
    auto it = m.elements.find(v);
    if (it == m.elements.end())
      continue;
    for (const Remembered &r : it->second)
      if (r.index == index)
        return r.element;
  }
  return {};
}

namespace {
/// An element to emit.
struct Pending {
  Value v;
  Index index;
  /// Where a view reads its operand.
  Index inner;
  bool isOpen = false;
};
} // namespace

/// Operands of elementwise ops and views are emitted first, from a worklist and
/// not by recursion: chains may be long. Only gathers and ops with their own
/// loops recurse.
Value Emitter::emit(Value root, const Index &rootIndex) {
  if (Value known = lookUp(root, rootIndex))
    return known;
  constexpr unsigned kMaxNesting = 500;
  if (nesting == kMaxNesting)
    return failValue(kernel,
                     "has more than " + Twine(kMaxNesting) +
                         " gathers and reductions inside of each other",
                     getElementType(root));
  ++nesting;
  SmallVector<Pending> stack;
  auto push = [&](Value v, const Index &index) {
    if (!lookUp(v, index))
      stack.push_back({v, index, {}, false});
  };
  push(root, rootIndex);
  while (!stack.empty()) {
    if (!stack.back().isOpen) {
      stack.back().isOpen = true;
      Pending at = stack.back();
      if (auto view = at.v.getDefiningOp<llir::ViewOp>()) {
        at.inner = stack.back().inner = mapIndex(view.getMap(), at.index);
        push(view.getOperand(), at.inner);
      } else if (auto e = at.v.getDefiningOp<llir::ElementwiseOp>()) {
        for (Value input : llvm::reverse(e.getInputs()))
          push(input, at.index);
      }
      if (!stack.back().isOpen)
        continue; // its operands come first
    }
    Pending at = stack.pop_back_val();
    if (lookUp(at.v, at.index))
      continue; // already emitted for another user
    auto view = at.v.getDefiningOp<llir::ViewOp>();
    Value element =
        view ? lookUp(view.getOperand(), at.inner) : emitNew(at.v, at.index);
    remember(at.v, at.index, element);
  }
  --nesting;
  return lookUp(root, rootIndex);
}

Value Emitter::emitNew(Value v, const Index &index) {
  if (auto argument = dyn_cast<BlockArgument>(v))
    return load(argument.getArgNumber(),
                simplify(linearize(index, getExtentsOf(v))));
  Operation *op = v.getDefiningOp();
  if (auto e = dyn_cast<llir::ElementwiseOp>(op))
    return emitElementwise(e, index);
  if (auto c = dyn_cast<llir::ConstantOp>(op))
    return emitConstant(c);
  if (auto iota = dyn_cast<llir::IotaOp>(op))
    return emitIota(iota, index);
  if (auto gather = dyn_cast<llir::GatherOp>(op))
    return emitGather(gather, index);
  if (auto reduce = dyn_cast<llir::ReduceOp>(op)) {
    bool varies = isVector() && variesOverLanes(v, index);
    Expr n = getExtentsOf(reduce.getOperand()).back();
    return emitReduction(reduce.getKind(), getElementType(v), n, varies,
                         loopCase.getForm(llir::getPosition(op)),
                         [&](const Expr &k) {
                           Index inner = index;
                           inner.push_back(k);
                           return emit(reduce.getOperand(), inner);
                         });
  }
  if (auto gemm = dyn_cast<llir::GemmOp>(op)) {
    bool varies = isVector() && variesOverLanes(v, index);
    Type element = getElementType(v);
    bool narrow = element.isF16() || element.isBF16();
    Type wide = narrow ? Type(b.getF32Type()) : element;
    Value sum = emitReduction(
        llir::ReduceKind::Sum, wide, gemm.getKExtent(), varies,
        loopCase.getForm(llir::getPosition(op)), [&](const Expr &k) {
          Index inner = index;
          inner.push_back(k);
          Value x = emit(gemm.getLhs(), mapIndex(gemm.getLhsMap(), inner));
          Value y = emit(gemm.getRhs(), mapIndex(gemm.getRhsMap(), inner));
          x = emitCast(b, x, getElementType(gemm.getLhs()), wide);
          y = emitCast(b, y, getElementType(gemm.getRhs()), wide);
          if (isa<VectorType>(x.getType()) || isa<VectorType>(y.getType()))
            x = spread(x), y = spread(y);
          return emitFn(b, llir::Fn::Mul, {x, y}, wide);
        });
    return emitCast(b, sum, wide, element);
  }
  return failValue(op, "has no code inside a kernel", getElementType(v));
}

Value Emitter::emitElementwise(llir::ElementwiseOp op, const Index &index) {
  SmallVector<Value> args;
  bool vector = false;
  for (Value input : op.getInputs()) {
    args.push_back(lookUp(input, index));
    vector |= isa<VectorType>(args.back().getType());
  }
  if (vector)
    for (Value &arg : args)
      arg = spread(arg);
  Type element = getElementType(op.getResult());
  Value result;
  if (op.getFn() == llir::Fn::Select && element.isBF16()) {
    Value x = toStorage(args[1], element), y = toStorage(args[2], element);
    result = emitFn(b, op.getFn(), {args[0], x, y}, getStorageType(element));
    result = fromStorage(result, element);
  } else if (op.getFn() == llir::Fn::Cast)
    result = emitCast(b, args[0], getElementType(op.getInputs()[0]), element);
  else
    result = emitFn(b, op.getFn(), args, element);
  if (!result)
    return failValue(op,
                     "has no code for " + llir::stringifyFn(op.getFn()) +
                         " of these element types",
                     element);
  return result;
}

Value Emitter::emitConstant(llir::ConstantOp op) {
  auto splat = dyn_cast<SplatElementsAttr>(op.getValue());
  Type element = getElementType(op.getResult());
  if (!splat)
    return failValue(
        op, "is not a splat; inside a kernel it must be an operand", element);
  Type type = getComputeType(element);
  if (isa<FloatType>(element)) {
    APFloat v = splat.getSplatValue<APFloat>();
    if (isa<IntegerType>(type))
      return arith::ConstantOp::create(
          b, b.getIntegerAttr(type, v.bitcastToAPInt()));
    return arith::ConstantOp::create(b, FloatAttr::get(type, v));
  }
  return arith::ConstantOp::create(
      b, b.getIntegerAttr(type, splat.getSplatValue<APInt>()));
}

Value Emitter::emitIota(llir::IotaOp op, const Index &index) {
  Expr e = simplify(op.getMap().getResults()[0].substituteDims(index));
  Value v = usesLanes(e) ? laneValues(e) : value(e);
  Type element = getElementType(op.getResult());
  if (element.isInteger(64))
    return v;
  Type type = element;
  if (auto vector = dyn_cast<VectorType>(v.getType()))
    type = vector.clone(element);
  return arith::TruncIOp::create(b, type, v);
}

Value Emitter::emitGather(llir::GatherOp op, const Index &index) {
  size_t rank = getExtentsOf(op.getIndices()).size();
  Index at(index.begin(), index.begin() + rank);
  Value row = emit(op.getIndices(), at);
  if (getElementTypeOrSelf(row.getType()).isInteger(32)) {
    Type type = b.getI64Type();
    if (auto vector = dyn_cast<VectorType>(row.getType()))
      type = vector.clone(type);
    row = arith::ExtSIOp::create(b, type, row);
  }
  Expr extent = getExtentsOf(op.getData())[0];
  if (op.getChecked())
    row = emitRangeCheck(row, extent);
  unsigned dim = addDim(extent);
  if (isa<VectorType>(row.getType()))
    getDim(dim).lanes = row;
  else
    getDim(dim).value = row;
  Index inner{Expr::dim(dim)};
  inner.insert(inner.end(), index.begin() + rank, index.end());
  return emit(op.getData(), inner);
}

Value Emitter::emitRangeCheck(Value index, const Expr &extent, bool guarded) {
  std::pair<Expr, Expr> demand{product(repeats), extent};
  if (!guarded && !Assumptions(getRanges()).provablyLess(0, extent) &&
      !llvm::is_contained(demands, demand))
    demands.push_back(demand);
  Value bound = value(extent);
  Value zero = constant(0);
  auto vector = dyn_cast<VectorType>(index.getType());
  if (vector) {
    bound = vector::BroadcastOp::create(b, vector, bound);
    zero = vector::BroadcastOp::create(b, vector, zero);
  }
  Value inside =
      arith::CmpIOp::create(b, arith::CmpIPredicate::ult, index, bound);
  Value outside =
      arith::CmpIOp::create(b, arith::CmpIPredicate::uge, index, bound);
  if (vector) {
    if (lane.mask)
      outside = arith::AndIOp::create(b, outside, lane.mask);
    outside =
        vector::ReductionOp::create(b, vector::CombiningKind::OR, outside);
  }
  Type i32 = b.getI32Type();
  Value flag = arith::ExtUIOp::create(b, i32, outside);
  Value before = LLVM::LoadOp::create(b, i32, status);
  LLVM::StoreOp::create(b, arith::OrIOp::create(b, before, flag), status);
  return arith::SelectOp::create(b, inside, index, zero);
}

std::optional<Value> Emitter::emitRefusal() {
  Value refuse;
  Value zero = constant(0);
  for (auto &[times, extent] : demands) {
    Value none =
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq, value(extent), zero);
    Value some =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ne, value(times), zero);
    none = arith::AndIOp::create(b, none, some);
    refuse = refuse ? Value(arith::OrIOp::create(b, refuse, none)) : none;
  }
  if (!refuse)
    return std::nullopt;
  Value flag = arith::ExtUIOp::create(b, b.getI32Type(), refuse);
  LLVM::StoreOp::create(b, flag, status);
  return refuse;
}

Value Emitter::getStatus() {
  return LLVM::LoadOp::create(b, b.getI32Type(), status);
}

bool Emitter::variesOverLanes(Value v, const Index &index) {
  bool varies = false;
  walk(v, index, [&](const Leaf &leaf) { varies |= usesLanes(leaf.address); });
  return varies;
}
