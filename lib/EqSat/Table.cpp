//===- Table.cpp - The rows of one operator -------------------------------===//

#include "luminal/EqSat/Table.h"

#include <algorithm>
#include <bit>
#include <vector>

using namespace luminal::eqsat;

void Table::place(uint32_t row) {
  uint64_t h = hash(key(row));
  uint32_t mask = slots.size() - 1;
  uint32_t i = uint32_t(h) & mask;
  while (slots[i] != kNone)
    i = (i + 1) & mask;
  slots[i] = tagOf(h) | row;
  ++used;
}

void Table::reindex(uint32_t capacity) {
  slots.truncate(0);
  slots.resize(capacity, kNone);
  slots.shrink();
  used = 0;
  for (uint32_t row = 0, e = numRows(); row != e; ++row)
    if (classes[row] != kNone)
      place(row);
}

/// Slots for `rows` rows and as many again before the next growth.
static uint32_t capacityFor(uint32_t rows) {
  return std::max<uint32_t>(16, std::bit_ceil(uint32_t(rows + rows / 2)));
}

uint32_t Table::insert(const uint32_t *k, ClassId c, uint32_t stamp,
                       RuleId rule) {
  if ((used + 1) * uint64_t(4) > slots.size() * uint64_t(3))
    reindex(capacityFor((numRows() + 1) * 4 / 3));
  uint32_t row = numRows();
  uint32_t *to = keys.extend(stride);
  for (uint32_t i = 0; i != stride; ++i)
    to[i] = k[i];
  classes.push(c);
  stamps.push(stamp);
  rules.push(static_cast<uint16_t>(rule));
  place(row);
  stale = true;
  return row;
}

/// Stable order of `rows` by class.
static void sortByClass(std::vector<uint32_t> &rows, const ClassId *classes) {
  auto less = [&](uint32_t a, uint32_t b) {
    return classes[a] != classes[b] ? classes[a] < classes[b] : a < b;
  };
  if (rows.size() < 2048) {
    std::sort(rows.begin(), rows.end(), less);
    return;
  }
  constexpr uint32_t kBits = 11, kBuckets = 1u << kBits;
  ClassId all = 0;
  for (uint32_t r : rows)
    all |= classes[r];
  // Radix passes need the input in row order to be stable by row.
  std::sort(rows.begin(), rows.end());
  std::vector<uint32_t> other(rows.size());
  for (uint32_t shift = 0; shift < 32 && (all >> shift) != 0; shift += kBits) {
    uint32_t count[kBuckets + 1] = {};
    for (uint32_t r : rows)
      ++count[((classes[r] >> shift) & (kBuckets - 1)) + 1];
    for (uint32_t i = 0; i != kBuckets; ++i)
      count[i + 1] += count[i];
    for (uint32_t r : rows)
      other[count[(classes[r] >> shift) & (kBuckets - 1)]++] = r;
    rows.swap(other);
  }
}

void Table::sort() {
  if (!stale)
    return;
  stale = false;
  // A row only ever moves to a lower class, so what is still ascending stays,
  // and only moved and new rows are sorted.
  std::vector<uint32_t> kept, rest;
  kept.reserve(frozen);
  ClassId last = 0;
  for (uint32_t row = 0, e = numRows(); row != e; ++row) {
    ClassId c = classes[row];
    if (c == kNone)
      continue;
    if (row < frozen && c >= last) {
      kept.push_back(row);
      last = c;
    } else {
      rest.push_back(row);
    }
  }
  sortByClass(rest, classes.data());
  std::vector<uint32_t> order(kept.size() + rest.size());
  std::merge(kept.begin(), kept.end(), rest.begin(), rest.end(), order.begin(),
             [&](uint32_t a, uint32_t b) { return classes[a] < classes[b]; });
  kept = {};
  rest = {};

  size_t n = order.size();
  Buffer<uint32_t> newKeys(*counter);
  uint32_t *to = newKeys.extend(n * stride);
  for (uint32_t row : order)
    for (uint32_t i = 0; i != stride; ++i)
      *to++ = keys[size_t(row) * stride + i];
  keys = std::move(newKeys);
  auto permute = [&](auto &column) {
    std::remove_reference_t<decltype(column)> moved(*counter);
    auto *out = moved.extend(n);
    for (uint32_t row : order)
      *out++ = column[row];
    column = std::move(moved);
  };
  permute(classes);
  permute(stamps);
  permute(rules);
  frozen = n;
  reindex(capacityFor(n));
}
