//===- RunningProduct.cpp - Cumulative products ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Dialect/HLIR/Utils/RunningProduct.h"
#include <limits>

using namespace mlir;
using namespace luminal;
using namespace luminal::hlir;

static Type elementOf(Value v) {
  return cast<RankedTensorType>(v.getType()).getElementType();
}
/// An extent as a scalar value.
static Value extentValue(Composer &c, const Expr &extent) {
  Type i64 = c.getBuilder().getI64Type();
  if (auto constant = extent.asConstant())
    return c.scalarInt(i64, *constant);
  return c.iota({}, extent);
}

Value hlir::shifted(Composer &c, Value x, unsigned axis, const Expr &offset,
                    const Expr &extent, Value fill) {
  SmallVector<Expr> extents = getExtents(x), map = identityMap(extents.size());
  Expr n = extents[axis], at = Expr::dim(axis) + offset;
  extents[axis] = extent;
  // An earlier element is inside the tensor unless its index is negative.
  std::optional<int64_t> constant = offset.asConstant();
  const bool isBefore = constant && *constant <= 0 && extent == n;
  map[axis] = Expr::max(isBefore ? at : Expr::min(at, n - Expr(1)), Expr(0));
  Value v = c.view(x, extents, map), index = c.iota(extents, at);
  Value inside = c.less(c.splatInt(index, -1), index);
  if (!isBefore)
    inside =
        c.logicalAnd(inside, c.less(index, c.full(extents, extentValue(c, n))));
  return c.select(inside, v, c.full(extents, fill));
}

Value hlir::doubledProduct(Composer &c, Value x, unsigned axis,
                           unsigned steps) {
  Expr n = getExtents(x)[axis];
  Value one = c.scalarInt(elementOf(x), 1);
  for (unsigned i = 0; i < steps; ++i)
    x = c.mul(x, shifted(c, x, axis, Expr(-(int64_t(1) << i)), n, one));
  return x;
}

namespace {
/// mantissa * 2^exponent, in f64.
struct Scaled {
  Value mantissa, exponent;
};
} // namespace

/// Cumulative products of finite nonzero numbers. No exponent is too large.
static Scaled scaledProducts(Composer &c, Value x, unsigned axis,
                             unsigned steps) {
  Value exponent = c.floor(c.log2(c.abs(x)));
  // In two steps, because the power of two that normalises a subnormal is
  // infinite.
  Value half = c.floor(c.mul(exponent, c.splat(x, -0.5)));
  Value mantissa =
      c.mul(c.mul(x, c.exp2(half)), c.exp2(c.sub(c.neg(exponent), half)));
  Expr n = getExtents(x)[axis];
  Value one = c.scalar(elementOf(x), 1), zero = c.scalar(elementOf(x), 0);
  for (unsigned i = 0; i < steps; ++i) {
    Expr offset(-(int64_t(1) << i));
    mantissa = c.mul(mantissa, shifted(c, mantissa, axis, offset, n, one));
    exponent = c.add(exponent, shifted(c, exponent, axis, offset, n, zero));
    Value large = c.less(c.splat(x, 2), c.abs(mantissa));
    mantissa = c.select(large, c.mul(mantissa, c.splat(x, 0.5)), mantissa);
    exponent = c.select(large, c.add(exponent, c.splat(x, 1)), exponent);
  }
  return {mantissa, exponent};
}

Value hlir::runningProduct(Composer &c, Value v, unsigned axis, unsigned steps,
                           Type type) {
  Type f64 = c.getBuilder().getF64Type();
  const double inf = std::numeric_limits<double>::infinity();
  Value size = c.abs(v);
  Value isZero = c.equal(v, c.splat(v, 0)), isNan = c.isNan(v),
        isInf = c.equal(size, c.splat(v, inf));
  Value special = c.logicalOr(c.logicalOr(isZero, isInf), isNan);
  // A special element is replaced by its sign; 1 / 0 gives the sign of a zero.
  Value sign = c.select(c.less(c.select(isZero, c.recip(v), v), c.splat(v, 0)),
                        c.splat(v, -1), c.splat(v, 1));
  auto [mantissa, exponent] =
      scaledProducts(c, c.select(special, sign, v), axis, steps);
  // Exponents beyond those of f64 make no difference.
  exponent =
      c.minimum(c.maximum(exponent, c.splat(v, -2400)), c.splat(v, 2400));
  Value product = mantissa;
  Value quarter = c.floor(c.mul(exponent, c.splat(v, 0.25)));
  for (unsigned i = 0; i < 3; ++i)
    product = c.mul(product, c.exp2(quarter));
  product =
      c.mul(product, c.exp2(c.sub(exponent, c.mul(quarter, c.splat(v, 3)))));
  Value rounded = c.cast(c.cast(product, type), f64);

  // The position of the first such element of each row; the extent if there is
  // none.
  SmallVector<Expr> extents = getExtents(v), map = identityMap(extents.size());
  map[axis] = Expr(0);
  Value at = c.iota(extents, Expr::dim(axis)),
        none = c.full(extents, extentValue(c, extents[axis]));
  auto first = [&](Value condition) {
    Value least =
        c.reduceMin(c.select(condition, at, none), {axis}, /*keepDim=*/true);
    return c.view(least, extents, map);
  };
  Value infinite =
            first(c.logicalOr(isInf, c.equal(c.abs(rounded), c.splat(v, inf)))),
        vanished = first(c.logicalOr(isZero, c.equal(rounded, c.splat(v, 0))));
  Value grew = c.less(infinite, vanished);
  Value start = c.select(grew, infinite, vanished);
  Value ends = c.logicalAnd(c.less(start, at), c.select(grew, isZero, isInf));
  Value undefined = first(c.logicalOr(isNan, ends));
  Value held = c.select(grew, c.splat(v, inf), c.splat(v, 0));
  held = c.mul(held, c.select(c.less(mantissa, c.splat(v, 0)), c.splat(v, -1),
                              c.splat(v, 1)));
  Value result = c.select(c.less(at, start), product, held);
  return c.select(c.less(at, undefined), result,
                  c.splat(v, std::numeric_limits<double>::quiet_NaN()));
}
