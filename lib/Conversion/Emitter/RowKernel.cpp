//===- RowKernel.cpp - Kernels that reduce rows, pass by pass -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every reduction of the body is one pass over a row; the elements of results
// that have the whole domain's shape are a last pass. A pass finds what earlier
// ones reduced in the emitter's memo. Lanes run along the row or, where the
// schedule gives the grid lanes, across rows.
//
//===----------------------------------------------------------------------===//

#include "PartsEmitter.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace luminal;
using namespace mlir;

namespace {
/// A value whose row is kept by the pass that reduces it: in the row of a
/// result, which takes its elements meanwhile, or in scratch.
struct Kept {
  Value v;
  std::optional<unsigned> result;
  /// Where its row begins in scratch, in bytes.
  Expr offset;
};

class RowKernel {
public:
  RowKernel(Emitter &e, const WorkLoop &loop) : e(e), loop(loop) {
    for (auto op : e.kernel.getBody().getOps<llir::RowReductionOpInterface>())
      reduces.push_back(op);
    rows = hlir::getExtents(reduces[0]->getOperand(0));
    extent = rows.pop_back_val();
    column = e.addDim(extent);
    for (llir::LoopAxisAttr axis : e.loopCase.getStream())
      columnLanes = axis.getLanes();
  }

  WorkShape emit() {
    auto groups = llir::getGroups(e.loopCase.getGrid());
    Domain domain = makeDomain(e, rows, groups);
    rowIndex = domain.index;
    Grid grid(domain, groups, e.loopCase);
    Emitter::Repeated repeated(e,
                               {domain.extents.begin(), domain.extents.end()});
    Expr scratch = findKept();
    setResidents();
    e.clearPlaces();
    PartsEmitter parts(e);
    e.forLoop(loop.begin, loop.end, loop.step, [&](Value unit) {
      setBases();
      auto forEachRow = [&](Value block, function_ref<void()> body) {
        grid.emitIndices(e, block, body);
      };
      if (parts.isCut())
        parts.emitUnit(unit, rowIndex, forEachRow, [&] { emitRow(); });
      else
        forEachRow(unit, [&] { emitRow(); });
    });
    // The mean price of a pass is that of the body.
    int64_t passes = reduces.size() + 1;
    Expr cost = extent * (getElementCost(e.kernel) * passes);
    return {parts.countUnits(grid.countUnits()),
            parts.getUnitCost(grid.getUnitLength() * cost), scratch};
  }

private:
  /// So many blocks of threads are to find room on a multiprocessor.
  void setResidents() {
    llir::LoopFormAttr form = e.loopCase.getForm(llir::getPosition(reduces[0]));
    if (int64_t blocks = form.getNumber("blocks", 0))
      e.setResidents(blocks);
  }
  bool isRowLevel(Value v) const { return getRank(v) == rows.size(); }
  Index withColumn(Index index) const {
    index.push_back(Expr::dim(column));
    return index;
  }

  //===--------------------------------------------------------------------===//
  // Kept rows
  //===--------------------------------------------------------------------===//

  /// Finds what the schedule keeps; the result is the scratch that it takes.
  Expr findKept() {
    Expr scratch = 0;
    for (llir::LoopFormAttr form : e.loopCase.getForms()) {
      Operation *op =
          &*std::next(e.kernel.getBody().front().begin(), form.getOp());
      if (llir::hasLoops(op))
        continue;
      Kept k{op->getResult(0), std::nullopt, 0};
      int64_t result = form.getNumber("result", -1);
      if (result >= 0) {
        k.result = result;
      } else {
        k.offset = Expr::ceilDiv(scratch, 64) * 64;
        Type stored = getStorageType(getElementType(k.v));
        scratch =
            k.offset + extent * int64_t(stored.getIntOrFloatBitWidth() / 8);
      }
      kept.push_back(k);
    }
    return scratch;
  }

  void setBases() {
    for (const Kept &k : kept)
      if (!k.result)
        e.setBase(k.v,
                  e.address(loop.scratch, e.value(k.offset), e.b.getI8Type()));
  }

