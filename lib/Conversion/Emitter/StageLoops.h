//===- StageLoops.h - Loops over the rows of a unit -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What kernels of several anchors share, whether they take one after the other
// or jointly.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_LIB_CONVERSION_EMITTER_STAGELOOPS_H
#define LUMINAL_LIB_CONVERSION_EMITTER_STAGELOOPS_H

#include "ProductEmitter.h"
#include "luminal/Dialect/LLIR/Analysis/StageAnalysis.h"

namespace luminal {

/// One product over the rows of a unit, which has `ranges` of the axes (null
/// where it has one index).
class StageProduct {
public:
  StageProduct(Emitter &e, const StageAnalysis &s,
               llvm::ArrayRef<IndexRange> ranges, ProductAnalysis &p,
               llir::LoopFormAttr form);

  /// All of the unit; of columns beyond the parallel space, those in `columns`.
  void emit(std::optional<IndexRange> columns = std::nullopt);
  /// Calls `body` for each batch of the unit, with the dims of the batch set.
  void forEachBatch(llvm::function_ref<void()> body) { emitBatch(0, body); }
  /// The rows of the unit.
  IndexRange getRows() const {
    const StageAxis *axis = s.getAxis(p.rows);
    return axis ? getRange(*axis) : IndexRange{e.constant(0), e.constant(1)};
  }
  /// Operations for a row of the unit.
  Expr getCost() const;

private:
  IndexRange getRange(const StageAxis &axis) const {
    return ranges[&axis - s.axes.data()];
  }
  void emitBatch(size_t batch, llvm::function_ref<void()> body);
  int64_t getRowBlock() const;
  int64_t getColumnBlock() const;

  Emitter &e;
  const StageAnalysis &s;
  llvm::ArrayRef<IndexRange> ranges;
  ProductAnalysis &p;
  llir::LoopFormAttr form;

public:
  ProductEmitter loops;
};

/// The grid of the stages' axes.
Grid getGrid(const StageAnalysis &s);
/// Takes the unit `unit` of the grid: the ranges of the axes.
llvm::SmallVector<IndexRange> setUnit(Emitter &e, const StageAnalysis &s,
                                      const Grid &grid, mlir::Value unit);
/// Calls `body` for each unit of the loop, with the ranges of the axes.
void forEachUnit(Emitter &e, const StageAnalysis &s, const Grid &grid,
                 const WorkLoop &loop,
                 llvm::function_ref<void(llvm::SmallVector<IndexRange>)> body);

/// Calls `body` for each row of a unit, with the dims of the axes set.
void forEachRow(Emitter &e, const StageAnalysis &s,
                llvm::ArrayRef<IndexRange> ranges,
                llvm::function_ref<void()> body);

/// Writes the results at the row `s.index`, those of one element first;
/// elements of equal rows in one loop.
void emitRowResults(Emitter &e, const StageAnalysis &s, unsigned lanes);

} // namespace luminal

#endif // LUMINAL_LIB_CONVERSION_EMITTER_STAGELOOPS_H
