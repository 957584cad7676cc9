//===- Reduction.cpp - Sums, extrema, statistics, scans -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Helpers.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace luminal;
using namespace luminal::hlir;
using namespace luminal::pt2;

using Axes = SmallVector<unsigned>;

/// The dims in an optional list; all dims if it is absent or empty.
static Result<Axes> dimsOf(OpCall &o, StringRef name, Value x) {
  return o.axes(o.integersOrNone(name).value_or(SmallVector<int64_t>()),
                o.rank(x));
}
static Result<Axes> dimOf(OpCall &o, int64_t dim, Value x) {
  LUMINAL_TRY(axis, o.axis(dim, o.rank(x)));
  return o.rank(x) ? Axes{axis} : Axes{};
}
static Expr countOf(OpCall &o, Value x, ArrayRef<unsigned> axes) {
  Expr n(1);
  for (unsigned axis : axes)
    n = n * o.extents(x)[axis];
  return n;
}

//===----------------------------------------------------------------------===//
// Sums and means
//===----------------------------------------------------------------------===//

static Status sumOver(OpCall &o, const Result<Axes> &dims, bool keep) {
  LUMINAL_TRY(axes, dims);
  Value x = o.tensor("self");
  Type type = o.dtypeOrNone("dtype").value_or(sumType(o, o.element(x)));
  if (type.isInteger(1))
    return o.fail("a sum of dtype bool is not supported");
  if (type.isInteger(1) != o.isBool(x) || type != o.element(x))
    x = o.c.cast(x, type);
  return o.ret(o.c.reduceSum(x, axes, keep));
}
static Status sum(OpCall &o) {
  return sumOver(o, o.allDims(o.tensor("self")), false);
}
static Status sumDims(OpCall &o) {
  return sumOver(o, dimsOf(o, "dim", o.tensor("self")), o.flag("keepdim"));
}

static Status meanOver(OpCall &o, const Result<Axes> &dims, bool keep) {
  LUMINAL_TRY(axes, dims);
  Value x = o.tensor("self");
  Type type = o.dtypeOrNone("dtype").value_or(o.element(x));
  if (!isa<FloatType>(type))
    return o.fail("the mean of integers needs a float dtype");
  return o.ret(o.c.mean(o.c.cast(x, type), axes, keep));
}
static Status mean(OpCall &o) {
  return meanOver(o, o.allDims(o.tensor("self")), false);
}
static Status meanDims(OpCall &o) {
  return meanOver(o, dimsOf(o, "dim", o.tensor("self")), o.flag("keepdim"));
}

static Status countNonzero(OpCall &o) {
  Value x = o.tensor("self");
  LUMINAL_TRY(axes, dimsOf(o, "dim", x));
  return o.ret(o.c.reduceSum(o.c.cast(o.isNonZero(x), o.i64()), axes, false));
}

//===----------------------------------------------------------------------===//
// Extrema
//===----------------------------------------------------------------------===//

static Value extremum(OpCall &o, Value x, ArrayRef<unsigned> axes, bool keep,
                      bool largest) {
  return largest ? o.c.reduceMax(x, axes, keep) : o.c.reduceMin(x, axes, keep);
}
/// PyTorch rejects the extremum of an empty dim.
static Status checkNotEmpty(OpCall &o, Value x, ArrayRef<unsigned> axes) {
  for (unsigned axis : axes)
    if (o.extents(x)[axis].isConstant(0))
      return o.fail("is not defined for a dim of extent 0");
  return {};
}
template <bool largest>
static Status extremumAll(OpCall &o) {
  Value x = o.tensor("self");
  LUMINAL_CHECK(checkNotEmpty(o, x, o.allDims(x)));
  return o.ret(extremum(o, x, o.allDims(x), false, largest));
}
template <bool largest>
static Status extremumDims(OpCall &o) {
  Value x = o.tensor("self");
  LUMINAL_TRY(axes, dimsOf(o, "dim", x));
  LUMINAL_CHECK(checkNotEmpty(o, x, axes));
  return o.ret(extremum(o, x, axes, o.flag("keepdim"), largest));
}

