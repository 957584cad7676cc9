//===- RowProgramKernel.cpp - Row programs --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Row programs. A work item is a vector of rows: each step (RowProgram) is
// computed for all of them and kept in scratch, with the rows of an element
// adjacent. Or it is a single row: then lanes run along the reduced dim of a
// step, or along the last dim of its result. On a GPU a thread group computes
// the row: its threads share the elements of a step, or its reduction, and
// synchronise after each step.
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"
#include "luminal/Conversion/ScalarMath.h"
#include "luminal/Dialect/LLIR/Analysis/RowProgram.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/TypeUtilities.h"

using namespace luminal;
using namespace mlir;

namespace {
class RowProgramKernel {
public:
  RowProgramKernel(Emitter &e, const WorkLoop &loop) : e(e), loop(loop), p(e) {}

  WorkShape emit();

private:
  void setBases();
  /// Calls `body` for the elements of a row's value (or of `piece`), with their
  /// indices: in loops over its dims, `count` of the last dim at a time.
  void forEach(Value v, int64_t count, std::optional<RowProgram::Piece> piece,
               function_ref<void(ArrayRef<Index>)> body);
  /// The same with the elements distributed over the threads of the group,
  /// `count` per thread at a time. A thread without an element recomputes
  /// another thread's element and writes the same value: a branch would cost
  /// more and would delay loads.
  void forEachShare(Value v, int64_t count,
                    std::optional<RowProgram::Piece> piece,
                    function_ref<void(ArrayRef<Index>)> body);
  /// Delays `write` until the whole level is computed, if possible, so that no
  /// load waits for a store.
  void writeLater(std::function<void()> write);
  SmallVector<Value> take(Operation *op, ValueRange state, const Index &index);
  void emitAcross(Operation *op);
  void emitAlong(Operation *op);
  void emitRun(const RowProgram::Run &run);
  void emitSegmentsOf(const RowProgram::Run &run, const Index &index);
  void writeWaiting();
  void meet();
  /// Calls `body` for all elements of a row's value, in vectors of rows or of
  /// its last dim.
  void forEachVector(Value v, unsigned width,
                     function_ref<void(const Index &)> body);
  void emitRowByRow(Value v, unsigned width);
  void emitRows();
  void emitTeamRow();
  /// The final states of a reduction for the elements at `indices`, computed in
  /// one loop so that shared loads are done once.
  SmallVector<Value> reduce(Operation *op, ArrayRef<Index> indices);
  SmallVector<Value> emitResults(Operation *op, ArrayRef<Value> states,
                                 size_t number);
  void keep(Value v, const Index &at, Value element);

  Emitter &e;
  const WorkLoop &loop;
  RowProgram p;
  /// The levels of the group's program.
  SmallVector<RowProgram::Level> levels;
  bool canWait = true;
  SmallVector<std::function<void()>> waiting;
  /// Base of the worker's, or the group's, memory.
  Value memory;
  /// Rows per work item, and lanes of loops over the elements of a row.
  int64_t lanes = 1;
  unsigned columnLanes = 1;
  /// The index of a row, and its position in the vector of rows.
  Index row;
  Expr inVector = 0;
};
} // namespace

void RowProgramKernel::setBases() {
  for (Operation *op : p.steps)
    for (Value v : op->getResults())
      e.setBase(v, e.address(memory, e.value(p.getOffset(v, lanes)),
                             e.b.getI8Type()));
}

void RowProgramKernel::keep(Value v, const Index &at, Value element) {
  e.keep(v, p.getPlace(v, at, lanes, inVector), element);
}

