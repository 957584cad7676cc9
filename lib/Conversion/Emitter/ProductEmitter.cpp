//===- ProductEmitter.cpp - Loops of a matrix product on a CPU ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ProductEmitter.h"
#include "luminal/Conversion/ScalarMath.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace luminal;
using namespace mlir;

static_assert(GemmLoops::kRemainderRows == ProductAnalysis::kRemainderRows,
              "schedules are priced as loops are");

/// Dot products per row that are buffered before the code after them runs on
/// whole vectors.
static constexpr int64_t kWaiting = 64;

ProductEmitter::ProductEmitter(Emitter &e, ProductAnalysis &p,
                               llir::LoopFormAttr form, int64_t rowBlock,
                               int64_t columnBlock)
    : e(e), p(p), form(form), name(form.getForm().getValue()),
      pack(form.getWord("pack")), accumulator(p.accumulator), bytes(p.bytes),
      lanes(form.getNumber("lanes", 1)), rowBlock(rowBlock),
      columnBlock(columnBlock), copiesRows(form.getWord("copy") == "rows") {
  bool fits(p.applyForm(form));
  assert(fits && "a schedule that was not verified");
  (void)fits;
}

void ProductEmitter::prepareRows(IndexRange rows, Value isFresh) {
  if (p.rowWindows)
    return emitRowWindows(rows, isFresh);
  if (!copiesRows)
    return;
  rowCopy = alignedScratch(getOwnBytes());
  rowCopyBegin = rows.lo;
  if (!isFresh)
    return copyRows(rows);
  e.ifThen(isFresh, [&] { copyRows(rows); });
}

void ProductEmitter::emit(IndexRange rows, IndexRange columns, Value isFresh) {
  if (name == "dot")
    return emitDots(rows, columns);
  if (name == "tile")
    return emitTiled(rows.lo, rows.hi, columns.lo, columns.hi, isFresh);
  e.forLoop(rows.lo, rows.hi, e.constant(1),
            [&](Value row) { emitScaledColumns(row, columns.lo, columns.hi); });
}

Expr ProductEmitter::getRowsInUnit() const {
  return rowBlock ? Expr::min(p.rows.extent, rowBlock) : p.rows.extent;
}
/// Columns of a work item for which room is needed; the last block may have
/// fewer.
Expr ProductEmitter::getColumnRoom() const {
  return columnBlock ? Expr(columnBlock) : p.columns.extent;
}

GemmTile ProductEmitter::getTile() const {
  GemmTile tile;
  tile.lanes = lanes;
  tile.rows = form.getNumber("rows", 1);
  tile.vectors = form.getNumber("vectors", 1);
  tile.panels = columnBlock ? columnBlock / tile.columns() : 1;
  // A step of k is a pair.
  if (p.hasTiles())
    tile.depth = form.getNumber("depth", 0) / 2;
  return tile;
}
GemmLoops ProductEmitter::makeLoops() const {
  GemmLoops g;
  g.lineBytes = e.machine.lineBytes;
  g.accumulator = accumulator;
  g.factor = p.hasPairs() ? e.b.getI32Type() : accumulator;
  g.tile = getTile();
  g.usesTiles = p.hasTiles();
  g.transposes = p.finishesRows;
  return g;
}
/// Scratch bytes that GemmLoops needs.
Expr ProductEmitter::getLoopsBytes() const {
  GemmLoops g = makeLoops();
  if (p.windows || p.panels)
    return g.tileBytes() + 64;
  return Expr(g.tileBytes() + 64) + p.countSteps(p.kRoom) * g.packedBytesPerK();
}
/// The distance between rows of the copy, in factors. One more cache line is
/// added so that the rows of a tile do not fall into the same L1 set.
Expr ProductEmitter::getRowStride(const Expr &k) const {
  Expr line = e.machine.lineBytes / (p.factor.getIntOrFloatBitWidth() / 8);
  return p.hasPairs() ? 2 * p.countSteps(k) + (p.hasTiles() ? line : 0)
                      : k + line;
}
int64_t ProductEmitter::getDotBytes() const {
  DotLoops d;
  d.accumulator = accumulator;
  d.lanes = lanes;
  d.rows = form.getNumber("rows", 1);
  d.columns = form.getNumber("width", 1);
  int64_t bytes = d.scratchBytes();
  d.rows = 1;
  d.columns = form.getNumber("rest", d.columns);
  return std::max(bytes, d.scratchBytes());
}
/// Scratch bytes in front of the copied rows: for a tiled product those of
/// GemmLoops and the line of columns that are read as runs; otherwise the sums
/// of a work item.
Expr ProductEmitter::getOwnBytes() const {
  if (name == "dot")
    return getDotBytes() + 64 + form.getNumber("rows", 1) * kWaiting * bytes;
  if (name == "axpy")
    return (getColumnRoom() + lanes) * bytes + 64;
  if (p.windows)
    return getLoopsBytes() + getWindowBytes(*p.windows, getWindowLayout());
  Expr line = pack == "runs" ? getColumnRoom() * bytes + 64 : Expr(0);
  return getLoopsBytes() + line;
}
Expr ProductEmitter::getScratchBytes() const {
  if (p.rowWindows)
    return getOwnBytes() + 64 + getWindowBytes(*p.rowWindows, getRowLayout());
  if (!copiesRows)
    return getOwnBytes();
  int64_t size = p.factor.getIntOrFloatBitWidth() / 8;
  return getOwnBytes() + getRowsInUnit() * getRowStride(p.kRoom) * size + 64;
}

