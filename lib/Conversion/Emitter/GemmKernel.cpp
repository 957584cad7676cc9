//===- GemmKernel.cpp - Kernels of one matrix product ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The dims of a product fall into four groups: in both maps (batch), in the
// left one alone (M), in the right one alone (N), and the contracted one. Each
// group is joined into one dim here, which leaves a matrix product over m, n
// and k. The larger side is read as vectors ("columns"), the other element by
// element ("rows"). Products with few rows are bound by memory and take dot
// products or scaled columns; all others are packed and tiled by GemmLoops.
// Elements of both operands come from the emitter, and the epilogue is emitted
// on each finished tile. The chosen form, and why, is a remark.
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"
#include "luminal/Conversion/GemmLoops.h"
#include "luminal/Conversion/ScalarMath.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#define DEBUG_TYPE "convert-llir-to-llvm"

using namespace luminal;
using namespace mlir;

namespace {
/// How the columns of a tile are packed.
enum class Packing { AlongColumns, Runs, AlongK, Elements };

StringRef describe(Packing packing) {
  switch (packing) {
  case Packing::AlongColumns:
    return "vectors along the columns";
  case Packing::Runs:
    return "runs of memory, for the columns are windows";
  case Packing::AlongK:
    return "vectors along k, transposed";
  case Packing::Elements:
    return "element by element, for no dim steps through memory";
  }
  llvm_unreachable("a packing of no kind");
}

/// One side of the product.
struct Side {
  Value operand;
  hlir::MapAttr map;
  /// Dims of the product that only this side has.
  SmallVector<unsigned> group;
  /// The group joined into one dim, and its extent.
  unsigned dim = 0;
  Expr extent;
  /// Whether every read is linear with stride 0 or 1: along the side's own dim,
  /// and along k; and whether it is linear in both with any strides.
  bool alongOwn = true, alongK = true, linear = true;
  /// Whether a read steps through memory along the side's own dim.
  bool stepsOwn = false;
};

class GemmKernel {
public:
  GemmKernel(Emitter &e, const WorkLoop &loop)
      : e(e), loop(loop),
        op(*e.kernel.getBody().getOps<llir::GemmOp>().begin()) {}

  /// std::nullopt where the epilogue cannot be inverted.
  std::optional<WorkShape> emit() {
    if (Decision fits = findResults(); !fits) {
      tellRefusal(fits);
      return std::nullopt;
    }
    findGroups();
    joinDims();
    chooseSides();
    findRuns();
    findShape();
    tellForm();
    emitUnits();
    return WorkShape{product({batch, rowBlocks(), columnBlocks()}),
                     getGrain(unitCost()), scratchBytes()};
  }

private:
  static Type elementOf(Value v) {
    return cast<RankedTensorType>(v.getType()).getElementType();
  }

  //===--------------------------------------------------------------------===//
  // Analysis
  //===--------------------------------------------------------------------===//

  Decision findResults() {
    extents = hlir::getExtents(op.getResult());
    for (Value yielded : getYielded(e.kernel)) {
      MovedResult &result = results.emplace_back();
      if (Decision found = findSource(e, yielded, result); !found)
        return found;
      if (hlir::getExtents(result.source) != extents)
        return Decision::refuse("what follows the product has another index "
                                "space",
                                result.source.getDefiningOp());
    }
    return Decision::accept();
  }

  void findGroups() {
    auto uses = [](hlir::MapAttr map, unsigned dim) {
      return llvm::any_of(map.getResults(),
                          [&](const Expr &x) { return x.usesDim(dim); });
    };
    for (unsigned i = 0; i < extents.size(); ++i) {
      bool inLeft = uses(op.getLhsMap(), i), inRight = uses(op.getRhsMap(), i);
      (inLeft == inRight ? batchGroup
       : inLeft          ? rows.group
                         : columns.group)
          .push_back(i);
    }
    rows.operand = op.getLhs(), rows.map = op.getLhsMap();
    columns.operand = op.getRhs(), columns.map = op.getRhsMap();
    kExtent = op.getKExtent();
    kDim = e.addDim(kExtent);
  }

