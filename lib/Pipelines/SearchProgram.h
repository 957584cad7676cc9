//===- SearchProgram.h - Search by measurement ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_PIPELINES_SEARCHPROGRAM_H
#define LUMINAL_LIB_PIPELINES_SEARCHPROGRAM_H

#include "Phases.h"
#include "SampleInputs.h"
#include "luminal/Conversion/Target.h"
#include "luminal/Pipelines/Compile.h"
#include "luminal/Search/PlanCache.h"

namespace luminal {

/// The result of a search: the program in phase `scheduled`, and the report as
/// JSON text.
struct SearchedProgram {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::string report;
};

/// Opens the plan cache that the options name. Problems with its contents are
/// remarks; an unknown mode is an error.
Result<search::PlanCache> openPlanCache(mlir::MLIRContext &context,
                                        const CompileOptions &options);

/// Searches for the fastest program that is equal to `module`, which is in
/// phase `from`, at most `fused`. Whole programs are timed and checked with
/// `samples` if there are any. Passes write `files` for the first program, the
/// static choice. On failure, one error was emitted.
mlir::FailureOr<SearchedProgram>
searchProgram(mlir::ModuleOp module, Phase from, const CompileOptions &options,
              llvm::StringRef machine, const TargetInterface &target,
              const SampleInputs &samples, const PhaseFiles &files = {});

} // namespace luminal

#endif // LUMINAL_LIB_PIPELINES_SEARCHPROGRAM_H
