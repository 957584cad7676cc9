//===- ProductKernel.cpp - Matrix products on a CPU -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A matrix product on a CPU core. The grid divides rows and columns into
// blocks; a work item computes one block and emits the epilogue on each
// finished tile. With `groups` (columns depend on a key of the row), a work
// item computes the groups that begin in its range of rows.
//
//===----------------------------------------------------------------------===//

#include "ProductEmitter.h"
#include "RowGroups.h"
#include "luminal/Conversion/ScalarMath.h"
#include "luminal/Dialect/LLIR/Schedules/Schedules.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace luminal;
using namespace mlir;

namespace {
class ProductKernel {
public:
  ProductKernel(Emitter &e, const WorkLoop &loop)
      : e(e), loop(loop),
        p(e, *e.kernel.getBody().getOps<llir::ProductOpInterface>().begin()),
        form(e.loopCase.getForm(llir::getPosition(p.op))) {}

  WorkShape emit();

private:
  void findAccesses();
  SmallVector<GemmLoops::Ahead> findAhead(Value row, Value column);
  Grid makeGrid(ArrayRef<ProductAnalysis::Role> roles);
  Value isFresh(const Grid &grid, Value unit, std::optional<size_t> axis,
                int64_t block, const ProductSide &side);
  IndexRange getRange(ArrayRef<IndexRange> ranges, std::optional<size_t> axis,
                      int64_t block, const ProductSide &side);

  Emitter &e;
  const WorkLoop &loop;
  ProductAnalysis p;
  llir::LoopFormAttr form;
  /// The axes of the rows and columns in the grid, and how many of their
  /// indices a work item has; 0: all.
  std::optional<size_t> rowAxis, columnAxis;
  int64_t rowBlock = 0, columnBlock = 0;
  /// An operand or result that the epilogue accesses contiguously along the
  /// columns, with a separate line for each row: its position, and the distance
  /// from row to row.
  struct Access {
    unsigned buffer;
    Type element;
    Expr position, stride;
    bool isWritten;
  };
  SmallVector<Access> accesses;
};
} // namespace

void luminal::finishProduct(Emitter &e, const ProductAnalysis &p,
                            ArrayRef<MovedResult> results, Value sum) {
  Value product = p.op->getResult(0);
  Value element = emitCast(e.b, sum, p.accumulator, getElementType(product));
  e.remember(product, p.index, element);
  SmallVector<Value> values;
  for (const MovedResult &result : results)
    values.push_back(e.emit(result.source, p.index));
  for (auto [i, v] : llvm::enumerate(values))
    e.store(i, results[i].getIndex(e, p.index), v);
}

/// More rows than any product has.
static constexpr int64_t kAllRows = int64_t(1) << 62;

/// The number of indices of a side in a work item.
static Expr clampToBlock(const ProductSide &side, int64_t block) {
  return block ? Expr::min(side.extent, block) : side.extent;
}

WorkShape ProductKernel::emit() {
  SmallVector<ProductAnalysis::Role> roles;
  bool fits = p.findResults() &&
              p.applyGrid(e.loopCase, form.getWord("columns"), roles);
  assert(fits && "a schedule that was not verified");
  (void)fits;
  p.joinDims();
  if (form.getWord("pack") == "runs")
    p.findRuns();
  if (form.getWord("pack") == "windows") {
    Decision found = p.findWindows();
    assert(found && "a schedule that was not verified");
    (void)bool(found);
  }
  Grid grid = makeGrid(roles);
  ProductEmitter product(e, p, form, rowBlock, columnBlock);
  product.setScratch(loop.scratch);
  product.finish = [&](Value sum) { finishProduct(e, p, p.results, sum); };
  if (form.getWord("ahead") == "results") {
    findAccesses();
    product.findAhead = [&](Value row, Value column) {
      return findAhead(row, column);
    };
  }
  std::vector<Expr> extents(p.batchExtents.begin(), p.batchExtents.end());
  extents.insert(extents.end(), {p.rows.extent, p.columns.extent});
  Emitter::Repeated repeated(e, std::move(extents));
  e.forLoop(loop.begin, loop.end, loop.step, [&](Value unit) {
    SmallVector<IndexRange> ranges = grid.setUnit(e, unit);
    IndexRange rows = getRange(ranges, rowAxis, rowBlock, p.rows);
    IndexRange columns = getRange(ranges, columnAxis, columnBlock, p.columns);
    if (!p.hasGroups()) {
      product.prepareRows(
          rows, isFresh(grid, unit, columnAxis, columnBlock, p.columns));
      return product.emit(rows, columns,
                          isFresh(grid, unit, rowAxis, rowBlock, p.rows));
    }
    emitGroups(e, p, e.team, rows, rowBlock ? rowBlock : kAllRows,
               [&](IndexRange group) {
                 product.prepareRows(group);
                 product.emit(group, columns, /*isFresh=*/{});
               });
  });
  return {grid.countUnits(),
          clampToBlock(p.rows, rowBlock) *
              clampToBlock(p.columns, columnBlock) * p.kExtent,
          product.getScratchBytes()};
}

