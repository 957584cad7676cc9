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

/// Bytes that the buffers of one graph hold.
struct ByteCounter {
  uint64_t bytes = 0;
};

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
      counter->bytes -= cap * sizeof(T);
    free(ptr);
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
  /// Gives back what is not used.
  void shrink() {
    if (cap != count)
      setCapacity(count);
  }

private:
  void setCapacity(size_t n) {
    void *grown =
        n ? realloc(static_cast<void *>(ptr), n * sizeof(T)) : nullptr;
    if (n && !grown)
      abort();
    if (!n)
      free(ptr);
    ptr = static_cast<T *>(grown);
    counter->bytes += (n - cap) * sizeof(T);
    cap = n;
  }

  ByteCounter *counter = nullptr;
  T *ptr = nullptr;
  size_t count = 0;
  size_t cap = 0;
};

/// Rows of one operator, and the index that finds a row by its key: the classes
/// of the children, then the payload.
class Table {
public:
  Table(uint32_t arity, ByteCounter &counter)
      : numChildren(arity), stride(arity + 1), keys(counter), classes(counter),
        stamps(counter), rules(counter), slots(counter), counter(&counter) {}

  uint32_t arity() const { return numChildren; }
  uint32_t keySize() const { return stride; }
  uint32_t numRows() const { return classes.size(); }
  /// Rows of the frozen part.
  uint32_t numFrozen() const { return frozen; }

  /// Children, then payload.
  const uint32_t *key(uint32_t row) const {
    return keys.data() + size_t(row) * stride;
  }
  PayloadId payload(uint32_t row) const { return key(row)[numChildren]; }
  /// kNone for a row that turned out to equal another one.
  ClassId classOf(uint32_t row) const { return classes[row]; }
  uint32_t stamp(uint32_t row) const { return stamps[row]; }
  RuleId rule(uint32_t row) const { return rules[row]; }
  const uint32_t *stampColumn() const { return stamps.data(); }
  const ClassId *classColumn() const { return classes.data(); }

  /// The row with this key, or kNone.
  uint32_t find(const uint32_t *k) const {
    if (slots.empty())
      return kNone;
    uint64_t h = hash(k);
    uint32_t mask = slots.size() - 1, tag = tagOf(h);
    for (uint32_t i = uint32_t(h) & mask;; i = (i + 1) & mask) {
      uint32_t s = slots[i];
      if (s == kNone)
        return kNone;
      if ((s & ~mask) == tag && equal(key(s & mask), k))
        return s & mask;
    }
  }
  /// Adds a row that is known not to be there.
  uint32_t insert(const uint32_t *k, ClassId c, uint32_t stamp, RuleId rule);

  /// Orders the rows by class, the dead ones dropped, and renews the index.
  void sort();

private:
  friend class EGraph;

  uint64_t hash(const uint32_t *k) const {
    uint64_t h = 0x9e3779b97f4a7c15u;
    for (uint32_t i = 0; i != stride; ++i) {
      h = (h ^ k[i]) * 0xbf58476d1ce4e5b9u;
      h ^= h >> 29;
    }
    return h;
  }
  /// The bits of a slot above the row number tell most other keys apart.
  uint32_t tagOf(uint64_t h) const {
    return uint32_t(h >> 32) & ~uint32_t(slots.size() - 1);
  }
  bool equal(const uint32_t *a, const uint32_t *b) const {
    for (uint32_t i = 0; i != stride; ++i)
      if (a[i] != b[i])
        return false;
    return true;
  }
  void place(uint32_t row);
  /// Clears the index and enters every live row again.
  void reindex(uint32_t capacity);

  uint32_t numChildren;
  uint32_t stride;
  Buffer<uint32_t> keys;
  Buffer<ClassId> classes;
  Buffer<uint32_t> stamps;
  Buffer<uint16_t> rules;
  Buffer<uint32_t> slots;
  ByteCounter *counter;
  uint32_t used = 0;
  uint32_t frozen = 0;
  /// Whether rows died, moved or were added since the last sort.
  bool stale = false;
};

} // namespace luminal::eqsat

#endif // LUMINAL_EQSAT_TABLE_H
