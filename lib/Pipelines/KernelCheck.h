//===- KernelCheck.h - Compiled kernels against their definition ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_PIPELINES_KERNELCHECK_H
#define LUMINAL_LIB_PIPELINES_KERNELCHECK_H

#include "SampleInputs.h"
#include "luminal/Runtime/Artifact.h"

namespace luminal {

/// What an artifact was made of.
struct CheckedProgram {
  /// A module with the program as it was read, and the same in phase
  /// `scheduled`, with its variants, which is planned.
  mlir::ModuleOp given, scheduled;
  std::shared_ptr<const runtime::Artifact> artifact;
  /// The rules that made it, as an error names them.
  std::function<std::string()> nameRules;
};

/// Runs the artifact, each of its variants and what prepares its weights, and
/// compares the results of every step with what the interpreter makes of the
/// operands that the step got; then those of each program with what it makes of
/// the program that was read. A difference beyond what rounding explains is one
/// error, at the first step that has it. What cannot be checked is a warning.
/// Symbols have the sizes of `samples`, else those that kernels are timed at,
/// and then their least ones.
mlir::LogicalResult checkKernels(CheckedProgram program,
                                 const CompileOptions &options,
                                 const SampleInputs &samples);

} // namespace luminal

#endif // LUMINAL_LIB_PIPELINES_KERNELCHECK_H