void RowProgramKernel::forEach(Value v, int64_t count,
                               std::optional<RowProgram::Piece> piece,
                               function_ref<void(ArrayRef<Index>)> body) {
  SmallVector<Expr> own = hlir::getExtents(v);
  SmallVector<Expr> local(own.begin() + p.extents.size(), own.end());
  if (piece)
    local.back() = piece->hi - piece->lo;
  Emitter::Repeated repeated(e, {local.begin(), local.end()});
  Index at = row;
  std::function<void(size_t)> nest = [&](size_t i) {
    if (i == local.size())
      return body({at});
    Expr extent = local[i];
    Expr lo = piece && i + 1 == local.size() ? piece->lo : 0;
    if (extent.isConstant(1)) {
      at.push_back(lo);
      nest(i + 1);
      at.pop_back();
      return;
    }
    bool isLast =
        llvm::all_of(ArrayRef(local).drop_front(i + 1),
                     [](const Expr &inner) { return inner.isConstant(1); });
    int64_t step = isLast ? count : 1;
    // Each of the `together` elements has a dim of its own.
    auto take = [&](Value first, int64_t together) {
      SmallVector<Index> indices;
      for (int64_t u = 0; u < together; ++u) {
        unsigned dim = e.addDim(extent);
        e.setDim(dim, e.add(first, e.constant(u)));
        at.push_back(Expr::dim(dim) + lo);
        if (!isLast) {
          nest(i + 1);
          at.pop_back();
          continue;
        }
        Index index = at;
        index.resize(own.size(), Expr(0));
        // A piece with a single index is among the dims that were skipped.
        if (piece && i + 1 < local.size())
          index.back() = piece->lo;
        indices.push_back(index);
        at.pop_back();
      }
      if (isLast)
        body(indices);
    };
    Value zero = e.constant(0), all = e.value(extent);
    Value rest = e.remU(all, e.constant(step)), whole = e.sub(all, rest);
    e.forLoop(zero, whole, e.constant(step),
              [&](Value first) { take(first, step); });
    // A remainder of known size is unrolled too.
    std::optional<int64_t> known = getConstantIntValue(rest);
    if (known == 0)
      return;
    int64_t together = known.value_or(1);
    e.forLoop(whole, all, e.constant(together),
              [&](Value first) { take(first, together); });
  };
  nest(0);
}

/// The state of a reduction after its terms at `index` are added.
SmallVector<Value> RowProgramKernel::take(Operation *op, ValueRange state,
                                          const Index &index) {
  auto emission = cast<ReductionEmissionOpInterface>(op);
  SmallVector<Value> terms = emission.emitTerms(e, index);
  for (Value &term : terms)
    term = e.spread(term);
  return emission.emitStep(e.b, state, terms);
}

SmallVector<Value> RowProgramKernel::reduce(Operation *op,
                                            ArrayRef<Index> indices) {
  auto reduction = cast<llir::ReductionOpInterface>(op);
  auto emission = cast<ReductionEmissionOpInterface>(op);
  Expr extent = reduction.getReducedExtent();
  SmallVector<Type> types;
  for (Type type : reduction.getStateTypes())
    types.push_back(e.laneType(type));
  size_t size = types.size();
  Emitter::Repeated repeated(e, {extent});
  unsigned k = e.addDim(extent);
  SmallVector<Value> states;
  for (size_t i = 0; i < indices.size(); ++i)
    llvm::append_range(states, emission.emitInitial(e.b, types));
  auto merge = [&](ValueRange x, ValueRange y) {
    return emission.emitMerge(e.b, x, y);
  };
  Value length = e.value(extent);
  std::optional<int64_t> steps = getConstantIntValue(length);
  return e.stateLoop(
      e.constant(0), length, 1, states,
      [&](Value at, ValueRange before) {
        e.setDim(k, at);
        SmallVector<Value> next;
        for (auto [i, index] : llvm::enumerate(indices)) {
          Index inner = index;
          inner.push_back(Expr::dim(k));
          llvm::append_range(next,
                             take(op, before.slice(i * size, size), inner));
        }
        return next;
      },
      emission.roundsSteps() && steps >= 2 * Emitter::kSumRounds
          ? Emitter::MergeStates(merge)
          : nullptr,
      size);
}

/// The results of element `number` of a joint reduction.
SmallVector<Value> RowProgramKernel::emitResults(Operation *op,
                                                 ArrayRef<Value> states,
                                                 size_t number) {
  size_t size = cast<llir::ReductionOpInterface>(op).getStateTypes().size();
  return cast<ReductionEmissionOpInterface>(op).emitResults(
      e.b, states.slice(number * size, size));
}

/// Computes several elements of a reduction's results at once.
void RowProgramKernel::emitAcross(Operation *op) {
  llir::LoopFormAttr form = e.loopCase.getForm(llir::getPosition(op));
  forEach(op->getResult(0), form.getNumber("columns", 1), std::nullopt,
          [&](ArrayRef<Index> indices) {
            SmallVector<Value> states = reduce(op, indices);
            for (auto [i, index] : llvm::enumerate(indices))
              for (auto [v, element] : llvm::zip_equal(
                       op->getResults(), emitResults(op, states, i)))
                keep(v, index, element);
          });
}

