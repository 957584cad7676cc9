//===- Devices.h - Devices as options and as text -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_TOOLS_RUN_DEVICES_H
#define LUMINAL_TOOLS_RUN_DEVICES_H

#include "luminal/Support/Result.h"
#include <string>
#include <string_view>

namespace luminal::tools {

/// One of the machine's devices; an empty kind means any.
struct DeviceChoice {
  std::string kind;
  unsigned index = 0;

  /// Parses "cuda" or "cuda:1".
  static Result<DeviceChoice> parse(std::string_view text);
};

/// Describes the devices of this machine and the processor model stored in
/// `planCache` (empty: the user's cache folder), as text or as JSON. Drivers
/// that do not work are reported on standard error.
std::string describeDevices(const std::string &planCache, bool json);

} // namespace luminal::tools

#endif // LUMINAL_TOOLS_RUN_DEVICES_H
