//===- OrderedKernel.cpp - Kernels that update rows in index order --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A unit of work is a run of columns: it copies them from the destination
// (unless in place), then applies every update to them in index order. So units
// are independent, and duplicates are applied in order.
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"
#include "luminal/Conversion/ScalarMath.h"
#include "luminal/Dialect/LLIR/Schedules/Schedules.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"

using namespace luminal;
using namespace mlir;

namespace {
class OrderedKernel {
public:
  OrderedKernel(Emitter &e, const WorkLoop &loop)
      : e(e), loop(loop),
        op(*e.kernel.getBody().getOps<llir::ScatterOp>().begin()) {
    extents = hlir::getExtents(op.getDest());
    indexExtents = hlir::getExtents(op.getIndices());
    row = e.addDim(extents[0]);
    Expr count = product({indexExtents.begin(), indexExtents.end()});
    update = e.addDim(count);
    updateIndex = delinearize(Expr::dim(update),
                              {indexExtents.begin(), indexExtents.end()});
    for (Expr &x : updateIndex)
      x = e.simplify(x);
  }

  WorkShape emit() {
    Decision found = findSource(e, getYielded(e.kernel)[0], result);
    if (!found || result.source != op.getResult()) {
      e.fail(op, "is yielded through a view whose inverse is not found");
      return {};
    }
    // The grid's dims are the destination's: its columns begin at d1.
    SmallVector<SmallVector<unsigned>> groups =
        llir::getGroups(e.loopCase.getGrid());
    for (SmallVector<unsigned> &group : groups)
      for (unsigned &dim : group)
        --dim;
    domain = makeDomain(e, ArrayRef(extents).drop_front(), groups);
    if (e.kernel.getInPlace() && !isSoundInPlace()) {
      e.fail(op, "in place must read and write operand 0 at one index, and "
                 "nothing else may read it");
      return {};
    }
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
  static Index join(Index a, const Index &b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  }
  /// Where the scatter's element goes in the result: the yielded value may be a
  /// bijective view of the scatter.
  Expr position(const Index &columnIndex) {
    return e.getResultAddress(
        0, result.getIndex(e, join({Expr::dim(row)}, columnIndex)));
  }

  /// In place, the destination must be operand 0 read where the result is
  /// written, and nothing else may read it.
  bool isSoundInPlace() {
    Value argument = e.kernel.getBody().getArgument(0);
    Index at = join({Expr::dim(row)}, domain.index);
    bool sound = true;
    unsigned reads = 0;
    e.walk(op.getDest(), at, [&](const Leaf &leaf) {
      ++reads;
      sound &=
          leaf.argument == argument && leaf.address == position(domain.index);
    });
    Operation *def = op.getDest().getDefiningOp();
    for (; def; def = def->getOperand(0).getDefiningOp())
      sound &= isa<llir::ViewOp>(def) && def->hasOneUse();
    return sound && reads == 1 && argument.hasOneUse();
  }

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
      Value at = e.emit(op.getIndices(), updateIndex);
      if (at.getType().isInteger(32))
        at = arith::ExtSIOp::create(e.b, e.b.getI64Type(), at);
      // The code below is guarded, so an empty destination needs no other
      // check.
      Value inside = at;
      if (op.getChecked())
        inside = e.emitRangeCheck(at, extents[0], /*guarded=*/true);
      e.setDim(row, inside);
      Value valid = arith::CmpIOp::create(e.b, arith::CmpIPredicate::ult, at,
                                          e.value(extents[0]));
      e.ifThen(valid, [&] { overColumns(inner, range, [&] { updateOne(); }); });
    });
  }

  void updateOne() {
    Value v = e.emit(op.getUpdates(), join(updateIndex, domain.index));
    Expr at = position(domain.index);
    if (op.getCombine() != hlir::Combine::Set) {
      Value old = e.loadResult(0, at);
      if (isa<VectorType>(old.getType()))
        v = e.spread(v);
      if (op.getCombine() == hlir::Combine::Max)
        v = emitMax(e.b, old, v);
      else
        v = emitFn(e.b, llir::Fn::Add, {old, v},
                   getElementTypeOrSelf(old.getType()));
    }
    e.storeAt(0, at, v);
  }

  Emitter &e;
  const WorkLoop &loop;
  llir::ScatterOp op;
  SmallVector<Expr> extents, indexExtents;
  unsigned row, update;
  Index updateIndex;
  MovedResult result;
  Domain domain;
};
} // namespace

WorkShape luminal::emitOrdered(Emitter &e, const WorkLoop &loop) {
  return OrderedKernel(e, loop).emit();
}
