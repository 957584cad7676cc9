//===- Index.cpp - Reads and writes by index ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Helpers.h"
#include "llvm/ADT/STLExtras.h"
#include <limits>

using namespace mlir;
using namespace luminal;
using namespace luminal::hlir;
using namespace luminal::pt2;

static bool isInteger(OpCall &o, Value v) {
  return o.element(v).isInteger(64) || o.element(v).isInteger(32);
}

/// How a scatter sums: for bools, a sum is true if any term is.
static Combine sumOf(OpCall &o, Value v) {
  return o.isBool(v) ? Combine::Max : Combine::Add;
}

/// Reshapes a rank-0 tensor to rank 1, as PyTorch does when a dim is indexed.
static Value withDim(OpCall &o, Value v) {
  return o.rank(v) ? v : o.c.unsqueeze(v, 0);
}
static Value inRankOf(OpCall &o, Value v, Value like) {
  return o.rank(like) ? v : o.c.squeeze(v, 0);
}

//===----------------------------------------------------------------------===//
// index.Tensor, index_put
//===----------------------------------------------------------------------===//

namespace {
/// Several index tensors combined into one: `self` is used with the indexed
/// dims first and merged; the index is the position in the merged dim, for each
/// element of the indices' common shape.
struct JointIndex {
  SmallVector<unsigned> order; ///< dims of self, indexed ones first
  unsigned indexed = 0;        ///< how many dims are indexed
  SmallVector<Expr> shape;     ///< of the indices, broadcast
  SmallVector<Expr> rest;      ///< extents of the other dims
  Expr rows;                   ///< product of the indexed extents
  Value position;
  /// Where the indices' dims are in the result: at the first indexed dim if the
  /// indexed dims are adjacent, else first.
  unsigned at = 0;
};
} // namespace

/// Combines the index tensors of index.Tensor and index_put.
static Result<JointIndex> joinIndices(OpCall &o, Value self,
                                      ArrayRef<std::optional<Value>> indices) {
  Composer &c = o.c;
  unsigned rank = o.rank(self);
  JointIndex joint;
  SmallVector<unsigned> dims;
  SmallVector<SmallVector<Expr>> shapes;
  if (indices.size() > rank)
    return o.fail("has more indices than dims");
  for (auto [i, index] : llvm::enumerate(indices)) {
    if (!index)
      continue;
    if (!isInteger(o, *index))
      return o.fail(o.isBool(*index)
                        ? "is indexed by a bool mask, whose number of elements "
                          "is known only at run time"
                        : "is indexed by something other than integers");
    dims.push_back(i);
    shapes.push_back(o.extents(*index));
  }
  if (dims.empty())
    return o.fail("has no index");
  LUMINAL_TRY(shape, o.broadcast(shapes));
  joint.shape = shape;
  joint.indexed = dims.size();
  bool adjacent = dims.back() - dims.front() + 1 == dims.size();
  joint.at = adjacent ? dims.front() : 0;
  joint.order = dims;
  SmallVector<Expr> extents = o.extents(self);
  for (unsigned i = 0; i < rank; ++i)
    if (!llvm::is_contained(dims, i)) {
      joint.order.push_back(i);
      joint.rest.push_back(extents[i]);
    }
  joint.rows = Expr(1);
  for (unsigned dim : dims) {
    Value index =
        o.broadcastTo(wrapIndices(o, *indices[dim], extents[dim]), joint.shape);
    if (joint.position) {
      Value n =
          o.broadcastTo(extentValue(o, extents[dim], o.i64()), joint.shape);
      joint.position = c.add(c.mul(joint.position, n), index);
    } else {
      joint.position = index;
    }
    joint.rows = joint.rows * extents[dim];
  }
  return joint;
}

static Value mergeIndexed(OpCall &o, Value self, const JointIndex &joint) {
  SmallVector<Expr> merged = {joint.rows};
  merged.append(joint.rest.begin(), joint.rest.end());
  return o.c.reshape(o.c.permute(self, joint.order), merged);
}

