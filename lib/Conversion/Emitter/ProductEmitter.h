//===- ProductEmitter.h - The loops of one product ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows, columns and k of a product are one dim each (ProductAnalysis). Few rows
// are bound by memory and take dot products or scaled columns; all else is
// packed and tiled by GemmLoops. Elements of both operands come from the
// emitter. Where bf16 is multiplied in pairs (ProductPairs.cpp), a step along k
// is two of them in an i32.
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
  /// The product as `form` says. A unit has at most `rowBlock` rows, and
  /// columns are taken `columnBlock` at a time; 0: all.
  ProductEmitter(Emitter &e, ProductAnalysis &p, llir::LoopFormAttr form,
                 int64_t rowBlock, int64_t columnBlock);

  /// Takes a sum, in the accumulator's type, at the product's index.
  std::function<void(mlir::Value sum)> finish;

  /// What follows reads and writes for the elements of rows from `row` and
  /// columns from `column` on; null: not known.
  std::function<llvm::SmallVector<GemmLoops::Ahead>(mlir::Value row,
                                                    mlir::Value column)>
      findAhead;

  /// Bytes of scratch that it takes, and where they begin, 64-byte aligned.
  Expr getScratchBytes() const;
  void setScratch(mlir::Value base) { scratch = base; }

  /// To be called before `emit` for each range of rows. Where `isFresh` (i1)
  /// does not hold, what is copied of them is there from the call before; null:
  /// it does.
  void prepareRows(IndexRange rows, mlir::Value isFresh = {});
  /// Rows of columns, of which there are at most `columnBlock`. Where `isFresh`
  /// (i1) does not hold, they are the columns of the call before; null: it
  /// does.
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
  /// Elements [lo, hi) along `dim`, the sum of the first at `line`.
  void finishLine(unsigned dim, mlir::Value line, mlir::Value lo,
                  mlir::Value hi);
  /// Of rows and columns (the first, and how many), a line for each column.
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
  /// Columns [lo, hi) of finished rows from `row` on, in lines of `width` sums
  /// from `memory` on.
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
  /// What the schedule says of the product.
  llir::LoopFormAttr form;
  llvm::StringRef name, pack;
  mlir::Type accumulator;
  int64_t bytes;
  unsigned lanes;
  int64_t rowBlock, columnBlock;
  mlir::Value scratch;
  /// Rows are copied to scratch as they are multiplied, the first row of the
  /// unit first.
  bool copiesRows;
  mlir::Value rowCopy, rowCopyBegin;
  /// What is copied of an image for the rows, and the first index of it.
  mlir::Value rowTable, rowImageBegin;
};

/// Takes `sum` as the product at its index, and writes all results there.
void finishProduct(Emitter &e, const ProductAnalysis &p,
                   llvm::ArrayRef<MovedResult> results, mlir::Value sum);

} // namespace luminal

#endif // LUMINAL_LIB_CONVERSION_EMITTER_PRODUCTEMITTER_H
