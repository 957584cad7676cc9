//===- ProductWindows.cpp - Products that read an image by windows --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products that read an image by windows (Windows.h). A work item copies the
// part of the image that its columns need, each element once, and multiplies
// directly from the copy. Sums at positions that are not columns are not
// stored.
//
//===----------------------------------------------------------------------===//

#include "ProductEmitter.h"
#include "luminal/Conversion/ScalarMath.h"
#include "luminal/Dialect/LLIR/Analysis/Conditions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace luminal;
using namespace mlir;

Windows::Layout ProductEmitter::getWindowLayout() const {
  return p.windows->getLayout(columnBlock ? columnBlock
                                          : p.windows->countColumns());
}

/// The offset of the copy, which follows the table for one period.
static int64_t getTableBytes(const Windows &w) {
  return llvm::alignTo(8 * w.period, 64);
}

/// Includes padding, because the last tile reads whole vectors.
int64_t ProductEmitter::getWindowBytes(const Windows &w,
                                       const Windows::Layout &layout) const {
  int64_t places = layout.size + getTile().columns();
  return getTableBytes(w) + llvm::alignTo(places * bytes, 64) + 64;
}

namespace {
/// Copies the part of an image that a work item's columns read. Loops over a
/// dim are cut where the result of a comparison with its index changes, and
/// where a line is reflected or repeated, so that in each range the borders of
/// the image need no test.
class ImageCopy {
public:
  ImageCopy(Emitter &e, const Windows &w, const Windows::Layout &layout,
            unsigned lanes,
            function_ref<void(const Index &, const Expr &)> copy)
      : e(e), w(w), layout(layout), lanes(lanes), copy(copy) {}

  /// Copies for `count` indices of the last digit, from `first` on.
  void emit(Value first, Value count);

private:
  struct Part {
    int64_t begin, end;
  };
  SmallVector<Part> findParts(unsigned axis, int64_t phase, int64_t extent);
  void nest(size_t number);
  void overPhase(size_t number, const Expr &phase, int64_t extent,
                 ArrayRef<Part> parts, const Expr &more);
  void overLine(unsigned dim, Value lo, Value hi);

  Emitter &e;
  const Windows &w;
  const Windows::Layout &layout;
  unsigned lanes;
  function_ref<void(const Index &, const Expr &)> copy;
  unsigned firstDim = 0;
  Value first, count;
  /// The axes from the outermost loop inwards; the line is last.
  SmallVector<unsigned> order;
  /// The index in the image, the positions in the copy by axis, and an index
  /// about which nothing is known.
  Index at, anywhere;
  SmallVector<Expr> places;
};

/// The maximum number of phases with code of their own, and of ranges of a dim.
constexpr int64_t kMostPhases = 4;
constexpr size_t kMostParts = 4;
} // namespace

void ImageCopy::emit(Value firstIndex, Value indices) {
  Emitter::MemoScope inner(e);
  first = firstIndex, count = indices;
  firstDim = e.addDim(w.getLast().extent);
  e.setDim(firstDim, first);
  places.assign(w.axes.size(), Expr(0));
  for (auto [i, axis] : llvm::enumerate(w.axes)) {
    at.push_back(axis.begin);
    if (!axis.digit && axis.reach)
      order.push_back(i);
    int64_t steps = axis.digit ? w.digits[*axis.digit].extent - 1 : 0;
    unsigned dim = e.addDim(axis.stride * steps + axis.reach + 1);
    anywhere.push_back(axis.getIndex(axis.begin + Expr::dim(dim)));
  }
  for (const Windows::Digit &digit : llvm::reverse(w.digits))
    order.push_back(digit.axis);
  nest(0);
}

