//===- ElementLoops.cpp - Loops over the elements of a work item ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ElementLoops.h"
#include "luminal/Dialect/LLIR/Analysis/Conditions.h"
#include "luminal/Dialect/LLIR/Schedules/Schedules.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

#include <functional>
#include <set>
#include <utility>

using namespace luminal;
using namespace mlir;

/// Maximum cost of the code after the sums at which it runs directly on the
/// accumulators of several positions: four operations took 0.8 of the time that
/// they took on sums in scratch.
static constexpr int64_t kMostAtOnce = 8;

/// Replaces a dim in `at` with `by`.
static Index substitute(Emitter &e, Index at, unsigned dim, const Expr &by) {
  for (Expr &x : at)
    x = e.simplify(x.substitute([&](const Expr &leaf) -> std::optional<Expr> {
      if (leaf.asDim() == dim)
        return by;
      return std::nullopt;
    }));
  return at;
}

ElementLoops::ElementLoops(Emitter &e, const Grid &grid, const Index &index,
                           Value scratch)
    : e(e), grid(grid), index(index), scratch(scratch) {
  if (e.loopCase.getThreads() ||
      llvm::all_of(grid.axes, [](const Axis &a) { return a.lanes == 1; }))
    return;
  interleaved =
      llir::countInterleaved(e.loopCase, getResultExtents(e.kernel, 0));
  for (llir::LoopFormAttr form : e.loopCase.getForms())
    if (int64_t number = form.getNumber("places", 1); number > 1) {
      sums = cast<llir::ReductionOpInterface>(
          &*std::next(e.kernel.getBody().front().begin(), form.getOp()));
      places = number;
    }
  if (sums) {
    int64_t operations = 0;
    for (Operation *op = sums->getNextNode(); op; op = op->getNextNode())
      if (auto body = dyn_cast<llir::BodyOpInterface>(op);
          body && !body.isFree() && isa<llir::CodeOpInterface>(op))
        operations += cast<llir::CodeOpInterface>(op).getCodeSize();
    keepsSums = operations > kMostAtOnce;
  }
  for (bool ofLanes : {true, false})
    for (const Axis &of : llvm::reverse(grid.axes))
      if (parts.empty() && (of.lanes > 1) == ofLanes &&
          (interleaved == 1 || &of != &grid.axes.back())) {
        parts = findParts(of);
        cutAxis = parts.empty() ? nullptr : &of;
      }
}

/// The ranges of an axis in which all comparisons are constant; empty if
/// nothing changes, or too often. Only for axes that a work item covers whole.
SmallVector<ElementLoops::Part>
ElementLoops::findParts(const Axis &axis) const {
  constexpr size_t kMostParts = 3;
  if (axis.block)
    return {};
  std::optional<int64_t> extent = getConstantIntValue(e.value(axis.extent));
  if (!extent)
    return {};
  std::set<int64_t> edges, turns;
  for (Value v : getYielded(e.kernel)) {
    edges.merge(findEdges(e, v, index, axis.dim));
    turns.merge(findTurns(e, v, index, axis.dim));
  }
  auto cutAt = [&](const std::set<int64_t> &places) {
    SmallVector<Part> parts;
    int64_t begin = 0;
    for (int64_t place : places)
      if (place > begin && place < *extent)
        parts.push_back({std::exchange(begin, place), place});
    parts.push_back({begin, *extent});
    return parts;
  };
  if (sums && axis.lanes == 1)
    return joinBorders(cutAt(edges));
  turns.insert(edges.begin(), edges.end());
  for (const std::set<int64_t> &places : {turns, edges})
    if (SmallVector<Part> parts = cutAt(places);
        parts.size() > 1 && parts.size() <= kMostParts)
      return parts;
  return {};
}