  void keep(const Kept &k, const Index &at, Value v) {
    if (k.result)
      return e.store(*k.result, at, v);
    e.keep(k.v, at.back(), v);
  }

  /// From here on the row is read where it is kept.
  void readKept(const Kept &k, const Index &at) {
    if (k.result) {
      Expr address = e.getResultAddress(*k.result, at);
      return e.remember(k.v, at, e.loadResult(*k.result, address));
    }
    e.place(k.v, [](const Index &index) { return index.back(); });
  }

  //===--------------------------------------------------------------------===//
  // Passes
  //===--------------------------------------------------------------------===//

  /// The reduction of a value that is kept, which writes the row on its way;
  /// the first pass that reads the value keeps it.
  void emitKept(llir::RowReductionOpInterface op, const Kept &k) {
    emitRowReduction(e, op, rowIndex,
                     [&](const Index &at) { keep(k, at, e.emit(k.v, at)); });
  }

  /// The reductions, and results that have one element a row.
  void emitRowLevel() {
    SmallVector<bool> done(kept.size(), false);
    for (llir::RowReductionOpInterface op : reduces) {
      auto it = llvm::find_if(kept, [&](const Kept &k) {
        return llvm::is_contained(op->getOperands(), k.v);
      });
      size_t i = it - kept.begin();
      if (i < kept.size() && !done[i]) {
        done[i] = true;
        emitKept(op, kept[i]);
      } else {
        e.emit(op->getResult(0), rowIndex);
      }
    }
    SmallVector<std::pair<unsigned, Value>> values;
    for (auto [i, v] : llvm::enumerate(getYielded(e.kernel)))
      if (isRowLevel(v))
        values.push_back({i, e.emit(v, rowIndex)});
    e.byOneMember([&] {
      for (auto [i, v] : values)
        e.store(i, rowIndex, v);
    });
  }

  bool hasElementLevel() {
    return llvm::any_of(getYielded(e.kernel),
                        [&](Value v) { return !isRowLevel(v); });
  }

  void emitElementLevel() {
    Emitter::Repeated repeated(e, {extent});
    Index at = withColumn(rowIndex);
    for (const Kept &k : kept)
      readKept(k, at);
    SmallVector<std::pair<unsigned, Value>> values;
    for (auto [i, v] : llvm::enumerate(getYielded(e.kernel)))
      if (!isRowLevel(v))
        values.push_back({i, e.emit(v, at)});
    for (auto [i, v] : values)
      e.store(i, at, v);
  }

  /// A row, or a vector of rows.
  void emitRow() {
    emitRowLevel();
    if (!hasElementLevel())
      return;
    if (e.team.count > 1) {
      unsigned unroll = e.loopCase.getForm(llir::getPosition(reduces[0]))
                            .getNumber("unroll", 1);
      e.teamLoop(column, e.getWhole(extent), columnLanes, unroll, {},
                 [&](ValueRange) {
                   emitElementLevel();
                   return SmallVector<Value>();
                 });
      return;
    }
    if (!e.isVector())
      return e.laneLoop(column, e.constant(0), e.value(extent), columnLanes,
                        [&] { emitElementLevel(); });
    e.forLoop(e.constant(0), e.value(extent), e.constant(1), [&](Value k) {
      e.setDim(column, k);
      emitElementLevel();
    });
  }

  Emitter &e;
  const WorkLoop &loop;
  SmallVector<llir::RowReductionOpInterface> reduces;
  SmallVector<Expr> rows;
  Expr extent;
  unsigned column;
  unsigned columnLanes = 1;
  /// The index of a row.
  Index rowIndex;
  SmallVector<Kept> kept;
};
} // namespace

void luminal::emitRowReduction(Emitter &e, llir::RowReductionOpInterface op,
                               const Index &index,
                               function_ref<void(const Index &)> before) {
  SmallVector<Value> results =
      e.emitReduction(op, index, /*varies=*/false,
                      e.loopCase.getForm(llir::getPosition(op)), before);
  for (auto [result, element] : llvm::zip_equal(op->getResults(), results))
    e.remember(result, index, element);
}

WorkShape luminal::emitRows(Emitter &e, const WorkLoop &loop) {
  return RowKernel(e, loop).emit();
}
