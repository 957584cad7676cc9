//===- Parts.cpp - Split reductions ---------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Split-k: a work item is one part of the reduced dim, for one block of the
// grid. It writes its states to memory. The work item that finishes last for a
// block merges the states of all parts, in their order, and continues. A
// counter for each block finds out which one is last.
//
//===----------------------------------------------------------------------===//

#include "Forms.h"

#include <cmath>

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;

/// Alignment in bytes of each value of a state.
static constexpr int64_t kStateAlignment = 64;

SmallVector<ReductionOpInterface> llir::getFirstReductions(KernelOp kernel) {
  SmallVector<ReductionOpInterface> first;
  // Ops that depend on an op with loops.
  llvm::SmallPtrSet<Operation *, 16> later;
  for (Operation &op : kernel.getOps()) {
    bool isLater = llvm::any_of(op.getOperands(), [&](Value v) {
      Operation *def = v.getDefiningOp();
      return def && (hasLoops(def) || later.contains(def));
    });
    if (isLater)
      later.insert(&op);
    else if (auto reduction = dyn_cast<ReductionOpInterface>(op))
      first.push_back(reduction);
  }
  return first;
}

CutReductions llir::getCutReductions(KernelOp kernel, LoopCaseAttr loopCase) {
  CutReductions cut;
  cut.parts = loopCase.getParts();
  if (cut.parts == 1)
    return cut;
  for (const ReductionWalk &walk :
       getWalks(getFirstReductions(kernel), loopCase))
    llvm::append_range(cut.ops, walk.ops);
  assert(!cut.ops.empty() && "a schedule that was not verified");
  SmallVector<Expr> space = hlir::getExtents(cut.ops.front()->getResult(0));
  Expr elements = product({space.begin(), space.end()});
  for (ReductionOpInterface op : cut.ops)
    for (Type type : op.getStateTypes()) {
      cut.places.push_back(cut.bytes);
      int64_t size = llvm::divideCeil(type.getIntOrFloatBitWidth(), 8);
      cut.bytes = cut.bytes + Expr::ceilDiv(elements * (cut.parts * size),
                                            kStateAlignment) *
                                  kStateAlignment;
    }
  for (LoopAxisAttr axis : loopCase.getGrid()) {
    Expr extent = 1;
    for (unsigned dim : axis.getDims())
      extent = extent * space[dim];
    cut.blocks =
        cut.blocks * (axis.getBlock() ? Expr::ceilDiv(extent, axis.getBlock())
                                      : Expr::min(1, extent));
  }
  return cut;
}

Expr llir::getPartExtent(const Expr &extent, int64_t parts, int64_t step) {
  return Expr::ceilDiv(extent, parts * step) * step;
}

Expr llir::getIndicator(LoopCaseAttr loopCase) {
  Expr holds = 1;
  if (!loopCase.getGuard())
    return holds;
  for (auto [i, quantity] : llvm::enumerate(loopCase.getGuard().getResults())) {
    int64_t lo = loopCase.getBounds()[2 * i];
    int64_t hi = loopCase.getBounds()[2 * i + 1];
    // Bounds beyond all quantities would overflow the difference.
    constexpr int64_t kFar = int64_t(1) << 62;
    if (lo > -kFar)
      holds = holds * Expr::min(1, Expr::max(0, quantity - lo + 1));
    if (hi < kFar)
      holds = holds * Expr::min(1, Expr::max(0, Expr(hi + 1) - quantity));
  }
  return holds;
}

static Workspace countWorkspace(KernelOp kernel, LoopCaseAttr loopCase) {
  CutReductions cut = getCutReductions(kernel, loopCase);
  return {cut.bytes, cut.blocks * kCounterBytes};
}

std::optional<Workspace>
llir::getWorkspace(KernelOp kernel,
                   const KernelAnalysis::SymbolRanges &ranges) {
  std::optional<Workspace> workspace;
  if (!kernel.getLoops())
    return workspace;
  for (LoopCaseAttr loopCase : kernel.getLoops()->getCases()) {
    const LoopForms *forms =
        findForms(kernel, loopCase, [&] { return kernel.emitOpError(); });
    assert(forms && "a schedule that was not verified");
    Workspace own;
    if (forms->countWorkspace)
      own = forms->countWorkspace(kernel, ranges, loopCase);
    else if (loopCase.getParts() > 1)
      own = countWorkspace(kernel, loopCase);
    if (loopCase.getParts() == 1 && own.counters.isConstant(0))
      continue;
    Expr applies = getIndicator(loopCase);
    if (!workspace)
      workspace.emplace();
    workspace->states = Expr::max(workspace->states, applies * own.states);
    workspace->counters =
        Expr::max(workspace->counters, applies * own.counters);
  }
  return workspace;
}

