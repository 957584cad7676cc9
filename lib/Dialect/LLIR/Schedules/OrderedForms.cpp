//===- OrderedForms.cpp - Updates in index order --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A scatter: the grid cuts the columns (all dims of the destination but the
// first), and a work item applies every update to its columns, in index order.
// So work items are independent, and updates of the same row stay in order.
//
//===----------------------------------------------------------------------===//

#include "Forms.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;

/// The columns of a work item, as a fraction of L1 in f32.
static constexpr int64_t kPartsOfCache = 8;

static bool fits(KernelOp kernel) { return bool(getOnlyScatter(kernel)); }

static Index join(Index a, const Index &b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

static SmallVector<LoopCaseAttr>
propose(KernelOp kernel, const KernelAnalysis::SymbolRanges &ranges,
        const MachineModel &machine, SmallVectorImpl<Reporter::Arg> &why) {
  ScatterOp op = getOnlyScatter(kernel);
  if (!op)
    return {};
  KernelAnalysis a(kernel, ranges);
  SmallVector<Expr> extents = hlir::getExtents(op.getDest());
  Index counts = getExtentsOf(op.getIndices());
  unsigned row = a.addDim(extents[0]);
  unsigned update = a.addDim(product(counts));
  Index updateIndex = delinearize(Expr::dim(update), counts);
  for (Expr &x : updateIndex)
    x = a.simplify(x);
  MovedResult result;
  // If the source is refused, the emitter reports the error; any grid will do
  // here.
  bool isMoved = bool(findSource(a, getYielded(kernel)[0], result));
  Domain domain = findDomain(
      a, ArrayRef(extents).drop_front(),
      [&](const Index &index, function_ref<void(const Leaf &)> visit) {
        Index at = join({Expr::dim(row)}, index);
        a.walk(op.getUpdates(), join(updateIndex, index), visit);
        a.walk(op.getDest(), at, visit);
        if (isMoved)
          visit({nullptr, a.getResultAddress(0, result.getIndex(a, at))});
      });
  CaseBuilder c(kernel.getContext(), machine);
  int64_t columns = machine.unitElements == 1
                        ? 1
                        : machine.l1Bytes / kPartsOfCache / sizeof(float);
  for (auto [i, group] : llvm::enumerate(domain.groups)) {
    SmallVector<unsigned> dims;
    for (unsigned dim : group)
      dims.push_back(dim + 1);
    if (i + 1 < domain.groups.size())
      c.grid.push_back(c.axis(dims));
    else
      c.grid.push_back(
          c.axis(dims, chooseBlock(domain.extents[i], columns),
                 chooseLanes(domain.extents[i], machine.getLanes(32))));
  }
  c.addForm(op, "ordered", {});
  why.push_back({"form", "updates in index order"});
  return {c.build()};
}

static LoopWork count(KernelOp kernel,
                      const KernelAnalysis::SymbolRanges &ranges,
                      LoopCaseAttr loopCase, const MachineModel &machine) {
  KernelAnalysis a(kernel, ranges);
  KernelSizes sizes(a);
  LoopWork work;
  ScatterOp op = getOnlyScatter(kernel);
  double loss = countScalarLoss(loopCase, machine);
  work.units = sizes.countUnits(loopCase, hlir::getExtents(op.getDest()));
  work.operations = loss * (sizes.countElements(op.getUpdates()) +
                            sizes.countOperations(op.getUpdates()) +
                            sizes.countOperations(getYielded(kernel)[0]));
  work.memoryBytes = sizes.countMemory();
  return work;
}

static LogicalResult verify(KernelOp kernel,
                            const KernelAnalysis::SymbolRanges &ranges,
                            LoopCaseAttr loopCase, const MachineModel &machine,
                            function_ref<InFlightDiagnostic()> emitError) {
  ScatterOp op = getOnlyScatter(kernel);
  if (!op)
    return emitError() << "has updates in order, but the only op with loops is "
                          "not a scatter";
  if (loopCase.getTeam() > 1)
    return emitError() << "updates in order, which a thread group of "
                       << loopCase.getTeam() << " threads cannot share";
  if (!loopCase.getStream().empty())
    return emitError() << "has a stream, which the form ordered does not take";
  if (failed(verifyScatterForms(op, loopCase, {}, emitError)))
    return failure();
  return verifyAxes(loopCase.getGrid(), hlir::getExtents(op.getDest()), 1,
                    emitError);
}

static const StringRef kNames[] = {"ordered"};
const LoopForms llir::kOrderedForms = {"ordered", kNames, fits,
                                       propose,   count,  verify};