/// The longest range, and what is before and after it as one range each.
/// Comparisons in short border ranges are resolved because each index has its
/// own code.
SmallVector<ElementLoops::Part>
ElementLoops::joinBorders(ArrayRef<Part> parts) const {
  const Part *inner =
      llvm::max_element(parts, [](const Part &x, const Part &y) {
        return x.end - x.begin < y.end - y.begin;
      });
  SmallVector<Part> joined;
  auto add = [&](int64_t begin, int64_t end, int64_t mostStraight) {
    if (begin < end)
      joined.push_back({begin, end, end - begin > mostStraight});
  };
  add(0, inner->begin, 2 * places);
  add(inner->begin, inner->end, places);
  add(inner->end, parts.back().end, 2 * places);
  return joined;
}

void ElementLoops::emit(Value unit, Body body) {
  SmallVector<Loop> loops;
  for (auto [axis, range] : llvm::zip_equal(grid.axes, grid.setUnit(e, unit)))
    if (range.lo)
      loops.push_back({&axis, range});
  // The vectorised axis is innermost, otherwise the last one.
  llvm::stable_sort(loops, [](const Loop &x, const Loop &y) {
    return x.axis->lanes < y.axis->lanes;
  });
  nest(loops, index, body);
}

void ElementLoops::nest(ArrayRef<Loop> loops, const Index &at, Body body) {
  if (loops.empty())
    return body({at});
  if (interleaved > 1 && loops.front().axis == &grid.axes.back())
    return nest(loops.drop_front(), at, [&](ArrayRef<Index> outer) {
      SmallVector<Index> places;
      for (const Index &place : outer)
        for (int64_t i = 0; i < interleaved; ++i)
          places.push_back(substitute(e, place, grid.axes.back().dim, i));
      body(places);
    });
  if (sums && loops.size() == 2)
    return emitPlaces(loops[0], loops[1], at, body);
  auto [axis, range] = loops.front();
  auto loop = [&](unsigned dim, Value lo, Value hi, const Index &inner) {
    if (loops.size() == 1)
      return e.laneLoop(dim, lo, hi, axis->lanes, [&] { body({inner}); });
    e.forLoop(lo, hi, e.constant(1), [&](Value x) {
      e.setDim(dim, x);
      nest(loops.drop_front(), inner, body);
    });
  };
  if (cutAxis != axis)
    return loop(axis->dim, range.lo, range.hi, at);
  for (const Part &part : parts) {
    int64_t count = part.end - part.begin;
    unsigned dim = e.addDim(count);
    loop(dim, e.constant(0), e.constant(count),
         substitute(e, at, axis->dim, part.begin + Expr::dim(dim)));
  }
}

//===----------------------------------------------------------------------===//
// Sums at several positions
//===----------------------------------------------------------------------===//

static Expr getBlock(const Axis &axis) {
  return axis.block ? Expr::min(axis.extent, axis.block) : axis.extent;
}

Expr ElementLoops::getScratchBytes() const {
  if (!keepsSums)
    return 0;
  unsigned bits = getStorageType(getElementType(sums->getResult(0)))
                      .getIntOrFloatBitWidth();
  Expr bytes = int64_t(bits / 8);
  for (const Axis &axis : grid.axes)
    if (axis.block != 1)
      bytes = bytes * getBlock(axis);
  return bytes;
}

/// Prevents LLVM from unrolling the loop over a vector of channels, which it
/// would do if there are few.
static void keepLoop(Emitter &e) {
  auto loop = dyn_cast<scf::ForOp>(e.b.getInsertionBlock()->getParentOp());
  if (!loop)
    return;
  MLIRContext *context = e.b.getContext();
  auto unroll = LLVM::LoopUnrollAttr::get(context, BoolAttr::get(context, true),
                                          {}, {}, {}, {}, {}, {});
  auto annotation = LLVM::LoopAnnotationAttr::get(
      context, {}, {}, {}, unroll, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {});
  loop->setAttr("llvm.loop_annotation", annotation);
}

