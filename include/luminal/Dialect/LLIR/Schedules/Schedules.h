//===- Schedules.h - The choice of a kernel's schedule --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A *form* is a way to write the loops of a kernel; docs/Schedules.md
// describes each. Only schedules look at sizes; emitters follow the schedule.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_DIALECT_LLIR_SCHEDULES_SCHEDULES_H
#define LUMINAL_DIALECT_LLIR_SCHEDULES_SCHEDULES_H

#include "luminal/Dialect/LLIR/Analysis/KernelAnalysis.h"
#include "luminal/Dialect/LLIR/Utils/Values.h"
#include "luminal/Support/MachineModel.h"

#include <algorithm>
#include <functional>

namespace luminal::llir {

/// Returns the panel width: how many columns of `bits` bits a product's tile
/// takes at once, for a product of `columns` columns.
int64_t getPanelWidth(const MachineModel &machine, unsigned bits,
                      std::optional<int64_t> columns);

/// A schedule for a kernel, with its price, and the reasons for it as arguments
/// of a remark. `loops` is null if no form can compute the kernel.
struct ProposedLoops {
  LoopsAttr loops;
  /// Predicted nanoseconds on all workers of the machine, with symbols at their
  /// nominal values.
  double price = 0;
  /// Predicted nanoseconds on one worker.
  double priceOfOne = 0;
  llvm::SmallVector<Reporter::Arg> why;
};
/// Returns the schedule for `kernel` on `machine`, where symbols have `ranges`.
ProposedLoops proposeLoops(KernelOp kernel,
                           const KernelAnalysis::SymbolRanges &ranges,
                           const MachineModel &machine);
/// Returns the same for a kernel whose anchors all compute the same rows, as a
/// row program or as stages; no `loops` if the kernel has no such schedule.
ProposedLoops proposeRowProgram(KernelOp kernel,
                                const KernelAnalysis::SymbolRanges &ranges,
                                const MachineModel &machine);

/// Returns whether passes over rows can compute the kernel: all its loops are
/// reductions of the same rows.
bool fitsRows(KernelOp kernel);

/// Returns schedules that the kernel can have: first that of `proposeLoops`,
/// then those of other forms, then the neighbours of the first, each group
/// sorted by price.
llvm::SmallVector<ProposedLoops>
proposeAllLoops(KernelOp kernel, const KernelAnalysis::SymbolRanges &ranges,
                const MachineModel &machine);

/// Returns the schedules one step from `loops`, sorted by price: one number in
/// one case is doubled or halved (a block, lanes, parts, threads, or a number
/// of a form). All of them are verified.
llvm::SmallVector<ProposedLoops>
getNeighbours(KernelOp kernel, LoopsAttr loops,
              const KernelAnalysis::SymbolRanges &ranges,
              const MachineModel &machine);

/// A function that proposes the schedule of a kernel.
using ProposeFn = std::function<ProposedLoops(
    KernelOp kernel, const KernelAnalysis::SymbolRanges &ranges)>;

/// The terms of a price, in nanoseconds.
struct PriceTerms {
  /// The launch, and the latency of distributing work to the workers.
  double begin = 0;
  /// Terms of the worker that finishes last: simple operations; multiply-adds;
  /// reads from its own caches that do not overlap with either; reads from the
  /// shared cache; work done once for a group of work items; and load imbalance
  /// (by how much the workers finish apart).
  double operations = 0, products = 0, cache = 0, far = 0, shared = 0,
         uneven = 0;
  /// `memory` is the time of memory traffic, and `waiting` the memory latency
  /// that each thread waits for plus what it computes in between; both overlap
  /// with computing. `exposed` is memory time that overlaps with nothing.
  double memory = 0, waiting = 0, exposed = 0;

