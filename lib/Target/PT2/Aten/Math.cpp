//===- Math.cpp - Less common scalar functions ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Helpers.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace luminal;
using namespace luminal::hlir;
using namespace luminal::pt2;

static constexpr double kInf = std::numeric_limits<double>::infinity();
static constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
static constexpr double kPi = 3.141592653589793;

using BinaryFn = llvm::function_ref<Value(Composer &, Value, Value)>;
using UnaryFn = llvm::function_ref<Value(Composer &, Value)>;

/// Applies fn in f64 to floats (integers become f32), and rounds once.
static Status inF64(OpCall &o, UnaryFn fn) {
  Value x = o.toFloat(o.tensor("self"));
  Type type = o.element(x), f64 = o.c.getBuilder().getF64Type();
  return o.ret(o.c.cast(fn(o.c, o.c.cast(x, f64)), type));
}
/// Applies fn to floats, f16 and bf16 in f32, and rounds once.
static Status onFloats(OpCall &o, UnaryFn fn) {
  Value x = o.toFloat(o.tensor("self"));
  Type type = o.element(x);
  return o.ret(o.c.cast(fn(o.c, o.c.cast(x, o.opmath(type))), type));
}
template <Value (Composer::*fn)(Value)>
static Status direct(OpCall &o) {
  return o.ret((o.c.*fn)(o.toFloat(o.tensor("self"))));
}

/// Promotes and broadcasts two operands, converts them to floats if `floats`,
/// computes in f64 if `wide`, and rounds the result to the common type.
static Status binary(OpCall &o, const Operand &a, const Operand &b, bool floats,
                     bool wide, BinaryFn fn) {
  Type type = o.promote({a, b});
  if (floats && !isa<FloatType>(type))
    type = o.f32();
  LUMINAL_TRY(shape, o.commonShape({a, b}));
  Type compute = wide ? Type(o.c.getBuilder().getF64Type()) : type;
  Value x = o.c.cast(o.as(a, type, shape), compute),
        y = o.c.cast(o.as(b, type, shape), compute);
  return o.ret(o.c.cast(fn(o.c, x, y), type));
}
static Status binaryOf(OpCall &o, bool floats, bool wide, BinaryFn fn) {
  return binary(o, o.operand("self"), o.operand("other"), floats, wide, fn);
}

//===----------------------------------------------------------------------===//
// Functions of one float
//===----------------------------------------------------------------------===//

static Status erfc(OpCall &o) {
  return inF64(
      o, [](Composer &c, Value x) { return c.sub(c.splat(x, 1), c.erf(x)); });
}

/// sum of coefficients[i] * x^(n - 1 - i)
static Value polynomial(Composer &c, Value x, ArrayRef<double> coefficients) {
  Value sum = c.splat(x, coefficients.front());
  for (double k : coefficients.drop_front())
    sum = c.add(c.mul(sum, x), c.splat(x, k));
  return sum;
}

/// Giles' approximation, refined by two Newton steps.
static Status erfinv(OpCall &o) {
  return inF64(o, [](Composer &c, Value x) {
    Value one = c.splat(x, 1);
    Value w = c.neg(c.log(c.mul(c.sub(one, x), c.add(one, x))));
    Value near = polynomial(c, c.sub(w, c.splat(x, 2.5)),
                            {2.81022636e-08, 3.43273939e-07, -3.5233877e-06,
                             -4.39150654e-06, 0.00021858087, -0.00125372503,
                             -0.00417768164, 0.246640727, 1.50140941});
    Value far = polynomial(c, c.sub(c.sqrt(w), c.splat(x, 3)),
                           {-0.000200214257, 0.000100950558, 0.00134934322,
                            -0.00367342844, 0.00573950773, -0.0076224613,
                            0.00943887047, 1.00167406, 2.83297682});
    Value y = c.mul(x, c.select(c.less(w, c.splat(w, 5)), near, far));
    for (unsigned i = 0; i < 2; ++i) {
      // erf'(y) = 2 / sqrt(pi) exp(-y^2)
      Value slope = c.mul(c.exp(c.mul(y, y)), c.splat(y, std::sqrt(kPi) / 2));
      y = c.sub(y, c.mul(c.sub(c.erf(y), x), slope));
    }
    Value end = c.mul(x, c.splat(x, kInf));
    Value inside = c.less(c.abs(x), one);
    Value outside = c.less(one, c.abs(x));
    return c.select(inside, y, c.select(outside, c.splat(x, kNaN), end));
  });
}