/// Finds the epilogue's accesses for prefetching; the operands of the product
/// do not count.
void ProductKernel::findAccesses() {
  auto add = [&](unsigned buffer, Value v, const Expr &position,
                 bool isWritten) {
    std::optional<Expr::Linear> row = position.linearIn(p.rows.dim),
                                column = position.linearIn(p.columns.dim);
    if (row && column && column->stride.isConstant(1) &&
        !row->stride.isConstant(0))
      accesses.push_back(
          {buffer, getElementType(v), position, row->stride, isWritten});
  };
  Value product = p.op->getResult(0);
  e.place(product, [](const Index &) { return Expr(0); });
  for (auto [i, result] : llvm::enumerate(p.results)) {
    e.walk(result.source, p.index, [&](const Leaf &leaf) {
      if (leaf.argument)
        add(leaf.argument.getArgNumber(), leaf.argument, leaf.address,
            /*isWritten=*/false);
    });
    add(e.kernel.getInputs().size() + i, e.kernel.getResults()[i],
        e.getResultAddress(i, result.getIndex(e, p.index)),
        /*isWritten=*/true);
  }
  e.clearPlaces();
}

SmallVector<GemmLoops::Ahead> ProductKernel::findAhead(Value row,
                                                       Value column) {
  e.setDim(p.rows.dim, row);
  e.setDim(p.columns.dim, column);
  SmallVector<GemmLoops::Ahead> ahead;
  int64_t columns = form.getNumber("vectors", 1) * form.getNumber("lanes", 1);
  for (const Access &access : accesses) {
    Type storage = getStorageType(access.element);
    int64_t bytes = storage.getIntOrFloatBitWidth() / 8;
    ahead.push_back({e.address(e.getBuffer(access.buffer),
                               e.value(access.position), storage),
                     e.mul(e.value(access.stride), e.constant(bytes)),
                     columns * bytes, access.isWritten});
  }
  return ahead;
}

Grid ProductKernel::makeGrid(ArrayRef<ProductAnalysis::Role> roles) {
  SmallVector<Axis> axes;
  size_t batch = 0;
  for (auto [axis, role] : llvm::zip_equal(e.loopCase.getGrid(), roles)) {
    switch (role) {
    case ProductAnalysis::Role::Batch:
      axes.push_back(
          {p.batchDims[batch], p.batchExtents[batch], axis.getBlock(), 1});
      ++batch;
      break;
    case ProductAnalysis::Role::Rows:
      rowAxis = axes.size(), rowBlock = axis.getBlock();
      axes.push_back({p.rows.dim, p.rows.extent, rowBlock, 1});
      break;
    case ProductAnalysis::Role::Columns:
      columnAxis = axes.size(), columnBlock = axis.getBlock();
      axes.push_back({p.columns.dim, p.columns.extent, columnBlock, 1});
      break;
    }
  }
  return Grid(std::move(axes));
}

/// Whether (i1) the block of the other side differs from that of the previous
/// work item of this worker; null if unknown.
Value ProductKernel::isFresh(const Grid &grid, Value unit,
                             std::optional<size_t> axis, int64_t block,
                             const ProductSide &side) {
  bool isLast = axis && *axis + 1 == grid.axes.size();
  if (!isLast || block == 0 || getConstantIntValue(loop.step) != 1)
    return {};
  Value blocks =
      e.value(block == 1 ? side.extent : Expr::ceilDiv(side.extent, block));
  auto areEqual = [&](Value x, Value y) {
    return arith::CmpIOp::create(e.b, arith::CmpIPredicate::eq, x, y);
  };
  return arith::OrIOp::create(e.b, areEqual(unit, loop.begin),
                              areEqual(e.remU(unit, blocks), e.constant(0)));
}

/// The indices of a side in a work item; a side without an axis has one.
IndexRange ProductKernel::getRange(ArrayRef<IndexRange> ranges,
                                   std::optional<size_t> axis, int64_t block,
                                   const ProductSide &side) {
  if (!axis)
    return {e.constant(0), e.value(side.extent)};
  if (block != 1)
    return ranges[*axis];
  Value at = e.value(Expr::dim(side.dim));
  return {at, e.add(at, e.constant(1))};
}

WorkShape luminal::emitProduct(Emitter &e, const WorkLoop &loop) {
  return ProductKernel(e, loop).emit();
}