SmallVector<ImageCopy::Part> ImageCopy::findParts(unsigned axis, int64_t phase,
                                                  int64_t extent) {
  unsigned dim = e.addDim(extent);
  Index index = anywhere;
  const Windows::Axis &of = w.axes[axis];
  index[axis] =
      e.simplify(of.getIndex(of.begin + of.stride * Expr::dim(dim) + phase));
  SmallVector<Part> parts;
  int64_t begin = 0;
  std::set<int64_t> edges = findEdges(e, w.image, index, dim);
  edges.merge(findTurns(e, w.image, index, dim));
  for (int64_t edge : edges)
    if (edge > begin && edge < extent) {
      parts.push_back({begin, edge});
      begin = edge;
    }
  parts.push_back({begin, extent});
  if (parts.size() > kMostParts)
    return {{0, extent}};
  return parts;
}

void ImageCopy::nest(size_t number) {
  if (number == order.size()) {
    Index index;
    for (auto [axis, x] : llvm::zip_equal(w.axes, at))
      index.push_back(e.simplify(axis.getIndex(x)));
    Expr place = 0;
    for (const Expr &x : places)
      place = place + x;
    return copy(index, e.simplify(place));
  }
  unsigned i = order[number];
  const Windows::Axis &axis = w.axes[i];
  if (!axis.digit) {
    unsigned dim = e.addDim(axis.reach + 1);
    at[i] = axis.begin + Expr::dim(dim);
    places[i] = Expr::dim(dim) * layout.steps[i];
    return e.forLoop(e.constant(0), e.constant(axis.reach + 1), e.constant(1),
                     [&](Value index) {
                       e.setDim(dim, index);
                       nest(number + 1);
                     });
  }
  int64_t columns = w.digits[*axis.digit].extent, phases = axis.countPhases();
  if (phases > kMostPhases) {
    // Later phases may have one position less.
    unsigned dim = e.addDim(phases);
    Expr phase = Expr::dim(dim);
    int64_t extent = columns + axis.countMore();
    return e.forLoop(
        e.constant(0), e.constant(phases), e.constant(1), [&](Value index) {
          e.setDim(dim, index);
          overPhase(number, phase, extent, Part{0, extent},
                    Expr::floorDiv(axis.reach - phase, axis.stride));
        });
  }
  for (int64_t phase = 0; phase < phases; ++phase) {
    int64_t more = (axis.reach - phase) / axis.stride;
    overPhase(number, phase, columns + more,
              findParts(i, phase, columns + more), more);
  }
}

void ImageCopy::overPhase(size_t number, const Expr &phase, int64_t extent,
                          ArrayRef<Part> parts, const Expr &more) {
  unsigned i = order[number];
  const Windows::Axis &axis = w.axes[i];
  bool isLast = *axis.digit + 1 == w.digits.size();
  Value beyond = e.value(e.simplify(more));
  for (Part part : parts) {
    unsigned dim = e.addDim(part.end - part.begin);
    Expr index = part.begin + Expr::dim(dim);
    at[i] = axis.begin + axis.stride * index + phase;
    places[i] = phase * layout.phaseSteps[i] +
                (index - (isLast ? Expr::dim(firstDim) : 0)) * layout.steps[i];
    // The indices of this range that the work item needs.
    Value zero = e.constant(0), begin = e.constant(part.begin), lo = zero,
          hi = e.constant(part.end - part.begin);
    if (isLast) {
      lo = e.maxS(e.sub(first, begin), zero);
      hi = e.minS(e.sub(e.add(e.add(first, count), beyond), begin), hi);
    } else if (axis.countPhases() > kMostPhases) {
      hi = e.add(e.constant(w.digits[*axis.digit].extent), beyond);
    }
    if (number + 1 == order.size()) {
      overLine(dim, lo, isLast ? e.maxS(lo, hi) : hi);
      continue;
    }
    e.forLoop(lo, hi, e.constant(1), [&](Value x) {
      e.setDim(dim, x);
      nest(number + 1);
    });
  }
}

