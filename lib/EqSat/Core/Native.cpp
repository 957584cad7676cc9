//===- Native.cpp - Memoised native functions -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/EqSat/Core/Rule.h"

#include <algorithm>
#include <cassert>

using namespace luminal::eqsat;

/// Limits the cache of answers to a size that is small beside the graph. When
/// it is full, a new answer replaces an old one.
static constexpr uint32_t kMaxCapacity = 1u << 20;
/// Number of slots that a search probes from the slot of the hash.
static constexpr uint32_t kMaxProbes = 8;

// The first word of an entry is 0 if it is free. Otherwise its lowest bit is
// the answer, and the bits above are the round for which the answer is valid,
// or kForever.
static constexpr uint32_t kForever = ~0u >> 1;

/// Calls `f` with the number of arguments as a compile-time constant if there
/// is specialized code for it, otherwise with 0.
template <typename F>
decltype(auto) Native::sized(F &&f) const {
  switch (numArgs) {
  case 1:
    return f(std::integral_constant<uint32_t, 1>());
  case 2:
    return f(std::integral_constant<uint32_t, 2>());
  default:
    return f(std::integral_constant<uint32_t, 0>());
  }
}

template <uint32_t N>
static uint64_t hashWords(const uint32_t *words, uint32_t numArgs) {
  uint64_t h = 0x9e3779b97f4a7c15u;
  for (uint32_t k = 0; k != (N ? N : numArgs); ++k) {
    h = (h ^ words[k]) * 0xbf58476d1ce4e5b9u;
    h ^= h >> 29;
  }
  return h * 0x94d049bb133111ebu >> 20;
}

template <uint32_t N>
static bool sameWords(const uint32_t *a, const uint32_t *b, uint32_t numArgs) {
  bool same = true;
  for (uint32_t k = 0; k != (N ? N : numArgs); ++k)
    same &= a[k] == b[k];
  return same;
}

/// The entry of these arguments or, if there is none, the entry to overwrite.
template <uint32_t N>
uint32_t *Native::place(const uint32_t *args, uint64_t hash) {
  for (uint32_t k = 0; k != kMaxProbes; ++k) {
    uint32_t *entry =
        entries.data() + size_t((hash + k) & (capacity - 1)) * stride();
    if (*entry == 0 || sameWords<N>(args, entry + 1, numArgs))
      return entry;
  }
  return entries.data() + size_t(hash & (capacity - 1)) * stride();
}

void Native::grow() {
  Buffer<uint32_t> old(std::move(entries));
  entries = Buffer<uint32_t>(*counter);
  uint32_t oldCapacity = capacity;
  capacity = std::max(64u, capacity * 2);
  entries.reserveExactly(size_t(capacity) * stride());
  entries.resize(size_t(capacity) * stride(), 0);
  for (uint32_t e = 0; e != oldCapacity; ++e) {
    const uint32_t *from = old.data() + size_t(e) * stride();
    if (*from)
      std::copy(from, from + stride(),
                place<0>(from + 1, hashWords<0>(from + 1, numArgs)));
  }
}

/// The entry with the answer. Calls the function if the answer is not cached.
template <uint32_t N>
uint32_t *Native::answer(const uint32_t *args, uint64_t hash, uint32_t round) {
  if (used * 2 >= capacity && capacity != kMaxCapacity)
    grow();
  uint32_t *entry = place<N>(args, hash);
  uint32_t until = *entry >> 1;
  if (*entry && (until == kForever || until == round) &&
      sameWords<N>(args, entry + 1, numArgs))
    return entry;
  uint64_t before = looks ? *looks : 0;
  made.resize(numResults);
  bool holds = fn({args, numArgs}, made.data());
  bool always = memory == Always || (looks && *looks == before);
  used += *entry == 0;
  *entry = (always ? kForever : round) << 1 | uint32_t(holds);
  std::copy(args, args + numArgs, entry + 1);
  if (holds)
    std::copy(made.begin(), made.end(), entry + 1 + numArgs);
  return entry;
}

void Native::forget() {
  std::fill(entries.begin(), entries.end(), 0);
  used = 0;
}

bool Native::call(std::span<const uint32_t> args, uint32_t *results,
                  uint32_t round) {
  assert(args.size() == numArgs);
  if (memory == None)
    return fn(args, results);
  return sized([&](auto number) {
    constexpr uint32_t N = decltype(number)::value;
    const uint32_t *entry =
        answer<N>(args.data(), hashWords<N>(args.data(), numArgs), round);
    if (!(*entry & 1))
      return false;
    std::copy(entry + 1 + numArgs, entry + stride(), results);
    return true;
  });
}

uint32_t Native::call(uint32_t *columns, uint32_t stride,
                      std::span<const Reg> args, Reg dst,
                      std::span<const uint16_t> calls, uint16_t *holds,
                      uint32_t round) {
  assert(args.size() == numArgs);
  words.resize(calls.size() * numArgs);
  hashes.resize(calls.size());
  return sized([&](auto number) {
    constexpr uint32_t N = decltype(number)::value;
    const uint32_t n = N ? N : numArgs;
    uint32_t *to = words.data();
    for (size_t c = 0; c != calls.size(); ++c, to += n) {
      for (uint32_t k = 0; k != n; ++k)
        to[k] = columns[args[k] * stride + calls[c]];
      if (memory == None)
        continue;
      hashes[c] = hashWords<N>(to, n);
      if (capacity)
        __builtin_prefetch(entries.data() +
                           size_t(hashes[c] & (capacity - 1)) * this->stride());
    }
    uint32_t count = 0;
    made.resize(numResults);
    to = words.data();
    for (size_t c = 0; c != calls.size(); ++c, to += n) {
      const uint32_t *results = made.data();
      if (memory == None) {
        if (!fn({to, n}, made.data()))
          continue;
      } else {
        const uint32_t *entry = answer<N>(to, hashes[c], round);
        if (!(*entry & 1))
          continue;
        results = entry + 1 + n;
      }
      for (uint32_t k = 0; k != numResults; ++k)
        columns[(dst + k) * stride + calls[c]] = results[k];
      holds[count++] = calls[c];
    }
    return count;
  });
}
