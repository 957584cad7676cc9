//===- TranscendentalF32.cpp - exp, sin, erf, ... in f32 arithmetic -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The hot functions of f32 arguments, on f32 lanes: where only one rounding may
// count, the errors of the others are carried in a second f32. Lanes outside
// the range of the short code are rare and are handled behind a branch, taken
// where any lane of the vector needs it; only these lanes take its result, so
// that an element does not depend on its neighbours. The coefficients are Remez
// polynomials that utils/dev/math_coefficients.py prints.
// utils/testing/check_scalar_math.py measures the error of every function over
// all inputs.
//
//===----------------------------------------------------------------------===//

#include "Lanes.h"

using namespace luminal;
using namespace mlir;

static constexpr double kInf = std::numeric_limits<double>::infinity();

//===----------------------------------------------------------------------===//
// exp and exp2
//===----------------------------------------------------------------------===//

namespace {
/// A float rounded to the nearest integer: as a float, and as an i32 that holds
/// the integer in its low bits (above them, bits that `addExponent` drops).
struct Rounded {
  Value value, bits;
};
} // namespace

/// a * b + offset rounded, for results below 2^22; NaN gives NaN.
static Rounded roundProduct(Lanes &m, Value a, double b) {
  Value magic = m.num(a, 0x1.8p23);
  Value shifted = m.fma(a, m.num(a, b), magic);
  return {m.sub(shifted, magic), m.bitcast(shifted, m.b.getI32Type())};
}

/// p * 2^n for p near 1 where the result is a normal number.
static Value addExponent(Lanes &m, Value p, Value bits) {
  Type i32 = m.b.getI32Type();
  return m.bitcast(m.addi(m.bitcast(p, i32), m.shl(bits, 23)),
                   m.b.getF32Type());
}

/// p * 2^n for an f64 p near 1 and |n| < 1000, rounded to f32.
static Value scaleWide(Lanes &m, Value p, Value bits) {
  Type f64 = m.b.getF64Type(), i64 = m.b.getI64Type();
  Value n = m.exts(m.shrs(m.shl(bits, 16), 16), i64);
  Value power = m.bitcast(m.shl(m.addi(n, m.integer(n, 1023)), 52), f64);
  return m.truncf(m.mul(p, power), m.b.getF32Type());
}

namespace {
/// x = n ln 2 + high + low; 1 + high = sum + error, except for the part of low
/// that `error` includes.
struct ReducedExp {
  Rounded n;
  Value high, low, sum, error;
};
} // namespace

/// `more`, if given, is added to x.
static ReducedExp reduceExp(Lanes &m, Value x, Value more = {}) {
  ReducedExp e;
  e.n = roundProduct(m, x, 0x1.715476p+0);
  // ln 2 in two parts, the first so short that n times it is exact.
  e.high = m.fma(e.n.value, m.num(x, -0x1.62e4p-1), x);
  Value second = m.num(x, -0x1.7f7d1cp-20);
  e.low =
      more ? m.fma(e.n.value, second, more) : Value(m.mul(e.n.value, second));
  Value one = m.num(x, 1.0);
  e.sum = m.add(one, e.high);
  e.error = m.add(m.sub(e.high, m.sub(e.sum, one)), e.low);
  return e;
}

/// exp(x + more) below 0.7 ulp, for |x| < 87.33; of NaN, anything.
static Value emitShortExp(Lanes &m, Value x, Value more = {}) {
  ReducedExp e = reduceExp(m, x, more);
  Value r = m.add(e.high, e.low);
  Value q =
      m.poly(r, {0.5000000100820298, 0.1666651289175726, 0.04166618759079125,
                 0.00836959798055634, 0.0013951702910080823});
  Value p = m.add(m.fma(m.mul(r, r), q, e.error), e.sum);
  return addExponent(m, p, e.n.bits);
}

