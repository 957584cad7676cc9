//===- Table.h - The rows of one operator ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_EQSAT_CORE_TABLE_H
#define LUMINAL_EQSAT_CORE_TABLE_H

#include "luminal/EqSat/Core/Buffer.h"
#include "luminal/EqSat/Core/Ids.h"
#include "luminal/EqSat/Core/RowIndex.h"

#include <cstdint>
#include <type_traits>
#include <utility>

namespace luminal::eqsat {

/// The rows of one operator, and the index that finds a row by its key.
///
/// A row is a contiguous run of words: the classes of the children and the
/// payload (together the key), then the class. So a search finds the words that
/// it compares and the result in one place.
class Table {
public:
  Table(uint32_t arity, bool commutative, ByteCounter &counter)
      : numChildren(arity), commutative(commutative), rows(counter),
        stamps(counter), rules(counter), index(counter), counter(&counter) {}

  uint32_t arity() const { return numChildren; }
  bool isCommutative() const { return commutative; }
  /// Number of words of a key.
  uint32_t keySize() const { return numChildren + 1; }
  /// Distance in words from one row to the next.
  uint32_t rowSize() const { return numChildren + 2; }
  uint32_t numRows() const { return count; }
  /// Number of rows of the frozen part.
  uint32_t numFrozen() const { return frozen; }

  /// The key of a row: children, then payload.
  const uint32_t *key(uint32_t row) const {
    return rows.data() + size_t(row) * rowSize();
  }
  PayloadId payload(uint32_t row) const { return key(row)[numChildren]; }
  /// kNone for a dead row: one that turned out to equal another row.
  ClassId classOf(uint32_t row) const { return key(row)[numChildren + 1]; }
  bool isDead(uint32_t row) const { return classOf(row) == kNone; }
  RuleId rule(uint32_t row) const { return rules[row]; }

  /// The round in which the row was last touched: created, given other
  /// children, or moved to another class.
  uint32_t stamp(uint32_t row) const { return stamps[row] >> 1; }
  /// Like `stamp`, but moving to another class does not count: that is new only
  /// to patterns that enter the class from above.
  uint32_t rootStamp(uint32_t row) const {
    return (stamps[row] >> 1) - (stamps[row] & 1);
  }

  /// Calls `f` with the key size as a compile-time constant for the arities
  /// with specialized code, otherwise with 0.
  template <typename F>
  decltype(auto) sized(F &&f) const {
    switch (numChildren) {
    case 1:
      return f(std::integral_constant<uint32_t, 2>());
    case 2:
      return f(std::integral_constant<uint32_t, 3>());
    default:
      return f(std::integral_constant<uint32_t, 0>());
    }
  }
  uint64_t hash(const uint32_t *k) const {
    return sized([&](auto K) { return hash<K>(k); });
  }
  /// The row with this key, or kNone.
  uint32_t find(const uint32_t *k) const { return find(k, hash(k)); }
  uint32_t find(const uint32_t *k, uint64_t h) const {
    return sized([&](auto K) { return find<K>(k, h); });
  }
  /// The single steps of a search, so that a batch of searches can overlap its
  /// memory accesses. `K` is the number that `sized` passes.
  template <uint32_t K>
  uint64_t hash(const uint32_t *k) const {
    const uint32_t n = K ? K : keySize();
    if (n <= 4) {
      uint64_t low = k[0] | (n > 1 ? uint64_t(k[1]) << 32 : 0);
      uint64_t high = (n > 2 ? k[2] : 0) | (n > 3 ? uint64_t(k[3]) << 32 : 0);
      return mix(low ^ 0x9e3779b97f4a7c15u, high ^ 0xa0761d6478bd642fu);
    }
    uint64_t h = 0x9e3779b97f4a7c15u;
    uint32_t i = 0;
    for (; i + 1 < n; i += 2)
      h = mix(h ^ (k[i] | uint64_t(k[i + 1]) << 32), 0xa0761d6478bd642fu);
    return i < n ? mix(h ^ k[i], 0xe7037ed1a0b428dbu) : h;
  }
  /// The index to search; valid until a row is added, moved or touched.
  RowSlots slots() const {
    if (!index.isReady()) [[unlikely]]
      reindex(count);
    return index;
  }
  template <uint32_t K>
  bool hasKey(uint32_t row, const uint32_t *k) const {
    const uint32_t *there = rows.data() + size_t(row) * (K ? K + 1 : rowSize());
    bool same = true;
    for (uint32_t i = 0, n = K ? K : keySize(); i != n; ++i)
      same &= there[i] == k[i];
    return same;
  }
  template <uint32_t K>
  uint32_t find(const uint32_t *k, uint64_t h) const {
    return slots().find(h, [&](uint32_t row) { return hasKey<K>(row, k); });
  }

  /// Adds a row whose key is known to be absent.
  uint32_t insert(const uint32_t *k, uint64_t h, ClassId c, uint32_t round,
                  RuleId rule) {
    reserveSlots(1);
    const uint32_t n = keySize();
    uint32_t *to = rows.extend(n + 1);
    for (uint32_t i = 0; i != n; ++i)
      to[i] = k[i];
    to[n] = c;
    stamps.push(round << 1);
    rules.push(static_cast<uint16_t>(rule));
    index.place(count, h);
    stale = true;
    return count++;
  }

  /// Sorts the rows by class, drops dead rows, and renews the index. Classes
  /// from `firstNew` on were made since the last sort.
  void sort(ClassId firstNew);

private:
  friend class EGraph;
  friend class Snapshot;

  uint32_t *mutableKey(uint32_t row) {
    return rows.data() + size_t(row) * rowSize();
  }
  void setClass(uint32_t row, ClassId c) {
    mutableKey(row)[numChildren + 1] = c;
  }
  void setStamp(uint32_t row, uint32_t round, bool onlyMoved) {
    stamps[row] = round << 1 | uint32_t(onlyMoved);
  }

  static uint64_t mix(uint64_t a, uint64_t b) {
    unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
    return uint64_t(product) ^ uint64_t(product >> 64);
  }
  /// Makes room for `n` more rows in the index.
  void reserveSlots(uint32_t n) {
    if (!index.isReady() || !index.hasRoom(n, count + n)) [[unlikely]]
      growIndex(n);
  }
  void growIndex(uint32_t n);
  /// Discards the index and enters every live row again.
  void reindex(uint32_t room) const;
  template <uint32_t K>
  void sortRows(ClassId firstNew);

  uint32_t numChildren;
  bool commutative;
  Buffer<uint32_t> rows;
  /// The round times two; the lowest bit says that the row was only moved.
  Buffer<uint32_t> stamps;
  Buffer<uint16_t> rules;
  /// Can be rebuilt from the rows, so a sort discards it and the next search
  /// builds it again.
  mutable RowIndex index;
  ByteCounter *counter;
  uint32_t count = 0;
  uint32_t frozen = 0;
  /// Whether rows died, moved or were added since the last sort.
  bool stale = false;
};

} // namespace luminal::eqsat

#endif // LUMINAL_EQSAT_CORE_TABLE_H
