//===- StageAnalysis.h - A kernel of several anchors as stages ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel may hold any number of reductions and products over one *parallel
// space*: the leading dims that all of them have in common, each at its own
// index. A unit of work is a block of that space. It computes one anchor after
// the other for all of its block, in stages; what later stages read is kept on
// chip. The dims of a value beyond the parallel ones are its *local* dims.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_DIALECT_LLIR_ANALYSIS_STAGEANALYSIS_H
#define LUMINAL_DIALECT_LLIR_ANALYSIS_STAGEANALYSIS_H

#include "luminal/Dialect/LLIR/Analysis/ProductAnalysis.h"

namespace luminal {

/// One product; or reductions of rows, row by row.
struct Stage {
  llir::ProductOpInterface product;
  llvm::SmallVector<llir::RowReductionOpInterface> reductions;
};

/// A value whose elements of a unit are kept on chip.
struct KeptValue {
  mlir::Value v;
  /// Where they begin, in bytes of the worker's scratch, a multiple of 64; and
  /// how many bytes they are.
  Expr offset, bytes;
};

/// One loop of the grid: adjacent parallel dims, row-major.
struct StageAxis {
  llvm::SmallVector<unsigned> positions;
  Expr extent;
  /// Dims of the analysis: its index, and where a unit begins.
  unsigned dim, begin;
  /// Indices that a unit has; 0: all.
  int64_t block;
  /// Blocks that the grid has along it.
  Expr countBlocks() const {
    return block ? Expr::ceilDiv(extent, block) : Expr::min(1, extent);
  }
};

class StageAnalysis {
public:
  explicit StageAnalysis(KernelAnalysis &a) : a(a) {}

  /// Finds the parallel space and the stages; refused where the kernel has
  /// none.
  Decision find();
  /// Cuts the parallel space: runs of adjacent dims, and the block of each.
  void setAxes(llvm::ArrayRef<llvm::SmallVector<unsigned>> groups,
               llvm::ArrayRef<int64_t> blocks);
  /// The axis of a parallel dim; null for a dim of extent 1.
  const StageAxis *getAxis(unsigned position) const;
  /// The axis of a product's rows or columns; null where it has none in the
  /// parallel space.
  const StageAxis *getAxis(const ProductSide &side) const {
    bool isParallel = !side.group.empty() && side.group[0] < extents.size();
    return isParallel ? getAxis(side.group[0]) : nullptr;
  }
  /// Whether a product reads all dims of an axis through the same operands.
  bool isUniform(const StageAxis &axis, llir::ProductOpInterface op) const;
  /// The last parallel dims that in every product are only the left operand's,
  /// or only the right one's.
  llvm::SmallVector<unsigned> findOwnDims(bool ofLeft) const;
  /// Takes the blocks of the axes from a schedule. Refused where an axis is not
  /// a dim of the parallel space.
  Decision applyGrid(llir::LoopCaseAttr loopCase);
  /// Takes blocks and kept values from a schedule. Refused where an axis is not
  /// a dim of the parallel space, or a value cannot be kept.
  Decision apply(llir::LoopCaseAttr loopCase);

  /// Whether the last stage writes the results as its product is finished.
  bool endsInProduct() const { return productEnds; }
  /// Values that stage `i` leaves on chip: from its end on they are placed.
  llvm::ArrayRef<KeptValue> getKept(size_t i) const { return kept[i]; }
  void placeKept(size_t i);
  void place(mlir::Value v) { a.place(v, getPlace(v)); }
  /// The number of a row in the unit's block, of a value's index.
  KernelAnalysis::Place getRowPlace() const;
  /// Rows that a unit has, at most.
  Expr countRows() const;
  /// Where a kept value's elements are, in elements from where they begin.
  KernelAnalysis::Place getPlace(mlir::Value v) const;
  /// The elementwise value that a reduction of stage `i` keeps on its way.
  bool isKeptOnTheWay(mlir::Value v) const;

  /// The product of a stage over a unit's block: its rows are the blocked axis
  /// that only the left operand has, its columns the blocked axis or the local
  /// dims that only the right one has; all other dims are batch, each for
  /// itself.
  ProductAnalysis analyze(llir::ProductOpInterface op) const;

  KernelAnalysis &a;
  llvm::SmallVector<Stage> stages;
  /// Of the parallel space.
  llvm::SmallVector<Expr> extents;
  /// Its dims that are not of extent 1, in the grid's order.
  llvm::SmallVector<StageAxis> axes;
  /// The index of a row over the axes' dims.
  Index index;
  /// What the kernel yields.
  llvm::SmallVector<MovedResult> results;
  /// Bytes of scratch that kept values take.
  Expr keptBytes = 0;

private:
  Decision findParallel();
  void keep(size_t stage, mlir::Value v);

  bool productEnds = false;
  llvm::SmallVector<llvm::SmallVector<KeptValue>> kept;
  llvm::SmallVector<mlir::Value> keptOnTheWay;
};

} // namespace luminal

#endif // LUMINAL_DIALECT_LLIR_ANALYSIS_STAGEANALYSIS_H
