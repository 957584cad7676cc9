//===- ProductEmitter.h - Loops of a matrix product on a CPU --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits the loops of one matrix product. Its rows, columns and k are one dim
// each (ProductAnalysis). Products of few rows are bound by memory and use dot
// products or scaled columns; all others are packed and tiled by GemmLoops. The
// emitter provides the elements of both operands. Where bf16 is multiplied in
// pairs (ProductPairs.cpp), a step of k is two elements in an i32.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_LIB_CONVERSION_EMITTER_PRODUCTEMITTER_H
#define LUMINAL_LIB_CONVERSION_EMITTER_PRODUCTEMITTER_H

#include "Kernels.h"
#include "luminal/Conversion/GemmLoops.h"
#include "luminal/Dialect/LLIR/Analysis/ProductAnalysis.h"

namespace luminal {

class ProductEmitter {
public:
  /// `form` is the product's part of the schedule. A work item has at most
  /// `rowBlock` rows and processes `columnBlock` columns at a time; 0: all.
  ProductEmitter(Emitter &e, ProductAnalysis &p, llir::LoopFormAttr form,
                 int64_t rowBlock, int64_t columnBlock);

  /// Consumes a sum, in the accumulator's type, at the product's index, whose
  /// dims are set.
  std::function<void(mlir::Value sum)> finish;

  /// The memory that `finish` accesses for a tile at (row, column), for
  /// prefetching; null if unknown.
  std::function<llvm::SmallVector<GemmLoops::Ahead>(mlir::Value row,
                                                    mlir::Value column)>
      findAhead;

  /// Bytes of scratch, and its base, which must be 64-byte aligned.
  Expr getScratchBytes() const;
  void setScratch(mlir::Value base) { scratch = base; }

  /// Must be called before `emit` for each range of rows. If `isFresh` (i1) is
  /// false, scratch still holds the copy of these rows from the previous call;
  /// null: never.
  void prepareRows(IndexRange rows, mlir::Value isFresh = {});
  /// Emits the product of a range of rows and of at most `columnBlock` columns.
  /// If `isFresh` (i1) is false, scratch still holds these columns from the
  /// previous call; null: never.
  void emit(IndexRange rows, IndexRange columns, mlir::Value isFresh = {});

private:
  Expr getRowsInUnit() const;
  Expr getColumnRoom() const;
  Expr getRowStride(const Expr &k) const;
  GemmTile getTile() const;
  GemmLoops makeLoops() const;
  Expr getLoopsBytes() const;
  int64_t getDotBytes() const;
  Expr getOwnBytes() const;
  mlir::Value alignedScratch(const Expr &offset);

  mlir::Value load(const ProductSide &side, mlir::Value at, mlir::Value k,
                   std::optional<unsigned> laneDim, unsigned width,
                   mlir::Value count = {});
  mlir::Value loadRow(mlir::Value row, mlir::Value k, bool vector);
  mlir::Value combine(mlir::Value even, mlir::Value odd);
  mlir::Value loadPairs(const ProductSide &side, mlir::Value at,
                        mlir::Value step, unsigned count);
  mlir::Value loadPair(const ProductSide &side, mlir::Value at,
                       mlir::Value step, unsigned width,
                       mlir::Value count = {});
  void clearRest(mlir::Value row);
  GemmLoops::Lines getLines(mlir::Value row);
  mlir::Value loadRowPair(mlir::Value row, mlir::Value step);
  void usePairs(GemmLoops &g);
  void copyRows(IndexRange rows);
  void storeLanes(mlir::Value v, mlir::Value memory, mlir::Value position);

  void emitTiled(mlir::Value rowLo, mlir::Value rowHi, mlir::Value lo,
                 mlir::Value hi, mlir::Value isFresh);
  void emitWindows(GemmLoops &g, mlir::Value lo, mlir::Value hi);
  void finishWindows(const Windows::Layout &layout, mlir::Value first,
                     mlir::Value memory, IndexRange rows, IndexRange places);
  void finishRow(mlir::Value line, mlir::Value lo, mlir::Value hi);
  /// Finishes the elements [lo, hi) along `dim`; `line` is the address of the
  /// first sum.
  void finishLine(unsigned dim, mlir::Value line, mlir::Value lo,
                  mlir::Value hi);
  /// Finishes a tile in memory with one line per column; ranges are first index
  /// and count.
  void finishColumns(mlir::Value memory, int64_t line, IndexRange rows,
                     IndexRange columns);
  Windows::Layout getWindowLayout() const;
  Windows::Layout getRowLayout() const { return p.getRowLayout(rowBlock); }
  int64_t getWindowBytes(const Windows &w, const Windows::Layout &layout) const;
  void fillWindows(const Windows &w, const Windows::Layout &layout,
                   mlir::Value table, mlir::Value first, mlir::Value count);
  void emitRowWindows(IndexRange rows, mlir::Value isFresh);
  void readRowWindows(GemmLoops &g);
  void fillLine(mlir::Value k, mlir::Value lo, mlir::Value hi,
                mlir::Value line);
  /// Finishes columns [lo, hi) of `rowCount` rows from `row` on, stored in
  /// lines of `width` sums.
  void finishRows(mlir::Value memory, int64_t width, mlir::Value row,
                  mlir::Value rowCount, mlir::Value lo, mlir::Value hi);

  void emitDots(IndexRange rows, IndexRange columns);
  bool isWhole(const ProductSide &side, int64_t block, int64_t count);
  void emitScaledColumns(mlir::Value row, mlir::Value lo, mlir::Value hi);
  mlir::Type vectorType();
  void storeSum(mlir::Value sum, mlir::Value sums, mlir::Value position);
  void overColumns(
      mlir::Value lo, mlir::Value hi,
      llvm::function_ref<void(mlir::Value position, mlir::Value count)> body);

  Emitter &e;
  ProductAnalysis &p;
  /// The product's part of the schedule.
  llir::LoopFormAttr form;
  llvm::StringRef name, pack;
  mlir::Type accumulator;
  int64_t bytes;
  unsigned lanes;
  int64_t rowBlock, columnBlock;
  mlir::Value scratch;
  /// Rows are copied to scratch in the multiplied type, in order.
  bool copiesRows;
  mlir::Value rowCopy, rowCopyBegin;
  /// The table of windows into the copied image of the rows, and the first
  /// index that the copy holds.
  mlir::Value rowTable, rowImageBegin;
};

/// Makes `sum` the product at the index that is set, and writes all results
/// there.
void finishProduct(Emitter &e, const ProductAnalysis &p,
                   llvm::ArrayRef<MovedResult> results, mlir::Value sum);

} // namespace luminal

#endif // LUMINAL_LIB_CONVERSION_EMITTER_PRODUCTEMITTER_H
