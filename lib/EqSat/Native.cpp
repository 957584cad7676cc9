//===- Native.cpp - Native functions that remember ------------------------===//

#include "luminal/EqSat/Rule.h"

#include <algorithm>
#include <cassert>

using namespace luminal::eqsat;

/// What is remembered stays small beside the graph: an answer then takes the
/// place of another one.
static constexpr uint32_t kMaxCapacity = 1u << 20;
/// An entry lies at most so far behind where its hash says.
static constexpr uint32_t kMaxProbes = 8;

static uint64_t hashWords(std::span<const uint32_t> words) {
  uint64_t h = 0x9e3779b97f4a7c15u;
  for (uint32_t w : words) {
    h = (h ^ w) * 0xbf58476d1ce4e5b9u;
    h ^= h >> 29;
  }
  return h * 0x94d049bb133111ebu >> 20;
}

/// The entry of these arguments, or the one that they may take.
uint32_t *Native::place(std::span<const uint32_t> args) {
  uint32_t home = hashWords(args) & (capacity - 1);
  for (uint32_t k = 0; k != kMaxProbes; ++k) {
    uint32_t *entry =
        entries.data() + size_t((home + k) & (capacity - 1)) * stride();
    if (*entry == 0 || std::equal(args.begin(), args.end(), entry + 1))
      return entry;
  }
  return entries.data() + size_t(home) * stride();
}

void Native::grow() {
  std::vector<uint32_t> old;
  old.swap(entries);
  uint32_t oldCapacity = capacity;
  capacity = std::max(64u, capacity * 2);
  entries.assign(size_t(capacity) * stride(), 0);
  for (uint32_t e = 0; e != oldCapacity; ++e) {
    const uint32_t *from = old.data() + size_t(e) * stride();
    if (*from)
      std::copy(from, from + stride(), place({from + 1, numArgs}));
  }
}

void Native::prefetch(std::span<const uint32_t> args) const {
  if (capacity)
    __builtin_prefetch(entries.data() +
                       size_t(hashWords(args) & (capacity - 1)) * stride());
}

bool Native::call(std::span<const uint32_t> args, uint32_t *results,
                  uint32_t round) {
  assert(args.size() == numArgs);
  if (memory == None)
    return fn(args, results);
  if (memory == Round && validRound != round) {
    std::fill(entries.begin(), entries.end(), 0);
    used = 0;
    validRound = round;
  }
  if (used * 2 >= capacity && capacity != kMaxCapacity)
    grow();
  uint32_t *entry = place(args);
  if (*entry && std::equal(args.begin(), args.end(), entry + 1)) {
    std::copy(entry + 1 + numArgs, entry + stride(), results);
    return *entry == 2;
  }
  bool holds = fn(args, results);
  used += *entry == 0;
  *entry = 1 + uint32_t(holds);
  std::copy(args.begin(), args.end(), entry + 1);
  if (holds)
    std::copy(results, results + numResults, entry + 1 + numArgs);
  return holds;
}
