//===- RowIndex.cpp - A hash index of rows --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/EqSat/Core/RowIndex.h"

#include <algorithm>

using namespace luminal::eqsat;

void RowIndex::reset(uint32_t rows) {
  // At most three quarters of the slots are filled.
  uint32_t capacity = std::max(kGroup, std::bit_ceil(rows + rows / 2));
  // One group more than needed, so that the first group can be aligned to a
  // cache line.
  slots.truncate(0);
  slots.reserveExactly(capacity + kGroup);
  slots.resize(capacity + kGroup, kNone);
  align();
  mask = capacity - 1;
  used = 0;
}

void RowIndex::align() {
  uintptr_t first = reinterpret_cast<uintptr_t>(slots.data());
  constexpr uintptr_t kLine = kGroup * sizeof(uint32_t);
  groups = slots.data() + (-first % kLine) / sizeof(uint32_t);
}

/// Doubles the number of groups. The lowest bit of a tag becomes the highest
/// bit of the group number, so a row stays where it is or moves up by the old
/// number of slots. Only the slots are read, in order; only rows outside the
/// group of their hash are removed.
Buffer<uint32_t> RowIndex::split() {
  const uint32_t capacity = mask + 1;
  const size_t offset = groups - slots.data();
  slots.reserveExactly(2 * size_t(capacity) + kGroup);
  slots.extend(capacity);
  align();
  if (size_t now = groups - slots.data(); now != offset)
    memmove(groups, slots.data() + offset, capacity * sizeof(uint32_t));
  mask = 2 * capacity - 1;
  Buffer<uint32_t> displaced(*counter);
  for (uint32_t *group = groups; group != groups + capacity; group += kGroup) {
    uint32_t near[kGroup + 1], far[kGroup + 1], numNear = 0, numFar = 0;
    std::fill_n(near, kGroup, kNone);
    std::fill_n(far, kGroup, kNone);
    for (uint32_t i = 0; i != kGroup; ++i) {
      const uint32_t slot = group[i];
      if (slot != kNone && slot & kAway) [[unlikely]] {
        displaced.push(slot & (capacity - 1));
        continue;
      }
      const bool isFar = slot & capacity;
      near[numNear] = slot;
      numNear += !isFar;
      far[numFar] = slot & ~capacity;
      numFar += isFar & (slot != kNone);
    }
    near[numNear] = far[numFar] = kNone;
    std::copy_n(near, kGroup, group);
    std::copy_n(far, kGroup, group + capacity);
  }
  used -= displaced.size();
  return displaced;
}

void RowIndex::drop() {
  slots.truncate(0);
  slots.shrink();
  groups = nullptr;
}
