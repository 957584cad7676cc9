//===- UpdateInPlace.cpp - Scatters in place ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   %0 = kernel(%cache, ...)         %1 = kernel(%cache)
//   %1 = kernel(%cache)            -->   %0 = kernel(%cache, ...)
//   return %0, %1                                 {in_place}
//
// Tested by test/Dialect/LLIR/update-in-place.mlir.
//
//===----------------------------------------------------------------------===//

#include "OverwriteOrder.h"
#include "luminal/Dialect/LLIR/Analysis/UpdateOrder.h"
#include "luminal/Dialect/LLIR/Transforms/Passes.h"
#include "luminal/Dialect/LLIR/Transforms/SplitKernel.h"
#include "luminal/Dialect/LLIR/Utils/IndexMaps.h"
#include "luminal/Dialect/LLIR/Utils/Remarks.h"

namespace luminal::llir {
#define GEN_PASS_DEF_UPDATEINPLACEPASS
#include "luminal/Dialect/LLIR/Transforms/Passes.h.inc"
} // namespace luminal::llir

#define DEBUG_TYPE "llir-update-in-place"

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;
using luminal::hlir::MapAttr;

namespace {
/// Whether a scatter can write the memory that it updates; a refusal may name
/// the op that prevents it.
using Decision = OverwriteOrder::Decision;

class UpdateInPlace : public llir::impl::UpdateInPlacePassBase<UpdateInPlace> {
public:
  using UpdateInPlacePassBase::UpdateInPlacePassBase;
  void runOnOperation() override;

private:
  /// Follows the chain of updates that ends in `value` back to the first
  /// updated value.
  void followUpdates(Value value, std::optional<BlockArgument> state);
  Decision decide(KernelOp kernel, std::optional<BlockArgument> state);
  Decision writesOperand0(KernelOp kernel) const;
  Decision isFree(Value old, std::optional<BlockArgument> state) const;
  void tell(KernelOp kernel, const Decision &decision);
  /// Lets a separate kernel copy the destination of an update that cannot be in
  /// place.
  void copyBefore(KernelOp kernel);

  OverwriteOrder order;
  /// Why scatters are not in place: the first reason found.
  DenseMap<Operation *, Decision> refused;
};
} // namespace

/// Returns the only update of a kernel, or null.
static UpdateOpInterface getUpdate(KernelOp kernel) {
  auto updates = kernel.getBody().getOps<UpdateOpInterface>();
  return llvm::hasSingleElement(updates) ? *updates.begin()
                                         : UpdateOpInterface();
}

/// Accepts if operand 0 is read only as the scatter's destination, each element
/// at its position in the result.
Decision UpdateInPlace::writesOperand0(KernelOp kernel) const {
  if (kernel.getInputs().empty() || kernel.getResults().size() != 1 ||
      kernel.getInputs()[0].getType() != kernel.getResults()[0].getType())
    return Decision::refuse("the first operand of the kernel is not of the "
                            "type of its result");
  Block &body = kernel.getBody().front();
  UpdateOpInterface update = getUpdate(kernel);
  SmallVector<Expr> extents = hlir::getExtents(kernel.getResults()[0]);
  Assumptions symbols = hlir::getAssumptions(kernel);
  // The map from the result back to the destination.
  MapAttr map = MapAttr::getIdentity(kernel.getContext(), extents.size());
  Value value = cast<YieldOp>(body.getTerminator()).getValues()[0];
  for (Value end : {Value(update->getResult(0)), Value(body.getArgument(0))}) {
    while (value != end) {
      auto view = value.getDefiningOp<ViewOp>();
      if (!view)
        return Decision::refuse("the destination is computed in the kernel");
      if (!value.hasOneUse())
        return Decision::refuse("the kernel reads the destination elsewhere");
      map = compose(map, view.getMap(), extents, symbols);
      value = view.getOperand();
    }
    if (!value.hasOneUse())
      return Decision::refuse("the kernel reads the destination elsewhere");
    if (value == update->getResult(0))
      value = update.getDest();
  }
  if (!map.isIdentity())
    return Decision::refuse("the result is in another order than the "
                            "destination");
  // Another operand in the same memory would be read while it is written.
  Value target = getStorage(kernel.getInputs()[0]);
  for (Value input : kernel.getInputs().drop_front())
    if (getStorage(input) == target)
      return Decision::refuse("another operand is in the same memory",
                              input.getDefiningOp());
  return Decision::accept();
}

