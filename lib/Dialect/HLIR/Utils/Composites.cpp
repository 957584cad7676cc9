//===- Composites.cpp - Constants, arithmetic and logic -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Dialect/HLIR/Utils/Composites.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace luminal;
using namespace luminal::hlir;

static RankedTensorType typeOf(Value v) {
  return cast<RankedTensorType>(v.getType());
}
static Type elementOf(Value v) { return typeOf(v).getElementType(); }
static bool isFloat(Value v) { return isa<FloatType>(elementOf(v)); }

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

Value Composer::scalar(Type elementType, double value) {
  if (!isa<FloatType>(elementType))
    return scalarInt(elementType, static_cast<int64_t>(value));
  auto type = RankedTensorType::get({}, elementType);
  auto attr = builder.getFloatAttr(elementType, value);
  return ConstantOp::create(builder, loc, type,
                            DenseElementsAttr::get(type, attr));
}

Value Composer::scalarInt(Type elementType, int64_t value) {
  if (isa<FloatType>(elementType))
    return scalar(elementType, static_cast<double>(value));
  auto type = RankedTensorType::get({}, elementType);
  auto attr = IntegerAttr::get(
      elementType,
      APInt(elementType.getIntOrFloatBitWidth(), static_cast<uint64_t>(value),
            /*isSigned=*/true, /*implicitTrunc=*/true));
  return ConstantOp::create(builder, loc, type,
                            DenseElementsAttr::get(type, Attribute(attr)));
}

Value Composer::full(ArrayRef<Expr> extents, Value scalarValue) {
  return view(scalarValue, extents, {});
}

Value Composer::splat(Value like, double value, Type elementType) {
  Type element = elementType ? elementType : elementOf(like);
  return full(getExtents(like), scalar(element, value));
}

Value Composer::splatInt(Value like, int64_t value, Type elementType) {
  Type element = elementType ? elementType : elementOf(like);
  return full(getExtents(like), scalarInt(element, value));
}

//===----------------------------------------------------------------------===//
// Primitives
//===----------------------------------------------------------------------===//

Type hlir::computedType(Type type) {
  if (!isStorageType(type))
    return type;
  if (isa<FloatType>(type))
    return Float32Type::get(type.getContext());
  return IntegerType::get(type.getContext(),
                          type.isUnsignedInteger(32) ? 64 : 32);
}

/// Emits an elementwise op. Storage types are computed in a wider type and cast
/// back.
template <typename Op, typename... Values>
static Value elementwise(Composer &c, Value first, Values... rest) {
  Type type = elementOf(first), wide = computedType(type);
  if (wide != type)
    return c.cast(
        elementwise<Op>(c, c.cast(first, wide), c.cast(rest, wide)...), type);
  return Op::create(c.getBuilder(), c.getLoc(), first.getType(), first,
                    rest...);
}

Value Composer::cast(Value x, Type elementType) {
  if (elementOf(x) == elementType)
    return x;
  return CastOp::create(builder, loc, withElementType(typeOf(x), elementType),
                        x);
}

Value Composer::bitcast(Value x, Type elementType) {
  if (elementOf(x) == elementType)
    return x;
  return BitcastOp::create(builder, loc,
                           withElementType(typeOf(x), elementType), x);
}

Value Composer::add(Value a, Value b) {
  return elementwise<AddOp>(*this, a, b);
}
Value Composer::mul(Value a, Value b) {
  return elementwise<MulOp>(*this, a, b);
}
Value Composer::fmod(Value a, Value b) {
  return elementwise<ModOp>(*this, a, b);
}
Value Composer::exp2(Value x) { return elementwise<Exp2Op>(*this, x); }
Value Composer::log2(Value x) { return elementwise<Log2Op>(*this, x); }
Value Composer::sin(Value x) { return elementwise<SinOp>(*this, x); }
Value Composer::sqrt(Value x) { return elementwise<SqrtOp>(*this, x); }
Value Composer::recip(Value x) { return elementwise<RecipOp>(*this, x); }

