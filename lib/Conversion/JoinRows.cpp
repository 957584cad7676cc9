//===- JoinRows.cpp - Fuses kernels over the same rows --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels that read each other's results row by row may become one kernel that
// keeps the values between them on chip. The candidates are all kernels over
// the same rows that read each other, without a kernel outside the group
// between them. The schedules decide whether fusion is legal and faster.
//
// Tested by test/Conversion/Schedules/join-rows.mlir.
//
//===----------------------------------------------------------------------===//

#include "luminal/Conversion/Passes.h"
#include "luminal/Conversion/Target.h"
#include "luminal/Dialect/LLIR/Analysis/RowProgram.h"
#include "luminal/Dialect/LLIR/Utils/CodeBudget.h"
#include "luminal/Dialect/LLIR/Utils/KernelClasses.h"
#include "luminal/Dialect/LLIR/Utils/MergeKernels.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/SetVector.h"

#include <cmath>

namespace luminal {
#define GEN_PASS_DEF_JOINROWSPASS
#include "luminal/Conversion/Passes.h.inc"
} // namespace luminal

#define DEBUG_TYPE "llir-join-rows"

using namespace mlir;
using namespace luminal;

namespace {
class JoinRows : public luminal::impl::JoinRowsPassBase<JoinRows> {
public:
  using JoinRowsPassBase::JoinRowsPassBase;
  void runOnOperation() override;

private:
  void joinOver(const Expr &rows, func::FuncOp func);
  bool join(ArrayRef<llir::KernelOp> kernels, const Expr &rows);

  std::shared_ptr<TargetInterface> device;
};
} // namespace

/// The first extent of a kernel's results that is not 1.
static std::optional<Expr> getRows(llir::KernelOp kernel) {
  for (const Expr &extent : hlir::getExtents(kernel.getResult(0)))
    if (!extent.isConstant(1))
      return extent;
  return std::nullopt;
}

/// Whether a kernel could compute `rows` one by one, judging by its results and
/// loops.
static bool isOver(const Expr &rows, llir::KernelOp kernel) {
  auto hasRows = [&](Value v) {
    return llvm::is_contained(hlir::getExtents(v), rows);
  };
  if (kernel.getInPlace() || kernel.getLoops() ||
      !llvm::all_of(kernel.getResults(), hasRows))
    return false;
  return llvm::all_of(kernel.getOps(), [&](Operation &op) {
    return !llir::hasLoops(&op) || (isa<llir::ReductionOpInterface>(op) &&
                                    llvm::all_of(op.getResults(), hasRows));
  });
}

//===----------------------------------------------------------------------===//
// Fusion
//===----------------------------------------------------------------------===//

/// Makes products read row operands through a view, which may be kept: lanes
/// that are rows would otherwise load one element at a time.
static void viewOperands(llir::KernelOp kernel, const Expr &rows) {
  DenseMap<Value, Value> views;
  for (auto op : kernel.getBody().front().getOps<llir::ProductOpInterface>())
    for (OpOperand &operand : op->getOpOperands()) {
      auto argument = dyn_cast<BlockArgument>(operand.get());
      if (!argument || !llvm::is_contained(hlir::getExtents(argument), rows))
        continue;
      Value &view = views[argument];
      if (!view) {
        OpBuilder builder = OpBuilder::atBlockBegin(argument.getOwner());
        view = llir::ViewOp::create(
            builder, op->getLoc(), argument.getType(), argument,
            hlir::MapAttr::getIdentity(op->getContext(), getRank(argument)));
      }
      operand.set(view);
    }
}

bool JoinRows::join(ArrayRef<llir::KernelOp> kernels, const Expr &rows) {
  auto function = kernels.front()->getParentOfType<func::FuncOp>();
  Reporter reporter(&getContext(), DEBUG_TYPE, function.getName());
  KernelAnalysis::SymbolRanges ranges =
      hlir::getAssumptions(kernels.front()).getSymbols();
  SmallVector<Value> results;
  llir::KernelOp merged = llir::mergeKernels(kernels, results);
  viewOperands(merged, rows);
  SmallVector<Reporter::Arg> args = {{"kernels", uint64_t(kernels.size())},
                                     {"rows", rows.str()}};
  auto refuse = [&](StringRef reason) {
    args.push_back({"reason", reason.str()});
    reporter.missed(merged.getLoc(), "rows", args);
    merged.erase();
    return false;
  };
  KernelAnalysis analysis(merged, ranges);
  if (Decision found =
          RowProgram(analysis).find(RowProgram::findWished(merged));
      !found) {
    if (Operation *op = found.getSubject())
      args.push_back({"in the way", describeWithPlace(op)});
    return refuse(found.str());
  }
  if (llir::countElementCode(merged) > codeBudget)
    return refuse("the fused kernel would exceed the code budget");
  MachineModel machine = device->getMachine();
  llir::ProposedLoops one = llir::proposeRowProgram(merged, ranges, machine);
  // Row passes were not measured against thread groups, so they are considered
  // only on a CPU.
  if (!machine.blockThreads && llir::fitsRows(merged))
    if (llir::ProposedLoops other = device->propose(merged, ranges);
        other.loops && (!one.loops || (other.price < one.price &&
                                       other.priceOfOne < one.priceOfOne)))
      one = std::move(other);
  if (!one.loops) {
    llvm::append_range(args, one.why);
    return refuse("one kernel has no schedule");
  }
  double parts = 0, partsOfOne = 0;
  // Kernels of repeated layers are identical and priced once.
  llir::KernelClasses alike;
  SmallVector<llir::ProposedLoops> proposed;
  for (llir::KernelOp kernel : kernels) {
    unsigned number = alike.add(kernel);
    if (number == proposed.size())
      proposed.push_back(device->propose(kernel, ranges));
    const llir::ProposedLoops &part = proposed[number];
    parts += part.loops ? part.price : 0;
    partsOfOne += part.loops ? part.priceOfOne : 0;
  }
  args.push_back({"predicted ns", int64_t(std::llround(one.price))});
  args.push_back({"separate ns", int64_t(std::llround(parts))});
  args.push_back(
      {"predicted ns by one worker", int64_t(std::llround(one.priceOfOne))});
  args.push_back(
      {"separate ns by one worker", int64_t(std::llround(partsOfOne))});
  // At about equal prices one kernel is preferred: it saves launches and, on a
  // GPU, takes less than its price (0.87 of it in the median of seven on an
  // H200).
  constexpr double kNear = 1.15;
  double most = machine.blockThreads ? kNear * parts : parts;
  if (one.price > most ||
      (!machine.blockThreads && one.priceOfOne > partsOfOne)) {
    llvm::append_range(args, one.why);
    return refuse("separate kernels are predicted to be at least as fast");
  }
  // Keep the schedule that was priced.
  merged.setLoopsAttr(one.loops);
  llvm::append_range(args, one.why);
  reporter.passed(merged.getLoc(), "rows", args);
  for (auto [from, to] : llvm::zip_equal(results, merged.getResults()))
    from.replaceAllUsesExcept(to, merged);
  for (llir::KernelOp kernel : llvm::reverse(kernels))
    kernel.erase();
  // A reader of an early result may have been before the last kernel.
  sortTopologically(merged->getBlock());
  return true;
}

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