/// Refuses weights and inputs, which belong to the caller, and parts of other
/// buffers.
Decision UpdateInPlace::isFree(Value old,
                               std::optional<BlockArgument> state) const {
  if ((state && old == *state) ||
      isa_and_present<KernelOp, LibraryOpInterface>(old.getDefiningOp()))
    return Decision::accept();
  if (isa<BlockArgument>(old))
    return Decision::refuse("the destination is an argument, and this is not "
                            "its new value");
  return Decision::refuse("the destination is a constant or a part of other "
                          "memory",
                          old.getDefiningOp());
}

Decision UpdateInPlace::decide(KernelOp kernel,
                               std::optional<BlockArgument> state) {
  Decision decision = writesOperand0(kernel);
  if (decision)
    decision = isFree(kernel.getInputs()[0], state);
  if (decision)
    decision = order.moveReadersBefore(kernel, kernel.getInputs()[0]);
  return decision;
}

void UpdateInPlace::followUpdates(Value value,
                                  std::optional<BlockArgument> state) {
  while (auto kernel = getStorage(value).getDefiningOp<KernelOp>()) {
    if (!getUpdate(kernel) || kernel.getInPlace())
      return;
    Decision decision = decide(kernel, state);
    if (!decision) {
      refused.try_emplace(kernel, decision);
      return;
    }
    kernel.setInPlace(true);
    value = kernel.getInputs()[0];
  }
}

void UpdateInPlace::tell(KernelOp kernel, const Decision &decision) {
  Reporter reporter(&getContext(), DEBUG_TYPE, getOperation().getSymName());
  if (!reporter.isListening())
    return;
  if (decision)
    return reporter.passed(kernel.getLoc(), "in-place", {});
  SmallVector<Reporter::Arg> args;
  if (Operation *other = decision.getSubject())
    args.push_back({"because of", describeWithPlace(other)});
  args.push_back(
      {"bytes copied", countBytes(kernel.getResults()[0].getType()).str()});
  args.push_back({"reason", decision.str()});
  reporter.missed(kernel.getLoc(), "in-place", args);
}

void UpdateInPlace::copyBefore(KernelOp kernel) {
  SmallVector<KernelOp> kernels =
      writesOperand0(kernel) ? splitByCopy(kernel) : splitByUpdate(kernel);
  kernel->replaceAllUsesWith(kernels.back()->getResults());
  kernel.erase();
}

void UpdateInPlace::runOnOperation() {
  func::FuncOp func = getOperation();
  if (func.isDeclaration() || !llvm::hasSingleElement(func.getBody()))
    return;
  refused.clear();
  Block &block = func.getBody().front();
  for (OpOperand &result : block.getTerminator()->getOpOperands()) {
    std::optional<BlockArgument> state;
    if (auto updates = func.getResultAttrOfType<IntegerAttr>(
            result.getOperandNumber(), hlir::kUpdatesAttr))
      state = block.getArgument(updates.getInt());
    followUpdates(result.get(), state);
  }
  SmallVector<KernelOp> scatters;
  for (KernelOp kernel : block.getOps<KernelOp>())
    if (getUpdate(kernel))
      scatters.push_back(kernel);
  for (KernelOp kernel : scatters)
    followUpdates(kernel.getResults()[0], std::nullopt);
  for (KernelOp kernel : scatters)
    tell(kernel, kernel.getInPlace() ? Decision::accept()
                                     : refused.at(kernel.getOperation()));
  if (!blockThreads)
    return;
  Assumptions symbols = hlir::getAssumptions(func);
  for (KernelOp kernel : scatters) {
    auto scatter = dyn_cast<ScatterOp>(getUpdate(kernel).getOperation());
    if (!kernel.getInPlace() && scatter && isOrderFree(scatter, symbols))
      copyBefore(kernel);
  }
}
