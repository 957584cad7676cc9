//===- Norm.cpp - Normalization, embeddings, dropout ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Helpers.h"
#include "llvm/ADT/STLExtras.h"
#include <limits>

using namespace mlir;
using namespace luminal;
using namespace luminal::hlir;
using namespace luminal::pt2;

//===----------------------------------------------------------------------===//
// Norms over trailing dims
//===----------------------------------------------------------------------===//

/// Merges the normalized dims of x into one, last dim.
static Result<Value> mergeNormalized(OpCall &o, Value x) {
  SmallVector<Expr> shape = o.exprs("normalized_shape"), from = o.extents(x);
  bool fits = !shape.empty() && shape.size() <= from.size();
  for (unsigned i = 0; fits && i < shape.size(); ++i)
    fits = o.agree(shape[i], from[from.size() - shape.size() + i]);
  if (!fits)
    return o.fail("normalized_shape is not the tail of the input's shape");
  SmallVector<Expr> merged(from.begin(), from.end() - shape.size());
  merged.push_back(o.numElements(ArrayRef(from).take_back(shape.size())));
  return o.c.reshape(x, merged);
}

/// Multiplies by weight and adds bias, both of the normalized shape.
static Value affine(OpCall &o, Value y, std::optional<Value> weight,
                    std::optional<Value> bias) {
  Type wide = o.element(y);
  if (weight)
    y = o.c.mul(y, o.as(*weight, wide, o.extents(y)));
  if (bias)
    y = o.c.add(y, o.as(*bias, wide, o.extents(y)));
  return y;
}

/// Converts `v` to the dtype that the archive states for result i.
static Value asStated(OpCall &o, Value v, unsigned i) {
  if (const TensorMeta *meta = o.resultMeta(i))
    if (auto dtype = meta->dtype.dtype())
      return o.c.cast(v, getElementType(o.c.getBuilder().getContext(), *dtype));
  return v;
}

static Status layerNormOf(OpCall &o, double eps, bool withMoments) {
  Composer &c = o.c;
  Value x = o.tensor("input");
  auto weight = o.tensorOrNone("weight"), bias = o.tensorOrNone("bias");
  Type type = o.element(x);
  if (!isa<FloatType>(type))
    return o.fail("is defined for floats only");
  LUMINAL_TRY(v, mergeNormalized(o, c.cast(x, o.opmath(type))));
  Value y = c.reshape(c.layerNorm(v, eps), o.extents(x));
  Value result = c.cast(affine(o, y, weight, bias), type);
  if (!withMoments)
    return o.ret(result);
  // Mean and reciprocal standard deviation, with normalized dims of extent 1.
  unsigned last = o.rank(v) - 1;
  Value mean = c.mean(v, {last}, true);
  SmallVector<Expr> map = identityMap(last);
  map.push_back(Expr(0));
  Value d = c.sub(v, c.view(mean, o.extents(v), map));
  Value variance = c.mean(c.mul(d, d), {last}, true);
  Value rstd = c.rsqrt(c.add(variance, c.splat(variance, eps)));
  SmallVector<Expr> shape = o.extents(x);
  unsigned normalized = o.exprs("normalized_shape").size();
  for (unsigned i = shape.size() - normalized; i < shape.size(); ++i)
    shape[i] = Expr(1);
  return o.ret({result, asStated(o, c.reshape(mean, shape), 1),
                asStated(o, c.reshape(rstd, shape), 2)});
}
static Status layerNorm(OpCall &o) {
  o.ignore({"cudnn_enable"});
  return layerNormOf(o, o.real("eps"), false);
}
static Status nativeLayerNorm(OpCall &o) {
  return layerNormOf(o, o.real("eps"), true);
}

