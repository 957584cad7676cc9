//===- Schedules.h - Which schedule a kernel gets -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A *form* is a way to write the loops of a kernel; docs/LLIR.md describes
// each. Sizes are looked at here, and nowhere after: emitters obey.
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

/// Columns of `bits` bits that tiles of a product take at once, of `columns`
/// of them: those of a panel.
int64_t getPanelWidth(const MachineModel &machine, unsigned bits,
                      std::optional<int64_t> columns);

/// The schedule for `kernel` on `machine`, where symbols have `ranges`; with
/// why it is that one as arguments of a remark. No loops where no form can
/// compute the kernel.
struct ProposedLoops {
  LoopsAttr loops;
  /// Nanoseconds that the kernel is predicted to take where symbols have their
  /// nominal values, on all workers of the machine.
  double price = 0;
  /// The same on one of them.
  double priceOfOne = 0;
  llvm::SmallVector<Reporter::Arg> why;
};
ProposedLoops proposeLoops(KernelOp kernel,
                           const KernelAnalysis::SymbolRanges &ranges,
                           const MachineModel &machine);
/// The same of a kernel whose anchors all compute the same rows, step by step
/// or as stages; none where it has no such schedule.
ProposedLoops proposeRowProgram(KernelOp kernel,
                                const KernelAnalysis::SymbolRanges &ranges,
                                const MachineModel &machine);

/// Whether passes over rows may compute the kernel: all its loops are
/// reductions of the same rows.
bool fitsRows(KernelOp kernel);

/// Schedules that the kernel can have, `proposeLoops`' first: then what other
/// forms propose, then the neighbours of the first, each group by price.
llvm::SmallVector<ProposedLoops>
proposeAllLoops(KernelOp kernel, const KernelAnalysis::SymbolRanges &ranges,
                const MachineModel &machine);

/// Schedules one step from `loops`, by price: in one of its cases a number is
/// doubled or halved (a block, lanes, parts, threads, a number of a form).
/// All of them are verified.
llvm::SmallVector<ProposedLoops>
getNeighbours(KernelOp kernel, LoopsAttr loops,
              const KernelAnalysis::SymbolRanges &ranges,
              const MachineModel &machine);

/// What is asked for the schedule of a kernel.
using ProposeFn = std::function<ProposedLoops(
    KernelOp kernel, const KernelAnalysis::SymbolRanges &ranges)>;

/// What a price is made of, in nanoseconds.
struct PriceTerms {
  /// Until the kernel begins, and until other workers share it.
  double begin = 0;
  /// What the worker that ends last does: simple operations, multiplications
  /// with addition, reads of its own caches while it does neither, reads of the
  /// cache of all workers, and what it does once for units of one group; and
  /// the time by which workers end apart.
  double operations = 0, products = 0, cache = 0, far = 0, shared = 0,
         uneven = 0;
  /// Memory's, meanwhile; what each thread waits for it and computes between;
  /// and then, with nothing else to do.
  double memory = 0, waiting = 0, exposed = 0;

