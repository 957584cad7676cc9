//===- Emitter.cpp - Code for the elements of a kernel's values -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Conversion/Emitter.h"
#include "luminal/Conversion/ScalarMath.h"
#include "luminal/Dialect/LLIR/Analysis/Conditions.h"
#include "luminal/Dialect/LLIR/Schedules/Schedules.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace luminal;
using namespace mlir;

Type luminal::getComputeType(Type element) {
  if (hlir::isStorageType(element))
    return IntegerType::get(element.getContext(),
                            element.getIntOrFloatBitWidth());
  return element;
}

Type luminal::getStorageType(Type element) {
  if (element.isInteger(1))
    return IntegerType::get(element.getContext(), 8);
  // Some targets convert bf16 values back and forth when they move them.
  if (element.isBF16())
    return IntegerType::get(element.getContext(), 16);
  return getComputeType(element);
}

Emitter::Emitter(ImplicitLocOpBuilder &b, llir::KernelOp kernel,
                 SymbolRanges ranges, const MachineModel &machine,
                 ArrayRef<Value> buffers, std::map<std::string, Value> symbols)
    : KernelAnalysis(kernel, std::move(ranges)), b(b), machine(machine),
      choosesAddresses(machine.blockThreads != 0), symbols(std::move(symbols)),
      buffers(buffers) {
  memo.emplace_back();
  Type i32 = b.getI32Type();
  auto ptr = LLVM::LLVMPointerType::get(b.getContext());
  status = LLVM::AllocaOp::create(b, ptr, i32, constant(1));
  Value zero = arith::ConstantOp::create(b, b.getI32IntegerAttr(0));
  LLVM::StoreOp::create(b, zero, status);
}

Emitter::Emitter(Emitter &outer, llir::KernelOp kernel, ArrayRef<Value> buffers)
    : KernelAnalysis(kernel, outer.getRanges()), b(outer.b),
      machine(outer.machine), choosesAddresses(outer.choosesAddresses),
      bufferAlignment(outer.bufferAlignment), haveConstantOperands(false),
      syncScope(outer.syncScope), symbols(outer.symbols), buffers(buffers),
      status(outer.status) {
  memo.emplace_back();
  globals = outer.globals;
}

void Emitter::addNeeds(const Emitter &inner) {
  failed |= inner.failed;
  globals = inner.globals;
  requirements.append(inner.requirements);
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
/// An element on the worklist of `emit`.
struct Pending {
  Value v;
  Index index;
  /// The indices at which a free op reads its operands.
  SmallVector<Index, 1> inner;
  bool isOpen = false;
  /// The operand that this element equals, if that is decided.
  Value same = {};
};
} // namespace

/// The operand that an op is equal to at `index`, if that is decided: of a
/// select with a known condition, or of an and/or whose other operand is known.
static Value findChosen(const KernelAnalysis &a, Value v, const Index &index) {
  auto op = v.getDefiningOp<llir::ElementwiseOp>();
  if (!op || a.isPlaced(v))
    return {};
  ValueRange inputs = op.getInputs();
  if (op.getFn() == llir::Fn::Select) {
    std::optional<bool> condition = decideCondition(a, inputs[0], index);
    return condition ? inputs[*condition ? 1 : 2] : Value();
  }
  if (!getElementType(v).isInteger(1) ||
      (op.getFn() != llir::Fn::Mul && op.getFn() != llir::Fn::Or))
    return {};
  // A condition that decides the result by itself is handled by findDecided.
  for (unsigned i : {0, 1})
    if (decideCondition(a, inputs[i], index) == (op.getFn() == llir::Fn::Mul))
      return inputs[1 - i];
  return {};
}

/// The value of a comparison of indices that the surrounding loops decide. LLVM
/// does not find all of these.
static std::optional<bool> findDecided(const KernelAnalysis &a, Value v,
                                       const Index &index) {
  auto op = v.getDefiningOp<llir::ElementwiseOp>();
  if (!op || !getElementType(v).isInteger(1) || a.isPlaced(v))
    return std::nullopt;
  return decideCondition(a, v, index);
}