Value Composer::less(Value a, Value b) {
  if (Type wide = computedType(elementOf(a)); wide != elementOf(a))
    return less(cast(a, wide), cast(b, wide));
  return LessThanOp::create(
      builder, loc, withElementType(typeOf(a), builder.getI1Type()), a, b);
}
Value Composer::select(Value condition, Value onTrue, Value onFalse) {
  return SelectOp::create(builder, loc, onTrue.getType(), condition, onTrue,
                          onFalse);
}

Value Composer::neg(Value a) { return mul(a, splatInt(a, -1)); }
Value Composer::sub(Value a, Value b) { return add(a, neg(b)); }

//===----------------------------------------------------------------------===//
// Logic
//===----------------------------------------------------------------------===//

/// not x is `x < true`.
Value Composer::logicalNot(Value x) { return less(x, splatInt(x, 1)); }
Value Composer::logicalAnd(Value a, Value b) { return mul(a, b); }
Value Composer::logicalOr(Value a, Value b) { return select(a, a, b); }
Value Composer::logicalXor(Value a, Value b) {
  return select(a, logicalNot(b), b);
}

/// True unless x is NaN: every number is below 0 or above -1.
static Value isNumber(Composer &c, Value x) {
  return c.logicalOr(c.less(x, c.splat(x, 0)), c.less(c.splat(x, -1), x));
}

Value Composer::isNan(Value x) {
  if (!isFloat(x))
    return splatInt(x, 0, builder.getI1Type());
  return logicalNot(isNumber(*this, x));
}

Value Composer::lessEqual(Value a, Value b) {
  Value notGreater = logicalNot(less(b, a));
  if (!isFloat(a))
    return notGreater;
  return logicalAnd(notGreater,
                    logicalAnd(isNumber(*this, a), isNumber(*this, b)));
}

Value Composer::equal(Value a, Value b) {
  Value neither = logicalAnd(logicalNot(less(a, b)), logicalNot(less(b, a)));
  if (!isFloat(a))
    return neither;
  return logicalAnd(neither,
                    logicalAnd(isNumber(*this, a), isNumber(*this, b)));
}

//===----------------------------------------------------------------------===//
// Bits
//===----------------------------------------------------------------------===//

namespace {
/// Tensors over the elements of an integer and, along a last dim, its bits.
struct BitSpace {
  BitSpace(Composer &c, Value like)
      : c(c), extents(hlir::getExtents(like)), map(identityMap(extents.size())),
        type(elementOf(like)), width(type.getIntOrFloatBitWidth()) {
    extents.push_back(Expr(int64_t(width)));
  }

  /// An element repeated for each of its bits.
  Value spread(Value x) { return c.view(x, extents, map); }
  /// A constant for each bit, repeated for each element.
  Value table(function_ref<APInt(unsigned)> valueOf) {
    SmallVector<APInt> values;
    for (unsigned k = 0; k < width; ++k)
      values.push_back(valueOf(k));
    auto of = RankedTensorType::get({int64_t(width)}, type);
    Value constant = ConstantOp::create(c.getBuilder(), c.getLoc(), of,
                                        DenseElementsAttr::get(of, values));
    return c.view(constant, extents, {Expr::dim(extents.size() - 1)});
  }
  /// 1, 2, 4, ..., the values of the bits.
  Value places() {
    return table([this](unsigned k) { return APInt::getOneBitSet(width, k); });
  }
  /// The sum over the bits of the places where `condition` holds.
  Value sumOfPlaces(Value condition, Value places) {
    return c.reduceSum(c.select(condition, places, c.splatInt(places, 0)),
                       {unsigned(extents.size() - 1)}, /*keepDim=*/false);
  }

  Composer &c;
  SmallVector<Expr> extents, map;
  Type type;
  unsigned width;
};
} // namespace