  void joinDims() {
    index.assign(extents.size(), Expr(0));
    auto join = [&](ArrayRef<unsigned> group, Expr &extent) {
      std::vector<Expr> sizes;
      for (unsigned i : group)
        sizes.push_back(extents[i]);
      extent = e.simplify(product(sizes));
      unsigned dim = e.addDim(extent);
      std::vector<Expr> parts = delinearize(Expr::dim(dim), sizes);
      for (auto [i, part] : llvm::zip(group, parts))
        index[i] = e.simplify(part);
      return dim;
    };
    batchDim = join(batchGroup, batch);
    rows.dim = join(rows.group, rows.extent);
    columns.dim = join(columns.group, columns.extent);
    examine(rows);
    examine(columns);
  }

  Index operandIndex(const Side &side) { return operandIndex(side, index); }
  /// At the product's index `at`.
  Index operandIndex(const Side &side, Index at) {
    at.push_back(Expr::dim(kDim));
    Index result;
    for (const Expr &x : side.map.getResults())
      result.push_back(e.simplify(x.substituteDims(at)));
    return result;
  }

  void examine(Side &side) {
    side.alongOwn = side.alongK = side.linear = true;
    side.stepsOwn = false;
    e.walk(side.operand, operandIndex(side), [&](const Leaf &leaf) {
      auto own = leaf.address.linearIn(side.dim);
      auto k = leaf.address.linearIn(kDim);
      auto unit = [](const std::optional<Expr::Linear> &x) {
        return x && (x->stride.isConstant(0) || x->stride.isConstant(1));
      };
      side.linear &= own.has_value() && k.has_value();
      side.alongOwn &= unit(own);
      side.alongK &= unit(k);
      side.stepsOwn |= own && own->stride.isConstant(1);
    });
  }

  /// Whether an element of a side is a single load of an accumulator.
  Decision isPlain(const Side &side) {
    Value v = side.operand;
    while (auto view = v.getDefiningOp<llir::ViewOp>())
      v = view.getOperand();
    if (!isa<BlockArgument>(v))
      return Decision::refuse("they are computed", v.getDefiningOp());
    if (elementOf(v) != accumulator)
      return Decision::refuse("they are of another type than their sums");
    if (!side.linear)
      return Decision::refuse("their index is divided");
    return Decision::accept();
  }

  /// The results' indices of the product's element at `at`.
  SmallVector<Index> resultIndices(const Index &at) {
    SmallVector<Index> indices;
    for (const MovedResult &result : results)
      indices.push_back(result.getIndex(e, at));
    return indices;
  }

  /// How many of the side's last dims, joined, every result stores
  /// contiguously.
  size_t countStoredAlong(const Side &side) {
    for (size_t count = side.group.size(); count > 0; --count) {
      ArrayRef<unsigned> last = ArrayRef(side.group).take_back(count);
      std::vector<Expr> sizes;
      for (unsigned i : last)
        sizes.push_back(extents[i]);
      unsigned dim = e.addDim(e.simplify(product(sizes)));
      Index at = index;
      for (auto [i, part] : llvm::zip(last, delinearize(Expr::dim(dim), sizes)))
        at[i] = part;
      bool isAlong = true;
      for (auto [number, result] : llvm::enumerate(resultIndices(at))) {
        auto sizes = hlir::getExtents(e.kernel.getResults()[number]);
        auto linear =
            e.simplify(linearize(result, {sizes.begin(), sizes.end()}))
                .linearIn(dim);
        isAlong &= linear && linear->stride.isConstant(1);
      }
      if (isAlong)
        return count;
    }
    return 0;
  }

  /// The side whose elements are contiguous in the results becomes the columns;
  /// its dims that break contiguity join the batch. Few columns waste lanes:
  /// then the sides are swapped as well.
  void chooseSides() {
    Type element = elementOf(op.getResult());
    bool narrow = element.isF16() || element.isBF16();
    accumulator = narrow ? Type(e.b.getF32Type()) : element;
    bytes = accumulator.getIntOrFloatBitWidth() / 8;
    lanes = std::max<unsigned>(1, e.maxLanes * 4 / bytes);
    std::optional<int64_t> m = rows.extent.asConstant(),
                           n = columns.extent.asConstant();
    if (n && *n < int64_t(lanes)) {
      if (m && *m <= *n)
        return;
      std::swap(rows, columns);
      sides = "the right one, which has fewer columns than a vector has lanes";
      return;
    }
    if (countStoredAlong(columns))
      return;
    size_t count = countStoredAlong(rows);
    std::vector<Expr> sizes;
    for (unsigned i : ArrayRef(rows.group).take_back(count))
      sizes.push_back(extents[i]);
    if (!count ||
        !e.getAssumptions().provablyLessEqual(2 * lanes, product(sizes)))
      return;
    std::swap(rows, columns);
    sides = "the right one, for the result keeps the left one's side by side";
    size_t outer = columns.group.size() - count;
    if (!outer)
      return;
    batchGroup.append(columns.group.begin(), columns.group.begin() + outer);
    columns.group.erase(columns.group.begin(), columns.group.begin() + outer);
    joinDims();
  }

