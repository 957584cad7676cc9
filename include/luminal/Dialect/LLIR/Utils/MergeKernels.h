//===- MergeKernels.h - Merges kernels into one ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_DIALECT_LLIR_UTILS_MERGEKERNELS_H
#define LUMINAL_DIALECT_LLIR_UTILS_MERGEKERNELS_H

#include "luminal/Dialect/LLIR/IR/LLIR.h"

namespace luminal::llir {

/// Builds, before the last of `kernels`, one kernel that does the work of all
/// of them; `kernels` are in block order and stay. The new kernel's results are
/// those results of `kernels` that other ops read; the originals are appended
/// to `results`.
KernelOp mergeKernels(llvm::ArrayRef<KernelOp> kernels,
                      llvm::SmallVectorImpl<mlir::Value> &results);

/// Builds a kernel that copies `value`, read through `map`, to a new buffer of
/// type `type`. Returns its result.
mlir::Value copyThrough(mlir::Value value, hlir::MapAttr map,
                        mlir::RankedTensorType type, mlir::OpBuilder &builder);

/// Returns the code size of a kernel whose loops run over elements, in the unit
/// of CodeBudget.h.
int64_t countElementCode(KernelOp kernel);

} // namespace luminal::llir

#endif // LUMINAL_DIALECT_LLIR_UTILS_MERGEKERNELS_H
