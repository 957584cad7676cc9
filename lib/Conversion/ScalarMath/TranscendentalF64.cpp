//===- TranscendentalF64.cpp - exp, log, sin, ... of f64 on lanes ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The C library has these for one element, so a vector of them would be calls,
// lane by lane. Here they are code on lanes, within 1 ulp (tanh 2.5): the first
// term of each series is kept exact, with its error in a second f64, and only
// the last sum rounds at the size of the result. What few arguments need stands
// behind a branch, as in TranscendentalF32.cpp; huge angles are the C library's
// there. The coefficients are Remez polynomials that
// utils/dev/math_coefficients.py prints.
//
//===----------------------------------------------------------------------===//

#include "Lanes.h"

using namespace luminal;
using namespace mlir;

static constexpr double kInf = std::numeric_limits<double>::infinity();
static constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
static constexpr double kLn2 = 0x1.62e42fefa39efp-1;
static constexpr double kLn2Low = 0x1.abc9e3b39803fp-56;
static constexpr double kLog2E = 0x1.71547652b82fep+0;
static constexpr double kLog2ELow = 0x1.777d0ffda0d24p-56;

//===----------------------------------------------------------------------===//
// exp, exp2, expm1, tanh, sigmoid, silu
//===----------------------------------------------------------------------===//

namespace {
/// An f64 rounded to the nearest integer: as an f64, and as an i64 that holds
/// the integer in its low 51 bits.
struct Rounded {
  Value value, bits;
};
} // namespace

/// a * b rounded, for results below 2^51.
static Rounded roundProduct(Lanes &m, Value a, double b) {
  Value magic = m.num(a, 0x1.8p52);
  Value shifted = m.fma(a, m.num(a, b), magic);
  return {m.sub(shifted, magic), m.bitcast(shifted, m.b.getI64Type())};
}

/// 2^n for an n in [-1022, 1023] in the low bits.
static Value power(Lanes &m, Value bits) {
  return m.bitcast(m.shl(m.addi(bits, m.integer(bits, 1023)), 52),
                   m.b.getF64Type());
}

/// p * 2^n for p near 1 where the result is a normal number.
static Value addExponent(Lanes &m, Value p, Value bits) {
  Type i64 = m.b.getI64Type();
  return m.bitcast(m.addi(m.bitcast(p, i64), m.shl(bits, 52)),
                   m.b.getF64Type());
}

/// p * 2^n for p near 1 and |n| < 1100: by two powers, so that overflow and
/// denormals are right but for one rounding more.
static Value scaleTwice(Lanes &m, Value p, Value bits) {
  Value whole = m.shrs(m.shl(bits, 48), 48), half = m.shrs(whole, 1);
  return m.mul(m.mul(p, power(m, half)), power(m, m.subi(whole, half)));
}

namespace {
/// exp(x) = 1 + high + tail for |x| <= ln(2) / 2 or little more; x is high, but
/// for its rounding.
struct SmallExp {
  Value high, tail;
};
} // namespace

/// Of high + low, where |low| is at most 2^-44.
static SmallExp smallExp(Lanes &m, Value high, Value low) {
  Value r = m.add(high, low), lost = m.sub(low, m.sub(r, high));
  Value q = m.poly(r, {0.5, 0.16666666666666677, 0.0416666666666667,
                       0.008333333333321617, 0.0013888888888866995,
                       0.0001984126988615774, 2.4801587360287556e-05,
                       2.755724418264105e-06, 2.755724296084497e-07,
                       2.51090446387457e-08, 2.0924388299391305e-09});
  return {r, m.fma(m.mul(r, r), q, m.fma(lost, r, lost))};
}

/// Of an x = n ln 2 + high + low; high is exact.
static SmallExp reduceExp(Lanes &m, Value x, Value n) {
  return smallExp(m, m.fma(n, m.num(x, -kLn2), x),
                  m.mul(n, m.num(x, -kLn2Low)));
}

/// 1 + e.high + e.tail.
static Value onePlus(Lanes &m, const SmallExp &e) {
  Value one = m.num(e.high, 1.0), sum = m.add(one, e.high);
  Value error = m.sub(e.high, m.sub(sum, one));
  return m.add(sum, m.add(error, e.tail));
}

/// p * 2^n, where x is outside `normal` infinite from `infinite` on, and 0 up
/// to `zero`.
static Value scaleExp(Lanes &m, Value x, Value p, Value bits, double normal,
                      double infinite, double zero) {
  return emitRare(
      m, notBelow(m, m.abs(x), normal), addExponent(m, p, bits), [&] {
        Value y = scaleTwice(m, p, bits);
        y = m.select(m.lt(x, m.num(x, infinite)), y, m.num(x, kInf));
        y = m.select(m.lt(x, m.num(x, zero)), m.num(x, 0.0), y);
        return m.select(m.isNan(x), x, y);
      });
}

