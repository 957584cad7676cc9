//===- SearchProgram.h - A compile that measures --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_PIPELINES_SEARCHPROGRAM_H
#define LUMINAL_LIB_PIPELINES_SEARCHPROGRAM_H

#include "Phases.h"
#include "SampleInputs.h"
#include "luminal/Conversion/Target.h"
#include "luminal/Pipelines/Compile.h"
#include "luminal/Search/PlanCache.h"

namespace luminal {

/// What the search found: the program in phase `scheduled`, and its report as
/// JSON text.
struct SearchedProgram {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::string report;
};

/// The plan cache that the options name. What cannot be used of it is a remark.
/// An error says that there is no such mode.
Result<search::PlanCache> openPlanCache(mlir::MLIRContext &context,
                                        const CompileOptions &options);

/// Looks for the fastest program that is equal to `module`, which is in phase
/// `from`, at most `fused`. Whole programs are timed and checked with `samples`
/// where it has some. Passes write `files` for the program of static prices. On
/// failure one error was emitted.
mlir::FailureOr<SearchedProgram>
searchProgram(mlir::ModuleOp module, Phase from, const CompileOptions &options,
              llvm::StringRef machine, const TargetInterface &target,
              const SampleInputs &samples, const PhaseFiles &files = {});

} // namespace luminal

#endif // LUMINAL_LIB_PIPELINES_SEARCHPROGRAM_H