static Status rmsNorm(OpCall &o) {
  Composer &c = o.c;
  Value x = o.tensor("input");
  auto weight = o.tensorOrNone("weight");
  Type type = o.element(x);
  if (!isa<FloatType>(type))
    return o.fail("is defined for floats only");
  // The default eps is the machine epsilon of the compute type.
  Type wide = o.opmath(type);
  double eps = o.realOrNone("eps").value_or(
      wide.isF64() ? std::numeric_limits<double>::epsilon()
                   : std::numeric_limits<float>::epsilon());
  LUMINAL_TRY(v, mergeNormalized(o, c.cast(x, wide)));
  Value y = c.reshape(c.rmsNorm(v, eps), o.extents(x));
  return o.ret(c.cast(affine(o, y, weight, std::nullopt), type));
}

//===----------------------------------------------------------------------===//
// Norms over channels
//===----------------------------------------------------------------------===//

/// y * weight + bias, with one value per channel each.
static Value affineChannels(OpCall &o, Value y, std::optional<Value> weight,
                            std::optional<Value> bias) {
  if (weight)
    y = o.c.mul(y, o.spreadAlong(*weight, y, 1));
  if (bias)
    y = o.c.add(y, o.spreadAlong(*bias, y, 1));
  return y;
}
/// (x - mean) * rstd * weight + bias for known statistics per channel, as x *
/// scale + shift like PyTorch on the CPU. Scale and shift depend only on
/// weights, so they are computed when weights are prepared.
static Value scaleChannels(OpCall &o, Value x, Value mean, Value rstd,
                           std::optional<Value> weight,
                           std::optional<Value> bias) {
  Composer &c = o.c;
  Type wide = o.element(x);
  Value scale = c.cast(rstd, wide);
  if (weight)
    scale = c.mul(scale, c.cast(*weight, wide));
  Value shift = c.neg(c.mul(c.cast(mean, wide), scale));
  if (bias)
    shift = c.add(c.cast(*bias, wide), shift);
  return affineChannels(o, x, scale, shift);
}

/// 1 / sqrt(running_var + eps).
static Value runningRstd(OpCall &o, Value variance) {
  Composer &c = o.c;
  Value var = c.cast(variance, o.opmath(o.element(o.tensor("input"))));
  return c.rsqrt(c.add(var, c.splat(var, o.real("eps"))));
}

/// Batch norm with the running statistics.
static Result<Value> batchNormOf(OpCall &o) {
  Composer &c = o.c;
  Value x = o.tensor("input");
  auto weight = o.tensorOrNone("weight"), bias = o.tensorOrNone("bias"),
       mean = o.tensorOrNone("running_mean"),
       variance = o.tensorOrNone("running_var");
  o.ignore({"momentum"});
  if (!mean || !variance || o.rank(x) < 2 || !o.isFloat(x))
    return o.fail("needs running statistics and a channel dim");
  for (const auto &v : {weight, bias, mean, variance})
    if (v && (o.rank(*v) != 1 || !o.agree(o.extents(*v)[0], o.extents(x)[1])))
      return o.fail("a statistic has another shape than the channels");
  Type type = o.element(x);
  return c.cast(scaleChannels(o, c.cast(x, o.opmath(type)), *mean,
                              runningRstd(o, *variance), weight, bias),
                type);
}
namespace {
/// Each channel normalized over all other dims; statistics in the compute type.
struct OwnStatistics {
  Value result, mean, rstd;
};
} // namespace

