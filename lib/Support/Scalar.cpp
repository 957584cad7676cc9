//===- Scalar.cpp - Encoding and conversion of elements -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Support/Scalar.h"
#include <cstring>

using namespace luminal;

uint32_t luminal::encodeSmallFloat(FloatFormat format, double value) {
  unsigned m = format.mantissaBits;
  auto bits = std::bit_cast<uint64_t>(value);
  uint32_t sign = static_cast<uint32_t>(bits >> 63)
                  << (format.exponentBits + m);
  uint32_t allExponent = ((1u << format.exponentBits) - 1) << m;
  uint32_t nan = format.ieee ? allExponent | (1u << (m - 1))
                             : allExponent | ((1u << m) - 1);
  uint32_t overflow = format.ieee ? allExponent : nan - 1;
  uint64_t mantissa = bits & ((uint64_t(1) << 52) - 1);
  int exponent = static_cast<int>(bits >> 52 & 0x7ff);
  if (exponent == 0x7ff)
    return sign | (mantissa ? nan : overflow);
  // The smallest normal exponent of the format, in the bias of a double.
  // Subnormal doubles are far below half of the smallest number of any small
  // format.
  int least = 1024 - (1 << (format.exponentBits - 1)) + 1;
  if (exponent == 0)
    return sign;
  // Number of mantissa bits to drop; more for results that are subnormal.
  int shift = 52 - static_cast<int>(m) + std::max(0, least - exponent);
  if (shift > 54)
    return sign;
  uint64_t significand = mantissa | (uint64_t(1) << 52);
  uint64_t units = significand >> shift;
  uint64_t dropped = significand & ((uint64_t(1) << shift) - 1);
  uint64_t half = uint64_t(1) << (shift - 1);
  if (dropped > half || (dropped == half && (units & 1)))
    ++units;
  // Added, not or-ed: the leading bit of a normal number increments the
  // exponent field, which is one too low, and so does a carry from rounding.
  uint64_t result =
      units + (static_cast<uint64_t>(std::max(0, exponent - least)) << m);
  return sign | (result >= overflow ? overflow : static_cast<uint32_t>(result));
}

double luminal::decodeSmallFloat(FloatFormat format, uint32_t bits) {
  unsigned m = format.mantissaBits;
  uint32_t mantissa = bits & ((1u << m) - 1);
  uint32_t exponent = (bits >> m) & ((1u << format.exponentBits) - 1);
  bool negative = bits >> (format.exponentBits + m) & 1;
  int bias = (1 << (format.exponentBits - 1)) - 1;
  double magnitude;
  if (exponent == (1u << format.exponentBits) - 1 &&
      (format.ieee || mantissa == (1u << m) - 1))
    magnitude = mantissa ? std::numeric_limits<double>::quiet_NaN()
                         : std::numeric_limits<double>::infinity();
  else if (exponent == 0)
    magnitude = std::ldexp(mantissa, 1 - bias - static_cast<int>(m));
  else
    magnitude = std::bit_cast<double>(
        (static_cast<uint64_t>(static_cast<int>(exponent) - bias + 1023)
         << 52) |
        static_cast<uint64_t>(mantissa) << (52 - m));
  return negative ? -magnitude : magnitude;
}

double luminal::roundToOdd(int64_t value) {
  auto rounded = static_cast<double>(value);
  // 2^63 is not an int64_t; any value that rounds to it is smaller.
  bool top = rounded >= 0x1p63;
  if (!top && static_cast<int64_t>(rounded) == value)
    return rounded;
  auto bits = std::bit_cast<uint64_t>(rounded);
  if (bits & 1)
    return rounded;
  bool above = top || static_cast<int64_t>(rounded) > value;
  // Go one step toward the value: the last bit of that neighbor is odd.
  bool towardZero = above == (value > 0);
  return std::bit_cast<double>(towardZero ? bits - 1 : bits + 1);
}