/// An element, or a vector of `width` of them along `laneDim`, in the
/// multiplied type.
Value ProductEmitter::load(const ProductSide &side, Value at, Value k,
                           std::optional<unsigned> laneDim, unsigned width,
                           Value count) {
  Emitter::MemoScope inner(e);
  Emitter::Repeated repeated(e, {p.kExtent});
  e.setDim(side.dim, at);
  e.setDim(p.kDim, k);
  if (laneDim)
    e.setLane(*laneDim, width, count);
  else
    e.clearLane();
  Value v = e.emit(side.operand, p.getOperandIndex(side));
  v = emitCast(e.b, v, getElementType(side.operand), p.factor);
  v = e.spread(v);
  e.clearLane();
  return v;
}

void ProductEmitter::emitTiled(Value rowLo, Value rowHi, Value lo, Value hi,
                               Value isFresh) {
  GemmLoops g = makeLoops();
  g.isFresh = isFresh;
  // Groups may end anywhere, so the number of rows is not a known multiple.
  g.rows = p.hasGroups() ? e.sub(rowHi, rowLo) : e.value(p.rows.extent);
  g.columns = e.value(p.columns.extent);
  g.k = e.value(p.kExtent);
  g.loadRow = [&](ImplicitLocOpBuilder &, Value row, Value k) {
    return loadRow(row, k, /*vector=*/false);
  };
  g.loadColumn = [&](ImplicitLocOpBuilder &, Value k, Value column) {
    return load(p.columns, column, k, std::nullopt, 1);
  };
  if (pack == "columns")
    g.loadColumns = [&](ImplicitLocOpBuilder &, Value k, Value column,
                        Value count) {
      return load(p.columns, column, k, p.columns.dim, lanes, count);
    };
  if (p.rowWindows)
    readRowWindows(g);
  if (p.panels)
    g.panels = e.address(e.getBuffer(p.panels->memory.getArgNumber()),
                         e.value(p.panels->begin), p.factor);
  if (pack == "runs") {
    g.line = alignedScratch(getLoopsBytes());
    g.fillLine = [&](ImplicitLocOpBuilder &, Value k) {
      fillLine(k, lo, hi, g.line);
    };
  }
  if (pack == "k") {
    g.lanesAlongK = form.getNumber("square", lanes);
    g.loadAlongK = [&, width = g.lanesAlongK](ImplicitLocOpBuilder &, Value k,
                                              Value column) {
      return load(p.columns, column, k, p.kDim, width);
    };
  }
  if (p.hasPairs())
    usePairs(g);
  if (findAhead)
    g.findAhead = [&](ImplicitLocOpBuilder &, Value row, Value column) {
      return findAhead(row, column);
    };
  if (p.windows) {
    emitWindows(g, lo, hi);
    return g.build(e.b, scratch, rowLo, rowHi, lo, hi);
  }
  g.finish = [&](ImplicitLocOpBuilder &, Value memory, Value row,
                 Value rowCount, Value column, Value columnCount) {
    if (p.finishesRows)
      return finishColumns(memory, g.tileLine(), {row, rowCount},
                           {column, columnCount});
    finishRows(memory, getTile().columns(), row, rowCount, column,
               e.add(column, columnCount));
  };
  g.build(e.b, scratch, rowLo, rowHi, lo, hi);
}

