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
#include "luminal/Support/MachineModel.h"

#include <functional>

namespace luminal::llir {

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

/// What is asked for the schedule of a kernel.
using ProposeFn = std::function<ProposedLoops(
    KernelOp kernel, const KernelAnalysis::SymbolRanges &ranges)>;

/// The price of a schedule that the kernel can have, on so many workers.
double priceLoops(KernelOp kernel, LoopsAttr loops,
                  const KernelAnalysis::SymbolRanges &ranges,
                  const MachineModel &machine, unsigned workers);

/// Checks the schedule of `kernel` against its body and `machine`. The error is
/// at the kernel.
mlir::LogicalResult verifyLoops(KernelOp kernel,
                                const KernelAnalysis::SymbolRanges &ranges,
                                const MachineModel &machine);

/// What the loops of a case are made of, by which emitters know them:
/// `elements`, `rows`, `product`, `ordered` or `stages`. Empty, with an error
/// at the kernel, where it was not verified.
llvm::StringRef getLoopsTitle(KernelOp kernel, LoopCaseAttr loopCase);

/// The dims of each axis.
llvm::SmallVector<llvm::SmallVector<unsigned>>
getGroups(llvm::ArrayRef<LoopAxisAttr> axes);

/// The position of `op` in the body of its kernel, by which schedules name it.
unsigned getPosition(mlir::Operation *op);

} // namespace luminal::llir

#endif // LUMINAL_DIALECT_LLIR_SCHEDULES_SCHEDULES_H
