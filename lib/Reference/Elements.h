//===- Elements.h - Arrays of one element type, read and written ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Accessors by element type: load(p, i) and store(value, p, i) of element i of
// an array of any alignment. A loop is written once and instantiated for each
// accessor, so that types are not dispatched per element.
//
// While a Chance exists, stores round at random.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_LIB_REFERENCE_ELEMENTS_H
#define LUMINAL_LIB_REFERENCE_ELEMENTS_H

#include "luminal/Support/Scalar.h"
#include <cstring>

namespace luminal::reference {

/// While an object of this class exists, this thread rounds values that are not
/// exact up or down, each with probability 1/2 (Options::roundingSeed).
class Chance {
public:
  explicit Chance(uint64_t seed);
  ~Chance();
  Chance(const Chance &) = delete;
  Chance &operator=(const Chance &) = delete;
  /// Null if values are rounded to nearest.
  static Chance *get();

  /// With probability 1/2 `nearest`, to which `value` was rounded; otherwise
  /// its neighbour on the other side of `value`.
  float round(float nearest, double value);
  /// The same for the bits of a narrow float, which decode to `nearest`.
  uint16_t round(uint16_t bits, double nearest, double value);
  /// `add` returns the sum of two partial sums over elements of type `t`, and
  /// `step` an intermediate value of such a sum, both rounded at random.
  double add(DType t, double a, double b);
  double step(DType t, double value);

private:
  bool takesOther(double nearest, double value);
  Chance *before;
  uint64_t state;
};

/// Arithmetic for sums over elements of a type and for functions of its rows:
/// in double, with intermediate results rounded only if rounding is random.
class Sums {
public:
  explicit Sums(DType t) : t(t), chance(Chance::get()) {}
  double add(double a, double b) const {
    return chance ? chance->add(t, a, b) : a + b;
  }
  double step(double value) const {
    return chance ? chance->step(t, value) : value;
  }

private:
  DType t;
  Chance *chance;
};

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

// Floats are loaded as double and rounded once when stored. f32 and f64 are
// loaded exactly by conversion, narrower types through a table.
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

// The same with random rounding.
struct ChanceHalf : Half {
  static void store(double value, char *p, int64_t i) {
    uint16_t bits = doubleToF16(value);
    double nearest = decodeSmallFloat(kF16Format, bits);
    Plain<uint16_t>::store(Chance::get()->round(bits, nearest, value), p, i);
  }
};
struct ChanceBrainFloat : BrainFloat {
  static void store(double value, char *p, int64_t i) {
    uint16_t bits = doubleToBF16(value);
    Plain<uint16_t>::store(Chance::get()->round(bits, bf16ToFloat(bits), value),
                           p, i);
  }
};
struct ChanceSingle : Single {
  static void store(double value, char *p, int64_t i) {
    Plain<float>::store(Chance::get()->round(static_cast<float>(value), value),
                        p, i);
  }
};

// Integers are loaded as 64 bits; storing wraps.
template <typename T>
struct PlainInt {
  static int64_t load(const char *p, int64_t i) {
    return Plain<T>::template load<int64_t>(p, i);
  }
  static void store(int64_t value, char *p, int64_t i) {
    Plain<T>::store(value, p, i);
  }
};
/// 0 or 1; storing keeps the lowest bit.
struct Bool {
  static int64_t load(const char *p, int64_t i) { return p[i] != 0; }
  static void store(int64_t value, char *p, int64_t i) {
    p[i] = static_cast<char>(value & 1);
  }
};

/// Calls fn with the accessor of a float dtype. Types for storage only have no
/// accessor: the result is then default-constructed.
template <typename Fn>
auto forFloat(DType t, Fn fn) -> decltype(fn(Single())) {
  bool byChance = Chance::get();
  switch (t) {
  case DType::F32:
    return byChance ? fn(ChanceSingle()) : fn(Single());
  case DType::F64:
    return fn(Double());
  case DType::F16:
    return byChance ? fn(ChanceHalf()) : fn(Half());
  case DType::BF16:
    return byChance ? fn(ChanceBrainFloat()) : fn(BrainFloat());
  default:
    return {};
  }
}

/// storeFloat with random rounding if a Chance exists.
inline void store(DType t, double value, char *to) {
  bool isDone = Chance::get() && forFloat(t, [&](auto access) {
                  decltype(access)::store(value, to, 0);
                  return true;
                });
  if (!isDone)
    storeFloat(t, value, to);
}

/// Calls fn with the accessor of an integer dtype, like forFloat.
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
  case DType::I16:
    return fn(PlainInt<int16_t>());
  case DType::U16:
    return fn(PlainInt<uint16_t>());
  case DType::U32:
    return fn(PlainInt<uint32_t>());
  case DType::I1:
    return fn(Bool());
  default:
    return {};
  }
}

} // namespace luminal::reference

#endif // LUMINAL_LIB_REFERENCE_ELEMENTS_H