//===----------------------------------------------------------------------===//
// Where parts pay
//===----------------------------------------------------------------------===//

/// Work items for each worker, for load balance.
static constexpr int64_t kUnitsEach = 4;
/// A work item that is cut has the work of `kGrainsOfUnit` grains, and a part
/// at least 1/`kPartsOfGrain` of a grain: writing and counting its states is
/// cheap in comparison.
static constexpr int64_t kGrainsOfUnit = 2, kPartsOfGrain = 16;
/// Parts of a dim of unknown extent.
static constexpr int64_t kPartsOfUnknown = 64;

/// Returns what remains to be done after the parts were merged, by one worker.
static StringRef findRest(KernelOp kernel) {
  SmallVector<ReductionOpInterface> first = getFirstReductions(kernel);
  size_t rank = getRank(first.front()->getResult(0));
  for (Operation &op : kernel.getOps())
    if (hasLoops(&op) && !llvm::is_contained(first, &op))
      return "a later pass needs their results";
  for (Value v : getYielded(kernel))
    if (getRank(v) != rank)
      return "the elements need their results";
  return "";
}

PartsChoice llir::chooseParts(
    KernelOp kernel, const KernelAnalysis::SymbolRanges &ranges,
    const Expr &units, const Expr &extent, int64_t work, int64_t atOnce,
    const MachineModel &machine, SmallVectorImpl<Reporter::Arg> &why,
    std::optional<int64_t> unitsEach, std::optional<int64_t> ownGrain) {
  PartsChoice choice;
  auto refuse = [&](StringRef reason) {
    why.push_back({"no parts because", reason.str()});
    return choice;
  };
  Assumptions symbols(ranges);
  std::optional<int64_t> n = extent.asConstant(), count = units.asConstant();
  if (symbols.provablyLessEqual(atOnce, units))
    return refuse("there are work items for all workers");
  // Elements that are index arithmetic cost next to nothing.
  work = std::max<int64_t>(1, work);
  int64_t grain = ownGrain.value_or(machine.grain);
  int64_t ofUnit = llvm::divideCeil(kGrainsOfUnit * grain, work);
  int64_t ofPart = llvm::divideCeil(grain, kPartsOfGrain * work);
  std::optional<int64_t> most = symbols.upperBound(extent);
  if (most && *most < ofUnit)
    return refuse("a work item has too little work");
  if (StringRef rest = findRest(kernel); !rest.empty())
    return refuse(rest);
  int64_t parts = llvm::divideCeil(unitsEach.value_or(kUnitsEach) * atOnce,
                                   std::max<int64_t>(1, count.value_or(1)));
  parts = std::min(parts, n ? *n / ofPart : kPartsOfUnknown);
  // Merging the parts must not take longer than reducing one.
  if (n)
    parts = std::min(parts, int64_t(std::sqrt(double(*n))));
  if (parts < 2)
    return refuse("a part would have too little work");
  choice.parts = parts;
  why.push_back({"parts", parts});
  if (int64_t least = std::max(ofUnit, parts * ofPart); !n)
    choice.atLeast.push_back({extent, least});
  if (!count)
    choice.atMost.push_back({units, atOnce - 1});
  return choice;
}

SmallVector<LoopCaseAttr> llir::buildWithParts(const CaseBuilder &c,
                                               const PartsChoice &choice) {
  SmallVector<LoopCaseAttr> cases;
  if (choice.parts > 1) {
    CaseBuilder cut = c;
    cut.parts = choice.parts;
    cut.atLeast = choice.atLeast;
    cut.atMost = choice.atMost;
    // No work item sees a whole row that it could keep.
    llvm::erase_if(cut.forms, [](LoopFormAttr form) {
      return form.getForm().getValue() == "keep";
    });
    cases.push_back(cut.build());
  }
  if (choice.parts == 1 || !choice.atLeast.empty() || !choice.atMost.empty())
    cases.push_back(c.build());
  return cases;
}
