//===- RowProgram.h - A kernel that computes rows step by step ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where all reductions and products of a kernel are computed row by row, each
// from values of the same row and from memory, rows are the lanes of vectors:
// a unit takes a vector of rows through all steps, in the order of the body. A
// step is an op with loops, or a value that is kept because later steps read it
// often. What is kept is in scratch, the rows of a vector side by side, so that
// whatever a row program reads of it (other columns, products of a value with
// itself, parts of several values) is a load of a vector. On a GPU a team of
// threads takes a row, its elements to the members in turn, and what is kept is
// in shared memory.
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

  /// Whether the value has the rows among its dims.
  bool hasRows(mlir::Value v) const;
  /// Whether all rows read the same of an operand.
  bool isShared(mlir::BlockArgument argument) const;
  /// The number of elements of `v` that each row has.
  Expr countLocal(mlir::Value v) const;
  /// Bytes of scratch for a vector of `lanes` rows, and where `v` begins there.
  Expr countBytes(int64_t lanes) const;
  /// Bytes of shared memory for a row that a team of threads takes: those of a
  /// warp that read the same of their rows read different banks.
  Expr countTeamBytes(const MachineModel &machine) const;
  Expr getOffset(mlir::Value v, int64_t lanes) const;
  /// The element of `v` in scratch, from where it begins there, that `at` is;
  /// `row` is the number of the row in its vector.
  Expr getPlace(mlir::Value v, const Index &at, int64_t lanes,
                const Expr &row) const;
  /// From here on `v` is read from there.
  void place(mlir::Value v, int64_t lanes, const Expr &row);

  /// Indices [lo, hi) of the last dim of a value.
  struct Piece {
    int64_t lo, hi;
  };
  /// The last dim of values that have the same elements, in ranges in which
  /// what they choose by its index is the same; `nullopt` is all of it.
  using Pieces = llvm::SmallVector<std::optional<Piece>>;
  Pieces findPieces(llvm::ArrayRef<mlir::Value> values, const Index &row) const;

  /// Steps that members of a team take without meeting: each reads others of
  /// the same run only where it is computed itself, and of earlier levels
  /// whatever it likes. Ops of a run have the same elements, of which a member
  /// takes equally many at once.
  using Run = llvm::SmallVector<mlir::Operation *>;
  struct Level {
    llvm::SmallVector<Run> runs;
  };
  /// The steps in levels, as few as can be; they are those of the case.
  llvm::SmallVector<Level> findLevels(llir::LoopCaseAttr loopCase);
  /// Whether a later level or a result reads the op's values.
  bool isReadLater(mlir::Operation *op) const { return readLater.contains(op); }

  KernelAnalysis &a;
  /// Bytes of which each value that is kept begins at a multiple: of a vector,
  /// and of the memory of a team.
  static constexpr int64_t kVectorAlignment = 64, kTeamAlignment = 8;
  int64_t alignment = kVectorAlignment;
  /// Threads of a GPU that take a row; 0 elsewhere.
  unsigned team = 0;
  /// Prepares for teams of so many.
  void setTeam(unsigned count) {
    team = count;
    alignment = count ? kTeamAlignment : kVectorAlignment;
  }
  /// Of the rows.
  llvm::SmallVector<Expr> extents;
  /// In the order of the body.
  llvm::SmallVector<mlir::Operation *> steps;
  /// What the kernel yields.
  llvm::SmallVector<MovedResult> results;

private:
  Decision check(unsigned rank, llvm::SmallVectorImpl<mlir::Operation *> &kept);

  llvm::SmallPtrSet<mlir::Operation *, 16> readLater;
};

} // namespace luminal

#endif // LUMINAL_DIALECT_LLIR_ANALYSIS_ROWPROGRAM_H
