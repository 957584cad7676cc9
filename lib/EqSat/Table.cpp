//===- Table.cpp - The rows of one operator -------------------------------===//

#include "luminal/EqSat/Table.h"

#include <algorithm>
#include <bit>
#include <vector>

using namespace luminal::eqsat;

void Table::place(uint32_t row) {
  uint64_t h = hash(key(row));
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
  for (uint32_t row = 0; row != count; ++row)
    if (!isDead(row))
      place(row);
}

/// At most three quarters of the slots are in use after `rows` rows.
static uint32_t capacityFor(uint32_t rows) {
  return std::max<uint32_t>(16, std::bit_ceil(rows + rows / 2));
}

void Table::growIndex() { reindex(capacityFor(count + count / 3 + 1)); }

uint32_t Table::insert(const uint32_t *k, ClassId c, uint32_t round,
                       RuleId rule) {
  reserveSlot();
  uint32_t *to = rows.extend(rowSize());
  for (uint32_t i = 0, n = keySize(); i != n; ++i)
    *to++ = k[i];
  *to = c;
  stamps.push(round << 1);
  rules.push(static_cast<uint16_t>(rule));
  place(count);
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
static void sortByClass(std::vector<Placed> &list) {
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
  std::vector<Placed> other(list.size());
  for (uint32_t shift = 0; shift < 32 && (all >> shift) != 0; shift += kBits) {
    uint32_t begin[kBuckets + 1] = {};
    for (Placed p : list)
      ++begin[((p.cls >> shift) & (kBuckets - 1)) + 1];
    for (uint32_t i = 0; i != kBuckets; ++i)
      begin[i + 1] += begin[i];
    for (Placed p : list)
      other[begin[(p.cls >> shift) & (kBuckets - 1)]++] = p;
    list.swap(other);
  }
}

void Table::sort() {
  if (!stale)
    return;
  stale = false;
  // A row only ever moves to a lower class, so what is still ascending stays,
  // and only moved and new rows are sorted.
  std::vector<Placed> rest;
  std::vector<uint32_t> kept;
  kept.reserve(frozen);
  ClassId last = 0;
  for (uint32_t row = 0; row != count; ++row) {
    ClassId c = classOf(row);
    if (c == kNone)
      continue;
    if (row < frozen && c >= last) {
      kept.push_back(row);
      last = c;
    } else {
      rest.push_back({c, row});
    }
  }
  sortByClass(rest);

  size_t n = kept.size() + rest.size();
  const uint32_t size = rowSize();
  Buffer<uint32_t> newRows(*counter);
  Buffer<uint32_t> newStamps(*counter);
  Buffer<uint16_t> newRules(*counter);
  uint32_t *to = newRows.extend(n * size);
  uint32_t *toStamp = newStamps.extend(n);
  uint16_t *toRule = newRules.extend(n);
  auto next = rest.begin();
  auto take = [&](uint32_t row) {
    const uint32_t *from = key(row);
    for (uint32_t i = 0; i != size; ++i)
      *to++ = from[i];
    *toStamp++ = stamps[row];
    *toRule++ = rules[row];
  };
  for (uint32_t row : kept) {
    for (ClassId c = classOf(row); next != rest.end() && next->cls < c; ++next)
      take(next->row);
    take(row);
  }
  for (; next != rest.end(); ++next)
    take(next->row);
  rows = std::move(newRows);
  stamps = std::move(newStamps);
  rules = std::move(newRules);
  count = frozen = n;
  reindex(capacityFor(n));
}
