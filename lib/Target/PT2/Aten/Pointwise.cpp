//===- Pointwise.cpp - Arithmetic and scalar functions --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "OpCall.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace luminal;
using namespace luminal::hlir;
using namespace luminal::pt2;

//===----------------------------------------------------------------------===//
// Binary arithmetic
//===----------------------------------------------------------------------===//

namespace {
using BinaryFn = llvm::function_ref<Value(Value, Value)>;
using UnaryFn = llvm::function_ref<Value(Value)>;
} // namespace

/// Whether the operand is a number or a rank-0 tensor: beside a larger f16 or
/// bf16 tensor, PyTorch keeps it in f32.
static bool isScalarLike(OpCall &o, const Operand &a) { return o.rank(a) == 0; }

/// Promotes, broadcasts, computes in the wider type if there is one, and rounds
/// once.
static Status arithmetic(OpCall &o, const Operand &a, const Operand &b,
                         BinaryFn fn, bool alwaysWide = false,
                         bool toFloat = false) {
  Type type = o.promote({a, b});
  if (toFloat && !isa<FloatType>(type))
    type = o.f32();
  LUMINAL_TRY(shape, o.commonShape({a, b}));
  bool wide = alwaysWide || isScalarLike(o, a) || isScalarLike(o, b);
  Type compute = wide ? o.opmath(type) : type;
  auto operand = [&](const Operand &x) {
    // Tensors with dims are rounded to the common type first.
    if (o.rank(x) && compute != type)
      return o.broadcastTo(o.c.cast(o.c.cast(*x.tensor, type), compute), shape);
    return o.as(x, compute, shape);
  };
  Value x = operand(a), y = operand(b);
  return o.ret(o.c.cast(fn(x, y), type));
}

static bool bothBool(OpCall &o, const Operand &a, const Operand &b) {
  return o.promote({a, b}).isInteger(1);
}

/// a + alpha * b, or a - alpha * b.
static Status addScaled(OpCall &o, const Operand &a, const Operand &b,
                        bool subtract) {
  Number alpha = o.number("alpha");
  bool one = alpha.asDouble() == 1.0;
  if (bothBool(o, a, b)) {
    if (subtract || !one)
      return o.fail("subtraction and scaling of bool are not defined");
    return arithmetic(o, a, b,
                      [&](Value x, Value y) { return o.c.logicalOr(x, y); });
  }
  if (!isa<FloatType>(o.promote({a, b})) && alpha.kind == Number::Float)
    return o.fail("alpha is a float and the operands are integers");
  return arithmetic(
      o, a, b,
      [&](Value x, Value y) {
        if (!one)
          y = o.c.mul(y, o.broadcastTo(o.materialize(alpha, o.element(y)),
                                       o.extents(y)));
        return subtract ? o.c.sub(x, y) : o.c.add(x, y);
      },
      !one);
}

static Status add(OpCall &o) {
  return addScaled(o, o.operand("self"), o.operand("other"), false);
}
static Status sub(OpCall &o) {
  return addScaled(o, o.operand("self"), o.operand("other"), true);
}
static Status rsub(OpCall &o) {
  return addScaled(o, o.operand("other"), o.operand("self"), true);
}

static Status mul(OpCall &o) {
  return arithmetic(o, o.operand("self"), o.operand("other"),
                    [&](Value x, Value y) { return o.c.mul(x, y); });
}

static Status div(OpCall &o) {
  return arithmetic(
      o, o.operand("self"), o.operand("other"),
      [&](Value x, Value y) { return o.c.div(x, y); }, false, true);
}