/// The extremum along one dim, and the first index that holds it (of the first
/// NaN, if there is one).
static std::pair<Value, Value> extremumAndIndex(OpCall &o, Value x,
                                                unsigned axis, bool largest) {
  Composer &c = o.c;
  SmallVector<Expr> extents = o.extents(x);
  Value best = extremum(o, x, {axis}, true, largest);
  SmallVector<Expr> map;
  for (unsigned i = 0; i < extents.size(); ++i)
    map.push_back(i == axis ? Expr(0) : Expr::dim(i));
  Value spread = c.view(best, extents, map);
  Value hit = c.equal(x, spread);
  if (o.isFloat(x))
    hit = c.logicalOr(hit, c.isNan(x));
  Value index = indexAlong(o, x, axis);
  Value beyond = c.full(extents, extentValue(o, extents[axis], o.i64()));
  Value first =
      c.reduceMin(c.select(hit, index, beyond), {axis}, /*keepDim=*/true);
  return {best, first};
}

template <bool largest>
static Status extremumDim(OpCall &o) {
  Value x = o.tensor("self");
  bool keep = o.flag("keepdim");
  LUMINAL_TRY(axes, dimOf(o, o.integer("dim"), x));
  LUMINAL_CHECK(checkNotEmpty(o, x, axes));
  if (axes.empty()) {
    Value zero = o.c.scalarInt(o.i64(), 0);
    return o.ret({x, zero});
  }
  auto [value, index] = extremumAndIndex(o, x, axes[0], largest);
  if (!keep) {
    value = o.c.squeeze(value, axes[0]);
    index = o.c.squeeze(index, axes[0]);
  }
  return o.ret({value, index});
}

template <bool largest>
static Status argExtremum(OpCall &o) {
  Value x = o.tensor("self");
  bool keep = o.flag("keepdim");
  unsigned rank = o.rank(x);
  if (o.isBool(x))
    return o.fail("is not defined for bool");
  if (rank == 0)
    return o.ret(o.c.scalarInt(o.i64(), 0));
  if (auto dim = o.integerOrNone("dim")) {
    LUMINAL_TRY(axes, dimOf(o, *dim, x));
    LUMINAL_CHECK(checkNotEmpty(o, x, axes));
    Value index = extremumAndIndex(o, x, axes[0], largest).second;
    return o.ret(keep ? index : o.c.squeeze(index, axes[0]));
  }
  LUMINAL_CHECK(checkNotEmpty(o, x, o.allDims(x)));
  Value flat = o.c.reshape(x, {o.numElements(x)});
  Value index = o.c.squeeze(extremumAndIndex(o, flat, 0, largest).second, 0);
  if (keep)
    index = o.c.reshape(index, SmallVector<Expr>(rank, Expr(1)));
  return o.ret(index);
}

static Status aminmax(OpCall &o) {
  Value x = o.tensor("self");
  auto dim = o.integerOrNone("dim");
  LUMINAL_TRY(axes, dim ? dimOf(o, *dim, x) : o.allDims(x));
  bool keep = o.flag("keepdim");
  LUMINAL_CHECK(checkNotEmpty(o, x, axes));
  Value low = o.c.reduceMin(x, axes, keep);
  return o.ret({low, o.c.reduceMax(x, axes, keep)});
}

//===----------------------------------------------------------------------===//
// any, all
//===----------------------------------------------------------------------===//

static Status anyOver(OpCall &o, const Result<Axes> &dims, bool keep,
                      bool all) {
  LUMINAL_TRY(axes, dims);
  Value x = o.isNonZero(o.tensor("self"));
  return o.ret(all ? o.c.reduceMin(x, axes, keep)
                   : o.c.reduceMax(x, axes, keep));
}
template <bool all>
static Status anyAll(OpCall &o) {
  return anyOver(o, o.allDims(o.tensor("self")), false, all);
}
template <bool all>
static Status anyDim(OpCall &o) {
  return anyOver(o, dimOf(o, o.integer("dim"), o.tensor("self")),
                 o.flag("keepdim"), all);
}
template <bool all>
static Status anyDims(OpCall &o) {
  return anyOver(o, dimsOf(o, "dim", o.tensor("self")), o.flag("keepdim"), all);
}

//===----------------------------------------------------------------------===//
// Statistics
//===----------------------------------------------------------------------===//

