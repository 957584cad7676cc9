//===- Emitter.cpp - Elements of the values of a kernel -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Emitter.h"
#include "luminal/Conversion/ScalarMath.h"
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
                 std::map<std::string, Value> symbols, unsigned lanes,
                 unsigned registers)
    : b(b), kernel(kernel), maxLanes(lanes), vectorRegisters(registers),
      assumptions(std::move(ranges)), symbols(std::move(symbols)),
      buffers(buffers) {
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

static Type elementOf(Value v) {
  return cast<RankedTensorType>(v.getType()).getElementType();
}

static Index extentsOf(Value v) {
  SmallVector<Expr> extents = hlir::getExtents(v);
  return {extents.begin(), extents.end()};
}

Index Emitter::mapIndex(hlir::MapAttr map, const Index &index) {
  Index result;
  for (const Expr &e : map.getResults())
    result.push_back(simplify(e.substituteDims(index)));
  return result;
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
                     elementOf(root));
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
                simplify(linearize(index, extentsOf(v))));
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
    Expr n = extentsOf(reduce.getOperand()).back();
    return emitReduction(reduce.getKind(), elementOf(v), n, varies, 2,
                         [&](const Expr &k) {
                           Index inner = index;
                           inner.push_back(k);
                           return emit(reduce.getOperand(), inner);
                         });
  }
  if (auto gemm = dyn_cast<llir::GemmOp>(op)) {
    bool varies = isVector() && variesOverLanes(v, index);
    Type element = elementOf(v);
    bool narrow = element.isF16() || element.isBF16();
    Type wide = narrow ? Type(b.getF32Type()) : element;
    Value sum = emitReduction(
        llir::ReduceKind::Sum, wide, gemm.getKExtent(), varies, 4,
        [&](const Expr &k) {
          Index inner = index;
          inner.push_back(k);
          Value x = emit(gemm.getLhs(), mapIndex(gemm.getLhsMap(), inner));
          Value y = emit(gemm.getRhs(), mapIndex(gemm.getRhsMap(), inner));
          x = emitCast(b, x, elementOf(gemm.getLhs()), wide);
          y = emitCast(b, y, elementOf(gemm.getRhs()), wide);
          if (isa<VectorType>(x.getType()) || isa<VectorType>(y.getType()))
            x = spread(x), y = spread(y);
          return emitFn(b, llir::Fn::Mul, {x, y}, wide);
        });
    return emitCast(b, sum, wide, element);
  }
  return failValue(op, "has no code inside a kernel", elementOf(v));
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
  Type element = elementOf(op.getResult());
  Value result;
  if (op.getFn() == llir::Fn::Select && element.isBF16()) {
    Value x = toStorage(args[1], element), y = toStorage(args[2], element);
    result = emitFn(b, op.getFn(), {args[0], x, y}, getStorageType(element));
    result = fromStorage(result, element);
  } else if (op.getFn() == llir::Fn::Cast)
    result = emitCast(b, args[0], elementOf(op.getInputs()[0]), element);
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
  Type element = elementOf(op.getResult());
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
  Type element = elementOf(op.getResult());
  if (element.isInteger(64))
    return v;
  Type type = element;
  if (auto vector = dyn_cast<VectorType>(v.getType()))
    type = vector.clone(element);
  return arith::TruncIOp::create(b, type, v);
}

Value Emitter::emitGather(llir::GatherOp op, const Index &index) {
  size_t rank = extentsOf(op.getIndices()).size();
  Index at(index.begin(), index.begin() + rank);
  Value row = emit(op.getIndices(), at);
  if (getElementTypeOrSelf(row.getType()).isInteger(32)) {
    Type type = b.getI64Type();
    if (auto vector = dyn_cast<VectorType>(row.getType()))
      type = vector.clone(type);
    row = arith::ExtSIOp::create(b, type, row);
  }
  Expr extent = extentsOf(op.getData())[0];
  if (op.getChecked())
    row = emitRangeCheck(row, extent);
  unsigned dim = addDim(extent);
  if (isa<VectorType>(row.getType()))
    dims[dim].lanes = row;
  else
    dims[dim].value = row;
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

//===----------------------------------------------------------------------===//
// The same walk without code
//===----------------------------------------------------------------------===//

namespace {
struct Visited {
  Value v;
  Index index;
};
} // namespace

void Emitter::walk(Value root, const Index &rootIndex,
                   function_ref<void(const Leaf &)> visit) {
  DenseMap<Value, SmallVector<Index, 1>> seen;
  SmallVector<Visited> work{{root, rootIndex}};
  while (!work.empty()) {
    Visited at = std::move(work.back());
    work.pop_back();
    SmallVector<Index, 1> &indices = seen[at.v];
    if (llvm::is_contained(indices, at.index))
      continue;
    indices.push_back(at.index);
    if (auto argument = dyn_cast<BlockArgument>(at.v)) {
      visit({argument, simplify(linearize(at.index, extentsOf(at.v)))});
      continue;
    }
    Operation *op = at.v.getDefiningOp();
    if (auto e = dyn_cast<llir::ElementwiseOp>(op)) {
      for (Value input : llvm::reverse(e.getInputs()))
        work.push_back({input, at.index});
    } else if (auto view = dyn_cast<llir::ViewOp>(op)) {
      work.push_back({view.getOperand(), mapIndex(view.getMap(), at.index)});
    } else if (auto iota = dyn_cast<llir::IotaOp>(op)) {
      visit({nullptr,
             simplify(iota.getMap().getResults()[0].substituteDims(at.index))});
    } else if (auto gather = dyn_cast<llir::GatherOp>(op)) {
      size_t rank = extentsOf(gather.getIndices()).size();
      Index inner{Expr::dim(addDim(extentsOf(gather.getData())[0]))};
      inner.insert(inner.end(), at.index.begin() + rank, at.index.end());
      work.push_back({gather.getData(), inner});
      work.push_back({gather.getIndices(),
                      Index(at.index.begin(), at.index.begin() + rank)});
    } else if (auto reduce = dyn_cast<llir::ReduceOp>(op)) {
      Index inner = at.index;
      inner.push_back(Expr::dim(addDim(extentsOf(reduce.getOperand()).back())));
      work.push_back({reduce.getOperand(), inner});
    } else if (auto gemm = dyn_cast<llir::GemmOp>(op)) {
      Index inner = at.index;
      inner.push_back(Expr::dim(addDim(gemm.getKExtent())));
      work.push_back({gemm.getLhs(), mapIndex(gemm.getLhsMap(), inner)});
      work.push_back({gemm.getRhs(), mapIndex(gemm.getRhsMap(), inner)});
    }
  }
}

bool Emitter::variesOverLanes(Value v, const Index &index) {
  bool varies = false;
  walk(v, index, [&](const Leaf &leaf) { varies |= usesLanes(leaf.address); });
  return varies;
}