/// The permutation from [indices..., rest...] to the result's order.
static SmallVector<unsigned> resultOrder(const JointIndex &joint) {
  unsigned s = joint.shape.size();
  SmallVector<unsigned> order;
  for (unsigned i = 0; i < joint.at; ++i)
    order.push_back(s + i);
  for (unsigned i = 0; i < s; ++i)
    order.push_back(i);
  for (unsigned i = joint.at; i < joint.rest.size(); ++i)
    order.push_back(s + i);
  return order;
}

static Status index(OpCall &o) {
  Value self = o.tensor("self");
  LUMINAL_TRY(joint, joinIndices(o, self, o.tensorsOrNone("indices")));
  Value rows = o.c.gather(mergeIndexed(o, self, joint), joint.position);
  return o.ret(o.c.permute(rows, resultOrder(joint)));
}

static SmallVector<unsigned> inverse(ArrayRef<unsigned> order) {
  SmallVector<unsigned> result(order.size());
  for (auto [i, axis] : llvm::enumerate(order))
    result[axis] = i;
  return result;
}

/// Writes `values` where a mask holds. In `values`, the dims that the mask
/// covers are a single dim with one row per true element. Its length is known
/// only at run time, so it must be 1 (broadcast).
static Status maskedPut(OpCall &o, Value self,
                        ArrayRef<std::optional<Value>> indices, Value values,
                        bool accumulate) {
  Composer &c = o.c;
  SmallVector<Expr> extents = o.extents(self);
  Value mask;
  // Dims of `self`: current one, first one covered by the mask, number covered.
  unsigned at = 0, first = 0, covered = 0;
  for (const std::optional<Value> &index : indices) {
    if (!index) {
      ++at;
      continue;
    }
    if (mask || !o.isBool(*index))
      return o.fail("is indexed by a bool mask beside another index, whose "
                    "number of elements is known only at run time");
    mask = *index, first = at, covered = o.rank(mask);
    SmallVector<Expr> map;
    for (unsigned i = 0; i < covered; ++i, ++at) {
      if (at >= extents.size() || !o.agree(o.extents(mask)[i], extents[at]))
        return o.fail("the mask has another shape than what it covers");
      map.push_back(Expr::dim(at));
    }
    mask = c.view(mask, extents, map);
  }
  unsigned rows = first, tail = extents.size() - first - covered,
           rank = first + 1 + tail;
  SmallVector<Expr> given = o.extents(values), map;
  if (given.size() > rank)
    return o.fail("the values cannot be broadcast to the indexed part");
  for (unsigned i = 0; i < given.size(); ++i) {
    unsigned d = rank - given.size() + i;
    if (given[i].isConstant(1) || o.provablyEqual(given[i], Expr(1))) {
      map.push_back(Expr(0));
      continue;
    }
    if (d == rows)
      return o.fail("is indexed by a bool mask, and has a value for each "
                    "element that it holds for, whose number is known only at "
                    "run time");
    unsigned dim = d < rows ? d : d - 1 + covered;
    if (!o.agree(given[i], extents[dim]))
      return o.fail("the values cannot be broadcast to the indexed part");
    map.push_back(Expr::dim(dim));
  }
  Value fill = c.view(values, extents, map);
  Value sum = accumulate && o.isBool(self) ? c.logicalOr(self, fill)
              : accumulate                 ? c.add(self, fill)
                                           : fill;
  return o.ret(c.select(mask, sum, self));
}