Value luminal::emitExpF64(Lanes &m, Value x) {
  Rounded n = roundProduct(m, x, kLog2E);
  Value p = onePlus(m, reduceExp(m, x, n.value));
  return scaleExp(m, x, p, n.bits, 708, 0x1.62e42fefa39fp+9, -746);
}

Value luminal::emitExp2F64(Lanes &m, Value x) {
  Rounded n = roundProduct(m, x, 1.0);
  Value r = m.sub(x, n.value); // exact
  Value high = m.mul(r, m.num(x, kLn2));
  Value low =
      m.fma(r, m.num(x, kLn2Low), m.fma(r, m.num(x, kLn2), m.neg(high)));
  return scaleExp(m, x, onePlus(m, smallExp(m, high, low)), n.bits, 1022, 1024,
                  -1076);
}

namespace {
/// exp(x) - 1 = value + lost for |x| < 708, and what it was computed from.
struct Expm1 {
  Rounded n;
  SmallExp small;
  Value value, lost;
};
} // namespace

static Expm1 expm1(Lanes &m, Value x) {
  Rounded n = roundProduct(m, x, kLog2E);
  SmallExp e = reduceExp(m, x, n.value);
  // (2^n - 1) + 2^n high, each sum with its error. The second term is never
  // the larger one but for n = 0, where the first one is 0.
  Value scale = power(m, n.bits), high = m.mul(scale, e.high);
  Value minusOne = m.num(x, -1.0), less = m.add(scale, minusOne);
  Value second = m.sub(less, scale);
  Value error =
      m.add(m.sub(scale, m.sub(less, second)), m.sub(minusOne, second));
  Value sum = m.add(less, high);
  error = m.add(error, m.sub(high, m.sub(sum, less)));
  Value rest = m.fma(scale, e.tail, error), value = m.add(sum, rest);
  return {n, e, value, m.sub(rest, m.sub(value, sum))};
}

Value luminal::emitExpm1F64(Lanes &m, Value x) {
  Expm1 e = expm1(m, x);
  Value y = emitRare(m, notBelow(m, m.abs(x), 708), e.value, [&] {
    Value large = scaleTwice(m, onePlus(m, e.small), e.n.bits);
    large =
        m.select(m.lt(x, m.num(x, 0x1.62e42fefa39fp+9)), large, m.num(x, kInf));
    large = m.select(m.lt(x, m.num(x, 0.0)), m.num(x, -1.0), large);
    return m.select(m.isNan(x), x, large);
  });
  return m.copySign(y, x); // keeps -0
}

Value luminal::emitTanhF64(Lanes &m, Value x) {
  // tanh a = t / (t + 2), t = exp(2 a) - 1; from 20 on it rounds to 1.
  Value a = m.clamp(m.abs(x), 0.0, 20.0), two = m.num(x, 2.0);
  Expm1 e = expm1(m, m.add(a, a));
  Value t = e.value, divisor = m.add(t, two);
  Value lost = m.sub(t, m.sub(divisor, two)); // of the divisor
  // The quotient, with what is left to divide: its own error and those of both
  // operands.
  Value inverse = m.div(m.num(x, 1.0), divisor), q = m.mul(t, inverse);
  Value left =
      m.add(m.fma(m.neg(q), divisor, t), m.fma(m.neg(q), lost, e.lost));
  return m.copySign(m.fma(left, inverse, q), x);
}

/// x / (1 + exp(-u)). The exponential is of -|u|, so it does not overflow where
/// the result is a small number, and its power of 2 comes last, so that it is
/// not denormal before it is multiplied.
static Value timesSigmoid(Lanes &m, Value x, Value u) {
  // From there on the result is 0.
  constexpr double kMost = 760;
  Value a = m.abs(u), one = m.num(x, 1.0), zero = m.num(x, 0.0);
  Value exponent = m.neg(m.clamp(a, 0.0, kMost));
  Rounded n = roundProduct(m, exponent, kLog2E);
  Value p = onePlus(m, reduceExp(m, exponent, n.value));
  p = m.select(m.lt(m.num(x, kMost), a), zero, p);
  Value numerator =
      m.select(m.lt(u, zero), scaleTwice(m, m.mul(x, p), n.bits), x);
  return m.div(numerator, m.add(one, scaleTwice(m, p, n.bits)));
}

Value luminal::emitSigmoidF64(Lanes &m, Value x, bool timesX) {
  return timesSigmoid(m, timesX ? x : m.num(x, 1.0), x);
}

