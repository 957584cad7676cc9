//===- PartsEmitter.h - Parts of reductions, and who is last --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A unit of work is one part of the reduced dim for a block of the grid. It
// writes the states of its part, and counts itself: the one that is last at a
// block merges the states of all parts, always in one order, and goes on as if
// it had reduced all of it. So results depend on the number of parts, and on
// nothing that happens at run time.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_LIB_CONVERSION_EMITTER_PARTSEMITTER_H
#define LUMINAL_LIB_CONVERSION_EMITTER_PARTSEMITTER_H

#include "Kernels.h"
#include "luminal/Dialect/LLIR/Schedules/Schedules.h"

namespace luminal {

/// Counts one of the `parts` units of a block of the grid: whether (i1) no
/// other is still to come. What those wrote is there for the last one, and the
/// counter is zero again.
mlir::Value emitArrival(Emitter &e, mlir::Value block, int64_t parts);

class PartsEmitter {
public:
  /// The parts of the case `e.loopCase`.
  explicit PartsEmitter(Emitter &e);

  /// Whether there is more than one.
  bool isCut() const { return cut.parts > 1; }
  /// Units of work of `blocks` blocks of the grid.
  Expr countUnits(const Expr &blocks) const { return blocks * cut.parts; }
  /// Terms that an index of the grid reduces.
  Expr countTerms() const;
  /// What a unit has of `cost`.
  Expr getUnitCost(const Expr &cost) const {
    return Expr::ceilDiv(cost, cut.parts);
  }

  /// One unit. `forEachIndex` runs code for every index of a block of the grid,
  /// `finish` emits what follows the reductions at the index that it set:
  /// their results are remembered. `index` is that of their results.
  void emitUnit(
      mlir::Value unit, const Index &index,
      llvm::function_ref<void(mlir::Value block, llvm::function_ref<void()>)>
          forEachIndex,
      llvm::function_ref<void()> finish);

private:
  void writeStates(mlir::Value part, const Index &index);
  void readStates(const Index &index);

  /// What `part` has of the dim that `walk` reduces.
  Emitter::Span getSpan(const llir::ReductionWalk &walk, mlir::Value part);
  /// Where the states of part `dim` are at `index`, in elements.
  Expr getAddress(llir::ReductionOpInterface op, const Index &index) const;
  mlir::Value getBase(size_t place);

  Emitter &e;
  llir::CutReductions cut;
  /// The number of a part, as an index.
  unsigned dim = 0;
};

} // namespace luminal

#endif // LUMINAL_LIB_CONVERSION_EMITTER_PARTSEMITTER_H
