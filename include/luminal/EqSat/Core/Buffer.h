//===- Buffer.h - Arrays that count their bytes ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_EQSAT_CORE_BUFFER_H
#define LUMINAL_EQSAT_CORE_BUFFER_H

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace luminal::eqsat {

/// Bytes that the buffers of one graph hold now, and the largest value so far.
struct ByteCounter {
  uint64_t bytes = 0;
  uint64_t peak = 0;
  void add(uint64_t n) {
    bytes += n;
    peak = peak < bytes ? bytes : peak;
  }
};

/// Like realloc, but frees the memory when `newBytes` is 0 and aborts when out
/// of memory.
void *resizeMemory(void *old, size_t oldBytes, size_t newBytes);

/// A growing array of plain values that reports its bytes to a `ByteCounter`.
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
  size_t capacity() const { return cap; }
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
  /// Appends `n` uninitialized values, which the caller writes, and returns a
  /// pointer to the first.
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
  /// Sets the capacity to exactly `n` values, unless more are in use.
  void reserveExactly(size_t n) {
    if (n != cap && n >= count)
      setCapacity(n);
  }
  /// Frees unused capacity.
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

} // namespace luminal::eqsat

#endif // LUMINAL_EQSAT_CORE_BUFFER_H
