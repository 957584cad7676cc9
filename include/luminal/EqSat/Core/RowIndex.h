//===- RowIndex.h - A hash index of rows ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Open addressing in groups of sixteen slots. A group fills one cache line, and
// all its slots are compared at once: a search nearly always reads one line of
// the index, and takes no branch that depends on the slot's position in the
// line.
//
// A slot holds a row number and, in the bits above it, bits of the row's hash
// (the tag), which tell most other rows of the group apart.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_EQSAT_CORE_ROWINDEX_H
#define LUMINAL_EQSAT_CORE_ROWINDEX_H

#include "luminal/EqSat/Core/Buffer.h"
#include "luminal/EqSat/Core/Ids.h"

#include <bit>
#include <cstring>

namespace luminal::eqsat {

/// The part of an index that a search needs. It is a small value, so that a
/// loop of searches can keep it in registers.
class RowSlots {
public:
  void prefetch(uint64_t hash) const { __builtin_prefetch(groupOf(hash)); }
  /// The row with this hash for which `same` holds, or kNone.
  template <typename Same>
  uint32_t find(uint64_t hash, Same &&same) const {
    for (const uint32_t *group = groupOf(hash);; group = next(group)) {
      for (uint32_t found = lanes(group, ~mask & ~kAway, tagOf(hash)); found;
           found &= found - 1)
        if (uint32_t row = group[std::countr_zero(found)] & mask; same(row))
          return row;
      if (lanes(group, ~0u, kNone))
        return kNone;
    }
  }
  /// The first row whose tag matches this hash; kNone if there is none.
  uint32_t candidate(uint64_t hash) const {
    return find(hash, [](uint32_t) { return true; });
  }

protected:
  static constexpr uint32_t kGroup = 16;
  /// Marks a row that is stored after the group of its hash because that group
  /// was full.
  static constexpr uint32_t kAway = 1u << 30;

  uint32_t *groupOf(uint64_t hash) const {
    return groups + (uint32_t(hash) & mask & ~(kGroup - 1));
  }
  uint32_t *next(const uint32_t *group) const {
    return groups + ((uint32_t(group - groups) + kGroup) & mask);
  }
  /// The tag: the bits of the hash above those that select the group. When the
  /// index grows, the lowest of them says to which group the slot now belongs.
  /// The two highest bits are excluded; the highest is set only in a free slot.
  uint32_t tagOf(uint64_t hash) const { return hash & ~mask & (kAway - 1); }

  /// One bit for each slot of the group that equals `wanted` in the bits
  /// `bits`.
  static uint32_t lanes(const uint32_t *group, uint32_t bits, uint32_t wanted) {
    using Lanes = uint32_t __attribute__((vector_size(16)));
    Lanes all = {};
    for (uint32_t i = 0; i != 4; ++i) {
      Lanes v, bit = {1u << 4 * i, 2u << 4 * i, 4u << 4 * i, 8u << 4 * i};
      memcpy(&v, group + 4 * i, sizeof(v));
      all |= Lanes((v & bits) == wanted) & bit;
    }
    uint64_t halves[2];
    memcpy(halves, &all, sizeof(all));
    uint64_t both = halves[0] | halves[1];
    return uint32_t(both) | uint32_t(both >> 32);
  }

  /// The first slot that is aligned to a cache line.
  uint32_t *groups = nullptr;
  /// Number of slots, minus one.
  uint32_t mask = 0;
};

class RowIndex : public RowSlots {
public:
  explicit RowIndex(ByteCounter &counter) : slots(counter), counter(&counter) {}

  /// Only `reset` may be called on an index that is not ready.
  bool isReady() const { return groups != nullptr; }
  /// Forgets all rows and makes room for this many.
  void reset(uint32_t rows);
  /// Frees the memory.
  void drop();
  /// Doubles the number of slots. `hashOf(row)` is called only for the few rows
  /// that are outside the group of their hash.
  template <typename HashOf>
  void grow(HashOf &&hashOf) {
    for (uint32_t row : split())
      place(row, hashOf(row));
  }
  /// Number of rows placed, counting a row again each time it was placed.
  uint32_t numPlaced() const { return used; }
  /// Whether `n` more rows can be placed, numbered up to `last`.
  bool hasRoom(uint32_t n, uint32_t last) const {
    return (used + uint64_t(n)) * 4 <= (uint64_t(mask) + 1) * 3 && last <= mask;
  }
  /// Enters a row, for which there must be room.
  void place(uint32_t row, uint64_t hash) {
    uint32_t *group = groupOf(hash);
    uint32_t free, away = 0;
    while (!(free = lanes(group, ~0u, kNone))) {
      group = next(group);
      away = kAway;
    }
    group[std::countr_zero(free)] = tagOf(hash) | away | row;
    ++used;
  }

private:
  /// Returns the rows that must be placed again.
  Buffer<uint32_t> split();
  void align();

  Buffer<uint32_t> slots;
  ByteCounter *counter;
  uint32_t used = 0;
};

} // namespace luminal::eqsat

#endif // LUMINAL_EQSAT_CORE_ROWINDEX_H
