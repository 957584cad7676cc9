//===- Driver.h - The CUDA driver, opened at run time ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_RUNTIME_CUDA_DRIVER_H
#define LUMINAL_LIB_RUNTIME_CUDA_DRIVER_H

#include "DriverTypes.h"
#include "luminal/Support/Result.h"

namespace luminal::runtime::cuda {

/// The functions of libcuda.so.1, by one table.
struct Driver {
  /// The driver, opened and initialised once in a process; an error says why
  /// there is none. The environment variable LUMINAL_LIBCUDA names another file
  /// than libcuda.so.1.
  static const Result<Driver> &get();
  /// Whether there is a driver at all, working or not.
  static bool isInstalled();

  /// "what: CUDA_ERROR_OUT_OF_MEMORY (out of memory)".
  Error error(const std::string &what, int code) const;
  /// Success, or that error.
  Status check(int code, const char *what) const {
    return code == kSuccess ? Status() : error(what, code);
  }

  /// "12.8": the newest CUDA that it serves.
  std::string describeVersion() const;

  int version = 0;
  int count = 0;
#define LUMINAL_CUDA_FUNCTION(name, symbol, parameters)                        \
  int(*name) parameters = nullptr;
#include "DriverFunctions.def"

private:
  static Result<Driver> open();
};

} // namespace luminal::runtime::cuda

#endif // LUMINAL_LIB_RUNTIME_CUDA_DRIVER_H