/// Computes the elements of one row; lanes run along the reduced dim.
void RowProgramKernel::emitAlong(Operation *op) {
  auto reduction = cast<llir::ReductionOpInterface>(op);
  forEach(op->getResult(0), 1, std::nullopt, [&](ArrayRef<Index> indices) {
    SmallVector<Value> elements =
        e.emitReduction(reduction, indices[0], /*varies=*/false,
                        e.loopCase.getForm(llir::getPosition(op)));
    e.byOneMember([&] {
      for (auto [v, element] : llvm::zip_equal(op->getResults(), elements))
        keep(v, indices[0], element);
    });
  });
}

void RowProgramKernel::forEachVector(Value v, unsigned width,
                                     function_ref<void(const Index &)> body) {
  SmallVector<Expr> own = hlir::getExtents(v);
  bool hasLocal = own.size() > p.extents.size() && !own.back().isConstant(1);
  auto take = [&](ArrayRef<Index> indices) { body(indices.front()); };
  if (e.isVector() && hasLocal)
    for (std::optional<RowProgram::Piece> piece : p.findPieces(v, row))
      forEach(v, 1, piece, take);
  else if (!hasLocal)
    forEach(v, 1, std::nullopt, take);
  if (e.isVector() || !hasLocal)
    return;
  // Loops over all dims except the last.
  SmallVector<Expr> local(own.begin() + p.extents.size(), own.end());
  Emitter::Repeated repeated(e, {local.begin(), local.end()});
  Index at = row;
  std::function<void(size_t)> nest = [&](size_t i) {
    unsigned dim = e.addDim(local[i]);
    at.push_back(local[i].isConstant(1) ? Expr(0) : Expr::dim(dim));
    Value zero = e.constant(0), all = e.value(local[i]);
    if (i + 1 == local.size())
      e.laneLoop(dim, zero, all, width, [&] { body(at); });
    else
      e.forLoop(zero, all, e.constant(1), [&](Value index) {
        e.setDim(dim, index);
        nest(i + 1);
      });
    at.pop_back();
  };
  nest(0);
}

/// Computes per-row lookups row by row, with lanes along the last dim.
void RowProgramKernel::emitRowByRow(Value v, unsigned width) {
  Emitter::Lane saved = e.getLane();
  Value first = e.value(Expr::dim(saved.dim));
  Value count = saved.count ? saved.count : e.constant(saved.width);
  {
    Emitter::FreshScope fresh(e);
    e.clearLane();
    e.keepsVectors = false;
    e.forLoop(e.constant(0), count, e.constant(1), [&](Value number) {
      e.setDim(saved.dim, e.add(first, number));
      forEachVector(v, width,
                    [&](const Index &at) { keep(v, at, e.emit(v, at)); });
    });
    e.keepsVectors = true;
  }
  e.setDim(saved.dim, first);
  e.setLane(saved.dim, saved.width, saved.count);
}

/// Computes all steps for the rows of a work item.
void RowProgramKernel::emitRows() {
  e.clearPlaces();
  for (Operation *op : p.steps) {
    Value v = op->getResult(0);
    int64_t own =
        e.loopCase.getForm(llir::getPosition(op)).getNumber("lanes", 0);
    if (!llir::hasLoops(op) && lanes > 1 && own)
      emitRowByRow(v, own);
    else if (!llir::hasLoops(op))
      forEachVector(v, own ? own : 1,
                    [&](const Index &at) { keep(v, at, e.emit(v, at)); });
    else if (lanes > 1)
      emitAcross(op);
    else
      emitAlong(op);
    for (Value result : op->getResults())
      p.place(result, lanes, inVector);
  }
  for (auto [i, result] : llvm::enumerate(p.results))
    forEachVector(result.source, columnLanes, [&](const Index &at) {
      e.store(i, result.getIndex(e, at), e.emit(result.source, at));
    });
}

//===----------------------------------------------------------------------===//
// Teams
//===----------------------------------------------------------------------===//