/// Mean and variance, in the accumulation type. For data far from 0, the
/// rounding error of the mean is large relative to the deviations; the variance
/// is corrected by the sum of the deviations, squared and divided by n.
static std::pair<Value, Value> moments(OpCall &o, Value x,
                                       ArrayRef<unsigned> axes, bool keep,
                                       double correction) {
  Composer &c = o.c;
  Type wide = o.opmath(o.element(x));
  Value v = c.cast(x, wide);
  Value mean = c.mean(v, axes, true);
  SmallVector<Expr> extents = o.extents(v), map;
  for (unsigned i = 0; i < extents.size(); ++i)
    map.push_back(llvm::is_contained(axes, i) ? Expr(0) : Expr::dim(i));
  Value d = c.sub(v, c.view(mean, extents, map));
  Value squares = c.reduceSum(c.mul(d, d), axes, keep);
  Value rest = c.reduceSum(d, axes, keep);
  Value n = o.broadcastTo(extentValue(o, countOf(o, x, axes), wide),
                          o.extents(squares));
  Value sum = c.maximum(c.sub(squares, c.div(c.mul(rest, rest), n)),
                        c.splat(squares, 0));
  // If the squares overflow, the correction may too.
  Value isFinite = c.less(
      squares, c.splat(squares, std::numeric_limits<double>::infinity()));
  sum = c.select(isFinite, sum, squares);
  Value free = c.maximum(c.sub(n, c.splat(n, correction)), c.splat(n, 0));
  Value variance = c.div(sum, free);
  if (!keep)
    mean = c.mean(v, axes, false);
  return {mean, variance};
}

enum class Statistic { Var, Std, VarMean, StdMean };
static Status statistic(OpCall &o, Statistic kind, const Result<Axes> &dims,
                        double correction, bool keep) {
  Value x = o.tensor("self");
  LUMINAL_TRY(axes, dims);
  if (!o.isFloat(x))
    return o.fail("is defined for floats only");
  Type type = o.element(x);
  auto [mean, variance] = moments(o, x, axes, keep, correction);
  if (kind == Statistic::Std || kind == Statistic::StdMean)
    variance = o.c.sqrt(variance);
  Value spread = o.c.cast(variance, type);
  if (kind == Statistic::Var || kind == Statistic::Std)
    return o.ret(spread);
  return o.ret({spread, o.c.cast(mean, type)});
}
template <Statistic kind>
static Status correctionForm(OpCall &o) {
  return statistic(o, kind, dimsOf(o, "dim", o.tensor("self")),
                   o.realOrNone("correction").value_or(1.0), o.flag("keepdim"));
}
template <Statistic kind>
static Status unbiasedForm(OpCall &o) {
  return statistic(o, kind, dimsOf(o, "dim", o.tensor("self")),
                   o.flag("unbiased") ? 1.0 : 0.0, o.flag("keepdim"));
}
template <Statistic kind>
static Status unbiasedAll(OpCall &o) {
  return statistic(o, kind, o.allDims(o.tensor("self")),
                   o.flag("unbiased") ? 1.0 : 0.0, false);
}

/// The vector norm of an order over some dims.
static Status normOver(OpCall &o, double order, const Result<Axes> &dims,
                       bool keep, std::optional<Type> dtype = std::nullopt) {
  Value x = o.tensor("self");
  Type type = dtype.value_or(o.element(x));
  LUMINAL_TRY(axes, dims);
  if (!isa<FloatType>(type))
    return o.fail("is defined for floats only");
  Composer &c = o.c;
  Value v = c.abs(c.cast(c.cast(x, type), o.opmath(type)));
  Value result;
  if (std::isinf(order)) {
    result = extremum(o, v, axes, keep, order > 0);
  } else if (order == 0) {
    result = c.reduceSum(c.cast(o.isNonZero(v), o.element(v)), axes, keep);
  } else if (order == 1) {
    result = c.reduceSum(v, axes, keep);
  } else if (order == 2) {
    result = c.sqrt(c.reduceSum(c.mul(v, v), axes, keep));
  } else {
    Value sum = c.reduceSum(c.powScalar(v, order), axes, keep);
    result = c.powScalar(sum, 1 / order);
  }
  return o.ret(c.cast(result, type));
}
static Status vectorNorm(OpCall &o) {
  return normOver(o, o.real("ord"), dimsOf(o, "dim", o.tensor("self")),
                  o.flag("keepdim"), o.dtypeOrNone("dtype"));
}
static Status norm(OpCall &o) {
  return normOver(o, o.realOrNone("p").value_or(2.0),
                  dimsOf(o, "dim", o.tensor("self")), o.flag("keepdim"));
}
static Status normAll(OpCall &o) {
  return normOver(o, o.realOrNone("p").value_or(2.0),
                  o.allDims(o.tensor("self")), false);
}

