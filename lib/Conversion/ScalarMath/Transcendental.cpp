//===- Transcendental.cpp - exp, log, sin, ... by range reduction ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The coefficients are Remez polynomials that utils/dev/math_coefficients.py
// prints with the error each reaches. A function of an f32 argument is computed
// in f64 to about 2^-38 and rounded once, so that its error is 0.5 ulp except
// for a few near-ties. TranscendentalF32.cpp has those that are worth f32
// arithmetic.
//
//===----------------------------------------------------------------------===//

#include "Lanes.h"

using namespace luminal;
using namespace mlir;

//===----------------------------------------------------------------------===//
// In f64, for f32 arguments
//===----------------------------------------------------------------------===//

namespace {
constexpr double kLn2Hi = 0x1.62e42fefa39efp-1;
constexpr double kLn2Lo = 0x1.abc9e3b39803fp-56;
constexpr double kLog2E = 1.4426950408889634;
constexpr double kInf = std::numeric_limits<double>::infinity();

/// The methods on f64 values; arguments that come from f32 are assumed where a
/// range is.
struct Wide {
  Lanes &m;

  std::pair<Value, Value> round(Value x) {
    constexpr double kMagic = 6755399441055744.0; // 1.5 * 2^52
    Value shifted = m.add(x, m.num(x, kMagic));
    Value bits = m.bitcast(shifted, m.b.getI64Type());
    return {m.sub(shifted, m.num(x, kMagic)),
            m.subi(bits, m.integer(bits, 0x4338000000000000))};
  }
  /// 2^n for an i64 n in [-1022, 1023].
  Value power(Value n) {
    return m.bitcast(m.shl(m.addi(n, m.integer(n, 1023)), 52),
                     m.b.getF64Type());
  }

  /// exp(r) - 1 for |r| <= ln(2)/2, with a small relative error also near zero.
  Value expm1Small(Value r) {
    Value q = m.poly(r, {0.4999999999995474, 0.1666666666663375,
                         0.04166666678698946, 0.008333333363415024,
                         0.0013888838910462284, 0.0001984119260041141,
                         2.486800313165091e-05, 2.7632792511203914e-06});
    return m.fma(m.mul(r, r), q, r);
  }
  struct Reduced {
    Value small, scale, isWhole;
  };
  /// exp(x) = (1 + small) * scale; isWhole: x was its own remainder. x limited
  /// to where an f64 holds the result.
  Reduced reduceExp(Value x) {
    auto [nf, n] = round(m.mul(x, m.num(x, kLog2E)));
    Value r = m.fma(nf, m.num(x, -kLn2Hi), x);
    r = m.fma(nf, m.num(x, -kLn2Lo), r);
    return {expm1Small(r), power(n), m.eq(nf, m.num(x, 0.0))};
  }
  /// exp(x); infinite above 700, 0 below -700 (an f32 result overflows or
  /// vanishes long before).
  Value exp(Value x) {
    Reduced e = reduceExp(m.clamp(x, -700.0, 700.0));
    Value y = m.fma(e.scale, e.small, e.scale);
    y = m.select(m.lt(m.num(x, 700.0), x), m.num(x, kInf), y);
    return m.select(m.lt(x, m.num(x, -700.0)), m.num(x, 0.0), y);
  }
  Value expm1(Value x) {
    Reduced e = reduceExp(m.clamp(x, -700.0, 700.0));
    Value y = m.fma(e.scale, e.small, m.sub(e.scale, m.num(x, 1.0)));
    y = m.select(e.isWhole, e.small, y);
    y = m.select(m.lt(m.num(x, 700.0), x), m.num(x, kInf), y);
    return m.select(m.eq(x, m.num(x, 0.0)), x, y); // keeps -0
  }
  Value exp2(Value x) {
    Value c = m.clamp(x, -1000.0, 1000.0);
    auto [nf, n] = round(c);
    Value r = m.mul(m.sub(c, nf), m.num(x, 0.6931471805599453));
    Value s = power(n);
    Value y = m.fma(s, expm1Small(r), s);
    y = m.select(m.lt(m.num(x, 1000.0), x), m.num(x, kInf), y);
    return m.select(m.lt(x, m.num(x, -1000.0)), m.num(x, 0.0), y);
  }

