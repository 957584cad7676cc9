//===- Devices.cpp - The table of device kinds ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "DeviceKind.h"
#include <algorithm>
#include <map>
#include <mutex>

using namespace luminal;
using namespace luminal::runtime;

static const DeviceKind *const kKinds[] = {&kCPUDevices, &kCUDADevices};

Result<Device *> runtime::openDevice(std::string_view kind, unsigned index) {
  auto *found = std::find_if(
      std::begin(kKinds), std::end(kKinds),
      [&](const DeviceKind *known) { return known->name == kind; });
  if (found == std::end(kKinds))
    return Error("there is no device '" + std::string(kind) +
                 "'; see --list-devices");
  // Never destroyed: at process exit, the driver may be unloaded first.
  static auto *opened =
      new std::map<std::pair<std::string_view, unsigned>, Device *>;
  static std::mutex mutex;
  std::lock_guard<std::mutex> lock(mutex);
  Device *&device = (*opened)[{(*found)->name, index}];
  if (!device) {
    LUMINAL_TRY(made, (*found)->open(index));
    device = made.release();
  }
  return device;
}

std::vector<DeviceInfo>
runtime::listDevices(std::vector<std::string> *problems) {
  std::vector<DeviceInfo> devices;
  auto tell = [&](const Error &error) {
    if (problems)
      problems->push_back(error.message);
  };
  for (const DeviceKind *kind : kKinds) {
    Result<unsigned> count = kind->count();
    if (!count) {
      tell(count.error());
      continue;
    }
    for (unsigned i = 0; i < *count; ++i) {
      Result<Device *> device = openDevice(kind->name, i);
      if (device)
        devices.push_back((*device)->describe());
      else
        tell(device.error());
    }
  }
  return devices;
}
