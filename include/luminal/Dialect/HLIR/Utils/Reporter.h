//===- Reporter.h - The remarks of a pass ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A pass reports each of its decisions as a remark (--remarks-filter=PASS) and,
// in builds with assertions, to -debug-only=PASS. If remarks are off, a
// decision costs one test: callers check isListening() before they format text.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_DIALECT_HLIR_UTILS_REPORTER_H
#define LUMINAL_DIALECT_HLIR_UTILS_REPORTER_H

#include "mlir/IR/Operation.h"
#include "mlir/IR/Remarks.h"

namespace luminal {

/// Returns `file:line:column` of the first place in a file that `loc` names, or
/// `an unknown location`.
std::string describe(mlir::Location loc);

/// The remarks of one pass about one function. Thread-safe.
class Reporter {
public:
  using Arg = mlir::remark::detail::Remark::Arg;

  /// `pass` is the argument of the pass, its DEBUG_TYPE. Both strings must
  /// outlive the reporter.
  Reporter(mlir::MLIRContext *context, llvm::StringRef pass,
           llvm::StringRef function);

  bool isListening() const { return listening; }

  /// Reports something that was done.
  void passed(mlir::Location loc, llvm::StringRef name,
              llvm::ArrayRef<Arg> args) const;
  /// Reports something that was not done, with the argument `reason`.
  void missed(mlir::Location loc, llvm::StringRef name,
              llvm::ArrayRef<Arg> args) const;
  /// Reports a figure or choice that is neither.
  void analysis(mlir::Location loc, llvm::StringRef name,
                llvm::ArrayRef<Arg> args) const;

private:
  mlir::remark::RemarkOpts getOptions(llvm::StringRef name) const;

  llvm::StringRef pass, function;
  bool listening;
};

} // namespace luminal

#endif // LUMINAL_DIALECT_HLIR_UTILS_REPORTER_H
