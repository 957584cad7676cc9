//===- Device.cpp - Code shared by all devices ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Runtime/Device.h"
#include <algorithm>
#include <cassert>

using namespace luminal;
using namespace luminal::runtime;

Module::~Module() = default;
StepObserver::~StepObserver() = default;
LaunchPlan::~LaunchPlan() = default;
Device::~Device() = default;

Status LaunchPlan::setStream(std::optional<CallerStream> stream) {
  return stream ? Status(Error("this device has no streams")) : Status();
}

Status LaunchPlan::defer() { return finish(); }

Status LaunchPlan::capture(CallerStream, std::span<const Copy>,
                           std::span<const Copy>) {
  return Error("calls on this device cannot be captured");
}

Result<bool> Device::isCapturing(CallerStream) { return false; }

Status Device::keepWithCapture(CallerStream, std::shared_ptr<const void>) {
  return Error("calls on this device cannot be captured");
}

Status Device::checkLibrary(std::string_view library) {
  return Error("this device has no library '" + std::string(library) + "'");
}

void Memory::release() {
  if (pointer)
    device->release(pointer, place);
  pointer = nullptr;
  capacity = 0;
}

bool Memory::reserve(Device &owner, uint64_t bytes, Device::Place where) {
  assert((!pointer || (device == &owner && place == where)) && "moved");
  if (pointer && bytes <= capacity)
    return true;
  constexpr uint64_t most = uint64_t(1) << 62;
  if (bytes > most)
    return false;
  // Grow by at least half, so that a slowly growing dim causes few allocations.
  uint64_t wanted =
      std::max<uint64_t>(std::max(bytes, capacity + capacity / 2), 1);
  release();
  device = &owner;
  place = where;
  pointer = static_cast<uint8_t *>(owner.allocate(wanted, where));
  if (pointer)
    capacity = wanted;
  return pointer != nullptr;
}

Error runtime::stepFailed(const Manifest &manifest, uint32_t step) {
  return Error("step " + std::to_string(step) + " (" +
               manifest.steps[step].name + ", kernel " +
               std::string(manifest.steps[step].getCodeName()) +
               "): an index is out of range");
}
