//===- CompositesMath.cpp - Scalar functions in a wider type --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each public function casts its operands to the next wider type, computes the
// function there, and rounds once. The formulas were checked against extended
// precision: computed in f64, each is within 0.5 ulp (and 1/1000) of the f32
// result; computed in f32, within 0.51 ulp of the f16 and bf16 result. f64 has
// no wider type, so the error of the formula remains: a few ulp, and for exp
// and pow as many as the exponent has bits.
//
//===----------------------------------------------------------------------===//

#include "luminal/Dialect/HLIR/Utils/CompositeConstants.h"
#include "luminal/Dialect/HLIR/Utils/Composites.h"

#include <limits>

using namespace mlir;
using namespace luminal;
using namespace luminal::hlir;

static Type elementOf(Value v) {
  return mlir::cast<RankedTensorType>(v.getType()).getElementType();
}

/// The type in which a scalar function of `type` is computed.
static Type widen(Type type) {
  MLIRContext *context = type.getContext();
  return type.isF16() || type.isBF16() ? Type(Float32Type::get(context))
                                       : Type(Float64Type::get(context));
}

//===----------------------------------------------------------------------===//
// Formulas in the wide type
//===----------------------------------------------------------------------===//

namespace {
/// A value with arithmetic operators, so that code reads like the formula.
struct Wide {
  Composer *c;
  Value value;

  Wide constant(double x) const { return {c, c->splat(value, x)}; }
  friend Wide operator+(Wide a, Wide b) {
    return {a.c, a.c->add(a.value, b.value)};
  }
  friend Wide operator*(Wide a, Wide b) {
    return {a.c, a.c->mul(a.value, b.value)};
  }
  friend Wide operator+(Wide a, double b) { return a + a.constant(b); }
  friend Wide operator*(Wide a, double b) { return a * a.constant(b); }
  friend Value operator<(Wide a, Wide b) { return a.c->less(a.value, b.value); }
  friend Value operator<(Wide a, double b) { return a < a.constant(b); }
  friend Value operator<(double a, Wide b) { return b.constant(a) < b; }
  Wide operator-() const { return {c, c->neg(value)}; }
};
} // namespace

static Wide exp2(Wide x) { return {x.c, x.c->exp2(x.value)}; }
static Wide log2(Wide x) { return {x.c, x.c->log2(x.value)}; }
static Wide recip(Wide x) { return {x.c, x.c->recip(x.value)}; }
static Wide abs(Wide x) { return {x.c, x.c->abs(x.value)}; }
static Wide select(Value condition, Wide a, Wide b) {
  return {a.c, a.c->select(condition, a.value, b.value)};
}

static Wide exp(Wide x) { return exp2(x * kLog2E); }
static Wide log(Wide x) { return log2(x) * kLn2; }
static Wide sigmoid(Wide x) { return recip(exp(-x) + 1); }

/// sum of coefficients[i] * x^i.
static Wide polynomial(Wide x, ArrayRef<double> coefficients) {
  Wide sum = x.constant(coefficients.back());
  for (double coefficient : llvm::reverse(coefficients.drop_back()))
    sum = sum * x + coefficient;
  return sum;
}

/// Whether |x| is below a bound; false for NaN.
static Value within(Wide x, double bound) {
  return x.c->logicalAnd(x < bound, -bound < x);
}

/// Near zero the odd series; elsewhere 1 - 2 / (exp(2x) + 1), which is right at
/// the infinities.
static Wide tanh(Wide x) {
  Wide near = x * polynomial(x * x, kTanhSeries);
  Wide far = recip(exp(x * 2) + 1) * -2 + 1;
  return select(within(x, kTanhNear), near, far);
}

/// Near zero 2 sinh(x/2) exp(x/2), with the series of sinh.
static Wide expm1(Wide x) {
  Wide half = x * 0.5;
  Wide near = x * polynomial(half * half, kSinhSeries) * exp(half);
  return select(within(x, kExpm1Near), near, exp(x) + -1);
}

/// Near zero 2 atanh(x / (x + 2)), with the series of atanh.
static Wide log1p(Wide x) {
  Wide s = x * recip(x + 2);
  Wide near = s * polynomial(s * s, kAtanhSeries);
  return select(within(x, kLog1pNear), near, log(x + 1));
}

/// Computed from sin(x/2): shifting the argument by pi/2 would lose all digits
/// of a large one.
static Wide cos(Wide x) {
  Wide half = x * 0.5;
  Wide s{x.c, x.c->sin(half.value)};
  return s * s * -2 + 1;
}

/// Uses the reciprocal above 1, then halves the angle twice, then the series.
static Wide atan(Wide x) {
  Composer &c = *x.c;
  Wide a = abs(x);
  Value large = 1.0 < a;
  Wide t = select(large, recip(a), a);
  for (unsigned i = 0; i < 2; ++i)
    t = t * recip(Wide{&c, c.sqrt((t * t + 1).value)} + 1);
  Wide angle = t * polynomial(t * t, kAtanSeries) * 4;
  angle = select(large, -angle + kHalfPi, angle);
  return select(x < 0.0, -angle, angle);
}