/// Copies whole vectors. The last one begins earlier if it is known to fit.
void ImageCopy::overLine(unsigned dim, Value lo, Value hi) {
  auto copyLanes = [&] { nest(order.size()); };
  std::optional<int64_t> from = getConstantIntValue(lo),
                         to = getConstantIntValue(hi);
  if (!from || !to || *to - *from < lanes || (*to - *from) % lanes == 0)
    return e.laneLoop(dim, lo, hi, lanes, copyLanes);
  int64_t whole = *from + (*to - *from) / lanes * lanes;
  e.laneLoop(dim, lo, e.constant(whole), lanes, copyLanes);
  e.laneLoop(dim, e.constant(*to - lanes), hi, lanes, copyLanes);
}

/// Fills the table and the copy behind it for `count` indices of the last
/// digit, from `first` on.
void ProductEmitter::fillWindows(const Windows &w,
                                 const Windows::Layout &layout, Value table,
                                 Value first, Value count) {
  Value memory =
      e.address(table, e.constant(getTableBytes(w)), e.b.getI8Type());
  if (w.period > 1) {
    Expr offset = e.simplify(w.getOffset(layout));
    e.forLoop(e.constant(0), e.constant(w.period), e.constant(1), [&](Value k) {
      e.setDim(p.kDim, k);
      LLVM::StoreOp::create(e.b, e.value(offset),
                            e.address(table, k, e.b.getI64Type()), 8);
    });
  }
  auto copy = [&](const Index &at, const Expr &place) {
    Value v = e.emit(w.image, at);
    v = e.spread(emitCast(e.b, v, getElementType(w.image), p.factor));
    storeLanes(v, memory, e.value(place));
  };
  ImageCopy(e, w, layout, lanes, copy).emit(first, count);
}

/// How the loops of GemmLoops address the copy behind `table`.
static GemmLoops::Windows makeWalk(Emitter &e, const Windows &w,
                                   const Windows::Layout &layout, Value table,
                                   Value count) {
  Value memory =
      e.address(table, e.constant(getTableBytes(w)), e.b.getI8Type());
  return {memory, table, count, w.outer, w.period, layout.outerStep};
}

/// The copy holds all indices of the last digit that occur in the rows.
void ProductEmitter::emitRowWindows(IndexRange rows, Value isFresh) {
  const Windows &w = *p.rowWindows;
  Value divisor = e.constant(w.getLast().divisor);
  rowTable = alignedScratch(getOwnBytes());
  rowImageBegin = e.divU(rows.lo, divisor);
  Value last = e.divU(e.sub(rows.hi, e.constant(1)), divisor);
  Value count = e.add(e.sub(last, rowImageBegin), e.constant(1));
  auto fill = [&] {
    fillWindows(w, getRowLayout(), rowTable, rowImageBegin, count);
  };
  if (isFresh)
    e.ifThen(isFresh, fill);
  else
    fill();
}

void ProductEmitter::readRowWindows(GemmLoops &g) {
  const Windows &w = *p.rowWindows;
  Windows::Layout layout = getRowLayout();
  g.rowWindows = makeWalk(e, w, layout, rowTable, {});
  g.placeRow = [this, layout](ImplicitLocOpBuilder &, Value row) {
    const Windows &w = *p.rowWindows;
    Value place = e.constant(0);
    for (const Windows::Digit &digit : w.digits) {
      Value index = e.divU(row, e.constant(digit.divisor));
      index = &digit == &w.digits.back()
                  ? e.sub(index, rowImageBegin)
                  : e.remU(index, e.constant(digit.extent));
      place = e.add(place, e.mul(index, e.constant(layout.steps[digit.axis])));
    }
    return place;
  };
  g.rowSteps = w.getDistances(getTile().rows, layout);
}

