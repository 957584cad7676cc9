//===- Table.h - The rows of one operator ---------------------------------===//

#ifndef LUMINAL_EQSAT_TABLE_H
#define LUMINAL_EQSAT_TABLE_H

#include "luminal/EqSat/Ids.h"

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <type_traits>
#include <utility>

namespace luminal::eqsat {

/// Bytes that the buffers of one graph hold, and the most they ever held.
struct ByteCounter {
  uint64_t bytes = 0;
  uint64_t peak = 0;
  void add(uint64_t n) {
    bytes += n;
    peak = peak < bytes ? bytes : peak;
  }
};

/// As realloc; gives the memory back where `newBytes` is 0. Aborts where there
/// is none.
void *resizeMemory(void *old, size_t oldBytes, size_t newBytes);

/// A growing array of plain values that reports what it holds.
template <typename T>
class Buffer {
  static_assert(std::is_trivially_copyable_v<T>);

public:
  explicit Buffer(ByteCounter &counter) : counter(&counter) {}
  Buffer(Buffer &&other) noexcept { *this = std::move(other); }
  Buffer &operator=(Buffer &&other) noexcept {
    std::swap(counter, other.counter);
    std::swap(ptr, other.ptr);
    std::swap(count, other.count);
    std::swap(cap, other.cap);
    return *this;
  }
  ~Buffer() {
    if (counter)
      setCapacity(0);
  }

  size_t size() const { return count; }
  bool empty() const { return count == 0; }
  T *data() { return ptr; }
  const T *data() const { return ptr; }
  T &operator[](size_t i) {
    assert(i < count);
    return ptr[i];
  }
  const T &operator[](size_t i) const {
    assert(i < count);
    return ptr[i];
  }
  T *begin() { return ptr; }
  T *end() { return ptr + count; }
  const T *begin() const { return ptr; }
  const T *end() const { return ptr + count; }

  void push(T value) {
    if (count == cap)
      reserve(count + 1);
    ptr[count++] = value;
  }
  /// Room for `n` more values, which the caller writes.
  T *extend(size_t n) {
    if (count + n > cap)
      reserve(count + n);
    count += n;
    return ptr + count - n;
  }
  void resize(size_t n, T value) {
    if (n > cap)
      reserve(n);
    for (size_t i = count; i < n; ++i)
      ptr[i] = value;
    count = n;
  }
  void truncate(size_t n) {
    assert(n <= count);
    count = n;
  }
  void reserve(size_t n) {
    if (n <= cap)
      return;
    size_t newCap = cap + cap / 2 + 8;
    setCapacity(newCap < n ? n : newCap);
  }
  /// Room for `n` values and no more.
  void reserveExactly(size_t n) {
    if (n != cap && n >= count)
      setCapacity(n);
  }
  /// Gives back what is not used.
  void shrink() {
    if (cap != count)
      setCapacity(count);
  }

private:
  void setCapacity(size_t n) {
    ptr = static_cast<T *>(resizeMemory(ptr, cap * sizeof(T), n * sizeof(T)));
    counter->add((n - cap) * sizeof(T));
    cap = n;
  }

  ByteCounter *counter = nullptr;
  T *ptr = nullptr;
  size_t count = 0;
  size_t cap = 0;
};

/// Rows of one operator, and the index that finds a row by its key.
///
/// A row is one run of words: the classes of the children, the payload (these
/// are the key), and the class. So what a search compares and finds lies in one
/// place.
class Table {
public:
  Table(uint32_t arity, bool commutative, ByteCounter &counter)
      : numChildren(arity), commutative(commutative), rows(counter),
        stamps(counter), rules(counter), slots(counter), counter(&counter) {}

  uint32_t arity() const { return numChildren; }
  bool isCommutative() const { return commutative; }
  /// Words of a key.
  uint32_t keySize() const { return numChildren + 1; }
  uint32_t numRows() const { return count; }
  /// Rows of the frozen part.
  uint32_t numFrozen() const { return frozen; }

  /// Children, then payload.
  const uint32_t *key(uint32_t row) const {
    return rows.data() + size_t(row) * rowSize();
  }
  PayloadId payload(uint32_t row) const { return key(row)[numChildren]; }
  /// kNone for a row that turned out to equal another one.
  ClassId classOf(uint32_t row) const { return key(row)[numChildren + 1]; }
  bool isDead(uint32_t row) const { return classOf(row) == kNone; }
  RuleId rule(uint32_t row) const { return rules[row]; }

