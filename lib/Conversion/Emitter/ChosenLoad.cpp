//===- ChosenLoad.cpp - Selects an address, then loads once ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A select between elements in memory whose condition is the same in all lanes
// selects the address: one load instead of one per operand. If the lanes of an
// operand are far apart in memory, the condition is a branch.
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"
#include "luminal/Conversion/Emitter.h"
#include "luminal/Dialect/LLIR/Analysis/Conditions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace luminal;
using namespace mlir;

/// The select that defines `v`, or null.
static llir::ElementwiseOp getSelect(Value v) {
  auto op = v.getDefiningOp<llir::ElementwiseOp>();
  return op && op.getFn() == llir::Fn::Select ? op : llir::ElementwiseOp();
}

/// Replaces a view, and the index at which it is read, by those of the value
/// that it is a view of.
static void readThroughViews(const KernelAnalysis &a, Value &v, Index &index) {
  while (auto view = v.getDefiningOp<llir::ViewOp>()) {
    index = a.mapIndex(view.getMap(), index);
    v = view.getOperand();
  }
}

bool Emitter::isChosen(Value v, Index index, std::optional<bool> &isVector) {
  readThroughViews(*this, v, index);
  if (auto argument = dyn_cast<BlockArgument>(v)) {
    // Operands that the kernel writes must not be read as invariant.
    if (kernel.writesOperand(argument.getArgNumber()))
      return false;
    Expr at = simplify(linearize(index, getExtentsOf(v)));
    bool isOne = !usesLanes(at);
    if (isVector.value_or(!isOne) == isOne)
      return false;
    isVector = !isOne;
    if (isOne)
      return true;
    std::optional<Expr::Linear> linear = at.linearIn(lane.dim);
    return linear && linear->stride.isConstant(1) && !usesLanes(linear->rest);
  }
  llir::ElementwiseOp op = getSelect(v);
  return op && !isPlaced(v) &&
         !decideCondition(*this, op.getInputs()[0], index) &&
         !variesOverLanes(op.getInputs()[0], index) &&
         isChosen(op.getInputs()[1], index, isVector) &&
         isChosen(op.getInputs()[2], index, isVector);
}

Value Emitter::chooseAddress(Value v, Index index, unsigned &alignment) {
  readThroughViews(*this, v, index);
  if (auto argument = dyn_cast<BlockArgument>(v)) {
    Type storage = getStorageType(getElementType(v));
    Value at = value(simplify(linearize(index, getExtentsOf(v))));
    alignment = std::min(alignment, alignmentOfVector(at, storage));
    return address(buffers[argument.getArgNumber()], at, storage);
  }
  ValueRange operands = getSelect(v).getInputs();
  Value condition = emit(operands[0], index);
  Value whereTrue = chooseAddress(operands[1], index, alignment);
  Value whereFalse = chooseAddress(operands[2], index, alignment);
  return LLVM::SelectOp::create(b, condition, whereTrue, whereFalse);
}

Value Emitter::emitChosen(Value v, const Index &index) {
  std::optional<bool> isVector;
  if (!choosesAddresses || !getSelect(v) || !isChosen(v, index, isVector))
    return {};
  Type element = getElementType(v), storage = getStorageType(element);
  unsigned alignment = bufferAlignment;
  Value at = chooseAddress(v, index, alignment);
  // The address may be in any operand, including one that the kernel writes.
  const bool areInvariant =
      haveConstantOperands && !kernel.getInPlace() && !kernel.getOverwrites();
  if (!*isVector) {
    auto load = LLVM::LoadOp::create(
        b, storage, at, std::max(1u, storage.getIntOrFloatBitWidth() / 8));
    load.setInvariant(areInvariant);
    return fromStorage(load, element);
  }
  auto type = VectorType::get({lane.width}, storage);
  if (lane.mask) {
    Value zero = arith::ConstantOp::create(b, b.getZeroAttr(type));
    return fromStorage(LLVM::MaskedLoadOp::create(
                           b, type, at, lane.mask, zero,
                           std::max(1u, storage.getIntOrFloatBitWidth() / 8)),
                       element);
  }
  auto load = LLVM::LoadOp::create(b, type, at, alignment);
  load.setInvariant(areInvariant);
  return fromStorage(load, element);
}

bool Emitter::isLoaded(Value v, Index index, bool &isApart) {
  readThroughViews(*this, v, index);
  if (isa<BlockArgument>(v)) {
    Expr at = simplify(linearize(index, getExtentsOf(v)));
    if (usesLanes(at)) {
      std::optional<Expr::Linear> linear = at.linearIn(lane.dim);
      isApart |= !linear || !linear->stride.isConstant(1);
    }
    return true;
  }
  llir::ElementwiseOp op = getSelect(v);
  return op && !isPlaced(v) && !variesOverLanes(op.getInputs()[0], index) &&
         isLoaded(op.getInputs()[1], index, isApart) &&
         isLoaded(op.getInputs()[2], index, isApart);
}

Value Emitter::emitBranches(Value v, const Index &index) {
  /// Limit on the branches inside of each other.
  constexpr unsigned kMostBranches = 64;
  llir::ElementwiseOp op = getSelect(v);
  bool isApart = false;
  if (!choosesAddresses || machine.blockThreads != 0 || !isVector() || !op ||
      nesting > kMostBranches || !isLoaded(v, index, isApart) || !isApart)
    return {};
  Value condition = emit(op.getInputs()[0], index);
  auto load = [&](unsigned operand) {
    return [&, operand]() -> SmallVector<Value> {
      return {spread(emit(op.getInputs()[operand], index))};
    };
  };
  Type type = VectorType::get({lane.width}, getComputeType(getElementType(v)));
  return ifElse(condition, type, load(1), load(2)).front();
}

void Emitter::prefetchLine(Value address) {
  LLVM::Prefetch::create(b, address, /*rw=*/0, /*hint=*/3, /*cache=*/1);
}

void Emitter::prefetch(Value v, const Index &index) {
  std::optional<bool> isVector;
  if (!isChosen(v, index, isVector))
    return;
  unsigned alignment = bufferAlignment;
  Value at = chooseAddress(v, index, alignment);
  // A hint without effect on values.
  emitPTX(b, "prefetch.L2 [$0];", at, "l");
}
