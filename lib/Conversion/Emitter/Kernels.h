//===- Kernels.h - Emitters of the forms of kernels -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits the body of a kernel's function: a loop over work items and the code of
// one work item, as the kernel's schedule says (docs/Schedules.md). The
// schedule alone selects the form; nothing here inspects sizes for that.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_LIB_CONVERSION_EMITTER_KERNELS_H
#define LUMINAL_LIB_CONVERSION_EMITTER_KERNELS_H

#include "luminal/Conversion/Emitter.h"
#include "luminal/Dialect/LLIR/Schedules/Schedules.h"

namespace luminal {

/// The work items of a thread.
struct WorkLoop {
  /// The thread computes work items begin, begin + step, ... below end.
  mlir::Value begin, end, step;
  /// Scratch memory of the thread; null if it needs none.
  mlir::Value scratch;
};

/// The resources of one case of a schedule.
struct WorkShape {
  /// Number of work items.
  Expr work = 1;
  /// Scalar operations per work item.
  Expr cost = 1;
  /// Scratch bytes per thread.
  Expr scratch = 0;
  /// GPU: thread blocks that fit at once; some forms limit it further.
  Expr blocks = 0;
  /// GPU: dynamic shared memory per block, in bytes.
  Expr shared = 0;
};

/// Each of these emits the case `e.loopCase`, which must have that form.
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

/// Emits the case `e.loopCase` in the form that it has.
WorkShape emitForm(Emitter &e, const WorkLoop &loop);

/// Emits inline PTX that is not moved. `text` refers to results as $0, ... and
/// to arguments after them; `constraints` are those of LLVM's inline assembly.
llvm::SmallVector<mlir::Value>
emitPTX(mlir::ImplicitLocOpBuilder &b, llvm::StringRef text,
        mlir::ValueRange args = {}, llvm::StringRef constraints = "~{memory}",
        llvm::ArrayRef<mlir::Type> results = {});

/// The mask (i32) of the threads of the warp that are in the group of `thread`,
/// if groups have `count` threads.
mlir::Value getThreadMask(Emitter &e, mlir::Value thread, unsigned count);

/// Memory private to the thread for `count` elements, allocated at the entry of
/// the function.
mlir::Value makeThreadMemory(Emitter &e, mlir::Type type, int64_t count);

/// GPU: the number of this block, the number of blocks, and the number of this
/// thread in its block.
struct BlockThreads {
  mlir::Value block, blocks, thread;
};
/// Emits the case `e.loopCase` with `form` for thread groups, which take the
/// work items below `end` round-robin.
WorkShape emitByTeams(Emitter &e, const BlockThreads &threads, mlir::Value end,
                      llvm::function_ref<WorkShape(const WorkLoop &)> form);

/// Attach the code of ops that are kernels of their own.
void attachScans(mlir::MLIRContext &context);
void attachSequences(mlir::MLIRContext &context);
void attachSorts(mlir::MLIRContext &context);

/// The elements at `index` of several segment reductions, which are computed in
/// one loop so that their loads overlap.
llvm::SmallVector<mlir::Value>
emitSegments(Emitter &e, llvm::ArrayRef<llir::SegmentReduceOp> ops,
             const Index &index);

/// Emits one pass over the row at `index` for the reductions of `walk` and
/// remembers their results. `before` runs ahead of the terms at each index.
void emitRowReductions(Emitter &e, const llir::ReductionWalk &walk,
                       const Index &index,
                       llvm::function_ref<void(const Index &)> before);

using llir::getElementCost;

/// Sets the dims to the coordinates of the row-major index `linear`; the last
/// dim is the fastest.
void setDims(Emitter &e, llvm::ArrayRef<unsigned> dims,
             llvm::ArrayRef<Expr> extents, mlir::Value linear);

/// An axis of the parallel space. A work item covers `block` indices of it (0:
/// all), `lanes` at a time.
struct Axis {
  unsigned dim;
  Expr extent;
  int64_t block;
  unsigned lanes;
};

/// The indices of an axis that belong to a work item.
struct IndexRange {
  mlir::Value lo, hi;
};

/// The parallel space divided into work items; the last axis is the fastest.
class Grid {
public:
  explicit Grid(llvm::SmallVector<Axis> axes) : axes(std::move(axes)) {}
  /// The axes of `loopCase`. Axis i covers the dims groups[i], which `domain`
  /// fused into one dim.
  Grid(const Domain &domain, llvm::ArrayRef<llvm::SmallVector<unsigned>> groups,
       llir::LoopCaseAttr loopCase);

  Expr countUnits() const;
  /// The maximum number of indices per work item.
  Expr getUnitLength() const;

  /// Sets the dims of axes with one index per work item. Returns the range of
  /// every axis, null for those.
  llvm::SmallVector<IndexRange> setUnit(Emitter &e, mlir::Value unit) const;
  /// Calls `body` for each index of a work item, except those of the inner
  /// axis, whose range is passed: the vectorised axis, or else the last axis
  /// with a range; null if there is none.
  void emitUnit(Emitter &e, mlir::Value unit,
                llvm::function_ref<void(const Axis *, IndexRange)> body) const;
  /// Calls `body` for every index of a work item, vectorised.
  void emitIndices(Emitter &e, mlir::Value unit,
                   llvm::function_ref<void()> body) const;

  llvm::SmallVector<Axis> axes;
};

} // namespace luminal

#endif // LUMINAL_LIB_CONVERSION_EMITTER_KERNELS_H