static Status normTyped(OpCall &o) {
  return normOver(o, o.realOrNone("p").value_or(2.0),
                  dimsOf(o, "dim", o.tensor("self")), o.flag("keepdim"),
                  o.dtype("dtype"));
}
static Status normAllTyped(OpCall &o) {
  return normOver(o, o.realOrNone("p").value_or(2.0),
                  o.allDims(o.tensor("self")), false, o.dtype("dtype"));
}
static Status frobeniusNorm(OpCall &o) {
  return normOver(o, 2.0, dimsOf(o, "dim", o.tensor("self")),
                  o.flag("keepdim"));
}
/// Norms of matrices over two dims: the maximum column sum for order 1, the
/// maximum row sum for infinity, the minima for -1 and -infinity.
static Status matrixNormOf(OpCall &o, double order, ArrayRef<int64_t> dims) {
  Composer &c = o.c;
  Value x = o.tensor("self");
  if (dims.size() != 2)
    return o.fail("a norm of matrices is over two dims");
  LUMINAL_TRY(row, o.axis(dims[0], o.rank(x)));
  LUMINAL_TRY(column, o.axis(dims[1], o.rank(x)));
  const bool isSum = std::abs(order) == 1;
  if (row == column || (!isSum && !std::isinf(order)))
    return o.fail("norms of matrices by singular values are not supported");
  Type type = o.dtypeOrNone("dtype").value_or(o.element(x));
  if (!isa<FloatType>(type))
    return o.fail("is defined for floats only");
  Value v = c.abs(c.cast(c.cast(x, type), o.opmath(type)));
  Value sums = c.reduceSum(v, {isSum ? row : column}, true);
  const unsigned over = isSum ? column : row;
  if (!o.atMost(Expr(1), o.extents(v)[over]))
    return o.fail("the dim is empty");
  Value most = order > 0 ? c.reduceMax(sums, {over}, true)
                         : c.reduceMin(sums, {over}, true);
  if (!o.flag("keepdim")) {
    most = c.squeeze(most, std::max(row, column));
    most = c.squeeze(most, std::min(row, column));
  }
  return o.ret(c.cast(most, type));
}
static Status matrixNorm(OpCall &o) {
  return matrixNormOf(o, o.real("ord"), o.integers("dim"));
}
static Status matrixNormNamed(OpCall &o) {
  if (o.string("ord") != "fro")
    return o.fail("norms of matrices by singular values are not supported");
  auto dims = o.integersOrNone("dim");
  if (dims ? dims->size() != 2 : o.rank(o.tensor("self")) != 2)
    return o.fail("a norm of matrices is over two dims");
  return normOver(o, 2.0, dimsOf(o, "dim", o.tensor("self")), o.flag("keepdim"),
                  o.dtypeOrNone("dtype"));
}
static Status linalgNorm(OpCall &o) {
  Value x = o.tensor("self");
  LUMINAL_TRY(axes, dimsOf(o, "dim", x));
  if (o.has("ord") && axes.size() != 1) {
    auto dims = o.integersOrNone("dim");
    if (!dims && o.rank(x) != 2)
      return o.fail("a norm of matrices is over two dims");
    return matrixNormOf(o, *o.realOrNone("ord"),
                        dims.value_or(SmallVector<int64_t>{0, 1}));
  }
  return normOver(o, o.realOrNone("ord").value_or(2.0), axes, o.flag("keepdim"),
                  o.dtypeOrNone("dtype"));
}