/// Replaces the elements of `self` at the indices by `values`, or adds them.
static Status indexPut(OpCall &o) {
  Composer &c = o.c;
  Value self = o.tensor("self"), values = o.tensor("values");
  auto indices = o.tensorsOrNone("indices");
  bool accumulate = o.flag("accumulate");
  if (o.element(values) != o.element(self))
    return o.fail("the values differ in dtype");
  if (llvm::any_of(indices, [&](const std::optional<Value> &index) {
        return index && o.isBool(*index);
      }))
    return maskedPut(o, self, indices, values, accumulate);
  LUMINAL_TRY(joint, joinIndices(o, self, indices));
  SmallVector<Expr> shape = joint.shape;
  shape.append(joint.rest.begin(), joint.rest.end());
  SmallVector<unsigned> order = resultOrder(joint);
  SmallVector<Expr> resultShape;
  for (unsigned axis : order)
    resultShape.push_back(shape[axis]);
  LUMINAL_TRY(joined, o.broadcast({o.extents(values), resultShape}));
  if (joined.size() != resultShape.size())
    return o.fail("the values cannot be broadcast to the indexed part");
  Value updates = c.permute(o.broadcastTo(values, resultShape), inverse(order));
  Value merged = mergeIndexed(o, self, joint);
  Value result = c.scatter(accumulate ? sumOf(o, self) : Combine::Set, merged,
                           joint.position, updates);
  SmallVector<Expr> permuted, extents = o.extents(self);
  for (unsigned axis : joint.order)
    permuted.push_back(extents[axis]);
  return o.ret(c.permute(c.reshape(result, permuted), inverse(joint.order)));
}

//===----------------------------------------------------------------------===//
// Along one dim, by a vector
//===----------------------------------------------------------------------===//

static Result<unsigned> indexedAxis(OpCall &o, Value self, Value index) {
  LUMINAL_TRY(axis, o.axis("dim", self));
  if (o.rank(index) > 1 || !isInteger(o, index))
    return o.fail("takes a vector of integers");
  return axis;
}
/// The permutation that swaps `axis` and dim 0; its own inverse.
static SmallVector<unsigned> swapFront(unsigned rank, unsigned axis) {
  auto order = llvm::to_vector(llvm::seq<unsigned>(0, rank));
  std::swap(order[0], order[axis]);
  return order;
}
static Value asVector(OpCall &o, Value index, const Expr &extent) {
  Value i = wrapIndices(o, index, extent);
  return o.rank(i) == 0 ? o.c.unsqueeze(i, 0) : i;
}

static Status indexSelect(OpCall &o) {
  Value self = o.tensor("self"), index = o.tensor("index");
  LUMINAL_TRY(axis, indexedAxis(o, self, index));
  if (o.rank(self) == 0 && !o.agree(o.numElements(index), Expr(1)))
    return o.fail("reads a tensor without dims other than once");
  Value x = withDim(o, self);
  auto order = swapFront(o.rank(x), axis);
  Value rows =
      o.c.gather(o.c.permute(x, order), asVector(o, index, o.extents(x)[axis]));
  return o.ret(inRankOf(o, o.c.permute(rows, order), self));
}

namespace {
/// The operands of a write along a dim, with that dim first.
struct IndexedPart {
  SmallVector<unsigned> order;
  Value dest, rows, source;
};
} // namespace

static Result<IndexedPart> indexedPart(OpCall &o, Value self, Value index,
                                       Value source, unsigned axis) {
  if (o.element(source) != o.element(self))
    return o.fail("the source differs in dtype");
  self = withDim(o, self), source = withDim(o, source);
  auto order = swapFront(o.rank(self), axis);
  Value rows = asVector(o, index, o.extents(self)[axis]);
  SmallVector<Expr> shape = o.extents(self), given = o.extents(source);
  shape[axis] = o.extents(rows)[0];
  if (!o.agree(given, shape))
    return o.fail("the source has another shape than the indexed part");
  return IndexedPart{order, o.c.permute(self, order), rows,
                     o.c.permute(o.broadcastTo(source, shape), order)};
}