void RowProgramKernel::forEachShare(Value v, int64_t count,
                                    std::optional<RowProgram::Piece> piece,
                                    function_ref<void(ArrayRef<Index>)> body) {
  SmallVector<Expr> own = hlir::getExtents(v), local;
  SmallVector<unsigned> places;
  for (auto [i, extent] : llvm::enumerate(own))
    if (i >= p.extents.size() && !extent.isConstant(1)) {
      places.push_back(i);
      local.push_back(extent);
    }
  if (piece)
    local.back() = piece->hi - piece->lo;
  Emitter::Team team = e.team;
  Emitter::Repeated repeated(e, {local.begin(), local.end()});
  // Loops inside the body are not distributed again.
  e.team = Emitter::Team();
  Value n = e.value(product({local.begin(), local.end()}));
  Value member = team.count > 1 ? team.member : e.constant(0);
  auto take = [&](Value begin, int64_t together, bool isLastPartial) {
    SmallVector<Index> indices;
    for (int64_t u = 0; u < together; ++u) {
      Value at = e.add(e.add(begin, e.constant(u * team.count)), member);
      if (isLastPartial && u + 1 == together)
        at = e.minS(at, e.sub(n, e.constant(1)));
      SmallVector<unsigned> dims;
      for (const Expr &extent : local)
        dims.push_back(e.addDim(extent));
      setDims(e, dims, local, at);
      Index &index = indices.emplace_back(row);
      index.resize(own.size(), Expr(0));
      for (auto [place, dim] : llvm::zip_equal(places, dims))
        index[place] = Expr::dim(dim);
      if (piece)
        index.back() = index.back() + Expr(piece->lo);
    }
    Emitter::MemoScope scope(e);
    body(indices);
  };
  int64_t each = team.count, round = each * count;
  auto loop = [&](Value lo, Value hi, int64_t together, bool isLastPartial) {
    // Code inside a loop cannot be delayed past it.
    writeWaiting();
    canWait = false;
    e.forLoop(lo, hi, e.constant(each * together),
              [&](Value begin) { take(begin, together, isLastPartial); });
    canWait = true;
  };
  Value whole = e.sub(n, e.remU(n, e.constant(round)));
  std::optional<int64_t> all = getConstantIntValue(n);
  if (all && *all / round == 1)
    take(e.constant(0), count, /*isLastPartial=*/false);
  else if (!all || *all > round)
    loop(e.constant(0), whole, count, /*isLastPartial=*/false);
  if (!all)
    loop(whole, n, 1, /*isLastPartial=*/true);
  else if (int64_t rest = *all % round)
    take(whole, llvm::divideCeil(rest, each), rest % each != 0);
  e.team = team;
}

void RowProgramKernel::writeLater(std::function<void()> write) {
  waiting.push_back(std::move(write));
  if (!canWait)
    writeWaiting();
}

void RowProgramKernel::writeWaiting() {
  for (const std::function<void()> &write : waiting)
    write();
  waiting.clear();
}

/// Makes the writes of the group's threads visible to each other.
void RowProgramKernel::meet() {
  if (e.team.count > 1)
    NVVM::SyncWarpOp::create(e.b, e.team.mask);
}

/// Emits the segment reductions of a run in one loop.
void RowProgramKernel::emitSegmentsOf(const RowProgram::Run &run,
                                      const Index &index) {
  SmallVector<llir::SegmentReduceOp> ops;
  for (Operation *op : run)
    if (auto segments = dyn_cast<llir::SegmentReduceOp>(op))
      ops.push_back(segments);
  if (ops.size() < 2)
    return;
  for (auto [op, element] : llvm::zip_equal(ops, emitSegments(e, ops, index)))
    e.remember(op.getResult(), index, element);
}

/// Emits the result elements of a run's ops, distributed over the threads.
void RowProgramKernel::emitRun(const RowProgram::Run &run) {
  llir::LoopFormAttr form = e.loopCase.getForm(llir::getPosition(run.front()));
  if (form.getForm().getValue() == "along")
    return emitAlong(run.front());
  auto emitElements = [&](Operation *op, ArrayRef<Index> indices) {
    if (!llir::hasLoops(op)) {
      for (const Index &index : indices)
        e.emit(op->getResult(0), index);
      return;
    }
    SmallVector<Value> states = reduce(op, indices);
    for (auto [i, index] : llvm::enumerate(indices))
      for (auto [v, element] :
           llvm::zip_equal(op->getResults(), emitResults(op, states, i)))
        e.remember(v, index, element);
  };
  auto emitTogether = [&](ArrayRef<Index> indices) {
    for (const Index &index : indices)
      emitSegmentsOf(run, index);
    for (Operation *op : run)
      emitElements(op, indices);
    for (Operation *op : run) {
      if (!p.isReadLater(op))
        continue;
      for (const Index &index : indices)
        for (Value v : op->getResults())
          writeLater([this, v, index, element = e.emit(v, index)] {
            keep(v, index, element);
          });
    }
  };
  auto values = llvm::map_to_vector(
      run, [](Operation *op) -> Value { return op->getResult(0); });
  for (std::optional<RowProgram::Piece> piece : p.findPieces(values, row))
    forEachShare(values.front(), form.getNumber("columns", 1), piece,
                 emitTogether);
}