  /// Columns that are not one contiguous run of memory, as runs.
  void findRuns() {
    if (columns.alongOwn || columns.alongK)
      return;
    std::vector<Expr> sizes;
    for (unsigned i : columns.group)
      sizes.push_back(extents[i]);
    auto at = [&](const Index &group) {
      Index result = index;
      for (auto [i, x] : llvm::zip(columns.group, group))
        result[i] = x;
      return operandIndex(columns, result);
    };
    Domain domain = makeDomain(
        e, sizes,
        [&](const Index &group, llvm::function_ref<void(const Leaf &)> visit) {
          e.walk(columns.operand, at(group), visit);
        });
    if (domain.dims.size() < 2)
      return;
    runIndex = at(domain.index);
    runs = std::move(domain);
  }

  void findShape() {
    std::optional<int64_t> m = rows.extent.asConstant(),
                           n = columns.extent.asConstant(),
                           k = kExtent.asConstant();
    tile = GemmTile::choose(lanes, e.vectorRegisters, m.value_or(-1),
                            n.value_or(-1), k.value_or(-1), bytes);
    unitColumns = tile.columnBlock();
    packing = columns.alongOwn ? Packing::AlongColumns
              : runs           ? Packing::Runs
              : columns.alongK ? Packing::AlongK
                               : Packing::Elements;
    maySkinny = !m || *m <= kFewRows;
    mayTile = !m || *m > kFewRows;
    // Every unit pays for packing: rows are split only where columns do not
    // give enough units.
    if (!mayTile)
      unitColumns = std::max<int64_t>(unitColumns, 512);
    bool manyColumns = n && *n >= 8 * unitColumns;
    int64_t block = 8 * tile.rows;
    if (!manyColumns && !(m && *m <= block))
      rowBlock = block;
    // Every row is read again for each tile of columns: a copy of what is not
    // a plain load pays.
    Decision plain = isPlain(rows);
    packRows = !plain;
    rowCopyReason = plain.str();
    rows.alongK |= packRows;
    isDot = rows.alongK && columns.alongK && !columns.stepsOwn;
    if (packRows && !rowBlock)
      rowBlock = block;
    if (m && *m <= rowBlock)
      rowBlock = 0;
  }

  //===--------------------------------------------------------------------===//
  // Remarks
  //===--------------------------------------------------------------------===//

  Reporter getReporter() {
    auto function = e.kernel->getParentOfType<FunctionOpInterface>();
    return Reporter(e.kernel.getContext(), DEBUG_TYPE,
                    function ? function.getName() : StringRef());
  }

  void tellRefusal(const Decision &decision) {
    Reporter reporter = getReporter();
    if (!reporter.isListening())
      return;
    SmallVector<Reporter::Arg> args = {{"form", "each element sums for itself"},
                                       {"reason", decision.str()}};
    if (Operation *other = decision.getSubject())
      args.push_back({"because of", describeWithPlace(other)});
    reporter.missed(op.getLoc(), "gemm-form", args);
  }

  void tellForm() {
    Reporter reporter = getReporter();
    if (!reporter.isListening())
      return;
    StringRef skinny = isDot ? "dot products along k, which both sides step "
                               "through in memory"
                             : "columns scaled by each row's elements, for "
                               "both sides are not read along k";
    SmallVector<Reporter::Arg> args = {
        {"m", rows.extent.str()}, {"n", columns.extent.str()},
        {"k", kExtent.str()},     {"batch", batch.str()},
        {"rows", sides},          {"lanes", lanes}};
    if (maySkinny)
      args.push_back({mayTile ? "for at most 4 rows" : "form", skinny});
    if (mayTile) {
      args.push_back({"form", "packed columns and a register tile"});
      args.push_back(
          {"tile",
           llvm::formatv("{0} x {1}", tile.rows, tile.columns()).str()});
      args.push_back({"columns packed", describe(packing)});
    }
    args.push_back({"columns in a unit", unitColumns});
    args.push_back({"rows in a unit",
                    rowBlock ? std::to_string(rowBlock) : std::string("all")});
    if (packRows)
      args.push_back({"rows copied", rowCopyReason});
    reporter.passed(op.getLoc(), "gemm-form", args);
  }