Value luminal::emitGeluTanhF64(Lanes &m, Value x) {
  return timesSigmoid(m, x, emitGeluArgument(m, x));
}

//===----------------------------------------------------------------------===//
// log, log2, log1p
//===----------------------------------------------------------------------===//

namespace {
/// x = 2^exponent * (1 + fraction), the latter factor in [sqrt(1/2), sqrt(2)).
struct Split {
  Value exponent, fraction;
};
/// log(1 + fraction) = fraction - (half - rest), half = fraction^2 / 2.
struct SmallLog {
  Value fraction, half, quotient, rest;
};
} // namespace

/// Of a positive normal number.
static Split split(Lanes &m, Value x) {
  Value bits = m.bitcast(x, m.b.getI64Type());
  // Adding 1 - sqrt(1/2) in units of the exponent moves mantissas above
  // sqrt(2) to the next binade.
  constexpr int64_t kOffset = 0x3FF0000000000000 - 0x3FE6A09E667F3BCD;
  Value moved = m.addi(bits, m.integer(bits, kOffset));
  Value e = m.subi(m.shrs(moved, 52), m.integer(bits, 1023));
  Value mantissa = m.bitcast(m.subi(bits, m.shl(e, 52)), m.b.getF64Type());
  return {e, m.sub(mantissa, m.num(x, 1.0))};
}

static SmallLog smallLog(Lanes &m, Value f) {
  // log((1 + s) / (1 - s)) = 2 s + s r, 2 s = f - s f, s = f / (2 + f).
  Value s = m.div(f, m.add(f, m.num(f, 2.0))), t = m.mul(s, s);
  Value g = m.poly(t, {2 * 0.33333333333333676, 2 * 0.19999999999705562,
                       2 * 0.14285714371628275, 2 * 0.11111099238267803,
                       2 * 0.09091784856953686, 2 * 0.07656951934206932,
                       2 * 0.07398750853300176});
  Value half = m.mul(m.mul(f, m.num(f, 0.5)), f);
  return {f, half, s, m.fma(t, g, half)};
}

/// log(x) for a positive normal x; log(x + error) with `low` = error / x.
static Value logOfNormal(Lanes &m, const Split &x, Value low = {}) {
  SmallLog l = smallLog(m, x.fraction);
  Value e = m.sitofp(x.exponent, m.b.getF64Type());
  Value less = m.fma(m.neg(l.quotient), l.rest, l.half);
  less = m.fma(e, m.num(e, -kLn2Low), less);
  if (low)
    less = m.sub(less, low);
  return m.fma(e, m.num(e, kLn2), m.sub(l.fraction, less));
}

static Value log2OfNormal(Lanes &m, const Split &x) {
  SmallLog l = smallLog(m, x.fraction);
  Value e = m.sitofp(x.exponent, m.b.getF64Type());
  // log(1 + f) as high + low, times log2(e), which is two numbers as well.
  Value high = m.sub(l.fraction, l.half);
  Value low = m.fma(l.quotient, l.rest, m.sub(m.sub(l.fraction, high), l.half));
  Value factor = m.num(e, kLog2E), y = m.mul(high, factor);
  Value error = m.fma(high, factor, m.neg(y));
  error = m.fma(high, m.num(e, kLog2ELow), m.fma(low, factor, error));
  Value sum = m.add(e, y);
  return m.add(sum, m.add(m.sub(y, m.sub(sum, e)), error));
}

/// `ofNormal` of every x.
static Value
emitLogOf(Lanes &m, Value x,
          llvm::function_ref<Value(Lanes &, const Split &)> ofNormal) {
  // What is no positive normal number, by one comparison of its bits.
  constexpr int64_t kLeast = 0x0010000000000000, kInfinite = 0x7FF0000000000000;
  Value bits = m.bitcast(x, m.b.getI64Type());
  Value other =
      m.cmp(arith::CmpIPredicate::uge, m.subi(bits, m.integer(bits, kLeast)),
            m.integer(bits, kInfinite - kLeast));
  return emitRare(m, other, ofNormal(m, split(m, x)), [&] {
    Split s = split(m, m.mul(x, m.num(x, 0x1p54))); // of denormals
    s.exponent = m.subi(s.exponent, m.integer(s.exponent, 54));
    Value y = ofNormal(m, s), zero = m.num(x, 0.0);
    y = m.select(m.eq(x, zero), m.num(x, -kInf), y);
    y = m.select(m.lt(x, zero), m.num(x, kNan), y);
    // +inf and NaN are their own logarithms.
    return m.select(m.cmp(arith::CmpFPredicate::UEQ, x, m.num(x, kInf)), x, y);
  });
}