/// x / sqrt(1 - x^2), the tangent of asin x: infinite at 1.
static Wide asin(Wide x) {
  Wide square = (x + 1) * (-x + 1);
  return atan(x * recip(Wide{x.c, x.c->sqrt(square.value)}));
}

/// Twice the angle whose tangent is sqrt((1 - x) / (1 + x)).
static Wide acos(Wide x) {
  Wide ratio = (-x + 1) * recip(x + 1);
  return atan(Wide{x.c, x.c->sqrt(ratio.value)}) * 2;
}

/// log1p(|x| + x^2 / (1 + sqrt(1 + x^2))); where x^2 overflows, log |2 x|.
static Wide asinh(Wide x) {
  Composer &c = *x.c;
  Wide a = abs(x), square = a * a;
  Wide root{&c, c.sqrt((square + 1).value)};
  Wide near = log1p(a + square * recip(root + 1));
  Wide result = select(kLarge < a, log(a) + kLn2, near);
  return select(x < 0.0, -result, result);
}

/// log1p(t + sqrt(2 t + t^2)) of t = x - 1; where t^2 overflows, log(2 x).
static Wide acosh(Wide x) {
  Composer &c = *x.c;
  Wide t = x + -1;
  Wide near = log1p(t + Wide{&c, c.sqrt((t * (t + 2)).value)});
  return select(kLarge < x, log(x) + kLn2, near);
}

/// log1p(2 a / (1 - a)) / 2 of a = |x|.
static Wide atanh(Wide x) {
  Wide a = abs(x);
  Wide result = log1p(a * 2 * recip(-a + 1)) * 0.5;
  return select(x < 0.0, -result, result);
}

/// x times the integral of exp(-(x t)^2) over t in [0, 1], by Gauss and
/// Legendre's 24 nodes: exact to 2e-15 up to 6, beyond which erf is 1 or -1.
static Wide erf(Wide x) {
  Composer &c = *x.c;
  Wide square = x * x;
  SmallVector<Expr> extents = getExtents(x.value),
                    map = identityMap(extents.size());
  Expr node = Expr::dim(extents.size());
  extents.push_back(Expr(static_cast<int64_t>(kErfNodes)));
  auto table = [&](ArrayRef<double> values) {
    auto type = RankedTensorType::get({static_cast<int64_t>(kErfNodes)},
                                      elementOf(x.value));
    SmallVector<Attribute> elements;
    for (double v : values)
      elements.push_back(c.getBuilder().getFloatAttr(type.getElementType(), v));
    Value constant = ConstantOp::create(c.getBuilder(), c.getLoc(), type,
                                        DenseElementsAttr::get(type, elements));
    return Wide{&c, c.view(constant, extents, {node})};
  };
  Wide spread{&c, c.view(square.value, extents, map)};
  Wide terms = exp2(spread * table(kErfExponents)) * table(kErfWeights);
  unsigned axis = extents.size() - 1;
  Wide integral{&c, c.reduceSum(terms.value, {axis}, /*keepDim=*/false)};
  return select(6.0 < x, x.constant(1),
                select(x < -6.0, x.constant(-1), x * integral));
}

/// exp2(y log2 |x|), then the cases that this formula does not cover: 1 where y
/// is 0 or x is 1, or x is -1 and y an infinity; NaN where x is negative and
/// finite and y is not an integer; the sign where x is negative and y is odd.
static Wide pow(Wide x, Wide y) {
  Composer &c = *x.c;
  const double infinity = std::numeric_limits<double>::infinity();
  Wide magnitude = exp2(log2(abs(x)) * y);

  // The reciprocal distinguishes -0. An infinite y has no remainder, so it
  // counts as neither odd nor fractional.
  Value negative = c.logicalOr(x < 0.0, recip(x) < 0.0);
  Wide fraction{&c, c.fmod(y.value, y.constant(1).value)};
  Wide parity{&c, c.fmod(y.value, y.constant(2).value)};
  Value fractional = c.logicalOr(fraction < 0.0, 0.0 < fraction);
  Value odd = c.logicalAnd(0.5 < abs(parity), c.logicalNot(fractional));
  Value undefined =
      c.logicalAnd(c.logicalAnd(x < 0.0, -infinity < x), fractional);

  Value unit = c.logicalOr(c.equal(x.value, x.constant(1).value),
                           c.equal(y.value, y.constant(0).value));
  Value flip = c.logicalAnd(c.equal(x.value, x.constant(-1).value),
                            c.equal(abs(y).value, y.constant(infinity).value));

  Wide result = select(c.logicalAnd(negative, odd), -magnitude, magnitude);
  result = select(undefined,
                  x.constant(std::numeric_limits<double>::quiet_NaN()), result);
  return select(c.logicalOr(unit, flip), x.constant(1), result);
}

