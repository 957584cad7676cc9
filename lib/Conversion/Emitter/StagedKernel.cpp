//===- StagedKernel.cpp - Kernels of several anchors ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A unit of work is a block of the parallel space. It computes each anchor for
// all of its block, one after the other (StageAnalysis), and what a later stage
// reads stays in scratch.
//
//===----------------------------------------------------------------------===//

#include "ProductEmitter.h"
#include "luminal/Conversion/ScalarMath.h"
#include "luminal/Dialect/LLIR/Analysis/StageAnalysis.h"
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
  void emitBatch(ProductAnalysis &p, size_t batch, function_ref<void()> body);
  void emitRowStage(size_t i);
  void emitRow(size_t i);
  void emitReduction(llir::RowReductionOpInterface op);
  void emitResults();

  bool isLast(size_t i) const { return i + 1 == s.stages.size(); }

  /// The indices of a unit along an axis; null where it has one.
  IndexRange getRange(const StageAxis &axis) const {
    return ranges[&axis - s.axes.data()];
  }

  Emitter &e;
  const WorkLoop &loop;
  StageAnalysis s;
  SmallVector<IndexRange> ranges;
  /// Lanes of loops over the elements of a row.
  unsigned lanes = 1;
  /// What stages take besides kept values, and their operations in a unit.
  Expr stageBytes = 0, cost = 0;
};
} // namespace