  Expr rowBlocks() {
    return rowBlock ? Expr::ceilDiv(rows.extent, rowBlock)
                    : Expr::min(1, rows.extent);
  }
  Expr columnBlocks() { return Expr::ceilDiv(columns.extent, unitColumns); }
  Expr rowsInUnit() {
    return rowBlock ? Expr::min(rows.extent, rowBlock) : rows.extent;
  }
  Expr unitCost() {
    return rowsInUnit() * Expr::min(columns.extent, unitColumns) * kExtent;
  }
  /// The copy of the rows follows the scratch of GemmLoops, 64-byte aligned.
  Expr loopsBytes() {
    GemmLoops g;
    g.accumulator = accumulator;
    g.tile = tile;
    return Expr(g.tileBytes() + 64) + kExtent * g.packedBytesPerK();
  }
  /// The line buffer of columns that are read as runs follows.
  Expr lineBytes() { return runs ? Expr(unitColumns * bytes + 64) : Expr(0); }
  /// Bytes of scratch before the copy of the rows.
  Expr ownBytes() {
    // The sums of a unit fit into the space of the packed columns, except for
    // tiny k.
    Expr sums = (unitColumns + lanes) * bytes + 64;
    return mayTile ? Expr::max(loopsBytes() + lineBytes(), sums) : sums;
  }
  Expr scratchBytes() {
    Expr copy = packRows ? rowsInUnit() * kExtent * bytes + 64 : Expr(0);
    return ownBytes() + copy;
  }

  //===--------------------------------------------------------------------===//
  // Elements
  //===--------------------------------------------------------------------===//

  /// An element, or a vector of them along `laneDim`, as an accumulator.
  Value load(const Side &side, Value at, Value k,
             std::optional<unsigned> laneDim, Value count = {},
             unsigned width = 0) {
    Emitter::MemoScope inner(e);
    Emitter::Repeated repeated(e, {kExtent});
    e.setDim(side.dim, at);
    e.setDim(kDim, k);
    if (laneDim)
      e.setLane(*laneDim, width ? width : lanes, count);
    else
      e.clearLane();
    Value v = e.emit(side.operand, operandIndex(side));
    v = emitCast(e.b, v, elementOf(side.operand), accumulator);
    v = e.spread(v);
    e.clearLane();
    return v;
  }

  /// Writes all results at the product's index; `sum` is its element there.
  void finish(Value sum) {
    Value element = emitCast(e.b, sum, accumulator, elementOf(op.getResult()));
    e.remember(op.getResult(), index, element);
    SmallVector<Value> values;
    for (const MovedResult &result : results)
      values.push_back(e.emit(result.source, index));
    SmallVector<Index> indices = resultIndices(index);
    for (auto [i, v] : llvm::enumerate(values))
      e.store(i, indices[i], v);
  }

  //===--------------------------------------------------------------------===//
  // Units
  //===--------------------------------------------------------------------===//

  void emitUnits() {
    Emitter::Repeated repeated(e, {batch, rows.extent, columns.extent});
    e.forLoop(loop.begin, loop.end, loop.step, [&](Value unit) {
      // Consecutive units share their columns.
      Value rowCount = e.value(rows.extent),
            columnCount = e.value(columns.extent);
      Value blocks = e.value(rowBlock ? rowBlocks() : Expr(1));
      Value rowUnit = e.remU(unit, blocks);
      unit = e.divU(unit, blocks);
      blocks = e.value(columnBlocks());
      Value columnUnit = e.remU(unit, blocks);
      e.setDim(batchDim, e.divU(unit, blocks));
      Value rowLo = e.constant(0), rowHi = rowCount;
      if (rowBlock) {
        rowLo = e.mul(rowUnit, e.constant(rowBlock));
        rowHi = e.minS(e.add(rowLo, e.constant(rowBlock)), rowCount);
      }
      if (packRows) {
        rowCopy = emitRowCopy(rowLo, rowHi);
        rowCopyBegin = rowLo;
      }
      Value width = e.constant(unitColumns);
      Value lo = e.mul(columnUnit, width);
      std::optional<int64_t> n = columns.extent.asConstant();
      Value hi = e.add(lo, width);
      if (!n || *n % unitColumns != 0)
        hi = e.minS(hi, columnCount);
      if (!mayTile)
        return emitSkinny(rowLo, rowHi, lo, hi);
      if (!maySkinny)
        return emitTiled(rowLo, rowHi, lo, hi);
      Value few = arith::CmpIOp::create(e.b, arith::CmpIPredicate::sle,
                                        rowCount, e.constant(kFewRows));
      e.ifElse(
          few, {},
          [&] {
            emitSkinny(rowLo, rowHi, lo, hi);
            return SmallVector<Value>();
          },
          [&] {
            emitTiled(rowLo, rowHi, lo, hi);
            return SmallVector<Value>();
          });
    });
  }

