//===- FindVariants.h - Ranges that are worth a program of their own ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_PIPELINES_FINDVARIANTS_H
#define LUMINAL_LIB_PIPELINES_FINDVARIANTS_H

#include "Phases.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace luminal {

/// The ranges of `symbol` (as CompileOptions::variants states them) for which a
/// program of static prices is faster than the one for all sizes, by the clock
/// or the plan cache (luminal/Search/Cuts.h); none where nothing is known and
/// nothing may be measured. `func`, in phase `from`, is the only one of its
/// module, which is left as it is. On failure one error was emitted.
mlir::FailureOr<std::vector<std::string>>
findVariants(mlir::func::FuncOp func, Phase from, llvm::StringRef symbol,
             const CompileOptions &options, llvm::StringRef machine,
             const TargetInterface &target);

} // namespace luminal

#endif // LUMINAL_LIB_PIPELINES_FINDVARIANTS_H
