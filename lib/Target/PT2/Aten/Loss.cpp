//===- Loss.cpp - Losses and distances ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Helpers.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace luminal;
using namespace luminal::hlir;
using namespace luminal::pt2;

static constexpr double kInf = std::numeric_limits<double>::infinity();

/// Reduces the elements' losses as the argument `reduction` says (none, mean or
/// sum) and rounds once to `type`.
static Status reduced(OpCall &o, Value loss, Type type) {
  int64_t reduction = o.integer("reduction");
  if (reduction < 0 || reduction > 2)
    return o.fail("the reduction is not known");
  if (reduction == 1)
    loss = o.c.mean(loss, o.allDims(loss), false);
  if (reduction == 2)
    loss = o.c.reduceSum(loss, o.allDims(loss), false);
  return o.ret(o.c.cast(loss, type));
}

namespace {
/// Tensors promoted to one float type and broadcast, in the compute type.
struct Together {
  SmallVector<Value> values;
  Type type;
};
} // namespace

static Result<Together> together(OpCall &o, ArrayRef<StringRef> names) {
  SmallVector<Operand> operands;
  for (StringRef name : names)
    operands.push_back(o.tensor(name));
  Together t;
  t.type = o.promote(operands);
  if (!isa<FloatType>(t.type))
    return o.fail("is supported for floats only");
  LUMINAL_TRY(shape, o.commonShape(operands));
  for (const Operand &operand : operands)
    t.values.push_back(o.as(operand, o.opmath(t.type), shape));
  return t;
}

//===----------------------------------------------------------------------===//
// Elementwise losses
//===----------------------------------------------------------------------===//

using LossFn = llvm::function_ref<Value(Composer &, ArrayRef<Value>)>;

static Status elementLoss(OpCall &o, ArrayRef<StringRef> names, LossFn fn) {
  LUMINAL_TRY(t, together(o, names));
  return reduced(o, fn(o.c, t.values), t.type);
}

static Status mseLoss(OpCall &o) {
  return elementLoss(o, {"self", "target"}, [](Composer &c, ArrayRef<Value> v) {
    Value d = c.sub(v[0], v[1]);
    return c.mul(d, d);
  });
}
static Status l1Loss(OpCall &o) {
  return elementLoss(o, {"self", "target"}, [](Composer &c, ArrayRef<Value> v) {
    return c.abs(c.sub(v[0], v[1]));
  });
}
/// `scale` times the Huber loss: quadratic below `bound`, linear above it.
static Status huber(OpCall &o, double bound, double scale) {
  return elementLoss(
      o, {"self", "target"}, [&](Composer &c, ArrayRef<Value> v) {
        Value d = c.abs(c.sub(v[0], v[1]));
        Value limit = c.splat(d, bound);
        Value near = c.mul(c.mul(d, d), c.splat(d, 0.5 * scale));
        Value far =
            c.mul(c.sub(d, c.splat(d, bound / 2)), c.splat(d, bound * scale));
        return c.select(c.less(d, limit), near, far);
      });
}
static Status huberLoss(OpCall &o) { return huber(o, o.real("delta"), 1); }
static Status smoothL1Loss(OpCall &o) {
  double beta = o.real("beta");
  return beta == 0 ? l1Loss(o) : huber(o, beta, 1 / beta);
}

static Result<Value> weightedBy(OpCall &o, Value loss, StringRef name) {
  auto weight = o.tensorOrNone(name);
  if (!weight)
    return loss;
  LUMINAL_TRY(shape, o.commonShape({*weight, loss}));
  return o.c.mul(o.broadcastTo(loss, shape),
                 o.as(*weight, o.element(loss), shape));
}

/// Logarithms are clamped to at least -100, as in PyTorch.
static Status binaryCrossEntropy(OpCall &o) {
  Composer &c = o.c;
  LUMINAL_TRY(t, together(o, {"self", "target"}));
  Value x = t.values[0], y = t.values[1], one = c.splat(x, 1);
  auto held = [&](Value v) { return c.maximum(c.log(v), c.splat(v, -100)); };
  Value loss =
      c.sub(c.mul(c.sub(y, one), held(c.sub(one, x))), c.mul(y, held(x)));
  LUMINAL_TRY(weighted, weightedBy(o, loss, "weight"));
  return reduced(o, weighted, t.type);
}