/// `result`, a quotient or remainder of x by y, with a replacement where y is
/// an integer zero (an error in PyTorch's CPU kernels). The replacement is what
/// its CUDA kernels give: all bits set; for i64 only the lower half, if x fits
/// into it; with `down` and a negative x, one less.
static Value orByZero(OpCall &o, Value result, Value x, Value y,
                      const Operand &divisor, bool down = false) {
  if (o.isFloat(result))
    return result;
  auto known = divisor.tensor ? std::nullopt : divisor.number.asDouble();
  if (known && *known != 0)
    return result;
  Composer &c = o.c;
  Type type = o.element(x);
  // Each bound fits into i64; the cast of `fill` wraps.
  Value wide = c.cast(x, o.i64());
  auto constant = [&](int64_t value) { return c.splatInt(wide, value); };
  Value fill = constant(-1), negative = c.less(wide, constant(0));
  if (down)
    fill = c.select(negative, constant(-2), fill);
  if (type.isInteger(64)) {
    constexpr int64_t half = int64_t(1) << 32;
    Value fits =
        c.logicalAnd(c.logicalNot(negative), c.less(wide, constant(half)));
    fill = c.select(fits, constant(half - 1), fill);
  }
  return c.select(c.equal(y, c.splatInt(y, 0)), c.cast(fill, type), result);
}

static Status divideRounded(OpCall &o, StringRef mode) {
  Operand a = o.operand("self"), b = o.operand("other");
  if (bothBool(o, a, b))
    return o.fail("division of bool with rounding is not supported");
  bool floats = isa<FloatType>(o.promote({a, b})), down = mode == "floor";
  return arithmetic(
      o, a, b,
      [&](Value x, Value y) {
        if (floats)
          return down ? o.c.floorDiv(x, y) : o.c.trunc(o.c.div(x, y));
        Value q = down ? o.c.floorDiv(x, y) : o.c.truncDiv(x, y);
        return orByZero(o, q, x, y, b, down);
      },
      true);
}

static Status divMode(OpCall &o) {
  if (!o.has("rounding_mode"))
    return div(o);
  StringRef mode = o.string("rounding_mode");
  if (mode != "floor" && mode != "trunc")
    return o.fail("rounding_mode '" + mode + "' is not known");
  return divideRounded(o, mode);
}

static Status floorDivide(OpCall &o) { return divideRounded(o, "floor"); }

static Status remainder(OpCall &o) {
  Operand a = o.operand("self"), b = o.operand("other");
  if (bothBool(o, a, b))
    return o.fail("remainder of bool is not supported");
  return arithmetic(
      o, a, b,
      [&](Value x, Value y) {
        return orByZero(o, o.c.floorMod(x, y), x, y, b);
      },
      true);
}

static Status fmod(OpCall &o) {
  Operand a = o.operand("self"), b = o.operand("other");
  if (bothBool(o, a, b))
    return o.fail("remainder of bool is not supported");
  return arithmetic(o, a, b, [&](Value x, Value y) {
    return orByZero(o, o.c.fmod(x, y), x, y, b);
  });
}

static Status maximum(OpCall &o) {
  return arithmetic(
      o, o.operand("self"), o.operand("other"), [&](Value x, Value y) {
        return o.isBool(x) ? o.c.logicalOr(x, y) : o.c.maximum(x, y);
      });
}
static Status minimum(OpCall &o) {
  return arithmetic(
      o, o.operand("self"), o.operand("other"), [&](Value x, Value y) {
        return o.isBool(x) ? o.c.logicalAnd(x, y) : o.c.minimum(x, y);
      });
}

static Status logaddexp(OpCall &o) {
  return arithmetic(
      o, o.operand("self"), o.operand("other"),
      [&](Value x, Value y) {
        // m + log1p(exp(-|x - y|)); the difference of equal infinities would be
        // NaN.
        Value m = o.c.maximum(x, y);
        Value distance = o.c.neg(o.c.abs(o.c.sub(x, y)));
        Value sum = o.c.add(m, o.c.log1p(o.c.exp(distance)));
        Value same = o.c.logicalAnd(
            o.c.equal(x, y),
            o.c.equal(o.c.abs(x),
                      o.c.splat(x, std::numeric_limits<double>::infinity())));
        return o.c.select(same, x, sum);
      },
      true);
}

