//===- StageLoops.h - Loops over the rows of a work item ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops that are shared by kernels with several anchors, whether these are
// computed one after the other or jointly.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_LIB_CONVERSION_EMITTER_STAGELOOPS_H
#define LUMINAL_LIB_CONVERSION_EMITTER_STAGELOOPS_H

#include "ProductEmitter.h"
#include "luminal/Dialect/LLIR/Analysis/StageAnalysis.h"

namespace luminal {

/// A product over the rows of a work item. `ranges` are the item's ranges of
/// the axes, null for an axis with one index.
class StageProduct {
public:
  StageProduct(Emitter &e, const StageAnalysis &s,
               llvm::ArrayRef<IndexRange> ranges, ProductAnalysis &p,
               llir::LoopFormAttr form);

  /// Emits the product for the work item; `columns` restricts columns that are
  /// not in the parallel space.
  void emit(std::optional<IndexRange> columns = std::nullopt);
  /// Calls `body` for each batch of the work item, with the dims of the batch
  /// set.
  void forEachBatch(llvm::function_ref<void()> body) { emitBatch(0, body); }
  /// The rows of the work item.
  IndexRange getRows() const {
    const StageAxis *axis = s.getAxis(p.rows);
    return axis ? getRange(*axis) : IndexRange{e.constant(0), e.constant(1)};
  }
  /// Scalar operations per row.
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

/// The grid over the axes of the stages.
Grid getGrid(const StageAnalysis &s);
/// Sets the dims of work item `unit` and returns the ranges of the axes.
llvm::SmallVector<IndexRange> setUnit(Emitter &e, const StageAnalysis &s,
                                      const Grid &grid, mlir::Value unit);
/// Calls `body` for each work item of the loop, with the ranges of the axes.
void forEachUnit(Emitter &e, const StageAnalysis &s, const Grid &grid,
                 const WorkLoop &loop,
                 llvm::function_ref<void(llvm::SmallVector<IndexRange>)> body);

/// Calls `body` for each row of a work item, with the dims of the axes set.
void forEachRow(Emitter &e, const StageAnalysis &s,
                llvm::ArrayRef<IndexRange> ranges,
                llvm::function_ref<void()> body);

/// Writes the results at row `s.index`: first those of one element, then those
/// with lines of equal extents, in one loop per extent.
void emitRowResults(Emitter &e, const StageAnalysis &s, unsigned lanes);

} // namespace luminal

#endif // LUMINAL_LIB_CONVERSION_EMITTER_STAGELOOPS_H
