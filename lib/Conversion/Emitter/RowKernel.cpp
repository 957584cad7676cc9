//===- RowKernel.cpp - Kernels that reduce rows ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Row reductions. Each reduction of the body is a pass over a row; the schedule
// may fuse several into one pass. Results with the full shape are computed in a
// last pass. A pass finds earlier reductions in the emitter's memo. Lanes run
// along the row or, if the schedule vectorises the grid, across rows.
//
//===----------------------------------------------------------------------===//

#include "PartsEmitter.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace luminal;
using namespace mlir;

namespace {
/// A value whose row is stored by the first pass that reads it: in the row of a
/// result (which is overwritten later) or in scratch.
struct Kept {
  Value v;
  std::optional<unsigned> result;
  /// Byte offset of the row in scratch.
  Expr offset;
};

class RowKernel {
public:
  RowKernel(Emitter &e, const WorkLoop &loop) : e(e), loop(loop) {
    for (auto op : e.kernel.getBody().getOps<llir::RowReductionOpInterface>())
      reduces.push_back(op);
    rows = hlir::getExtents(reduces[0]->getOperand(0));
    bool found(findRowResults(e, rows, results));
    assert(found && "a schedule that was not verified");
    (void)found;
    extent = rows.pop_back_val();
    column = e.addDim(extent);
    for (llir::LoopAxisAttr axis : e.loopCase.getStream())
      columnLanes = axis.getLanes();
    walks = llir::getWalks(
        llvm::to_vector_of<llir::ReductionOpInterface>(reduces), e.loopCase);
  }

  WorkShape emit() {
    auto groups = llir::getGroups(e.loopCase.getGrid());
    Domain domain = makeDomain(e, rows, groups);
    rowIndex = domain.index;
    findNext(domain);
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
    // The average cost of a pass is estimated as that of the body.
    int64_t passes = walks.size() + 1;
    Expr cost = extent * (getElementCost(e.kernel) * passes);
    return {parts.countUnits(grid.countUnits()),
            parts.getUnitCost(grid.getUnitLength() * cost), scratch};
  }

private:
  /// Applies the schedule's minimum number of blocks per multiprocessor.
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

  /// Finds the values that the schedule keeps; returns the scratch bytes for
  /// them.
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

  /// Makes later reads of the row use the kept copy.
  void readKept(const Kept &k, const Index &at) {
    if (k.result) {
      Expr address = e.getResultAddress(*k.result, at);
      return e.remember(k.v, at, e.loadResult(*k.result, address));
    }
    e.place(k.v, [](const Index &index) { return index.back(); });
  }

  //===--------------------------------------------------------------------===//
  // Prefetch of the next row
  //===--------------------------------------------------------------------===//

  /// A contiguous read of a row by the first pass, and the distance to the next
  /// row.
  struct NextRow {
    BlockArgument argument;
    Expr address, toNext;
  };

  static bool isAhead(llir::LoopFormAttr form) {
    return form.getWord("ahead") == "rows";
  }

  void findNext(const Domain &domain) {
    if (domain.dims.empty() || llvm::none_of(e.loopCase.getForms(), isAhead))
      return;
    unsigned row = domain.dims.back();
    // Other dims are loaded indices, which cannot be prefetched.
    auto isKnown = [&](const Expr &address) {
      for (unsigned dim = 0; dim < e.getExtents().size(); ++dim)
        if (address.usesDim(dim) && dim != column &&
            !llvm::is_contained(domain.dims, dim))
          return false;
      return true;
    };
    auto visit = [&](const Leaf &leaf) {
      if (!leaf.argument || !isKnown(leaf.address))
        return;
      auto inColumn = leaf.address.linearIn(column);
      auto inRow = leaf.address.linearIn(row);
      if (inColumn && inColumn->stride.isConstant(1) && inRow &&
          !inRow->stride.isConstant(0) && !inRow->stride.hasDims())
        next.push_back({leaf.argument, leaf.address, inRow->stride});
    };
    for (Value operand : reduces.front()->getOperands())
      e.walk(operand, withColumn(rowIndex), visit);
  }

  /// Prefetches the element of the next row in the column of `at`. After the
  /// last row the address is outside the operand, which is allowed for a
  /// prefetch.
  void bringNext(const Index &at) {
    for (const NextRow &n : next) {
      Expr address = e.simplify(
          n.address.substitute([&](const Expr &leaf) -> std::optional<Expr> {
            if (leaf.asDim() == column)
              return at.back();
            return std::nullopt;
          }));
      Value element = e.add(e.value(address), e.value(n.toNext));
      e.prefetchLine(e.address(e.getBuffer(n.argument.getArgNumber()), element,
                               getStorageType(getElementType(n.argument))));
    }
  }

