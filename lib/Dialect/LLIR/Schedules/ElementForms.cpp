//===- ElementForms.cpp - Every element for itself ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The index space of the results is cut, and each element is computed with all
// that it needs: maps and gathers, and any other kernel whose results have one
// shape. A reduction or product inside has the form `element`: its loop runs
// once for each element that reads it, `lanes` at a time where the element is
// the same in all lanes around it, with `unroll` accumulators.
//
//===----------------------------------------------------------------------===//

#include "Forms.h"
#include "Threads.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;

static bool fits(KernelOp) { return true; }

/// Accumulators for each operand of a reduction inside an element.
static constexpr int64_t kUnrollOfOperand = 2;

/// Where all reductions walk along memory, a team takes each element; else a
/// thread does, or a vector of elements.
static LoopCaseAttr
proposeThreads(KernelAnalysis &a, const Domain &domain,
               MutableArrayRef<ReductionOpInterface> reductions,
               const MachineModel &machine) {
  constexpr int64_t kVectorsEach = 4, kMostRounds = 4;
  CaseBuilder c(a.kernel.getContext(), machine);
  std::optional<int64_t> count =
      product({domain.extents.begin(), domain.extents.end()}).asConstant();
  SmallVector<AlongReduced> along;
  for (ReductionOpInterface op : reductions)
    along.push_back(findAlongReduced(a, op, domain.index, machine));
  auto vectorsOf = [&](size_t i) -> std::optional<int64_t> {
    std::optional<int64_t> n = reductions[i].getReducedExtent().asConstant();
    return n ? std::optional<int64_t>(llvm::divideCeil(*n, along[i].lanes)) : n;
  };
  unsigned lanes = 1;
  if (reductions.empty()) {
    Accesses accesses(a);
    for (auto [i, v] : llvm::enumerate(getYielded(a.kernel))) {
      accesses.addReads(v, domain.index);
      accesses.addResult(i, domain.index);
    }
    if (!domain.dims.empty())
      lanes = accesses.chooseLanes(domain.dims.back(), domain.extents.back(),
                                   machine);
    // A short kernel needs threads more than vectors.
    while (lanes > 1 && count && *count / lanes < (1 << 14))
      lanes /= 2;
  } else if (llvm::all_of(along,
                          [](const AlongReduced &r) { return r.isAlong; })) {
    // The team of a warp at most: elements are many.
    c.team = std::min(machine.warpThreads,
                      chooseTeam(vectorsOf(0), kVectorsEach, machine));
  }
  for (auto [i, group] : llvm::enumerate(domain.groups))
    c.grid.push_back(i + 1 < domain.groups.size()
                         ? c.axis(group)
                         : c.axis(group, lanes, lanes));
  for (auto [i, op] : llvm::enumerate(reductions)) {
    unsigned width = c.team > 1 ? along[i].lanes : 1;
    int64_t unroll = c.team > 1
                         ? chooseRounds(vectorsOf(i), c.team, kMostRounds)
                         : chooseUnroll(op.getReducedExtent(), 1, kMostRounds);
    c.addForm(op, "element", {{"lanes", width}, {"unroll", unroll}});
  }
  std::optional<int64_t> total;
  if (count)
    total = *count * c.team / lanes;
  c.threads = chooseThreads(total, c.team, machine);
  return c.build();
}

