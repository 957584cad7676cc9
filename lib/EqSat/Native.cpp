//===- Native.cpp - Native functions that remember ------------------------===//

#include "luminal/EqSat/Rule.h"

#include <algorithm>
#include <cassert>

using namespace luminal::eqsat;

/// Entries before everything is forgotten: what is remembered stays small
/// beside the graph.
static constexpr uint32_t kMaxEntries = 1u << 18;

static uint64_t hashWords(std::span<const uint32_t> words) {
  uint64_t h = 0x9e3779b97f4a7c15u;
  for (uint32_t w : words) {
    h = (h ^ w) * 0xbf58476d1ce4e5b9u;
    h ^= h >> 29;
  }
  return h * 0x94d049bb133111ebu >> 20;
}

void Native::grow() {
  std::vector<uint32_t> old;
  old.swap(entries);
  uint32_t oldCapacity = capacity;
  capacity = std::max(64u, capacity * 2);
  entries.assign(size_t(capacity) * stride(), 0);
  for (uint32_t e = 0; e != oldCapacity; ++e) {
    const uint32_t *from = old.data() + size_t(e) * stride();
    if (!*from)
      continue;
    uint32_t i = hashWords({from + 1, numArgs}) & (capacity - 1);
    while (entries[size_t(i) * stride()])
      i = (i + 1) & (capacity - 1);
    std::copy(from, from + stride(), entries.data() + size_t(i) * stride());
  }
}

bool Native::call(std::span<const uint32_t> args, uint32_t *results,
                  uint32_t round) {
  assert(args.size() == numArgs);
  if (memory == None)
    return fn(args, results);
  if ((memory == Round && validRound != round) || used == kMaxEntries) {
    std::fill(entries.begin(), entries.end(), 0);
    used = 0;
    validRound = round;
  }
  if (used * 2 >= capacity)
    grow();
  uint32_t i = hashWords(args) & (capacity - 1);
  for (;; i = (i + 1) & (capacity - 1)) {
    uint32_t *entry = entries.data() + size_t(i) * stride();
    if (*entry == 0)
      break;
    if (!std::equal(args.begin(), args.end(), entry + 1))
      continue;
    std::copy(entry + 1 + numArgs, entry + stride(), results);
    return *entry == 2;
  }
  bool holds = fn(args, results);
  uint32_t *entry = entries.data() + size_t(i) * stride();
  *entry = 1 + uint32_t(holds);
  std::copy(args.begin(), args.end(), entry + 1);
  if (holds)
    std::copy(results, results + numResults, entry + 1 + numArgs);
  ++used;
  return holds;
}
