//===- Transcendental.cpp - exp, log, sin, ... by range reduction ---------===//
//
// The coefficients are Remez polynomials that utils/math-coefficients.py prints
// with the error each reaches. A function of an f32 argument is computed in f64
// to about 2^-38 and rounded once, so that its error is 0.5 ulp but for a few
// near-ties; exp and exp2, the hot ones, are computed in f32 (below 0.56 and
// 0.8 ulp).
//
//===----------------------------------------------------------------------===//

#include "Lanes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace luminal;
using namespace mlir;
using llir::Fn;

/// `then()` where the condition holds in any lane, else `otherwise`, by a
/// branch.
static Value emitRare(Lanes &m, Value condition, Value otherwise,
                      llvm::function_ref<Value()> then) {
  Value any = condition;
  if (isa<VectorType>(condition.getType()))
    any =
        vector::ReductionOp::create(m.b, vector::CombiningKind::OR, condition);
  auto branch = scf::IfOp::create(m.b, TypeRange{otherwise.getType()}, any,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(m.b);
  m.b.setInsertionPointToStart(branch.thenBlock());
  Value result = then();
  scf::YieldOp::create(m.b, ValueRange{result});
  m.b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(m.b, ValueRange{otherwise});
  return branch.getResult(0);
}

//===----------------------------------------------------------------------===//
// exp and exp2 in f32
//===----------------------------------------------------------------------===//

/// p * 2^n for an f32 p near 1 and an i32 n in [-252, 254]: two exact or
/// once-rounded products, so that overflow and denormal results come out right.
static Value scaleF32(Lanes &m, Value p, Value n) {
  Type f32 = m.b.getF32Type();
  Value half = m.shrs(n, 1);
  Value rest = m.subi(n, half);
  auto power = [&](Value k) {
    return m.bitcast(m.shl(m.addi(k, m.integer(k, 127)), 23), f32);
  };
  return m.mul(m.mul(p, power(half)), power(rest));
}

/// Rounds x (|x| < 2^22) to the nearest integer; returns it as a float and as
/// an i32. NaN gives NaN and any integer.
static std::pair<Value, Value> roundF32(Lanes &m, Value x) {
  constexpr double kMagic = 12582912.0; // 1.5 * 2^23
  Value shifted = m.add(x, m.num(x, kMagic));
  Value bits = m.bitcast(shifted, m.b.getI32Type());
  return {m.sub(shifted, m.num(x, kMagic)),
          m.subi(bits, m.integer(bits, 0x4B400000))};
}

/// x limited to [lo, hi]; NaN stays.
static Value clamp(Lanes &m, Value x, double lo, double hi) {
  Value l = m.num(x, lo), h = m.num(x, hi);
  x = m.select(m.lt(x, l), l, x);
  return m.select(m.lt(h, x), h, x);
}

Value luminal::emitExpF32(Lanes &m, Value x) {
  // Beyond these the result is 0 or an infinity whatever x is.
  x = clamp(m, x, -106.0, 90.0);
  auto [nf, n] = roundF32(m, m.mul(x, m.num(x, 0x1.715476p+0)));
  // ln 2 in two parts, the first so short that n times it is exact; r = high +
  // low.
  Value high = m.fma(nf, m.num(x, -0x1.62e4p-1), x);
  Value low = m.mul(nf, m.num(x, -0x1.7f7d1c0000000p-20));
  Value r = m.add(high, low);
  Value q =
      m.poly(r, {0.1666666675718551, 0.041666464175030116, 0.008333285775459378,
                 0.0013933732493581856, 0.00019907738262435985});
  // 1 + high, and high^2, each with its rounding error, which joins the small
  // terms: one rounding of weight remains.
  Value one = m.num(x, 1.0);
  Value sum = m.add(one, high);
  Value error = m.add(m.sub(high, m.sub(sum, one)), low);
  Value square = m.mul(high, high);
  Value squareError = m.fma(high, high, m.neg(square));
  // r^2 / 2 + ... = high^2 / 2 + (low + error + low (high + low / 2) +
  // squareError / 2 + r^3 q).
  Value half = m.num(x, 0.5);
  Value cross =
      m.fma(low, m.fma(low, half, high), m.fma(squareError, half, error));
  Value small = m.fma(m.mul(m.mul(r, r), r), q, cross);
  Value tail = m.fma(square, half, small);
  Value y = scaleF32(m, m.add(sum, tail), n);
  // A denormal result would be rounded twice: its sum is taken in f64. The rare
  // lanes branch.
  Value denormal = m.both(m.lt(x, m.num(x, -87.33)), m.lt(m.num(x, -104.0), x));
  return emitRare(m, denormal, y, [&]() -> Value {
    Type f64 = m.b.getF64Type(), i64 = m.b.getI64Type();
    Value wide = m.add(m.extf(sum, f64), m.extf(tail, f64));
    Value exponent = m.exts(n, i64);
    Value power =
        m.bitcast(m.shl(m.addi(exponent, m.integer(exponent, 1023)), 52), f64);
    return m.select(denormal, m.truncf(m.mul(wide, power), m.b.getF32Type()),
                    y);
  });
}

Value luminal::emitExp2F32(Lanes &m, Value x) {
  x = clamp(m, x, -152.0, 130.0);
  auto [nf, n] = roundF32(m, x);
  Value r = m.sub(x, nf); // exact
  Value p =
      m.poly(r, {0.6931471805537031, 0.24022650922335756, 0.05550410928774774,
                 0.009618056671480916, 0.0013333454556369003,
                 0.0001546144680520073, 1.5310075488686056e-05});
  return scaleF32(m, m.fma(r, p, m.num(x, 1.0)), n);
}

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
    Reduced e = reduceExp(clamp(m, x, -700.0, 700.0));
    Value y = m.fma(e.scale, e.small, e.scale);
    y = m.select(m.lt(m.num(x, 700.0), x), m.num(x, kInf), y);
    return m.select(m.lt(x, m.num(x, -700.0)), m.num(x, 0.0), y);
  }
  Value expm1(Value x) {
    Reduced e = reduceExp(clamp(m, x, -700.0, 700.0));
    Value y = m.fma(e.scale, e.small, m.sub(e.scale, m.num(x, 1.0)));
    y = m.select(e.isWhole, e.small, y);
    y = m.select(m.lt(m.num(x, 700.0), x), m.num(x, kInf), y);
    return m.select(m.eq(x, m.num(x, 0.0)), x, y); // keeps -0
  }
  Value exp2(Value x) {
    Value c = clamp(m, x, -1000.0, 1000.0);
    auto [nf, n] = round(c);
    Value r = m.mul(m.sub(c, nf), m.num(x, 0.6931471805599453));
    Value s = power(n);
    Value y = m.fma(s, expm1Small(r), s);
    y = m.select(m.lt(m.num(x, 1000.0), x), m.num(x, kInf), y);
    return m.select(m.lt(x, m.num(x, -1000.0)), m.num(x, 0.0), y);
  }

  /// x = 2^e * (1+s)/(1-s) with the mantissa in [sqrt(1/2), sqrt(2)); returns
  /// {e, log of the mantissa}.
  std::pair<Value, Value> splitLog(Value x) {
    Type f64 = m.b.getF64Type();
    Value bits = m.bitcast(x, m.b.getI64Type());
    // Adding 1 - sqrt(1/2) in units of the exponent moves mantissas above
    // sqrt(2) to the next binade.
    constexpr int64_t kOffset = 0x3FF0000000000000 - 0x3FE6A09E667F3BCD;
    Value moved = m.addi(bits, m.integer(bits, kOffset));
    Value e = m.subi(m.shrs(moved, 52), m.integer(bits, 1023));
    Value mantissa = m.bitcast(m.subi(bits, m.shl(e, 52)), f64);
    Value one = m.num(x, 1.0);
    Value s = m.div(m.sub(mantissa, one), m.add(mantissa, one));
    Value t = m.mul(s, s);
    Value g = m.poly(t, {0.33333333337923354, 0.19999997802305872,
                         0.14286055574221632, 0.11088049566107719,
                         0.09792763658454463});
    Value twoS = m.add(s, s);
    return {m.sitofp(e, f64), m.fma(m.mul(twoS, t), g, twoS)};
  }
  /// The values that splitLog does not know: zero, negatives, infinity, NaN.
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
    // 1 + x loses the low bits of a small x: there the series is exact enough.
    Value small = m.lt(m.abs(x), m.num(x, 0x1p-14));
    Value series = m.poly(x, {1.0, -0.5, 1.0 / 3.0, -0.25});
    return m.select(small, m.mul(x, series), log(m.add(x, m.num(x, 1.0))));
  }

  /// x mod pi/2 and the quadrant, for |x| < 2^27: three parts of pi/2, every
  /// product fused.
  std::pair<Value, Value> reduceAngle(Value x) {
    auto [nf, n] = round(m.mul(x, m.num(x, 0.6366197723675814)));
    Value r = m.fma(nf, m.num(x, -0x1.921fb54442d18p+0), x);
    r = m.fma(nf, m.num(x, -0x1.1a62633145c07p-54), r);
    r = m.fma(nf, m.num(x, 0x1.f1976b7ed8fbcp-110), r);
    return {r, n};
  }
  /// The same for every finite f32 of magnitude 2^27 and above, from its bits:
  /// the 24-bit significand times the window of 2/pi that its exponent selects
  /// (Payne and Hanek), in 32-bit digits.
  std::pair<Value, Value> reduceHugeAngle(Value xf32) {
    Type i64 = m.b.getI64Type(), f64 = m.b.getF64Type();
    // Digits of 2/pi after the point, most significant first.
    constexpr uint32_t kTwoOverPi[7] = {0xa2f9836e, 0x4e441529, 0xfc2757d1,
                                        0xf534ddc0, 0xdb629599, 0x3c439041,
                                        0xfe5163ab};
    Value bits = m.extu(m.bitcast(xf32, m.b.getI32Type()), i64);
    // x = significand * 2^exponent, exponent in [4, 104] here. Bits of 2/pi
    // above position exponent - 2 contribute whole turns; the window begins
    // there, so that significand * window has the turn as its unit.
    Value significand =
        m.addi(m.andi(bits, 0x7FFFFF), m.integer(bits, 0x800000));
    Value shift = m.subi(m.andi(m.shru(bits, 23), 0xFF), m.integer(bits, 152));
    shift =
        m.select(m.cmp(arith::CmpIPredicate::slt, shift, m.integer(shift, 0)),
                 m.integer(shift, 0), shift);
    Value word = m.shru(shift, 5), bit = m.andi(shift, 31);
    auto digit = [&](int at) {
      Value v = m.integer(bits, kTwoOverPi[std::min(at, 6)]);
      for (int w = 1; w <= 3; ++w)
        v = m.select(m.cmp(arith::CmpIPredicate::eq, word, m.integer(word, w)),
                     m.integer(bits, at + w < 7 ? kTwoOverPi[at + w] : 0), v);
      return v;
    };
    Value window[3];
    for (int i = 0; i < 3; ++i) {
      Value two = arith::OrIOp::create(m.b, m.shl(digit(i), 32), digit(i + 1));
      window[i] = m.andi(
          arith::ShRUIOp::create(m.b, arith::ShLIOp::create(m.b, two, bit),
                                 m.integer(bits, 32)),
          0xFFFFFFFF);
    }
    // significand * window, in units of 2^-96 turns; whole turns overflow away,
    // and 64 bits of the fraction stay.
    Value p2 = m.muli(significand, window[2]);
    Value p1 = m.addi(m.muli(significand, window[1]), m.shru(p2, 32));
    Value p0 = m.addi(m.muli(significand, window[0]), m.shru(p1, 32));
    Value turn =
        arith::OrIOp::create(m.b, m.shl(p0, 32), m.andi(p1, 0xFFFFFFFF));
    // Two bits of quadrant, the rest a signed 0.64 fraction of one: half or
    // more counts to the next quadrant.
    Value fixed = m.shl(turn, 2);
    Value r =
        m.mul(m.sitofp(fixed, f64),
              m.num(m.sitofp(fixed, f64), 0x1.921fb54442d18p+0 * 0x1p-64));
    Value n = m.addi(m.shru(turn, 62), m.shru(fixed, 63));
    Value negative =
        m.cmp(arith::CmpIPredicate::ne, m.shru(bits, 31), m.integer(bits, 0));
    return {m.select(negative, m.neg(r), r),
            m.select(negative, m.subi(m.integer(n, 0), n), n)};
  }
  /// sin (addQuadrant 0) or cos (1) of an f32.
  Value sinCos(Value xf32, int addQuadrant) {
    Value x = m.extf(xf32, m.b.getF64Type());
    auto [r, n] = reduceAngle(x);
    Value huge = m.cmp(arith::CmpFPredicate::OGE, m.abs(x), m.num(x, 0x1p27));
    Value any = huge;
    if (isa<VectorType>(huge.getType()))
      any = vector::ReductionOp::create(m.b, vector::CombiningKind::OR, huge);
    auto branch = scf::IfOp::create(m.b, TypeRange{r.getType(), n.getType()},
                                    any, /*withElseRegion=*/true);
    {
      OpBuilder::InsertionGuard guard(m.b);
      m.b.setInsertionPointToStart(branch.thenBlock());
      auto [hr, hn] = reduceHugeAngle(xf32);
      scf::YieldOp::create(
          m.b, ValueRange{m.select(huge, hr, r), m.select(huge, hn, n)});
      m.b.setInsertionPointToStart(branch.elseBlock());
      scf::YieldOp::create(m.b, ValueRange{r, n});
    }
    r = branch.getResult(0);
    n = m.addi(branch.getResult(1), m.integer(n, addQuadrant));
    Value t = m.mul(r, r);
    Value ps = m.poly(t, {-0.1666666666663145, 0.00833333332524494,
                          -0.00019841263807851269, 2.755535445513139e-06,
                          -2.4761407423407524e-08});
    Value sine = m.fma(m.mul(r, t), ps, r);
    Value pc = m.poly(t, {0.04166666666660194, -0.0013888888878232307,
                          2.4801580952848547e-05, -2.7555563656931325e-07,
                          2.0647511094547305e-09});
    Value cosine =
        m.fma(m.mul(t, t), pc, m.fma(t, m.num(t, -0.5), m.num(t, 1.0)));
    Value zero = m.integer(n, 0);
    Value y = m.select(m.cmp(arith::CmpIPredicate::ne, m.andi(n, 1), zero),
                       cosine, sine);
    y = m.select(m.cmp(arith::CmpIPredicate::ne, m.andi(n, 2), zero), m.neg(y),
                 y);
    if (addQuadrant == 0)
      y = m.select(m.eq(x, m.num(x, 0.0)), x, y); // keeps -0
    // Infinity minus infinity is NaN, and NaN stays.
    Value finite = m.lt(m.abs(x), m.num(x, kInf));
    return m.select(finite, y, m.sub(x, x));
  }

  Value tanh(Value x) {
    // tanh a = t / (t + 2), t = exp(2 a) - 1; from 20 on it rounds to 1.
    Value a = clamp(m, m.abs(x), 0.0, 20.0);
    Value t = expm1(m.add(a, a));
    return m.copySign(m.div(t, m.add(t, m.num(x, 2.0))), x);
  }
  /// exp(z^2) erfc(z) for z >= 0.5, accurate up to 10.5 (beyond, exp(-z^2) of
  /// an f32's z rounds to 0).
  Value erfcx(Value z) {
    z = clamp(m, z, 0.5, 10.5);
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
  /// erf(x) for |x| <= 1.
  Value erfSmall(Value x) {
    Value p =
        m.poly(m.mul(x, x),
               {1.1283791670945855, -0.37612638888503325, 0.11283791285370881,
                -0.026866131409743886, 0.005223776410605583,
                -0.000854248906235934, 0.00011954820322129509,
                -1.3898711596517683e-05, 1.0563008954131692e-06});
    return m.mul(x, p);
  }
  Value erf(Value x) {
    Value z = m.abs(x), one = m.num(x, 1.0);
    Value far = m.sub(one, m.mul(exp(m.neg(m.mul(z, z))), erfcx(z)));
    return m.select(m.lt(z, one), erfSmall(x),
                    m.copySign(m.select(m.isNan(x), x, far), x));
  }
  /// x/2 (1 + erf(x / sqrt 2)), with a small relative error also where 1 + erf
  /// cancels.
  Value gelu(Value x) {
    Value y = m.mul(x, m.num(x, 0.70710678118654752)), z = m.abs(y),
          one = m.num(x, 1.0);
    Value tail = m.mul(exp(m.neg(m.mul(z, z))), erfcx(z)); // erfc |y|
    Value zero = m.num(x, 0.0);
    Value sum = m.select(m.lt(y, zero), tail, m.sub(m.num(x, 2.0), tail));
    sum = m.select(m.lt(z, m.num(x, 0.5)), m.add(one, erfSmall(y)), sum);
    return m.mul(m.mul(x, m.num(x, 0.5)), m.select(m.isNan(x), x, sum));
  }
  /// 1 + exp(-x).
  Value onePlusExpNeg(Value x) { return m.add(m.num(x, 1.0), exp(m.neg(x))); }
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
    // An infinite y is whole, so a negative x is fine there; |x| = 1 gives 1.
    Value infiniteY = m.eq(m.abs(y), m.num(y, kInf));
    r = m.select(m.both(infiniteY, m.eq(ax, one)), one, r);
    r = m.select(oddY, m.copySign(r, x), r);
    return m.select(m.either(m.eq(y, zero), m.eq(x, one)), one, r);
  }
};
} // namespace

