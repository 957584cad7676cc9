//===- FuseKernels.cpp - Groups flat ops into kernels ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   %0 = elementwise add(%a, %b)         %1 = kernel(%a, %b) {
//   %1 = elementwise exp(%0)       -->     add, exp, yield
//   return %1                            }
//                                        return %1
//
// Fusion.h says how groups are chosen. Tested by
// test/Dialect/LLIR/fuse-kernels.mlir.
//
//===----------------------------------------------------------------------===//

#include "Fusion.h"
#include "luminal/Dialect/HLIR/Utils/DeadOps.h"
#include "luminal/Dialect/LLIR/Transforms/Passes.h"
#include "luminal/Dialect/LLIR/Utils/IndexMaps.h"
#include "luminal/Dialect/LLIR/Utils/MergeKernels.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace luminal::llir {
#define GEN_PASS_DEF_FUSEKERNELSPASS
#include "luminal/Dialect/LLIR/Transforms/Passes.h.inc"
} // namespace luminal::llir

#define DEBUG_TYPE "llir-fuse-kernels"

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;
using luminal::hlir::MapAttr;

namespace {
class FuseKernels : public llir::impl::FuseKernelsPassBase<FuseKernels> {
public:
  using FuseKernelsPassBase::FuseKernelsPassBase;
  void runOnOperation() override;

private:
  LogicalResult checkOps();
  Value getWhole(Value value, RankedTensorType type, MapAttr map,
                 const FusionPlan &plan, DenseSet<Value> *taken,
                 OpBuilder &builder);
  void copyStandalone(StandaloneOpInterface op, const FusionPlan &plan,
                      DenseMap<Value, Placed> &placed, DenseSet<Value> &taken,
                      OpBuilder &builder);
  void replaceResults(const FusionPlan &plan, DenseMap<Value, Placed> &placed,
                      DenseSet<Value> &taken);
  std::pair<Value, MapAttr> findPlace(Value value, const FusionPlan &plan,
                                      const DenseMap<Value, Placed> &placed);
  Value materializeResult(Value value, const FusionPlan &plan,
                          const DenseMap<Value, Placed> &placed,
                          DenseSet<Value> &taken, OpBuilder &builder);
};
} // namespace

LogicalResult FuseKernels::checkOps() {
  for (Operation &op : getOperation().getBody().front().without_terminator())
    if (!isa<BodyOpInterface, StandaloneOpInterface, KernelOp, AliasOp>(op))
      return op.emitOpError() << "has no kernel";
  return success();
}

/// Returns `source` read through `map` as a whole tensor in memory: an alias or
/// a copy. With `taken`, the memory must be written by a step, and must not be
/// in `taken` yet.
Value FuseKernels::getWhole(Value source, RankedTensorType type, MapAttr map,
                            const FusionPlan &plan, DenseSet<Value> *taken,
                            OpBuilder &builder) {
  bool isWhole = isAllInOrder(map, hlir::getExtents(type),
                              hlir::getExtents(source), plan.getSymbols());
  if (isWhole && taken) {
    auto standalone = source.getDefiningOp<StandaloneOpInterface>();
    isWhole = source.getDefiningOp<KernelOp>() ||
              (standalone && standalone.writesResults());
    isWhole = isWhole && taken->insert(source).second;
  }
  if (!isWhole)
    return copyThrough(source, map, type, builder);
  if (source.getType() == type)
    return source;
  return AliasOp::create(builder, source.getLoc(), type, source,
                         MapAttr::get(&getContext(), 0, Expr(0)));
}

/// Returns the buffer that holds a value, and the map to its elements there.
std::pair<Value, MapAttr>
FuseKernels::findPlace(Value value, const FusionPlan &plan,
                       const DenseMap<Value, Placed> &placed) {
  SmallVector<Expr> extents = hlir::getExtents(value);
  Value source = plan.getMemoryOf(value);
  MapAttr map = source == value
                    ? MapAttr::getIdentity(&getContext(), extents.size())
                    : value.getDefiningOp<ViewOp>().getMap();
  auto it = placed.find(source);
  if (it == placed.end())
    return {source, map};
  return {it->second.buffer,
          compose(map, it->second.toBuffer, extents, plan.getSymbols())};
}

