//===- Scan.cpp - Products, and running sums, products and extrema --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// HLIR reduces by sum and maximum only. A product halves the dim: its two
// halves, padded with ones, are multiplied until one element is left. A running
// product doubles: each element is multiplied by the one 1, 2, 4, ... places
// before. Products of floats are scaled on the way, so that they overflow where
// a product from the left would, and nowhere else.
//
//===----------------------------------------------------------------------===//

#include "Helpers.h"
#include "llvm/ADT/STLExtras.h"
#include <limits>

using namespace mlir;
using namespace luminal;
using namespace luminal::hlir;
using namespace luminal::pt2;

/// Elements at index + offset along `axis`, `fill` where there is none.
static Value shifted(OpCall &o, Value x, unsigned axis, const Expr &offset,
                     const Expr &extent, Value fill) {
  Composer &c = o.c;
  SmallVector<Expr> extents = o.extents(x), map;
  Expr n = extents[axis], at = Expr::dim(axis) + offset;
  map = identityMap(extents.size());
  extents[axis] = extent;
  map[axis] = Expr::max(Expr::min(at, n - Expr(1)), Expr(0));
  Value v = c.view(x, extents, map), index = c.iota(extents, at);
  Value end = c.full(extents, extentValue(o, n, o.i64()));
  Value inside =
      c.logicalAnd(c.less(c.splatInt(index, -1), index), c.less(index, end));
  return c.select(inside, v, c.full(extents, fill));
}