/// Operands of pointwise and free ops are emitted from a worklist instead of
/// recursively, because chains may be long. Only lookups and ops with loops of
/// their own recurse.
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
      stack.push_back({v, index, {}, false, {}});
  };
  // The operands of ops that read at their own index or through a map are
  // emitted first.
  auto getTakingOp = [&](Value v) -> llir::BodyOpInterface {
    auto op = v.getDefiningOp<llir::BodyOpInterface>();
    bool isTaking = op && !isPlaced(v) && (op.isFree() || op.isPointwise());
    return isTaking ? op : nullptr;
  };
  push(root, rootIndex);
  while (!stack.empty()) {
    if (!stack.back().isOpen) {
      stack.back().isOpen = true;
      size_t at = stack.size() - 1;
      if (std::optional<bool> known =
              findDecided(*this, stack[at].v, stack[at].index)) {
        remember(stack[at].v, stack[at].index,
                 arith::ConstantOp::create(b, b.getBoolAttr(*known)));
        stack.pop_back();
        continue;
      }
      if (Value chosen = findChosen(*this, stack[at].v, stack[at].index)) {
        stack[at].same = chosen;
        push(chosen, Index(stack[at].index));
        continue;
      }
      Value element = emitChosen(stack[at].v, stack[at].index);
      if (!element)
        element = emitBranches(stack[at].v, stack[at].index);
      if (element) {
        remember(stack[at].v, stack[at].index, element);
        stack.pop_back();
        continue;
      }
      llir::BodyOpInterface op = getTakingOp(stack[at].v);
      if (op && op.isFree())
        op.getReads(
            stack[at].index, [](const Expr &) { return Expr(0); },
            [&](OpOperand &, Index index) {
              for (Expr &e : index)
                e = simplify(e);
              stack[at].inner.push_back(std::move(index));
            });
      for (unsigned i = op ? op->getNumOperands() : 0; i-- > 0;)
        push(op->getOperand(i),
             Index(op.isFree() ? stack[at].inner[i] : stack[at].index));
      if (!stack.back().isOpen)
        continue; // its operands come first
    }
    Pending at = stack.pop_back_val();
    if (lookUp(at.v, at.index))
      continue; // already emitted for another user
    if (at.same) {
      remember(at.v, at.index, lookUp(at.same, at.index));
      continue;
    }
    SmallVector<Value> operands;
    if (llir::BodyOpInterface op = getTakingOp(at.v))
      for (auto [i, operand] : llvm::enumerate(op->getOperands()))
        operands.push_back(
            lookUp(operand, op.isFree() ? at.inner[i] : at.index));
    emitNew(at.v, at.index, operands);
  }
  --nesting;
  return lookUp(root, rootIndex);
}

void Emitter::emitNew(Value v, const Index &index, ValueRange operands) {
  if (isPlaced(v))
    return remember(v, index, loadKept(v, index));
  if (auto argument = dyn_cast<BlockArgument>(v)) {
    // An argument of a region inside the kernel must be remembered or placed.
    if (argument.getOwner() != &kernel.getBody().front())
      return remember(v, index,
                      failValue(argument.getOwner()->getParentOp(),
                                "reads an argument of its region where no "
                                "element of it is known",
                                getElementType(v)));
    return remember(v, index,
                    load(argument.getArgNumber(),
                         simplify(linearize(index, getExtentsOf(v)))));
  }
  Operation *op = v.getDefiningOp();
  SmallVector<Value> elements;
  if (auto reduction = dyn_cast<llir::ReductionOpInterface>(op))
    elements =
        emitReduction(reduction, index, isVector() && variesOverLanes(v, index),
                      loopCase.getForm(llir::getPosition(op)));
  else if (auto emission = dyn_cast<EmissionOpInterface>(op))
    elements = emission.emitElements(*this, index, operands);
  if (elements.empty())
    return remember(
        v, index,
        failValue(op, "has no code inside a kernel", getElementType(v)));
  for (auto [result, element] : llvm::zip_equal(op->getResults(), elements))
    remember(result, index, element);
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
  refuseWhere(
      arith::CmpIOp::create(b, arith::CmpIPredicate::uge, index, bound));
  return arith::SelectOp::create(b, inside, index, zero);
}

void Emitter::refuseWhere(Value outside) {
  if (isa<VectorType>(outside.getType())) {
    if (lane.mask)
      outside = arith::AndIOp::create(b, outside, lane.mask);
    outside =
        vector::ReductionOp::create(b, vector::CombiningKind::OR, outside);
  }
  Type i32 = b.getI32Type();
  Value flag = arith::ExtUIOp::create(b, i32, outside);
  Value before = LLVM::LoadOp::create(b, i32, status);
  LLVM::StoreOp::create(b, arith::OrIOp::create(b, before, flag), status);
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
