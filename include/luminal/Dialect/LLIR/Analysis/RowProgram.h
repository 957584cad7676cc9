//===- RowProgram.h - A kernel that computes rows step by step ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where all reductions and products of a kernel are computed row by row, each
// from values of the same row and from memory, rows are the lanes of vectors:
// a unit takes a vector of rows through all steps, in the order of the body. A
// step is an op with loops, or a value that is kept because later steps read it
// often. What is kept is in scratch, the rows of a vector side by side, so that
// whatever a row program reads of it (other columns, products of a value with
// itself, parts of several values) is a load of a vector.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_DIALECT_LLIR_ANALYSIS_ROWPROGRAM_H
#define LUMINAL_DIALECT_LLIR_ANALYSIS_ROWPROGRAM_H

#include "luminal/Dialect/LLIR/Analysis/KernelAnalysis.h"

namespace luminal {

class RowProgram {
public:
  explicit RowProgram(KernelAnalysis &a) : a(a) {}

  /// Finds the rows: the most leading dims at which every step reads other
  /// steps at its own index. The steps are the ops with loops and those of
  /// `wished` that can be kept.
  Decision find(llvm::ArrayRef<mlir::Operation *> wished);
  /// The same of a schedule, which may keep only what can be kept.
  Decision apply(llir::LoopCaseAttr loopCase);
  /// Ops worth keeping: what steps read over and over.
  static llvm::SmallVector<mlir::Operation *> findWished(llir::KernelOp kernel);

  /// The number of elements of `v` that each row has.
  Expr countLocal(mlir::Value v) const;
  /// Bytes of scratch for a vector of `lanes` rows, and where `v` begins there.
  Expr countBytes(int64_t lanes) const;
  Expr getOffset(mlir::Value v, int64_t lanes) const;
  /// The element of `v` in scratch, from where it begins there, that `at` is;
  /// `row` is the number of the row in its vector.
  Expr getPlace(mlir::Value v, const Index &at, int64_t lanes,
                const Expr &row) const;
  /// From here on `v` is read from there.
  void place(mlir::Value v, int64_t lanes, const Expr &row);

  KernelAnalysis &a;
  /// Of the rows.
  llvm::SmallVector<Expr> extents;
  /// In the order of the body.
  llvm::SmallVector<mlir::Operation *> steps;
  /// What the kernel yields.
  llvm::SmallVector<MovedResult> results;

private:
  Decision check(unsigned rank, llvm::SmallVectorImpl<mlir::Operation *> &kept);
};

} // namespace luminal

#endif // LUMINAL_DIALECT_LLIR_ANALYSIS_ROWPROGRAM_H
