//===- Elements.h - Arrays of one element type, read and written ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Accessors by element type: load(p, i) and store(value, p, i) of element i of
// an array of any alignment. A loop is written once and instantiated with the
// accessor of its type, so that types are not dispatched per element.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_LIB_REFERENCE_ELEMENTS_H
#define LUMINAL_LIB_REFERENCE_ELEMENTS_H

#include "luminal/Support/Scalar.h"
#include <cstring>

namespace luminal::reference {

template <typename T>
struct Plain {
  template <typename V>
  static V load(const char *p, int64_t i) {
    T value;
    std::memcpy(&value, p + static_cast<size_t>(i) * sizeof(T), sizeof(T));
    return static_cast<V>(value);
  }
  template <typename V>
  static void store(V value, char *p, int64_t i) {
    auto element = static_cast<T>(value);
    std::memcpy(p + static_cast<size_t>(i) * sizeof(T), &element, sizeof(T));
  }
};

// Floats as double: f64 and f32 exactly; writing rounds once. Narrower ones are
// read from a table.
struct Half {
  static double load(const char *p, int64_t i) {
    return decodeSmallFloat(kF16Format, Plain<uint16_t>::load<uint16_t>(p, i));
  }
  static void store(double value, char *p, int64_t i) {
    Plain<uint16_t>::store(doubleToF16(value), p, i);
  }
};
struct BrainFloat {
  static double load(const char *p, int64_t i) {
    return bf16ToFloat(Plain<uint16_t>::load<uint16_t>(p, i));
  }
  static void store(double value, char *p, int64_t i) {
    Plain<uint16_t>::store(doubleToBF16(value), p, i);
  }
};
template <typename T>
struct PlainFloat {
  static double load(const char *p, int64_t i) {
    return Plain<T>::template load<double>(p, i);
  }
  static void store(double value, char *p, int64_t i) {
    Plain<T>::store(value, p, i);
  }
};
using Single = PlainFloat<float>;
using Double = PlainFloat<double>;

// Integers as 64 bits; writing wraps.
template <typename T>
struct PlainInt {
  static int64_t load(const char *p, int64_t i) {
    return Plain<T>::template load<int64_t>(p, i);
  }
  static void store(int64_t value, char *p, int64_t i) {
    Plain<T>::store(value, p, i);
  }
};
/// 0 or 1; writing keeps the last bit.
struct Bool {
  static int64_t load(const char *p, int64_t i) { return p[i] != 0; }
  static void store(int64_t value, char *p, int64_t i) {
    p[i] = static_cast<char>(value & 1);
  }
};

/// fn(accessor of a float dtype). Storage types have none: the result is
/// empty.
template <typename Fn>
auto forFloat(DType t, Fn fn) -> decltype(fn(Single())) {
  switch (t) {
  case DType::F32:
    return fn(Single());
  case DType::F64:
    return fn(Double());
  case DType::F16:
    return fn(Half());
  case DType::BF16:
    return fn(BrainFloat());
  default:
    return {};
  }
}

/// fn(accessor of an integer dtype), likewise.
template <typename Fn>
auto forInt(DType t, Fn fn) -> decltype(fn(Bool())) {
  switch (t) {
  case DType::I64:
    return fn(PlainInt<int64_t>());
  case DType::I32:
    return fn(PlainInt<int32_t>());
  case DType::I8:
    return fn(PlainInt<int8_t>());
  case DType::U8:
    return fn(PlainInt<uint8_t>());
  case DType::I1:
    return fn(Bool());
  default:
    return {};
  }
}

} // namespace luminal::reference

#endif // LUMINAL_LIB_REFERENCE_ELEMENTS_H