/// Returns `value` as a result of the function: a separate buffer that a kernel
/// writes.
Value FuseKernels::materializeResult(Value value, const FusionPlan &plan,
                                     const DenseMap<Value, Placed> &placed,
                                     DenseSet<Value> &taken,
                                     OpBuilder &builder) {
  auto [source, map] = findPlace(value, plan, placed);
  return getWhole(source, cast<RankedTensorType>(value.getType()), map, plan,
                  &taken, builder);
}

/// Recreates a standalone op on the values that kernels wrote.
void FuseKernels::copyStandalone(StandaloneOpInterface op,
                                 const FusionPlan &plan,
                                 DenseMap<Value, Placed> &placed,
                                 DenseSet<Value> &taken, OpBuilder &builder) {
  IRMapping mapping;
  for (Value operand : op->getOperands()) {
    auto [source, map] = findPlace(operand, plan, placed);
    if (source == operand || mapping.contains(operand))
      continue;
    mapping.map(operand,
                getWhole(source, cast<RankedTensorType>(operand.getType()), map,
                         plan, op.keepsOperands() ? &taken : nullptr, builder));
  }
  Operation *copy = builder.clone(*op, mapping);
  for (auto [from, to] :
       llvm::zip_equal(op->getResults(), copy->getResults())) {
    unsigned rank = cast<RankedTensorType>(to.getType()).getRank();
    placed[from] = {to, MapAttr::getIdentity(&getContext(), rank)};
  }
}

void FuseKernels::replaceResults(const FusionPlan &plan,
                                 DenseMap<Value, Placed> &placed,
                                 DenseSet<Value> &taken) {
  Operation *terminator = getOperation().getBody().front().getTerminator();
  OpBuilder builder(terminator);
  for (OpOperand &operand : terminator->getOpOperands())
    operand.set(materializeResult(operand.get(), plan, placed, taken, builder));
}

static SmallVector<Operation *> getOps(Block &block) {
  SmallVector<Operation *> ops;
  for (Operation &op : block.without_terminator())
    ops.push_back(&op);
  return ops;
}

static void tellKernel(KernelOp kernel, int64_t code,
                       const Reporter &reporter) {
  if (!reporter.isListening())
    return;
  auto body = kernel.getBody().front().without_terminator();
  reporter.analysis(kernel.getLoc(), "kernel",
                    {{"kind", kernel.getTitle()},
                     {"ops", int64_t(std::distance(body.begin(), body.end()))},
                     {"code", code},
                     {"operands", kernel.getInputs().size()},
                     {"results", kernel.getResults().size()}});
}

void FuseKernels::runOnOperation() {
  func::FuncOp func = getOperation();
  if (func.isDeclaration())
    return;
  if (!llvm::hasSingleElement(func.getBody())) {
    func.emitError() << "expects a function of one block";
    return signalPassFailure();
  }
  Block &block = func.getBody().front();
  // Kernels are opaque to this pass, and a function is fused as a whole.
  bool isFused = !block.getOps<KernelOp>().empty();
  if (!isFused)
    expandRowFunctions(func, chipBytes, sharedBytes);
  if (failed(checkOps()))
    return signalPassFailure();
  if (isFused)
    return;
  eraseDeadOps(block);

  Assumptions symbols = hlir::getAssumptions(block.getTerminator());
  Reporter reporter(&getContext(), DEBUG_TYPE, func.getSymName());
  FusionPlan plan(func, symbols, codeBudget, chipBytes, sharedBytes, reporter);
  SmallVector<Operation *> flat = getOps(block);
  llvm::erase_if(flat, [](Operation *op) { return isa<llir::ConstantOp>(op); });
  OpBuilder builder(block.getTerminator());
  DenseMap<Value, Placed> placed;
  DenseSet<Value> taken;
  for (const Group *group : plan.getGroups()) {
    if (group->standalone)
      copyStandalone(group->standalone, plan, placed, taken, builder);
    else
      tellKernel(buildKernel(*group, symbols, builder, placed), group->code,
                 reporter);
  }
  replaceResults(plan, placed, taken);
  for (Operation *op : llvm::reverse(flat))
    op->erase();
  eraseDeadOps(block);
}