//===----------------------------------------------------------------------===//
// Powers
//===----------------------------------------------------------------------===//

/// x^y of integers, with wrap-around, by repeated squaring from the highest of
/// the `bits` bits of y down. For a negative y: 1 stays 1, -1 becomes 1 or -1,
/// anything else becomes 0.
static Value integerPower(Composer &c, Value x, Value y, unsigned bits) {
  Value one = c.splatInt(x, 1), zero = c.splatInt(x, 0), result = one, rest = y;
  for (unsigned bit = bits; bit-- > 0;) {
    Value weight = c.splatInt(x, int64_t(1) << bit);
    Value lacks = c.less(rest, weight);
    Value square = bit + 1 == bits ? result : c.mul(result, result);
    result = c.select(lacks, square, c.mul(square, x));
    rest = c.select(lacks, rest, c.sub(rest, weight));
  }
  Value minus = c.splatInt(x, -1);
  // The remainder has the sign of y.
  Value odd = c.logicalNot(c.equal(c.fmod(y, c.splatInt(y, 2)), zero));
  Value ofMinus = c.select(odd, minus, one);
  Value negative = c.select(c.equal(x, one), one,
                            c.select(c.equal(x, minus), ofMinus, zero));
  return c.select(c.less(y, zero), negative, result);
}

static Status power(OpCall &o, const Operand &base, const Operand &exponent) {
  Type type = o.promote({base, exponent});
  if (isa<FloatType>(type))
    return arithmetic(
        o, base, exponent, [&](Value x, Value y) { return o.c.pow(x, y); },
        true);
  if (type.isInteger(1))
    return o.fail("is not defined for bool");
  LUMINAL_TRY(operands, o.promotePair(base, exponent));
  auto [x, y] = operands;
  unsigned bits =
      type.getIntOrFloatBitWidth() - (type.isUnsignedInteger() ? 0 : 1);
  return o.ret(o.c.cast(integerPower(o.c, x, y, bits), type));
}

static Status powTensorScalar(OpCall &o) {
  Operand base = o.operand("self");
  Number exponent = o.number("exponent");
  auto known = exponent.asDouble();
  if (!known)
    return power(o, base, exponent);
  double n = *known;
  Type type = o.promote({base, exponent});
  Value x = o.as(base, type);
  if (isa<FloatType>(type)) {
    Type wide = o.opmath(type);
    return o.ret(o.c.cast(o.c.powScalar(o.c.cast(x, wide), n), type));
  }
  if (type.isInteger(1))
    return o.fail("is not defined for bool");
  // PyTorch rejects this too.
  if (n < 0)
    return o.fail("is not defined for integers and a negative exponent");
  Type narrow = type;
  type = computedType(type);
  x = o.c.cast(x, type);
  Value result = o.c.splatInt(x, 1);
  for (int64_t bits = *exponent.integer.asConstant(); bits; bits >>= 1) {
    if (bits & 1)
      result = o.c.mul(result, x);
    if (bits > 1)
      x = o.c.mul(x, x);
  }
  return o.ret(o.c.cast(result, narrow));
}
static Status powTensorTensor(OpCall &o) {
  return power(o, o.operand("self"), o.operand("exponent"));
}
static Status powScalar(OpCall &o) {
  return power(o, o.number("self"), o.operand("exponent"));
}

//===----------------------------------------------------------------------===//
// Scalar functions
//===----------------------------------------------------------------------===//

/// Applies fn to floats (integers as f32, f16 and bf16 in f32) and rounds once.
static Value floatOfSelf(OpCall &o, UnaryFn fn) {
  Value x = o.toFloat(o.tensor("self"));
  Type type = o.element(x);
  return o.c.cast(fn(o.c.cast(x, o.opmath(type))), type);
}
static Status floatUnary(OpCall &o, UnaryFn fn) {
  return o.ret(floatOfSelf(o, fn));
}