/// Sums and means of the elements that are not NaN.
template <bool mean>
static Status nanSum(OpCall &o) {
  Composer &c = o.c;
  Value x = o.tensor("self");
  LUMINAL_TRY(axes, dimsOf(o, "dim", x));
  bool keep = o.flag("keepdim");
  Type type = o.dtypeOrNone("dtype").value_or(sumType(o, o.element(x)));
  if (type.isInteger(1) || (mean && !isa<FloatType>(type)))
    return o.fail("is not supported for this dtype");
  Type wide = o.opmath(type);
  Value nan = c.isNan(x);
  Value v = c.select(nan, c.splatInt(x, 0), x);
  Value sum = c.reduceSum(c.cast(c.cast(v, type), wide), axes, keep);
  if (mean) {
    Value count = c.reduceSum(c.cast(c.logicalNot(nan), wide), axes, keep);
    sum = c.div(sum, count);
  }
  return o.ret(c.cast(sum, type));
}

static Status logsumexp(OpCall &o) {
  Value x = o.toFloat(o.tensor("self"));
  LUMINAL_TRY(axes, dimsOf(o, "dim", x));
  bool keep = o.flag("keepdim");
  Composer &c = o.c;
  Type type = o.element(x);
  Value v = c.cast(x, o.opmath(type));
  Value most = c.reduceMax(v, axes, true);
  // The difference of an infinite maximum to itself would be NaN.
  Value inf = c.splat(most, std::numeric_limits<double>::infinity());
  Value shift = c.select(c.equal(c.abs(most), inf), c.splat(most, 0), most);
  SmallVector<Expr> extents = o.extents(v), map;
  for (unsigned i = 0; i < extents.size(); ++i)
    map.push_back(llvm::is_contained(axes, i) ? Expr(0) : Expr::dim(i));
  Value e = c.exp(c.sub(v, c.view(shift, extents, map)));
  Value sum = c.reduceSum(e, axes, true);
  Value result = c.add(c.log(sum), shift);
  if (!keep)
    for (unsigned i = axes.size(); i-- > 0;)
      result = c.squeeze(result, axes[i]);
  return o.ret(c.cast(result, type));
}

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

static Status softmaxOver(OpCall &o, std::optional<Type> result) {
  Value x = o.toFloat(o.tensor("self"));
  LUMINAL_TRY(axis, o.axis("dim", x));
  return o.ret(softmaxAs(o, x, axis, result.value_or(o.element(x))));
}
static Status softmax(OpCall &o) {
  return softmaxOver(o, o.dtypeOrNone("dtype"));
}
/// A row with only -inf gives zeros.
static Status safeSoftmax(OpCall &o) {
  Composer &c = o.c;
  Value x = o.toFloat(o.tensor("self"));
  LUMINAL_TRY(axis, o.axis("dim", x));
  Type result = o.dtypeOrNone("dtype").value_or(o.element(x));
  Value y = softmaxAs(o, x, axis, result);
  double inf = std::numeric_limits<double>::infinity();
  if (o.rank(x) == 0)
    return o.ret(c.select(c.equal(x, c.splat(x, -inf)), c.splat(y, 0), y));
  Value most = c.reduceMax(x, {axis}, true);
  Value none = c.equal(most, c.splat(most, -inf));
  return o.ret(c.select(c.broadcastTo(none, o.extents(y)), c.splat(y, 0), y));
}
/// With half_to_float, an f16 operand gives an f32 result.
static std::optional<Type> widenedType(OpCall &o) {
  if (o.flag("half_to_float"))
    return o.f32();
  return std::nullopt;
}
static Status softmaxCore(OpCall &o) { return softmaxOver(o, widenedType(o)); }

static Status logSoftmaxOver(OpCall &o, std::optional<Type> dtype) {
  Value x = o.toFloat(o.tensor("self"));
  LUMINAL_TRY(axis, o.axis("dim", x));
  Type result = dtype.value_or(o.element(x));
  if (o.rank(x) == 0)
    return o.ret(o.c.splat(x, 0, result));
  Type wide = o.opmath(o.element(x));
  if (result.getIntOrFloatBitWidth() > 32)
    wide = result;
  return o.ret(o.c.cast(logSoftmax(o, o.c.cast(x, wide), axis), result));
}
static Status logSoftmaxInt(OpCall &o) {
  return logSoftmaxOver(o, o.dtypeOrNone("dtype"));
}
static Status logSoftmaxCore(OpCall &o) {
  return logSoftmaxOver(o, widenedType(o));
}

