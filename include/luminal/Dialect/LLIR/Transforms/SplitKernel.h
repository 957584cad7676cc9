//===- SplitKernel.h - Splits a kernel of rows ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_DIALECT_LLIR_TRANSFORMS_SPLITKERNEL_H
#define LUMINAL_DIALECT_LLIR_TRANSFORMS_SPLITKERNEL_H

#include "luminal/Dialect/LLIR/IR/LLIR.h"

namespace luminal::llir {

/// Builds, before `kernel`, kernels that together compute the same results.
/// Each level of the kernel's reductions becomes one kernel; a reduction is one
/// level above the reductions whose results it reads. One more kernel computes
/// the rest, joined with the last level if that has the same rows. Values in
/// between are recomputed in each kernel that reads them. The results of the
/// last kernel are those of `kernel`, which stays. Returns nothing if `kernel`
/// has loops other than row reductions, or a single level followed by nothing
/// but values of its rows.
llvm::SmallVector<KernelOp> splitByReductions(KernelOp kernel);

/// Builds, before a kernel of one update, kernels that compute the same
/// results: one writes the destination, and one updates it in place; if the
/// update is yielded through views, a third one moves it. The results of the
/// last kernel are those of `kernel`, which stays.
llvm::SmallVector<KernelOp> splitByUpdate(KernelOp kernel);

/// Does the same for a kernel that could run in place if it owned its first
/// operand: one kernel copies that operand, the other one is the kernel on the
/// copy.
llvm::SmallVector<KernelOp> splitByCopy(KernelOp kernel);

} // namespace luminal::llir

#endif // LUMINAL_DIALECT_LLIR_TRANSFORMS_SPLITKERNEL_H