static Result<OwnStatistics> ownStatistics(OpCall &o) {
  Composer &c = o.c;
  Value x = o.tensor("input");
  auto weight = o.tensorOrNone("weight"), bias = o.tensorOrNone("bias");
  o.ignore({"momentum"});
  if (o.rank(x) < 2 || !o.isFloat(x))
    return o.fail("takes floats with a channel dim");
  for (const auto &v : {weight, bias})
    if (v && (o.rank(*v) != 1 || !o.agree(o.extents(*v)[0], o.extents(x)[1])))
      return o.fail("a weight has another shape than the channels");
  Type type = o.element(x), wide = o.opmath(type);
  double eps = o.real("eps");
  SmallVector<unsigned> axes;
  for (unsigned i = 0; i < o.rank(x); ++i)
    if (i != 1)
      axes.push_back(i);
  Value v = c.cast(x, wide);
  Value mean = c.mean(v, axes, false);
  Value d = c.sub(v, c.view(mean, o.extents(v), {Expr::dim(1)}));
  Value variance = c.mean(c.mul(d, d), axes, false);
  Value rstd = c.rsqrt(c.add(variance, c.splat(variance, eps)));
  Value y =
      affineChannels(o, c.mul(d, o.spreadAlong(rstd, v, 1)), weight, bias);
  return OwnStatistics{c.cast(y, type), mean, rstd};
}
static Status batchNorm(OpCall &o) {
  o.ignore({"cudnn_enabled"});
  if (o.flag("training")) {
    if (o.has("running_mean") || o.has("running_var"))
      return o.fail("batch statistics (training mode) are not supported");
    LUMINAL_TRY(own, ownStatistics(o));
    return o.ret(own.result);
  }
  LUMINAL_TRY(y, batchNormOf(o));
  return o.ret(y);
}
/// Returns the saved statistics too. Outside training they are empty on the
/// CPU; on a GPU they are the statistics used.
static Status batchNormCore(OpCall &o) {
  LUMINAL_TRY(y, batchNormOf(o));
  Value none = o.c.full({Expr(0)}, o.c.scalar(o.element(y), 0));
  auto saved = [&](unsigned i, function_ref<Value()> statistic) {
    const TensorMeta *meta = o.resultMeta(i);
    bool isEmpty =
        !meta || (meta->sizes.size() == 1 && meta->sizes[0].isConstant(0));
    return asStated(o, isEmpty ? none : statistic(), i);
  };
  return o.ret({y, saved(1, [&] { return *o.tensorOrNone("running_mean"); }),
                saved(2, [&] {
                  return runningRstd(o, *o.tensorOrNone("running_var"));
                })});
}
static Status nativeBatchNorm(OpCall &o) {
  if (o.flag("training"))
    return o.fail("batch statistics (training mode) are not supported");
  return batchNormCore(o);
}
/// Also returns the running statistics, which are unchanged.
static Status batchNormFunctional(OpCall &o) {
  LUMINAL_CHECK(nativeBatchNorm(o));
  return o.ret({asStated(o, o.tensor("running_mean"), 3),
                asStated(o, o.tensor("running_var"), 4)});
}

/// Normalizes each channel of each batch element over its other dims.
static Status instanceNorm(OpCall &o) {
  Composer &c = o.c;
  Value x = o.tensor("input");
  auto weight = o.tensorOrNone("weight"), bias = o.tensorOrNone("bias");
  o.ignore({"momentum", "cudnn_enabled"});
  if (o.rank(x) < 2 || !o.isFloat(x))
    return o.fail("takes floats with a channel dim");
  Type type = o.element(x), wide = o.opmath(type);
  SmallVector<Expr> extents = o.extents(x);
  double eps = o.real("eps");
  Value v = c.cast(x, wide);
  if (!o.flag("use_input_stats")) {
    auto mean = o.tensorOrNone("running_mean"),
         variance = o.tensorOrNone("running_var");
    if (!mean || !variance)
      return o.fail("has no statistics");
    Value var = c.cast(*variance, wide);
    Value rstd = c.rsqrt(c.add(var, c.splat(var, eps)));
    return o.ret(c.cast(scaleChannels(o, v, *mean, rstd, weight, bias), type));
  }
  if (o.has("running_mean") || o.has("running_var"))
    return o.fail("updates running statistics");
  std::vector<Expr> inner(extents.begin() + 2, extents.end());
  Value rows = c.reshape(v, {extents[0], extents[1], product(inner)});
  Value y = c.reshape(c.layerNorm(rows, eps), extents);
  return o.ret(c.cast(affineChannels(o, y, weight, bias), type));
}