Value luminal::emitLogF64(Lanes &m, Value x) {
  return emitLogOf(m, x,
                   [](Lanes &m, const Split &s) { return logOfNormal(m, s); });
}

Value luminal::emitLog2F64(Lanes &m, Value x) {
  return emitLogOf(m, x, log2OfNormal);
}

Value luminal::emitLog1pF64(Lanes &m, Value x) {
  Value one = m.num(x, 1.0), sum = m.add(x, one);
  // The error of the sum, whichever of the two is larger.
  Value mostly = m.sub(sum, one);
  Value error = m.add(m.sub(one, m.sub(sum, mostly)), m.sub(x, mostly));
  Split s = split(m, sum);
  // Relative to the mantissa 1 + f; the series of 1 / (1 + f) errs by f^4.
  Value scaled =
      m.mul(error, power(m, m.subi(m.integer(s.exponent, 0), s.exponent)));
  Value low = m.mul(scaled, m.poly(s.fraction, {1.0, -1.0, 1.0, -1.0}));
  Value inside = m.both(m.lt(m.num(x, -1.0), x), m.lt(x, m.num(x, 0x1p1000)));
  Value y = emitRare(m, m.no(inside), logOfNormal(m, s, low), [&] {
    Value z = logOfNormal(m, s);
    z = m.select(m.eq(x, m.num(x, -1.0)), m.num(x, -kInf), z);
    z = m.select(m.lt(x, m.num(x, -1.0)), m.num(x, kNan), z);
    return m.select(m.cmp(arith::CmpFPredicate::UEQ, x, m.num(x, kInf)), x, z);
  });
  return m.copySign(y, x); // keeps -0
}

//===----------------------------------------------------------------------===//
// sin and cos
//===----------------------------------------------------------------------===//

Value luminal::emitSinCosF64(Lanes &m, Value x, bool cosine) {
  // The angle mod pi/2, by three parts of pi/2, as high + low.
  constexpr double kSecond = -0x1.1a62633145c07p-54;
  Rounded n = roundProduct(m, x, 0x1.45f306dc9c883p-1);
  // Exact: a multiple of 2^-53 below 1.
  Value first = m.fma(n.value, m.num(x, -0x1.921fb54442d18p+0), x);
  Value second = m.mul(n.value, m.num(x, kSecond));
  Value lost = m.fma(n.value, m.num(x, kSecond), m.neg(second));
  Value r = m.add(first, second);
  Value low = m.add(m.fma(n.value, m.num(x, 0x1.f1976b7ed8fbcp-110), lost),
                    m.sub(second, m.sub(r, first)));
  Value t = m.mul(r, r);
  // r + r t (q + ...) + low cos r
  Value q = m.poly(t, {-0.16666666666666632, 0.008333333333322424,
                       -0.00019841269829816308, 2.7557313694982293e-06,
                       -2.505075861221725e-08, 1.5896825403637652e-10});
  Value half = m.mul(t, m.num(x, 0.5)), one = m.num(x, 1.0);
  Value less = m.sub(one, half);
  Value sine = m.add(r, m.fma(m.mul(r, t), q, m.mul(low, less)));
  // 1 - t/2 + t^2 (p + ...) - low sin r; t has an error, too.
  Value p = m.poly(t, {0.0416666666666666, -0.0013888888888874138,
                       2.4801587289491163e-05, -2.755731435503799e-07,
                       2.0875723654999907e-09, -1.1359668254794262e-11});
  Value error = m.sub(m.sub(one, less), half);
  Value lostSquare = m.mul(m.fma(r, r, m.neg(t)), m.num(x, -0.5));
  error = m.add(error, m.fma(m.neg(low), r, lostSquare));
  Value cosined = m.add(less, m.fma(m.mul(t, t), p, error));
  Value quadrant = n.bits;
  if (cosine)
    quadrant = m.addi(quadrant, m.integer(quadrant, 1));
  Value odd = m.cmp(arith::CmpIPredicate::ne, m.andi(quadrant, 1),
                    m.integer(quadrant, 0));
  Type i64 = m.b.getI64Type();
  Value bits = m.bitcast(m.select(odd, cosined, sine), i64);
  Value sign = m.shl(m.shru(quadrant, 1), 63);
  Value y = m.bitcast(arith::XOrIOp::create(m.b, bits, sign), m.b.getF64Type());
  if (!cosine) // keeps -0
    y = m.select(m.eq(x, m.num(x, 0.0)), x, y);
  return emitRare(m, notBelow(m, m.abs(x), 0x1p30), y, [&]() -> Value {
    if (cosine)
      return math::CosOp::create(m.b, x);
    return math::SinOp::create(m.b, x);
  });
}