void ProductEmitter::emitWindows(GemmLoops &g, Value lo, Value hi) {
  const Windows &w = *p.windows;
  Windows::Layout layout = getWindowLayout();
  Value table = alignedScratch(getLoopsBytes());
  Value divisor = e.constant(w.getLast().divisor);
  Value first = e.divU(lo, divisor), count = e.divU(e.sub(hi, lo), divisor);
  auto fill = [&] { fillWindows(w, layout, table, first, count); };
  if (g.isFresh)
    e.ifThen(g.isFresh, fill);
  else
    fill();

  // The positions of all columns except those after the last one.
  int64_t step = layout.steps[w.getLast().axis];
  Value places = e.add(e.mul(e.sub(count, e.constant(1)), e.constant(step)),
                       e.constant(layout.lower));
  if (w.digits.size() > 2)
    g.findAhead = nullptr;
  else if (findAhead)
    // A tile holds at most as many columns as positions.
    g.findAhead = [this, layout, first](ImplicitLocOpBuilder &, Value row,
                                        Value place) {
      const Windows &w = *p.windows;
      Value before = place;
      if (w.digits.size() == 2) {
        Value line = e.constant(layout.line);
        Value extent = e.constant(w.digits[0].extent);
        before = e.add(e.mul(e.divU(place, line), extent),
                       e.minS(e.remU(place, line), extent));
      }
      Value begin = e.mul(first, e.constant(w.getLast().divisor));
      return findAhead(row, e.add(begin, before));
    };
  g.windows = makeWalk(e, w, layout, table, places);
  g.finish = [this, layout, first](ImplicitLocOpBuilder &, Value tile,
                                   Value row, Value rowCount, Value place,
                                   Value placeCount) {
    finishWindows(layout, first, tile, {row, rowCount}, {place, placeCount});
  };
}

/// Finishes the rows [rows.lo, + rows.hi) at positions [places.lo, +
/// places.hi), line by line.
void ProductEmitter::finishWindows(const Windows::Layout &layout, Value first,
                                   Value memory, IndexRange rows,
                                   IndexRange places) {
  const Windows &w = *p.windows;
  Value zero = e.constant(0), one = e.constant(1);
  Value begin = e.mul(first, e.constant(w.getLast().divisor));
  Value end = e.add(places.lo, places.hi);
  Value width = e.constant(getTile().columns());
  // Positions [start + lo, start + hi) are the columns from `column` on.
  auto finishLine = [&](Value start, Value lo, Value hi, Value column) {
    Value before = e.sub(e.add(start, lo), places.lo);
    e.forLoop(zero, rows.hi, one, [&](Value i) {
      e.setDim(p.rows.dim, e.add(rows.lo, i));
      Value at = e.add(e.mul(i, width), before);
      finishRow(e.address(memory, at, accumulator), e.add(column, lo),
                e.add(column, hi));
    });
  };
  if (w.digits.size() == 1)
    return finishLine(zero, places.lo, end, begin);
  Value line = e.constant(layout.line);
  Value last = e.add(e.divU(e.sub(end, one), line), one);
  e.forLoop(e.divU(places.lo, line), last, one, [&](Value number) {
    Value start = e.mul(number, line);
    Value lo = e.maxS(e.sub(places.lo, start), zero);
    Value hi = e.minS(e.sub(end, start), e.constant(w.digits[0].extent));
    Value isThere = e.less(lo, hi), column = begin, rest = number;
    for (const Windows::Digit &digit : ArrayRef(w.digits).drop_front()) {
      Value index = rest;
      if (&digit != &w.digits.back()) {
        Value lines = e.constant(digit.extent + w.axes[digit.axis].countMore());
        index = e.remU(rest, lines);
        rest = e.divU(rest, lines);
        isThere = arith::AndIOp::create(
            e.b, isThere, e.less(index, e.constant(digit.extent)));
      }
      column = e.add(column, e.mul(index, e.constant(digit.divisor)));
    }
    e.ifThen(isThere, [&] { finishLine(start, lo, hi, column); });
  });
}
