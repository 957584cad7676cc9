//===- TimeKernel.h - Times a kernel on this machine ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiling and timing as one function, for tools that compare schedules.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_PIPELINES_TIMEKERNEL_H
#define LUMINAL_PIPELINES_TIMEKERNEL_H

#include "luminal/Dialect/LLIR/IR/LLIR.h"

#include <map>

namespace luminal {

struct TimeOptions {
  /// See luminal-compile.
  std::string target = "cpu";
  std::string arch = "native";
  /// Workers that the schedule is optimized for; 0: those of the machine.
  unsigned workers = 0;
  std::string planCache;
  /// Files of user kernels.
  std::vector<std::string> kernels;
  /// Host threads that a call may use.
  unsigned threads = 1;
  /// Values of symbols. A symbol that is missing gets 64 or the nearest value
  /// in its range.
  std::map<std::string, int64_t> symbols;
  /// Minimum duration of each of `rounds` measurements, whose median counts.
  double seconds = 0.02;
  unsigned rounds = 5;
};

/// Seconds that one run of the program in `text` takes on the device, without
/// copies to or from it. `text` is `.mlir` of one function, in any phase.
/// Operands are random numbers, or 0 for indices, in the same memory for each
/// run, so data that fits into a cache is read from it. On failure, one error
/// was emitted. Every dialect must be registered in `context`.
mlir::FailureOr<double> timeProgram(mlir::MLIRContext &context,
                                    llvm::StringRef text,
                                    const TimeOptions &options);

/// The same for one kernel with its schedule; a kernel without one is given the
/// static choice. `symbols` are those of the surrounding program.
mlir::FailureOr<double> timeKernel(llir::KernelOp kernel,
                                   llvm::ArrayRef<hlir::SymbolEntry> symbols,
                                   const TimeOptions &options);

} // namespace luminal

#endif // LUMINAL_PIPELINES_TIMEKERNEL_H
