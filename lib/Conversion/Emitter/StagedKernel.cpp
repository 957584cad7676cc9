//===- StagedKernel.cpp - Kernels of several anchors ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel of several anchors. A work item is a block of the parallel space. It
// computes each anchor for the whole block, one after the other
// (StageAnalysis), and keeps in scratch what a later stage reads.
//
//===----------------------------------------------------------------------===//

#include "StageLoops.h"
#include "luminal/Conversion/ScalarMath.h"
#include "luminal/Dialect/LLIR/Schedules/Schedules.h"

using namespace luminal;
using namespace mlir;

namespace {
class StagedKernel {
public:
  StagedKernel(Emitter &e, const WorkLoop &loop) : e(e), loop(loop), s(e) {}

  WorkShape emit();

private:
  void setBases();
  void emitProductStage(size_t i);
  void emitRowStage(size_t i);
  void emitRow(size_t i);
  void emitReduction(llir::RowReductionOpInterface op);

  bool isLast(size_t i) const { return i + 1 == s.stages.size(); }

  Emitter &e;
  const WorkLoop &loop;
  StageAnalysis s;
  SmallVector<IndexRange> ranges;
  /// Lanes of the loops over the elements of a row.
  unsigned lanes = 1;
  /// Scratch bytes of stages besides kept values, and scalar operations per
  /// work item.
  Expr stageBytes = 0, cost = 0;
};
} // namespace

/// Assigns addresses to a block's kept values, from the start of the worker's
/// scratch.
void StagedKernel::setBases() {
  for (size_t i = 0; i < s.stages.size(); ++i)
    for (const KeptValue &kept : s.getKept(i))
      e.setBase(kept.v,
                e.address(loop.scratch, e.value(kept.offset), e.b.getI8Type()));
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

void StagedKernel::emitProductStage(size_t i) {
  llir::ProductOpInterface op = s.stages[i].product;
  llir::LoopFormAttr form = e.loopCase.getForm(llir::getPosition(op));
  ProductAnalysis p = s.analyze(op);
  StageProduct product(e, s, ranges, p, form);
  product.loops.setScratch(
      e.address(loop.scratch, e.value(s.keptBytes), e.b.getI8Type()));
  Value result = op->getResult(0);
  if (isLast(i) && s.endsInProduct())
    product.loops.finish = [&](Value sum) {
      finishProduct(e, p, s.results, sum);
    };
  else
    product.loops.finish = [&](Value sum) {
      Value element = emitCast(e.b, sum, p.accumulator, getElementType(result));
      e.keep(result, s.getPlace(result)(p.index), element);
    };
  product.emit();
  stageBytes = Expr::max(stageBytes, product.loops.getScratchBytes());
  cost = cost + product.getCost();
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

void StagedKernel::emitReduction(llir::RowReductionOpInterface op) {
  // The kept value that this reduction is the first to read.
  Value kept;
  for (Value operand : op->getOperands())
    if (s.isKeptOnTheWay(operand) && !e.isPlaced(operand))
      kept = operand;
  if (!kept) {
    e.emit(op->getResult(0), s.index);
    return;
  }
  KernelAnalysis::Place place = s.getPlace(kept);
  llir::ReductionWalk walk = {e.loopCase.getForm(llir::getPosition(op)), {op}};
  emitRowReductions(e, walk, s.index, [&](const Index &at) {
    e.keep(kept, place(at), e.emit(kept, at));
  });
  s.place(kept);
}

void StagedKernel::emitRow(size_t i) {
  for (llir::RowReductionOpInterface op : s.stages[i].reductions) {
    emitReduction(op);
    cost = cost + op.getReducedExtent() * getElementCost(e.kernel);
  }
  if (isLast(i))
    return emitRowResults(e, s, lanes);
  for (const KeptValue &kept : s.getKept(i))
    if (getRank(kept.v) == s.extents.size())
      e.keep(kept.v, s.getPlace(kept.v)(s.index), e.emit(kept.v, s.index));
}

void StagedKernel::emitRowStage(size_t i) {
  forEachRow(e, s, ranges, [&] { emitRow(i); });
}

//===----------------------------------------------------------------------===//
// Work items
//===----------------------------------------------------------------------===//

WorkShape StagedKernel::emit() {
  e.clearPlaces();
  bool fits = s.find() && s.apply(e.loopCase);
  assert(fits && "a schedule that was not verified");
  (void)fits;
  for (llir::LoopFormAttr form : e.loopCase.getForms())
    lanes = std::max<int64_t>(lanes, form.getNumber("lanes", 1));
  Grid grid = getGrid(s);
  forEachUnit(e, s, grid, loop, [&](SmallVector<IndexRange> ofUnit) {
    ranges = std::move(ofUnit);
    setBases();
    for (auto [i, stage] : llvm::enumerate(s.stages)) {
      if (stage.product)
        emitProductStage(i);
      else
        emitRowStage(i);
      s.placeKept(i);
    }
  });
  e.clearPlaces();
  return {grid.countUnits(), grid.getUnitLength() * Expr::max(1, cost),
          s.keptBytes + stageBytes};
}

WorkShape luminal::emitStages(Emitter &e, const WorkLoop &loop) {
  return StagedKernel(e, loop).emit();
}
