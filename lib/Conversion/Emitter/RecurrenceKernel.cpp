//===- RecurrenceKernel.cpp - Recurrences ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For each index of a work item, a loop over the iterations of the recurrence
// that carries the elements at that index. The region is emitted at that index
// like the body of a kernel. The loads of several iterations are issued before
// the first of them is computed.
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
    // The inputs of an iteration are read from the operand.
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

  /// Emits all iterations for the elements at `index`, unrolled by `ahead`:
  /// their inputs are loaded before the first is computed.
  void emit(const Index &index, int64_t ahead) {
    SmallVector<Value> states;
    for (Value v : op.getCarried())
      states.push_back(e.spread(e.emit(v, index)));
    Emitter::Repeated repeated(e, {op.getTripsExpr()});
    Value trips = e.value(op.getTripsExpr()), whole = e.constant(0);
    if (ahead > 1) {
      Value step = e.constant(ahead);
      whole = e.sub(trips, e.remU(trips, step));
      states = e.forLoop(e.constant(0), whole, step, states,
                         [&](Value at, ValueRange carried) {
                           return emitTrips(index, at, ahead, carried);
                         });
    }
    states = e.forLoop(whole, trips, e.constant(1), states,
                       [&](Value at, ValueRange carried) {
                         return emitTrips(index, at, 1, carried);
                       });
    for (auto [i, state] : llvm::enumerate(states))
      store(i, index, state);
  }

private:
  /// A load of an input.
  struct Read {
    BlockArgument argument;
    Index index;
  };

  /// Emits `count` iterations from `first` on; returns the carried values after
  /// them.
  SmallVector<Value> emitTrips(const Index &index, Value first, int64_t count,
                               ValueRange carried) {
    SmallVector<Read> reads;
    op.walkArguments(
        index, [&](const Expr &x) { return e.simplify(x); },
        [&](BlockArgument argument, const Index &at) {
          if (argument.getArgNumber() >= numCarried)
            reads.push_back({argument, at});
        });
    std::vector<SmallVector<Value>> elements(count);
    for (int64_t k = 0; k < count; ++k) {
      Emitter::MemoScope scope(e);
      e.setDim(trip, e.add(first, e.constant(k)));
      for (const Read &read : reads)
        elements[k].push_back(e.emit(read.argument, read.index));
    }
    SmallVector<Value> states(carried);
    for (int64_t k = 0; k < count; ++k) {
      Emitter::MemoScope scope(e);
      e.setDim(trip, e.add(first, e.constant(k)));
      for (auto [read, element] : llvm::zip_equal(reads, elements[k]))
        e.remember(read.argument, read.index, element);
      for (auto [argument, state] :
           llvm::zip(op.getBody().getArguments(), states))
        e.remember(argument, index, state);
      SmallVector<Value> made;
      for (Value v : op.getYielded())
        made.push_back(e.spread(e.emit(v, index)));
      Index row = {Expr::dim(trip)};
      llvm::append_range(row, index);
      for (unsigned i = numCarried; i < made.size(); ++i)
        store(i, row, made[i]);
      states.assign(made.begin(), made.begin() + numCarried);
    }
    return states;
  }

  /// Writes an element of the op's result `number` to each result of the kernel
  /// that yields it.
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
  // Selected addresses must belong to kernel operands, which region arguments
  // are not.
  llvm::SaveAndRestore<bool> plain(e.choosesAddresses, false);
  RecurrenceCode code(e, op);
  const int64_t ahead = e.loopCase.getForm(0).getNumber("ahead", 1);
  e.forLoop(loop.begin, loop.end, loop.step, [&](Value unit) {
    grid.emitIndices(e, unit, [&] { code.emit(domain.index, ahead); });
  });
  return {grid.countUnits(),
          grid.getUnitLength() * op.getTripsExpr() * Expr(op.countStep())};
}
