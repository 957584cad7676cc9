//===- Driver.h - The CUDA driver, opened at run time ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_RUNTIME_CUDA_DRIVER_H
#define LUMINAL_LIB_RUNTIME_CUDA_DRIVER_H

#include "DriverTypes.h"
#include "luminal/Support/Result.h"

namespace luminal::runtime::cuda {

/// The functions of libcuda.so.1, listed in DriverFunctions.def.
struct Driver {
  /// Opens and initializes the driver once per process; the error says why that
  /// failed. The environment variable LUMINAL_LIBCUDA overrides the name
  /// libcuda.so.1.
  static const Result<Driver> &get();
  /// Whether a driver library is installed, working or not.
  static bool isInstalled();

  /// The error "what: CUDA_ERROR_OUT_OF_MEMORY (out of memory)".
  Error error(const std::string &what, int code) const;
  /// Success, or the error of `code`.
  Status check(int code, const char *what) const {
    return code == kSuccess ? Status() : error(what, code);
  }

  /// The newest CUDA version that the driver supports, as in "12.8".
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
