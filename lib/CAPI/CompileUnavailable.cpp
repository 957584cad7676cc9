//===- CompileUnavailable.cpp - luminal_compile of the runtime library ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Error.h"

static luminal_status noCompiler() {
  return luminal::capi::fail(
      "this library only runs artifacts: the compiler is in libluminal, or "
      "use luminal-compile",
      LUMINAL_ERROR_OTHER);
}

luminal_status luminal_compile(const char *, const char *const *, size_t,
                               const char *) {
  return noCompiler();
}

luminal_status luminal_compile_bytes(const luminal_compile_request *,
                                     luminal_buffer **) {
  return noCompiler();
}