  double computing() const {
    return operations + products + cache + far + shared + uneven;
  }
  double total() const {
    return begin + std::max({computing(), memory, waiting}) + exposed;
  }
  /// Calls fn(name, nanoseconds) for each.
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

/// The price of a schedule that the kernel can have, on so many workers; and
/// what it is made of.
double priceLoops(KernelOp kernel, LoopsAttr loops,
                  const KernelAnalysis::SymbolRanges &ranges,
                  const MachineModel &machine, unsigned workers);
PriceTerms explainPrice(KernelOp kernel, LoopsAttr loops,
                        const KernelAnalysis::SymbolRanges &ranges,
                        const MachineModel &machine, unsigned workers);
/// Nanoseconds that one block of so many threads of a GPU takes for the kernel,
/// which has a schedule, without its launch.
double priceInBlock(KernelOp kernel, const KernelAnalysis::SymbolRanges &ranges,
                    const MachineModel &machine, unsigned threads);

/// Checks the schedule of `kernel` against its body and `machine`. The error is
/// at the kernel.
mlir::LogicalResult verifyLoops(KernelOp kernel,
                                const KernelAnalysis::SymbolRanges &ranges,
                                const MachineModel &machine);

/// What the loops of a case are made of, by which emitters know them:
/// `elements`, `rows`, `product`, `ordered`, `stages`, `streamed`, `blocks`,
/// `streamed blocks` or `transposes`.
/// Empty, with an error at the kernel, where it was not verified.
llvm::StringRef getLoopsTitle(KernelOp kernel, LoopCaseAttr loopCase);

/// Why a kernel cannot run as it is scheduled in a block of `threads` threads,
/// among others (llir.sequence); empty where it can.
llvm::StringRef checkInSequence(KernelOp kernel, unsigned threads,
                                const MachineModel &machine);

/// Rows that products of one row read and that follow from reductions of one
/// element, which blocks of threads may share; and those reductions.
struct SharedRows {
  llvm::SmallVector<mlir::Value> values;
  llvm::SmallVector<ReductionOpInterface> reductions;
};
SharedRows findSharedRows(KernelOp kernel, const MachineModel &machine);
/// What a block computes once as the case says (`share`), in order.
llvm::SmallVector<mlir::Operation *> getSharedOps(KernelOp kernel,
                                                  LoopCaseAttr loopCase);

/// Whether one walk computes all elements of a unit (`together`).
bool areTogether(LoopCaseAttr loopCase);

/// How many elements of the last axis of results of these extents the case
/// takes beside each other, for a vector along the axis before: 1 where it does
/// not.
int64_t countInterleaved(LoopCaseAttr loopCase, llvm::ArrayRef<Expr> extents);

/// The form of a reduction whose terms the teams of a block compute, each one
/// of them, and then all take in order; on a GPU.
constexpr llvm::StringLiteral kSpread = "spread";
bool hasSpreadTerms(LoopFormAttr form);
/// The terms of a reduction of a row that may have that form: 2 to 16.
std::optional<int64_t> getSpreadTerms(mlir::Operation *op);

/// The indices of one of `parts` of a dim, a multiple of `step`: part p begins
/// at p times as many, and the last parts may have less or nothing.
Expr getPartExtent(const Expr &extent, int64_t parts, int64_t step);

/// How a schedule names an op of the kernel's body: `op8`.
std::string getOpName(mlir::Operation *op);

/// Reductions whose terms one loop computes. The form of the first says how it
/// runs, those of the others name the first: `pass {with = op1}`.
struct ReductionWalk {
  LoopFormAttr form;
  llvm::SmallVector<ReductionOpInterface, 2> ops;
};
/// The walks of `ops`, in the order of their first reductions.
llvm::SmallVector<ReductionWalk>
getWalks(llvm::ArrayRef<ReductionOpInterface> ops, LoopCaseAttr loopCase);

/// Reductions that parts of a case cut: those that read, through whatever is
/// between, no other op with loops. All are over one index space, the grid's.
struct CutReductions {
  /// 1 where the case has none; what follows is empty then.
  int64_t parts = 1;
  /// In the order of their walks.
  llvm::SmallVector<ReductionOpInterface> ops;
  /// Where each value of their states begins in the memory of states, in bytes:
  /// its elements are those of all parts, one after the other, row-major.
  llvm::SmallVector<Expr> places;
  /// Of the memory of states.
  Expr bytes = 0;
  /// Blocks of the grid; each has a counter, an i32.
  Expr blocks = 1;

  Expr getPartExtent(const Expr &extent, int64_t step) const {
    return luminal::llir::getPartExtent(extent, parts, step);
  }
};
CutReductions getCutReductions(KernelOp kernel, LoopCaseAttr loopCase);

/// Memory that a kernel needs while it runs, besides operands and results.
struct Workspace {
  /// Bytes of the states of parts; what they hold before is of no matter.
  Expr states = 0;
  /// Bytes of counters: zero before the kernel runs, and zero after.
  Expr counters = 0;
};
/// For all cases of its schedule; none where no case has parts, nor blocks that
/// count each other. Its schedule is verified.
std::optional<Workspace>
getWorkspace(KernelOp kernel, const KernelAnalysis::SymbolRanges &ranges);

/// Elements from one column to the next of a tile, of `tile` rows and columns,
/// in shared memory.
int64_t getTilePitch(mlir::Type element, int64_t tile);

/// 1 where the guard of a case holds, else 0; 1 without a guard.
Expr getIndicator(LoopCaseAttr loopCase);

/// The dims of each axis.
llvm::SmallVector<llvm::SmallVector<unsigned>>
getGroups(llvm::ArrayRef<LoopAxisAttr> axes);

/// Simple operations that one element of the results costs.
int64_t getElementCost(KernelOp kernel);

} // namespace luminal::llir

#endif // LUMINAL_DIALECT_LLIR_SCHEDULES_SCHEDULES_H