/// y = exp(x) where the result is a normal number, and the right one elsewhere:
/// there it is (sum + tail) 2^n for x = n ln 2 + ...
static Value emitExpRange(Lanes &m, Value x, Value y, Value sum, Value tail,
                          Value n) {
  return emitRare(m, notBelow(m, m.abs(x), 87.33), y, [&]() -> Value {
    // Results are finite up to the first x whose exp is infinite.
    Value z = m.select(m.lt(m.num(x, 0x1.62e42ep+6), x), m.num(x, kInf), y);
    Value vanishes = m.cmp(arith::CmpFPredicate::OLE, x, m.num(x, -104.0));
    z = m.select(vanishes, m.num(x, 0.0), z);
    z = m.select(m.isNan(x), x, z);
    // A denormal result would be rounded twice: its sum is taken in f64.
    Value denormal =
        m.both(m.lt(x, m.num(x, -87.32)), m.lt(m.num(x, -104.0), x));
    return emitRare(m, denormal, z, [&]() -> Value {
      Type f64 = m.b.getF64Type();
      return scaleWide(m, m.add(m.extf(sum, f64), m.extf(tail, f64)), n);
    });
  });
}

Value luminal::emitExpF32(Lanes &m, Value x) {
  ReducedExp e = reduceExp(m, x);
  Value r = m.add(e.high, e.low);
  Value q =
      m.poly(r, {0.1666666675718551, 0.041666464175030116, 0.008333285775459378,
                 0.0013933732493581856, 0.00019907738262435985});
  // r^2 / 2 = high^2 / 2 + low (high + r) / 2: the first product is exact in
  // the last fma.
  Value halfLow = m.mul(e.n.value, m.num(x, -0x1.7f7d1cp-21));
  Value cross = m.fma(halfLow, m.add(e.high, r), e.error);
  Value small = m.fma(m.mul(m.mul(r, r), r), q, cross);
  Value tail = m.fma(m.mul(e.high, m.num(x, 0.5)), e.high, small);
  Value y = addExponent(m, m.add(e.sum, tail), e.n.bits);
  return emitExpRange(m, x, y, e.sum, tail, e.n.bits);
}

/// p * 2^n for p near 1 and |n| < 250: by two powers, so that overflow and
/// denormals are right but for one rounding more.
static Value scaleTwice(Lanes &m, Value p, Value bits) {
  Value whole = m.shrs(m.shl(bits, 16), 16), half = m.shrs(whole, 1);
  auto power = [&](Value k) {
    return m.bitcast(m.shl(m.addi(k, m.integer(k, 127)), 23), m.b.getF32Type());
  };
  return m.mul(m.mul(p, power(half)), power(m.subi(whole, half)));
}

/// The p and the bits of n of exp(x + more) = p 2^n, to 1.05 ulp.
static std::pair<Value, Value> emitExpPart(Lanes &m, Value x, Value more = {}) {
  Rounded n = roundProduct(m, x, 0x1.715476p+0);
  Value r = m.fma(n.value, m.num(x, -0x1.62e4p-1), x);
  Value second = m.num(x, -0x1.7f7d1cp-20);
  r = more ? m.add(r, m.fma(n.value, second, more)) : m.fma(n.value, second, r);
  Value q =
      m.poly(r, {0.5000000100820298, 0.1666651289175726, 0.04166618759079125,
                 0.00836959798055634, 0.0013951702910080823});
  return {m.add(m.num(x, 1.0), m.fma(m.mul(r, r), q, r)), n.bits};
}

/// Two roundings more than emitExpF32, and half of its operations. The same
/// bits with and without a branch: threads of a GPU have none, since their
/// exponentials would then wait for each other.
Value luminal::emitExpFastF32(Lanes &m, Value x) {
  auto getAnywhere = [&] {
    // NaN stays NaN.
    Value inside = arith::MaximumFOp::create(m.b, x, m.num(x, -105.0));
    inside = arith::MinimumFOp::create(m.b, inside, m.num(x, 90.0));
    auto [p, bits] = emitExpPart(m, inside);
    // What rounds to zero is zero before: x86 takes long for products that
    // underflow, and a mask makes many terms zero.
    if (isa<VectorType>(x.getType()))
      p = m.select(m.lt(inside, m.num(x, -104.0)), m.num(x, 0.0), p);
    return scaleTwice(m, p, bits);
  };
  if (!isa<VectorType>(x.getType()))
    return getAnywhere();
  auto [p, bits] = emitExpPart(m, x);
  return emitRare(m, notBelow(m, m.abs(x), 87.33), addExponent(m, p, bits),
                  getAnywhere);
}