/// Adds maps of any space that only `kernels` read: their elements are computed
/// where they are read. `mayRunFirst` tells which kernels need none of them.
static void addMaps(SmallVectorImpl<llir::KernelOp> &kernels,
                    function_ref<bool(Operation *)> mayRunFirst) {
  SmallPtrSet<Operation *, 8> members(kernels.begin(), kernels.end());
  // Maps that are read by added maps are visited later.
  for (size_t i = 0; i < kernels.size(); ++i) {
    llir::KernelOp reader = kernels[i];
    for (Value operand : reader.getInputs()) {
      auto kernel = operand.getDefiningOp<llir::KernelOp>();
      if (!kernel || members.contains(kernel) || kernel.getInPlace() ||
          kernel.getLoops() || !mayRunFirst(kernel) ||
          llvm::any_of(kernel.getOps(),
                       [](Operation &op) { return llir::hasLoops(&op); }) ||
          !llvm::all_of(kernel->getUsers(), [&](Operation *user) {
            return members.contains(user);
          }))
        continue;
      members.insert(kernel);
      kernels.push_back(kernel);
    }
  }
  llvm::sort(kernels, [](llir::KernelOp a, llir::KernelOp b) {
    return a->isBeforeInBlock(b);
  });
}

void JoinRows::joinOver(const Expr &rows, func::FuncOp func) {
  // How often a chain of reads enters or leaves the kernels over the rows. Ops
  // that are not over the rows separate the kernels before them from those
  // after them.
  DenseMap<Operation *, unsigned> level;
  llvm::SetVector<Operation *> members;
  llvm::EquivalenceClasses<Operation *> joined;
  for (Operation &op : func.getBody().front().without_terminator()) {
    auto kernel = dyn_cast<llir::KernelOp>(op);
    bool isMember = kernel && isOver(rows, kernel);
    unsigned own = 0;
    for (Value operand : op.getOperands())
      if (Operation *def = operand.getDefiningOp()) {
        unsigned before = level.lookup(def);
        bool isOf = members.contains(def);
        // Other ops count only if they depend on a kernel over the rows.
        own = std::max(
            own, before + unsigned(isMember != isOf && (isOf || before > 0)));
      }
    level[&op] = own;
    if (!isMember)
      continue;
    members.insert(&op);
    joined.insert(&op);
    for (Value operand : op.getOperands())
      if (Operation *def = operand.getDefiningOp();
          def && members.contains(def) && level.lookup(def) == own)
        joined.unionSets(def, &op);
  }
  llvm::MapVector<Operation *, SmallVector<llir::KernelOp>> groups;
  for (Operation *op : members)
    groups[joined.getLeaderValue(op)].push_back(cast<llir::KernelOp>(op));
  // A map may belong to its own group and also have been added to a group that
  // reads it.
  SmallPtrSet<Operation *, 16> gone;
  for (auto &[leader, kernels] : groups) {
    llvm::erase_if(
        kernels, [&](llir::KernelOp kernel) { return gone.contains(kernel); });
    if (kernels.size() < 2)
      continue;
    addMaps(kernels, [&](Operation *op) { return level.lookup(op) == 0; });
    if (join(kernels, rows))
      gone.insert(kernels.begin(), kernels.end());
  }
}

void JoinRows::runOnOperation() {
  func::FuncOp func = getOperation();
  if (func.isDeclaration())
    return;
  device = createTarget(func, target, arch, machine, workers);
  if (!device)
    return signalPassFailure();
  MachineModel model = device->getMachine();
  if (!model.getChipBytes() && !model.sharedBytes)
    return;
  std::vector<Expr> all;
  for (auto kernel : func.getBody().front().getOps<llir::KernelOp>())
    if (std::optional<Expr> rows = getRows(kernel);
        rows && !llvm::is_contained(all, *rows))
      all.push_back(*rows);
  for (const Expr &rows : all)
    joinOver(rows, func);
}
