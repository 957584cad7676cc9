//===- Chance.cpp - Rounding up or down by chance ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested in test/unit/Reference/RoundingTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "Elements.h"

#include <cmath>

using namespace luminal;
using namespace luminal::reference;

static thread_local Chance *current = nullptr;

Chance *Chance::get() { return current; }

// xorshift requires a state other than zero.
Chance::Chance(uint64_t seed) : before(current), state(2 * seed + 1) {
  current = this;
}

Chance::~Chance() { current = before; }

/// xorshift64*.
static bool flip(uint64_t &state) {
  state ^= state >> 12;
  state ^= state << 25;
  state ^= state >> 27;
  return (state * 0x2545F4914F6CDD1D) >> 63;
}

bool Chance::takesOther(double nearest, double value) {
  return nearest != value && std::isfinite(nearest) && std::isfinite(value) &&
         flip(state);
}

float Chance::round(float nearest, double value) {
  if (!takesOther(nearest, value))
    return nearest;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  return std::nextafter(nearest, value > nearest ? kInfinity : -kInfinity);
}

uint16_t Chance::round(uint16_t bits, double nearest, double value) {
  if (!takesOther(nearest, value))
    return bits;
  // The bits of a float, read as an integer, increase with its magnitude.
  return std::abs(value) > std::abs(nearest) ? bits + 1 : bits - 1;
}

double Chance::step(DType t, double value) {
  return t == DType::F64 ? value : round(static_cast<float>(value), value);
}

double Chance::add(DType t, double a, double b) {
  double sum = a + b;
  if (t != DType::F64)
    return step(t, sum);
  // The exact error of the sum (Knuth's TwoSum).
  double part = sum - a, error = (a - (sum - part)) + (b - part);
  if (error == 0 || !std::isfinite(error) || !flip(state))
    return sum;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  return std::nextafter(sum, error > 0 ? kInfinity : -kInfinity);
}