Value luminal::emitExp2F32(Lanes &m, Value x) {
  Value c = m.clamp(x, -152.0, 130.0);
  Rounded n = roundProduct(m, c, 1.0);
  Value r = m.sub(c, n.value); // exact
  Value p =
      m.poly(r, {0.6931471805537031, 0.24022650922335756, 0.05550410928774774,
                 0.009618056671480916, 0.0013333454556369003,
                 0.0001546144680520073, 1.5310075488686056e-05});
  p = m.fma(r, p, m.num(x, 1.0));
  // Outside the range of normal results, 2^n is split into two factors, so that
  // overflow and denormals are right.
  return emitRare(m, notBelow(m, m.abs(x), 126.0), addExponent(m, p, n.bits),
                  [&] { return scaleTwice(m, p, n.bits); });
}

//===----------------------------------------------------------------------===//
// sin and cos
//===----------------------------------------------------------------------===//

namespace {
/// An angle mod pi/2, in [-pi/4, pi/4], as the sum of two f32; the quadrant is
/// in the low two bits of an i32.
struct Angle {
  Value high, low, quadrant;
};
} // namespace

/// For 0 <= x < 2^17, by three parts of pi/2.
static Angle reduceAngle(Lanes &m, Value x) {
  constexpr double kSecond = 0x1.777a5cp-25;
  Rounded n = roundProduct(m, x, 0x1.45f306p-1);
  // Exact: a multiple of 2^-24 below 1.
  Value first = m.fma(n.value, m.num(x, -0x1.921fb6p+0), x);
  Value second = m.mul(n.value, m.num(x, kSecond));
  Value lost = m.fma(n.value, m.num(x, kSecond), m.neg(second));
  Value high = m.add(first, second);
  Value error = m.sub(second, m.sub(high, first));
  Value low = m.add(m.fma(n.value, m.num(x, 0x1.ee59dap-50), lost), error);
  return {high, low, n.bits};
}

/// For 2^17 <= x, from its bits: the 24-bit significand times the window of
/// 2/pi that its exponent selects (Payne and Hanek), in 32-bit digits.
static Angle reduceHugeAngle(Lanes &m, Value x) {
  Type i32 = m.b.getI32Type(), i64 = m.b.getI64Type(), f32 = m.b.getF32Type(),
       f64 = m.b.getF64Type();
  // Digits of 2/pi, the first before the point, most significant first.
  constexpr uint32_t kTwoOverPi[8] = {0x00000000, 0xa2f9836e, 0x4e441529,
                                      0xfc2757d1, 0xf534ddc0, 0xdb629599,
                                      0x3c439041, 0xfe5163ab};
  Value bits = m.extu(m.bitcast(x, i32), i64);
  // x = significand * 2^exponent. Bits of 2/pi above position exponent - 2
  // contribute whole turns; the window begins there, so that significand *
  // window has the turn as its unit.
  Value significand = m.addi(m.andi(bits, 0x7FFFFF), m.integer(bits, 0x800000));
  Value shift = m.subi(m.shru(bits, 23), m.integer(bits, 152 - 32));
  Value word = m.shru(shift, 5), bit = m.andi(shift, 31);
  auto digit = [&](int at) {
    Value v = m.integer(bits, kTwoOverPi[at]);
    for (int w = 1; w <= 4; ++w)
      v = m.select(m.cmp(arith::CmpIPredicate::eq, word, m.integer(word, w)),
                   m.integer(bits, at + w < 8 ? kTwoOverPi[at + w] : 0), v);
    return v;
  };
  Value window[3];
  for (int i = 0; i < 3; ++i) {
    Value two = arith::OrIOp::create(m.b, m.shl(digit(i), 32), digit(i + 1));
    window[i] =
        m.andi(arith::ShRUIOp::create(m.b, arith::ShLIOp::create(m.b, two, bit),
                                      m.integer(bits, 32)),
               0xFFFFFFFF);
  }
  // significand * window, in units of 2^-96 turns; whole turns overflow away,
  // and 64 bits of the fraction stay.
  Value p2 = m.muli(significand, window[2]);
  Value p1 = m.addi(m.muli(significand, window[1]), m.shru(p2, 32));
  Value p0 = m.addi(m.muli(significand, window[0]), m.shru(p1, 32));
  Value turn = arith::OrIOp::create(m.b, m.shl(p0, 32), m.andi(p1, 0xFFFFFFFF));
  // Two bits of quadrant, the rest a signed 0.64 fraction of one: half or more
  // belongs to the next quadrant.
  Value fixed = m.shl(turn, 2);
  Value fraction = m.sitofp(fixed, f64);
  Value r = m.mul(fraction, m.num(fraction, 0x1.921fb54442d18p+0 * 0x1p-64));
  Value n = m.addi(m.shru(turn, 62), m.shru(fixed, 63));
  Value high = m.truncf(r, f32);
  // Infinity minus infinity is NaN, and NaN stays.
  Value finite = m.lt(x, m.num(x, kInf));
  return {m.select(finite, high, m.sub(x, x)),
          m.truncf(m.sub(r, m.extf(high, f64)), f32), m.trunci(n, i32)};
}

