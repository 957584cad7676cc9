//===- OnFakeCUDA.cpp - Runs the tests without a GPU ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ArtifactBuilder.h"
#include <cstdlib>

using namespace luminal::runtime::testing;

static const bool chosen = [] {
  deviceKind = "cuda";
  return ::setenv("LUMINAL_LIBCUDA", LUMINAL_FAKE_CUDA_DRIVER, 1) == 0;
}();
