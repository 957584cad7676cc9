//===- DeviceKind.h - The kinds of devices --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_RUNTIME_DEVICEKIND_H
#define LUMINAL_LIB_RUNTIME_DEVICEKIND_H

#include "luminal/Runtime/Device.h"

namespace luminal::runtime {

struct DeviceKind {
  std::string_view name;
  /// How many there are; an error where they should be there but do not work.
  Result<unsigned> (*count)();
  /// Opens one; called once for each. An error says why there is none.
  Result<std::unique_ptr<Device>> (*open)(unsigned index);
};

extern const DeviceKind kCPUDevices, kCUDADevices;

} // namespace luminal::runtime

#endif // LUMINAL_LIB_RUNTIME_DEVICEKIND_H
