//===- Devices.h - What this machine can run on ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_TOOLS_RUN_DEVICES_H
#define LUMINAL_TOOLS_RUN_DEVICES_H

#include <string>

namespace luminal::tools {

/// The devices of this machine, and the model of it that lies in `planCache`
/// (empty: the user's folder), for people or (`json`) for programs.
std::string describeDevices(const std::string &planCache, bool json);

} // namespace luminal::tools

#endif // LUMINAL_TOOLS_RUN_DEVICES_H
