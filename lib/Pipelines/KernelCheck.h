//===- KernelCheck.h - Checks kernels against the interpreter -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_PIPELINES_KERNELCHECK_H
#define LUMINAL_LIB_PIPELINES_KERNELCHECK_H

#include "SampleInputs.h"
#include "luminal/Runtime/Artifact.h"

namespace luminal {

/// An artifact and the modules from which it was made.
struct CheckedProgram {
  /// The program as it was read, and the same program with its variants in
  /// phase `scheduled`, for which memory is planned here.
  mlir::ModuleOp given, scheduled;
  std::shared_ptr<const runtime::Artifact> artifact;
  /// The names of the rules that made the program, for error messages.
  std::function<std::string()> nameRules;
};

/// Runs the artifact, each of its variants and the preparation of its weights.
/// Compares the results of every step with the interpreter's results for the
/// operands that the step received, then the results of each program with the
/// interpreter's for the program that was read. A difference that rounding does
/// not explain is one error, at the first step that differs. Whatever cannot be
/// checked is a warning. Symbols have the sizes of `samples`, otherwise those
/// at which kernels are timed; then everything is checked again at the smallest
/// sizes.
mlir::LogicalResult checkKernels(CheckedProgram program,
                                 const CompileOptions &options,
                                 const SampleInputs &samples);

} // namespace luminal

#endif // LUMINAL_LIB_PIPELINES_KERNELCHECK_H
