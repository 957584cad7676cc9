//===- Table.cpp - The rows of one operator -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/EqSat/Core/Table.h"

#include <algorithm>

using namespace luminal::eqsat;

void Table::reindex(uint32_t room) const {
  index.reset(room);
  sized([&](auto K) {
    constexpr uint32_t kAhead = 32;
    uint64_t hashes[kAhead];
    for (uint32_t begin = 0; begin < count; begin += kAhead) {
      uint32_t end = std::min(begin + kAhead, count);
      for (uint32_t row = begin; row != end; ++row) {
        hashes[row - begin] = hash<K>(key(row));
        index.prefetch(hashes[row - begin]);
      }
      for (uint32_t row = begin; row != end; ++row)
        if (!isDead(row))
          index.place(row, hashes[row - begin]);
    }
  });
}

void Table::growIndex(uint32_t n) {
  // A row whose key changed left its old slot behind; with many such slots,
  // rebuild the index.
  if (!index.isReady() || index.numPlaced() > count + count / 4)
    return reindex(count + count / 3 + n);
  do
    index.grow([&](uint32_t row) { return hash(key(row)); });
  while (!index.hasRoom(n, count + n));
}

namespace {
struct Placed {
  ClassId cls;
  uint32_t row;
};
} // namespace

/// Sorts by class, then by row; `list` is in the order of rows. Long lists are
/// sorted by radix.
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
  // A row only ever moves to a lower class. So rows that are still ascending
  // stay in place, as do new rows with a new class; only the rest is sorted and
  // merged in.
  index.drop();
  sized([&](auto K) { sortRows<K>(firstNew); });
}

template <uint32_t K>
void Table::sortRows(ClassId firstNew) {
  const uint32_t size = K ? K + 1 : rowSize();
  const uint32_t *classes = rows.data() + (size - 1);
  auto split = [&](auto &&keep, auto &&move) {
    ClassId last = 0;
    for (uint32_t row = 0; row != count; ++row) {
      ClassId c = classes[row * size_t(size)];
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
    to = std::copy_n(rows.data() + p.row * size_t(size), size, to);
    *toStamp++ = stamps[p.row];
    *toRule++ = rules[p.row];
  }
  auto move = [&](uint32_t from, uint32_t to) {
    if (from == to)
      return;
    std::copy_n(rows.data() + from * size_t(size), size,
                rows.data() + to * size_t(size));
    stamps[to] = stamps[from];
    rules[to] = rules[from];
  };
  uint32_t next = 0;
  split([&](uint32_t row) { move(row, next++); }, [](Placed) {});
  count = frozen = numKept + numRest;
  // Merge from the back, so that nothing is overwritten.
  for (uint32_t row = count; numRest != 0;) {
    --row;
    if (numKept != 0 &&
        classes[(numKept - 1) * size_t(size)] > rest[numRest - 1].cls) {
      move(--numKept, row);
      continue;
    }
    --numRest;
    std::copy_n(restRows.data() + numRest * size_t(size), size,
                rows.data() + row * size_t(size));
    stamps[row] = restStamps[numRest];
    rules[row] = restRules[numRest];
  }
  rows.truncate(count * size_t(size));
  stamps.truncate(count);
  rules.truncate(count);
  rows.shrink();
  stamps.shrink();
  rules.shrink();
}