/// (1 - y) x + (1 + (p - 1) y) log(1 + e^-x), without overflow.
static Status binaryCrossEntropyLogits(OpCall &o) {
  Composer &c = o.c;
  LUMINAL_TRY(t, together(o, {"self", "target"}));
  Value x = t.values[0], y = t.values[1], one = c.splat(x, 1);
  Value soft = c.add(c.log1p(c.exp(c.neg(c.abs(x)))),
                     c.maximum(c.neg(x), c.splat(x, 0)));
  if (auto positive = o.tensorOrNone("pos_weight")) {
    LUMINAL_TRY(shape, o.commonShape({*positive, x}));
    if (shape.size() != o.rank(x))
      return o.fail("pos_weight does not fit the input");
    Value p = o.as(*positive, o.element(x), o.extents(x));
    soft = c.mul(soft, c.add(one, c.mul(c.sub(p, one), y)));
  }
  Value loss = c.add(c.mul(c.sub(one, y), x), soft);
  LUMINAL_TRY(weighted, weightedBy(o, loss, "weight"));
  return reduced(o, weighted, t.type);
}

/// y (log y - x), 0 if y is 0; with log_target, e^y (y - x).
static Status klDiv(OpCall &o) {
  bool logTarget = o.flag("log_target");
  return elementLoss(
      o, {"self", "target"}, [&](Composer &c, ArrayRef<Value> v) {
        Value x = v[0], y = v[1];
        if (logTarget)
          return c.mul(c.exp(y), c.sub(y, x));
        Value zero = c.splat(y, 0);
        Value entropy = c.select(c.equal(y, zero), zero, c.mul(y, c.log(y)));
        return c.sub(entropy, c.mul(y, x));
      });
}
static Status poissonNllLoss(OpCall &o) {
  bool isLog = o.flag("log_input"), full = o.flag("full");
  double eps = o.real("eps");
  return elementLoss(
      o, {"input", "target"}, [&](Composer &c, ArrayRef<Value> v) {
        Value x = v[0], y = v[1];
        Value loss = isLog
                         ? c.sub(c.exp(x), c.mul(y, x))
                         : c.sub(x, c.mul(y, c.log(c.add(x, c.splat(x, eps)))));
        if (!full)
          return loss;
        // Stirling's approximation, for targets above 1.
        Value stirling =
            c.add(c.sub(c.mul(y, c.log(y)), y),
                  c.mul(c.splat(y, 0.5),
                        c.log(c.mul(y, c.splat(y, 2 * 3.141592653589793)))));
        Value large = c.less(c.splat(y, 1), y);
        return c.add(loss, c.select(large, stirling, c.splat(y, 0)));
      });
}
static Status softMarginLoss(OpCall &o) {
  return elementLoss(o, {"self", "target"}, [](Composer &c, ArrayRef<Value> v) {
    Value z = c.neg(c.mul(v[0], v[1]));
    return c.add(c.maximum(z, c.splat(z, 0)), c.log1p(c.exp(c.neg(c.abs(z)))));
  });
}
static Status hingeEmbeddingLoss(OpCall &o) {
  double margin = o.real("margin");
  return elementLoss(
      o, {"self", "target"}, [&](Composer &c, ArrayRef<Value> v) {
        Value x = v[0], y = v[1], one = c.splat(y, 1), zero = c.splat(y, 0);
        Value far = c.relu(c.sub(c.splat(x, margin), x));
        return c.add(c.select(c.equal(y, one), zero, far),
                     c.select(c.equal(y, c.neg(one)), zero, x));
      });
}
static Status marginRankingLoss(OpCall &o) {
  double margin = o.real("margin");
  return elementLoss(o, {"input1", "input2", "target"},
                     [&](Composer &c, ArrayRef<Value> v) {
                       Value d = c.mul(c.neg(v[2]), c.sub(v[0], v[1]));
                       return c.relu(c.add(d, c.splat(d, margin)));
                     });
}