/// Handler for a single function of Composer on floats.
template <Value (Composer::*fn)(Value)>
static Status unary(OpCall &o) {
  Value x = o.toFloat(o.tensor("self"));
  return o.ret((o.c.*fn)(x));
}

static Status neg(OpCall &o) {
  Value x = o.tensor("self");
  if (o.isBool(x))
    return o.fail("negation of bool is not defined");
  return o.ret(o.c.neg(x));
}
static Status abs(OpCall &o) {
  Value x = o.tensor("self");
  return o.ret(o.isBool(x) ? x : o.c.abs(x));
}
static Status relu(OpCall &o) { return o.ret(o.c.relu(o.tensor("self"))); }
/// floor, ceil, trunc, round return integers unchanged.
template <Value (Composer::*fn)(Value)>
static Status rounding(OpCall &o) {
  Value x = o.tensor("self");
  return o.ret(o.isFloat(x) ? (o.c.*fn)(x) : x);
}
/// Scales by a power of ten in the tensor's own type, rounds, and scales back.
static Status roundDecimals(OpCall &o) {
  int64_t decimals = o.integer("decimals");
  Value x = o.tensor("self");
  if (decimals == 0 || !o.isFloat(x))
    return rounding<&Composer::round>(o);
  Composer &c = o.c;
  Value scale = c.splat(x, std::pow(10.0, std::abs(double(decimals))));
  return o.ret(decimals > 0 ? c.div(c.round(c.mul(x, scale)), scale)
                            : c.mul(c.round(c.div(x, scale)), scale));
}
static Status square(OpCall &o) {
  Value x = o.tensor("self");
  return o.ret(o.c.mul(x, x));
}
static Status frac(OpCall &o) {
  return floatUnary(o, [&](Value x) { return o.c.sub(x, o.c.trunc(x)); });
}
static Status log10(OpCall &o) {
  // In f64, rounded once: log2 of an exact power of ten is inexact.
  Value x = o.toFloat(o.tensor("self"));
  Type type = o.element(x), wide = o.c.getBuilder().getF64Type();
  Value y = o.c.cast(x, wide);
  return o.ret(o.c.cast(
      o.c.mul(o.c.log2(y), o.c.splat(y, 0.30102999566398119521)), type));
}
static Status tan(OpCall &o) {
  Value x = o.toFloat(o.tensor("self"));
  Type type = o.element(x), wide = o.c.getBuilder().getF64Type();
  Value y = o.c.cast(x, wide);
  return o.ret(o.c.cast(o.c.div(o.c.sin(y), o.c.cos(y)), type));
}
/// (e^x -+ e^-x) / 2 by expm1, which is accurate for small x.
static Status sinh(OpCall &o) {
  Value x = o.toFloat(o.tensor("self"));
  Type type = o.element(x), wide = o.c.getBuilder().getF64Type();
  Value y = o.c.cast(x, wide);
  Value d = o.c.sub(o.c.expm1(y), o.c.expm1(o.c.neg(y)));
  return o.ret(o.c.cast(o.c.mul(d, o.c.splat(d, 0.5)), type));
}
static Status cosh(OpCall &o) {
  Value x = o.toFloat(o.tensor("self"));
  Type type = o.element(x), wide = o.c.getBuilder().getF64Type();
  Value y = o.c.cast(x, wide);
  Value d = o.c.add(o.c.exp(y), o.c.exp(o.c.neg(y)));
  return o.ret(o.c.cast(o.c.mul(d, o.c.splat(d, 0.5)), type));
}
static Status sign(OpCall &o) {
  Value x = o.tensor("self");
  if (o.isBool(x))
    return o.ret(x);
  Value zero = o.c.splatInt(x, 0);
  Value below = o.c.select(o.c.less(x, zero), o.c.splatInt(x, -1), zero);
  return o.ret(o.c.select(o.c.less(zero, x), o.c.splatInt(x, 1), below));
}
static Status gelu(OpCall &o) {
  StringRef form = o.string("approximate");
  Value x = o.toFloat(o.tensor("self"));
  if (form == "none")
    return o.ret(o.c.gelu(x));
  if (form == "tanh")
    return o.ret(o.c.geluTanh(x));
  return o.fail("approximate '" + form + "' is not known");
}