  void emitTiled(Value rowLo, Value rowHi, Value lo, Value hi) {
    GemmLoops g;
    g.accumulator = accumulator;
    g.tile = tile;
    g.rows = e.value(rows.extent);
    g.columns = e.value(columns.extent);
    g.k = e.value(kExtent);
    g.loadRow = [&](ImplicitLocOpBuilder &, Value row, Value k) {
      return loadRow(row, k, /*vector=*/false);
    };
    g.loadColumn = [&](ImplicitLocOpBuilder &, Value k, Value column) {
      return load(columns, column, k, std::nullopt);
    };
    switch (packing) {
    case Packing::AlongColumns:
      g.loadColumns = [&](ImplicitLocOpBuilder &, Value k, Value column,
                          Value count) {
        return load(columns, column, k, columns.dim, count);
      };
      break;
    case Packing::Runs:
      g.line = alignedScratch(loopsBytes());
      g.fillLine = [&](ImplicitLocOpBuilder &, Value k) {
        fillLine(k, lo, hi, g.line);
      };
      break;
    case Packing::AlongK:
      g.lanesAlongK = isPlain(columns) ? std::min(lanes, 4u) : lanes;
      g.loadAlongK = [&, width = g.lanesAlongK](ImplicitLocOpBuilder &, Value k,
                                                Value column) {
        return load(columns, column, k, kDim, {}, width);
      };
      break;
    case Packing::Elements:
      break;
    }
    g.finish = [&](ImplicitLocOpBuilder &, Value memory, Value row,
                   Value rowCount, Value column, Value columnCount) {
      finishTile(memory, row, rowCount, column, columnCount);
    };
    g.build(e.b, loop.scratch, rowLo, rowHi, lo, hi);
  }

  /// Scratch at the first multiple of 64 from `offset` on.
  Value alignedScratch(const Expr &offset) {
    Value before = e.add(e.value(offset), e.constant(63));
    Value aligned = arith::AndIOp::create(e.b, before, e.constant(-64));
    return e.address(loop.scratch, aligned, e.b.getI8Type());
  }

  /// Copies columns [lo, hi) at `k`, run by run, to `line`.
  void fillLine(Value k, Value lo, Value hi, Value line) {
    Emitter::MemoScope inner(e);
    Emitter::Repeated repeated(e, {kExtent});
    e.setDim(kDim, k);
    Value one = e.constant(1), run = e.value(runs->extents.back());
    Value last = e.add(e.divU(e.sub(hi, one), run), one);
    e.forLoop(e.divU(lo, run), last, one, [&](Value number) {
      Value start = e.mul(number, run);
      Value begin =
          arith::MaxSIOp::create(e.b, e.sub(lo, start), e.constant(0));
      Value end = e.minS(e.sub(hi, start), run);
      setDims(e, ArrayRef(runs->dims).drop_back(),
              ArrayRef(runs->extents).drop_back(), number);
      unsigned dim = runs->dims.back();
      e.laneLoop(dim, begin, end, lanes, [&] {
        Value v = e.emit(columns.operand, runIndex);
        v = e.spread(emitCast(e.b, v, elementOf(columns.operand), accumulator));
        Value column = e.add(start, e.value(Expr::dim(dim)));
        storeLanes(v, line, e.sub(column, lo));
      });
    });
  }