/// Values of a block, placed from the start of the worker's scratch.
void StagedKernel::setBases() {
  for (size_t i = 0; i < s.stages.size(); ++i)
    for (const KeptValue &kept : s.getKept(i))
      e.setBase(kept.v,
                e.address(loop.scratch, e.value(kept.offset), e.b.getI8Type()));
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Loops over the batch dims from number `batch` on.
void StagedKernel::emitBatch(ProductAnalysis &p, size_t batch,
                             function_ref<void()> body) {
  if (batch == p.batch.size())
    return body();
  unsigned position = p.batch[batch].front(), dim = p.batchDims[batch];
  bool isParallel = position < s.extents.size();
  const StageAxis *axis = isParallel ? s.getAxis(position) : nullptr;
  if (axis && axis->block == 1) {
    e.setDim(dim, e.value(s.index[position]));
    return emitBatch(p, batch + 1, body);
  }
  IndexRange range =
      axis ? getRange(*axis)
           : IndexRange{e.constant(0), e.value(p.batchExtents[batch])};
  e.forLoop(range.lo, range.hi, e.constant(1), [&](Value at) {
    e.setDim(dim, at);
    emitBatch(p, batch + 1, body);
  });
}

void StagedKernel::emitProductStage(size_t i) {
  llir::ProductOpInterface op = s.stages[i].product;
  llir::LoopFormAttr form = e.loopCase.getForm(llir::getPosition(op));
  ProductAnalysis p = s.analyze(op);
  if (form.getWord("pack") == "runs")
    p.findRuns();
  auto getAxis = [&](const ProductSide &side) -> const StageAxis * {
    bool isParallel = !side.group.empty() && side.group[0] < s.extents.size();
    return isParallel ? s.getAxis(side.group[0]) : nullptr;
  };
  const StageAxis *rowAxis = getAxis(p.rows), *columnAxis = getAxis(p.columns);
  int64_t rowBlock = rowAxis ? rowAxis->block : 1;
  int64_t columnBlock =
      columnAxis ? columnAxis->block : form.getNumber("panel", 0);
  ProductEmitter product(e, p, form, rowBlock, columnBlock);
  product.setScratch(
      e.address(loop.scratch, e.value(s.keptBytes), e.b.getI8Type()));
  Value result = op->getResult(0);
  if (isLast(i) && s.endsInProduct())
    product.finish = [&](Value sum) { finishProduct(e, p, s.results, sum); };
  else
    product.finish = [&](Value sum) {
      Value element = emitCast(e.b, sum, p.accumulator, getElementType(result));
      e.keep(result, s.getPlace(result)(p.index), element);
    };
  std::vector<Expr> extents(p.batchExtents.begin(), p.batchExtents.end());
  extents.insert(extents.end(), {p.rows.extent, p.columns.extent});
  Emitter::Repeated repeated(e, std::move(extents));
  emitBatch(p, 0, [&] {
    Value zero = e.constant(0), one = e.constant(1);
    IndexRange rows = rowAxis ? getRange(*rowAxis) : IndexRange{zero, one};
    product.prepareRows(rows);
    if (columnAxis)
      return product.emit(rows, getRange(*columnAxis));
    Value n = e.value(p.columns.extent);
    if (!columnBlock)
      return product.emit(rows, {zero, n});
    Value step = e.constant(columnBlock);
    e.forLoop(zero, n, step, [&](Value lo) {
      product.emit(rows, {lo, e.minS(e.add(lo, step), n)});
    });
  });
  stageBytes = Expr::max(stageBytes, product.getScratchBytes());
  Expr operations = p.kExtent * p.columns.extent;
  for (auto [batch, extent] : llvm::zip(p.batch, p.batchExtents))
    if (batch.front() >= s.extents.size())
      operations = operations * extent;
  cost = cost + operations;
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

void StagedKernel::emitReduction(llir::RowReductionOpInterface op) {
  // The value that this reduction is the first to read and that is kept.
  Value kept;
  for (Value operand : op->getOperands())
    if (s.isKeptOnTheWay(operand) && !e.isPlaced(operand))
      kept = operand;
  if (!kept) {
    e.emit(op->getResult(0), s.index);
    return;
  }
  KernelAnalysis::Place place = s.getPlace(kept);
  emitRowReduction(e, op, s.index, [&](const Index &at) {
    e.keep(kept, place(at), e.emit(kept, at));
  });
  s.place(kept);
}

/// All results, those of a row first; elements of equal rows in one loop.
void StagedKernel::emitResults() {
  SmallVector<Value> sources;
  for (const MovedResult &result : s.results)
    sources.push_back(result.source);
  SmallVector<bool> isDone(sources.size(), false);
  auto write = [&](const Index &at, function_ref<bool(Value)> isHere) {
    SmallVector<std::pair<size_t, Value>> values;
    for (auto [i, v] : llvm::enumerate(sources))
      if (!isDone[i] && isHere(v)) {
        values.push_back({i, e.emit(v, at)});
        isDone[i] = true;
      }
    for (auto [i, v] : values)
      e.store(i, s.results[i].getIndex(e, at), v);
  };
  write(s.index, [&](Value v) { return getRank(v) == s.extents.size(); });
  for (auto [i, v] : llvm::enumerate(sources)) {
    if (isDone[i])
      continue;
    Expr extent = hlir::getExtents(v).back();
    unsigned column = e.addDim(extent);
    Index at = s.index;
    at.push_back(Expr::dim(column));
    Emitter::Repeated repeated(e, {extent});
    SmallVector<bool> before = isDone;
    e.laneLoop(column, e.constant(0), e.value(extent), lanes, [&] {
      // The loop's body stands twice: whole vectors, and the rest.
      isDone = before;
      write(at, [&](Value other) {
        return getRank(other) == at.size() &&
               hlir::getExtents(other).back() == extent;
      });
    });
  }
}

void StagedKernel::emitRow(size_t i) {
  for (llir::RowReductionOpInterface op : s.stages[i].reductions) {
    emitReduction(op);
    cost = cost + op.getReducedExtent() * getElementCost(e.kernel);
  }
  if (isLast(i))
    return emitResults();
  for (const KeptValue &kept : s.getKept(i))
    if (getRank(kept.v) == s.extents.size())
      e.keep(kept.v, s.getPlace(kept.v)(s.index), e.emit(kept.v, s.index));
}

void StagedKernel::emitRowStage(size_t i) {
  std::function<void(size_t)> nest = [&](size_t axis) {
    if (axis == s.axes.size())
      return emitRow(i);
    if (!ranges[axis].lo)
      return nest(axis + 1);
    e.forLoop(ranges[axis].lo, ranges[axis].hi, e.constant(1), [&](Value at) {
      e.setDim(s.axes[axis].dim, at);
      nest(axis + 1);
    });
  };
  nest(0);
}

//===----------------------------------------------------------------------===//
// Units
//===----------------------------------------------------------------------===//

WorkShape StagedKernel::emit() {
  e.clearPlaces();
  bool fits = s.find() && s.apply(e.loopCase);
  assert(fits && "a schedule that was not verified");
  (void)fits;
  for (llir::LoopFormAttr form : e.loopCase.getForms())
    lanes = std::max<int64_t>(lanes, form.getNumber("lanes", 1));
  SmallVector<Axis> axes;
  for (const StageAxis &axis : s.axes)
    axes.push_back({axis.dim, axis.extent, axis.block, 1});
  Grid grid(axes);
  Emitter::Repeated repeated(e, {s.extents.begin(), s.extents.end()});
  e.forLoop(loop.begin, loop.end, loop.step, [&](Value unit) {
    ranges = grid.setUnit(e, unit);
    for (auto [axis, range] : llvm::zip_equal(s.axes, ranges))
      if (range.lo)
        e.setDim(axis.begin, range.lo);
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