Value luminal::emitSinCosF32(Lanes &m, Value x, bool cosine) {
  Type f32 = m.b.getF32Type(), i32 = m.b.getI32Type();
  Value ax = m.abs(x);
  Angle angle = reduceAngle(m, ax);
  SmallVector<Value> reduced =
      emitRare(m, notBelow(m, ax, 0x1p17),
               ValueRange{angle.high, angle.low, angle.quadrant}, [&] {
                 Angle huge = reduceHugeAngle(m, ax);
                 return SmallVector<Value>{huge.high, huge.low, huge.quadrant};
               });
  Value r = reduced[0], low = reduced[1], n = reduced[2];
  if (cosine)
    n = m.addi(n, m.integer(n, 1));
  // Odd quadrants take the cosine, 1 - t/2 + t (t q), others the sine,
  // r - r t/8 + r (t q), t = r^2. Lanes of both kinds share one evaluation.
  Value odd = m.cmp(arith::CmpIPredicate::ne, m.andi(n, 1), m.integer(n, 0));
  auto choose = [&](double c, double s) {
    return m.select(odd, m.num(x, c), m.num(x, s));
  };
  Value t = m.mul(r, r), lowT = m.fma(r, r, m.neg(t));
  Value q = choose(2.4434836890199237e-05, -0.00019514077662759923);
  q = m.fma(q, t, choose(-0.0013887337002478732, 0.00833215500029412));
  q = m.fma(q, t, choose(0.041666646266988246, -0.16666654589178478 + 0.125));
  Value lead = m.select(odd, m.num(x, 1.0), r);
  // The second term, with its error, and the sum of the first two, with its.
  Value factor = m.select(odd, m.num(x, -0.5), m.mul(r, m.num(x, -0.125)));
  Value second = m.mul(factor, t);
  Value error = m.fma(factor, lowT, m.fma(factor, t, m.neg(second)));
  Value sum = m.add(lead, second);
  error = m.add(m.add(m.sub(lead, sum), second), error);
  // The contribution of `low`: its product with the derivative.
  Value derivative =
      m.select(odd, m.neg(r), m.fma(t, m.num(x, -0.5), m.num(x, 1.0)));
  error = m.fma(low, derivative, error);
  Value tail = m.fma(m.select(odd, t, r), m.mul(t, q), error);
  Value bits = m.bitcast(m.add(sum, tail), i32);
  Value sign = m.shl(n, 30);
  if (!cosine)
    sign = arith::XOrIOp::create(m.b, sign, m.bitcast(x, i32));
  sign = m.andi(sign, 0x80000000);
  return m.bitcast(arith::XOrIOp::create(m.b, bits, sign), f32);
}

//===----------------------------------------------------------------------===//
// sigmoid, silu, erf, gelu
//===----------------------------------------------------------------------===//