static Status logit(OpCall &o) {
  auto eps = o.realOrNone("eps");
  return inF64(o, [&](Composer &c, Value x) {
    if (eps) {
      x = c.maximum(x, c.splat(x, *eps));
      x = c.minimum(x, c.splat(x, 1 - *eps));
    }
    return c.log(c.div(x, c.sub(c.splat(x, 1), x)));
  });
}
static Status sinc(OpCall &o) {
  return inF64(o, [](Composer &c, Value x) {
    Value at = c.mul(x, c.splat(x, kPi));
    Value zero = c.equal(x, c.splat(x, 0));
    return c.select(zero, c.splat(x, 1), c.div(c.sin(at), at));
  });
}

/// Lanczos' approximation with g = 7 and nine terms; reflected below 1/2.
static Status lgamma(OpCall &o) {
  return inF64(o, [](Composer &c, Value x) {
    Value one = c.splat(x, 1), half = c.splat(x, 0.5);
    Value mirrored = c.less(x, half);
    Value z = c.sub(c.select(mirrored, c.sub(one, x), x), one);
    constexpr double terms[] = {676.5203681218851,     -1259.1392167224028,
                                771.32342877765313,    -176.61502916214059,
                                12.507343278686905,    -0.13857109526572012,
                                9.9843695780195716e-6, 1.5056327351493116e-7};
    Value sum = c.splat(x, 0.99999999999980993);
    for (unsigned i = 0; i < std::size(terms); ++i)
      sum =
          c.add(sum, c.div(c.splat(x, terms[i]), c.add(z, c.splat(x, i + 1))));
    Value t = c.add(z, c.splat(x, 7.5));
    Value result = c.add(c.sub(c.mul(c.add(z, half), c.log(t)), t),
                         c.add(c.log(sum), c.splat(x, 0.91893853320467274178)));
    // The reflection: log(pi / |sin(pi x)|) minus the value at 1 - x. The sine
    // is taken of the distance to the nearest integer, which is exact.
    Value distance = c.sub(x, c.round(x));
    Value sine = c.abs(c.sin(c.mul(distance, c.splat(x, kPi))));
    Value other = c.sub(c.log(c.div(c.splat(x, kPi), sine)), result);
    result = c.select(mirrored, other, result);
    Value infinite = c.equal(c.abs(x), c.splat(x, kInf));
    return c.select(infinite, c.splat(x, kInf), result);
  });
}

/// 0 or pi, depending on the sign.
static Status angle(OpCall &o) {
  return onFloats(o, [](Composer &c, Value x) {
    Value negative = c.less(x, c.splat(x, 0));
    Value turn = c.select(negative, c.splat(x, kPi), c.splat(x, 0));
    return c.select(c.isNan(x), x, turn);
  });
}

static Status scaledBy(OpCall &o, double factor) {
  return inF64(
      o, [&](Composer &c, Value x) { return c.mul(x, c.splat(x, factor)); });
}
static Status deg2rad(OpCall &o) { return scaledBy(o, kPi / 180); }
static Status rad2deg(OpCall &o) { return scaledBy(o, 180 / kPi); }