/// log(1 + e^x), without overflow.
static Value softplusOf(Composer &c, Value x) {
  Value m = c.maximum(x, c.splat(x, 0));
  return c.add(m, c.log1p(c.exp(c.neg(c.abs(x)))));
}
static Status softplus(OpCall &o) {
  double beta = o.real("beta"), threshold = o.real("threshold");
  return floatUnary(o, [&](Value x) {
    Value scaled = o.c.mul(x, o.c.splat(x, beta));
    Value soft = o.c.div(softplusOf(o.c, scaled), o.c.splat(x, beta));
    return o.c.select(o.c.less(o.c.splat(x, threshold), scaled), x, soft);
  });
}
static Status logSigmoid(OpCall &o) {
  return floatUnary(o, [&](Value x) {
    Value m = o.c.minimum(x, o.c.splat(x, 0));
    return o.c.sub(m, o.c.log1p(o.c.exp(o.c.neg(o.c.abs(x)))));
  });
}
static Status mish(OpCall &o) {
  return floatUnary(
      o, [&](Value x) { return o.c.mul(x, o.c.tanh(softplusOf(o.c, x))); });
}
static Value leakyReluOf(OpCall &o, double slope) {
  return floatOfSelf(o, [&](Value x) {
    return o.c.select(o.c.less(o.c.splat(x, 0), x), x,
                      o.c.mul(x, o.c.splat(x, slope)));
  });
}
static Status leakyRelu(OpCall &o) {
  return o.ret(leakyReluOf(o, o.real("negative_slope")));
}
/// Outside training, the slope is the mean of the range that training draws
/// from. The op with `noise` also returns the drawn slopes; there are none.
template <bool hasNoise>
static Status rrelu(OpCall &o) {
  if (o.flag("training"))
    return o.fail("draws random numbers (training is true)");
  Value y = leakyReluOf(o, (o.real("lower") + o.real("upper")) / 2);
  if constexpr (hasNoise)
    return o.ret({y, o.tensor("noise")});
  return o.ret(y);
}
static Status eluWith(OpCall &o, double alpha, double scale,
                      double inputScale) {
  return floatUnary(o, [&](Value x) {
    Value negative = o.c.mul(o.c.expm1(o.c.mul(x, o.c.splat(x, inputScale))),
                             o.c.splat(x, alpha * scale));
    Value positive = o.c.mul(x, o.c.splat(x, scale));
    return o.c.select(o.c.less(o.c.splat(x, 0), x), positive, negative);
  });
}
static Status elu(OpCall &o) {
  return eluWith(o, o.real("alpha"), o.real("scale"), o.real("input_scale"));
}
static Status selu(OpCall &o) {
  return eluWith(o, 1.6732632423543772848170429916717,
                 1.0507009873554804934193349852946, 1.0);
}
static Status celu(OpCall &o) {
  double alpha = o.real("alpha");
  return eluWith(o, alpha, 1.0, 1.0 / alpha);
}
static Value clampTo(Composer &c, Value x, double lo, double hi) {
  return c.minimum(c.maximum(x, c.splat(x, lo)), c.splat(x, hi));
}
static Status hardswish(OpCall &o) {
  return floatUnary(o, [&](Value x) {
    Value gate = clampTo(o.c, o.c.add(x, o.c.splat(x, 3)), 0, 6);
    return o.c.div(o.c.mul(x, gate), o.c.splat(x, 6));
  });
}
static Status hardsigmoid(OpCall &o) {
  return floatUnary(o, [&](Value x) {
    Value gate = clampTo(o.c, o.c.add(x, o.c.splat(x, 3)), 0, 6);
    return o.c.div(gate, o.c.splat(x, 6));
  });
}
static Status relu6(OpCall &o) {
  return floatUnary(o, [&](Value x) { return clampTo(o.c, x, 0, 6); });
}