static Status batchNormNoStats(OpCall &o) {
  if (!o.flag("training"))
    return o.fail("takes floats with a channel dim, in training mode");
  LUMINAL_TRY(own, ownStatistics(o));
  return o.ret(
      {own.result, asStated(o, own.mean, 1), asStated(o, own.rstd, 2)});
}

namespace {
struct GroupNorm {
  Value result, mean, rstd; ///< [batch, groups], in the type computed in
};
} // namespace

/// Normalizes each group of channels; also returns the statistics.
static Result<GroupNorm> groupNormOf(OpCall &o, int64_t groups) {
  Composer &c = o.c;
  Value x = o.tensor("input");
  auto weight = o.tensorOrNone("weight"), bias = o.tensorOrNone("bias");
  double eps = o.real("eps");
  if (o.rank(x) < 2 || !o.isFloat(x) || groups <= 0)
    return o.fail("takes floats with a channel dim");
  SmallVector<Expr> extents = o.extents(x);
  Expr perGroup =
      o.assumptions().simplify(Expr::floorDiv(extents[1], Expr(groups)));
  if (!o.agree(perGroup * Expr(groups), extents[1]))
    return o.fail("the channels do not divide into the groups");
  Type type = o.element(x);
  Value v = c.cast(x, o.opmath(type));
  std::vector<Expr> inner = {perGroup};
  inner.insert(inner.end(), extents.begin() + 2, extents.end());
  Value rows = c.reshape(v, {extents[0], Expr(groups), product(inner)});
  Value y = c.reshape(c.layerNorm(rows, eps), extents);
  Value mean = c.mean(rows, {2}, false);
  Value d =
      c.sub(rows, c.view(mean, o.extents(rows), {Expr::dim(0), Expr::dim(1)}));
  Value variance = c.mean(c.mul(d, d), {2}, false);
  Value rstd = c.rsqrt(c.add(variance, c.splat(variance, eps)));
  return GroupNorm{c.cast(affineChannels(o, y, weight, bias), type), mean,
                   rstd};
}
static Status groupNorm(OpCall &o) {
  o.ignore({"cudnn_enabled"});
  LUMINAL_TRY(norm, groupNormOf(o, o.integer("num_groups")));
  return o.ret(norm.result);
}
static Status nativeGroupNorm(OpCall &o) {
  o.ignore({"N", "C", "HxW"}); // They repeat the input's shape.
  LUMINAL_TRY(norm, groupNormOf(o, o.integer("group")));
  return o.ret(
      {norm.result, asStated(o, norm.mean, 1), asStated(o, norm.rstd, 2)});
}

//===----------------------------------------------------------------------===//
// Embeddings
//===----------------------------------------------------------------------===//

static bool isIndex(OpCall &o, Value v) {
  return o.element(v).isInteger(64) || o.element(v).isInteger(32);
}

static Status embedding(OpCall &o) {
  // These three affect gradients only.
  o.ignore({"padding_idx", "scale_grad_by_freq", "sparse"});
  Value weight = o.tensor("weight"), indices = o.tensor("indices");
  if (o.rank(weight) != 2 || !isIndex(o, indices))
    return o.fail("takes a table of rows and integer indices");
  return o.ret(o.c.gather(weight, indices));
}

