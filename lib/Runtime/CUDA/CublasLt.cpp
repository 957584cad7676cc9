//===- CublasLt.cpp - cuBLASLt, opened at run time ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CublasLt.h"
#include <cstdlib>
#include <dlfcn.h>
#include <vector>

using namespace luminal;
using namespace luminal::runtime::cuda;

/// File names to try, in order.
static std::vector<std::string> getPaths() {
  const char *path = std::getenv("LUMINAL_CUBLASLT");
  if (path && *path)
    return {path};
  return {"libcublasLt.so.13", "libcublasLt.so.12"};
}

Result<CublasLt> CublasLt::open() {
  // Opened once and never closed.
  void *library = nullptr;
  std::string tried;
  for (const std::string &path : getPaths()) {
    library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library)
      break;
    tried += (tried.empty() ? "" : " and ") + path;
  }
  if (!library)
    return Error("cuBLASLt is not installed: " + tried +
                 " cannot be opened (name its folder in LD_LIBRARY_PATH or its "
                 "path in LUMINAL_CUBLASLT, or compile with --library=none)");
  CublasLt functions;
#define LUMINAL_CUBLASLT_FUNCTION(name, symbol, parameters)                    \
  functions.name =                                                             \
      reinterpret_cast<decltype(functions.name)>(::dlsym(library, #symbol));   \
  if (!functions.name)                                                         \
    return Error("the cuBLASLt library has no " #symbol);
#include "CublasLtFunctions.def"
  return functions;
}

const Result<CublasLt> &CublasLt::get() {
  static const Result<CublasLt> functions = open();
  return functions;
}

Status CublasLt::check(int code, const char *what) const {
  if (code == lt::kSuccess)
    return {};
  return Error(std::string(what) + ": error " + std::to_string(code) +
               " of cuBLASLt");
}
