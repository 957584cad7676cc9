//===- DeviceKind.h - A kind of device ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_RUNTIME_DEVICEKIND_H
#define LUMINAL_LIB_RUNTIME_DEVICEKIND_H

#include "luminal/Runtime/Device.h"

namespace luminal::runtime {

/// One entry of the table of device kinds.
struct DeviceKind {
  std::string_view name;
  /// Number of devices of this kind; an error if the driver is installed but
  /// does not work.
  Result<unsigned> (*count)();
  /// Opens a device; called once for each. The error says why it cannot be
  /// opened.
  Result<std::unique_ptr<Device>> (*open)(unsigned index);
};

extern const DeviceKind kCPUDevices, kCUDADevices;

} // namespace luminal::runtime

#endif // LUMINAL_LIB_RUNTIME_DEVICEKIND_H
