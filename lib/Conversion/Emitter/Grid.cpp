//===- Grid.cpp - Work items of a kernel ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Kernels.h"

using namespace luminal;
using namespace mlir;

void luminal::setDims(Emitter &e, ArrayRef<unsigned> dims,
                      ArrayRef<Expr> extents, Value linear) {
  bool isNarrow = e.isNarrow(product({extents.begin(), extents.end()}));
  for (size_t i = dims.size(); i-- > 0;) {
    if (i == 0) {
      e.setDim(dims[0], linear);
      break;
    }
    // Extents are nonzero if there is work.
    Value extent = e.value(extents[i]);
    e.setDim(dims[i],
             isNarrow ? e.remNarrow(linear, extent) : e.remU(linear, extent));
    linear = isNarrow ? e.divNarrow(linear, extent) : e.divU(linear, extent);
  }
}

Grid::Grid(const Domain &domain, ArrayRef<SmallVector<unsigned>> groups,
           llir::LoopCaseAttr loopCase) {
  for (auto [axis, group] : llvm::zip_equal(loopCase.getGrid(), groups)) {
    auto it = llvm::find(domain.groups, group);
    assert(it != domain.groups.end() && "a schedule that was not verified");
    size_t i = it - domain.groups.begin();
    axes.push_back(
        {domain.dims[i], domain.extents[i], axis.getBlock(), axis.getLanes()});
  }
}

static Expr countBlocks(const Axis &axis) {
  return axis.block == 1 ? axis.extent : Expr::ceilDiv(axis.extent, axis.block);
}

Expr Grid::countUnits() const {
  Expr count = 1;
  for (const Axis &axis : axes)
    count =
        count * (axis.block ? countBlocks(axis) : Expr::min(1, axis.extent));
  return count;
}

Expr Grid::getUnitLength() const {
  Expr length = 1;
  for (const Axis &axis : axes)
    if (axis.block != 1)
      length = length *
               (axis.block ? Expr::min(axis.extent, axis.block) : axis.extent);
  return length;
}

SmallVector<IndexRange> Grid::setUnit(Emitter &e, Value unit) const {
  SmallVector<IndexRange> ranges(axes.size());
  bool isNarrow = e.isNarrow(countUnits());
  auto first = llvm::find_if(axes, [](const Axis &a) { return a.block != 0; });
  for (size_t i = axes.size(); i-- > 0;) {
    const Axis &axis = axes[i];
    if (!axis.block) {
      ranges[i] = {e.constant(0), e.value(axis.extent)};
      continue;
    }
    Value index = unit;
    if (&axis != first) {
      // Extents are nonzero if there is work.
      Value count = e.value(countBlocks(axis));
      index = isNarrow ? e.remNarrow(unit, count) : e.remU(unit, count);
      unit = isNarrow ? e.divNarrow(unit, count) : e.divU(unit, count);
    }
    if (axis.block == 1) {
      e.setDim(axis.dim, index);
      continue;
    }
    Value size = e.constant(axis.block), lo = e.mul(index, size);
    Value hi = e.add(lo, size);
    // All blocks are full if the extent is provably a multiple of the block.
    if (!e.simplify(Expr::mod(axis.extent, axis.block)).isConstant(0))
      hi = e.minS(hi, e.value(axis.extent));
    ranges[i] = {lo, hi};
  }
  return ranges;
}

void Grid::emitUnit(Emitter &e, Value unit,
                    function_ref<void(const Axis *, IndexRange)> body) const {
  SmallVector<IndexRange> ranges = setUnit(e, unit);
  size_t inner = axes.size();
  for (auto [i, axis] : llvm::enumerate(axes))
    if (ranges[i].lo && (inner == axes.size() || axes[inner].lanes == 1))
      inner = i;
  // Loops over the ranges of the other axes, outermost first.
  std::function<void(size_t)> nest = [&](size_t i) {
    if (i == axes.size())
      return inner == axes.size() ? body(nullptr, {})
                                  : body(&axes[inner], ranges[inner]);
    if (i == inner || !ranges[i].lo)
      return nest(i + 1);
    e.forLoop(ranges[i].lo, ranges[i].hi, e.constant(1), [&](Value index) {
      e.setDim(axes[i].dim, index);
      nest(i + 1);
    });
  };
  nest(0);
}

void Grid::emitIndices(Emitter &e, Value unit,
                       function_ref<void()> body) const {
  emitUnit(e, unit, [&](const Axis *inner, IndexRange range) {
    if (!inner)
      return body();
    e.laneLoop(inner->dim, range.lo, range.hi, inner->lanes, body);
  });
}
