//===- Staging.cpp - Pinned memory between the caller's and the device's --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Staging.h"
#include <algorithm>
#include <cstring>

using namespace luminal;
using namespace luminal::runtime;
using namespace luminal::runtime::cuda;

/// Above this the driver's own way through pinned memory is as good.
static constexpr uint64_t kMostStaged = 64 << 20;
/// Below this a copy by the host costs less than the question whether memory is
/// pinned.
static constexpr uint64_t kSmall = 32 << 10;

uint8_t *Staging::take(uint64_t bytes) {
  const uint64_t rounded = (bytes + 255) / 256 * 256;
  if (wanted > kMostStaged || rounded > kMostStaged)
    return nullptr;
  // Memory grows between calls, when the device uses none of it.
  if (wanted == 0 && used == 0 && memory.size() < rounded)
    memory.reserve(device, rounded, Device::Place::Host);
  wanted += rounded;
  if (used + rounded > memory.size())
    return nullptr;
  uint8_t *taken = memory.data() + used;
  used += rounded;
  return taken;
}

int Staging::start(const Copy &copy, StreamHandle stream) {
  if (copy.kind == Copy::Kind::Within)
    return device.start(copy, stream);
  const bool isIn = copy.kind == Copy::Kind::In;
  const void *host = isIn ? copy.from : copy.to;
  if (copy.bytes >= kSmall && device.isPinned(host))
    return device.start(copy, stream);
  uint8_t *pinned = take(copy.bytes);
  if (!pinned)
    return device.start(copy, stream);
  if (isIn) {
    std::memcpy(pinned, copy.from, copy.bytes);
    return device.start({pinned, copy.to, copy.bytes, copy.kind}, stream);
  }
  results.push_back({copy.to, pinned, copy.bytes});
  return device.start({copy.from, pinned, copy.bytes, copy.kind}, stream);
}

void Staging::finish(bool failed) {
  for (const Result &result : results)
    if (!failed)
      std::memcpy(result.to, result.from, result.bytes);
  results.clear();
  if (wanted > memory.size())
    memory.reserve(device, std::min(wanted, kMostStaged), Device::Place::Host);
  used = wanted = 0;
}