  /// The number of vectors in a cache line, if a step of the pass covers whole
  /// lines; else 1.
  unsigned countVectorsOfLine(llir::LoopFormAttr form) const {
    const int64_t line = e.machine.lineBytes;
    int64_t bytes = line;
    for (const NextRow &n : next)
      bytes = std::min<int64_t>(bytes,
                                form.getNumber("lanes", 1) *
                                    getStorageType(getElementType(n.argument))
                                        .getIntOrFloatBitWidth() /
                                    8);
    int64_t vectors = line / std::max<int64_t>(1, bytes);
    return form.getNumber("unroll", 1) % vectors == 0 ? vectors : 1;
  }

  //===--------------------------------------------------------------------===//
  // Passes
  //===--------------------------------------------------------------------===//

  /// Emits one pass. The first pass that reads a kept value stores its row.
  /// With `ahead` a later pass, whose own row is in the cache, prefetches the
  /// next row.
  void emitPass(const llir::ReductionWalk &walk, const Kept *k) {
    // Reductions that were split have merged their states already.
    if (e.isRemembered(walk.ops.front()->getResult(0), rowIndex))
      return;
    llir::LoopFormAttr form = walk.form;
    bool brings = isAhead(form) && !next.empty();
    unsigned vectors = countVectorsOfLine(form), number = 0;
    auto before = [&](const Index &at) {
      // The remainder of a row lies on lines that were prefetched before.
      if (brings && number < form.getNumber("unroll", 1) &&
          number % vectors == 0)
        bringNext(at);
      ++number;
      if (k)
        keep(*k, at, e.emit(k->v, at));
    };
    emitRowReductions(e, walk, rowIndex,
                      k || brings ? function_ref<void(const Index &)>(before)
                                  : nullptr);
  }

  /// Emits the reductions, and the results with one element per row.
  void emitRowLevel() {
    SmallVector<bool> done(kept.size(), false);
    for (const llir::ReductionWalk &walk : walks) {
      auto it = llvm::find_if(kept, [&](const Kept &k) {
        return llvm::any_of(walk.ops, [&](llir::ReductionOpInterface op) {
          return llvm::is_contained(op->getOperands(), k.v);
        });
      });
      size_t i = it - kept.begin();
      bool keeps = i < kept.size() && !done[i];
      if (keeps)
        done[i] = true;
      emitPass(walk, keeps ? &kept[i] : nullptr);
    }
    SmallVector<std::pair<unsigned, Value>> values;
    for (auto [i, result] : llvm::enumerate(results))
      if (isRowLevel(result.source))
        values.push_back({i, e.emit(result.source, rowIndex)});
    e.byOneMember([&] {
      for (auto [i, v] : values)
        e.store(i, results[i].getIndex(e, rowIndex), v);
    });
  }

  bool hasElementLevel() {
    return llvm::any_of(results, [&](const MovedResult &result) {
      return !isRowLevel(result.source);
    });
  }

  void emitElementLevel() {
    Emitter::Repeated repeated(e, {extent});
    Index at = withColumn(rowIndex);
    for (const Kept &k : kept)
      readKept(k, at);
    SmallVector<std::pair<unsigned, Value>> values;
    for (auto [i, result] : llvm::enumerate(results))
      if (!isRowLevel(result.source))
        values.push_back({i, e.emit(result.source, at)});
    for (auto [i, v] : values)
      e.store(i, results[i].getIndex(e, at), v);
  }

  /// Emits a row, or a vector of rows.
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
  SmallVector<llir::ReductionWalk> walks;
  SmallVector<MovedResult> results;
  SmallVector<Expr> rows;
  Expr extent;
  unsigned column;
  unsigned columnLanes = 1;
  /// The index of the row.
  Index rowIndex;
  SmallVector<Kept> kept;
  SmallVector<NextRow, 1> next;
};
} // namespace

void luminal::emitRowReductions(Emitter &e, const llir::ReductionWalk &walk,
                                const Index &index,
                                function_ref<void(const Index &)> before) {
  auto hasCode = [](llir::ReductionOpInterface op) {
    return isa<ReductionEmissionOpInterface>(op.getOperation());
  };
  if (auto it = llvm::find_if_not(walk.ops, hasCode); it != walk.ops.end()) {
    e.emit((*it)->getResult(0), index); // an error
    return;
  }
  bool varies =
      e.isVector() && e.variesOverLanes(walk.ops.front()->getResult(0), index);
  llir::ReductionOpInterface first = walk.ops.front();
  auto states = e.emitStates(walk.ops, index, varies, walk.form,
                             e.getWhole(first.getReducedExtent()), before);
  for (auto [op, state] : llvm::zip_equal(walk.ops, states)) {
    auto emission = cast<ReductionEmissionOpInterface>(*op);
    for (auto [result, element] :
         llvm::zip_equal(op->getResults(), emission.emitResults(e.b, state)))
      e.remember(result, index, element);
  }
}

WorkShape luminal::emitRows(Emitter &e, const WorkLoop &loop) {
  return RowKernel(e, loop).emit();
}