  double computing() const {
    return operations + products + cache + far + shared + uneven;
  }
  double total() const {
    return begin + std::max({computing(), memory, waiting}) + exposed;
  }
  /// Calls fn(name, nanoseconds) for each term.
  template <typename Fn>
  void visit(Fn fn) const {
    fn("begin", begin);
    fn("operations", operations);
    fn("products", products);
    fn("cache", cache);
    fn("far", far);
    fn("shared", shared);
    fn("uneven", uneven);
    fn("memory", memory);
    fn("waiting", waiting);
    fn("exposed", exposed);
  }
};

/// Return the price of a schedule that the kernel can have, on `workers`
/// workers, and the terms of that price.
double priceLoops(KernelOp kernel, LoopsAttr loops,
                  const KernelAnalysis::SymbolRanges &ranges,
                  const MachineModel &machine, unsigned workers);
PriceTerms explainPrice(KernelOp kernel, LoopsAttr loops,
                        const KernelAnalysis::SymbolRanges &ranges,
                        const MachineModel &machine, unsigned workers);
/// Returns the nanoseconds that one GPU block of `threads` threads takes for
/// the kernel, which has a schedule, without the launch.
double priceInBlock(KernelOp kernel, const KernelAnalysis::SymbolRanges &ranges,
                    const MachineModel &machine, unsigned threads);

/// Checks the schedule of `kernel` against its body and `machine`. The error is
/// at the kernel.
mlir::LogicalResult verifyLoops(KernelOp kernel,
                                const KernelAnalysis::SymbolRanges &ranges,
                                const MachineModel &machine);

/// Returns the kind of loops of a case, by which emitters select their code:
/// `elements`, `rows`, `product`, `ordered`, `stages`, `streamed`, `blocks`,
/// `streamed blocks` or `transposes`. Empty, with an error at the kernel, if
/// the schedule was not verified.
llvm::StringRef getLoopsTitle(KernelOp kernel, LoopCaseAttr loopCase);

/// Returns why a kernel, as scheduled, cannot run inside a sequence
/// (llir.sequence) with blocks of `threads` threads; empty if it can.
llvm::StringRef checkInSequence(KernelOp kernel, unsigned threads,
                                const MachineModel &machine);

/// Rows that products of one row read, which thread blocks may compute once and
/// share (`values`), and the one-element reductions that these rows depend on.
struct SharedRows {
  llvm::SmallVector<mlir::Value> values;
  llvm::SmallVector<ReductionOpInterface> reductions;
};
SharedRows findSharedRows(KernelOp kernel, const MachineModel &machine);
/// Returns the ops that a block computes once and shares, as the case says
/// (`share`), in order.
llvm::SmallVector<mlir::Operation *> getSharedOps(KernelOp kernel,
                                                  LoopCaseAttr loopCase);

/// Returns whether one loop computes all elements of a work item (the form
/// `together`).
bool areTogether(LoopCaseAttr loopCase);

/// Returns how many elements of the last axis of results with these extents the
/// case computes side by side, for each vector along the axis before it; 1 if
/// it computes them one by one.
int64_t countInterleaved(LoopCaseAttr loopCase, llvm::ArrayRef<Expr> extents);

/// The form of a reduction on a GPU whose terms are spread over the thread
/// groups of a block: each group computes one term, then every thread reduces
/// all terms in order.
constexpr llvm::StringLiteral kSpread = "spread";
bool hasSpreadTerms(LoopFormAttr form);
/// Returns the number of terms of a row reduction that may have this form, 2 to
/// 16; std::nullopt if it may not.
std::optional<int64_t> getSpreadTerms(mlir::Operation *op);

/// Returns the extent of one of `parts` split-k parts of a dim, a multiple of
/// `step`. Part p begins at p times this extent; the last parts may be shorter
/// or empty.
Expr getPartExtent(const Expr &extent, int64_t parts, int64_t step);

/// Returns the name of an op in a schedule, from its position in the kernel's
/// body: `op8`.
std::string getOpName(mlir::Operation *op);

/// Reductions whose terms one loop computes. The form of the first reduction
/// says how the loop runs; the forms of the others name the first: `pass {with
/// = op1}`.
struct ReductionWalk {
  LoopFormAttr form;
  llvm::SmallVector<ReductionOpInterface, 2> ops;
};
/// Returns the walks of `ops`, in the order of their first reductions.
llvm::SmallVector<ReductionWalk>
getWalks(llvm::ArrayRef<ReductionOpInterface> ops, LoopCaseAttr loopCase);

/// The reductions that the `parts` of a case cut: those that depend on no other
/// op with loops. All have the same index space, that of the grid.
struct CutReductions {
  /// 1 if the case has no parts; the fields below are then empty.
  int64_t parts = 1;
  /// The reductions, in the order of their walks.
  llvm::SmallVector<ReductionOpInterface> ops;
  /// The byte offset, in the workspace, of each value of the reductions'
  /// states. The elements of all parts follow each other, row-major.
  llvm::SmallVector<Expr> places;
  /// Bytes of the states of all parts.
  Expr bytes = 0;
  /// Blocks of the grid. Each has a counter, an i32.
  Expr blocks = 1;

  Expr getPartExtent(const Expr &extent, int64_t step) const {
    return luminal::llir::getPartExtent(extent, parts, step);
  }
};
CutReductions getCutReductions(KernelOp kernel, LoopCaseAttr loopCase);

/// The memory that a kernel needs while it runs, besides operands and results.
struct Workspace {
  /// Bytes for the states of parts; they need no initial value.
  Expr states = 0;
  /// Bytes of counters, which are zero before and after the kernel runs.
  Expr counters = 0;
};
/// Returns the workspace for all cases of the kernel's verified schedule;
/// std::nullopt if no case has parts or blocks that count each other.
std::optional<Workspace>
getWorkspace(KernelOp kernel, const KernelAnalysis::SymbolRanges &ranges);

/// Returns the distance, in elements, between the columns of a tile of `tile`
/// rows and columns in shared memory.
int64_t getTilePitch(mlir::Type element, int64_t tile);

/// Returns 1 if the guard of a case holds, else 0; 1 without a guard.
Expr getIndicator(LoopCaseAttr loopCase);

/// Returns the dims of each axis.
llvm::SmallVector<llvm::SmallVector<unsigned>>
getGroups(llvm::ArrayRef<LoopAxisAttr> axes);

/// Returns the simple operations that one element of the results costs.
int64_t getElementCost(KernelOp kernel);

} // namespace luminal::llir

#endif // LUMINAL_DIALECT_LLIR_SCHEDULES_SCHEDULES_H