static Status softshrink(OpCall &o) {
  double bound = o.real("lambd");
  return onFloats(o, [&](Composer &c, Value x) {
    Value limit = c.splat(x, bound), zero = c.splat(x, 0);
    // x * 0 keeps NaN.
    Value low = c.select(c.less(x, c.neg(limit)), c.add(x, limit),
                         c.select(c.isNan(x), x, zero));
    return c.select(c.less(limit, x), c.sub(x, limit), low);
  });
}
static Status hardshrink(OpCall &o) {
  double bound = o.real("lambd");
  return onFloats(o, [&](Composer &c, Value x) {
    Value inside = c.lessEqual(c.abs(x), c.splat(x, bound));
    return c.select(inside, c.splat(x, 0), x);
  });
}
/// The first half of a dim times the sigmoid of the second half.
static Status glu(OpCall &o) {
  Composer &c = o.c;
  Value x = o.tensor("self");
  LUMINAL_TRY(axis, o.axis("dim", x));
  if (!o.isFloat(x) || o.rank(x) == 0)
    return o.fail("takes floats with a dim");
  Expr n = o.extents(x)[axis],
       half = o.assumptions().simplify(Expr::floorDiv(n, Expr(2)));
  if (!o.agree(half * Expr(2), n))
    return o.fail("extent " + n.str() + " is not even");
  Type type = o.element(x);
  Value v = c.cast(x, o.opmath(type));
  Value gate = c.sigmoid(c.slice(v, axis, half, half));
  return o.ret(c.cast(c.mul(c.slice(v, axis, Expr(0), half), gate), type));
}
static Status logSigmoidForward(OpCall &o) {
  Value x = o.tensor("self");
  Type type = o.element(x);
  Value v = o.c.cast(x, o.opmath(type));
  Value m = o.c.minimum(v, o.c.splat(v, 0));
  Value y = o.c.sub(m, o.c.log1p(o.c.exp(o.c.neg(o.c.abs(v)))));
  // The second result is only used by gradients.
  return o.retFirst(o.c.cast(y, type));
}

static Status isInfinite(OpCall &o, double which) {
  Value x = o.tensor("self");
  if (!o.isFloat(x))
    return o.ret(o.c.splatInt(x, 0, o.i1()));
  return o.ret(o.c.equal(x, o.c.splat(x, which)));
}
static Status isPosInf(OpCall &o) { return isInfinite(o, kInf); }
static Status isNegInf(OpCall &o) { return isInfinite(o, -kInf); }

/// -0 is recognized by its reciprocal; NaN counts as not negative.
static Value isNegative(Composer &c, Value x) {
  Value below = c.less(x, c.splatInt(x, 0));
  if (!isa<FloatType>(cast<RankedTensorType>(x.getType()).getElementType()))
    return below;
  return c.logicalOr(below, c.less(c.recip(x), c.splat(x, 0)));
}
static Status signbit(OpCall &o) {
  Value x = o.tensor("self");
  return o.ret(o.isBool(x) ? o.c.splatInt(x, 0) : isNegative(o.c, x));
}
static Status identity(OpCall &o) { return o.ret(o.tensor("self")); }

/// -x log x; 0 at 0, and -inf below.
static Status entr(OpCall &o) {
  return inF64(o, [](Composer &c, Value x) {
    Value zero = c.splat(x, 0);
    Value y = c.neg(c.mul(x, c.log(x)));
    y = c.select(c.equal(x, zero), zero, y);
    return c.select(c.less(x, zero), c.splat(x, -kInf), y);
  });
}
static Status ndtr(OpCall &o) {
  return inF64(o, [](Composer &c, Value x) {
    Value e = c.erf(c.mul(x, c.splat(x, std::sqrt(0.5))));
    return c.mul(c.add(e, c.splat(x, 1)), c.splat(x, 0.5));
  });
}

//===----------------------------------------------------------------------===//
// Functions of two floats
//===----------------------------------------------------------------------===//