/// Writes or adds rows along the dim at the indices.
static Status indexWrite(OpCall &o, Combine combine, Value source) {
  Composer &c = o.c;
  Value self = o.tensor("self"), index = o.tensor("index");
  LUMINAL_TRY(axis, indexedAxis(o, self, index));
  LUMINAL_TRY(part, indexedPart(o, self, index, source, axis));
  Value result = c.scatter(combine, part.dest, part.rows, part.source);
  return o.ret(inRankOf(o, c.permute(result, part.order), self));
}
static Status indexCopy(OpCall &o) {
  return indexWrite(o, Combine::Set, o.tensor("source"));
}
static Status indexAdd(OpCall &o) {
  Value source = o.tensor("source");
  Number alpha = o.number("alpha");
  if (alpha.asDouble() != 1.0)
    source =
        o.c.mul(source, o.broadcastTo(o.materialize(alpha, o.element(source)),
                                      o.extents(source)));
  return indexWrite(o, sumOf(o, source), source);
}
static Status indexFill(OpCall &o) {
  Value self = o.tensor("self"), index = o.tensor("index");
  Operand value = o.operand("value");
  LUMINAL_TRY(axis, indexedAxis(o, self, index));
  if (o.rank(value))
    return o.fail("the value has more than one element");
  SmallVector<Expr> shape = o.extents(withDim(o, self));
  shape[axis] = o.numElements(index);
  return indexWrite(o, Combine::Set, o.as(value, o.element(self), shape));
}

//===----------------------------------------------------------------------===//
// Gathers and scatters of elements
//===----------------------------------------------------------------------===//

Value pt2::positionsAlong(OpCall &o, ArrayRef<Expr> extents, Value index,
                          unsigned axis) {
  Composer &c = o.c;
  SmallVector<Expr> shape = o.extents(index);
  // The other coordinates give one expression; `axis` contributes its stride.
  std::vector<Expr> place, all(extents.begin(), extents.end());
  Expr stride(1);
  for (unsigned i = 0; i < extents.size(); ++i) {
    place.push_back(i == axis ? Expr(0) : Expr::dim(i));
    if (i > axis)
      stride = stride * extents[i];
  }
  Value rest = c.iota(shape, linearize(place, all));
  Value factor = o.broadcastTo(extentValue(o, stride, o.i64()), shape);
  return c.add(c.mul(index, factor), rest);
}

/// The same in `self` of an index that may be negative.
static Value elementPositions(OpCall &o, Value self, Value index,
                              unsigned axis) {
  SmallVector<Expr> extents = o.extents(self);
  return positionsAlong(o, extents, wrapIndices(o, index, extents[axis]), axis);
}

/// Checks the operands and returns the indexed dim.
static Result<unsigned> elementAxis(OpCall &o, Value self, Value index) {
  LUMINAL_TRY(axis, o.axis("dim", self));
  bool ok = isInteger(o, index) && o.rank(index) == o.rank(self);
  // All other coordinates must be inside `self`.
  for (unsigned i = 0; ok && i < o.rank(self); ++i)
    ok = i == axis ||
         o.atMost(o.extents(index)[i], o.extents(self)[i], o.extents(index));
  if (ok)
    return axis;
  return o.fail("takes integers of the tensor's rank and within its extents");
}

static Status gather(OpCall &o) {
  o.ignore({"sparse_grad"});
  Value self = withDim(o, o.tensor("self")), given = o.tensor("index"),
        index = withDim(o, given);
  LUMINAL_TRY(axis, elementAxis(o, self, index));
  Value flat = o.c.reshape(self, {o.numElements(self)});
  Value read = o.c.gather(flat, elementPositions(o, self, index, axis));
  return o.ret(inRankOf(o, read, given));
}

/// Multiplies each row of `start` by the updates with its index: a product over
/// all updates, with ones in place of those with another index.
static Result<Value> scatterProduct(OpCall &o, Value start, Value rows,
                                    Value updates) {
  Composer &c = o.c;
  // [row, update, ...]
  SmallVector<Expr> shape = o.extents(start), map = {Expr::dim(1)};
  shape.insert(shape.begin() + 1, o.extents(rows)[0]);
  for (unsigned i = 2; i < shape.size(); ++i)
    map.push_back(Expr::dim(i));
  Value isNamed =
      c.equal(c.iota(shape, Expr::dim(0)), c.view(rows, shape, {Expr::dim(1)}));
  Value factor = c.view(updates, shape, map);
  LUMINAL_TRY(
      product,
      reduceProduct(o, c.select(isNamed, factor, c.splatInt(factor, 1)), 1));
  return c.mul(start, product);
}