/// The reciprocal of an f64 below 2^-1000 or above 2^1000 overflows or loses
/// bits: both operands are scaled there. Where that makes the dividend overflow
/// or vanish, so does the quotient.
static Wide scaledDiv(Wide a, Wide b) {
  Composer &c = *a.c;
  const double tiny = 0x1p-1000, huge = 0x1p1000;
  Value large = c.logicalOr(huge < b, b < -huge);
  Wide scale = select(within(b, tiny), b.constant(0x1p100),
                      select(large, b.constant(0x1p-100), b.constant(1)));
  return a * scale * recip(b * scale);
}

//===----------------------------------------------------------------------===//
// The functions
//===----------------------------------------------------------------------===//

static Value widened(Composer &c, Value x, Wide (*fn)(Wide)) {
  Type type = elementOf(x);
  return c.cast(fn(Wide{&c, c.cast(x, widen(type))}).value, type);
}

Value Composer::exp(Value x) { return widened(*this, x, ::exp); }
Value Composer::expm1(Value x) { return widened(*this, x, ::expm1); }
Value Composer::log(Value x) { return widened(*this, x, ::log); }
Value Composer::log1p(Value x) { return widened(*this, x, ::log1p); }
/// Cancellation leaves no digits where cos is near 0, so every type is computed
/// in f64.
Value Composer::cos(Value x) {
  Wide v{this, cast(x, builder.getF64Type())};
  return cast(::cos(v).value, elementOf(x));
}

Value Composer::tanh(Value x) { return widened(*this, x, ::tanh); }
Value Composer::erf(Value x) { return widened(*this, x, ::erf); }
Value Composer::sigmoid(Value x) { return widened(*this, x, ::sigmoid); }

Value Composer::atan(Value x) { return widened(*this, x, ::atan); }
Value Composer::asin(Value x) { return widened(*this, x, ::asin); }
Value Composer::acos(Value x) { return widened(*this, x, ::acos); }
Value Composer::asinh(Value x) { return widened(*this, x, ::asinh); }
Value Composer::acosh(Value x) { return widened(*this, x, ::acosh); }
Value Composer::atanh(Value x) { return widened(*this, x, ::atanh); }

Value Composer::rsqrt(Value x) {
  return widened(*this, x,
                 [](Wide v) { return ::recip(Wide{v.c, v.c->sqrt(v.value)}); });
}

Value Composer::silu(Value x) {
  return widened(*this, x, [](Wide v) { return v * ::sigmoid(v); });
}

/// 1 + erf cancels where erf is near -1, so every type is computed in f64.
Value Composer::gelu(Value x) {
  Type type = elementOf(x);
  Wide v{this, cast(x, builder.getF64Type())};
  Wide result = v * 0.5 * (::erf(v * kSqrtHalf) + 1);
  return cast(result.value, type);
}

/// (1 + tanh u) / 2 is sigmoid(2 u), which does not cancel near -1.
Value Composer::geluTanh(Value x) {
  return widened(*this, x, [](Wide v) {
    Wide inner = (v * v * v * kGeluCubic + v) * kSqrtTwoOverPi;
    return v * ::sigmoid(inner * 2);
  });
}

/// bf16 has the range of f32, so its division is computed in f64, where no
/// reciprocal of a bf16 overflows.
Value Composer::div(Value a, Value b) {
  Type type = elementOf(a);
  Type wide =
      type.isF16() ? Type(builder.getF32Type()) : Type(builder.getF64Type());
  Wide x{this, cast(a, wide)}, y{this, cast(b, wide)};
  return cast((type.isF64() ? scaledDiv(x, y) : x * ::recip(y)).value, type);
}

Value Composer::pow(Value x, Value y) {
  Type type = elementOf(x);
  Type wide = widen(type);
  return cast(::pow(Wide{this, cast(x, wide)}, Wide{this, cast(y, wide)}).value,
              type);
}

/// Powers that PyTorch computes by multiplication are multiplied here too, in
/// f32 or wider.
Value Composer::powScalar(Value x, double n) {
  Type type = elementOf(x);
  if (!isa<FloatType>(type)) {
    assert(n >= 0 && n == static_cast<double>(static_cast<uint64_t>(n)) &&
           "integers have whole powers");
    Value result = splatInt(x, 1), square = x;
    for (auto bits = static_cast<uint64_t>(n); bits; bits >>= 1) {
      if (bits & 1)
        result = mul(result, square);
      if (bits > 1)
        square = mul(square, square);
    }
    return result;
  }
  if (n == 0)
    return splat(x, 1);
  if (n == 1)
    return x;
  if (n == 0.5)
    return sqrt(x);
  if (n == -0.5)
    return rsqrt(x);
  if (n == -1)
    return recip(x);
  if (n != 2 && n != 3 && n != -2)
    return pow(x, splat(x, n));
  Value v = type.isF64() ? x : cast(x, builder.getF32Type());
  Value result = mul(v, v);
  if (n == 3)
    result = mul(result, v);
  if (n == -2)
    result = recip(result);
  return cast(result, type);
}