/// The angle of (x, y): atan of y / x, corrected for the half plane.
static Status atan2(OpCall &o) {
  return binaryOf(o, true, true, [](Composer &c, Value y, Value x) {
    Value inf = c.splat(x, kInf);
    Value bothInfinite =
        c.logicalAnd(c.equal(c.abs(x), inf), c.equal(c.abs(y), inf));
    Value bothZero =
        c.logicalAnd(c.equal(x, c.splat(x, 0)), c.equal(y, c.splat(x, 0)));
    Value ratio = c.div(c.abs(y), c.abs(x));
    ratio = c.select(bothInfinite, c.splat(x, 1), ratio);
    Value angle = c.atan(c.select(bothZero, c.splat(x, 0), ratio));
    angle = c.select(isNegative(c, x), c.sub(c.splat(x, kPi), angle), angle);
    return c.select(isNegative(c, y), c.neg(angle), angle);
  });
}
static Status hypot(OpCall &o) {
  return binaryOf(o, true, true, [](Composer &c, Value x, Value y) {
    Value inf = c.splat(x, kInf);
    Value infinite =
        c.logicalOr(c.equal(c.abs(x), inf), c.equal(c.abs(y), inf));
    return c.select(infinite, inf, c.sqrt(c.add(c.mul(x, x), c.mul(y, y))));
  });
}
static Status copysign(OpCall &o) {
  return binaryOf(o, true, false, [](Composer &c, Value x, Value y) {
    Value a = c.abs(x);
    return c.select(isNegative(c, y), c.neg(a), a);
  });
}
static Status heaviside(OpCall &o) {
  return binary(o, o.operand("self"), o.operand("values"), false, false,
                [](Composer &c, Value x, Value at) {
                  Value zero = c.splatInt(x, 0);
                  Value below = c.select(c.less(x, zero), zero, at);
                  Value y = c.select(c.less(zero, x), c.splatInt(x, 1), below);
                  return c.select(c.isNan(x), zero, y);
                });
}
/// If one operand is NaN, the other one.
template <bool largest>
static Status numberExtremum(OpCall &o) {
  return binaryOf(o, false, false, [](Composer &c, Value x, Value y) {
    Value best = largest ? c.maximum(x, y) : c.minimum(x, y);
    if (!isa<FloatType>(cast<RankedTensorType>(x.getType()).getElementType()))
      return best;
    return c.select(c.isNan(x), y, c.select(c.isNan(y), x, best));
  });
}
static Status logaddexp2(OpCall &o) {
  return binaryOf(o, true, true, [](Composer &c, Value x, Value y) {
    Value m = c.maximum(x, y);
    Value far = c.exp2(c.neg(c.abs(c.sub(x, y))));
    Value sum =
        c.add(m, c.mul(c.log1p(far), c.splat(x, std::log2(std::exp(1.0)))));
    Value same = c.equal(c.abs(m), c.splat(m, kInf));
    return c.select(same, m, sum);
  });
}
/// x log y; 0 if x is 0 and y is not NaN.
static Status xlogyOf(OpCall &o, bool plusOne) {
  return binaryOf(o, true, true, [&](Composer &c, Value x, Value y) {
    Value product = c.mul(x, plusOne ? c.log1p(y) : c.log(y));
    Value zero = c.equal(x, c.splat(x, 0));
    product = c.select(zero, c.splat(x, 0), product);
    return c.select(c.isNan(y), y, product);
  });
}
static Status xlogy(OpCall &o) { return xlogyOf(o, false); }
static Status xlog1py(OpCall &o) { return xlogyOf(o, true); }

static Status floatPower(OpCall &o) {
  Operand a = o.operand("self"), b = o.operand("exponent");
  LUMINAL_TRY(shape, o.commonShape({a, b}));
  Type f64 = o.c.getBuilder().getF64Type();
  return o.ret(o.c.pow(o.as(a, f64, shape), o.as(b, f64, shape)));
}
static Status ldexp(OpCall &o) {
  return binaryOf(o, true, true, [](Composer &c, Value x, Value y) {
    return c.mul(x, c.exp2(y));
  });
}

