//===- OrderedKernel.cpp - Kernels that update rows in index order --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A scatter whose updates are applied in order. A work item is a run of
// columns: it copies them from the destination (unless in place), then applies
// every update to them in index order. So work items are independent.
//
//===----------------------------------------------------------------------===//

#include "ScatterLoops.h"

using namespace luminal;
using namespace mlir;

namespace {
class OrderedKernel : ScatterLoops {
public:
  OrderedKernel(Emitter &e, const WorkLoop &loop) : ScatterLoops(e, loop) {
    Expr count = product({indexExtents.begin(), indexExtents.end()});
    update = e.addDim(count);
    updateIndex = delinearize(Expr::dim(update),
                              {indexExtents.begin(), indexExtents.end()});
    for (Expr &x : updateIndex)
      x = e.simplify(x);
  }

  WorkShape emit() {
    if (!findResult())
      return {};
    // The grid has the destination's dims; its columns begin at d1.
    SmallVector<SmallVector<unsigned>> groups =
        llir::getGroups(e.loopCase.getGrid());
    for (SmallVector<unsigned> &group : groups)
      for (unsigned &dim : group)
        --dim;
    domain = makeDomain(e, ArrayRef(extents).drop_front(), groups);
    if (!checkInPlace(domain.index))
      return {};
    Grid grid(domain, groups, e.loopCase);
    Emitter::Repeated repeated(e,
                               {domain.extents.begin(), domain.extents.end()});
    e.forLoop(loop.begin, loop.end, loop.step, [&](Value unit) {
      grid.emitUnit(e, unit, [&](const Axis *inner, IndexRange range) {
        if (!e.kernel.getInPlace())
          copy(inner, range);
        updateAll(inner, range);
      });
    });
    Expr count = product({indexExtents.begin(), indexExtents.end()});
    Expr rows = e.kernel.getInPlace() ? count : count + extents[0];
    return {grid.countUnits(),
            grid.getUnitLength() * rows * getElementCost(e.kernel), 0};
  }

private:
  void overColumns(const Axis *inner, IndexRange range,
                   function_ref<void()> body) {
    if (!inner)
      return body();
    e.laneLoop(inner->dim, range.lo, range.hi, inner->lanes, body);
  }

  void copy(const Axis *inner, IndexRange range) {
    Emitter::Repeated repeated(e, {extents[0]});
    e.forLoop(e.constant(0), e.value(extents[0]), e.constant(1), [&](Value r) {
      e.setDim(row, r);
      overColumns(inner, range, [&] {
        Index at = join({Expr::dim(row)}, domain.index);
        e.storeAt(0, position(domain.index), e.emit(op.getDest(), at));
      });
    });
  }

  void updateAll(const Axis *inner, IndexRange range) {
    Expr times = product({indexExtents.begin(), indexExtents.end()});
    Emitter::Repeated repeated(e, {times});
    Value count = e.value(times);
    e.forLoop(e.constant(0), count, e.constant(1), [&](Value i) {
      e.setDim(update, i);
      atRow(updateIndex,
            [&] { overColumns(inner, range, [&] { updateOne(); }); });
    });
  }

  void updateOne() {
    Value v = e.emit(op.getUpdates(), join(updateIndex, domain.index));
    Expr at = position(domain.index);
    e.storeAt(0, at, combine(at, v));
  }

  unsigned update;
  Index updateIndex;
};
} // namespace

WorkShape luminal::emitOrdered(Emitter &e, const WorkLoop &loop) {
  return OrderedKernel(e, loop).emit();
}