/// Scatters rows with any of PyTorch's reductions. Unless `includeSelf`,
/// written rows start from the neutral element.
static Result<Value> scatterBy(OpCall &o, StringRef reduce, Value dest,
                               Value rows, Value updates, bool includeSelf) {
  Composer &c = o.c;
  bool largest = reduce == "amax", smallest = reduce == "amin",
       mean = reduce == "mean",
       product = reduce == "prod" || reduce == "multiply";
  if (!largest && !smallest && !mean && !product && reduce != "sum" &&
      reduce != "add")
    return o.fail("reduce '" + reduce + "' is not supported");
  if (o.isBool(dest) && mean)
    return o.fail("means of bool are not supported");
  // f16 and bf16 are summed in f32 and rounded once.
  Type type = o.element(dest), wide = o.opmath(type);
  dest = c.cast(dest, wide), updates = c.cast(updates, wide);
  // The minimum is the maximum of the negated (for integers, inverted) values.
  auto mirror = [&](Value v) {
    if (!smallest)
      return v;
    if (o.isBool(v))
      return c.logicalNot(v);
    return o.isFloat(v) ? c.neg(v) : c.add(c.neg(v), c.splatInt(v, -1));
  };
  Value start = mirror(dest), touched;
  if (!includeSelf || product) {
    Value none = c.splatInt(dest, 0, o.i1());
    touched =
        c.scatter(Combine::Set, none, rows, c.splatInt(updates, 1, o.i1()));
    Value least = c.splatInt(start, product ? 1 : 0);
    if (largest || smallest)
      least = o.isFloat(start)
                  ? c.splat(start, -std::numeric_limits<double>::infinity())
              : o.isBool(start)
                  ? c.splatInt(start, 0)
                  : c.splatInt(start,
                               int64_t(uint64_t(1)
                                       << (wide.getIntOrFloatBitWidth() - 1)));
    if (!includeSelf)
      start = c.select(touched, least, start);
  }
  if (product) {
    // `touched` comes from a scatter, which checks the indices.
    LUMINAL_TRY(result, scatterProduct(o, start, rows, updates));
    return c.cast(c.select(touched, result, start), type);
  }
  Value result =
      mirror(c.scatter(largest || smallest ? Combine::Max : sumOf(o, dest),
                       start, rows, mirror(updates)));
  if (mean) {
    Value base = c.splatInt(dest, includeSelf ? 1 : 0, o.i64());
    Value count =
        c.scatter(Combine::Add, base, rows, c.splatInt(updates, 1, o.i64()));
    count = c.cast(c.maximum(count, c.splatInt(count, 1)), wide);
    result =
        isa<FloatType>(wide) ? c.div(result, count) : c.floorDiv(result, count);
  }
  return c.cast(result, type);
}

/// The dims, with those last along which `v` is constant according to its view.
static SmallVector<unsigned> repeatedLast(Value v, unsigned rank) {
  SmallVector<unsigned> order, repeated;
  auto view = v.getDefiningOp<ViewOp>();
  for (unsigned d = 0; d < rank; ++d)
    (view && !view.getMap().usesDim(d) ? repeated : order).push_back(d);
  order.append(repeated);
  return order;
}