Result<Value> pt2::reduceProduct(OpCall &o, Value x, unsigned axis) {
  Composer &c = o.c;
  Expr n = o.extents(x)[axis];
  Value one = c.scalarInt(o.element(x), 1);
  if (n.isConstant(0)) {
    SmallVector<Expr> extents = o.extents(x);
    extents.erase(extents.begin() + axis);
    return c.full(extents, one);
  }
  if (!o.assumptions().provablyLessEqual(Expr(1), n)) {
    // The product of no elements is that of a one.
    Expr least = o.assumptions().simplify(Expr::max(n, Expr(1)));
    LUMINAL_TRY(padded, padConstant(o, x, {{axis, Expr(0), least - n}}, one));
    x = padded, n = least;
  }
  for (unsigned i = 1, steps = halvings(o, n); i <= steps; ++i) {
    Expr half =
        o.assumptions().simplify(Expr::ceilDiv(n, Expr(int64_t(1) << i)));
    Value low = c.slice(x, axis, Expr(0), half);
    Expr rest = o.extents(x)[axis] - half;
    Value high = o.provablyEqual(rest, half)
                     ? c.slice(x, axis, half, half)
                     : shifted(o, x, axis, half, half, one);
    x = c.mul(low, high);
  }
  return c.squeeze(x, axis);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

static Status prodOver(OpCall &o, ArrayRef<unsigned> axes, bool keep) {
  Value x = o.tensor("self");
  Type type = o.dtypeOrNone("dtype").value_or(sumType(o, o.element(x)));
  Type wide = o.opmath(type);
  x = o.c.cast(o.c.cast(x, type), wide);
  for (unsigned axis : llvm::reverse(axes)) {
    LUMINAL_TRY(product, reduceProduct(o, x, axis));
    x = keep ? o.c.unsqueeze(product, axis) : product;
  }
  return o.ret(o.c.cast(x, type));
}
static Status prod(OpCall &o) {
  unsigned rank = o.rank(o.tensor("self"));
  return prodOver(o, llvm::to_vector(llvm::seq<unsigned>(0, rank)), false);
}
static Status prodDim(OpCall &o) {
  Value x = o.tensor("self");
  bool keep = o.flag("keepdim");
  LUMINAL_TRY(axis, o.axis("dim", x));
  return prodOver(o, o.rank(x) ? ArrayRef(axis) : ArrayRef<unsigned>(), keep);
}

//===----------------------------------------------------------------------===//
// Scans
//===----------------------------------------------------------------------===//

/// The dim of a scan; std::nullopt where it has at most one element.
static Result<std::optional<unsigned>> scannedAxis(OpCall &o, Value x) {
  LUMINAL_TRY(axis, o.axis("dim", x));
  if (o.rank(x) == 0 || o.extents(x)[axis].isConstant(0) ||
      o.extents(x)[axis].isConstant(1))
    return std::optional<unsigned>();
  return std::optional(axis);
}

/// Each element multiplied by those before it.
static Value doubled(OpCall &o, Value x, unsigned axis) {
  Expr n = o.extents(x)[axis];
  Value one = o.c.scalarInt(o.element(x), 1);
  for (unsigned i = 0, steps = halvings(o, n); i < steps; ++i)
    x = o.c.mul(x, shifted(o, x, axis, Expr(-(int64_t(1) << i)), n, one));
  return x;
}

namespace {
/// mantissa * 2^exponent, in f64.
struct Scaled {
  Value mantissa, exponent;
};
} // namespace

/// Products of all elements up to each one, of finite numbers other than zero.
/// No exponent is too large.
static Scaled scaledProducts(OpCall &o, Value x, unsigned axis) {
  Composer &c = o.c;
  Value exponent = c.floor(c.log2(c.abs(x)));
  // In two steps: the power of two of a subnormal is infinite.
  Value half = c.floor(c.mul(exponent, c.splat(x, -0.5)));
  Value mantissa =
      c.mul(c.mul(x, c.exp2(half)), c.exp2(c.sub(c.neg(exponent), half)));
  Expr n = o.extents(x)[axis];
  Value one = c.scalar(o.element(x), 1), zero = c.scalar(o.element(x), 0);
  for (unsigned i = 0, steps = halvings(o, n); i < steps; ++i) {
    Expr offset(-(int64_t(1) << i));
    mantissa = c.mul(mantissa, shifted(o, mantissa, axis, offset, n, one));
    exponent = c.add(exponent, shifted(o, exponent, axis, offset, n, zero));
    Value large = c.less(c.splat(x, 2), c.abs(mantissa));
    mantissa = c.select(large, c.mul(mantissa, c.splat(x, 0.5)), mantissa);
    exponent = c.select(large, c.add(exponent, c.splat(x, 1)), exponent);
  }
  return {mantissa, exponent};
}

/// Running products of floats from the left, rounded to `type` at each step as
/// far as overflow is concerned: a product that became infinite stays so until
/// an element is zero, one that became zero until an element is infinite, and
/// then it is NaN.
static Value runningProduct(OpCall &o, Value x, unsigned axis, Type type) {
  Composer &c = o.c;
  Type f64 = c.getBuilder().getF64Type();
  double inf = std::numeric_limits<double>::infinity();
  Value v = c.cast(x, f64), size = c.abs(v);
  Value isZero = c.equal(v, c.splat(v, 0)), isNan = c.isNan(v),
        isInf = c.equal(size, c.splat(v, inf));
  Value special = c.logicalOr(c.logicalOr(isZero, isInf), isNan);
  // What remains of a special element is its sign, which 1 / 0 has too.
  Value sign = c.select(c.less(c.select(isZero, c.recip(v), v), c.splat(v, 0)),
                        c.splat(v, -1), c.splat(v, 1));
  auto [mantissa, exponent] =
      scaledProducts(o, c.select(special, sign, v), axis);
  // Beyond every exponent of f64, larger ones make no difference.
  exponent =
      c.minimum(c.maximum(exponent, c.splat(v, -2400)), c.splat(v, 2400));
  Value product = mantissa;
  Value quarter = c.floor(c.mul(exponent, c.splat(v, 0.25)));
  for (unsigned i = 0; i < 3; ++i)
    product = c.mul(product, c.exp2(quarter));
  product =
      c.mul(product, c.exp2(c.sub(exponent, c.mul(quarter, c.splat(v, 3)))));
  Value rounded = c.cast(c.cast(product, type), f64);

  // Where the first of some elements is, in each row; the extent where none is.
  SmallVector<Expr> extents = o.extents(v), map = identityMap(extents.size());
  map[axis] = Expr(0);
  Value at = indexAlong(o, v, axis),
        none = c.full(extents, extentValue(o, extents[axis], o.i64()));
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

template <bool product>
static Status cumulate(OpCall &o) {
  Value x = o.tensor("self");
  LUMINAL_TRY(axis, scannedAxis(o, x));
  Type type = o.dtypeOrNone("dtype").value_or(sumType(o, o.element(x)));
  if (type.isInteger(1))
    return o.fail("a sum of dtype bool is not supported");
  Type wide = o.opmath(type);
  x = o.c.cast(o.c.cast(x, type), wide);
  if (axis && !product) {
    LUMINAL_TRY(sum, prefixSum(o, x, *axis));
    x = sum;
  }
  if (axis && product) {
    Expr n = o.extents(x)[*axis];
    if (!o.assumptions().provablyLessEqual(Expr(1), n))
      return o.fail("extent " + n.str() + " may be zero");
    const StringRef how = "by a pass over all elements for each doubling of";
    if (isa<FloatType>(type))
      o.grows(how, n);
    else
      o.growsUnlessScanned(how, n);
    // PyTorch's CPU kernel accumulates f32 in f64.
    Type f64 = o.c.getBuilder().getF64Type();
    x = isa<FloatType>(type)
            ? runningProduct(o, x, *axis, type.isF32() ? f64 : wide)
            : doubled(o, x, *axis);
  }
  return o.ret(o.c.cast(x, type));
}

/// The largest element so far and the last index that holds it; NaN is larger
/// than every number.
template <bool largest>
static Status cumulativeExtremum(OpCall &o) {
  Composer &c = o.c;
  Value x = o.tensor("self");
  LUMINAL_TRY(axis, scannedAxis(o, x));
  if (!axis)
    return o.ret({x, c.splatInt(x, 0, o.i64())});
  if (o.isBool(x))
    return o.fail("is supported for numbers only");
  o.growsUnlessScanned("with the square of", o.extents(x)[*axis]);
  unsigned last = o.rank(x);
  // Later elements are replaced by the first one, which every prefix contains.
  SmallVector<Expr> extents = o.extents(x), map = identityMap(last);
  map[*axis] = Expr::min(Expr::dim(*axis), Expr::dim(last));
  extents.push_back(extents[*axis]);
  Value window = c.view(x, extents, map);
  Value best = largest ? c.reduceMax(window, {last}, false)
                       : c.reduceMin(window, {last}, false);
  // Element j is the extremum so far if it equals the one of its own prefix;
  // the last such j up to i is the index.
  Value hit = c.equal(x, best);
  if (o.isFloat(x))
    hit = c.logicalOr(hit, c.isNan(x));
  Value index =
      c.select(hit, indexAlong(o, x, *axis), c.splatInt(x, 0, o.i64()));
  Value indices = c.reduceMax(c.view(index, extents, map), {last}, false);
  return o.ret({best, indices});
}

static Status logCumSumExp(OpCall &o) {
  Composer &c = o.c;
  Value x = o.tensor("self");
  LUMINAL_TRY(axis, scannedAxis(o, x));
  if (!o.isFloat(x))
    return o.fail("is defined for floats only");
  if (!axis)
    return o.ret(x);
  o.growsUnlessScanned("with the square of", o.extents(x)[*axis]);
  Type type = o.element(x), wide = o.opmath(type);
  double inf = std::numeric_limits<double>::infinity();
  auto [window, inside] = prefixes(o, c.cast(x, wide), *axis);
  Value v = c.select(inside, window, c.splat(window, -inf));
  unsigned last = o.rank(x);
  Value most = c.reduceMax(v, {last}, false);
  // An infinite maximum has no finite distance to itself.
  Value infinite = c.equal(c.abs(most), c.splat(most, inf));
  Value shift = c.select(infinite, c.splat(most, 0), most);
  SmallVector<Expr> map = identityMap(last);
  Value e = c.exp(c.sub(v, c.view(shift, o.extents(v), map)));
  Value sum = c.reduceSum(e, {last}, false);
  return o.ret(c.cast(c.add(c.log(sum), shift), type));
}

llvm::ArrayRef<OpRow> pt2::getScanOps() {
  static const OpRow rows[] = {
      {"prod(Tensor self, *, ScalarType? dtype=None)", prod},
      {"prod.dim_int(Tensor self, int dim, bool keepdim=False, *, "
       "ScalarType? dtype=None)",
       prodDim},
      {"cumsum(Tensor self, int dim, *, ScalarType? dtype=None)",
       cumulate<false>},
      {"cumprod(Tensor self, int dim, *, ScalarType? dtype=None)",
       cumulate<true>},
      {"cummax(Tensor self, int dim)", cumulativeExtremum<true>},
      {"cummin(Tensor self, int dim)", cumulativeExtremum<false>},
      {"logcumsumexp(Tensor self, int dim)", logCumSumExp},
      {"_logcumsumexp(Tensor self, int dim)", logCumSumExp},
  };
  return rows;
}