//===----------------------------------------------------------------------===//
// Differences
//===----------------------------------------------------------------------===//

static Status diff(OpCall &o) {
  Value x = o.tensor("self");
  LUMINAL_TRY(axis, o.axis("dim", x));
  int64_t n = o.integer("n");
  if (o.rank(x) == 0 || n < 0)
    return o.fail("takes differences along no dim, or a negative number");
  if (n > kMaxRepeats)
    return o.fail("takes differences more than " + Twine(kMaxRepeats) +
                  " times");
  SmallVector<Value> parts;
  // Of order 0, the result is the tensor itself, without `prepend` and
  // `append`.
  if (n == 0) {
    o.ignore({"prepend", "append"});
    return o.ret(x);
  }
  for (StringRef name : {"prepend", "self", "append"})
    if (auto part = o.tensorOrNone(name))
      parts.push_back(*part);
  for (Value v : parts)
    if (o.element(v) != o.element(x) || o.rank(v) != o.rank(x))
      return o.fail("prepend or append differs in dtype or rank");
  x = concatenate(o, parts, axis);
  for (int64_t i = 0; i < n; ++i) {
    Expr extent = o.extents(x)[axis];
    Expr rest = extent - Expr(1);
    if (!o.assumptions().provablyNonNegative(rest))
      rest = Expr::max(rest, Expr(0));
    Value after = o.c.slice(x, axis, Expr(1), rest),
          before = o.c.slice(x, axis, Expr(0), rest);
    x = o.isBool(x) ? o.c.logicalXor(after, before) : o.c.sub(after, before);
  }
  return o.ret(x);
}

