//===- PartsEmitter.h - Split reductions ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Split reductions (split-k): a work item reduces one part of the reduced dim
// for a block of the grid. It writes the states of its part and increments a
// counter. The work item that arrives last merges the states of all parts, in a
// fixed order, and emits what follows the reduction. So results depend on the
// number of parts, but not on timing.
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_LIB_CONVERSION_EMITTER_PARTSEMITTER_H
#define LUMINAL_LIB_CONVERSION_EMITTER_PARTSEMITTER_H

#include "Kernels.h"
#include "luminal/Dialect/LLIR/Schedules/Schedules.h"

namespace luminal {

/// Counts the arrival of one of the `parts` work items of a block of the grid.
/// The result (i1) is true for the last one: it sees what the others wrote, and
/// the counter is reset to zero.
mlir::Value emitArrival(Emitter &e, mlir::Value block, int64_t parts);

class PartsEmitter {
public:
  /// For the case `e.loopCase`.
  explicit PartsEmitter(Emitter &e);

  /// Whether the reduction is split.
  bool isCut() const { return cut.parts > 1; }
  /// The number of work items for `blocks` blocks of the grid.
  Expr countUnits(const Expr &blocks) const { return blocks * cut.parts; }
  /// The number of terms per index of the grid.
  Expr countTerms() const;
  /// The share of `cost` of one work item.
  Expr getUnitCost(const Expr &cost) const {
    return Expr::ceilDiv(cost, cut.parts);
  }

  /// Emits one work item. `forEachIndex` runs code for every index of a block
  /// of the grid. `finish` emits what follows the reductions at the index that
  /// is set; their results are remembered. `index` is the index of these
  /// results.
  void emitUnit(
      mlir::Value unit, const Index &index,
      llvm::function_ref<void(mlir::Value block, llvm::function_ref<void()>)>
          forEachIndex,
      llvm::function_ref<void()> finish);

private:
  void writeStates(mlir::Value part, const Index &index);
  void readStates(const Index &index);

  /// The range of the dim that `walk` reduces which belongs to `part`.
  Emitter::Span getSpan(const llir::ReductionWalk &walk, mlir::Value part);
  /// The address of the state of part `dim` at `index`, in elements.
  Expr getAddress(llir::ReductionOpInterface op, const Index &index) const;
  mlir::Value getBase(size_t place);

  Emitter &e;
  llir::CutReductions cut;
  /// The dim whose value is the number of the part.
  unsigned dim = 0;
};

} // namespace luminal

#endif // LUMINAL_LIB_CONVERSION_EMITTER_PARTSEMITTER_H