  /// An element of the rows, or a vector of them along k.
  Value loadRow(Value row, Value k, bool vector) {
    if (!packRows)
      return load(rows, row, k,
                  vector ? std::optional<unsigned>(kDim) : std::nullopt);
    Value at = e.add(e.mul(e.sub(row, rowCopyBegin), e.value(kExtent)), k);
    Type type = accumulator;
    if (vector && lanes > 1)
      type = VectorType::get({int64_t(lanes)}, accumulator);
    return LLVM::LoadOp::create(e.b, type, e.address(rowCopy, at, accumulator),
                                bytes);
  }

  /// The rows' elements, computed once for the unit.
  Value emitRowCopy(Value rowLo, Value rowHi) {
    Emitter::Repeated repeated(e, {kExtent});
    Value memory = alignedScratch(ownBytes());
    Value k = e.value(kExtent);
    e.forLoop(rowLo, rowHi, e.constant(1), [&](Value row) {
      e.setDim(rows.dim, row);
      Value start = e.mul(e.sub(row, rowLo), k);
      e.laneLoop(kDim, e.constant(0), k, lanes, [&] {
        Value v = e.emit(rows.operand, operandIndex(rows));
        v = e.spread(emitCast(e.b, v, elementOf(rows.operand), accumulator));
        storeLanes(v, memory, e.add(start, e.value(Expr::dim(kDim))));
      });
    });
    return memory;
  }

  void storeLanes(Value v, Value memory, Value position) {
    Value at = e.address(memory, position, accumulator);
    if (Value mask = e.getLane().mask)
      LLVM::MaskedStoreOp::create(e.b, v, at, mask, bytes);
    else
      LLVM::StoreOp::create(e.b, v, at, bytes);
  }

  void finishTile(Value memory, Value row, Value rowCount, Value column,
                  Value columnCount) {
    e.forLoop(e.constant(0), rowCount, e.constant(1), [&](Value i) {
      e.setDim(rows.dim, e.add(row, i));
      Value line = e.mul(i, e.constant(tile.columns()));
      e.laneLoop(columns.dim, column, e.add(column, columnCount), lanes, [&] {
        Value j = e.sub(e.value(Expr::dim(columns.dim)), column);
        // Tile rows are whole vectors: reading past the last column is safe.
        Value sum = LLVM::LoadOp::create(
            e.b, e.laneType(accumulator),
            e.address(memory, e.add(line, j), accumulator), bytes);
        finish(sum);
      });
    });
  }

  //===--------------------------------------------------------------------===//
  // Few rows
  //===--------------------------------------------------------------------===//

  void emitSkinny(Value rowLo, Value rowHi, Value lo, Value hi) {
    if (isDot)
      return emitDots(rowLo, rowHi, lo, hi);
    e.forLoop(rowLo, rowHi, e.constant(1),
              [&](Value row) { emitScaledColumns(row, lo, hi); });
  }

  void emitDots(Value rowLo, Value rowHi, Value lo, Value hi) {
    DotLoops d;
    d.accumulator = accumulator;
    d.k = e.value(kExtent);
    d.lanes = lanes;
    auto along = [&](bool vector) {
      return vector ? std::optional<unsigned>(kDim) : std::nullopt;
    };
    d.loadRow = [&](ImplicitLocOpBuilder &, Value row, Value k, bool vector) {
      return loadRow(row, k, vector);
    };
    d.loadColumn = [&](ImplicitLocOpBuilder &, Value k, Value column,
                       bool vector) {
      return load(columns, column, k, along(vector));
    };
    d.finish = [&](ImplicitLocOpBuilder &, Value sum, Value row, Value column) {
      Emitter::MemoScope inner(e);
      e.setDim(rows.dim, row);
      e.setDim(columns.dim, column);
      e.clearLane();
      finish(sum);
    };
    std::optional<int64_t> m = rows.extent.asConstant(),
                           n = columns.extent.asConstant();
    auto build = [&](Value row, unsigned rowsAtOnce, unsigned columnsAtOnce) {
      d.rows = rowsAtOnce;
      d.columns = n ? std::clamp<int64_t>(*n, 1, columnsAtOnce) : columnsAtOnce;
      d.isWhole = n && *n % d.columns == 0 &&
                  (*n <= unitColumns || unitColumns % d.columns == 0);
      d.build(e.b, loop.scratch, row, lo, hi);
    };
    if (m) {
      if (*m)
        build(rowLo, *m, *m > 2 ? 4 : 8);
      return;
    }
    // Pairs, then one.
    Value two = e.constant(2);
    Value pairs = e.sub(rowHi, e.remU(e.sub(rowHi, rowLo), two));
    e.forLoop(rowLo, pairs, two, [&](Value row) { build(row, 2, 4); });
    e.forLoop(pairs, rowHi, e.constant(1),
              [&](Value row) { build(row, 1, 8); });
  }