/// Gathers rows of a table and reduces each bag by sum, mean or max.
static Status embeddingBag(OpCall &o) {
  Composer &c = o.c;
  o.ignore({"scale_grad_by_freq", "sparse"});
  Value weight = o.tensor("weight"), indices = o.tensor("indices"),
        offsets = o.tensor("offsets");
  auto scale = o.tensorOrNone("per_sample_weights");
  int64_t mode = o.integer("mode");
  int64_t padding = o.integerOrNone("padding_idx").value_or(-1);
  if (o.rank(weight) != 2 || o.rank(indices) != 1 || o.rank(offsets) != 1)
    return o.fail("takes a table of rows, a vector of indices and offsets");
  // -1 means "none" in the core op; elsewhere negative rows count from the end.
  if (padding < 0 && o.entry.name == "embedding_bag.padding_idx" &&
      o.has("padding_idx")) {
    auto tableRows = o.extents(weight)[0].asConstant();
    if (!tableRows || padding < -*tableRows)
      return o.fail("padding_idx is outside the table");
    padding += *tableRows;
  }
  bool includeLast = o.flag("include_last_offset");
  if (!isIndex(o, indices) || !isIndex(o, offsets) || mode < 0 || mode > 2 ||
      !o.isFloat(weight))
    return o.fail("takes a table of rows, integer indices and offsets");
  if (scale && (mode != 0 || o.rank(*scale) != 1))
    return o.fail("per_sample_weights are for sums only");
  Type type = o.element(weight), wide = o.opmath(type);
  Expr n = o.extents(indices)[0], width = o.extents(weight)[1],
       bags = o.extents(offsets)[0];
  if (includeLast) {
    bags = bags - Expr(1);
    if (!o.atMost(Expr(0), bags))
      return o.fail("has no last offset");
    offsets = c.slice(offsets, 0, Expr(0), bags);
  }
  // The bag of element i: the number of bags that begin at or before it, minus
  // one. The first offset is 0.
  SmallVector<Expr> space = {n, bags};
  Value at = c.iota(space, Expr::dim(0));
  Value begin = c.view(c.cast(offsets, o.i64()), space, {Expr::dim(1)});
  Value started = c.cast(c.lessEqual(begin, at), o.i64());
  Value bag = c.reduceSum(started, {1}, false);
  bag = c.add(bag, c.splatInt(bag, -1));

  Value rows = c.cast(c.gather(weight, indices), wide);
  SmallVector<Expr> rowShape = {n, width};
  if (scale)
    rows = c.mul(rows, c.view(c.cast(*scale, wide), rowShape, {Expr::dim(0)}));
  double inf = std::numeric_limits<double>::infinity();
  Value counted;
  if (padding >= 0 || mode != 0) {
    Value wideIndices = c.cast(indices, o.i64());
    counted =
        c.logicalNot(c.equal(wideIndices, c.splatInt(wideIndices, padding)));
  }
  if (padding >= 0)
    rows = c.select(c.view(counted, rowShape, {Expr::dim(0)}), rows,
                    c.splat(rows, mode == 2 ? -inf : 0));
  SmallVector<Expr> outShape = {bags, width};
  Value start = c.full(outShape, c.scalar(wide, mode == 2 ? -inf : 0));
  Value result =
      c.scatter(mode == 2 ? Combine::Max : Combine::Add, start, bag, rows);
  if (mode != 0) {
    Value none = c.full({bags}, c.scalarInt(o.i64(), 0));
    Value count = c.scatter(Combine::Add, none, bag, c.cast(counted, o.i64()));
    if (mode == 1) {
      Value n1 = c.maximum(count, c.splatInt(count, 1));
      result =
          c.div(result, c.view(c.cast(n1, wide), outShape, {Expr::dim(0)}));
    } else {
      Value empty = c.equal(count, c.splatInt(count, 0));
      result = c.select(c.view(empty, outShape, {Expr::dim(0)}),
                        c.splat(result, 0), result);
    }
  }
  // The other results are used by gradients; a program that reads one is
  // rejected.
  return o.retFirst(c.cast(result, type));
}

//===----------------------------------------------------------------------===//
// Dropout
//===----------------------------------------------------------------------===//

static Status checkNoDraw(OpCall &o, bool train) {
  if (o.real("p") != 0 && train)
    return o.fail("draws random numbers (train is true)");
  return {};
}
static Status dropout(OpCall &o) {
  LUMINAL_CHECK(checkNoDraw(o, o.flag("train")));
  return o.ret(o.tensor("input"));
}
/// Returns the mask of kept elements too, which are all. None counts as
/// training.
static Status nativeDropout(OpCall &o) {
  LUMINAL_CHECK(checkNoDraw(o, !o.has("train") || o.flag("train")));
  Value x = o.tensor("input");
  return o.ret({x, o.c.splatInt(x, 1, o.i1())});
}

