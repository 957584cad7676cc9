//===- TimeKernel.h - How long a kernel takes on the machine at hand ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compile and time as one function: what compares schedules, and what a search
// measures with.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_PIPELINES_TIMEKERNEL_H
#define LUMINAL_PIPELINES_TIMEKERNEL_H

#include "luminal/Dialect/LLIR/IR/LLIR.h"

#include <map>

namespace luminal {

struct TimeOptions {
  /// As luminal-compile has them.
  std::string target = "cpu";
  std::string arch = "native";
  /// Workers that the schedule is for; 0: those of the machine.
  unsigned workers = 0;
  std::string planCache;
  /// Files of kernels that the user supplies.
  std::vector<std::string> kernels;
  /// Threads of the host that a call may use.
  unsigned threads = 1;
  /// Sizes; a symbol that is not here is 64, or the nearest value of its range.
  std::map<std::string, int64_t> symbols;
  /// Each measurement runs for so long at least; the median of `rounds` counts.
  double seconds = 0.02;
  unsigned rounds = 5;
};

/// Seconds that one run of the program in `text` takes, by the device's clock
/// and without copies to or from it: `.mlir` of one function, in any phase.
/// Operands are random numbers, indices 0, the same memory each time: what fits
/// into a cache is read from it. On failure one error was emitted. `context`
/// must have every dialect registered.
mlir::FailureOr<double> timeProgram(mlir::MLIRContext &context,
                                    llvm::StringRef text,
                                    const TimeOptions &options);

/// The same for one kernel, as its schedule says (or the one it is given where
/// it has none). `symbols` are those of the program around it.
mlir::FailureOr<double> timeKernel(llir::KernelOp kernel,
                                   llvm::ArrayRef<hlir::SymbolEntry> symbols,
                                   const TimeOptions &options);

} // namespace luminal

#endif // LUMINAL_PIPELINES_TIMEKERNEL_H