//===----------------------------------------------------------------------===//
// Clamping
//===----------------------------------------------------------------------===//

static Status clampWith(OpCall &o, std::optional<Operand> lo,
                        std::optional<Operand> hi) {
  Operand x = o.operand("self");
  SmallVector<Operand> all = {x};
  for (const auto &bound : {lo, hi})
    if (bound)
      all.push_back(*bound);
  if (all.size() == 1)
    return o.fail("has neither a lower nor an upper bound");
  Type type = o.promote(all);
  if (type.isInteger(1))
    return o.fail("clamp of bool is not defined");
  LUMINAL_TRY(shape, o.commonShape(all));
  Value result = o.as(x, type, shape);
  if (lo)
    result = o.c.maximum(result, o.as(*lo, type, shape));
  if (hi)
    result = o.c.minimum(result, o.as(*hi, type, shape));
  return o.ret(result);
}
static Status clamp(OpCall &o) {
  return clampWith(o, o.operandOrNone("min"), o.operandOrNone("max"));
}
static Status clampMin(OpCall &o) {
  return clampWith(o, o.operandOrNone("min"), std::nullopt);
}
static Status clampMax(OpCall &o) {
  return clampWith(o, std::nullopt, o.operandOrNone("max"));
}
static Status hardtanh(OpCall &o) {
  return clampWith(o, o.operandOrNone("min_val"), o.operandOrNone("max_val"));
}
static Status threshold(OpCall &o) {
  Value x = o.tensor("self");
  auto splat = [&](StringRef name) {
    return o.broadcastTo(o.materialize(o.number(name), o.element(x)),
                         o.extents(x));
  };
  Value bound = splat("threshold"), value = splat("value");
  return o.ret(o.c.select(o.c.lessEqual(x, bound), value, x));
}
static Status nanToNum(OpCall &o) {
  Value x = o.tensor("self");
  auto nan = o.realOrNone("nan"), high = o.realOrNone("posinf"),
       low = o.realOrNone("neginf");
  if (!o.isFloat(x))
    return o.ret(x);
  const auto &semantics = cast<FloatType>(o.element(x)).getFloatSemantics();
  double largest = llvm::APFloat::getLargest(semantics).convertToDouble();
  double inf = std::numeric_limits<double>::infinity();
  Value y = o.c.select(o.c.isNan(x), o.c.splat(x, nan.value_or(0)), x);
  y = o.c.select(o.c.equal(x, o.c.splat(x, inf)),
                 o.c.splat(x, high.value_or(largest)), y);
  return o.ret(o.c.select(o.c.equal(x, o.c.splat(x, -inf)),
                          o.c.splat(x, low.value_or(-largest)), y));
}

//===----------------------------------------------------------------------===//
// Three operands
//===----------------------------------------------------------------------===//

static Status addProduct(OpCall &o, bool divide) {
  Operand self = o.operand("self"), a = o.operand("tensor1"),
          b = o.operand("tensor2");
  Number value = o.number("value");
  Type type = o.promote({self, a, b});
  if (type.isInteger(1) || (divide && !isa<FloatType>(type)))
    return o.fail("is not defined for this dtype");
  LUMINAL_TRY(shape, o.commonShape({self, a, b}));
  Type wide = o.opmath(type);
  Value x = o.as(a, wide, shape), y = o.as(b, wide, shape);
  Value factor = o.broadcastTo(o.materialize(value, wide), shape);
  Value term = o.c.mul(factor, x);
  term = divide ? o.c.div(term, y) : o.c.mul(term, y);
  return o.ret(o.c.cast(o.c.add(o.as(self, wide, shape), term), type));
}
static Status addcmul(OpCall &o) { return addProduct(o, false); }
static Status addcdiv(OpCall &o) { return addProduct(o, true); }