/// Combines the elements of `self` at the indices with `source`'s; without a
/// reduction, replaces them.
static Status scatterElements(OpCall &o, StringRef reduce, Value source,
                              bool includeSelf = true) {
  Composer &c = o.c;
  Value dest = o.tensor("self"), self = withDim(o, dest),
        index = withDim(o, o.tensor("index"));
  source = withDim(o, source);
  LUMINAL_TRY(axis, elementAxis(o, self, index));
  if (o.element(source) != o.element(self))
    return o.fail("the source differs in dtype");
  SmallVector<Expr> shape = o.extents(index), given = o.extents(source), map;
  if (given.size() != shape.size())
    return o.fail("the source has another rank than the index");
  for (unsigned i = 0; i < shape.size(); ++i) {
    if (!o.atMost(shape[i], given[i], shape))
      return o.fail("the source is smaller than the index");
    map.push_back(Expr::dim(i));
  }
  source = c.view(source, shape, map);
  // If neighbors share an index, Update.pdll can update whole rows.
  SmallVector<unsigned> order = repeatedLast(index, shape.size());
  const bool isMoved = !llvm::is_sorted(order);
  if (isMoved) {
    self = c.permute(self, order), index = c.permute(index, order);
    source = c.permute(source, order);
    axis = llvm::find(order, axis) - order.begin();
  }
  Value count =
      c.reshape(elementPositions(o, self, index, axis), {o.numElements(shape)});
  Value updates = c.reshape(source, {o.numElements(shape)});
  Value flat = c.reshape(self, {o.numElements(self)});
  LUMINAL_TRY(result,
              reduce.empty()
                  ? c.scatter(Combine::Set, flat, count, updates)
                  : scatterBy(o, reduce, flat, count, updates, includeSelf));
  if (isMoved)
    result = c.permute(c.reshape(result, o.extents(self)), inverse(order));
  return o.ret(c.reshape(result, o.extents(dest)));
}
static Status scatterSrc(OpCall &o) {
  return scatterElements(o, "", o.tensor("src"));
}
static Value scatteredValue(OpCall &o) {
  return o.broadcastTo(
      o.materialize(o.number("value"), o.element(o.tensor("self"))),
      o.extents(o.tensor("index")));
}
static Status scatterValue(OpCall &o) {
  return scatterElements(o, "", scatteredValue(o));
}
static Status scatterAdd(OpCall &o) {
  return scatterElements(o, "sum", o.tensor("src"));
}
static Status scatterReduce(OpCall &o) {
  return scatterElements(o, o.string("reduce"), o.tensor("src"),
                         o.flag("include_self"));
}
static Status scatterSrcReduce(OpCall &o) {
  return scatterElements(o, o.string("reduce"), o.tensor("src"));
}
static Status scatterValueReduce(OpCall &o) {
  return scatterElements(o, o.string("reduce"), scatteredValue(o));
}

/// Combines rows along a dim at the indices.
static Status indexReduce(OpCall &o) {
  Value self = o.tensor("self"), index = o.tensor("index"),
        source = o.tensor("source");
  StringRef reduce = o.string("reduce");
  bool includeSelf = o.flag("include_self");
  LUMINAL_TRY(axis, indexedAxis(o, self, index));
  LUMINAL_TRY(part, indexedPart(o, self, index, source, axis));
  LUMINAL_TRY(result, scatterBy(o, reduce, part.dest, part.rows, part.source,
                                includeSelf));
  return o.ret(inRankOf(o, o.c.permute(result, part.order), self));
}

//===----------------------------------------------------------------------===//
// Row-major positions
//===----------------------------------------------------------------------===//

static Status take(OpCall &o) {
  Value self = o.tensor("self"), index = o.tensor("index");
  if (!isInteger(o, index))
    return o.fail("takes integers");
  Expr n = o.numElements(self);
  return o.ret(o.c.gather(o.c.reshape(self, {n}), wrapIndices(o, index, n)));
}
static Status put(OpCall &o) {
  Composer &c = o.c;
  Value self = o.tensor("self"), index = o.tensor("index"),
        source = o.tensor("source");
  bool accumulate = o.flag("accumulate");
  Expr n = o.numElements(self), m = o.numElements(index);
  if (!isInteger(o, index) || o.element(source) != o.element(self) ||
      !o.agree(o.numElements(source), m))
    return o.fail("takes integers, and a value for each");
  Value flat = c.reshape(self, {n}), updates = c.reshape(source, {m});
  Value rows = c.reshape(wrapIndices(o, index, n), {m});
  LUMINAL_TRY(result, accumulate
                          ? scatterBy(o, "sum", flat, rows, updates, true)
                          : c.scatter(Combine::Set, flat, rows, updates));
  return o.ret(c.reshape(result, o.extents(self)));
}