///  - b| <= atol + rtol |b|, or both are equal.
static Status isClose(OpCall &o) {
  double rtol = o.real("rtol"), atol = o.real("atol");
  bool equalNaN = o.flag("equal_nan");
  LUMINAL_TRY(operands, o.promotePair(o.operand("self"), o.operand("other")));
  auto [a, b] = operands;
  Composer &c = o.c;
  Value same = c.equal(a, b);
  if (!o.isFloat(a))
    a = c.cast(a, c.getBuilder().getF64Type()),
    b = c.cast(b, c.getBuilder().getF64Type());
  if (equalNaN)
    same = c.logicalOr(same, c.logicalAnd(c.isNan(a), c.isNan(b)));
  Value allowed = c.add(c.splat(b, atol), c.mul(c.splat(b, rtol), c.abs(b)));
  Value distance = c.abs(c.sub(a, b));
  Value finite = c.less(distance, c.splat(a, kInf));
  return o.ret(
      c.logicalOr(same, c.logicalAnd(finite, c.lessEqual(distance, allowed))));
}

llvm::ArrayRef<OpRow> pt2::getMathOps() {
  static const OpRow rows[] = {
      {"acos(Tensor self)", direct<&Composer::acos>},
      {"acosh(Tensor self)", direct<&Composer::acosh>},
      {"asin(Tensor self)", direct<&Composer::asin>},
      {"asinh(Tensor self)", direct<&Composer::asinh>},
      {"atan(Tensor self)", direct<&Composer::atan>},
      {"atanh(Tensor self)", direct<&Composer::atanh>},
      {"atan2(Tensor self, Tensor other)", atan2},
      {"erfc(Tensor self)", erfc},
      {"erfinv(Tensor self)", erfinv},
      {"lgamma(Tensor self)", lgamma},
      {"angle(Tensor self)", angle},
      {"special_entr(Tensor self)", entr},
      {"special_ndtr(Tensor self)", ndtr},
      {"logit(Tensor self, float? eps=None)", logit},
      {"sinc(Tensor self)", sinc},
      {"deg2rad(Tensor self)", deg2rad},
      {"rad2deg(Tensor self)", rad2deg},
      {"softshrink(Tensor self, float lambd=0.5)", softshrink},
      {"hardshrink(Tensor self, float lambd=0.5)", hardshrink},
      {"glu(Tensor self, int dim=-1)", glu},
      {"log_sigmoid_forward(Tensor self)", logSigmoidForward},
      {"isposinf(Tensor self)", isPosInf},
      {"isneginf(Tensor self)", isNegInf},
      {"signbit(Tensor self)", signbit},
      {"positive(Tensor self)", identity},
      {"real(Tensor self)", identity},
      {"hypot(Tensor self, Tensor other)", hypot},
      {"copysign.Tensor(Tensor self, Tensor other)", copysign},
      {"copysign.Scalar(Tensor self, Tensor other)", copysign},
      {"heaviside(Tensor self, Tensor values)", heaviside},
      {"fmax(Tensor self, Tensor other)", numberExtremum<true>},
      {"fmin(Tensor self, Tensor other)", numberExtremum<false>},
      {"logaddexp2(Tensor self, Tensor other)", logaddexp2},
      {"xlogy.Tensor(Tensor self, Tensor other)", xlogy},
      {"xlogy.Scalar_Other(Tensor self, Tensor other)", xlogy},
      {"xlogy.Scalar_Self(Tensor self, Tensor other)", xlogy},
      {"special_xlog1py(Tensor self, Tensor other)", xlog1py},
      {"float_power.Tensor_Tensor(Tensor self, Tensor exponent)", floatPower},
      {"float_power.Tensor_Scalar(Tensor self, Tensor exponent)", floatPower},
      {"float_power.Scalar(Tensor self, Tensor exponent)", floatPower},
      {"ldexp.Tensor(Tensor self, Tensor other)", ldexp},
      {"isclose(Tensor self, Tensor other, float rtol=1e-05, "
       "float atol=1e-08, bool equal_nan=False)",
       isClose},
  };
  return rows;
}
