//===- Table.cpp - The rows of one operator -------------------------------===//

#include "luminal/EqSat/Table.h"

#include <algorithm>
#include <bit>
#include <vector>

#ifdef __linux__
#include <sys/mman.h>
#endif

using namespace luminal::eqsat;

#ifdef __linux__
/// Large memory is mapped by itself: it grows without a copy, what is given
/// back is gone, and what fills a large page lies in one.
static void *resizeMapping(void *old, size_t oldBytes, size_t newBytes) {
  constexpr size_t kThreshold = size_t(1) << 20;
  bool wasMapped = oldBytes >= kThreshold, isMapped = newBytes >= kThreshold;
  if (!wasMapped && !isMapped)
    return realloc(old, newBytes);
  if (!isMapped) {
    void *memory = malloc(newBytes);
    if (memory)
      memcpy(memory, old, newBytes);
    munmap(old, oldBytes);
    return memory;
  }
  void *memory = wasMapped ? mremap(old, oldBytes, newBytes, MREMAP_MAYMOVE)
                           : mmap(nullptr, newBytes, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return nullptr;
  if (!wasMapped && old) {
    memcpy(memory, old, oldBytes);
    free(old);
  }
  if (!wasMapped)
    madvise(memory, newBytes, MADV_HUGEPAGE);
  return memory;
}
#else
static void *resizeMapping(void *old, size_t, size_t newBytes) {
  return realloc(old, newBytes);
}
#endif

void *luminal::eqsat::resizeMemory(void *old, size_t oldBytes,
                                   size_t newBytes) {
  if (newBytes == 0 && oldBytes == 0)
    return nullptr;
  void *memory = resizeMapping(old, oldBytes, newBytes);
  if (!memory && newBytes != 0)
    abort();
  return memory;
}

void Table::place(uint32_t row, uint64_t h) {
  uint32_t mask = slots.size() - 1;
  uint32_t i = slotOf(h);
  while (slots[i] != kNone)
    i = (i + 1) & mask;
  slots[i] = (uint32_t(h >> 32) & ~mask) | row;
  ++used;
}

void Table::reindex(uint32_t capacity) {
  slots.truncate(0);
  slots.reserveExactly(capacity);
  slots.resize(capacity, kNone);
  used = 0;
  sized([&](auto K) {
    constexpr uint32_t kAhead = 32;
    uint64_t hashes[kAhead];
    for (uint32_t begin = 0; begin < count; begin += kAhead) {
      uint32_t end = std::min(begin + kAhead, count);
      for (uint32_t row = begin; row != end; ++row) {
        hashes[row - begin] = hash<K>(key(row));
        prefetchSlot(hashes[row - begin]);
      }
      for (uint32_t row = begin; row != end; ++row)
        if (!isDead(row))
          place(row, hashes[row - begin]);
    }
  });
}

/// At most three quarters of the slots are in use after `rows` rows.
static uint32_t capacityFor(uint32_t rows) {
  return std::max<uint32_t>(16, std::bit_ceil(rows + rows / 2));
}

void Table::growIndex(uint32_t n) {
  reindex(capacityFor(count + count / 3 + n));
}

uint32_t Table::insert(const uint32_t *k, uint64_t h, ClassId c, uint32_t round,
                       RuleId rule) {
  reserveSlots(1);
  uint32_t *to = rows.extend(rowSize());
  for (uint32_t i = 0, n = keySize(); i != n; ++i)
    *to++ = k[i];
  *to = c;
  stamps.push(round << 1);
  rules.push(static_cast<uint16_t>(rule));
  place(count, h);
  stale = true;
  return count++;
}

namespace {
struct Placed {
  ClassId cls;
  uint32_t row;
};
} // namespace

/// By class, then by row; `list` is in the order of rows.
static void sortByClass(Buffer<Placed> &list, ByteCounter &counter) {
  if (list.size() < 1024) {
    std::sort(list.begin(), list.end(), [](Placed a, Placed b) {
      return a.cls != b.cls ? a.cls < b.cls : a.row < b.row;
    });
    return;
  }
  constexpr uint32_t kBits = 11, kBuckets = 1u << kBits;
  ClassId all = 0;
  for (Placed p : list)
    all |= p.cls;
  Buffer<Placed> other(counter);
  other.extend(list.size());
  for (uint32_t shift = 0; shift < 32 && (all >> shift) != 0; shift += kBits) {
    uint32_t begin[kBuckets + 1] = {};
    for (Placed p : list)
      ++begin[((p.cls >> shift) & (kBuckets - 1)) + 1];
    for (uint32_t i = 0; i != kBuckets; ++i)
      begin[i + 1] += begin[i];
    for (Placed p : list)
      other[begin[(p.cls >> shift) & (kBuckets - 1)]++] = p;
    std::swap(list, other);
  }
}

void Table::sort(ClassId firstNew) {
  if (!stale)
    return;
  stale = false;
  // A row only ever moves to a lower class, so what is still ascending stays,
  // likewise new rows with a new class, and only the rest is sorted and merged
  // in. The index is renewed anyway.
  slots.truncate(0);
  slots.shrink();
  const uint32_t size = rowSize();
  auto split = [&](auto &&keep, auto &&move) {
    ClassId last = 0;
    for (uint32_t row = 0; row != count; ++row) {
      ClassId c = classOf(row);
      if (c == kNone)
        continue;
      if (c >= last && (row < frozen || c >= firstNew)) {
        last = c;
        keep(row);
      } else {
        move(Placed{c, row});
      }
    }
  };
  uint32_t numKept = 0, numRest = 0;
  split([&](uint32_t) { ++numKept; }, [&](Placed) { ++numRest; });
  Buffer<Placed> rest(*counter);
  rest.reserveExactly(numRest);
  split([](uint32_t) {}, [&](Placed p) { rest.push(p); });
  sortByClass(rest, *counter);

  Buffer<uint32_t> restRows(*counter), restStamps(*counter);
  Buffer<uint16_t> restRules(*counter);
  uint32_t *to = restRows.extend(numRest * size_t(size));
  uint32_t *toStamp = restStamps.extend(numRest);
  uint16_t *toRule = restRules.extend(numRest);
  for (Placed p : rest) {
    to = std::copy_n(key(p.row), size, to);
    *toStamp++ = stamps[p.row];
    *toRule++ = rules[p.row];
  }
  auto move = [&](uint32_t from, uint32_t to) {
    if (from == to)
      return;
    std::copy_n(key(from), size, mutableKey(to));
    stamps[to] = stamps[from];
    rules[to] = rules[from];
  };
  uint32_t next = 0;
  split([&](uint32_t row) { move(row, next++); }, [](Placed) {});
  count = frozen = numKept + numRest;
  // From the back, so that nothing is overwritten.
  for (uint32_t row = count; numRest != 0;) {
    --row;
    if (numKept != 0 && classOf(numKept - 1) > rest[numRest - 1].cls) {
      move(--numKept, row);
      continue;
    }
    --numRest;
    std::copy_n(restRows.data() + numRest * size_t(size), size,
                mutableKey(row));
    stamps[row] = restStamps[numRest];
    rules[row] = restRules[numRest];
  }
  rows.truncate(count * size_t(size));
  stamps.truncate(count);
  rules.truncate(count);
  rows.shrink();
  stamps.shrink();
  rules.shrink();
  reindex(capacityFor(count));
}