Value luminal::emitThroughF64(Lanes &m, Fn fn, ValueRange args) {
  Wide w{m};
  Type f32 = m.b.getF32Type(), f64 = m.b.getF64Type();
  if (fn == Fn::Sin || fn == Fn::Cos)
    return m.truncf(w.sinCos(args[0], fn == Fn::Cos), f32);
  Value x = m.extf(args[0], f64), y;
  switch (fn) {
  case Fn::Expm1:
    y = w.expm1(x);
    break;
  case Fn::Log:
    y = w.log(x);
    break;
  case Fn::Log2:
    y = w.log2(x);
    break;
  case Fn::Log1p:
    y = w.log1p(x);
    break;
  case Fn::Tanh:
    y = w.tanh(x);
    break;
  case Fn::Erf:
    y = w.erf(x);
    break;
  case Fn::Rsqrt:
    y = m.div(m.num(x, 1.0), math::SqrtOp::create(m.b, x));
    break;
  case Fn::Sigmoid:
    y = m.div(m.num(x, 1.0), w.onePlusExpNeg(x));
    break;
  case Fn::Silu:
    y = m.div(x, w.onePlusExpNeg(x));
    break;
  case Fn::Gelu:
    y = w.gelu(x);
    break;
  case Fn::GeluTanh:
    y = w.geluTanh(x);
    break;
  case Fn::Pow:
    y = w.pow(x, m.extf(args[1], f64));
    break;
  default:
    llvm_unreachable("not computed through f64");
  }
  return m.truncf(y, f32);
}