//===----------------------------------------------------------------------===//
// Classes
//===----------------------------------------------------------------------===//

/// For each target, the element of x at its class along `axis`, and the weight
/// of the class; both are 0 for ignored targets.
static Result<std::pair<Value, Value>>
pickClasses(OpCall &o, Value x, Value target, unsigned axis,
            std::optional<Value> weight) {
  Composer &c = o.c;
  int64_t ignored = o.integer("ignore_index");
  SmallVector<Expr> shape = o.extents(x);
  Expr classes = shape[axis];
  shape.erase(shape.begin() + axis);
  bool fits =
      o.rank(target) == shape.size() &&
      (o.element(target).isInteger(64) || o.element(target).isInteger(32));
  for (unsigned i = 0; fits && i < shape.size(); ++i)
    fits = o.agree(o.extents(target)[i], shape[i]);
  if (!fits || (weight && (o.rank(*weight) != 1 ||
                           !o.agree(o.extents(*weight)[0], classes))))
    return o.fail("takes one class for each row, and a weight for each class");
  // Selects the row of the class by comparison, which is exact for any class.
  Value index = c.broadcastTo(c.cast(target, o.i64()), shape);
  Value counted = c.logicalNot(c.equal(index, c.splatInt(index, ignored)));
  SmallVector<Expr> space = shape, map;
  space.push_back(classes);
  unsigned last = shape.size();
  for (unsigned i = 0; i <= last; ++i)
    map.push_back(i == axis ? Expr::dim(last)
                            : Expr::dim(i < axis ? i : i - 1));
  SmallVector<Expr> outer = identityMap(last);
  Value held = c.select(counted, index, c.splatInt(index, 0));
  Value hit =
      c.equal(c.view(held, space, outer), c.iota(space, Expr::dim(last)));
  auto pick = [&](Value v) {
    Value all = c.select(hit, v, c.splat(v, 0));
    Value picked = c.reduceSum(all, {last}, false);
    return c.select(counted, picked, c.splat(picked, 0));
  };
  Type wide = o.element(x);
  Value ones = weight ? c.view(c.cast(*weight, wide), space, {Expr::dim(last)})
                      : c.full(space, c.scalar(wide, 1));
  return std::pair(pick(c.view(x, space, map)), pick(ones));
}

/// -w x for each target; the mean is weighted.
static Status finishNll(OpCall &o, Value picked, Value weight, Type type,
                        bool withTotal) {
  Composer &c = o.c;
  int64_t reduction = o.integer("reduction");
  Value loss = c.neg(c.mul(picked, weight));
  auto axes = o.allDims(loss);
  Value total = c.reduceSum(weight, axes, false);
  if (reduction == 1)
    loss = c.div(c.reduceSum(loss, axes, false), total);
  else if (reduction == 2)
    loss = c.reduceSum(loss, axes, false);
  else if (reduction != 0)
    return o.fail("the reduction is not known");
  if (!withTotal)
    return o.ret(c.cast(loss, type));
  // Without a reduction, PyTorch returns a total weight of 0.
  if (reduction == 0)
    total = c.scalar(o.element(total), 0);
  return o.ret({c.cast(loss, type), c.cast(total, type)});
}

static Result<unsigned> classAxis(OpCall &o, Value x) {
  if (o.rank(x) == 0 || !o.isFloat(x))
    return o.fail("takes floats with a dim of classes");
  return o.rank(x) == 1 ? 0 : 1;
}

template <bool withTotal>
static Status nllLoss(OpCall &o) {
  Value x = o.tensor("self");
  LUMINAL_TRY(axis, classAxis(o, x));
  Type type = o.element(x);
  LUMINAL_TRY(picked,
              pickClasses(o, o.c.cast(x, o.opmath(type)), o.tensor("target"),
                          axis, o.tensorOrNone("weight")));
  return finishNll(o, picked.first, picked.second, type, withTotal);
}