//===----------------------------------------------------------------------===//
// Weight norm
//===----------------------------------------------------------------------===//

/// v * (g / |v|); the norm is taken over all dims but one (-1: over all).
static Status weightNorm(OpCall &o) {
  Composer &c = o.c;
  Value v = o.tensor("v"), g = o.tensor("g");
  int64_t dim = o.integer("dim");
  Type type = o.element(v), wide = o.opmath(type);
  if (!isa<FloatType>(type) || o.element(g) != type || o.rank(v) == 0)
    return o.fail("takes floats of one dtype");
  SmallVector<unsigned> axes;
  std::optional<unsigned> kept;
  if (dim != -1) {
    LUMINAL_TRY(axis, o.axis(dim, o.rank(v)));
    kept = axis;
  }
  for (unsigned i = 0; i < o.rank(v); ++i)
    if (i != kept)
      axes.push_back(i);
  Value x = c.cast(v, wide);
  Value norm = c.sqrt(c.reduceSum(c.mul(x, x), axes, true));
  LUMINAL_TRY(shape, o.commonShape({norm, g}));
  SmallVector<Expr> extents = o.extents(v);
  bool fits = shape.size() == extents.size();
  for (unsigned i = 0; fits && i < shape.size(); ++i)
    fits = shape[i].isConstant(1) || o.agree(shape[i], extents[i]);
  if (!fits)
    return o.fail("the lengths do not fit the directions");
  Value scale =
      c.div(o.broadcastTo(c.cast(g, wide), shape), o.broadcastTo(norm, shape));
  Value result = c.mul(x, o.broadcastTo(scale, extents));
  if (o.getNumResults() == 1)
    return o.ret(c.cast(result, type));
  return o.ret({c.cast(result, type), asStated(o, norm, 1)});
}

//===----------------------------------------------------------------------===//
// PReLU
//===----------------------------------------------------------------------===//

static Value sloped(OpCall &o, Value x, Value slope) {
  Composer &c = o.c;
  return c.select(c.less(c.splat(x, 0), x), x, c.mul(x, slope));
}
static Status prelu(OpCall &o) {
  Value x = o.tensor("self"), weight = o.tensor("weight");
  if (!o.isFloat(x) || o.element(weight) != o.element(x) || o.rank(weight) > 1)
    return o.fail("takes floats and one slope, or one for each channel");
  SmallVector<Expr> extents = o.extents(x), map;
  if (o.rank(weight) == 1) {
    Expr n = o.extents(weight)[0];
    if (n.isConstant(1))
      map = {Expr(0)};
    else if (o.rank(x) >= 2 && o.agree(n, extents[1]))
      map = {Expr::dim(1)};
    else
      return o.fail("takes one slope, or one for each channel");
  }
  return o.ret(sloped(o, x, o.c.view(weight, extents, map)));
}
static Status preluKernel(OpCall &o) {
  Value x = o.tensor("self"), weight = o.tensor("weight");
  if (!o.isFloat(x) || o.element(weight) != o.element(x))
    return o.fail("takes floats of one dtype");
  LUMINAL_TRY(shape, o.commonShape({x, weight}));
  return o.ret(
      sloped(o, o.broadcastTo(x, shape), o.broadcastTo(weight, shape)));
}

