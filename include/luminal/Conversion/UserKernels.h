//===- UserKernels.h - The kernels that a user declares -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// docs/UserKernels.md says what a file of kernels holds.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_CONVERSION_USERKERNELS_H
#define LUMINAL_CONVERSION_USERKERNELS_H

#include "luminal/Conversion/Target.h"
#include "luminal/Dialect/LLIR/Utils/UserKernels.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringMap.h"

namespace luminal {

struct UserKernel {
  std::string name;
  /// Where it is declared.
  mlir::Location loc;
  /// What the target is told; its launch is null where there is no code for the
  /// target.
  llir::UserKernelSpec spec;
  /// The member of the artifact that holds the code.
  CodeMember code;
  /// What it computes; null where nothing says so.
  mlir::func::FuncOp reference;
};

/// Those of some files.
class UserKernels {
public:
  /// Reads the files, and the code for `target`; without one no code is read,
  /// and no kernel has a launch. On failure one error was emitted. Dialects of
  /// the files are loaded.
  static mlir::FailureOr<UserKernels> load(mlir::MLIRContext *context,
                                           llvm::ArrayRef<std::string> files,
                                           const TargetInterface *target);

  llvm::ArrayRef<UserKernel> get() const { return kernels; }
  /// Null where none has this name.
  const UserKernel *find(llvm::StringRef name) const;

  /// Checks that each `hlir.custom` of a declared name in a program is one that
  /// the kernel can be, and each that a rule makes (of `rules`, a file, too)
  /// one of a declared kernel with as many operands and results.
  mlir::LogicalResult checkProgram(mlir::ModuleOp program) const;
  mlir::LogicalResult checkRules(mlir::ModuleOp rules) const;
  /// Adds to a program, for each kernel, the rule by which an `hlir.custom` is
  /// an `llir.call`, and the rules of the files.
  void addRules(mlir::ModuleOp program) const;
  /// Adds the code that the steps of a lowered module name to that of the
  /// target, where it is not there yet.
  mlir::LogicalResult addCode(mlir::ModuleOp lowered, TargetCode &code) const;

private:
  mlir::LogicalResult add(mlir::ModuleOp file, llvm::StringRef path,
                          const TargetInterface *target);

  std::vector<mlir::OwningOpRef<mlir::ModuleOp>> files;
  std::vector<UserKernel> kernels;
  llvm::StringMap<size_t> byName;
};

} // namespace luminal

#endif // LUMINAL_CONVERSION_USERKERNELS_H