/// Replaces the elements where the mask holds by the elements of the source, in
/// order.
static Status maskedScatter(OpCall &o) {
  Composer &c = o.c;
  Value self = o.tensor("self"), mask = o.tensor("mask"),
        source = o.tensor("source");
  LUMINAL_TRY(shape, o.commonShape({self, mask}));
  Expr n = o.numElements(source);
  if (!o.isBool(mask) || o.element(source) != o.element(self) ||
      !o.atMost(Expr(1), n, shape))
    return o.fail("takes a bool mask and at least one element for it");
  Expr all = o.numElements(shape);
  Value keep = c.reshape(o.broadcastTo(mask, shape), {all});
  LUMINAL_TRY(place, prefixSum(o, c.cast(keep, o.i64()), 0));
  place = c.add(place, c.splatInt(place, -1));
  place = c.maximum(place, c.splatInt(place, 0));
  Value last = c.full({all}, extentValue(o, n - Expr(1), o.i64()));
  Value v = c.gather(c.reshape(source, {n}), c.minimum(place, last));
  Value old = c.reshape(o.broadcastTo(self, shape), {all});
  return o.ret(c.reshape(c.select(keep, v, old), shape));
}

/// The coordinates of the first `size` nonzero elements.
static Status nonzeroStatic(OpCall &o) {
  Composer &c = o.c;
  Value x = o.tensor("self");
  Expr size = o.expr("size");
  int64_t fill = o.integer("fill_value");
  SmallVector<Expr> extents = o.extents(x);
  Expr n = o.numElements(extents);
  Value keep = c.reshape(c.cast(x, o.i1()), {n});
  LUMINAL_TRY(count, prefixSum(o, c.cast(keep, o.i64()), 0));
  // An extra row receives the elements beyond `size`.
  Value beyond = c.full({n}, extentValue(o, size, o.i64()));
  Value place = c.select(keep, c.add(count, c.splatInt(count, -1)), beyond);
  place = c.minimum(place, beyond);
  SmallVector<Expr> rows = {size + Expr(1), Expr(int64_t(extents.size()))},
                    from = {n, Expr(int64_t(extents.size()))};
  std::vector<Expr> all(extents.begin(), extents.end());
  Value coordinates;
  std::vector<Expr> split = delinearize(Expr::dim(0), all);
  for (unsigned i = 0; i < extents.size(); ++i) {
    Value v = c.iota(from, split[i]), at = c.iota(from, Expr::dim(1));
    coordinates = coordinates
                      ? c.select(c.equal(at, c.splatInt(at, i)), v, coordinates)
                      : v;
  }
  Value start = c.full(rows, c.scalarInt(o.i64(), fill));
  if (!coordinates)
    return o.fail("takes a tensor with dims");
  Value result = c.scatter(Combine::Set, start, place, coordinates);
  return o.ret(c.slice(result, 0, Expr(0), size));
}

/// index.Tensor with clamped indices, and `fill` where the mask is false.
static Status maskedIndex(OpCall &o) {
  Composer &c = o.c;
  Value self = o.tensor("self"), mask = o.tensor("mask");
  auto indices = o.tensorsOrNone("indices");
  for (auto [i, index] : llvm::enumerate(indices)) {
    if (!index || i >= o.rank(self) || !isInteger(o, *index))
      continue;
    Value at = c.cast(*index, o.i64());
    Expr n = o.extents(self)[i];
    if (!o.atMost(Expr(1), n, o.extents(at)))
      return o.fail("extent " + n.str() + " is zero");
    Value last = c.full(o.extents(at), extentValue(o, n - Expr(1), o.i64()));
    index = c.maximum(c.minimum(at, last), c.splatInt(at, 0));
  }
  LUMINAL_TRY(joint, joinIndices(o, self, indices));
  Value v = c.permute(c.gather(mergeIndexed(o, self, joint), joint.position),
                      resultOrder(joint));
  LUMINAL_TRY(shape, o.commonShape({v, mask}));
  if (shape.size() != o.rank(v) || !o.isBool(mask))
    return o.fail("the mask does not match the indexed part");
  Value fill = o.materialize(o.number("fill"), o.element(v));
  return o.ret(
      c.select(o.broadcastTo(mask, shape), v, o.broadcastTo(fill, shape)));
}

