//===- TranscendentalNarrow.cpp - Functions of f16 and bf16 ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In f32 arithmetic, to about 2^-19: the one rounding to 11 or 8 bits is then
// off by at most 0.505 ulp. No branch and no case for rare arguments, since the
// range of f32 holds what the results are made of. The coefficients are Remez
// polynomials that utils/dev/math_coefficients.py prints.
//
//===----------------------------------------------------------------------===//

#include "Lanes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace luminal;
using namespace mlir;

static constexpr auto kApproximate = arith::FastMathFlags::afn;
static constexpr double kLog2E = 1.4426950408889634;

/// 2^y for y <= 130 or NaN; denormal results too.
static Value emitPower(Lanes &m, Value y) {
  if (hasFloatInstructions(m.b))
    return math::Exp2Op::create(m.b, y, kApproximate);
  constexpr double kMagic = 0x1.8p23;
  Value least = m.num(y, -150.0);
  y = m.select(m.lt(y, least), least, y);
  Value shifted = m.add(y, m.num(y, kMagic));
  Value r = m.sub(y, m.sub(shifted, m.num(y, kMagic)));
  Value p = m.poly(r, {1.0, 0.6931472149116167, 0.24022234642470902,
                       0.05550308353830865, 0.00967187405965892,
                       0.001340726232942216});
  // By two powers: the whole one may be below the exponents of f32.
  Type i32 = m.b.getI32Type(), f32 = m.b.getF32Type();
  Value n = m.bitcast(shifted, i32);
  Value whole = m.subi(n, m.integer(n, 0x4B400000)), half = m.shrs(whole, 1);
  auto power = [&](Value k) {
    return m.bitcast(m.shl(m.addi(k, m.integer(k, 127)), 23), f32);
  };
  return m.mul(m.mul(p, power(half)), power(m.subi(whole, half)));
}

/// Where there is an instruction, what is below the normal numbers is 0.
Value luminal::emitExp2FastF32(Lanes &m, Value x) {
  if (!hasFloatInstructions(m.b))
    return emitPower(m, m.select(m.lt(m.num(x, 130.0), x), m.num(x, 130.0), x));
  auto emitLane = [&](Value lane) {
    return LLVM::CallIntrinsicOp::create(
               m.b, lane.getType(),
               m.b.getStringAttr("llvm.nvvm.ex2.approx.ftz"), ValueRange{lane})
        .getResult(0);
  };
  auto type = dyn_cast<VectorType>(x.getType());
  if (!type)
    return emitLane(x);
  // The instruction takes one element; LLVM does not split vectors for it.
  Value result = m.num(x, 0);
  for (int64_t i = 0; i < type.getNumElements(); ++i)
    result = vector::InsertOp::create(
        m.b, emitLane(vector::ExtractOp::create(m.b, x, i)), result, i);
  return result;
}

/// The exponent is rounded, which is 2^-18 of a result at most. Where there is
/// no instruction for powers of 2, those of e take as long.
Value luminal::emitExpApproxF32(Lanes &m, Value x) {
  if (!hasFloatInstructions(m.b))
    return emitExpFastF32(m, x);
  return emitExp2FastF32(m, m.mul(x, m.num(x, kLog2E)));
}

/// 1 / x for x >= 1.
static Value emitReciprocal(Lanes &m, Value x) {
  Value one = m.num(x, 1.0);
  if (hasFloatInstructions(m.b))
    return arith::DivFOp::create(m.b, one, x, kApproximate);
  return m.div(one, x);
}

/// x / (1 + exp(-u)). The exponential is of -|u|: one that overflows would lose
/// the small results.
static Value timesSigmoid(Lanes &m, Value x, Value u) {
  Value e = emitPower(m, m.mul(m.abs(u), m.num(u, -kLog2E)));
  Value one = m.num(x, 1.0);
  Value numerator = m.select(m.lt(u, m.num(u, 0.0)), e, one);
  return m.mul(m.mul(x, numerator), emitReciprocal(m, m.add(one, e)));
}

/// erfc(z) for z >= 0, where exponent = -z^2 / ln 2. As exp(-z^2) t p(u), t = 1
/// / (z + 2), u = (z - 2) / (z + 2).
static Value emitErfc(Lanes &m, Value z, Value exponent) {
  Value t = emitReciprocal(m, m.add(z, m.num(z, 2.0)));
  Value u = m.fma(t, m.num(t, -4.0), m.num(t, 1.0));
  Value p =
      m.poly(u, {1.0215827770705317, -0.6871726363616173, 0.279474250506974,
                 -0.03626337151480005, -0.02149292281900306,
                 0.00578180716482235, 0.0027792625442553557});
  return m.mul(emitPower(m, exponent), m.mul(t, p));
}

Value luminal::emitGeluNarrow(Lanes &m, Value x) {
  // x/2 erfc(-x / sqrt 2).
  Value a = m.abs(x);
  Value tail = emitErfc(m, m.mul(a, m.num(a, 0.70710678118654752)),
                        m.mul(m.mul(a, a), m.num(a, -0.5 * kLog2E)));
  Value two = m.num(x, 2.0);
  Value sum = m.select(m.lt(x, m.num(x, 0.0)), tail, m.sub(two, tail));
  return m.mul(m.mul(x, m.num(x, 0.5)), sum);
}

Value luminal::emitGeluTanhNarrow(Lanes &m, Value x) {
  // 1/2 (1 + tanh u) = 1 / (1 + exp(-2u)), u = sqrt(2/pi) (x + 0.044715 x^3).
  Value u =
      m.mul(x, m.fma(m.mul(x, x), m.num(x, 0.044715 * 2 * 0.7978845608028654),
                     m.num(x, 2 * 0.7978845608028654)));
  return timesSigmoid(m, x, u);
}

/// `near` of x^2, times x, where |x| < bound; else `far` with x's sign, or NaN.
static Value joinOdd(Lanes &m, Value x, double bound, ArrayRef<double> near,
                     Value far) {
  Value inner = m.mul(x, m.poly(m.mul(x, x), near));
  Value outer = m.select(m.isNan(x), x, m.copySign(far, x));
  return m.select(m.lt(m.abs(x), m.num(x, bound)), inner, outer);
}

Value luminal::emitErfNarrow(Lanes &m, Value x) {
  Value a = m.abs(x);
  Value tail = emitErfc(m, a, m.mul(m.mul(a, a), m.num(a, -kLog2E)));
  return joinOdd(m, x, 0.5,
                 {1.1283790171266883, -0.3761073402031699, 0.1124562909175639,
                  -0.02438931123397404},
                 m.sub(m.num(x, 1.0), tail));
}

Value luminal::emitTanhNarrow(Lanes &m, Value x) {
  // tanh a = 1 - 2 e / (1 + e), e = exp(-2 a).
  Value e = emitPower(m, m.mul(m.abs(x), m.num(x, -2 * kLog2E)));
  Value one = m.num(x, 1.0);
  Value quotient = m.mul(m.add(e, e), emitReciprocal(m, m.add(one, e)));
  return joinOdd(m, x, 0.4,
                 {0.9999999018963969, -0.3333136244041896, 0.13270976634002035,
                  -0.04755360298066722},
                 m.sub(one, quotient));
}

Value luminal::emitSigmoidNarrow(Lanes &m, Value x, bool timesX) {
  return timesSigmoid(m, timesX ? x : m.num(x, 1.0), x);
}