Value luminal::emitSigmoidF32(Lanes &m, Value x, bool timesX) {
  // e = exp(-|x|): 1 / (1 + e), or e / (1 + e) for negative x.
  Value ax = m.abs(x), one = m.num(x, 1.0);
  Value e = emitShortExp(m, m.neg(ax));
  Value numerator = m.select(m.lt(x, m.num(x, 0.0)), e, one);
  if (timesX)
    numerator = m.mul(x, numerator);
  Value sum = m.add(one, e), excess = m.sub(m.sub(sum, one), e);
  Value quotient = m.div(numerator, sum);
  // The sum's error matters where e is small, so that 1 / sum is near 1.
  Value y = m.fma(quotient, excess, quotient);
  return emitRare(m, notBelow(m, ax, 87.33), y,
                  [&] { return emitSigmoidThroughF64(m, x, timesX); });
}

Value luminal::emitErfF32(Lanes &m, Value x) {
  Value ax = m.abs(x), one = m.num(x, 1.0);
  // 1 - exp(q(|x|)) from 1 on; from 4 on it rounds to 1.
  Value u = m.sub(m.clamp(ax, 1.0, 4.0), one);
  Value q =
      m.poly(u, {-2.638967136078764, -0.8431124106662174, -0.04153789886246157,
                 0.009992946525729735, -0.0019591699635970756,
                 0.0002656525730036428, -1.771905055722797e-05});
  constexpr double kFirst = -1.8496055139822611;
  Value first = m.num(x, kFirst);
  Value high = m.fma(q, u, first);
  Value low = m.add(m.fma(q, u, m.sub(first, high)),
                    m.num(x, kFirst - double(float(kFirst))));
  Value far = m.copySign(m.sub(one, emitShortExp(m, high, low)), x);
  far = m.select(m.isNan(x), x, far);
  // x p(x^2) below 1, in f64 to 2^-29.
  Value wide = m.extf(x, m.b.getF64Type());
  Value p =
      m.poly(m.mul(wide, wide),
             {1.1283791657264903, -0.37612625823320894, 0.1128358514216407,
              -0.026853811732169153, 0.005188327358011091,
              -0.0008010190998951586, 7.853853128515676e-05});
  Value near = m.truncf(m.mul(wide, p), m.b.getF32Type());
  return m.select(m.lt(ax, one), near, far);
}

Value luminal::emitGeluF32(Lanes &m, Value x) {
  // x/2 erfc(-x / sqrt 2) with erfc(z) = exp(-z^2) erfcx(z), z = |x| / sqrt 2.
  Value half = m.mul(x, m.num(x, 0.5)), limit = m.num(x, 12.9);
  Value a = m.abs(x);
  a = m.select(m.lt(limit, a), limit, a);
  // Of -a^2 / 2, whose size its error is multiplied with, the rounded bits too.
  Value minusHalf = m.mul(a, m.num(x, -0.5)), exponent = m.mul(minusHalf, a);
  auto [power, n] =
      emitExpPart(m, exponent, m.fma(minusHalf, a, m.neg(exponent)));
  Value e = addExponent(m, power, n);
  // erfcx(z) = t p(u), t = 1 / (z + 2), u = 2 z t - 1, of which little is lost
  // near zero, where erfcx is 1, and where z is great.
  Value t = m.div(m.num(x, 1.0),
                  m.fma(a, m.num(x, 0.70710678118654752), m.num(x, 2.0)));
  Value u = m.fma(m.mul(a, t), m.num(x, 1.4142135623730951), m.num(x, -1.0));
  Value p =
      m.poly(u, {1.0215827405925944, -0.6871609900517988, 0.27946975716962286,
                 -0.0364347642840255, -0.021484397136297437,
                 0.006434671723539954, 0.002979548791109647,
                 -0.0007501692239434277, -0.00045898459799528427});
  Value tail = m.mul(e, m.mul(t, p));
  Value y = m.mul(
      half, m.select(m.lt(x, m.num(x, 0.0)), tail, m.sub(m.num(x, 2.0), tail)));
  return emitRare(m, notBelow(m, m.neg(x), 12.9), y,
                  [&] { return emitGeluThroughF64(m, x); });
}
