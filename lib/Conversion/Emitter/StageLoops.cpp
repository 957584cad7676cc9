//===- StageLoops.cpp - Loops over the rows of a work item ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "StageLoops.h"

using namespace luminal;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

StageProduct::StageProduct(Emitter &e, const StageAnalysis &s,
                           ArrayRef<IndexRange> ranges, ProductAnalysis &p,
                           llir::LoopFormAttr form)
    : e(e), s(s), ranges(ranges), p(p), form(form),
      loops(e, p, form, getRowBlock(), getColumnBlock()) {
  if (form.getWord("pack") == "runs")
    p.findRuns();
}

int64_t StageProduct::getRowBlock() const {
  const StageAxis *axis = s.getAxis(p.rows);
  return axis ? axis->block : 1;
}

int64_t StageProduct::getColumnBlock() const {
  const StageAxis *axis = s.getAxis(p.columns);
  return axis ? axis->block : form.getNumber("panel", 0);
}

/// Emits loops over the batch dims from `batch` on.
void StageProduct::emitBatch(size_t batch, function_ref<void()> body) {
  if (batch == p.batch.size())
    return body();
  unsigned position = p.batch[batch].front(), dim = p.batchDims[batch];
  bool isParallel = position < s.extents.size();
  const StageAxis *axis = isParallel ? s.getAxis(position) : nullptr;
  if (axis && axis->block == 1) {
    e.setDim(dim, e.value(s.index[position]));
    return emitBatch(batch + 1, body);
  }
  IndexRange range =
      axis ? getRange(*axis)
           : IndexRange{e.constant(0), e.value(p.batchExtents[batch])};
  e.forLoop(range.lo, range.hi, e.constant(1), [&](Value at) {
    e.setDim(dim, at);
    emitBatch(batch + 1, body);
  });
}

void StageProduct::emit(std::optional<IndexRange> columns) {
  const StageAxis *columnAxis = s.getAxis(p.columns);
  std::vector<Expr> extents(p.batchExtents.begin(), p.batchExtents.end());
  extents.insert(extents.end(), {p.rows.extent, p.columns.extent});
  Emitter::Repeated repeated(e, std::move(extents));
  emitBatch(0, [&] {
    Value zero = e.constant(0);
    IndexRange rows = getRows();
    loops.prepareRows(rows);
    if (columnAxis)
      return loops.emit(rows, getRange(*columnAxis));
    IndexRange all =
        columns ? *columns : IndexRange{zero, e.value(p.columns.extent)};
    int64_t panel = getColumnBlock();
    if (!panel)
      return loops.emit(rows, all);
    Value step = e.constant(panel);
    e.forLoop(all.lo, all.hi, step, [&](Value lo) {
      loops.emit(rows, {lo, e.minS(e.add(lo, step), all.hi)});
    });
  });
}

Expr StageProduct::getCost() const {
  Expr operations = p.op.getReducedExtent() * p.columns.extent;
  for (auto [batch, extent] : llvm::zip(p.batch, p.batchExtents))
    if (batch.front() >= s.extents.size())
      operations = operations * extent;
  return operations;
}

//===----------------------------------------------------------------------===//
// Work items and rows
//===----------------------------------------------------------------------===//

Grid luminal::getGrid(const StageAnalysis &s) {
  SmallVector<Axis> axes;
  for (const StageAxis &axis : s.axes)
    axes.push_back({axis.dim, axis.extent, axis.block, 1});
  return Grid(axes);
}

SmallVector<IndexRange> luminal::setUnit(Emitter &e, const StageAnalysis &s,
                                         const Grid &grid, Value unit) {
  SmallVector<IndexRange> ranges = grid.setUnit(e, unit);
  for (auto [axis, range] : llvm::zip_equal(s.axes, ranges))
    if (range.lo)
      e.setDim(axis.begin, range.lo);
  return ranges;
}

void luminal::forEachUnit(Emitter &e, const StageAnalysis &s, const Grid &grid,
                          const WorkLoop &loop,
                          function_ref<void(SmallVector<IndexRange>)> body) {
  Emitter::Repeated repeated(e, {s.extents.begin(), s.extents.end()});
  e.forLoop(loop.begin, loop.end, loop.step,
            [&](Value unit) { body(setUnit(e, s, grid, unit)); });
}

void luminal::forEachRow(Emitter &e, const StageAnalysis &s,
                         ArrayRef<IndexRange> ranges,
                         function_ref<void()> body) {
  std::function<void(size_t)> nest = [&](size_t axis) {
    if (axis == s.axes.size())
      return body();
    if (!ranges[axis].lo)
      return nest(axis + 1);
    e.forLoop(ranges[axis].lo, ranges[axis].hi, e.constant(1), [&](Value at) {
      e.setDim(s.axes[axis].dim, at);
      nest(axis + 1);
    });
  };
  nest(0);
}

void luminal::emitRowResults(Emitter &e, const StageAnalysis &s,
                             unsigned lanes) {
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
      // The body is emitted twice: for whole vectors and for the remainder.
      isDone = before;
      write(at, [&](Value other) {
        return getRank(other) == at.size() &&
               hlir::getExtents(other).back() == extent;
      });
    });
  }
}
