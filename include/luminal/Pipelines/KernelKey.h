//===- KernelKey.h - Keys of timed kernels --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_PIPELINES_KERNELKEY_H
#define LUMINAL_PIPELINES_KERNELKEY_H

#include "luminal/Conversion/Target.h"
#include "luminal/Dialect/LLIR/IR/LLIR.h"

#include <map>

namespace luminal {

/// The circumstances, besides the kernel, for which a measured time holds: the
/// device and how it is used.
struct TimingDevice {
  std::string target, arch;
  /// Workers that schedules are optimized for, and host threads that run them.
  unsigned workers = 0, threads = 0;
  /// Processor or GPU, its driver, and the properties of the machine model that
  /// affect the generated code.
  std::string device;

  /// The fields and the versions of this compiler and of LLVM, one per line.
  std::string str() const;
};

/// The device of this machine that `device` generates code for, or the reason
/// why there is none.
Result<TimingDevice> getTimingDevice(const TargetInterface &device,
                                     llvm::StringRef arch, unsigned threads);

/// A program of a single op: a kernel or a library call. Its symbols are those
/// that the op uses, renamed to `s0`, `s1`, ... in order of appearance. To give
/// each symbol a value, the program has one more unused operand for each, with
/// the symbol as its extent. An in-place update stays in place.
struct LoneKernel {
  /// A function @main without locations. Equal kernels give equal text,
  /// whatever values and symbols are called in their programs.
  std::string text;
  /// The original name of each symbol.
  std::vector<std::string> symbols;
};
LoneKernel isolateKernel(mlir::Operation *op,
                         llvm::ArrayRef<hlir::SymbolEntry> symbols);

/// The value of a symbol with that range for timing, if no other is given: 64
/// or the nearest value in the range.
int64_t getTimedSize(const SymbolRange &range);

/// SHA-256, as 64 hexadecimal digits, of the text (including the schedule), the
/// sizes at which it is timed, and the device.
std::string getKernelKey(const LoneKernel &kernel,
                         llvm::ArrayRef<int64_t> sizes,
                         const TimingDevice &device);

} // namespace luminal

#endif // LUMINAL_PIPELINES_KERNELKEY_H