/// Accumulates the sums at several positions in straight-line code. If the code
/// after the sums is long, the sums are stored to scratch until the line is
/// complete: such code (for example a function with a branch for rare
/// arguments) would make LLVM move sums behind the branch.
void ElementLoops::emitPlaces(const Loop &line, const Loop &lanes,
                              const Index &at, Body body) {
  Value result = sums->getResult(0);
  if (keepsSums)
    e.setBase(result, scratch);
  auto getBegin = [&](const Loop &loop) -> Expr {
    if (!loop.axis->block)
      return 0;
    unsigned dim = e.addDim(loop.axis->extent);
    e.setDim(dim, loop.range.lo);
    return Expr::dim(dim);
  };
  Expr lineBegin = getBegin(line), lanesBegin = getBegin(lanes);
  auto getPlace = [&](const Expr &place) {
    return (place - lineBegin) * getBlock(*lanes.axis) +
           Expr::dim(lanes.axis->dim) - lanesBegin;
  };
  auto forLanes = [&](function_ref<void()> inner) {
    e.laneLoop(lanes.axis->dim, lanes.range.lo, lanes.range.hi,
               lanes.axis->lanes, [&] {
                 keepLoop(e);
                 inner();
               });
  };
  auto emission = cast<ReductionEmissionOpInterface>(sums.getOperation());
  llir::LoopFormAttr form = e.loopCase.getForm(llir::getPosition(sums));
  auto sumAt = [&](const Expr &first, int64_t count) {
    SmallVector<Emitter::ReductionAt> reductions;
    for (int64_t i = 0; i < count; ++i) {
      Index place = substitute(e, at, line.axis->dim, first + i);
      for (Value yielded : getYielded(e.kernel))
        e.walk(yielded, place, nullptr, [&](Value v, const Index &own) {
          if (v == result)
            reductions.push_back({sums, own});
        });
    }
    forLanes([&] {
      auto states = e.emitStates(reductions, /*varies=*/true, form,
                                 e.getWhole(sums.getReducedExtent()));
      if (!keepsSums) {
        for (auto [reduction, state] : llvm::zip_equal(reductions, states))
          e.remember(result, reduction.index,
                     emission.emitResults(e.b, state).front());
        for (int64_t i = 0; i < count; ++i)
          body({substitute(e, at, line.axis->dim, first + i)});
        return;
      }
      for (auto [i, state] : llvm::enumerate(states))
        e.keep(result, getPlace(first + int64_t(i)),
               emission.emitResults(e.b, state).front());
    });
  };
  auto sumLoop = [&](Value lo, Value hi, int64_t count, const Expr &extent,
                     const Expr &begin) {
    unsigned dim = e.addDim(extent);
    e.forLoop(lo, hi, e.constant(count), [&](Value x) {
      e.setDim(dim, x);
      sumAt(begin + Expr::dim(dim), count);
    });
  };
  if (cutAxis == line.axis) {
    for (const Part &part : parts) {
      int64_t count = part.end - part.begin;
      int64_t whole = part.isLoop ? count - count % places : 0;
      if (whole)
        sumLoop(e.constant(0), e.constant(whole), places, whole - places + 1,
                part.begin);
      for (int64_t from = whole; from < count; from += places)
        sumAt(part.begin + from, std::min(places, count - from));
    }
  } else {
    auto [lo, hi] = line.range;
    Value whole = e.sub(hi, e.remU(e.sub(hi, lo), e.constant(places)));
    sumLoop(lo, whole, places, line.axis->extent - (places - 1), 0);
    sumLoop(whole, hi, 1, line.axis->extent, 0);
  }
  if (!keepsSums)
    return;
  e.place(result, [place = getPlace(Expr::dim(line.axis->dim))](const Index &) {
    return place;
  });
  e.forLoop(line.range.lo, line.range.hi, e.constant(1), [&](Value x) {
    e.setDim(line.axis->dim, x);
    forLanes([&] { body({at}); });
  });
  e.clearPlaces();
}
