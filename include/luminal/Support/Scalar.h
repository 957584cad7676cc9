//===- Scalar.h - Elements of every dtype as C++ values -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts single elements of every dtype to and from C++ values, including the
// rounding on a store. Does not include LLVM.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_SUPPORT_SCALAR_H
#define LUMINAL_SUPPORT_SCALAR_H

#include "luminal/Support/DType.h"
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

namespace luminal {

constexpr bool isFloatDType(DType t) {
  return t == DType::F32 || t == DType::F16 || t == DType::BF16 ||
         t == DType::F64 || t == DType::F8E4M3 || t == DType::F8E5M2;
}

/// The layout of a small binary float. If `ieee`, the greatest exponent encodes
/// infinity and NaN; otherwise only its all-ones mantissa is NaN, and there is
/// no infinity (E4M3FN).
struct FloatFormat {
  unsigned exponentBits, mantissaBits;
  bool ieee;
};
constexpr FloatFormat kF16Format{5, 10, true};
constexpr FloatFormat kBF16Format{8, 7, true};
constexpr FloatFormat kF8E4M3Format{4, 3, false};
constexpr FloatFormat kF8E5M2Format{5, 2, true};

/// Encodes `value`, rounded once to nearest even. Overflow gives infinity, or
/// the largest finite value in a format without infinity. A NaN becomes the
/// quiet NaN of the same sign.
uint32_t encodeSmallFloat(FloatFormat format, double value);
/// The exact value of an encoding.
double decodeSmallFloat(FloatFormat format, uint32_t bits);

inline float f16ToFloat(uint16_t bits) {
  return static_cast<float>(decodeSmallFloat(kF16Format, bits));
}
inline float bf16ToFloat(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}
inline uint16_t doubleToF16(double value) {
  return static_cast<uint16_t>(encodeSmallFloat(kF16Format, value));
}
inline uint16_t doubleToBF16(double value) {
  return static_cast<uint16_t>(encodeSmallFloat(kBF16Format, value));
}

/// Rounds toward zero and clamps to the range of the type; NaN gives 0.
template <typename Int>
Int saturatingTruncate(double value) {
  if (std::isnan(value))
    return 0;
  // 2^digits is the smallest double above the range.
  double limit = std::ldexp(1.0, std::numeric_limits<Int>::digits);
  if (value >= limit)
    return std::numeric_limits<Int>::max();
  if (value <= (std::is_signed_v<Int> ? -limit : 0.0))
    return std::numeric_limits<Int>::min();
  return static_cast<Int>(value);
}

/// Rounds toward zero to 64 bits and keeps the low bits of the type. NaN, and
/// values that do not fit into 64 bits, give 0.
template <typename Int>
Int wrappingTruncate(double value) {
  bool isInside = value >= -0x1p63 && value < 0x1p63;
  return isInside ? static_cast<Int>(static_cast<int64_t>(value)) : Int(0);
}

/// Converts an integer to a double, rounding inexact values to odd, so that a
/// second rounding to a narrower type gives the same result as a single one.
double roundToOdd(int64_t value);

/// Loads an element of a float dtype (exact), and stores one (rounded once).
double loadFloat(DType t, const void *element);
void storeFloat(DType t, double value, void *element);
/// Loads an element of an integer dtype (i1 is 0 or 1), and stores one (wraps;
/// i1 stores the lowest bit).
int64_t loadInt(DType t, const void *element);
void storeInt(DType t, int64_t value, void *element);
/// Converts one element as defined by `hlir.cast`.
void castElement(DType from, const void *source, DType to, void *target);

/// Remainders as in C's fmod and %; the integer remainder by 0 is 0.
inline int64_t remainderOf(int64_t a, int64_t b) {
  return b == 0 || b == -1 ? 0 : a % b;
}

} // namespace luminal

#endif // LUMINAL_SUPPORT_SCALAR_H