static Status takeAlongDim(OpCall &o) {
  Value self = o.tensor("self"), index = o.tensor("indices");
  auto dim = o.integerOrNone("dim");
  if (!dim) {
    Value flat = o.c.reshape(self, {o.numElements(self)});
    Value i = o.c.reshape(index, {o.numElements(index)});
    return o.ret(o.c.gather(flat, wrapIndices(o, i, o.extents(flat)[0])));
  }
  LUMINAL_TRY(axis, o.axis(*dim, o.rank(self)));
  if (o.rank(index) != o.rank(self) || !isInteger(o, index))
    return o.fail("takes integers of the tensor's rank");
  Value given = index;
  self = withDim(o, self), index = withDim(o, index);
  SmallVector<Expr> a = o.extents(self), b = o.extents(index);
  a[axis] = b[axis] = Expr(1);
  LUMINAL_TRY(shape, o.broadcast({a, b}));
  SmallVector<Expr> selfShape = shape, indexShape = shape;
  selfShape[axis] = o.extents(self)[axis];
  indexShape[axis] = o.extents(index)[axis];
  self = o.broadcastTo(self, selfShape);
  index = o.broadcastTo(index, indexShape);
  Value flat = o.c.reshape(self, {o.numElements(selfShape)});
  Value read = o.c.gather(flat, elementPositions(o, self, index, axis));
  return o.ret(inRankOf(o, read, given));
}

llvm::ArrayRef<OpRow> pt2::getIndexOps() {
  static const OpRow rows[] = {
      {"index.Tensor(Tensor self, Tensor?[] indices)", index},
      {"_unsafe_index.Tensor(Tensor self, Tensor?[] indices)", index},
      {"index_put(Tensor self, Tensor?[] indices, Tensor values, "
       "bool accumulate=False)",
       indexPut},
      {"_unsafe_index_put(Tensor self, Tensor?[] indices, Tensor values, "
       "bool accumulate=False)",
       indexPut},
      {"index_select(Tensor self, int dim, Tensor index)", indexSelect},
      {"index_copy(Tensor self, int dim, Tensor index, Tensor source)",
       indexCopy},
      {"index_add(Tensor self, int dim, Tensor index, Tensor source, *, "
       "Scalar alpha=1)",
       indexAdd},
      {"index_fill.int_Scalar(Tensor self, int dim, Tensor index, "
       "Tensor value)",
       indexFill},
      {"index_fill.int_Tensor(Tensor self, int dim, Tensor index, "
       "Tensor value)",
       indexFill},
      {"gather(Tensor self, int dim, Tensor index, *, "
       "bool sparse_grad=False)",
       gather},
      {"scatter.src(Tensor self, int dim, Tensor index, Tensor src)",
       scatterSrc},
      {"scatter.value(Tensor self, int dim, Tensor index, Scalar value)",
       scatterValue},
      {"scatter_add(Tensor self, int dim, Tensor index, Tensor src)",
       scatterAdd},
      {"scatter_reduce.two(Tensor self, int dim, Tensor index, Tensor src, "
       "str reduce, *, bool include_self=True)",
       scatterReduce},
      {"scatter.reduce(Tensor self, int dim, Tensor index, Tensor src, *, "
       "str reduce)",
       scatterSrcReduce},
      {"scatter.value_reduce(Tensor self, int dim, Tensor index, "
       "Scalar value, *, str reduce)",
       scatterValueReduce},
      {"index_reduce(Tensor self, int dim, Tensor index, Tensor source, "
       "str reduce, *, bool include_self=True)",
       indexReduce},
      {"take(Tensor self, Tensor index)", take},
      {"put(Tensor self, Tensor index, Tensor source, "
       "bool accumulate=False)",
       put},
      {"masked_scatter(Tensor self, Tensor mask, Tensor source)",
       maskedScatter},
      {"nonzero_static(Tensor self, *, SymInt size, int fill_value=-1)",
       nonzeroStatic},
      {"_unsafe_masked_index(Tensor self, Tensor mask, Tensor?[] indices, "
       "Scalar fill)",
       maskedIndex},
      {"take_along_dim(Tensor self, Tensor indices, int? dim=None)",
       takeAlongDim},
  };
  return rows;
}