/// The address in scratch at `offset`, rounded up to a multiple of 64.
Value ProductEmitter::alignedScratch(const Expr &offset) {
  Value before = e.add(e.value(offset), e.constant(63));
  Value aligned = arith::AndIOp::create(e.b, before, e.constant(-64));
  return e.address(scratch, aligned, e.b.getI8Type());
}

/// Writes columns [lo, hi) at `k` to `line`, run by run.
void ProductEmitter::fillLine(Value k, Value lo, Value hi, Value line) {
  Emitter::MemoScope inner(e);
  Emitter::Repeated repeated(e, {p.kExtent});
  e.setDim(p.kDim, k);
  Value one = e.constant(1), run = e.value(p.runs->extents.back());
  Value last = e.add(e.divU(e.sub(hi, one), run), one);
  e.forLoop(e.divU(lo, run), last, one, [&](Value number) {
    Value start = e.mul(number, run);
    Value begin = arith::MaxSIOp::create(e.b, e.sub(lo, start), e.constant(0));
    Value end = e.minS(e.sub(hi, start), run);
    setDims(e, ArrayRef(p.runs->dims).drop_back(),
            ArrayRef(p.runs->extents).drop_back(), number);
    unsigned dim = p.runs->dims.back();
    e.laneLoop(dim, begin, end, lanes, [&] {
      Value v = e.emit(p.columns.operand, p.runIndex);
      v = e.spread(
          emitCast(e.b, v, getElementType(p.columns.operand), accumulator));
      Value column = e.add(start, e.value(Expr::dim(dim)));
      storeLanes(v, line, e.sub(column, lo));
    });
  });
}

/// An element of the rows, or a vector of them along k.
Value ProductEmitter::loadRow(Value row, Value k, bool vector) {
  if (!copiesRows)
    return load(p.rows, row, k,
                vector ? std::optional<unsigned>(p.kDim) : std::nullopt, lanes);
  Value stride = e.value(getRowStride(p.kExtent));
  Value at = e.add(e.mul(e.sub(row, rowCopyBegin), stride), k);
  Type type = accumulator;
  if (vector && lanes > 1)
    type = VectorType::get({int64_t(lanes)}, accumulator);
  return LLVM::LoadOp::create(e.b, type, e.address(rowCopy, at, accumulator),
                              bytes);
}

/// Copies the rows to scratch in the multiplied type.
void ProductEmitter::copyRows(IndexRange rows) {
  Emitter::Repeated repeated(e, {p.kExtent});
  Value k = e.value(p.kExtent), stride = e.value(getRowStride(p.kExtent));
  e.forLoop(rows.lo, rows.hi, e.constant(1), [&](Value row) {
    e.setDim(p.rows.dim, row);
    Value start = e.mul(e.sub(row, rows.lo), stride);
    if (p.hasPairs())
      clearRest(e.address(rowCopy, start, e.b.getI16Type()));
    e.laneLoop(p.kDim, e.constant(0), k, lanes, [&] {
      Value v = e.emit(p.rows.operand, p.getOperandIndex(p.rows));
      v = e.spread(emitCast(e.b, v, getElementType(p.rows.operand), p.factor));
      storeLanes(v, rowCopy, e.add(start, e.value(Expr::dim(p.kDim))));
    });
  });
}

