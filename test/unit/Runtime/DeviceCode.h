//===- DeviceCode.h - The tests' kernels for a GPU ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_TEST_UNIT_RUNTIME_DEVICECODE_H
#define LUMINAL_TEST_UNIT_RUNTIME_DEVICECODE_H

#include "luminal/Runtime/Manifest.h"

namespace luminal::runtime::testing {

/// PTX of the kernels that the steps name, as Kernels.c has them, with comments
/// for the fake driver (test/lib/CUDA/FakeDriver.h). The name of a kernel may
/// go on after a dollar: "add_f32$2". Work is linear in one symbol.
std::string makeDeviceCode(const Manifest &manifest);

} // namespace luminal::runtime::testing

#endif // LUMINAL_TEST_UNIT_RUNTIME_DEVICECODE_H
