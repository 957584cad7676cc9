//===- CublasLt.h - cuBLASLt, opened at run time --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_RUNTIME_CUDA_CUBLASLT_H
#define LUMINAL_LIB_RUNTIME_CUDA_CUBLASLT_H

#include "CublasLtTypes.h"
#include "luminal/Support/Result.h"

namespace luminal::runtime::cuda {

/// The functions of libcublasLt.so, by one table.
struct CublasLt {
  /// The library, opened once in a process; an error says why there is none.
  /// The environment variable LUMINAL_CUBLASLT names another file than
  /// libcublasLt.so.13 or libcublasLt.so.12.
  static const Result<CublasLt> &get();

  /// Success, or "what: error 15 of cuBLASLt".
  Status check(int code, const char *what) const;

#define LUMINAL_CUBLASLT_FUNCTION(name, symbol, parameters)                    \
  int(*name) parameters = nullptr;
#include "CublasLtFunctions.def"

private:
  static Result<CublasLt> open();
};

} // namespace luminal::runtime::cuda

#endif // LUMINAL_LIB_RUNTIME_CUDA_CUBLASLT_H
