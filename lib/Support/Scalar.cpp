//===- Scalar.cpp - Encoding and conversion of elements -------------------===//

#include "luminal/Support/Scalar.h"
#include <cstring>

using namespace luminal;

uint32_t luminal::encodeSmallFloat(FloatFormat format, double value) {
  int m = static_cast<int>(format.mantissaBits);
  uint32_t sign = std::signbit(value)
                      ? 1u << (format.exponentBits + format.mantissaBits)
                      : 0;
  uint32_t allExponent = ((1u << format.exponentBits) - 1) << m;
  uint32_t nan = format.ieee ? allExponent | (1u << (m - 1))
                             : allExponent | ((1u << m) - 1);
  uint32_t overflow = format.ieee ? allExponent : nan;
  if (std::isnan(value))
    return sign | nan;
  double magnitude = std::fabs(value);
  if (std::isinf(magnitude))
    return sign | overflow;
  if (magnitude == 0)
    return sign;
  // In units of the last place (that of the least normal number and below, for
  // denormals), nearbyint rounds to nearest even, and scaling is exact.
  int bias = (1 << (format.exponentBits - 1)) - 1;
  int exponent = std::max(std::ilogb(magnitude), 1 - bias);
  auto units = static_cast<uint64_t>(
      std::nearbyint(std::ldexp(magnitude, m - exponent)));
  // A carry out of the mantissa raises the exponent by itself.
  uint64_t bits = (static_cast<uint64_t>(exponent - (1 - bias)) << m) + units;
  return sign | (bits >= overflow ? overflow : static_cast<uint32_t>(bits));
}

double luminal::decodeSmallFloat(FloatFormat format, uint32_t bits) {
  int m = static_cast<int>(format.mantissaBits);
  uint32_t mantissa = bits & ((1u << m) - 1);
  uint32_t exponent = (bits >> m) & ((1u << format.exponentBits) - 1);
  bool negative = bits >> (format.exponentBits + format.mantissaBits) & 1;
  int bias = (1 << (format.exponentBits - 1)) - 1;
  double magnitude;
  if (exponent == (1u << format.exponentBits) - 1 &&
      (format.ieee || mantissa == (1u << m) - 1))
    magnitude = mantissa ? std::numeric_limits<double>::quiet_NaN()
                         : std::numeric_limits<double>::infinity();
  else if (exponent == 0)
    magnitude = std::ldexp(mantissa, 1 - bias - m);
  else
    magnitude =
        std::ldexp(mantissa + (1u << m), static_cast<int>(exponent) - bias - m);
  return negative ? -magnitude : magnitude;
}

double luminal::roundToOdd(int64_t value) {
  auto rounded = static_cast<double>(value);
  // 2^63 is no int64_t; what rounds to it lies below.
  bool top = rounded >= 0x1p63;
  if (!top && static_cast<int64_t>(rounded) == value)
    return rounded;
  auto bits = std::bit_cast<uint64_t>(rounded);
  if (bits & 1)
    return rounded;
  bool above = top || static_cast<int64_t>(rounded) > value;
  // One step toward the value: the neighbour's last bit is odd.
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
    return store(static_cast<uint32_t>(value), element);
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
    // f64 is the only float that does not round a second time.
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
    return store(saturatingTruncate<int8_t>(value), target);
  case DType::U8:
    return store(saturatingTruncate<uint8_t>(value), target);
  case DType::I1:
    // NaN differs from zero.
    return store(static_cast<uint8_t>(value != 0), target);
  default:
    return storeFloat(to, value, target);
  }
}