/// Stores an element or vector in the multiplied type.
void ProductEmitter::storeLanes(Value v, Value memory, Value position) {
  Type storage = getStorageType(p.factor);
  int64_t size = storage.getIntOrFloatBitWidth() / 8;
  v = e.toStorage(v, p.factor);
  Value at = e.address(memory, position, storage);
  if (Value mask = e.getLane().mask)
    LLVM::MaskedStoreOp::create(e.b, v, at, mask, size);
  else
    LLVM::StoreOp::create(e.b, v, at, size);
}

void ProductEmitter::finishRows(Value memory, int64_t width, Value row,
                                Value rowCount, Value lo, Value hi) {
  e.forLoop(e.constant(0), rowCount, e.constant(1), [&](Value i) {
    e.setDim(p.rows.dim, e.add(row, i));
    Value line = e.mul(i, e.constant(width));
    finishRow(e.address(memory, line, accumulator), lo, hi);
  });
}

void ProductEmitter::finishColumns(Value memory, int64_t line, IndexRange rows,
                                   IndexRange columns) {
  e.forLoop(e.constant(0), columns.hi, e.constant(1), [&](Value j) {
    e.setDim(p.columns.dim, e.add(columns.lo, j));
    Value at = e.mul(j, e.constant(line));
    finishLine(p.rows.dim, e.address(memory, at, accumulator), rows.lo,
               e.add(rows.lo, rows.hi));
  });
}

/// Finishes columns [lo, hi) of a row; the sum of the first one is at `line`.
void ProductEmitter::finishRow(Value line, Value lo, Value hi) {
  finishLine(p.columns.dim, line, lo, hi);
}

void ProductEmitter::finishLine(unsigned dim, Value line, Value lo, Value hi) {
  e.laneLoop(dim, lo, hi, lanes, [&] {
    Value j = e.sub(e.value(Expr::dim(dim)), lo);
    // Lines are padded to whole vectors, so reading past the last element is
    // safe.
    Value sum = LLVM::LoadOp::create(e.b, e.laneType(accumulator),
                                     e.address(line, j, accumulator), bytes);
    finish(sum);
  });
}

//===--------------------------------------------------------------------===//
// Few rows
//===--------------------------------------------------------------------===//

void ProductEmitter::emitDots(IndexRange rows, IndexRange columns) {
  DotLoops d;
  d.accumulator = accumulator;
  d.k = e.value(p.kExtent);
  d.lanes = lanes;
  d.loadRow = [&](ImplicitLocOpBuilder &, Value row, Value k, bool vector) {
    return loadRow(row, k, vector);
  };
  d.loadColumn = [&](ImplicitLocOpBuilder &, Value k, Value column,
                     bool vector) {
    return load(p.columns, column, k,
                vector ? std::optional<unsigned>(p.kDim) : std::nullopt, lanes);
  };
  // The sums are buffered in scratch, so that the code after them is
  // vectorised.
  Value waiting = alignedScratch(getDotBytes()), firstRow, firstColumn;
  d.finish = [&](ImplicitLocOpBuilder &, Value sum, Value row, Value column) {
    Value line = e.mul(e.sub(row, firstRow), e.constant(kWaiting));
    Value at = e.add(line, e.sub(column, firstColumn));
    LLVM::StoreOp::create(e.b, sum, e.address(waiting, at, accumulator), bytes);
  };
  auto build = [&](Value row, unsigned rowsAtOnce, unsigned columnsAtOnce) {
    d.rows = rowsAtOnce;
    d.columns = columnsAtOnce;
    d.isWhole = isWhole(p.columns, columnBlock, columnsAtOnce);
    firstRow = row;
    Value most = e.constant(kWaiting - kWaiting % columnsAtOnce);
    e.forLoop(columns.lo, columns.hi, most, [&](Value lo) {
      firstColumn = lo;
      Value hi = e.minS(e.add(lo, most), columns.hi);
      d.build(e.b, scratch, row, lo, hi);
      finishRows(waiting, kWaiting, row, e.constant(rowsAtOnce), lo, hi);
    });
  };
  // Blocks of rows, then the remaining rows one at a time.
  int64_t block = form.getNumber("rows", 1);
  unsigned columnsAtOnce = form.getNumber("width", 1);
  Value step = e.constant(block);
  Value whole = e.sub(rows.hi, e.remU(e.sub(rows.hi, rows.lo), step));
  e.forLoop(rows.lo, whole, step,
            [&](Value row) { build(row, block, columnsAtOnce); });
  if (isWhole(p.rows, rowBlock, block))
    return;
  e.forLoop(whole, rows.hi, e.constant(1), [&](Value row) {
    build(row, 1, form.getNumber("rest", columnsAtOnce));
  });
}

