//===- UserKernels.h - Kernels declared by a user -------------------------===//
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
  /// The location of its declaration.
  mlir::Location loc;
  /// What the target is told about it; the launch is null if there is no code
  /// for the target.
  llir::UserKernelSpec spec;
  /// The file of the artifact that holds the code.
  CodeMember code;
  /// The function that defines what it computes; null if none is given.
  mlir::func::FuncOp reference;
};

/// The kernels of a set of files.
class UserKernels {
public:
  /// Reads the files, and the code for `target`. Without a target no code is
  /// read and no kernel has a launch. Loads the dialects of the files. On
  /// failure one error was emitted.
  static mlir::FailureOr<UserKernels> load(mlir::MLIRContext *context,
                                           llvm::ArrayRef<std::string> files,
                                           const TargetInterface *target);

  llvm::ArrayRef<UserKernel> get() const { return kernels; }
  /// Null if there is no kernel of this name.
  const UserKernel *find(llvm::StringRef name) const;

  /// Checks that each `hlir.custom` of a declared name in a program fits that
  /// kernel; and that each one that a rule makes (`rules` and the rules of the
  /// files) names a declared kernel with the same numbers of operands and
  /// results.
  mlir::LogicalResult checkProgram(mlir::ModuleOp program) const;
  mlir::LogicalResult checkRules(mlir::ModuleOp rules) const;
  /// Adds to a program, for each kernel, the rule that rewrites its
  /// `hlir.custom` to an `llir.call`, and the rules of the files.
  void addRules(mlir::ModuleOp program) const;
  /// Adds the code that the steps of a lowered module name to that of the
  /// target, unless it is there already.
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
