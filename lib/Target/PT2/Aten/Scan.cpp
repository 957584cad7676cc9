//===- Scan.cpp - Products, running sums and extrema ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// HLIR reduces by sum and maximum only. A product over a dim of constant extent
// multiplies the dim's two halves, padded with ones, until one element is left.
// For a symbolic extent, it is the last element of the running product: nested
// halves of an expression take longer to simplify with each level, while a scan
// takes one kernel for any extent. A running product uses doubling: each
// element is multiplied by the one 1, 2, 4, ... positions before. Float
// products are scaled on the way, so that they overflow exactly where a product
// from the left would.
//
//===----------------------------------------------------------------------===//

#include "Helpers.h"
#include "luminal/Dialect/HLIR/Utils/RunningProduct.h"
#include "llvm/ADT/STLExtras.h"
#include <limits>

using namespace mlir;
using namespace luminal;
using namespace luminal::hlir;
using namespace luminal::pt2;

/// The inclusive running products of x along `axis`. Float products are f64,
/// and overflow where products rounded to `wide` after each factor would.
static Value productsUpTo(OpCall &o, Value x, unsigned axis, Type wide) {
  Expr n = o.extents(x)[axis];
  o.growsUnlessScanned("by a pass over all elements for each doubling of", n);
  const unsigned steps = halvings(o, n);
  if (!o.isFloat(x))
    return doubledProduct(o.c, x, axis, steps);
  Type f64 = o.c.getBuilder().getF64Type();
  return runningProduct(o.c, o.c.cast(x, f64), axis, steps, wide);
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
    // An empty product is that of a single one.
    Expr least = o.assumptions().simplify(Expr::max(n, Expr(1)));
    LUMINAL_TRY(padded, padConstant(o, x, {{axis, Expr(0), least - n}}, one));
    x = padded, n = least;
  }
  if (!n.asConstant()) {
    Value products = productsUpTo(o, x, axis, o.element(x)),
          last = c.slice(products, axis, n - Expr(1), Expr(1));
    return c.cast(c.squeeze(last, axis), o.element(x));
  }
  for (unsigned i = 1, steps = halvings(o, n); i <= steps; ++i) {
    Expr half =
        o.assumptions().simplify(Expr::ceilDiv(n, Expr(int64_t(1) << i)));
    Value low = c.slice(x, axis, Expr(0), half);
    Expr rest = o.extents(x)[axis] - half;
    Value high = o.provablyEqual(rest, half)
                     ? c.slice(x, axis, half, half)
                     : shifted(o.c, x, axis, half, half, one);
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

/// The dim of a scan; std::nullopt if it has at most one element.
static Result<std::optional<unsigned>> scannedAxis(OpCall &o, Value x) {
  LUMINAL_TRY(axis, o.axis("dim", x));
  if (o.rank(x) == 0 || o.extents(x)[axis].isConstant(0) ||
      o.extents(x)[axis].isConstant(1))
    return std::optional<unsigned>();
  return std::optional(axis);
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
    // PyTorch's CPU kernel accumulates f32 in f64.
    x = productsUpTo(o, x, *axis,
                     type.isF32() ? o.c.getBuilder().getF64Type() : wide);
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
  // Replace later elements by the first one, which every prefix contains.
  SmallVector<Expr> extents = o.extents(x), map = identityMap(last);
  map[*axis] = Expr::min(Expr::dim(*axis), Expr::dim(last));
  extents.push_back(extents[*axis]);
  Value window = c.view(x, extents, map);
  Value best = largest ? c.reduceMax(window, {last}, false)
                       : c.reduceMin(window, {last}, false);
  // Element j is the extremum so far if it equals that of its own prefix; the
  // index is the last such j up to i.
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
  // The difference of an infinite maximum to itself would be NaN.
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
