//===- CompositesTensor.cpp - Reductions, norms, products, index ops ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Composites with PyTorch's precision: f16 and bf16 are computed in f32 and
// rounded once, f32 in f32, f64 in f64.
//
//===----------------------------------------------------------------------===//

#include "luminal/Dialect/HLIR/Utils/Composites.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::hlir;

static Type elementOf(Value v) {
  return mlir::cast<RankedTensorType>(v.getType()).getElementType();
}

/// The type in which values of `type` are summed.
static Type accumulator(Type type) {
  return type.isF16() || type.isBF16()
             ? Type(Float32Type::get(type.getContext()))
             : type;
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// x with the reduced dims merged into one dim, which is last.
static Value reducedLast(Composer &c, Value x, ArrayRef<unsigned> axes) {
  SmallVector<Expr> from = getExtents(x), extents, map(from.size());
  std::vector<Expr> reduced;
  for (auto [i, extent] : llvm::enumerate(from)) {
    if (llvm::is_contained(axes, i)) {
      reduced.push_back(extent);
      continue;
    }
    map[i] = Expr::dim(extents.size());
    extents.push_back(extent);
  }
  std::vector<Expr> index = delinearize(Expr::dim(extents.size()), reduced);
  for (auto [axis, e] : llvm::zip_equal(axes, index))
    map[axis] = e;
  extents.push_back(product(reduced));
  return c.view(x, extents, map);
}

/// Restores the reduced dims with extent 1 if `keepDim`.
static Value restoreDims(Composer &c, Value reduced, Value x,
                         ArrayRef<unsigned> axes, bool keepDim) {
  if (!keepDim)
    return reduced;
  SmallVector<Expr> extents = getExtents(x), map;
  for (unsigned i = 0; i < extents.size(); ++i) {
    if (llvm::is_contained(axes, i))
      extents[i] = Expr(1);
    else
      map.push_back(Expr::dim(i));
  }
  return c.view(reduced, extents, map);
}

static RankedTensorType withoutLastDim(Value x) {
  return getTensorType(ArrayRef(getExtents(x)).drop_back(), elementOf(x));
}

/// Applies ReduceOp over `axes`, in a type that supports arithmetic.
template <typename ReduceOp>
static Value reduce(Composer &c, Value x, ArrayRef<unsigned> axes,
                    bool keepDim) {
  if (axes.empty())
    return x;
  if (Type type = elementOf(x), wide = computedType(type); wide != type)
    return c.cast(reduce<ReduceOp>(c, c.cast(x, wide), axes, keepDim), type);
  Value last = reducedLast(c, x, axes);
  Value reduced =
      ReduceOp::create(c.getBuilder(), c.getLoc(), withoutLastDim(last), last);
  return restoreDims(c, reduced, x, axes, keepDim);
}

Value Composer::reduceSum(Value x, ArrayRef<unsigned> axes, bool keepDim) {
  return reduce<ReduceSumOp>(*this, x, axes, keepDim);
}

Value Composer::reduceMax(Value x, ArrayRef<unsigned> axes, bool keepDim) {
  return reduce<ReduceMaxOp>(*this, x, axes, keepDim);
}

/// The minimum is the mirrored maximum of mirrored values: -x for floats, -x -
/// 1 for integers (no overflow), not x for i1.
Value Composer::reduceMin(Value x, ArrayRef<unsigned> axes, bool keepDim) {
  auto mirror = [&](Value v) -> Value {
    if (elementOf(v).isInteger(1))
      return logicalNot(v);
    return isa<FloatType>(elementOf(v)) ? neg(v) : add(neg(v), splatInt(v, -1));
  };
  return axes.empty() ? x : mirror(reduceMax(mirror(x), axes, keepDim));
}

Value Composer::mean(Value x, ArrayRef<unsigned> axes, bool keepDim) {
  Type type = elementOf(x), wide = accumulator(type);
  Value sum = reduceSum(cast(x, wide), axes, keepDim);
  Expr count(1);
  for (unsigned axis : axes)
    count = count * getExtents(x)[axis];
  Value n = count.asConstant()
                ? scalar(wide, static_cast<double>(*count.asConstant()))
                : cast(iota({}, count), wide);
  return cast(div(sum, full(getExtents(sum), n)), type);
}

//===----------------------------------------------------------------------===//
// Softmax and norms
//===----------------------------------------------------------------------===//

/// Broadcasts `rows`, one value for each row of `like`, over the last dim.
static Value alongRows(Composer &c, Value rows, Value like) {
  SmallVector<Expr> extents = getExtents(like), map;
  for (unsigned i = 0; i + 1 < extents.size(); ++i)
    map.push_back(Expr::dim(i));
  return c.view(rows, extents, map);
}

Value Composer::softmax(Value x, unsigned axis) {
  unsigned rank = getExtents(x).size(), last = rank - 1;
  if (rank == 0)
    return splat(x, 1);
  // Swapping two dims is its own inverse.
  SmallVector<unsigned> order = llvm::to_vector(llvm::seq<unsigned>(0, rank));
  std::swap(order[axis], order[last]);
  Value v = permute(cast(x, accumulator(elementOf(x))), order);
  Value shifted = sub(v, alongRows(*this, reduceMax(v, {last}, false), v));
  Value e = exp(shifted);
  Value result = div(e, alongRows(*this, reduceSum(e, {last}, false), v));
  return permute(cast(result, elementOf(x)), order);
}

/// x * rsqrt(mean(x^2) + eps), in the accumulator's type.
static Value scaledToUnit(Composer &c, Value x, double eps) {
  unsigned last = getExtents(x).size() - 1;
  Value variance = c.mean(c.mul(x, x), {last}, false);
  Value scale = c.rsqrt(c.add(variance, c.splat(variance, eps)));
  return c.mul(x, alongRows(c, scale, x));
}

Value Composer::layerNorm(Value x, double eps) {
  Value v = cast(x, accumulator(elementOf(x)));
  unsigned last = getExtents(x).size() - 1;
  Value centered = sub(v, alongRows(*this, mean(v, {last}, false), v));
  return cast(scaledToUnit(*this, centered, eps), elementOf(x));
}

Value Composer::rmsNorm(Value x, double eps) {
  Value v = cast(x, accumulator(elementOf(x)));
  return cast(scaledToUnit(*this, v, eps), elementOf(x));
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// The sum over the last index of products of elements of a and b, each read
/// through its map.
static Value contract(Composer &c, Value a, Value b, ArrayRef<Expr> extents,
                      ArrayRef<Expr> aMap, ArrayRef<Expr> bMap) {
  Type type = elementOf(a), wide = accumulator(type);
  Value terms = c.mul(c.view(c.cast(a, wide), extents, aMap),
                      c.view(c.cast(b, wide), extents, bMap));
  unsigned last = extents.size() - 1;
  return c.cast(c.reduceSum(terms, {last}, false), type);
}

Value Composer::matmul(Value a, Value b) {
  SmallVector<Expr> aExtents = getExtents(a), bExtents = getExtents(b);
  assert(aExtents.size() == bExtents.size() && aExtents.size() >= 2 &&
         "operands of one rank, batch dims first");
  unsigned batch = aExtents.size() - 2;
  SmallVector<Expr> extents(aExtents.begin(), aExtents.begin() + batch);
  SmallVector<Expr> aMap = identityMap(batch), bMap = aMap;
  Expr m = Expr::dim(batch), n = Expr::dim(batch + 1), k = Expr::dim(batch + 2);
  extents.append({aExtents[batch], bExtents[batch + 1], aExtents[batch + 1]});
  aMap.append({m, k});
  bMap.append({k, n});
  return contract(*this, a, b, extents, aMap, bMap);
}

Value Composer::linear(Value x, Value w) {
  SmallVector<Expr> extents = getExtents(x), wExtents = getExtents(w);
  unsigned rows = extents.size() - 1, groups = wExtents.size() - 2;
  SmallVector<Expr> xMap = identityMap(rows), wMap = identityMap(groups);
  Expr n = Expr::dim(rows), k = Expr::dim(rows + 1);
  xMap.push_back(k);
  wMap.append({n, k});
  extents.insert(extents.end() - 1, wExtents[groups]);
  return contract(*this, x, w, extents, xMap, wMap);
}

//===----------------------------------------------------------------------===//
// Index ops
//===----------------------------------------------------------------------===//

Value Composer::iota(ArrayRef<Expr> extents, Expr value) {
  RankedTensorType type = tensorTypeOf(extents, builder.getI64Type());
  return IotaOp::create(builder, loc, type, mapOf(value, getExtents(type)));
}

Value Composer::gather(Value data, Value indices) {
  SmallVector<Expr> extents = getExtents(indices),
                    dataExtents = getExtents(data);
  extents.append(dataExtents.begin() + 1, dataExtents.end());
  return GatherOp::create(builder, loc, getTensorType(extents, elementOf(data)),
                          data, indices);
}

Value Composer::scatter(Combine combine, Value dest, Value indices,
                        Value updates) {
  if (Type type = elementOf(dest), wide = computedType(type); wide != type)
    return cast(
        scatter(combine, cast(dest, wide), indices, cast(updates, wide)), type);
  return ScatterOp::create(builder, loc, dest.getType(), combine, dest, indices,
                           updates);
}
