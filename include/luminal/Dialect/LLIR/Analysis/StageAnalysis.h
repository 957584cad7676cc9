//===- StageAnalysis.h - Kernels of several anchors as stages -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel may hold any number of reductions and products over one *parallel
// space*: the leading dims that all of them share, each at its own index. A
// work item is a block of that space. It computes the anchors for its whole
// block one after the other, in stages, and keeps on chip what later stages
// read. The other dims of a value are its *local* dims.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_DIALECT_LLIR_ANALYSIS_STAGEANALYSIS_H
#define LUMINAL_DIALECT_LLIR_ANALYSIS_STAGEANALYSIS_H

#include "luminal/Dialect/LLIR/Analysis/ProductAnalysis.h"

namespace luminal {

/// A stage: one product, or reductions that are computed row by row.
struct Stage {
  llir::ProductOpInterface product;
  llvm::SmallVector<llir::RowReductionOpInterface> reductions;
};

/// A value whose elements, for the block of a work item, are kept on chip.
struct KeptValue {
  mlir::Value v;
  /// The byte offset of the elements in the worker's scratch memory, a multiple
  /// of 64, and their number of bytes.
  Expr offset, bytes;
};

/// One loop of the grid, over adjacent parallel dims, row-major.
struct StageAxis {
  llvm::SmallVector<unsigned> positions;
  Expr extent;
  /// Dims of the analysis: the index on the axis, and the index at which the
  /// work item begins.
  unsigned dim, begin;
  /// The number of indices of a work item; 0: all.
  int64_t block;
  /// Returns the number of blocks of the grid along the axis.
  Expr countBlocks() const {
    return block ? Expr::ceilDiv(extent, block) : Expr::min(1, extent);
  }
};

/// The parallel space and the stages of a kernel.
class StageAnalysis {
public:
  explicit StageAnalysis(KernelAnalysis &a) : a(a) {}

  /// Finds the parallel space and the stages; refuses if the kernel has none.
  Decision find();
  /// Cuts the parallel space into axes (runs of adjacent dims), each with a
  /// block size.
  void setAxes(llvm::ArrayRef<llvm::SmallVector<unsigned>> groups,
               llvm::ArrayRef<int64_t> blocks);
  /// Returns the axis of a parallel dim; null for a dim of extent 1.
  const StageAxis *getAxis(unsigned position) const;
  /// Returns the axis of a product's rows or columns; null if they are not in
  /// the parallel space.
  const StageAxis *getAxis(const ProductSide &side) const {
    bool isParallel = !side.group.empty() && side.group[0] < extents.size();
    return isParallel ? getAxis(side.group[0]) : nullptr;
  }
  /// Returns whether a product reads all dims of an axis through the same
  /// operands.
  bool isUniform(const StageAxis &axis, llir::ProductOpInterface op) const;
  /// Returns the trailing parallel dims that in every product belong to the
  /// left operand alone (or with `ofLeft` false to the right one alone).
  llvm::SmallVector<unsigned> findOwnDims(bool ofLeft) const;
  /// Takes the blocks of the axes from a schedule. Refuses if an axis is not a
  /// dim of the parallel space.
  Decision applyGrid(llir::LoopCaseAttr loopCase);
  /// Takes blocks and kept values from a schedule. Refuses if an axis is not a
  /// dim of the parallel space, or if a value cannot be kept.
  Decision apply(llir::LoopCaseAttr loopCase);

  /// Returns whether the epilogue of the last stage's product writes the
  /// results.
  bool endsInProduct() const { return productEnds; }
  /// Returns the values that stage `i` keeps on chip; they are placed after
  /// that stage.
  llvm::ArrayRef<KeptValue> getKept(size_t i) const { return kept[i]; }
  void placeKept(size_t i);
  void place(mlir::Value v) { a.place(v, getPlace(v)); }
  /// Returns a function from a value's index to the number of its row in the
  /// block.
  KernelAnalysis::Place getRowPlace() const;
  /// Returns the most rows that a work item has.
  Expr countRows() const;
  /// Returns a function from an index of `v` to the position of its element, in
  /// elements from the beginning of `v`.
  KernelAnalysis::Place getPlace(mlir::Value v) const;
  /// Returns whether `v` is an elementwise value that a reduction of its stage
  /// keeps while it computes it.
  bool isKeptOnTheWay(mlir::Value v) const;

  /// Returns the product of a stage over the block of a work item. Its rows are
  /// the blocked axis that only the left operand has. Its columns are the
  /// blocked axis, or the local dims, that only the right operand has. All
  /// other dims are batch dims, one axis each.
  ProductAnalysis analyze(llir::ProductOpInterface op) const;

  KernelAnalysis &a;
  llvm::SmallVector<Stage> stages;
  /// The extents of the parallel space.
  llvm::SmallVector<Expr> extents;
  /// Its dims with an extent other than 1, in the order of the grid.
  llvm::SmallVector<StageAxis> axes;
  /// The index of a row, over the axes' dims.
  Index index;
  /// What the kernel yields.
  llvm::SmallVector<MovedResult> results;
  /// Bytes of scratch memory for kept values.
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