/// Bit k of x is the sign of x * 2^(width - 1 - k), which wraps. The sum of the
/// powers of two of the bits that both operands have is exact.
Value Composer::bitAnd(Value a, Value b) {
  Type type = elementOf(a), wide = computedType(type);
  if (type.isInteger(1))
    return logicalAnd(a, b);
  if (wide != type)
    return cast(bitAnd(cast(a, wide), cast(b, wide)), type);
  BitSpace space(*this, a);
  Value places = space.places();
  Value factors = space.table([&](unsigned k) {
    return APInt::getOneBitSet(space.width, space.width - 1 - k);
  });
  auto bits = [&](Value x) {
    return less(mul(space.spread(x), factors), splatInt(places, 0));
  };
  return space.sumOfPlaces(logicalAnd(bits(a), bits(b)), places);
}

/// By the identity a + b = (a | b) + (a & b), which holds with wrapping.
Value Composer::bitOr(Value a, Value b) {
  if (elementOf(a).isInteger(1))
    return logicalOr(a, b);
  return sub(add(a, b), bitAnd(a, b));
}

/// By the identity a + b = (a ^ b) + 2 (a & b), which holds with wrapping.
Value Composer::bitXor(Value a, Value b) {
  if (elementOf(a).isInteger(1))
    return logicalXor(a, b);
  Value both = bitAnd(a, b);
  return sub(add(a, b), add(both, both));
}

/// 2 to the power of each element, which wraps for the highest bit, and 0 for
/// an element that is not the number of a bit.
static Value powerOfTwo(Composer &c, Value exponent) {
  BitSpace space(c, exponent);
  Value numbers =
      space.table([&](unsigned k) { return APInt(space.width, k); });
  return space.sumOfPlaces(c.equal(space.spread(exponent), numbers),
                           space.places());
}

Value Composer::shiftLeft(Value x, Value amount) {
  Type type = elementOf(x), wide = computedType(type);
  if (wide != type)
    return cast(shiftLeft(cast(x, wide), cast(amount, wide)), type);
  return mul(x, powerOfTwo(*this, amount));
}

/// The power of two is not positive for the amounts of which only the sign
/// remains.
Value Composer::shiftRight(Value x, Value amount) {
  Type type = elementOf(x), wide = computedType(type);
  if (wide != type)
    return cast(shiftRight(cast(x, wide), cast(amount, wide)), type);
  Value factor = powerOfTwo(*this, amount), zero = splatInt(x, 0);
  return select(less(zero, factor), floorDiv(x, factor),
                select(less(x, zero), splatInt(x, -1), zero));
}

//===----------------------------------------------------------------------===//
// Order, sign and rounding: exact
//===----------------------------------------------------------------------===//

Value Composer::maximum(Value a, Value b) {
  if (elementOf(a).isInteger(1))
    return logicalOr(a, b);
  Value takeB = less(a, b);
  return select(isFloat(a) ? logicalOr(takeB, isNan(b)) : takeB, b, a);
}

Value Composer::minimum(Value a, Value b) {
  if (elementOf(a).isInteger(1))
    return logicalAnd(a, b);
  Value takeB = less(b, a);
  return select(isFloat(a) ? logicalOr(takeB, isNan(b)) : takeB, b, a);
}

/// -0 is not below 0, so the select keeps it; adding 0 makes it 0 and changes
/// nothing else.
Value Composer::abs(Value x) {
  Value magnitude = select(less(x, splatInt(x, 0)), neg(x), x);
  return isFloat(x) ? add(magnitude, splat(x, 0)) : magnitude;
}

/// NaN is not below 0, so it stays.
Value Composer::relu(Value x) {
  Value zero = splatInt(x, 0);
  return select(less(x, zero), zero, x);
}

/// If |x| < 1 the result is a zero with x's sign. Infinities and NaN have no
/// remainder and are returned as they are.
Value Composer::trunc(Value x) {
  if (!isFloat(x))
    return x;
  Value one = splat(x, 1);
  Value magnitude = abs(x);
  Value whole = sub(x, fmod(x, one));
  Value finite =
      less(magnitude, splat(x, std::numeric_limits<double>::infinity()));
  return select(less(magnitude, one), mul(x, splat(x, 0)),
                select(finite, whole, x));
}

Value Composer::floor(Value x) {
  if (!isFloat(x))
    return x;
  Value t = trunc(x);
  return select(less(x, t), add(t, splat(x, -1)), t);
}