  /// x = 2^e * (1+s)/(1-s) with the mantissa in [sqrt(1/2), sqrt(2)); returns
  /// {e, log of the mantissa}. `lessOne` is x - 1, where it is known more
  /// precisely than from x.
  std::pair<Value, Value> splitLog(Value x, Value lessOne = {}) {
    Type f64 = m.b.getF64Type();
    Value bits = m.bitcast(x, m.b.getI64Type());
    // Adding 1 - sqrt(1/2) in units of the exponent moves mantissas above
    // sqrt(2) to the next binade.
    constexpr int64_t kOffset = 0x3FF0000000000000 - 0x3FE6A09E667F3BCD;
    Value moved = m.addi(bits, m.integer(bits, kOffset));
    Value e = m.subi(m.shrs(moved, 52), m.integer(bits, 1023));
    Value mantissa = m.bitcast(m.subi(bits, m.shl(e, 52)), f64);
    Value one = m.num(x, 1.0);
    Value distance = m.sub(mantissa, one);
    if (lessOne)
      distance = m.select(m.cmp(arith::CmpIPredicate::eq, e, m.integer(e, 0)),
                          lessOne, distance);
    Value s = m.div(distance, m.add(mantissa, one));
    Value t = m.mul(s, s);
    Value g = m.poly(t, {0.33333333337923354, 0.19999997802305872,
                         0.14286055574221632, 0.11088049566107719,
                         0.09792763658454463});
    Value twoS = m.add(s, s);
    return {m.sitofp(e, f64), m.fma(m.mul(twoS, t), g, twoS)};
  }
  /// The values that splitLog does not handle: zero, negatives, infinity, NaN.
  Value fixLog(Value x, Value y) {
    Value zero = m.num(x, 0.0);
    y = m.select(m.eq(x, zero), m.num(x, -kInf), y);
    y = m.select(m.lt(x, zero),
                 m.num(x, std::numeric_limits<double>::quiet_NaN()), y);
    // +inf and NaN are their own logarithms.
    return m.select(m.cmp(arith::CmpFPredicate::ULT, x, m.num(x, kInf)),
                    m.select(m.isNan(x), x, y), x);
  }
  Value log(Value x) {
    auto [e, l] = splitLog(x);
    return fixLog(x, m.fma(e, m.num(x, kLn2Hi), l));
  }
  Value log2(Value x) {
    auto [e, l] = splitLog(x);
    return fixLog(x, m.fma(l, m.num(x, kLog2E), e));
  }
  Value log1p(Value x) {
    // 1 + x loses the low bits of a small x, which is its distance from 1.
    Value sum = m.add(x, m.num(x, 1.0));
    auto [e, l] = splitLog(sum, x);
    Value y = fixLog(sum, m.fma(e, m.num(x, kLn2Hi), l));
    return m.select(m.eq(x, m.num(x, 0.0)), x, y); // keeps -0
  }

