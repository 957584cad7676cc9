//===- RowProgram.h - Kernels that compute rows step by step --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// If all reductions and products of a kernel are computed row by row, each from
// values of the same row and from memory, the rows become the lanes of vectors:
// a work item takes a vector of rows through all steps, in the order of the
// body. A step is an op with loops, or a value that is kept because later steps
// read it often. Kept values are in scratch memory, with the rows of a vector
// side by side, so each read of them is a vector load: of other columns, for
// products of a value with itself, or of slices of several values. On a GPU a
// thread group takes a row, its threads share the row's elements, and kept
// values are in shared memory.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_DIALECT_LLIR_ANALYSIS_ROWPROGRAM_H
#define LUMINAL_DIALECT_LLIR_ANALYSIS_ROWPROGRAM_H

#include "luminal/Dialect/LLIR/Analysis/KernelAnalysis.h"

namespace luminal {

/// The rows and steps of a row program.
class RowProgram {
public:
  explicit RowProgram(KernelAnalysis &a) : a(a) {}

  /// Finds the rows: the largest number of leading dims at which every step
  /// reads other steps at its own index. The steps are the ops with loops, and
  /// those of `wished` that can be kept.
  Decision find(llvm::ArrayRef<mlir::Operation *> wished);
  /// Does the same for a schedule, which may only keep values that can be kept.
  Decision apply(llir::LoopCaseAttr loopCase);
  /// Returns the ops worth keeping: those that steps read repeatedly.
  static llvm::SmallVector<mlir::Operation *> findWished(llir::KernelOp kernel);

  /// Returns whether the rows are among the dims of `v`.
  bool hasRows(mlir::Value v) const;
  /// Returns whether all rows read the same elements of an operand.
  bool isShared(mlir::BlockArgument argument) const;
  /// Returns the number of elements of `v` in each row.
  Expr countLocal(mlir::Value v) const;
  /// Returns the bytes of scratch memory for a vector of `lanes` rows.
  Expr countBytes(int64_t lanes) const;
  /// Returns the bytes of shared memory for a row that a thread group takes. It
  /// is padded so that threads of a warp that read the same element of
  /// different rows read different banks.
  Expr countTeamBytes(const MachineModel &machine) const;
  /// Returns the offset of `v` in that memory.
  Expr getOffset(mlir::Value v, int64_t lanes) const;
  /// Returns the position of the element `at` of `v`, counted from the
  /// beginning of `v` in scratch memory. `row` is the number of the row in its
  /// vector.
  Expr getPlace(mlir::Value v, const Index &at, int64_t lanes,
                const Expr &row) const;
  /// From here on, elements of `v` are read from scratch memory.
  void place(mlir::Value v, int64_t lanes, const Expr &row);

  /// The indices [lo, hi) of the last dim of a value.
  struct Piece {
    int64_t lo, hi;
  };
  /// The last dim of some values cut into ranges, in each of which selects by
  /// its index have one outcome; `nullopt` stands for the whole dim.
  using Pieces = llvm::SmallVector<std::optional<Piece>>;
  /// Returns the pieces of `values`, which have the same elements.
  Pieces findPieces(llvm::ArrayRef<mlir::Value> values, const Index &row) const;

  /// Steps that the threads of a group compute without a barrier in between. A
  /// step reads other steps of its run only at the elements that the same
  /// thread computes; it reads earlier levels anywhere. All ops of a run have
  /// the same elements, and a thread takes the same number of them at a time.
  using Run = llvm::SmallVector<mlir::Operation *>;
  /// Runs that need no barrier between them.
  struct Level {
    llvm::SmallVector<Run> runs;
  };
  /// Returns the steps of the case in levels, as few as possible.
  llvm::SmallVector<Level> findLevels(llir::LoopCaseAttr loopCase);
  /// Returns whether a later level or a result reads the op's values.
  bool isReadLater(mlir::Operation *op) const { return readLater.contains(op); }

  KernelAnalysis &a;
  /// Alignment in bytes of each kept value, in the scratch memory of a vector
  /// and in the memory of a thread group.
  static constexpr int64_t kVectorAlignment = 64, kTeamAlignment = 8;
  int64_t alignment = kVectorAlignment;
  /// Threads of a GPU that share a row; 0 on a CPU.
  unsigned team = 0;
  /// Prepares for groups of `count` threads.
  void setTeam(unsigned count) {
    team = count;
    alignment = count ? kTeamAlignment : kVectorAlignment;
  }
  /// The extents of the rows.
  llvm::SmallVector<Expr> extents;
  /// The steps, in the order of the body.
  llvm::SmallVector<mlir::Operation *> steps;
  /// What the kernel yields.
  llvm::SmallVector<MovedResult> results;

private:
  Decision check(unsigned rank, llvm::SmallVectorImpl<mlir::Operation *> &kept);

  llvm::SmallPtrSet<mlir::Operation *, 16> readLater;
};

} // namespace luminal

#endif // LUMINAL_DIALECT_LLIR_ANALYSIS_ROWPROGRAM_H