static Status crossEntropyLoss(OpCall &o) {
  Composer &c = o.c;
  Value x = o.tensor("self"), target = o.tensor("target");
  auto weight = o.tensorOrNone("weight");
  double smoothing = o.real("label_smoothing");
  LUMINAL_TRY(axis, classAxis(o, x));
  Type type = o.element(x), wide = o.opmath(type);
  Value v = c.cast(x, wide);
  Value logits = logSoftmax(o, v, axis);
  SmallVector<Expr> extents = o.extents(v);
  Expr classes = extents[axis];
  Value byClass =
      weight ? c.view(c.cast(*weight, wide), extents, {Expr::dim(axis)})
             : c.splat(logits, 1);
  Value count = extentValue(o, classes, wide);
  int64_t reduction = o.integer("reduction");
  auto scaled = [&](Value y, double factor) {
    return c.mul(y, c.splat(y, factor));
  };
  if (o.isFloat(target)) {
    // The targets are class probabilities.
    o.ignore({"ignore_index"});
    Value p = c.cast(target, wide);
    if (!o.agree(o.extents(p), extents))
      return o.fail("the probabilities have another shape than the input");
    p = c.broadcastTo(p, extents);
    if (smoothing > 0) {
      Value each = c.div(c.splat(count, smoothing), count);
      p = c.add(scaled(p, 1 - smoothing), c.full(extents, each));
    }
    Value loss =
        c.neg(c.reduceSum(c.mul(c.mul(logits, p), byClass), {axis}, false));
    if (reduction == 0)
      return o.ret(c.cast(loss, type));
    Value sum = c.reduceSum(loss, o.allDims(loss), false);
    if (reduction == 1) {
      SmallVector<Expr> shape = o.extents(loss);
      Expr rows = o.numElements(shape);
      sum = c.div(sum, extentValue(o, rows, wide));
    }
    return o.ret(c.cast(sum, type));
  }
  LUMINAL_TRY(picked, pickClasses(o, logits, target, axis, weight));
  auto [chosen, weights] = picked;
  if (smoothing == 0)
    return finishNll(o, chosen, weights, type, false);
  // Label smoothing: a fraction of each target is spread over all classes.
  Value counted = c.cast(target, o.i64());
  counted = c.logicalNot(
      c.equal(counted, c.splatInt(counted, o.integer("ignore_index"))));
  Value spread = c.neg(c.reduceSum(c.mul(logits, byClass), {axis}, false));
  spread = c.select(counted, spread, c.splat(spread, 0));
  spread = c.div(spread, c.full(o.extents(spread), count));
  Value loss = c.neg(c.mul(chosen, weights));
  auto axes = o.allDims(loss);
  if (reduction != 0) {
    loss = c.reduceSum(loss, axes, false);
    spread = c.reduceSum(spread, axes, false);
  }
  if (reduction == 1) {
    Value all = c.reduceSum(weights, axes, false);
    loss = c.div(loss, all);
    spread = c.div(spread, all);
  }
  return o.ret(c.cast(
      c.add(scaled(loss, 1 - smoothing), scaled(spread, smoothing)), type));
}

//===----------------------------------------------------------------------===//
// Distances
//===----------------------------------------------------------------------===//

/// The p-norm over the last dim.
static Value normLast(OpCall &o, Value x, double p) {
  Composer &c = o.c;
  unsigned last = o.rank(x) - 1;
  Value a = c.abs(x);
  if (p == 0)
    return c.reduceSum(c.cast(c.cast(a, o.i1()), o.element(a)), {last}, false);
  if (p == 1)
    return c.reduceSum(a, {last}, false);
  if (p == 2)
    return c.sqrt(c.reduceSum(c.mul(x, x), {last}, false));
  if (p == kInf)
    return c.reduceMax(a, {last}, false);
  return c.powScalar(c.reduceSum(c.powScalar(a, p), {last}, false), 1 / p);
}

/// Whether PyTorch takes distances from products of rows: where it is told to,
/// or of more rows than 25.
static bool isByProducts(OpCall &o, double p, const Expr &rowsA,
                         const Expr &rowsB) {
  constexpr int64_t kMostDirect = 25;
  if (o.entry.name == "_euclidean_dist.default")
    return true;
  int64_t mode = o.integerOrNone("compute_mode").value_or(0);
  if (p != 2 || mode != 0)
    return p == 2 && mode == 1;
  return llvm::any_of(ArrayRef{rowsA, rowsB}, [&](const Expr &rows) {
    return o.assumptions().provablyLess(kMostDirect, rows);
  });
}

