//===- CompileUnavailable.cpp - luminal_compile of the runtime library ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Error.h"

luminal_status luminal_compile(const char *, const char *const *, size_t,
                               const char *) {
  return luminal::capi::fail(
      "this library only runs artifacts: the compiler is in libluminal, or "
      "use luminal-compile");
}