  /// tanh a for a in [0, 10]. With 2 a = n ln 2 + 2 w and C = w coth w, which
  /// is even, exp(2 a) = 2^n (C + w) / (C - w), so that one quotient is left:
  ///   tanh a = (A (C + w) + w) / (A (C + w) + C),  A = (2^n - 1) / 2.
  Value tanh(Value a) {
    // Its low bits are those of an exponent: of 2^(n - 1).
    constexpr double kMagic = 6755399441055744.0 + 1022; // 1.5 * 2^52 + 1022
    Value magic = m.num(a, kMagic);
    Value shifted = m.fma(a, m.num(a, 2 * kLog2E), magic);
    Value w = m.fma(m.sub(shifted, magic), m.num(a, -0.5 * kLn2Hi), a);
    Value c = m.poly(m.mul(w, w), {1.0, 0.33333333228258716,
                                   -0.02222201010789967, 0.002104222113690788});
    Value bits = m.bitcast(shifted, m.b.getI64Type());
    Value scale = m.bitcast(m.shl(bits, 52), m.b.getF64Type());
    Value factor = m.sub(scale, m.num(a, 0.5)), sum = m.add(c, w);
    return m.div(m.fma(factor, sum, w), m.fma(factor, sum, c));
  }
  /// erf(x) for |x| <= 1.
  Value smallErf(Value x) {
    Value p =
        m.poly(m.mul(x, x),
               {1.1283791670945855, -0.37612638888503325, 0.11283791285370881,
                -0.026866131409743886, 0.005223776410605583,
                -0.000854248906235934, 0.00011954820322129509,
                -1.3898711596517683e-05, 1.0563008954131692e-06});
    return m.mul(x, p);
  }
  /// exp(z^2) erfc(z) for z >= 0.5, accurate up to 10.5 (beyond, exp(-z^2) of
  /// an f32's z rounds to 0).
  Value erfcx(Value z) {
    z = m.clamp(z, 0.5, 10.5);
    Value three = m.num(z, 3.0);
    Value u = m.div(m.sub(z, three), m.add(z, three));
    Value p = m.poly(u, {1.2530080582700833, -0.13562110611150532,
                         -0.04756229444234379, 0.12964515760867032,
                         -0.11927365994532045, 0.06830805419714447,
                         -0.023770562804294963, 0.002529099602888667,
                         0.0018889777180796364, -0.0007782114767350661,
                         -0.0001058935539977845, 0.0001204077798444857,
                         5.392434825789096e-06, -1.3542213510386571e-05});
    return m.div(p, m.fma(z, m.num(z, 2.0), m.num(z, 1.0)));
  }
  /// x/2 (1 + erf(x / sqrt 2)), with a small relative error also where 1 + erf
  /// cancels.
  Value gelu(Value x) {
    Value y = m.mul(x, m.num(x, 0.70710678118654752)), z = m.abs(y),
          one = m.num(x, 1.0);
    Value tail = m.mul(exp(m.neg(m.mul(z, z))), erfcx(z)); // erfc |y|
    Value zero = m.num(x, 0.0);
    Value sum = m.select(m.lt(y, zero), tail, m.sub(m.num(x, 2.0), tail));
    sum = m.select(m.lt(z, m.num(x, 0.5)), m.add(one, smallErf(y)), sum);
    return m.mul(m.mul(x, m.num(x, 0.5)), m.select(m.isNan(x), x, sum));
  }
  /// 1 + exp(-x).
  Value onePlusExpNeg(Value x) { return m.add(m.num(x, 1.0), exp(m.neg(x))); }
  Value sigmoid(Value x) { return m.div(m.num(x, 1.0), onePlusExpNeg(x)); }
  Value silu(Value x) { return m.div(x, onePlusExpNeg(x)); }
  Value geluTanh(Value x) {
    // 1/2 (1 + tanh u) = 1 / (1 + exp(-2u)), u = sqrt(2/pi) (x + 0.044715 x^3).
    Value u =
        m.mul(x, m.fma(m.mul(x, x), m.num(x, 0.044715 * 2 * 0.7978845608028654),
                       m.num(x, 2 * 0.7978845608028654)));
    return m.div(x, onePlusExpNeg(u));
  }
  Value pow(Value x, Value y) {
    Value one = m.num(x, 1.0), zero = m.num(x, 0.0), ax = m.abs(x);
    Value r = exp2(m.mul(y, log2(ax)));
    auto whole = [&](Value v) {
      return m.eq(v, math::FloorOp::create(m.b, v));
    };
    Value wholeY = whole(y);
    Value oddY = m.both(wholeY, m.no(whole(m.mul(y, m.num(y, 0.5)))));
    Value finiteX = m.lt(ax, m.num(x, kInf));
    Value nan = m.num(x, std::numeric_limits<double>::quiet_NaN());
    r = m.select(m.both(m.both(m.lt(x, zero), finiteX), m.no(wholeY)), nan, r);
    // An infinite y is an integer, so a negative x is fine there; |x| = 1 gives
    // 1.
    Value infiniteY = m.eq(m.abs(y), m.num(y, kInf));
    r = m.select(m.both(infiniteY, m.eq(ax, one)), one, r);
    r = m.select(oddY, m.copySign(r, x), r);
    return m.select(m.either(m.eq(y, zero), m.eq(x, one)), one, r);
  }
};
} // namespace

