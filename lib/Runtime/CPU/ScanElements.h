//===- ScanElements.h - Elements of a scan in memory ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversion between the elements of a scan in memory and the C++ values it
// computes with, for a tile or for single elements.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_LIB_RUNTIME_CPU_SCANELEMENTS_H
#define LUMINAL_LIB_RUNTIME_CPU_SCANELEMENTS_H

#include "luminal/Support/DType.h"
#include "luminal/Support/Scalar.h"
#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace luminal::runtime {

/// Exact, without a branch: multiplying by 2^112 adjusts the exponent, also of
/// subnormals.
inline float readF16(uint16_t bits) {
  const uint32_t sign = uint32_t(bits & 0x8000U) << 16,
                 rest = uint32_t(bits & 0x7FFFU) << 13;
  const float size = std::bit_cast<float>(rest) * 0x1p112F;
  const uint32_t special = rest | 0x7F800000U;
  const uint32_t moved =
      rest >= 0x0F800000U ? special : std::bit_cast<uint32_t>(size);
  return std::bit_cast<float>(moved | sign);
}

/// Rounded once, to nearest even: if rounding to f32 gives a tie, rounds the
/// double directly.
inline uint16_t writeBF16(double value) {
  const auto bits = std::bit_cast<uint32_t>(static_cast<float>(value));
  if ((bits & 0x7F800000U) == 0x7F800000U || (bits & 0xFFFFU) == 0x8000U)
    return doubleToBF16(value);
  return static_cast<uint16_t>((bits + 0x8000U) >> 16);
}
/// The same for an f32, without a branch.
inline uint16_t writeBF16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t rounded = (bits + 0x7FFFU + (bits >> 16 & 1U)) >> 16,
                 quiet = bits >> 16 | 0x40U;
  return static_cast<uint16_t>(value == value ? rounded : quiet);
}

template <typename T>
uint16_t writeF16(T value) {
  const auto bits = std::bit_cast<uint32_t>(static_cast<float>(value));
  const uint32_t size = bits & 0x7FFFFFFFU;
  constexpr uint32_t kLeast = 0x38800000U, kMost = 0x477FE000U;
  if (size < kLeast || size > kMost || (bits & 0x1FFFU) == 0x1000U)
    return doubleToF16(static_cast<double>(value));
  return static_cast<uint16_t>((bits >> 16 & 0x8000U) |
                               ((size - 0x38000000U + 0x1000U) >> 13));
}

template <typename From, typename T, typename Fn>
void convert(const void *from, int64_t count, T *to, Fn fn) {
  const auto *elements = static_cast<const From *>(from);
  for (int64_t i = 0; i < count; ++i)
    to[i] = fn(elements[i]);
}

/// Whether memory holds elements of `type` as values of T, so that they need no
/// conversion.
template <typename T>
constexpr bool isStored(DType type) {
  return std::is_same_v<T, double>     ? type == DType::F64
         : std::is_same_v<T, float>    ? type == DType::F32
         : std::is_same_v<T, int64_t>  ? type == DType::I64
         : std::is_same_v<T, uint16_t> ? type == DType::BF16
                                       : false;
}

/// Reads elements and converts them to T; the bits of bf16 (uint16_t) are
/// copied.
template <typename T>
void readElements(DType type, const void *from, int64_t count, T *to) {
  if constexpr (std::is_same_v<T, uint16_t>) {
    std::memcpy(to, from, static_cast<size_t>(count) * sizeof(T));
    return;
  }
  auto same = [](auto x) { return static_cast<T>(x); };
  switch (type) {
  case DType::F16:
    return convert<uint16_t>(
        from, count, to, [](uint16_t x) { return static_cast<T>(readF16(x)); });
  case DType::BF16:
    return convert<uint16_t>(from, count, to, [](uint16_t x) {
      return static_cast<T>(bf16ToFloat(x));
    });
  case DType::F32:
    return convert<float>(from, count, to, same);
  case DType::F64:
    return convert<double>(from, count, to, same);
  case DType::I32:
    return convert<int32_t>(from, count, to, same);
  default:
    return convert<int64_t>(from, count, to, same);
  }
}

inline void prefetch(const uint8_t *from, int64_t bytes) {
  constexpr int64_t kLine = 64;
  for (int64_t at = 0; at < bytes; at += kLine)
    __builtin_prefetch(from + at);
}

template <typename T>
void writeElements(DType type, const T *from, int64_t count, void *to) {
  if constexpr (std::is_same_v<T, uint16_t>) {
    std::memcpy(to, from, static_cast<size_t>(count) * sizeof(T));
    return;
  }
  auto as = [&](auto *elements, auto fn) {
    for (int64_t i = 0; i < count; ++i)
      elements[i] = fn(from[i]);
  };
  switch (type) {
  case DType::F16:
    return as(static_cast<uint16_t *>(to), [](T x) { return writeF16(x); });
  case DType::BF16:
    return as(static_cast<uint16_t *>(to), [](T x) {
      if constexpr (std::is_same_v<T, float>)
        return writeBF16(x);
      else
        return writeBF16(static_cast<double>(x));
    });
  case DType::F32:
    return as(static_cast<float *>(to),
              [](T x) { return static_cast<float>(x); });
  case DType::F64:
    return as(static_cast<double *>(to),
              [](T x) { return static_cast<double>(x); });
  case DType::I32:
    return as(static_cast<int32_t *>(to),
              [](T x) { return static_cast<int32_t>(x); });
  default:
    return as(static_cast<int64_t *>(to),
              [](T x) { return static_cast<int64_t>(x); });
  }
}

/// Loads and stores an element whose memory format is T.
template <typename T>
struct Stored {
  using Bits = T;
  using Value = T;
  template <typename To>
  static To load(T x) {
    return static_cast<To>(x);
  }
  template <typename From>
  static T store(From x) {
    return static_cast<T>(x);
  }
};
struct StoredBF16 {
  using Bits = uint16_t;
  using Value = float;
  template <typename To>
  static To load(uint16_t x) {
    return static_cast<To>(bf16ToFloat(x));
  }
  template <typename From>
  static uint16_t store(From x) {
    return writeBF16(x);
  }
};

} // namespace luminal::runtime

#endif // LUMINAL_LIB_RUNTIME_CPU_SCANELEMENTS_H