Value luminal::emitF64(Lanes &m, Fn fn, ValueRange args) {
  OpBuilder &b = m.b;
  Location loc = m.b.getLoc();
  Value x = args[0];
  switch (fn) {
  case Fn::Exp:
    return math::ExpOp::create(b, loc, x);
  case Fn::Exp2:
    return math::Exp2Op::create(b, loc, x);
  case Fn::Expm1:
    return math::ExpM1Op::create(b, loc, x);
  case Fn::Log:
    return math::LogOp::create(b, loc, x);
  case Fn::Log2:
    return math::Log2Op::create(b, loc, x);
  case Fn::Log1p:
    return math::Log1pOp::create(b, loc, x);
  case Fn::Sin:
    return math::SinOp::create(b, loc, x);
  case Fn::Cos:
    return math::CosOp::create(b, loc, x);
  case Fn::Tanh:
    return math::TanhOp::create(b, loc, x);
  case Fn::Erf:
    return math::ErfOp::create(b, loc, x);
  case Fn::Pow:
    return math::PowFOp::create(b, loc, x, args[1]);
  case Fn::Rsqrt:
    return m.div(m.num(x, 1.0), math::SqrtOp::create(b, loc, x));
  case Fn::Sigmoid:
    return m.div(m.num(x, 1.0),
                 m.add(m.num(x, 1.0), math::ExpOp::create(b, loc, m.neg(x))));
  case Fn::Silu:
    return m.div(x,
                 m.add(m.num(x, 1.0), math::ExpOp::create(b, loc, m.neg(x))));
  case Fn::Gelu: {
    // x/2 erfc(-x / sqrt 2): no cancellation.
    Value y = m.mul(x, m.num(x, -0.70710678118654752));
    return m.mul(m.mul(x, m.num(x, 0.5)), math::ErfcOp::create(b, loc, y));
  }
  case Fn::GeluTanh: {
    Value u =
        m.mul(m.mul(x, m.fma(m.mul(x, x), m.num(x, 0.044715), m.num(x, 1.0))),
              m.num(x, 2 * 0.7978845608028654));
    return m.div(x,
                 m.add(m.num(x, 1.0), math::ExpOp::create(b, loc, m.neg(u))));
  }
  default:
    llvm_unreachable("not a transcendental function");
  }
}