llvm::ArrayRef<OpRow> pt2::getNormOps() {
  static const OpRow rows[] = {
      {"layer_norm(Tensor input, SymInt[] normalized_shape, "
       "Tensor? weight=None, Tensor? bias=None, float eps=1e-05, "
       "bool cudnn_enable=True)",
       layerNorm},
      {"native_layer_norm(Tensor input, SymInt[] normalized_shape, "
       "Tensor? weight, Tensor? bias, float eps)",
       nativeLayerNorm},
      {"rms_norm(Tensor input, SymInt[] normalized_shape, "
       "Tensor? weight=None, float? eps=None)",
       rmsNorm},
      {"batch_norm(Tensor input, Tensor? weight, Tensor? bias, "
       "Tensor? running_mean, Tensor? running_var, bool training, "
       "float momentum, float eps, bool cudnn_enabled)",
       batchNorm},
      {"_native_batch_norm_legit_no_training(Tensor input, Tensor? weight, "
       "Tensor? bias, Tensor? running_mean, Tensor? running_var, "
       "float momentum, float eps)",
       batchNormCore},
      {"native_batch_norm(Tensor input, Tensor? weight, Tensor? bias, "
       "Tensor? running_mean, Tensor? running_var, bool training, "
       "float momentum, float eps)",
       nativeBatchNorm},
      {"_native_batch_norm_legit(Tensor input, Tensor? weight, Tensor? bias, "
       "Tensor running_mean, Tensor running_var, bool training, "
       "float momentum, float eps)",
       nativeBatchNorm},
      {"_native_batch_norm_legit_functional(Tensor input, Tensor? weight, "
       "Tensor? bias, Tensor running_mean, Tensor running_var, bool training, "
       "float momentum, float eps)",
       batchNormFunctional},
      {"_native_batch_norm_legit.no_stats(Tensor input, Tensor? weight, "
       "Tensor? bias, bool training, float momentum, float eps)",
       batchNormNoStats},
      {"instance_norm(Tensor input, Tensor? weight, Tensor? bias, "
       "Tensor? running_mean, Tensor? running_var, bool use_input_stats, "
       "float momentum, float eps, bool cudnn_enabled)",
       instanceNorm},
      {"group_norm(Tensor input, int num_groups, Tensor? weight=None, "
       "Tensor? bias=None, float eps=1e-05, bool cudnn_enabled=True)",
       groupNorm},
      {"native_group_norm(Tensor input, Tensor? weight, Tensor? bias, "
       "SymInt N, SymInt C, SymInt HxW, int group, float eps)",
       nativeGroupNorm},
      {"embedding(Tensor weight, Tensor indices, SymInt padding_idx=-1, "
       "bool scale_grad_by_freq=False, bool sparse=False)",
       embedding},
      {"embedding_bag.padding_idx(Tensor weight, Tensor indices, "
       "Tensor offsets, bool scale_grad_by_freq, int mode, bool sparse, "
       "Tensor? per_sample_weights, bool include_last_offset, "
       "int? padding_idx)",
       embeddingBag},
      {"_embedding_bag(Tensor weight, Tensor indices, Tensor offsets, "
       "bool scale_grad_by_freq=False, int mode=0, bool sparse=False, "
       "Tensor? per_sample_weights=None, bool include_last_offset=False, "
       "int padding_idx=-1)",
       embeddingBag},
      {"_embedding_bag_forward_only(Tensor weight, Tensor indices, "
       "Tensor offsets, bool scale_grad_by_freq=False, int mode=0, "
       "bool sparse=False, Tensor? per_sample_weights=None, "
       "bool include_last_offset=False, int padding_idx=-1)",
       embeddingBag},
      {"_weight_norm(Tensor v, Tensor g, int dim=0)", weightNorm},
      {"_weight_norm_interface(Tensor v, Tensor g, int dim=0)", weightNorm},
      {"prelu(Tensor self, Tensor weight)", prelu},
      {"_prelu_kernel(Tensor self, Tensor weight)", preluKernel},
      {"dropout(Tensor input, float p, bool train)", dropout},
      {"native_dropout(Tensor input, float p, bool? train)", nativeDropout},
      {"feature_dropout(Tensor input, float p, bool train)", dropout},
      {"alpha_dropout(Tensor input, float p, bool train)", dropout},
      {"feature_alpha_dropout(Tensor input, float p, bool train)", dropout},
  };
  return rows;
}