/// `code` of f32 operands.
template <typename Code, typename... Values>
static Value throughF64(Lanes &m, Code code, Values... values) {
  Wide w{m};
  Type f32 = m.b.getF32Type(), f64 = m.b.getF64Type();
  return m.truncf(std::invoke(code, w, m.extf(values, f64)...), f32);
}

Value luminal::emitExpm1ThroughF64(Lanes &m, Value x) {
  return throughF64(m, &Wide::expm1, x);
}
Value luminal::emitLogThroughF64(Lanes &m, Value x) {
  return throughF64(m, &Wide::log, x);
}
Value luminal::emitLog2ThroughF64(Lanes &m, Value x) {
  return throughF64(m, &Wide::log2, x);
}
Value luminal::emitLog1pThroughF64(Lanes &m, Value x) {
  return throughF64(m, &Wide::log1p, x);
}
Value luminal::emitTanhThroughF64(Lanes &m, Value x) {
  // From 10 on it rounds to 1. NaN stays.
  Value ten = m.num(x, 10.0), a = m.abs(x);
  a = m.select(m.lt(ten, a), ten, a);
  return m.copySign(throughF64(m, &Wide::tanh, a), x);
}
Value luminal::emitSigmoidThroughF64(Lanes &m, Value x, bool timesX) {
  return throughF64(m, timesX ? &Wide::silu : &Wide::sigmoid, x);
}
Value luminal::emitGeluThroughF64(Lanes &m, Value x) {
  return throughF64(m, &Wide::gelu, x);
}
Value luminal::emitGeluTanhThroughF64(Lanes &m, Value x) {
  return throughF64(m, &Wide::geluTanh, x);
}
Value luminal::emitPowThroughF64(Lanes &m, Value x, Value y) {
  return throughF64(m, &Wide::pow, x, y);
}

//===----------------------------------------------------------------------===//
// In f64, by the math dialect
//===----------------------------------------------------------------------===//

/// x / (1 + exp(-u)). The exponential is of -|u|, so it does not overflow where
/// the result is a small number, and in two halves, so that it is not denormal
/// before it is multiplied.
static Value timesSigmoidF64(Lanes &m, Value x, Value u) {
  Value half = m.mul(m.abs(u), m.num(u, -0.5));
  Value h = math::ExpOp::create(m.b, m.b.getLoc(), half);
  Value small = m.mul(m.mul(x, h), h);
  Value numerator = m.select(m.lt(u, m.num(u, 0.0)), small, x);
  return m.div(numerator, m.fma(h, h, m.num(u, 1.0)));
}

Value luminal::emitGeluArgument(Lanes &m, Value x) {
  Value cubic = m.fma(m.mul(x, x), m.num(x, 0.044715), m.num(x, 1.0));
  return m.mul(m.mul(x, cubic), m.num(x, 2 * 0.7978845608028654));
}

Value luminal::emitSigmoidByMath(Lanes &m, Value x, bool timesX) {
  return timesSigmoidF64(m, timesX ? x : m.num(x, 1.0), x);
}

Value luminal::emitGeluByMath(Lanes &m, Value x) {
  // x/2 erfc(-x / sqrt 2): no cancellation.
  Value y = m.mul(x, m.num(x, -0.70710678118654752));
  return m.mul(m.mul(x, m.num(x, 0.5)), math::ErfcOp::create(m.b, y));
}

Value luminal::emitGeluTanhByMath(Lanes &m, Value x) {
  return timesSigmoidF64(m, x, emitGeluArgument(m, x));
}
