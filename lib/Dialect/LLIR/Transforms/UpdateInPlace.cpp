//===- UpdateInPlace.cpp - Scatters that write what they update -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   %0 = kernel scatter(%cache, ...)         %1 = kernel map(%cache)
//   %1 = kernel map(%cache)            -->   %0 = kernel scatter(%cache, ...)
//   return %0, %1                                 {in_place}
//
// Tested by test/Dialect/LLIR/update-in-place.mlir.
//
//===----------------------------------------------------------------------===//

#include "luminal/Dialect/LLIR/Transforms/Passes.h"
#include "luminal/Dialect/LLIR/Utils/IndexMaps.h"
#include "llvm/ADT/SetVector.h"

namespace luminal::llir {
#define GEN_PASS_DEF_UPDATEINPLACEPASS
#include "luminal/Dialect/LLIR/Transforms/Passes.h.inc"
} // namespace luminal::llir

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;
using luminal::hlir::MapAttr;

namespace {
class UpdateInPlace : public llir::impl::UpdateInPlacePassBase<UpdateInPlace> {
public:
  void runOnOperation() override;

private:
  /// Follows the updates that end in `value` back to what they update.
  void followUpdates(Value value, std::optional<BlockArgument> state);
  bool writesOperand0(KernelOp kernel) const;
  bool moveReadersBefore(KernelOp kernel);
};
} // namespace

/// The value whose memory an alias stands in.
static Value getStorage(Value value) {
  while (auto alias = value.getDefiningOp<AliasOp>())
    value = alias.getOperand();
  return value;
}

/// Operand 0 is read only as the scatter's destination, element for element
/// where the result puts it.
bool UpdateInPlace::writesOperand0(KernelOp kernel) const {
  if (kernel.getKind() != KernelKind::Scatter || kernel.getInputs().empty() ||
      kernel.getResults().size() != 1 ||
      kernel.getInputs()[0].getType() != kernel.getResults()[0].getType())
    return false;
  Block &body = kernel.getBody().front();
  auto scatter = *body.getOps<llir::ScatterOp>().begin();
  SmallVector<Expr> extents = hlir::getExtents(kernel.getResults()[0]);
  Assumptions symbols = hlir::getAssumptions(kernel);
  // From the result back to the destination.
  MapAttr map = MapAttr::getIdentity(kernel.getContext(), extents.size());
  Value value = cast<YieldOp>(body.getTerminator()).getValues()[0];
  for (Value end : {Value(scatter.getResult()), Value(body.getArgument(0))}) {
    while (value != end) {
      auto view = value.getDefiningOp<ViewOp>();
      if (!view || !value.hasOneUse())
        return false;
      map = compose(map, view.getMap(), extents, symbols);
      value = view.getOperand();
    }
    if (!value.hasOneUse())
      return false;
    if (value == scatter.getResult())
      value = scatter.getDest();
  }
  if (!map.isIdentity())
    return false;
  // The same memory under another name would be read while it is written.
  Value target = getStorage(kernel.getInputs()[0]);
  return llvm::none_of(kernel.getInputs().drop_front(), [&](Value input) {
    return getStorage(input) == target;
  });
}

/// Makes every other reader of operand 0 run before the kernel. False where one
/// of them needs the kernel's result.
bool UpdateInPlace::moveReadersBefore(KernelOp kernel) {
  Block *block = kernel->getBlock();
  SetVector<Operation *> late;
  SmallVector<Value> names = {kernel.getInputs()[0]};
  while (!names.empty()) {
    Value name = names.pop_back_val();
    for (Operation *user : name.getUsers()) {
      if (user == kernel)
        continue;
      if (user->hasTrait<OpTrait::IsTerminator>())
        return false;
      // Another update has taken the memory.
      if (auto other = dyn_cast<KernelOp>(user);
          other && other.getInPlace() && other.getInputs()[0] == name)
        return false;
      if (auto alias = dyn_cast<AliasOp>(user))
        names.push_back(alias.getResult());
      if (kernel->isBeforeInBlock(user))
        late.insert(user);
    }
  }
  // With all that they need.
  for (unsigned i = 0; i < late.size(); ++i)
    for (Value operand : late[i]->getOperands()) {
      Operation *producer = operand.getDefiningOp();
      if (!producer || producer->getBlock() != block)
        continue;
      if (producer == kernel)
        return false;
      if (kernel->isBeforeInBlock(producer))
        late.insert(producer);
    }
  SmallVector<Operation *> sorted = llvm::to_vector(late);
  llvm::sort(sorted,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  for (Operation *op : sorted)
    op->moveBefore(kernel);
  return true;
}

void UpdateInPlace::followUpdates(Value value,
                                  std::optional<BlockArgument> state) {
  while (auto kernel = getStorage(value).getDefiningOp<KernelOp>()) {
    if (kernel.getInPlace() || !writesOperand0(kernel))
      return;
    Value old = kernel.getInputs()[0];
    // Weights and inputs are the caller's; a part of other memory is not free.
    bool isFree = state ? old == *state : false;
    if (old.getDefiningOp<KernelOp>())
      isFree = true;
    if (!isFree || !moveReadersBefore(kernel))
      return;
    kernel.setInPlace(true);
    value = old;
  }
}

void UpdateInPlace::runOnOperation() {
  func::FuncOp func = getOperation();
  if (func.isDeclaration() || !llvm::hasSingleElement(func.getBody()))
    return;
  Block &block = func.getBody().front();
  for (OpOperand &result : block.getTerminator()->getOpOperands()) {
    std::optional<BlockArgument> state;
    if (auto updates = func.getResultAttrOfType<IntegerAttr>(
            result.getOperandNumber(), hlir::kUpdatesAttr))
      state = block.getArgument(updates.getInt());
    followUpdates(result.get(), state);
  }
  for (KernelOp kernel : llvm::to_vector(block.getOps<KernelOp>()))
    if (kernel.getKind() == KernelKind::Scatter && !kernel.getInPlace())
      followUpdates(kernel.getResults()[0], std::nullopt);
}