/// sqrt(|x|^2 + |y|^2 - 2 x y), of x [batch..., p, k] and y [batch..., r, k].
static Value distanceByProducts(OpCall &o, Value x, Value y) {
  Composer &c = o.c;
  unsigned last = o.rank(x) - 1;
  SmallVector<unsigned> order = o.allDims(y);
  std::swap(order[last - 1], order[last]);
  Value product = c.matmul(x, c.permute(y, order));
  auto getSquares = [&](Value v, unsigned axis) {
    Value sum = c.reduceSum(c.mul(v, v), {last}, false);
    return o.broadcastTo(c.unsqueeze(sum, axis), o.extents(product));
  };
  Value squares = c.add(getSquares(x, last), getSquares(y, last - 1));
  Value square = c.add(squares, c.mul(product, c.splat(product, -2)));
  return c.sqrt(c.maximum(square, c.splat(square, 0)));
}

/// The distance of every row of one tensor to every row of the other.
static Status cdist(OpCall &o) {
  Composer &c = o.c;
  double p = o.entry.name == "_euclidean_dist.default" ? 2 : o.real("p");
  Value a = o.tensor("x1"), b = o.tensor("x2");
  unsigned ra = o.rank(a), rb = o.rank(b);
  if (ra < 2 || rb < 2 || !o.isFloat(a) || o.element(a) != o.element(b) ||
      p < 0)
    return o.fail("takes rows of floats");
  SmallVector<Expr> ea = o.extents(a), eb = o.extents(b);
  LUMINAL_TRY(space,
              o.broadcast({SmallVector<Expr>(ArrayRef(ea).drop_back(2)),
                           SmallVector<Expr>(ArrayRef(eb).drop_back(2))}));
  if (!o.agree(ea.back(), eb.back()))
    return o.fail("the rows have different lengths");
  Type type = o.element(a), wide = o.opmath(type);
  a = c.cast(a, wide), b = c.cast(b, wide);
  if (isByProducts(o, p, ea[ra - 2], eb[rb - 2])) {
    auto broadcastRows = [&](Value v, const Expr &rows) {
      SmallVector<Expr> extents = space;
      extents.append({rows, ea.back()});
      return o.broadcastTo(v, extents);
    };
    return o.ret(c.cast(distanceByProducts(o, broadcastRows(a, ea[ra - 2]),
                                           broadcastRows(b, eb[rb - 2])),
                        type));
  }
  space.append({ea[ra - 2], eb[rb - 2], ea.back()});
  Value x = o.broadcastTo(c.unsqueeze(a, ra - 1), space),
        y = o.broadcastTo(c.unsqueeze(b, rb - 2), space);
  return o.ret(c.cast(normLast(o, c.sub(x, y), p), type));
}

/// The distance of every row to every later one.
static Status pdist(OpCall &o) {
  Composer &c = o.c;
  double p = o.real("p");
  Value x = o.tensor("self");
  auto n = o.rank(x) == 2 ? o.extents(x)[0].asConstant() : std::nullopt;
  if (!n || !o.isFloat(x) || p < 0)
    return o.fail("takes a static number of rows of floats");
  SmallVector<int64_t> first, second;
  for (int64_t i = 0; i < *n; ++i)
    for (int64_t j = i + 1; j < *n; ++j) {
      if (first.size() == kMaxListed)
        return o.fail("has more than " + Twine(kMaxListed) + " pairs of rows");
      first.push_back(i);
      second.push_back(j);
    }
  Type type = o.element(x);
  Value v = c.cast(x, o.opmath(type));
  auto rows = [&](ArrayRef<int64_t> index) {
    auto tensor =
        RankedTensorType::get({static_cast<int64_t>(index.size())}, o.i64());
    return c.gather(
        v, ConstantOp::create(c.getBuilder(), c.getLoc(), tensor,
                              DenseIntElementsAttr::get(tensor, index)));
  };
  return o.ret(c.cast(normLast(o, c.sub(rows(first), rows(second)), p), type));
}

