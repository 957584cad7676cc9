//===- KernelKey.h - What identifies a kernel that is timed ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_PIPELINES_KERNELKEY_H
#define LUMINAL_PIPELINES_KERNELKEY_H

#include "luminal/Conversion/Target.h"
#include "luminal/Dialect/LLIR/IR/LLIR.h"

#include <map>

namespace luminal {

/// What a time holds for, besides the kernel: the device and how it is used.
struct TimingDevice {
  std::string target, arch;
  /// Workers that schedules are for, and threads of the host that run them.
  unsigned workers = 0, threads = 0;
  /// Processor or GPU, its driver, and what of the machine's model decides
  /// which code is written.
  std::string device;

  /// One line for each, in order; with the versions of this compiler and of
  /// LLVM.
  std::string str() const;
};

/// The device at hand of that kind, or the reason why there is none. `device`
/// is what code is made for.
Result<TimingDevice> getTimingDevice(const TargetInterface &device,
                                     llvm::StringRef arch, unsigned threads);

/// A program of one op: a kernel, or the call of a library. Its symbols are
/// those that the op uses, named `s0`, `s1`, ... in the order in which they
/// appear; each is the extent of an operand that nothing reads, so that it gets
/// a value. An update in place stays one.
struct LoneKernel {
  /// A function @main, without locations: equal kernels give equal text,
  /// whatever values and symbols are called in their programs.
  std::string text;
  /// The program's name of each symbol.
  std::vector<std::string> symbols;
};
LoneKernel isolateKernel(mlir::Operation *op,
                         llvm::ArrayRef<hlir::SymbolEntry> symbols);

/// The value at which a symbol of that range is timed where nobody says one:
/// 64, or the nearest that the range has.
int64_t getTimedSize(const SymbolRange &range);

/// SHA-256, 64 hexadecimal digits: of the text (schedule included), the sizes
/// at which it is timed, and the device.
std::string getKernelKey(const LoneKernel &kernel,
                         llvm::ArrayRef<int64_t> sizes,
                         const TimingDevice &device);

} // namespace luminal

#endif // LUMINAL_PIPELINES_KERNELKEY_H
