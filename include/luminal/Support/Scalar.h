//===- Scalar.h - Elements of every dtype as C++ values -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The value of one element, and the rounding when it is stored.
// Nothing here includes LLVM.
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

/// The layout of a small binary float. `ieee`: the greatest exponent means
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

/// Rounded to nearest even, once. Overflow gives infinity, or the largest value
/// where there is none. A NaN becomes the quiet NaN of its sign.
uint32_t encodeSmallFloat(FloatFormat format, double value);
/// Exact.
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

/// Toward zero, to the nearest value of the type; NaN gives 0.
template <typename Int>
Int saturatingTruncate(double value) {
  if (std::isnan(value))
    return 0;
  // 2^digits is the least double above the range.
  double limit = std::ldexp(1.0, std::numeric_limits<Int>::digits);
  if (value >= limit)
    return std::numeric_limits<Int>::max();
  if (value <= (std::is_signed_v<Int> ? -limit : 0.0))
    return std::numeric_limits<Int>::min();
  return static_cast<Int>(value);
}

/// Toward zero in 64 bits, and of those the lowest; what 64 bits do not hold,
/// and NaN, gives 0.
template <typename Int>
Int wrappingTruncate(double value) {
  bool isInside = value >= -0x1p63 && value < 0x1p63;
  return isInside ? static_cast<Int>(static_cast<int64_t>(value)) : Int(0);
}

/// An integer as a double, rounded to odd where it is not exact: a second
/// rounding to a narrower type then equals a single rounding.
double roundToOdd(int64_t value);

/// An element of a float dtype as a double (exact), and back (rounded once).
double loadFloat(DType t, const void *element);
void storeFloat(DType t, double value, void *element);
/// An element of an integer dtype (i1 is 0 or 1), and back (wraps; i1 stores
/// whether it is odd).
int64_t loadInt(DType t, const void *element);
void storeInt(DType t, int64_t value, void *element);
/// One element converted, as `hlir.cast` defines it.
void castElement(DType from, const void *source, DType to, void *target);

/// C's fmod and %, the remainder by 0 being 0.
inline int64_t remainderOf(int64_t a, int64_t b) {
  return b == 0 || b == -1 ? 0 : a % b;
}

} // namespace luminal

#endif // LUMINAL_SUPPORT_SCALAR_H
