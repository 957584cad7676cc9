//===- OnCUDA.cpp - Runs the tests on a GPU -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Without a driver they are skipped. With one, anything that does not work is a
// failure.
//
//===----------------------------------------------------------------------===//

#include "ArtifactBuilder.h"
#include <dlfcn.h>

using namespace luminal::runtime::testing;

namespace {
class Driver : public ::testing::Environment {
  void SetUp() override {
    if (!::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL))
      GTEST_SKIP() << "libcuda is not installed";
  }
};

const auto *driver = [] {
  deviceKind = "cuda";
  return ::testing::AddGlobalTestEnvironment(new Driver);
}();
} // namespace
