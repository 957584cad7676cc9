//===- CublasLt.h - cuBLASLt, opened at run time --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_RUNTIME_CUDA_CUBLASLT_H
#define LUMINAL_LIB_RUNTIME_CUDA_CUBLASLT_H

#include "CublasLtTypes.h"
#include "luminal/Support/Result.h"

namespace luminal::runtime::cuda {

/// The functions of libcublasLt.so, listed in CublasLtFunctions.def.
struct CublasLt {
  /// Opens the library once per process; the error says why that failed. The
  /// environment variable LUMINAL_CUBLASLT overrides the names
  /// libcublasLt.so.13 and libcublasLt.so.12.
  /// libcublasLt.so.13 or libcublasLt.so.12.
  static const Result<CublasLt> &get();

  /// Success, or the error "what: error 15 of cuBLASLt".
  Status check(int code, const char *what) const;

#define LUMINAL_CUBLASLT_FUNCTION(name, symbol, parameters)                    \
  int(*name) parameters = nullptr;
#include "CublasLtFunctions.def"

private:
  static Result<CublasLt> open();
};

} // namespace luminal::runtime::cuda

#endif // LUMINAL_LIB_RUNTIME_CUDA_CUBLASLT_H