  /// The round in which the row was last touched: made, given other children,
  /// or moved to another class.
  uint32_t stamp(uint32_t row) const { return stamps[row] >> 1; }
  /// As `stamp`, but not after the round before a mere move to another class:
  /// to that, only what is built on the class is new.
  uint32_t rootStamp(uint32_t row) const {
    return (stamps[row] >> 1) - (stamps[row] & 1);
  }

  /// Calls `f` with the size of the key as a type where there is code of its
  /// own for it, else with 0.
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
  /// The same in steps, so that many searches can wait for memory together. `K`
  /// is what `sized` says.
  template <uint32_t K>
  uint64_t hash(const uint32_t *k) const {
    const uint32_t n = K ? K : keySize();
    uint64_t h = 0x9e3779b97f4a7c15u;
    uint32_t i = 0;
    for (; i + 1 < n; i += 2)
      h = mix(h ^ (k[i] | uint64_t(k[i + 1]) << 32), 0xa0761d6478bd642fu);
    return i < n ? mix(h ^ k[i], 0xe7037ed1a0b428dbu) : h;
  }
  void prefetchSlot(uint64_t h) const {
    if (!slots.empty())
      __builtin_prefetch(slots.data() + slotOf(h));
  }
  void prefetchRow(uint64_t h) const {
    if (slots.empty())
      return;
    uint32_t s = slots[slotOf(h)];
    if (s != kNone)
      __builtin_prefetch(key(s & (slots.size() - 1)));
  }
  /// The bits that a slot has left above the row number tell most other keys
  /// apart.
  template <uint32_t K>
  uint32_t find(const uint32_t *k, uint64_t h) const {
    if (slots.empty())
      return kNone;
    const uint32_t n = K ? K : keySize();
    uint32_t mask = slots.size() - 1, tag = uint32_t(h >> 32) & ~mask;
    for (uint32_t i = slotOf(h);; i = (i + 1) & mask) {
      uint32_t s = slots[i];
      if (s == kNone)
        return kNone;
      if ((s & ~mask) != tag)
        continue;
      const uint32_t *there = key(s & mask);
      bool same = true;
      for (uint32_t j = 0; j != n; ++j)
        same &= there[j] == k[j];
      if (same)
        return s & mask;
    }
  }

  /// Adds a row that is known not to be there.
  uint32_t insert(const uint32_t *k, uint64_t h, ClassId c, uint32_t round,
                  RuleId rule);

  /// Orders the rows by class, the dead ones dropped, and renews the index.
  /// Classes from `firstNew` on came since the last time.
  void sort(ClassId firstNew);

private:
  friend class EGraph;

  uint32_t rowSize() const { return numChildren + 2; }
  uint32_t *mutableKey(uint32_t row) {
    return rows.data() + size_t(row) * rowSize();
  }
  void setClass(uint32_t row, ClassId c) {
    mutableKey(row)[numChildren + 1] = c;
  }
  void setStamp(uint32_t row, uint32_t round, bool onlyMoved) {
    stamps[row] = round << 1 | uint32_t(onlyMoved);
  }

  uint32_t slotOf(uint64_t h) const {
    return uint32_t(h) & uint32_t(slots.size() - 1);
  }
  static uint64_t mix(uint64_t a, uint64_t b) {
    unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
    return uint64_t(product) ^ uint64_t(product >> 64);
  }
  void place(uint32_t row, uint64_t h);
  /// Clears the index and enters every live row again.
  void reindex(uint32_t capacity);
  void reserveSlots(uint32_t n) {
    if ((used + n) * uint64_t(4) > slots.size() * uint64_t(3))
      growIndex(n);
  }
  void growIndex(uint32_t n);

  uint32_t numChildren;
  bool commutative;
  Buffer<uint32_t> rows;
  /// Round, and in the lowest bit whether the row was merely moved.
  Buffer<uint32_t> stamps;
  Buffer<uint16_t> rules;
  Buffer<uint32_t> slots;
  ByteCounter *counter;
  uint32_t count = 0;
  uint32_t used = 0;
  uint32_t frozen = 0;
  /// Whether rows died, moved or were added since the last sort.
  bool stale = false;
};

} // namespace luminal::eqsat

#endif // LUMINAL_EQSAT_TABLE_H