Value Composer::ceil(Value x) {
  if (!isFloat(x))
    return x;
  Value t = trunc(x);
  return select(less(t, x), add(t, splat(x, 1)), t);
}

/// Rounds away from the truncated value where the fraction is above a half, or
/// is a half and that value is odd: where it is odd the fraction is compared
/// with the last number below a half.
Value Composer::round(Value x) {
  auto type = dyn_cast<FloatType>(elementOf(x));
  if (!type)
    return x;
  double belowHalf =
      0.5 - std::ldexp(0.25, 1 - static_cast<int>(type.getFPMantissaWidth()));
  Value t = trunc(x);
  Value odd = less(splat(x, 0.5), abs(fmod(t, splat(x, 2))));
  Value limit = select(odd, splat(x, belowHalf), splat(x, 0.5));
  Value up = less(limit, abs(fmod(x, splat(x, 1))));
  Value step = select(less(x, splat(x, 0)), splat(x, -1), splat(x, 1));
  return select(up, add(t, step), t);
}

//===----------------------------------------------------------------------===//
// Quotients and remainders
//===----------------------------------------------------------------------===//

/// Whether a remainder is not zero and its sign is not the divisor's.
static Value signsDiffer(Composer &c, Value remainder, Value divisor) {
  Value zero = c.splatInt(divisor, 0);
  Value negative = c.less(remainder, zero);
  Value nonZero = c.logicalOr(negative, c.less(zero, remainder));
  return c.logicalAnd(nonZero, c.logicalXor(negative, c.less(divisor, zero)));
}

/// The integer nearest to n / d, as an f64 estimate.
static Value estimateQuotient(Composer &c, Value n, Value d) {
  Type f64 = c.getBuilder().getF64Type();
  Value q = c.mul(c.cast(n, f64), c.recip(c.cast(d, f64)));
  Value half =
      c.select(c.less(q, c.splat(q, 0)), c.splat(q, -0.5), c.splat(q, 0.5));
  return c.cast(c.add(q, half), typeOf(n).getElementType());
}

/// a - a mod b is a multiple of b, so its quotient is an integer and is found
/// by rounding an estimate, which is exact below 2^50. The remainder is a small
/// multiple of b, whose quotient is exact (1 where the estimate saturated: the
/// least integer by -1 wraps). By zero gives 0.
static Value integerQuotient(Composer &c, Value a, Value b) {
  Value multiple = c.sub(a, c.fmod(a, b));
  Value first = estimateQuotient(c, multiple, b);
  Value rest = c.sub(multiple, c.mul(first, b));
  Value q = c.add(first, estimateQuotient(c, rest, b));
  Value zero = c.splatInt(b, 0);
  return c.select(c.logicalOr(c.less(b, zero), c.less(zero, b)), q, zero);
}

Value Composer::truncDiv(Value a, Value b) {
  return isFloat(a) ? trunc(div(a, b)) : integerQuotient(*this, a, b);
}

Value Composer::floorMod(Value a, Value b) {
  Value r = fmod(a, b);
  return select(signsDiffer(*this, r, b), add(r, b), r);
}

Value Composer::floorDiv(Value a, Value b) {
  if (!isFloat(a)) {
    Value q = integerQuotient(*this, a, b);
    return select(signsDiffer(*this, fmod(a, b), b), add(q, splatInt(q, -1)),
                  q);
  }
  // (a - a mod b) / b is an integer up to rounding. By zero the quotient is a
  // / b.
  Type type = elementOf(a);
  Type wide =
      type.isF16() ? Type(builder.getF32Type()) : Type(builder.getF64Type());
  Value x = cast(a, wide), y = cast(b, wide);
  Value r = fmod(x, y);
  Value inverse = recip(y);
  Value q = mul(sub(x, r), inverse);
  q = round(select(signsDiffer(*this, r, y), add(q, splat(q, -1)), q));
  Value zero = splat(y, 0);
  Value nonZero = logicalOr(less(y, zero), less(zero, y));
  return cast(select(nonZero, q, mul(x, inverse)), type);
}