static Value pairDistance(OpCall &o, Value a, Value b, double p, double eps) {
  Composer &c = o.c;
  Value d = c.sub(a, b);
  return normLast(o, c.add(d, c.splat(d, eps)), p);
}
static Status pairwiseDistance(OpCall &o) {
  double p = o.real("p"), eps = o.real("eps");
  bool keep = o.flag("keepdim");
  LUMINAL_TRY(t, together(o, {"x1", "x2"}));
  if (o.rank(t.values[0]) == 0)
    return o.fail("takes tensors with a dim");
  Value d = pairDistance(o, t.values[0], t.values[1], p, eps);
  if (keep)
    d = o.c.unsqueeze(d, o.rank(d));
  return o.ret(o.c.cast(d, t.type));
}
static Status dist(OpCall &o) {
  LUMINAL_TRY(t, together(o, {"self", "other"}));
  double p = o.real("p");
  Value d = o.c.sub(t.values[0], t.values[1]);
  SmallVector<Expr> shape = o.extents(d);
  d = o.c.reshape(d, {o.numElements(shape)});
  return o.ret(o.c.cast(normLast(o, d, p), t.type));
}

/// a b / (max(|a|, eps) max(|b|, eps)) along a dim that was moved last.
static Value cosine(OpCall &o, Value a, Value b, double eps) {
  Composer &c = o.c;
  unsigned last = o.rank(a) - 1;
  auto length = [&](Value v) {
    Value n = normLast(o, v, 2);
    return c.maximum(n, c.splat(n, eps));
  };
  Value dot = c.reduceSum(c.mul(a, b), {last}, false);
  return c.div(dot, c.mul(length(a), length(b)));
}
static Status cosineSimilarity(OpCall &o) {
  LUMINAL_TRY(t, together(o, {"x1", "x2"}));
  double eps = o.real("eps");
  unsigned rank = o.rank(t.values[0]);
  LUMINAL_TRY(axis, o.axis(o.integer("dim"), rank));
  if (rank == 0)
    return o.fail("takes tensors with a dim");
  SmallVector<unsigned> order;
  for (unsigned i = 0; i < rank; ++i)
    if (i != axis)
      order.push_back(i);
  order.push_back(axis);
  Value y = cosine(o, o.c.permute(t.values[0], order),
                   o.c.permute(t.values[1], order), eps);
  return o.ret(o.c.cast(y, t.type));
}
static Status cosineEmbeddingLoss(OpCall &o) {
  Composer &c = o.c;
  double margin = o.real("margin");
  LUMINAL_TRY(t, together(o, {"input1", "input2"}));
  Value target = o.tensor("target");
  Value a = t.values[0], b = t.values[1];
  unsigned last = o.rank(a) - 1;
  if (o.rank(a) == 0 || o.rank(target) != last)
    return o.fail("takes rows and one target for each");
  auto length = [&](Value v) {
    Value n = c.reduceSum(c.mul(v, v), {last}, false);
    return c.add(n, c.splat(n, 1e-12));
  };
  Value similar = c.div(c.reduceSum(c.mul(a, b), {last}, false),
                        c.sqrt(c.mul(length(a), length(b))));
  Value y = c.cast(target, o.element(a)), one = c.splat(y, 1),
        zero = c.splat(y, 0);
  Value far = c.relu(c.sub(similar, c.splat(y, margin)));
  Value loss = c.add(c.select(c.equal(y, one), c.sub(one, similar), zero),
                     c.select(c.equal(y, c.neg(one)), far, zero));
  return reduced(o, loss, t.type);
}
static Status tripletMarginLoss(OpCall &o) {
  Composer &c = o.c;
  double margin = o.real("margin"), p = o.real("p"), eps = o.real("eps");
  bool swap = o.flag("swap");
  LUMINAL_TRY(t, together(o, {"anchor", "positive", "negative"}));
  if (o.rank(t.values[0]) == 0)
    return o.fail("takes tensors with a dim");
  Value a = t.values[0], near = t.values[1], far = t.values[2];
  Value close = pairDistance(o, a, near, p, eps),
        away = pairDistance(o, a, far, p, eps);
  if (swap)
    away = c.minimum(away, pairDistance(o, near, far, p, eps));
  Value d = c.sub(close, away);
  return reduced(o, c.relu(c.add(d, c.splat(d, margin))), t.type);
}

