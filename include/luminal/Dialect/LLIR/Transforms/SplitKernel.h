//===- SplitKernel.h - A kernel of rows as several --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_DIALECT_LLIR_TRANSFORMS_SPLITKERNEL_H
#define LUMINAL_DIALECT_LLIR_TRANSFORMS_SPLITKERNEL_H

#include "luminal/Dialect/LLIR/IR/LLIR.h"

namespace luminal::llir {

/// Builds, before `kernel`, kernels that together compute the same: one for
/// each level of its reductions, which is at a level above those whose results
/// it reads, and one for what is left, which joins the last level where it is
/// of the same rows. What is between is computed in each that reads it. The
/// results of the last are the kernel's, which stays as it is. None where it
/// has other loops than reductions of rows, or only one level and nothing after
/// it but values of its rows.
llvm::SmallVector<KernelOp> splitByReductions(KernelOp kernel);

/// Builds, before a kernel of one update, kernels that compute the same: one
/// writes the destination, one updates it in place, and where the update is
/// yielded through views, one moves it. The results of the last are the
/// kernel's, which stays as it is.
llvm::SmallVector<KernelOp> splitByUpdate(KernelOp kernel);

/// The same where the kernel could run in place, if its first operand were its
/// own: one kernel copies that operand, the other is the kernel on the copy.
llvm::SmallVector<KernelOp> splitByCopy(KernelOp kernel);

} // namespace luminal::llir

#endif // LUMINAL_DIALECT_LLIR_TRANSFORMS_SPLITKERNEL_H