/// Whether every work item has a multiple of `count` indices of the side.
bool ProductEmitter::isWhole(const ProductSide &side, int64_t block,
                             int64_t count) {
  if (p.hasGroups() && &side == &p.rows)
    return false;
  Assumptions sizes(e.getRanges());
  return sizes.simplify(Expr::mod(side.extent, count)).isConstant(0) &&
         (block % count == 0 || sizes.provablyLessEqual(side.extent, block));
}

/// Sums of columns scaled by the row's elements (axpy). The sums are in scratch
/// while blocks of k are added, so that columns are read contiguously.
void ProductEmitter::emitScaledColumns(Value row, Value lo, Value hi) {
  e.setDim(p.rows.dim, row);
  Value sums = scratch;
  overColumns(lo, hi, [&](Value position, Value) {
    Value zero = arith::ConstantOp::create(e.b, e.b.getZeroAttr(vectorType()));
    storeSum(zero, sums, position);
  });
  unsigned depth = form.getNumber("depth", 1);
  Value k = e.value(p.kExtent), block = e.constant(depth);
  Value whole = e.sub(k, e.remU(k, block));
  auto addRows = [&](Value kBegin, unsigned count) {
    SmallVector<Value> factors;
    for (unsigned i = 0; i < count; ++i) {
      Value x = loadRow(row, e.add(kBegin, e.constant(i)), /*vector=*/false);
      if (lanes > 1)
        x = vector::BroadcastOp::create(e.b, vectorType(), x);
      factors.push_back(x);
    }
    overColumns(lo, hi, [&](Value position, Value lanesThere) {
      Value column = e.value(Expr::dim(p.columns.dim));
      Value sum = LLVM::LoadOp::create(
          e.b, vectorType(), e.address(sums, position, accumulator), bytes);
      for (unsigned i = 0; i < count; ++i) {
        Value c = load(p.columns, column, e.add(kBegin, e.constant(i)),
                       p.columns.dim, lanes, lanesThere);
        if (isa<FloatType>(accumulator))
          sum = math::FmaOp::create(e.b, factors[i], c, sum);
        else
          sum = arith::AddIOp::create(
              e.b, arith::MulIOp::create(e.b, factors[i], c), sum);
      }
      storeSum(sum, sums, position);
    });
  };
  e.forLoop(e.constant(0), whole, block, [&](Value at) { addRows(at, depth); });
  e.forLoop(whole, k, e.constant(1), [&](Value at) { addRows(at, 1); });
  overColumns(lo, hi, [&](Value position, Value lanesThere) {
    Value sum = LLVM::LoadOp::create(
        e.b, vectorType(), e.address(sums, position, accumulator), bytes);
    e.setLane(p.columns.dim, lanes, lanesThere);
    e.setDim(p.rows.dim, row);
    finish(sum);
  });
}

Type ProductEmitter::vectorType() {
  if (lanes == 1)
    return accumulator;
  return VectorType::get({int64_t(lanes)}, accumulator);
}

/// Sums are stored as whole vectors; inactive lanes are never read back.
void ProductEmitter::storeSum(Value sum, Value sums, Value position) {
  LLVM::StoreOp::create(e.b, sum, e.address(sums, position, accumulator),
                        bytes);
}

/// Calls `body` with the position of each vector in the work item, and with the
/// number of active lanes if that is not all.
void ProductEmitter::overColumns(
    Value lo, Value hi, function_ref<void(Value position, Value count)> body) {
  e.laneLoop(p.columns.dim, lo, hi, lanes, [&] {
    body(e.sub(e.value(Expr::dim(p.columns.dim)), lo), e.getLane().count);
  });
}