llvm::ArrayRef<OpRow> pt2::getLossOps() {
#define LUMINAL_CLASSES "(Tensor self, Tensor target, Tensor? weight=None, "
  static const OpRow rows[] = {
      {"mse_loss(Tensor self, Tensor target, int reduction=1)", mseLoss},
      {"l1_loss(Tensor self, Tensor target, int reduction=1)", l1Loss},
      {"smooth_l1_loss(Tensor self, Tensor target, int reduction=1, "
       "float beta=1.0)",
       smoothL1Loss},
      {"huber_loss(Tensor self, Tensor target, int reduction=1, "
       "float delta=1.0)",
       huberLoss},
      {"binary_cross_entropy" LUMINAL_CLASSES "int reduction=1)",
       binaryCrossEntropy},
      {"binary_cross_entropy_with_logits" LUMINAL_CLASSES
       "Tensor? pos_weight=None, int reduction=1)",
       binaryCrossEntropyLogits},
      {"kl_div(Tensor self, Tensor target, int reduction=1, *, "
       "bool log_target=False)",
       klDiv},
      {"poisson_nll_loss(Tensor input, Tensor target, bool log_input, "
       "bool full, float eps, int reduction)",
       poissonNllLoss},
      {"soft_margin_loss(Tensor self, Tensor target, int reduction=1)",
       softMarginLoss},
      {"hinge_embedding_loss(Tensor self, Tensor target, float margin=1.0, "
       "int reduction=1)",
       hingeEmbeddingLoss},
      {"margin_ranking_loss(Tensor input1, Tensor input2, Tensor target, "
       "float margin=0.0, int reduction=1)",
       marginRankingLoss},
      {"cosine_embedding_loss(Tensor input1, Tensor input2, Tensor target, "
       "float margin=0.0, int reduction=1)",
       cosineEmbeddingLoss},
      {"triplet_margin_loss(Tensor anchor, Tensor positive, "
       "Tensor negative, float margin=1.0, float p=2.0, float eps=1e-06, "
       "bool swap=False, int reduction=1)",
       tripletMarginLoss},
      {"nll_loss" LUMINAL_CLASSES "int reduction=1, int ignore_index=-100)",
       nllLoss<false>},
      {"nll_loss_nd" LUMINAL_CLASSES "int reduction=1, int ignore_index=-100)",
       nllLoss<false>},
      {"nll_loss2d" LUMINAL_CLASSES "int reduction=1, int ignore_index=-100)",
       nllLoss<false>},
      {"nll_loss_forward(Tensor self, Tensor target, Tensor? weight, "
       "int reduction, int ignore_index)",
       nllLoss<true>},
      {"nll_loss2d_forward(Tensor self, Tensor target, Tensor? weight, "
       "int reduction, int ignore_index)",
       nllLoss<true>},
      {"cross_entropy_loss" LUMINAL_CLASSES
       "int reduction=1, int ignore_index=-100, float label_smoothing=0.0)",
       crossEntropyLoss},
      {"cosine_similarity(Tensor x1, Tensor x2, int dim=1, float eps=1e-08)",
       cosineSimilarity},
      {"pairwise_distance(Tensor x1, Tensor x2, float p=2.0, "
       "float eps=1e-06, bool keepdim=False)",
       pairwiseDistance},
      {"cdist(Tensor x1, Tensor x2, float p=2.0, int? compute_mode=None)",
       cdist},
      {"_cdist_forward(Tensor x1, Tensor x2, float p, int? compute_mode)",
       cdist},
      {"_euclidean_dist(Tensor x1, Tensor x2)", cdist},
      {"pdist(Tensor self, float p=2.0)", pdist},
      {"_pdist_forward(Tensor self, float p=2.0)", pdist},
      {"dist(Tensor self, Tensor other, float p=2)", dist},
  };
  return rows;
}
