//===- Phases.h - From one phase to a later one ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_PIPELINES_PHASES_H
#define LUMINAL_LIB_PIPELINES_PHASES_H

#include "luminal/Pipelines/Compile.h"
#include "luminal/Runtime/Artifact.h"
#include "luminal/Target/Artifact.h"

namespace luminal {

/// Files that passes write if their names are not empty, and other outputs of
/// passes.
struct PhaseFiles {
  std::string saturation, explanation;
  eqsat::KeepSession keepSession;
  KernelObjects *objects = nullptr;
};

/// Brings `module` from phase `from` to phase `to`, at most `Lowered`.
/// `machine` is the file with the model of this machine, or empty.
mlir::LogicalResult runPhases(mlir::ModuleOp module, Phase from, Phase to,
                              const CompileOptions &options,
                              llvm::StringRef machine,
                              const PhaseFiles &files = {});

/// The code of a lowered module and of `objects`, linked with the user kernels
/// that its steps run.
mlir::FailureOr<TargetCode> compileCode(mlir::ModuleOp module,
                                        const CompileOptions &options,
                                        const TargetInterface &target,
                                        std::vector<KernelObject> objects = {});
/// Narrows the ranges of symbols as CompileOptions::variants states them, and
/// folds what is then known, as an import with these sizes would.
mlir::LogicalResult narrowSymbols(mlir::ModuleOp module, llvm::StringRef ranges,
                                  const CompileOptions &options);

/// Compiles all programs of a module in phase `from` and loads the artifacts
/// from memory. The artifacts share one piece of code, so many small programs
/// cost little more than one. On failure, one error was emitted.
mlir::FailureOr<std::vector<std::shared_ptr<const runtime::Artifact>>>
makeArtifacts(mlir::ModuleOp module, Phase from, const CompileOptions &options,
              llvm::StringRef machine, const TargetInterface &target,
              const std::string &weights = {});

/// The file with the weights of the input, for programs that run during
/// compilation. Empty if the input has no weights or they are not in a file.
std::string getWeightsPath(const CompileOptions &options);

/// The complete text of a module, without elided constants.
enum class Locations { No, Yes };
std::string printModule(mlir::ModuleOp module, Locations locations);

} // namespace luminal

#endif // LUMINAL_LIB_PIPELINES_PHASES_H
