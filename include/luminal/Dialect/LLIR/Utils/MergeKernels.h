//===- MergeKernels.h - One kernel of several -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_DIALECT_LLIR_UTILS_MERGEKERNELS_H
#define LUMINAL_DIALECT_LLIR_UTILS_MERGEKERNELS_H

#include "luminal/Dialect/LLIR/IR/LLIR.h"

namespace luminal::llir {

/// A kernel that does what `kernels` do, which are in the order of the block,
/// before the last of them; they stay. Its results are those of theirs that
/// anything else reads, which are added to `results`.
KernelOp mergeKernels(llvm::ArrayRef<KernelOp> kernels,
                      llvm::SmallVectorImpl<mlir::Value> &results);

/// The result of a kernel that copies `value`, read through `map`, to a new
/// buffer of type `type`.
mlir::Value copyThrough(mlir::Value value, hlir::MapAttr map,
                        mlir::RankedTensorType type, mlir::OpBuilder &builder);

/// The code of a kernel whose loops are over elements, as its budget counts it
/// (CodeBudget.h).
int64_t countElementCode(KernelOp kernel);

} // namespace luminal::llir

#endif // LUMINAL_DIALECT_LLIR_UTILS_MERGEKERNELS_H