static SmallVector<LoopCaseAttr>
propose(KernelOp kernel, const KernelAnalysis::SymbolRanges &ranges,
        const MachineModel &machine, SmallVectorImpl<Reporter::Arg> &why) {
  KernelAnalysis a(kernel, ranges);
  SmallVector<Expr> extents = getResultExtents(kernel, 0);
  for (Value result : kernel.getResults())
    if (hlir::getExtents(result) != extents) {
      why.push_back({"no elements because", "the results have not one shape"});
      return {};
    }
  Domain domain = findDomain(
      a, extents, [&](const Index &index, function_ref<void(const Leaf &)> v) {
        for (Value yielded : getYielded(kernel))
          a.walk(yielded, index, v);
        v({nullptr, a.getResultAddress(0, index)});
      });
  if (machine.blockThreads) {
    SmallVector<ReductionOpInterface> reductions;
    for (Operation &op : kernel.getBody().front().without_terminator())
      if (auto reduction = dyn_cast<ReductionOpInterface>(op))
        reductions.push_back(reduction);
      else if (hasLoops(&op))
        return {};
    why.push_back({"form", "each element for itself"});
    return {proposeThreads(a, domain, reductions, machine)};
  }
  unsigned most = machine.getLanes(32), lanes = 1;
  CaseBuilder c(kernel.getContext(), machine);
  for (auto [i, group] : llvm::enumerate(domain.groups)) {
    if (i + 1 < domain.groups.size()) {
      c.grid.push_back(c.axis(group));
      continue;
    }
    int64_t block = chooseBlock(domain.extents[i], machine.unitElements);
    lanes = block == 1 ? 1 : chooseLanes(domain.extents[i], most);
    c.grid.push_back(c.axis(group, block, lanes));
  }
  // Ops that are the same in all lanes wherever they are read.
  llvm::MapVector<Operation *, bool> varies;
  for (Value yielded : getYielded(kernel))
    a.walk(
        yielded, domain.index, [](const Leaf &) {},
        [&](Value v, const Index &index) {
          Operation *op = v.getDefiningOp();
          if (hasLoops(op))
            varies[op] |=
                lanes > 1 && a.variesOver(v, index, domain.dims.back());
        });
  for (auto [op, overLanes] : varies) {
    auto reduction = dyn_cast<ReductionOpInterface>(op);
    if (!reduction) {
      why.push_back({"no elements because", "its loops are not a reduction's"});
      return {};
    }
    Expr extent = reduction.getReducedExtent();
    unsigned width = overLanes ? 1 : chooseLanes(extent, most);
    c.addForm(
        op, "element",
        {{"lanes", width},
         {"unroll", chooseUnroll(extent, width,
                                 kUnrollOfOperand * op->getNumOperands())}});
  }
  why.push_back({"form", "each element for itself"});
  return {c.build()};
}

static LoopWork count(KernelOp kernel,
                      const KernelAnalysis::SymbolRanges &ranges,
                      LoopCaseAttr loopCase, const MachineModel &machine) {
  KernelAnalysis a(kernel, ranges);
  KernelSizes sizes(a);
  LoopWork work;
  work.units = sizes.countUnits(loopCase, getResultExtents(kernel, 0));
  work.operations = sizes.countNested() * countScalarLoss(loopCase, machine);
  work.memoryBytes = sizes.countMemory();
  return work;
}

static LogicalResult verify(KernelOp kernel,
                            const KernelAnalysis::SymbolRanges &ranges,
                            LoopCaseAttr loopCase, const MachineModel &machine,
                            function_ref<InFlightDiagnostic()> emitError) {
  SmallVector<Expr> extents = getResultExtents(kernel, 0);
  for (Value result : kernel.getResults())
    if (hlir::getExtents(result) != extents)
      return emitError() << "computes element by element, but the results have "
                            "not one shape";
  if (!loopCase.getStream().empty())
    return emitError() << "has a stream, which the form element does not take";
  if (failed(verifyAxes(loopCase.getGrid(), extents, 0, emitError)))
    return failure();
  for (LoopFormAttr form : loopCase.getForms()) {
    Operation *op = &*std::next(kernel.getBody().front().begin(), form.getOp());
    if (!isa<ReductionOpInterface>(op))
      return emitError() << "gives op" << form.getOp() << ", " << describe(op)
                         << ", the form " << form.getForm().getValue();
    if (failed(verifyNumbers(form, {{"lanes", 1, 64}, {"unroll", 1, 16}},
                             emitError)))
      return failure();
  }
  return success();
}

static const StringRef kNames[] = {"element"};
const LoopForms llir::kElementForms = {"elements", kNames, fits,
                                       propose,    count,  verify};
