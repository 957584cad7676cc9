//===- CPUDevice.cpp - The host CPU as a device ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CPUDevice.h"
#include "../DeviceKind.h"
#include "luminal/Runtime/CpuFeatures.h"
#include "luminal/Runtime/ThreadPool.h"
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>

using namespace luminal;
using namespace luminal::runtime;

const DeviceKind runtime::kCPUDevices = {
    "cpu", []() -> Result<unsigned> { return 1u; },
    [](unsigned index) -> Result<std::unique_ptr<Device>> {
      if (index != 0)
        return Error("there is one device of kind 'cpu', not " +
                     std::to_string(index + 1));
      return std::unique_ptr<Device>(std::make_unique<CPUDevice>());
    }};

DeviceInfo CPUDevice::describe() const {
  DeviceInfo info;
  info.kind = "cpu";
  info.arch = hostArch();
  info.properties = {{"threads", availableThreads()}};
  return info;
}

Status CPUDevice::check(const TargetSpec &target) const {
  if (target.arch != hostArch())
    return Error("is compiled for '" + target.arch + "', this machine is '" +
                 std::string(hostArch()) + "'");
  return checkCpuFeatures(target.features);
}

Status CPUDevice::checkLibrary(std::string_view library) {
  const bool isKnown = library == CPUArgsortLaunch::kLibrary ||
                       library == CPUScanLaunch::kLibrary;
  return isKnown ? Status() : Device::checkLibrary(library);
}

void *CPUDevice::allocate(uint64_t &bytes, Place) {
  constexpr uint64_t huge = 2 << 20;
  uint64_t alignment = bytes >= 2 * huge ? huge : kAlignment;
  bytes = (bytes + alignment - 1) / alignment * alignment;
  void *memory = std::aligned_alloc(alignment, bytes);
  // Huge pages cause fewer TLB misses; failure is harmless.
  if (memory && alignment == huge)
    ::madvise(memory, bytes, MADV_HUGEPAGE);
  return memory;
}

void CPUDevice::release(void *memory, Place) { std::free(memory); }

Status CPUDevice::copy(const Copy &copy) {
  std::memmove(copy.to, copy.from, copy.bytes);
  return {};
}
