//===- Staging.cpp - Copies through pinned memory -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Staging.h"
#include <algorithm>
#include <cstring>

using namespace luminal;
using namespace luminal::runtime;
using namespace luminal::runtime::cuda;

/// Above this size, the driver's own staging is as fast.
static constexpr uint64_t kMostStaged = 64 << 20;
/// Below this size, copying on the host costs less than asking the driver
/// whether memory is pinned.
static constexpr uint64_t kSmall = 32 << 10;

uint8_t *Staging::take(uint64_t bytes) {
  const uint64_t rounded = roundUp(bytes, kCopyAlignment);
  if (wanted > kMostStaged || rounded > kMostStaged)
    return nullptr;
  // Grow only between calls, when the device does not use the memory.
  if (wanted == 0 && used == 0 && memory.size() < rounded)
    memory.reserve(device, rounded, Device::Place::Host);
  wanted += rounded;
  if (used + rounded > memory.size())
    return nullptr;
  uint8_t *taken = memory.data() + used;
  used += rounded;
  return taken;
}

int Staging::flush(StreamHandle stream) {
  if (waiting.bytes == 0)
    return kSuccess;
  Copy copy = waiting;
  waiting.bytes = 0;
  return device.start(copy, stream);
}

/// Merges a copy with the waiting one if both have the same direction and are
/// adjacent on both sides.
int Staging::join(const Copy &copy, StreamHandle stream) {
  const uint64_t rounded = roundUp(waiting.bytes, kCopyAlignment);
  if (waiting.bytes > 0 && copy.joins && copy.kind == waiting.kind &&
      static_cast<const uint8_t *>(waiting.from) + rounded == copy.from &&
      static_cast<uint8_t *>(waiting.to) + rounded == copy.to) {
    waiting.bytes = rounded + copy.bytes;
    return kSuccess;
  }
  int code = flush(stream);
  waiting = copy;
  return code;
}

int Staging::start(const Copy &copy, StreamHandle stream) {
  auto direct = [&] {
    int code = flush(stream);
    return code == kSuccess ? device.start(copy, stream) : code;
  };
  if (copy.kind == Copy::Kind::Within)
    return direct();
  const bool isIn = copy.kind == Copy::Kind::In;
  const void *host = isIn ? copy.from : copy.to;
  if (copy.bytes >= kSmall && device.isPinned(host))
    return direct();
  uint8_t *pinned = take(copy.bytes);
  if (!pinned)
    return direct();
  if (isIn) {
    std::memcpy(pinned, copy.from, copy.bytes);
    return join({pinned, copy.to, copy.bytes, copy.kind, copy.joins}, stream);
  }
  results.push_back({copy.to, pinned, copy.bytes});
  return join({copy.from, pinned, copy.bytes, copy.kind, copy.joins}, stream);
}

void Staging::finish(bool failed) {
  for (const Result &result : results)
    if (!failed)
      std::memcpy(result.to, result.from, result.bytes);
  results.clear();
  if (wanted > memory.size())
    memory.reserve(device, std::min(wanted, kMostStaged), Device::Place::Host);
  used = wanted = waiting.bytes = 0;
}
