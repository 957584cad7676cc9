//===- FindVariants.h - Finds ranges worth a variant ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_PIPELINES_FINDVARIANTS_H
#define LUMINAL_LIB_PIPELINES_FINDVARIANTS_H

#include "Phases.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace luminal {

/// The ranges of `symbol`, in the form of CompileOptions::variants, for which a
/// program with static prices is faster than the program for all sizes,
/// according to measurements or the plan cache (luminal/Search/Cuts.h). Empty
/// if nothing is cached and measuring is not allowed. `func`, in phase `from`,
/// is the only function of its module, which is not changed. On failure, one
/// error was emitted.
mlir::FailureOr<std::vector<std::string>>
findVariants(mlir::func::FuncOp func, Phase from, llvm::StringRef symbol,
             const CompileOptions &options, llvm::StringRef machine,
             const TargetInterface &target);

} // namespace luminal

#endif // LUMINAL_LIB_PIPELINES_FINDVARIANTS_H
