//===- UpdateKernel.cpp - Kernels that update rows in any order -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A unit of work is a block of the updates. Their order is of no matter: units
// that meet at an element write the same bits, or add or compare atomically,
// which is exact for integers. A team shares the columns of a row, whose index
// it reads once.
//
//===----------------------------------------------------------------------===//

#include "ScatterLoops.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace luminal;
using namespace mlir;

namespace {
class UpdateKernel : ScatterLoops {
public:
  UpdateKernel(Emitter &e, const WorkLoop &loop) : ScatterLoops(e, loop) {}

  WorkShape emit() {
    if (!findResult())
      return {};
    auto groups = llir::getGroups(e.loopCase.getGrid());
    domain = makeDomain(e, hlir::getExtents(op.getUpdates()), groups);
    auto columnsBegin = domain.index.begin() + indexExtents.size();
    updateIndex.assign(domain.index.begin(), columnsBegin);
    columns.assign(columnsBegin, domain.index.end());
    if (!checkInPlace(columns))
      return {};
    Grid grid(domain, groups, e.loopCase);
    Emitter::Repeated repeated(e,
                               {domain.extents.begin(), domain.extents.end()});
    e.forLoop(loop.begin, loop.end, loop.step, [&](Value unit) {
      if (e.team.count == 1)
        return grid.emitIndices(e, unit, [&] { updateOne(); });
      grid.emitUnit(e, unit, [&](const Axis *columns, IndexRange range) {
        updateRow(*columns, range);
      });
    });
    return {grid.countUnits(), grid.getUnitLength() * getElementCost(e.kernel),
            0};
  }

private:
  /// An update is read beside its index, not after it.
  void updateOne() {
    Value v = e.emit(op.getUpdates(), domain.index);
    atRow(updateIndex, [&] { write(v); });
  }

  void updateRow(const Axis &axis, IndexRange range) {
    unsigned unroll =
        e.loopCase.getForm(llir::getPosition(op)).getNumber("unroll", 1);
    atRow(updateIndex, [&] {
      Emitter::Span span{
          range.lo, e.sub(range.hi, range.lo), {Expr(axis.block), axis.extent}};
      if (!axis.block)
        span = e.getWhole(axis.extent);
      e.teamLoop(axis.dim, span, axis.lanes, unroll, ValueRange(),
                 [&](ValueRange) {
                   write(e.emit(op.getUpdates(), domain.index));
                   return SmallVector<Value>();
                 });
    });
  }

  void write(Value v) {
    // Of other types there is one update at most (llir::isOrderFree).
    bool isAtomic = op.getCombine() != hlir::Combine::Set &&
                    (v.getType().isInteger(32) || v.getType().isInteger(64));
    if (!isAtomic)
      return e.storeAt(0, position(columns), combine(position(columns), v));
    auto kind = op.getCombine() == hlir::Combine::Add ? LLVM::AtomicBinOp::add
                                                      : LLVM::AtomicBinOp::max;
    Value at =
        e.getOperandAddress(op.getDest(), join({Expr::dim(row)}, columns));
    LLVM::AtomicRMWOp::create(e.b, kind, at, v, LLVM::AtomicOrdering::monotonic,
                              e.syncScope,
                              v.getType().getIntOrFloatBitWidth() / 8);
  }

  Index updateIndex, columns;
};
} // namespace

WorkShape luminal::emitUpdates(Emitter &e, const WorkLoop &loop) {
  return UpdateKernel(e, loop).emit();
}