  /// Sums of columns scaled by the row's elements. The sums stay in scratch
  /// while k is walked in blocks, so that columns are read contiguously.
  void emitScaledColumns(Value row, Value lo, Value hi) {
    e.setDim(rows.dim, row);
    Value sums = loop.scratch;
    overColumns(lo, hi, [&](Value position, Value) {
      Value zero =
          arith::ConstantOp::create(e.b, e.b.getZeroAttr(vectorType()));
      storeSum(zero, sums, position);
    });
    Value k = e.value(kExtent), block = e.constant(kAtOnce);
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
        Value column = e.value(Expr::dim(columns.dim));
        Value sum = LLVM::LoadOp::create(
            e.b, vectorType(), e.address(sums, position, accumulator), bytes);
        for (unsigned i = 0; i < count; ++i) {
          Value c = load(columns, column, e.add(kBegin, e.constant(i)),
                         columns.dim, lanesThere);
          if (isa<FloatType>(accumulator))
            sum = math::FmaOp::create(e.b, factors[i], c, sum);
          else
            sum = arith::AddIOp::create(
                e.b, arith::MulIOp::create(e.b, factors[i], c), sum);
        }
        storeSum(sum, sums, position);
      });
    };
    e.forLoop(e.constant(0), whole, block,
              [&](Value at) { addRows(at, kAtOnce); });
    e.forLoop(whole, k, e.constant(1), [&](Value at) { addRows(at, 1); });
    overColumns(lo, hi, [&](Value position, Value lanesThere) {
      Value sum = LLVM::LoadOp::create(
          e.b, vectorType(), e.address(sums, position, accumulator), bytes);
      e.setLane(columns.dim, lanes, lanesThere);
      e.setDim(rows.dim, row);
      finish(sum);
    });
  }

  Type vectorType() {
    if (lanes == 1)
      return accumulator;
    return VectorType::get({int64_t(lanes)}, accumulator);
  }

  /// Sums are whole vectors: inactive lanes are never read back.
  void storeSum(Value sum, Value sums, Value position) {
    LLVM::StoreOp::create(e.b, sum, e.address(sums, position, accumulator),
                          bytes);
  }

  /// `body` gets the position of the vector in the unit, and the number of
  /// active lanes where not all are.
  void overColumns(Value lo, Value hi,
                   function_ref<void(Value position, Value count)> body) {
    e.laneLoop(columns.dim, lo, hi, lanes, [&] {
      body(e.sub(e.value(Expr::dim(columns.dim)), lo), e.getLane().count);
    });
  }

  static constexpr int64_t kFewRows = 4;
  /// Steps of k that one pass over the columns takes.
  static constexpr unsigned kAtOnce = 8;

  Emitter &e;
  const WorkLoop &loop;
  llir::GemmOp op;
  SmallVector<MovedResult> results;
  SmallVector<Expr> extents;
  /// The product's index over batchDim, rows.dim and columns.dim.
  Index index;
  SmallVector<unsigned> batchGroup;
  unsigned batchDim = 0, kDim = 0;
  Expr batch, kExtent;
  Side rows, columns;
  /// The columns' group as runs of memory, and their index in the operand.
  std::optional<Domain> runs;
  Index runIndex;
  Type accumulator;
  int64_t bytes = 4;
  unsigned lanes = 1;
  GemmTile tile;
  Packing packing = Packing::Elements;
  /// Which operand is read element by element, and why.
  StringRef sides = "the left one";
  std::string rowCopyReason;
  /// The form for few rows is dot products.
  bool isDot = false;
  bool maySkinny = false, mayTile = true;
  /// Rows are copied to scratch as accumulators, the first row of the unit
  /// first.
  bool packRows = false;
  Value rowCopy, rowCopyBegin;
  /// Rows in one unit; 0: all.
  int64_t rowBlock = 0;
  int64_t unitColumns = 0;
};
} // namespace

WorkShape luminal::emitGemmKernel(Emitter &e, const WorkLoop &loop) {
  if (!loop.single)
    if (std::optional<WorkShape> shape = GemmKernel(e, loop).emit())
      return *shape;
  // Every element computes its own sum.
  return emitMapKernel(e, loop);
}