/// Computes all steps for the group's row.
void RowProgramKernel::emitTeamRow() {
  e.clearPlaces();
  // All threads are done with the values of the previous row.
  meet();
  for (const RowProgram::Level &level : levels) {
    for (const RowProgram::Run &run : level.runs)
      emitRun(run);
    writeWaiting();
    meet();
    for (const RowProgram::Run &run : level.runs)
      for (Operation *op : run)
        for (Value result : op->getResults())
          p.place(result, lanes, inVector);
  }
  for (auto [i, result] : llvm::enumerate(p.results))
    forEachShare(
        result.source, 1, std::nullopt, [&, i = i](ArrayRef<Index> indices) {
          const Index &at = indices.front();
          e.store(i, result.getIndex(e, at), e.emit(result.source, at));
        });
}

//===----------------------------------------------------------------------===//
// Work items
//===----------------------------------------------------------------------===//

WorkShape RowProgramKernel::emit() {
  e.clearPlaces();
  unsigned threads = e.loopCase.getThreads(), team = e.loopCase.getTeam();
  bool found(p.apply(e.loopCase));
  assert(found && "a schedule that was not verified");
  (void)found;
  for (Operation *op : p.steps)
    if (llir::hasLoops(op) && !isa<ReductionEmissionOpInterface>(op)) {
      e.fail(op, "has no code inside a kernel");
      return {};
    }
  memory = loop.scratch;
  if (threads)
    levels = p.findLevels(e.loopCase);
  if (threads)
    memory =
        e.address(e.makeLaunchShared(),
                  e.mul(e.team.number, e.value(p.countTeamBytes(e.machine))),
                  e.b.getI8Type());
  for (llir::LoopAxisAttr axis : e.loopCase.getGrid())
    lanes = axis.getLanes();
  for (llir::LoopFormAttr form : e.loopCase.getForms())
    columnLanes = std::max<int64_t>(columnLanes, form.getNumber("lanes", 1));
  e.keepsVectors = lanes > 1;
  auto groups = llir::getGroups(e.loopCase.getGrid());
  Domain domain = makeDomain(e, p.extents, groups);
  row = domain.index;
  Grid grid(domain, groups, e.loopCase);
  Emitter::Repeated repeated(e, {domain.extents.begin(), domain.extents.end()});
  std::optional<unsigned> begin;
  if (!domain.dims.empty()) {
    begin = e.addDim(domain.extents.back());
    inVector = Expr::dim(domain.dims.back()) - Expr::dim(*begin);
  }
  e.forLoop(loop.begin, loop.end, loop.step, [&](Value unit) {
    setBases();
    grid.emitIndices(e, unit, [&] {
      if (begin)
        e.setDim(*begin, e.value(Expr::dim(domain.dims.back())));
      if (threads)
        emitTeamRow();
      else
        emitRows();
    });
  });
  e.clearPlaces();
  e.keepsVectors = false;
  Expr cost = 0;
  for (Operation *op : p.steps) {
    Expr elements = p.countLocal(op->getResult(0));
    if (auto reduction = dyn_cast<llir::ReductionOpInterface>(op))
      cost = cost + elements * reduction.getReducedExtent();
    else
      cost = cost + elements * cast<llir::CodeOpInterface>(op).getCodeSize();
  }
  WorkShape shape = {grid.countUnits(),
                     grid.getUnitLength() * Expr::max(1, cost)};
  if (threads)
    shape.shared = p.countTeamBytes(e.machine) * int64_t(threads / team);
  else
    shape.scratch = p.countBytes(lanes);
  return shape;
}

WorkShape luminal::emitRowProgram(Emitter &e, const WorkLoop &loop) {
  return RowProgramKernel(e, loop).emit();
}
