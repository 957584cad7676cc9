//===- Compile.h - Compilation for the C interface ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_CAPI_COMPILE_H
#define LUMINAL_LIB_CAPI_COMPILE_H

#include "luminal-c/Luminal.h"
#include "luminal/Pipelines/Compile.h"
#include "mlir/IR/Diagnostics.h"

namespace luminal::capi {

/// Parses one option of luminal-compile; false if it is unknown, not supported
/// here, or has an invalid value.
bool takeOption(llvm::StringRef text, CompileOptions &options);

/// Collects the diagnostics of a compilation: keeps the first error and passes
/// everything to the caller's callback.
class Diagnostics {
public:
  explicit Diagnostics(const luminal_compile_request &request)
      : request(request) {}

  void take(mlir::Diagnostic &diagnostic);
  const std::string &getFirstError() const { return firstError; }

private:
  void report(mlir::Diagnostic &diagnostic, luminal_severity severity);

  const luminal_compile_request &request;
  std::string firstError;
};

} // namespace luminal::capi

#endif // LUMINAL_LIB_CAPI_COMPILE_H