/// a * b + c, into which PyTorch decomposes updates by a product; a and b may
/// be numbers.
static Status multiplyAdd(OpCall &o) {
  Operand a = o.operand("a"), b = o.operand("b"), c = o.operand("c");
  Type type = o.promote({a, b, c});
  if (type.isInteger(1))
    return o.fail("is not defined for this dtype");
  LUMINAL_TRY(shape, o.commonShape({a, b, c}));
  Type wide = o.opmath(type);
  Value term = o.c.mul(o.as(a, wide, shape), o.as(b, wide, shape));
  return o.ret(o.c.cast(o.c.add(term, o.as(c, wide, shape)), type));
}

static Status lerp(OpCall &o) {
  Operand self = o.operand("self"), end = o.operand("end"),
          weight = o.operand("weight");
  Type type = o.promote({self, end});
  LUMINAL_TRY(shape, o.commonShape({self, end, weight}));
  Type wide = o.opmath(type);
  Value a = o.as(self, wide, shape), b = o.as(end, wide, shape),
        w = o.as(weight, wide, shape);
  // From the nearer end, like PyTorch.
  Value d = o.c.sub(b, a), one = o.c.splat(a, 1);
  Value near = o.c.add(a, o.c.mul(w, d));
  Value far = o.c.sub(b, o.c.mul(d, o.c.sub(one, w)));
  Value small = o.c.less(o.c.abs(w), o.c.splat(a, 0.5));
  return o.ret(o.c.cast(o.c.select(small, near, far), type));
}

