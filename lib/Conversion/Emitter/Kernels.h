//===- Kernels.h - The loops of each form of kernel -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The part of a kernel's function inside its entry: a loop over the work range
// and what one unit of work does, as the kernel's schedule says (docs/LLIR.md,
// "Schedules"). Nothing here looks at a size to choose a form.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_LIB_CONVERSION_EMITTER_KERNELS_H
#define LUMINAL_LIB_CONVERSION_EMITTER_KERNELS_H

#include "luminal/Conversion/Emitter.h"
#include "luminal/Dialect/LLIR/Schedules/Schedules.h"

namespace luminal {

/// How the work range is given to threads.
struct WorkLoop {
  /// Units begin, begin + step, ... below end are this thread's.
  mlir::Value begin, end, step;
  /// Memory of the thread; null where there is none.
  mlir::Value scratch;
};

/// What one case of a schedule needs.
struct WorkShape {
  /// Units of work.
  Expr work = 1;
  /// Simple operations of one unit.
  Expr cost = 1;
  /// Bytes a thread brings.
  Expr scratch = 0;
  /// Of a GPU: thread blocks that do all of it in one go, at most so many where
  /// a form says that.
  Expr blocks = 0;
  /// Of a GPU: bytes that a block asks for when it is launched.
  Expr shared = 0;
};

/// Each emits the case `e.loopCase`, which is of that form.
WorkShape emitElements(Emitter &e, const WorkLoop &loop);
WorkShape emitRows(Emitter &e, const WorkLoop &loop);
WorkShape emitProduct(Emitter &e, const WorkLoop &loop);
WorkShape emitOrdered(Emitter &e, const WorkLoop &loop);
WorkShape emitUpdates(Emitter &e, const WorkLoop &loop);
WorkShape emitBlocks(Emitter &e, const WorkLoop &loop);
WorkShape emitStages(Emitter &e, const WorkLoop &loop);
WorkShape emitRowProgram(Emitter &e, const WorkLoop &loop);
WorkShape emitStreamed(Emitter &e, const WorkLoop &loop);
WorkShape emitStreamedBlocks(Emitter &e, const WorkLoop &loop);
WorkShape emitTransposes(Emitter &e, const WorkLoop &loop);
WorkShape emitWhole(Emitter &e, const WorkLoop &loop);
WorkShape emitRecurrence(Emitter &e, const WorkLoop &loop);

/// Emits the case `e.loopCase`, whatever its form.
WorkShape emitForm(Emitter &e, const WorkLoop &loop);

/// PTX with these arguments ($N behind those of the results) and results, which
/// stays where it is; its constraints as LLVM's inline assembly has them.
llvm::SmallVector<mlir::Value>
emitPTX(mlir::ImplicitLocOpBuilder &b, llvm::StringRef text,
        mlir::ValueRange args = {}, llvm::StringRef constraints = "~{memory}",
        llvm::ArrayRef<mlir::Type> results = {});

/// The threads of the warp that are in one team with `thread`, of `count`
/// threads each, as a mask (i32).
mlir::Value getThreadMask(Emitter &e, mlir::Value thread, unsigned count);

/// Memory of the thread for so many elements, from the function's begin on.
mlir::Value makeThreadMemory(Emitter &e, mlir::Type type, int64_t count);

/// Of a GPU: which of its threads this is, and of so many blocks which.
struct BlockThreads {
  mlir::Value block, blocks, thread;
};
/// Emits the case `e.loopCase` by `form` for teams of threads, which take units
/// below `end` in turn.
WorkShape emitByTeams(Emitter &e, const BlockThreads &threads, mlir::Value end,
                      llvm::function_ref<WorkShape(const WorkLoop &)> form);

/// Attaches the code of the ops that are kernels of their own.
void attachScans(mlir::MLIRContext &context);
void attachSequences(mlir::MLIRContext &context);
void attachSorts(mlir::MLIRContext &context);

/// The elements at `index` of several reductions of segments, in one loop: none
/// waits for what another reads.
llvm::SmallVector<mlir::Value>
emitSegments(Emitter &e, llvm::ArrayRef<llir::SegmentReduceOp> ops,
             const Index &index);

/// A pass over the row at `index`, whose results are remembered. `before` runs
/// before the terms at each index.
void emitRowReductions(Emitter &e, const llir::ReductionWalk &walk,
                       const Index &index,
                       llvm::function_ref<void(const Index &)> before);

using llir::getElementCost;

/// `linear` taken apart into the values of `dims`, the last fastest.
void setDims(Emitter &e, llvm::ArrayRef<unsigned> dims,
             llvm::ArrayRef<Expr> extents, mlir::Value linear);

/// An axis of the parallel space: `block` indices a unit (0: all), `lanes` of
/// them at a time.
struct Axis {
  unsigned dim;
  Expr extent;
  int64_t block;
  unsigned lanes;
};

/// Indices of an axis that a unit has.
struct IndexRange {
  mlir::Value lo, hi;
};

/// The parallel space, cut into units of work; the last axis is the fastest.
class Grid {
public:
  explicit Grid(llvm::SmallVector<Axis> axes) : axes(std::move(axes)) {}
  /// The axes of `loopCase` over the dims of `domain`, which was made of
  /// `groups`, one for each.
  Grid(const Domain &domain, llvm::ArrayRef<llvm::SmallVector<unsigned>> groups,
       llir::LoopCaseAttr loopCase);

  Expr countUnits() const;
  /// Indices that a unit has, at most.
  Expr getUnitLength() const;

  /// Sets the dims of which a unit has one index, and returns the ranges of
  /// all axes, null where it has one.
  llvm::SmallVector<IndexRange> setUnit(Emitter &e, mlir::Value unit) const;
  /// Calls `body` for each index of a unit but those of the inner axis, whose
  /// range it gets: the one with lanes, or else the last that has a range; null
  /// where there is none.
  void emitUnit(Emitter &e, mlir::Value unit,
                llvm::function_ref<void(const Axis *, IndexRange)> body) const;
  /// Calls `body` for every index of a unit, across lanes.
  void emitIndices(Emitter &e, mlir::Value unit,
                   llvm::function_ref<void()> body) const;

  llvm::SmallVector<Axis> axes;
};

} // namespace luminal

#endif // LUMINAL_LIB_CONVERSION_EMITTER_KERNELS_H
