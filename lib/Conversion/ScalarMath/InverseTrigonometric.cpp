//===- InverseTrigonometric.cpp - atan, asin and acos of f32 and f64 ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each is a base (0, pi/4, pi/2 or pi) and the series of a small argument. The
// rounding errors of that argument and of its sum with the base are terms of
// the small rest of the series, so that only the last sum rounds at the size of
// the result. The code is the same on a CPU and a GPU. The coefficients are
// Remez polynomials that utils/dev/math_coefficients.py prints.
//
//===----------------------------------------------------------------------===//

#include "Lanes.h"

using namespace luminal;
using namespace mlir;

namespace {
/// What differs between the types.
struct Constants {
  /// pi/2 as a sum of two.
  double halfPi, halfPiLow;
  /// From here on the arc tangent is pi/2, rounded.
  double huge;
  /// q of f(t) = t (1 + t^2 q(t^2)), for the arc tangent and the arc sine.
  ArrayRef<double> tangent, sine;
};
} // namespace

static constexpr double kTangentF32[] = {
    -0.3333331550529435, 0.19998489435930783, -0.14243848691724015,
    0.10596000871848327, -0.060834505687817675};
static constexpr double kSineF32[] = {
    0.16666659872070674,  0.07500510906079423,  0.04451572264144542,
    0.031817590764517976, 0.014402687705961337, 0.03756508262048145};
static constexpr double kTangentF64[] = {
    -0.333333333333332,   0.19999999999954082,  -0.1428571428024828,
    0.11111110786122329,  -0.09090897835930374, 0.07692061627000411,
    -0.06663120261454776, 0.05848007983313917,  -0.05039841155054801,
    0.03807820704681465,  -0.017922151521276655};
static constexpr double kSineF64[] = {
    0.16666666666666763,  0.07499999999970257,  0.04464285717512476,
    0.030381942683478717, 0.02237221566323634,  0.017351600050942887,
    0.013980961844210714, 0.011397773330962207, 0.0107865417335837,
    0.003683000082545164, 0.021763590397409344, -0.021077409994950294,
    0.032676957930028096};
static const Constants kF32{0x1.921fb6p+0, -0x1.777a5cf72cecep-25, 0x1p30,
                            kTangentF32, kSineF32};
static const Constants kF64{0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54, 0x1p60,
                            kTangentF64, kSineF64};

/// base + factor (t + t^3 q(t^2) + low). The base is 0 or above |factor t|.
static Value addSeries(Lanes &m, Value base, Value lowBase, Value factor,
                       Value t, Value square, Value low, ArrayRef<double> q) {
  Value rest = m.fma(m.mul(t, square), m.poly(square, q), low);
  Value term = m.mul(factor, t), high = m.add(base, term);
  Value lost = m.sub(term, m.sub(high, base));
  return m.add(high, m.fma(factor, rest, m.add(lowBase, lost)));
}

/// With |x| as the tangent of b + c, b = 0, pi/4 or pi/2: the tangent of c is
/// one quotient, of at most tan(pi/8).
static Value emitAtan(Lanes &m, Value x, const Constants &k) {
  Value a = m.abs(x), zero = m.num(x, 0.0), one = m.num(x, 1.0);
  Value huge = m.num(x, k.huge);
  a = m.select(m.lt(huge, a), huge, a); // NaN stays
  Value beyond = m.lt(m.num(x, 0.4142135623730950), a);
  Value far = m.lt(m.num(x, 2.414213562373095), a);
  auto choose = [&](Value ofZero, Value ofQuarter, Value ofHalf) {
    return m.select(far, ofHalf, m.select(beyond, ofQuarter, ofZero));
  };
  // t is a, (a - 1) / (a + 1) or -1 / a; the difference and the sum with their
  // errors.
  Value difference = m.sub(a, one), sum = m.add(a, one);
  Value numerator = choose(a, difference, m.num(x, -1.0));
  Value denominator = choose(one, sum, a);
  Value lowNumerator = choose(zero, m.sub(a, m.add(difference, one)), zero);
  Value lowDenominator = choose(zero, m.sub(a, m.sub(sum, one)), zero);
  Value inverse = m.div(one, denominator), t = m.mul(numerator, inverse);
  Value minus = m.neg(t);
  Value rest = m.add(m.fma(minus, denominator, numerator), lowNumerator);
  rest = m.mul(m.fma(minus, lowDenominator, rest), inverse);
  Value square = m.mul(t, t);
  rest = m.fma(m.neg(square), rest, rest); // its angle
  Value base = choose(zero, m.num(x, k.halfPi / 2), m.num(x, k.halfPi));
  Value lowBase =
      choose(zero, m.num(x, k.halfPiLow / 2), m.num(x, k.halfPiLow));
  return m.copySign(
      addSeries(m, base, lowBase, one, t, square, rest, k.tangent), x);
}