llvm::ArrayRef<OpRow> pt2::getPointwiseOps() {
  static const OpRow rows[] = {
      {"add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1)", add},
      {"add.Scalar(Tensor self, Tensor other, Scalar alpha=1)", add},
      {"sub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1)", sub},
      {"sub.Scalar(Tensor self, Tensor other, Scalar alpha=1)", sub},
      {"rsub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1)", rsub},
      {"rsub.Scalar(Tensor self, Tensor other, Scalar alpha=1)", rsub},
      {"mul.Tensor(Tensor self, Tensor other)", mul},
      {"mul.Scalar(Tensor self, Tensor other)", mul},
      {"div.Tensor(Tensor self, Tensor other)", div},
      {"div.Scalar(Tensor self, Tensor other)", div},
      {"div.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode)",
       divMode},
      {"div.Scalar_mode(Tensor self, Tensor other, *, str? rounding_mode)",
       divMode},
      {"floor_divide(Tensor self, Tensor other)", floorDivide},
      {"floor_divide.Scalar(Tensor self, Tensor other)", floorDivide},
      {"remainder.Tensor(Tensor self, Tensor other)", remainder},
      {"remainder.Scalar(Tensor self, Tensor other)", remainder},
      {"remainder.Scalar_Tensor(Tensor self, Tensor other)", remainder},
      {"fmod.Tensor(Tensor self, Tensor other)", fmod},
      {"fmod.Scalar(Tensor self, Tensor other)", fmod},
      {"maximum(Tensor self, Tensor other)", maximum},
      {"minimum(Tensor self, Tensor other)", minimum},
      {"max.other(Tensor self, Tensor other)", maximum},
      {"min.other(Tensor self, Tensor other)", minimum},
      {"logaddexp(Tensor self, Tensor other)", logaddexp},
      {"pow.Tensor_Scalar(Tensor self, Scalar exponent)", powTensorScalar},
      {"pow.Tensor_Tensor(Tensor self, Tensor exponent)", powTensorTensor},
      {"pow.Scalar(Scalar self, Tensor exponent)", powScalar},
      {"neg(Tensor self)", neg},
      {"abs(Tensor self)", abs},
      {"relu(Tensor self)", relu},
      {"square(Tensor self)", square},
      {"frac(Tensor self)", frac},
      {"sign(Tensor self)", sign},
      {"sgn(Tensor self)", sign},
      {"exp(Tensor self)", unary<&Composer::exp>},
      {"exp2(Tensor self)", unary<&Composer::exp2>},
      {"expm1(Tensor self)", unary<&Composer::expm1>},
      {"log(Tensor self)", unary<&Composer::log>},
      {"log2(Tensor self)", unary<&Composer::log2>},
      {"log10(Tensor self)", log10},
      {"log1p(Tensor self)", unary<&Composer::log1p>},
      {"sin(Tensor self)", unary<&Composer::sin>},
      {"cos(Tensor self)", unary<&Composer::cos>},
      {"tan(Tensor self)", tan},
      {"sinh(Tensor self)", sinh},
      {"cosh(Tensor self)", cosh},
      {"tanh(Tensor self)", unary<&Composer::tanh>},
      {"erf(Tensor self)", unary<&Composer::erf>},
      {"sqrt(Tensor self)", unary<&Composer::sqrt>},
      {"rsqrt(Tensor self)", unary<&Composer::rsqrt>},
      {"reciprocal(Tensor self)", unary<&Composer::recip>},
      {"sigmoid(Tensor self)", unary<&Composer::sigmoid>},
      {"silu(Tensor self)", unary<&Composer::silu>},
      {"gelu(Tensor self, *, str approximate=none)", gelu},
      {"softplus(Tensor self, float beta=1, float threshold=20)", softplus},
      {"log_sigmoid(Tensor self)", logSigmoid},
      {"mish(Tensor self)", mish},
      {"leaky_relu(Tensor self, float negative_slope=0.01)", leakyRelu},
      {"rrelu(Tensor self, float lower=0.125, "
       "float upper=0.3333333333333333, bool training=False, "
       "Generator? generator=None)",
       rrelu<false>},
      {"rrelu_with_noise_functional(Tensor self, Tensor noise, "
       "float lower=0.125, float upper=0.3333333333333333, "
       "bool training=False, Generator? generator=None)",
       rrelu<true>},
      {"elu(Tensor self, float alpha=1, float scale=1, "
       "float input_scale=1)",
       elu},
      {"selu(Tensor self)", selu},
      {"celu(Tensor self, float alpha=1.0)", celu},
      {"hardswish(Tensor self)", hardswish},
      {"hardsigmoid(Tensor self)", hardsigmoid},
      {"relu6(Tensor self)", relu6},
      {"floor(Tensor self)", rounding<&Composer::floor>},
      {"ceil(Tensor self)", rounding<&Composer::ceil>},
      {"trunc(Tensor self)", rounding<&Composer::trunc>},
      {"round(Tensor self)", rounding<&Composer::round>},
      {"round.decimals(Tensor self, *, int decimals)", roundDecimals},
      {"special_round(Tensor self, *, int decimals=0)", roundDecimals},
      {"clamp(Tensor self, Tensor? min=None, Tensor? max=None)", clamp},
      {"clamp.Tensor(Tensor self, Tensor? min=None, Tensor? max=None)", clamp},
      {"clamp_min(Tensor self, Tensor min)", clampMin},
      {"clamp_min.Tensor(Tensor self, Tensor min)", clampMin},
      {"clamp_max(Tensor self, Tensor max)", clampMax},
      {"clamp_max.Tensor(Tensor self, Tensor max)", clampMax},
      {"hardtanh(Tensor self, Tensor min_val=-1, Tensor max_val=1)", hardtanh},
      {"threshold(Tensor self, Scalar threshold, Scalar value)", threshold},
      {"nan_to_num(Tensor self, float? nan=None, float? posinf=None, "
       "float? neginf=None)",
       nanToNum},
      {"addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, "
       "Scalar value=1)",
       addcmul},
      {"addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, "
       "Scalar value=1)",
       addcdiv},
      {"prims::fma(Tensor a, Tensor b, Tensor c)", multiplyAdd},
      {"lerp.Scalar(Tensor self, Tensor end, Tensor weight)", lerp},
      {"lerp.Tensor(Tensor self, Tensor end, Tensor weight)", lerp},
  };
  return rows;
}
