//===- Calculus.cpp - Areas, gradients, powers and quantiles --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions that PyTorch composes from others; archives that were not
// decomposed contain them.
//
//===----------------------------------------------------------------------===//

#include "Helpers.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace luminal;
using namespace luminal::hlir;
using namespace luminal::pt2;

/// The elements along a dim without the first `before` and the last `after`;
/// empty if there are not so many.
static Value trimmed(OpCall &o, Value x, unsigned axis, int64_t before,
                     int64_t after) {
  Expr rest = o.extents(x)[axis] - Expr(before + after);
  if (!o.assumptions().provablyNonNegative(rest))
    rest = Expr::max(rest, Expr(0));
  return o.c.slice(x, axis, Expr(before), rest);
}

//===----------------------------------------------------------------------===//
// Areas under a curve
//===----------------------------------------------------------------------===//

/// Twice the areas between neighbors along `dim`, in the compute type.
static Result<std::pair<Value, unsigned>> doubleAreas(OpCall &o, Type &type) {
  Composer &c = o.c;
  Value y = o.toFloat(o.tensor("y"));
  LUMINAL_TRY(axis, o.axis("dim", y));
  if (o.rank(y) == 0)
    return o.fail("takes a tensor with dims");
  std::optional<Value> x;
  if (StringRef(o.entry.name).ends_with(".x"))
    x = o.tensor("x");
  type = x ? o.promote({y, o.toFloat(*x)}) : o.element(y);
  Type wide = o.opmath(type);
  y = c.cast(y, wide);
  Value sums = c.add(trimmed(o, y, axis, 1, 0), trimmed(o, y, axis, 0, 1));
  SmallVector<Expr> shape = o.extents(sums);
  if (!x) {
    auto dx = o.number("dx").asDouble();
    if (!dx)
      return o.fail("dx is symbolic");
    return std::pair(c.mul(sums, c.splat(sums, *dx)), axis);
  }
  // x has one coordinate per index of the dim, or is a tensor of at most y's
  // rank.
  const bool isVector = o.rank(*x) == 1;
  if (o.rank(*x) == 0 || o.rank(*x) > o.rank(y))
    return o.fail("x has more dims than y, or none");
  const unsigned along = isVector ? 0 : axis - (o.rank(y) - o.rank(*x));
  if (!isVector && axis < o.rank(y) - o.rank(*x))
    return o.fail("x lacks the dim");
  Value points = c.cast(*x, wide);
  Value steps =
      c.sub(trimmed(o, points, along, 1, 0), trimmed(o, points, along, 0, 1));
  for (unsigned i = axis + 1; isVector && i < o.rank(y); ++i)
    steps = c.unsqueeze(steps, o.rank(steps));
  LUMINAL_TRY(joined, o.broadcast({o.extents(steps), shape}));
  return std::pair(
      c.mul(o.broadcastTo(sums, joined), o.broadcastTo(steps, joined)), axis);
}
static Status trapezoid(OpCall &o) {
  Type type;
  LUMINAL_TRY(areas, doubleAreas(o, type));
  Value sum = o.c.reduceSum(areas.first, {areas.second}, false);
  return o.ret(o.c.cast(o.c.mul(sum, o.c.splat(sum, 0.5)), type));
}
static Status cumulativeTrapezoid(OpCall &o) {
  Type type;
  LUMINAL_TRY(areas, doubleAreas(o, type));
  LUMINAL_TRY(sums, prefixSum(o, areas.first, areas.second));
  return o.ret(o.c.cast(o.c.mul(sums, o.c.splat(sums, 0.5)), type));
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

/// Slopes along a dim by central differences. At both ends, the slope of the
/// line through the nearest two elements or, with `order` 2, of the parabola
/// through the nearest three.
static Result<Value> slopes(OpCall &o, Value x, unsigned axis, double spacing,
                            int64_t order) {
  Composer &c = o.c;
  Expr n = o.extents(x)[axis];
  if (!o.atMost(Expr(order + 1), n))
    return o.fail("takes more elements along a dim than its edge_order");
  auto combine = [&](ArrayRef<std::pair<Expr, double>> terms, Expr extent) {
    Value sum;
    for (auto &[start, weight] : terms) {
      Value v = c.slice(x, axis, start, extent);
      v = c.mul(v, c.splat(v, weight / spacing));
      sum = sum ? c.add(sum, v) : v;
    }
    return sum;
  };
  Value first, last;
  if (order == 1) {
    first = combine({{0, -1}, {1, 1}}, 1);
    last = combine({{n - Expr(2), -1}, {n - Expr(1), 1}}, 1);
  } else {
    first = combine({{0, -1.5}, {1, 2}, {2, -0.5}}, 1);
    last =
        combine({{n - Expr(3), 0.5}, {n - Expr(2), -2}, {n - Expr(1), 1.5}}, 1);
  }
  if (n.isConstant(2))
    return concatenate(o, {first, last}, axis);
  Value inner = combine({{0, -0.5}, {2, 0.5}}, n - Expr(2));
  return concatenate(o, {first, inner, last}, axis);
}
static Status gradientAlong(OpCall &o, ArrayRef<unsigned> axes,
                            double spacing) {
  Value x = o.toFloat(o.tensor("self"));
  Type type = o.element(x);
  int64_t order = o.integer("edge_order");
  if (order < 1 || order > 2 || spacing == 0)
    return o.fail("takes an edge_order of 1 or 2 and a spacing other than 0");
  SmallVector<Value> all;
  for (unsigned axis : axes) {
    LUMINAL_TRY(y,
                slopes(o, o.c.cast(x, o.opmath(type)), axis, spacing, order));
    all.push_back(o.c.cast(y, type));
  }
  return o.ret(all);
}
static Result<double> spacingOf(OpCall &o) {
  auto number = o.numberOrNone("spacing");
  auto value = number ? number->asDouble() : std::optional(1.0);
  if (!value)
    return o.fail("the spacing is symbolic");
  return *value;
}
static Status gradient(OpCall &o) {
  Value x = o.tensor("self");
  LUMINAL_TRY(spacing, spacingOf(o));
  auto dim = o.integerOrNone("dim");
  if (!dim)
    return gradientAlong(o, o.allDims(x), spacing);
  LUMINAL_TRY(axis, o.axis(*dim, o.rank(x)));
  return gradientAlong(o, {axis}, spacing);
}
template <bool spaced>
static Status gradientOfDims(OpCall &o) {
  Value x = o.tensor("self");
  double spacing = 1;
  if (spaced) {
    LUMINAL_TRY(given, spacingOf(o));
    spacing = given;
  }
  SmallVector<unsigned> axes;
  for (int64_t dim : o.integers("dim")) {
    LUMINAL_TRY(axis, o.axis(dim, o.rank(x)));
    axes.push_back(axis);
  }
  return gradientAlong(o, axes, spacing);
}

//===----------------------------------------------------------------------===//
// Powers and products
//===----------------------------------------------------------------------===//

/// The powers of each element, along a new last dim.
static Status powersOf(OpCall &o, Value x, std::optional<int64_t> count,
                       bool ascending) {
  Composer &c = o.c;
  if (o.rank(x) == 0 || o.isBool(x))
    return o.fail("takes numbers along a dim");
  if (!count)
    count = o.extents(x).back().asConstant();
  if (!count || *count < 1 || *count > kMaxRepeats)
    return o.fail("expected a known number of powers from 1 to " +
                  Twine(kMaxRepeats));
  Type type = o.isFloat(x) ? o.element(x) : o.i64();
  Value v = c.cast(x, o.opmath(type)), power = c.splatInt(v, 1);
  SmallVector<Value> all;
  for (int64_t i = 0; i < *count; ++i) {
    all.push_back(c.cast(c.unsqueeze(power, o.rank(power)), type));
    power = c.mul(power, v);
  }
  if (!ascending)
    std::reverse(all.begin(), all.end());
  return o.ret(concatenate(o, all, o.rank(x)));
}
static Status vander(OpCall &o) {
  Value x = o.tensor("x");
  if (o.rank(x) != 1)
    return o.fail("takes a vector");
  return powersOf(o, x, o.integerOrNone("N"), o.flag("increasing"));
}
static Status linalgVander(OpCall &o) {
  return powersOf(o, o.tensor("x"), o.integerOrNone("N"), /*ascending=*/true);
}

/// The Kronecker product: along each dim, element i is a[i / extent of b] * b[i
/// % extent of b].
static Status kron(OpCall &o) {
  Composer &c = o.c;
  Value a = o.tensor("self"), b = o.tensor("other");
  Type type = o.promote({a, b});
  if (type.isInteger(1))
    return o.fail("is not supported for truth values");
  const unsigned rank = std::max(o.rank(a), o.rank(b));
  SmallVector<Expr> ea = o.extents(a), eb = o.extents(b), extents;
  ea.insert(ea.begin(), rank - ea.size(), Expr(1));
  eb.insert(eb.begin(), rank - eb.size(), Expr(1));
  a = c.reshape(c.cast(a, type), ea);
  b = c.reshape(c.cast(b, type), eb);
  // [a0, b0, a1, b1, ...]
  SmallVector<Expr> space, mapA, mapB;
  for (unsigned i = 0; i < rank; ++i) {
    space.append({ea[i], eb[i]});
    mapA.push_back(Expr::dim(2 * i));
    mapB.push_back(Expr::dim(2 * i + 1));
    extents.push_back(ea[i] * eb[i]);
  }
  Value y = c.mul(c.view(a, space, mapA), c.view(b, space, mapB));
  return o.ret(c.reshape(y, extents));
}

static Status sumToSize(OpCall &o) {
  Value x = o.tensor("self");
  SmallVector<Expr> size = o.exprs("size"), from = o.extents(x);
  if (size.size() > from.size())
    return o.fail("the size has more dims than the tensor");
  const unsigned lead = from.size() - size.size();
  SmallVector<unsigned> axes;
  for (unsigned i = 0; i < from.size(); ++i) {
    const bool isOne = i >= lead && size[i - lead].isConstant(1);
    if (i < lead || (isOne && !from[i].isConstant(1)))
      axes.push_back(i);
    else if (!o.agree(from[i], size[i - lead]))
      return o.fail("the tensor cannot be summed to the size");
  }
  if (axes.empty())
    return o.ret(x);
  Type type = o.element(x);
  Value v = o.c.reduceSum(o.c.cast(x, sumType(o, type)), axes, true);
  return o.ret(o.c.cast(o.c.reshape(v, size), type));
}

/// Scales each slice along a dim such that its norm does not exceed a limit.
static Status renorm(OpCall &o) {
  Composer &c = o.c;
  Value x = o.tensor("self");
  LUMINAL_TRY(axis, o.axis("dim", x));
  double p = o.real("p"), most = o.real("maxnorm");
  if (!o.isFloat(x) || o.rank(x) < 2 || p <= 0 || most < 0)
    return o.fail("takes floats of two dims at least, a positive p, and no "
                  "negative maxnorm");
  Type type = o.element(x);
  Value v = c.cast(x, o.opmath(type)), size = c.abs(v);
  SmallVector<unsigned> axes;
  for (unsigned i = 0; i < o.rank(x); ++i)
    if (i != axis)
      axes.push_back(i);
  Value norm =
      std::isinf(p)
          ? c.reduceMax(size, axes, true)
          : c.powScalar(c.reduceSum(c.powScalar(size, p), axes, true), 1 / p);
  Value limit = c.splat(norm, most);
  Value factor = c.select(c.less(limit, norm),
                          c.div(limit, c.add(norm, c.splat(norm, 1e-7))),
                          c.splat(norm, 1));
  return o.ret(c.cast(c.mul(v, o.broadcastTo(factor, o.extents(v))), type));
}

//===----------------------------------------------------------------------===//
// Quantiles
//===----------------------------------------------------------------------===//

/// Quantiles along a dim: the sorted elements at a fractional position,
/// interpolated as `interpolation` says. NaNs sort last: one makes the result
/// NaN, unless NaNs are skipped.
static Status quantileOf(OpCall &o, Value q, bool skipNaN) {
  Composer &c = o.c;
  Value x = o.tensor("self");
  Type type = o.element(x);
  auto dim = o.integerOrNone("dim");
  const bool keep = o.flag("keepdim");
  StringRef way = o.string("interpolation");
  if ((!type.isF32() && !type.isF64()) || o.element(q) != type || o.rank(q) > 1)
    return o.fail("takes f32 or f64, and fractions of the same type");
  if (!llvm::is_contained({"linear", "lower", "higher", "midpoint", "nearest"},
                          way))
    return o.fail("interpolation '" + way + "' is not known");
  SmallVector<Expr> shape = o.extents(x);
  unsigned axis = 0;
  SmallVector<Expr> rest, kept;
  if (dim) {
    LUMINAL_TRY(given, o.axis(*dim, o.rank(x)));
    axis = given;
  } else {
    x = c.reshape(x, {o.numElements(x)});
    kept.assign(shape.size(), Expr(1));
  }
  if (o.rank(x) == 0)
    x = c.reshape(x, {Expr(1)});
  SmallVector<unsigned> order;
  for (auto [i, extent] : llvm::enumerate(o.extents(x))) {
    if (i != axis) {
      order.push_back(i);
      rest.push_back(extent);
    }
    if (dim && o.rank(o.tensor("self")))
      kept.push_back(i == axis ? Expr(1) : extent);
  }
  order.push_back(axis);
  Expr n = o.extents(x)[axis], rows = OpCall::numElements(rest);
  if (!o.atMost(Expr(1), n))
    return o.fail("the dim is empty");
  x = c.reshape(c.permute(x, order), {rows, n});
  Value values = inOrder(o, x, 1, false, std::nullopt).first;
  const bool isOne = o.rank(q) == 0;
  q = isOne ? c.reshape(q, {Expr(1)}) : q;
  // [fractions, rows]
  SmallVector<Expr> space = {o.extents(q)[0], rows};
  Value at = c.view(q, space, {Expr::dim(0)});
  auto perRow = [&](Value v) { return c.view(v, space, {Expr::dim(1)}); };
  Value last = c.full({rows}, extentValue(o, n - Expr(1), type));
  Value nans = c.reduceSum(c.cast(c.isNan(x), o.i64()), {1}, false);
  Value anyNaN = c.less(c.splatInt(nans, 0), nans);
  if (skipNaN)
    last = c.maximum(c.sub(last, c.cast(nans, type)), c.splat(last, 0));
  Value place = c.mul(at, perRow(last));
  if (!skipNaN)
    place = c.select(perRow(anyNaN), perRow(last), place);
  if (way == "lower")
    place = c.floor(place);
  else if (way == "higher")
    place = c.ceil(place);
  else if (way == "nearest")
    place = c.round(place);
  Value flat = c.reshape(values, {rows * n});
  auto read = [&](Value index) {
    // A fraction outside [0, 1] is clamped.
    index = c.minimum(c.maximum(index, c.splat(index, 0)), perRow(last));
    Value first = c.iota(space, Expr::dim(1) * n);
    return c.gather(flat, c.add(c.cast(index, o.i64()), first));
  };
  Value below = c.floor(place), y = read(below);
  if (way == "linear" || way == "midpoint") {
    Value above = read(c.ceil(place)), weight = c.sub(place, below);
    if (way == "midpoint")
      weight = c.splat(weight, 0.5);
    // Interpolates from the nearer end, as PyTorch's lerp does.
    Value step = c.sub(above, y), half = c.splat(weight, 0.5);
    Value low = c.add(y, c.mul(weight, step));
    Value high = c.sub(above, c.mul(c.sub(c.splat(weight, 1), weight), step));
    y = c.select(c.less(weight, half), low, high);
  }
  SmallVector<Expr> out;
  if (!isOne)
    out.push_back(space[0]);
  llvm::append_range(out, keep ? kept : rest);
  return o.ret(c.reshape(y, out));
}
template <bool skipNaN>
static Status quantile(OpCall &o) {
  return quantileOf(o, o.tensor("q"), skipNaN);
}
template <bool skipNaN>
static Status quantileAt(OpCall &o) {
  double q = o.real("q");
  if (!(q >= 0 && q <= 1))
    return o.fail("q is not in [0, 1]");
  return quantileOf(o, o.c.scalar(o.element(o.tensor("self")), q), skipNaN);
}

llvm::ArrayRef<OpRow> pt2::getCalculusOps() {
#define LUMINAL_QUANTILE                                                       \
  ", int? dim=None, bool keepdim=False, *, str interpolation=linear)"
  static const OpRow rows[] = {
      {"trapezoid.x(Tensor y, Tensor x, *, int dim=-1)", trapezoid},
      {"trapezoid.dx(Tensor y, *, Scalar dx=1, int dim=-1)", trapezoid},
      {"cumulative_trapezoid.x(Tensor y, Tensor x, *, int dim=-1)",
       cumulativeTrapezoid},
      {"cumulative_trapezoid.dx(Tensor y, *, Scalar dx=1, int dim=-1)",
       cumulativeTrapezoid},
      {"gradient.scalarint(Tensor self, *, Scalar? spacing=None, "
       "int? dim=None, int edge_order=1)",
       gradient},
      {"gradient.scalararray(Tensor self, *, Scalar spacing, int[] dim, "
       "int edge_order=1)",
       gradientOfDims<true>},
      {"gradient.array(Tensor self, *, int[] dim, int edge_order=1)",
       gradientOfDims<false>},
      {"vander(Tensor x, int? N=None, bool increasing=False)", vander},
      {"linalg_vander(Tensor x, *, int? N=None)", linalgVander},
      {"kron(Tensor self, Tensor other)", kron},
      {"sum_to_size(Tensor self, SymInt[] size)", sumToSize},
      {"renorm(Tensor self, float p, int dim, float maxnorm)", renorm},
      {"quantile(Tensor self, Tensor q" LUMINAL_QUANTILE, quantile<false>},
      {"quantile.scalar(Tensor self, float q" LUMINAL_QUANTILE,
       quantileAt<false>},
      {"nanquantile(Tensor self, Tensor q" LUMINAL_QUANTILE, quantile<true>},
      {"nanquantile.scalar(Tensor self, float q" LUMINAL_QUANTILE,
       quantileAt<true>},
  };
  return rows;
}