/// Up to 1/2 the series; beyond, acos a = 2 asin(sqrt((1 - a) / 2)).
static Value emitAsin(Lanes &m, Value x, bool cosine, const Constants &k) {
  Value a = m.abs(x), zero = m.num(x, 0.0), one = m.num(x, 1.0);
  Value outer = m.lt(m.num(x, 0.5), a);
  Value square = m.select(outer, m.mul(m.sub(one, a), m.num(x, 0.5)), // exact
                          m.mul(a, a));
  Value root = math::SqrtOp::create(m.b, square);
  Value t = m.select(outer, root, a);
  // The error of the root, which is 0 for 1.
  Value twice = m.select(m.lt(a, one), m.add(root, root), one);
  Value low = m.div(m.fma(m.neg(root), root, square), twice);
  low = m.select(outer, low, zero);
  auto choose = [&](double inside, double beyond) {
    return m.select(outer, m.num(x, beyond), m.num(x, inside));
  };
  auto add = [&](Value bases, Value lowBases, Value factor) {
    return addSeries(m, bases, lowBases, factor, t, square, low, k.sine);
  };
  if (!cosine)
    return m.copySign(
        add(choose(0, k.halfPi), choose(0, k.halfPiLow), choose(1, -2)), x);
  Value negative = m.lt(x, zero);
  auto bySign = [&](Value ofNegative, Value otherwise) {
    return m.select(negative, ofNegative, otherwise);
  };
  return add(
      bySign(choose(k.halfPi, 2 * k.halfPi), choose(k.halfPi, 0)),
      bySign(choose(k.halfPiLow, 2 * k.halfPiLow), choose(k.halfPiLow, 0)),
      bySign(choose(1, -2), choose(-1, 2)));
}

/// In f64, rounded once, because the error of f32 would be greater than
/// PyTorch's. Above 1, pi/2 less the angle of the reciprocal.
Value luminal::emitAtanF32(Lanes &m, Value x) {
  Type f32 = m.b.getF32Type(), f64 = m.b.getF64Type();
  Value a = m.abs(x), one = m.num(x, 1.0), isLarge = m.lt(one, a);
  Value t = m.div(m.extf(m.select(isLarge, one, a), f64),
                  m.extf(m.select(isLarge, a, one), f64));
  Value p = m.mul(
      t,
      m.poly(m.mul(t, t),
             {0.999999999990644, -0.33333333005216514, 0.1999998083443542,
              -0.14285271390816076, 0.11105741333227682, -0.09051618307132882,
              0.07503955604811115, -0.06042619319586376, 0.04396701954866481,
              -0.02633837830131538, 0.011646458137430196,
              -0.0032782424773033668, 0.0004329490094518221}));
  Value y = m.select(isLarge, m.sub(m.num(p, kF64.halfPi), p), p);
  return m.copySign(m.truncf(y, f32), x);
}
Value luminal::emitAtanNarrow(Lanes &m, Value x) {
  return emitAtan(m, x, kF32);
}
Value luminal::emitAtanF64(Lanes &m, Value x) { return emitAtan(m, x, kF64); }
Value luminal::emitAsinF32(Lanes &m, Value x, bool cosine) {
  return emitAsin(m, x, cosine, kF32);
}
Value luminal::emitAsinF64(Lanes &m, Value x, bool cosine) {
  return emitAsin(m, x, cosine, kF64);
}