template <typename T>
static T load(const void *element) {
  T value;
  std::memcpy(&value, element, sizeof(T));
  return value;
}
template <typename T>
static void store(T value, void *element) {
  std::memcpy(element, &value, sizeof(T));
}

double luminal::loadFloat(DType t, const void *element) {
  switch (t) {
  case DType::F32:
    return load<float>(element);
  case DType::F64:
    return load<double>(element);
  case DType::F16:
    return decodeSmallFloat(kF16Format, load<uint16_t>(element));
  case DType::BF16:
    return bf16ToFloat(load<uint16_t>(element));
  case DType::F8E4M3:
    return decodeSmallFloat(kF8E4M3Format, load<uint8_t>(element));
  case DType::F8E5M2:
    return decodeSmallFloat(kF8E5M2Format, load<uint8_t>(element));
  default:
    return static_cast<double>(loadInt(t, element));
  }
}

void luminal::storeFloat(DType t, double value, void *element) {
  switch (t) {
  case DType::F32:
    return store(static_cast<float>(value), element);
  case DType::F64:
    return store(value, element);
  case DType::F16:
    return store(doubleToF16(value), element);
  case DType::BF16:
    return store(doubleToBF16(value), element);
  case DType::F8E4M3:
    return store(static_cast<uint8_t>(encodeSmallFloat(kF8E4M3Format, value)),
                 element);
  case DType::F8E5M2:
    return store(static_cast<uint8_t>(encodeSmallFloat(kF8E5M2Format, value)),
                 element);
  default:
    return castElement(DType::F64, &value, t, element);
  }
}

int64_t luminal::loadInt(DType t, const void *element) {
  switch (t) {
  case DType::I64:
    return load<int64_t>(element);
  case DType::I32:
    return load<int32_t>(element);
  case DType::I8:
    return load<int8_t>(element);
  case DType::U8:
    return load<uint8_t>(element);
  case DType::I16:
    return load<int16_t>(element);
  case DType::U16:
    return load<uint16_t>(element);
  case DType::U32:
    return load<uint32_t>(element);
  case DType::I1:
    return load<uint8_t>(element) != 0;
  default:
    return saturatingTruncate<int64_t>(loadFloat(t, element));
  }
}

void luminal::storeInt(DType t, int64_t value, void *element) {
  switch (t) {
  case DType::I64:
    return store(value, element);
  case DType::I32:
  case DType::U32:
    return store(static_cast<uint32_t>(value), element);
  case DType::I16:
  case DType::U16:
    return store(static_cast<uint16_t>(value), element);
  case DType::I8:
  case DType::U8:
    return store(static_cast<uint8_t>(value), element);
  case DType::I1:
    return store(static_cast<uint8_t>(value & 1), element);
  default:
    return storeFloat(t, roundToOdd(value), element);
  }
}

void luminal::castElement(DType from, const void *source, DType to,
                          void *target) {
  if (!isFloatDType(from)) {
    int64_t value = loadInt(from, source);
    if (to == DType::I1)
      return store(static_cast<uint8_t>(value != 0), target);
    // All floats except f64 would round a second time.
    if (to == DType::F64)
      return store(static_cast<double>(value), target);
    return storeInt(to, value, target);
  }
  double value = loadFloat(from, source);
  switch (to) {
  case DType::I64:
    return store(saturatingTruncate<int64_t>(value), target);
  case DType::I32:
    return store(saturatingTruncate<int32_t>(value), target);
  case DType::I8:
  case DType::U8:
    return store(wrappingTruncate<uint8_t>(value), target);
  case DType::I16:
  case DType::U16:
    return store(wrappingTruncate<uint16_t>(value), target);
  case DType::U32:
    return store(wrappingTruncate<uint32_t>(value), target);
  case DType::I1:
    // NaN is not equal to zero.
    return store(static_cast<uint8_t>(value != 0), target);
  default:
    return storeFloat(to, value, target);
  }
}