llvm::ArrayRef<OpRow> pt2::getReductionOps() {
  using S = Statistic;
  static const OpRow rows[] = {
      {"sum(Tensor self, *, ScalarType? dtype=None)", sum},
      {"sum.dim_IntList(Tensor self, int[]? dim, bool keepdim=False, *, "
       "ScalarType? dtype=None)",
       sumDims},
      {"mean(Tensor self, *, ScalarType? dtype=None)", mean},
      {"mean.dim(Tensor self, int[]? dim, bool keepdim=False, *, "
       "ScalarType? dtype=None)",
       meanDims},
      {"count_nonzero(Tensor self, int[]? dim=None)", countNonzero},
      {"count_nonzero.dim_IntList(Tensor self, int[] dim)", countNonzero},
      {"max(Tensor self)", extremumAll<true>},
      {"min(Tensor self)", extremumAll<false>},
      {"amax(Tensor self, int[] dim=[], bool keepdim=False)",
       extremumDims<true>},
      {"amin(Tensor self, int[] dim=[], bool keepdim=False)",
       extremumDims<false>},
      {"max.dim(Tensor self, int dim, bool keepdim=False)", extremumDim<true>},
      {"min.dim(Tensor self, int dim, bool keepdim=False)", extremumDim<false>},
      {"argmax(Tensor self, int? dim=None, bool keepdim=False)",
       argExtremum<true>},
      {"argmin(Tensor self, int? dim=None, bool keepdim=False)",
       argExtremum<false>},
      {"aminmax(Tensor self, *, int? dim=None, bool keepdim=False)", aminmax},
      {"any(Tensor self)", anyAll<false>},
      {"any.dim(Tensor self, int dim, bool keepdim=False)", anyDim<false>},
      {"any.dims(Tensor self, int[]? dim=None, bool keepdim=False)",
       anyDims<false>},
      {"all(Tensor self)", anyAll<true>},
      {"_is_all_true(Tensor self)", anyAll<true>},
      {"_is_any_true(Tensor self)", anyAll<false>},
      {"all.dim(Tensor self, int dim, bool keepdim=False)", anyDim<true>},
      {"all.dims(Tensor self, int[]? dim=None, bool keepdim=False)",
       anyDims<true>},
      {"var.correction(Tensor self, int[]? dim=None, *, "
       "float? correction=None, bool keepdim=False)",
       correctionForm<S::Var>},
      {"std.correction(Tensor self, int[]? dim=None, *, "
       "float? correction=None, bool keepdim=False)",
       correctionForm<S::Std>},
      {"var_mean.correction(Tensor self, int[]? dim=None, *, "
       "float? correction=None, bool keepdim=False)",
       correctionForm<S::VarMean>},
      {"std_mean.correction(Tensor self, int[]? dim=None, *, "
       "float? correction=None, bool keepdim=False)",
       correctionForm<S::StdMean>},
      {"var.dim(Tensor self, int[]? dim, bool unbiased=True, "
       "bool keepdim=False)",
       unbiasedForm<S::Var>},
      {"std.dim(Tensor self, int[]? dim, bool unbiased=True, "
       "bool keepdim=False)",
       unbiasedForm<S::Std>},
      {"var_mean.dim(Tensor self, int[]? dim, bool unbiased=True, "
       "bool keepdim=False)",
       unbiasedForm<S::VarMean>},
      {"std_mean.dim(Tensor self, int[]? dim, bool unbiased=True, "
       "bool keepdim=False)",
       unbiasedForm<S::StdMean>},
      {"std_mean(Tensor self, bool unbiased=True)", unbiasedAll<S::StdMean>},
      {"var_mean(Tensor self, bool unbiased=True)", unbiasedAll<S::VarMean>},
      {"var(Tensor self, bool unbiased=True)", unbiasedAll<S::Var>},
      {"std(Tensor self, bool unbiased=True)", unbiasedAll<S::Std>},
      {"linalg_vector_norm(Tensor self, float ord=2, int[]? dim=None, "
       "bool keepdim=False, *, ScalarType? dtype=None)",
       vectorNorm},
      {"norm.ScalarOpt_dim(Tensor self, float? p, int[] dim, "
       "bool keepdim=False)",
       norm},
      {"norm.Scalar(Tensor self, float p=2)", normAll},
      {"norm.ScalarOpt_dim_dtype(Tensor self, float? p, int[] dim, "
       "bool keepdim, *, ScalarType dtype)",
       normTyped},
      {"norm.ScalarOpt_dtype(Tensor self, float? p, *, ScalarType dtype)",
       normAllTyped},
      {"frobenius_norm.dim(Tensor self, int[] dim, bool keepdim=False)",
       frobeniusNorm},
      {"linalg_norm(Tensor self, float? ord=None, int[]? dim=None, "
       "bool keepdim=False, *, ScalarType? dtype=None)",
       linalgNorm},
      {"linalg_norm.ord_str(Tensor self, str ord, int[]? dim=None, "
       "bool keepdim=False, *, ScalarType? dtype=None)",
       matrixNormNamed},
      {"linalg_matrix_norm(Tensor self, float ord, int[] dim=[-2, -1], "
       "bool keepdim=False, *, ScalarType? dtype=None)",
       matrixNorm},
      {"linalg_matrix_norm.str_ord(Tensor self, str ord=fro, "
       "int[] dim=[-2, -1], bool keepdim=False, *, ScalarType? dtype=None)",
       matrixNormNamed},
      {"nansum(Tensor self, int[]? dim=None, bool keepdim=False, *, "
       "ScalarType? dtype=None)",
       nanSum<false>},
      {"nanmean(Tensor self, int[]? dim=None, bool keepdim=False, *, "
       "ScalarType? dtype=None)",
       nanSum<true>},
      {"logsumexp(Tensor self, int[] dim, bool keepdim=False)", logsumexp},
      {"softmax.int(Tensor self, int dim, ScalarType? dtype=None)", softmax},
      {"special_softmax(Tensor self, int dim, ScalarType? dtype=None)",
       softmax},
      {"special_log_softmax(Tensor self, int dim, *, ScalarType? dtype=None)",
       logSoftmaxInt},
      {"_safe_softmax(Tensor self, int dim, ScalarType? dtype=None)",
       safeSoftmax},
      {"_softmax(Tensor self, int dim, bool half_to_float)", softmaxCore},
      {"log_softmax.int(Tensor self, int dim, ScalarType? dtype=None)",
       logSoftmaxInt},
      {"_log_softmax(Tensor self, int dim, bool half_to_float)",
       logSoftmaxCore},
      {"diff(Tensor self, int n=1, int dim=-1, Tensor? prepend=None, "
       "Tensor? append=None)",
       diff},
  };
  return rows;
}
