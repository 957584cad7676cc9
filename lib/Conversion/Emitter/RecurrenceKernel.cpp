//===- RecurrenceKernel.cpp - Elements that carry a state -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For each index of a unit a loop over the trips, which carries the elements
// there. The region is emitted at that index, as the body of a kernel is.
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace luminal;
using namespace mlir;

namespace {
class RecurrenceCode {
public:
  RecurrenceCode(Emitter &e, llir::RecurrenceOp op)
      : e(e), op(op), numCarried(op.getCarried().size()),
        trip(e.addDim(op.getTripsExpr())) {
    // What an input has in a trip is read where the operand is.
    for (auto [i, argument] : llvm::enumerate(op.getInputArguments())) {
      auto operand = cast<BlockArgument>(op.getInputs()[i]);
      e.setBase(argument, e.getBuffer(operand.getArgNumber()));
      Index extents = getExtentsOf(operand);
      unsigned number = i;
      e.place(argument, [this, number, extents](const Index &index) {
        return linearize(this->op.getInputIndex(number, Expr::dim(trip), index),
                         extents);
      });
    }
  }
  ~RecurrenceCode() { e.clearPlaces(); }

  /// All trips of the elements at `index`.
  void emit(const Index &index) {
    SmallVector<Value> states;
    for (Value v : op.getCarried())
      states.push_back(e.spread(e.emit(v, index)));
    Emitter::Repeated repeated(e, {op.getTripsExpr()});
    SmallVector<Value> last =
        e.forLoop(e.constant(0), e.value(op.getTripsExpr()), e.constant(1),
                  states, [&](Value at, ValueRange carried) {
                    e.setDim(trip, at);
                    for (auto [argument, state] :
                         llvm::zip(op.getBody().getArguments(), carried))
                      e.remember(argument, index, state);
                    SmallVector<Value> elements;
                    for (Value v : op.getYielded())
                      elements.push_back(e.spread(e.emit(v, index)));
                    Index row = {Expr::dim(trip)};
                    llvm::append_range(row, index);
                    for (unsigned i = numCarried; i < elements.size(); ++i)
                      store(i, row, elements[i]);
                    elements.truncate(numCarried);
                    return elements;
                  });
    for (auto [i, state] : llvm::enumerate(last))
      store(i, index, state);
  }

private:
  /// Writes an element of result `number` where the kernel yields that.
  void store(unsigned number, const Index &index, Value element) {
    for (auto [i, v] : llvm::enumerate(getYielded(e.kernel)))
      if (v == op.getResult(number))
        e.store(i, index, element);
  }

  Emitter &e;
  llir::RecurrenceOp op;
  unsigned numCarried, trip;
};
} // namespace

WorkShape luminal::emitRecurrence(Emitter &e, const WorkLoop &loop) {
  auto op = cast<llir::RecurrenceOp>(e.kernel.getBody().front().front());
  auto groups = llir::getGroups(e.loopCase.getGrid());
  Domain domain = makeDomain(e, hlir::getExtents(op.getCarried()[0]), groups);
  for (Expr &at : domain.index)
    at = e.simplify(at);
  Grid grid(domain, groups, e.loopCase);
  Emitter::Repeated repeated(e, {domain.extents.begin(), domain.extents.end()});
  // An address that is chosen is that of an operand of the kernel.
  llvm::SaveAndRestore<bool> plain(e.choosesAddresses, false);
  RecurrenceCode code(e, op);
  e.forLoop(loop.begin, loop.end, loop.step, [&](Value unit) {
    grid.emitIndices(e, unit, [&] { code.emit(domain.index); });
  });
  return {grid.countUnits(),
          grid.getUnitLength() * op.getTripsExpr() * Expr(op.countStep())};
}
