//===- Sort.cpp - Sorts and histograms by counting ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// HLIR has no sort. The rank of an element is the number of elements that come
// before it: n^2 comparisons, exact and stable. The rules of Order.pdll
// recognize this and replace it by a sort.
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

/// Whether a comes before b, and whether they are equivalent. NaN is the
/// largest.
static std::pair<Value, Value> order(OpCall &o, Value a, Value b,
                                     bool descending) {
  Composer &c = o.c;
  Value less = c.less(a, b), same = c.equal(a, b);
  if (o.isFloat(a)) {
    Value nanA = c.isNan(a), nanB = c.isNan(b);
    less = c.logicalOr(less, c.logicalAnd(c.logicalNot(nanA), nanB));
    same = c.logicalOr(same, c.logicalAnd(nanA, nanB));
  }
  if (!descending)
    return {less, same};
  return {c.logicalNot(c.logicalOr(less, same)), same};
}

std::pair<Value, Value> pt2::inOrder(OpCall &o, Value x, unsigned axis,
                                     bool descending,
                                     std::optional<Expr> count) {
  Composer &c = o.c;
  unsigned rank = o.rank(x);
  if (rank == 0)
    return {x, c.scalarInt(o.i64(), 0)};
  Type type = o.element(x);
  x = c.cast(x, type.isInteger(1) ? Type(c.getBuilder().getI32Type())
                                  : computedType(type));
  // [rows, n]
  auto swap = llvm::to_vector(llvm::seq<unsigned>(0, rank));
  std::swap(swap[axis], swap[rank - 1]);
  Value last = c.permute(x, swap);
  SmallVector<Expr> shape = o.extents(last);
  Expr n = shape.back();
  Expr rows = product(std::vector<Expr>(shape.begin(), shape.end() - 1));
  Value flat = c.reshape(last, {rows, n});
  // Element i against element j.
  SmallVector<Expr> pairs = {rows, n, n};
  Value a = c.view(flat, pairs, {Expr::dim(0), Expr::dim(1)}),
        b = c.view(flat, pairs, {Expr::dim(0), Expr::dim(2)});
  auto [after, same] = order(o, b, a, descending);
  Value i = c.iota(pairs, Expr::dim(1)), j = c.iota(pairs, Expr::dim(2));
  Value before = c.logicalOr(after, c.logicalAnd(same, c.less(j, i)));
  Value place = c.reduceSum(c.cast(before, o.i64()), {2}, false);
  // Every position occurs once, so a scatter writes the whole result.
  Value base = c.iota({rows, n}, Expr::dim(0) * n);
  Value target = c.reshape(c.add(place, base), {rows * n});
  auto arrange = [&](Value v) {
    Value empty = c.full({rows * n}, c.scalarInt(o.element(v), 0));
    Value all =
        c.scatter(Combine::Set, empty, target, c.reshape(v, {rows * n}));
    Value ordered = c.permute(c.reshape(all, shape), swap);
    return count ? c.slice(ordered, axis, Expr(0), *count) : ordered;
  };
  Value indices = arrange(c.iota({rows, n}, Expr::dim(1)));
  return {c.cast(arrange(flat), type), indices};
}

static Status sorted(OpCall &o, Value x, unsigned axis, bool descending,
                     std::optional<Expr> count, bool indicesOnly) {
  auto [values, indices] = inOrder(o, x, axis, descending, count);
  return indicesOnly ? o.ret(indices) : o.ret({values, indices});
}

static Status sortBy(OpCall &o, bool indicesOnly) {
  Value x = o.tensor("self");
  LUMINAL_TRY(axis, o.axis("dim", x));
  return sorted(o, x, axis, o.flag("descending"), std::nullopt, indicesOnly);
}
static Status sort(OpCall &o) { return sortBy(o, false); }
static Status argsort(OpCall &o) { return sortBy(o, true); }
static Status sortStable(OpCall &o) {
  // Counting ranks is always stable.
  o.ignore({"stable"});
  return sortBy(o, false);
}
static Status argsortStable(OpCall &o) {
  o.ignore({"stable"});
  return sortBy(o, true);
}
static Status topk(OpCall &o) {
  // A sorted result is allowed if sorted is false.
  o.ignore({"sorted"});
  Value x = o.tensor("self");
  LUMINAL_TRY(axis, o.axis("dim", x));
  Expr k = o.expr("k");
  if (o.rank(x) && (!o.atMost(Expr(0), k) || !o.atMost(k, o.extents(x)[axis])))
    return o.fail("k is not within the dim");
  return sorted(o, x, axis, o.flag("largest"), k, false);
}

static Status msort(OpCall &o) {
  return o.ret(inOrder(o, o.tensor("self"), 0, false, std::nullopt).first);
}

/// The element at position `k` in ascending order, and its index.
static std::pair<Value, Value> atPlace(OpCall &o, Value x, unsigned axis,
                                       const Expr &k, bool keep) {
  auto [values, indices] = inOrder(o, x, axis, false, std::nullopt);
  if (o.rank(x) == 0)
    return {values, indices};
  auto pick = [&](Value v) {
    v = o.c.slice(v, axis, k, Expr(1));
    return keep ? v : o.c.squeeze(v, axis);
  };
  return {pick(values), pick(indices)};
}
static Status kthValue(OpCall &o) {
  Value x = o.tensor("self");
  LUMINAL_TRY(axis, o.axis("dim", x));
  Expr k = o.expr("k") - Expr(1);
  bool keep = o.flag("keepdim");
  if (o.rank(x) &&
      (!o.atMost(Expr(0), k) || !o.atMost(k + Expr(1), o.extents(x)[axis])))
    return o.fail("k is not within the dim");
  auto [value, index] = atPlace(o, x, axis, k, keep);
  return o.ret({value, index});
}

/// The lower of the two middle elements, or NaN if there is one. For NaN, the
/// first index, as in PyTorch.
static std::pair<Value, Value> medianOf(OpCall &o, Value x, unsigned axis,
                                        bool keep) {
  Composer &c = o.c;
  Expr n = o.rank(x) ? o.extents(x)[axis] : Expr(1);
  Expr middle = o.assumptions().simplify(Expr::floorDiv(n - Expr(1), Expr(2)));
  auto [value, index] = atPlace(o, x, axis, middle, keep);
  if (!o.isFloat(x) || o.rank(x) == 0)
    return {value, index};
  Value nan = c.isNan(x);
  Value along = indexAlong(o, x, axis);
  Value beyond = c.full(o.extents(x), extentValue(o, n, o.i64()));
  Value first = c.reduceMin(c.select(nan, along, beyond), {axis}, keep);
  Value any =
      c.less(first, c.full(o.extents(first), extentValue(o, n, o.i64())));
  double quiet = std::numeric_limits<double>::quiet_NaN();
  return {c.select(any, c.splat(value, quiet), value),
          c.select(any, first, index)};
}
using Median = std::pair<Value, Value>(OpCall &, Value, unsigned, bool);
static Status medianOfAll(OpCall &o, Median *of) {
  Value x = o.tensor("self");
  SmallVector<Expr> from = o.extents(x);
  Expr n = o.numElements(from);
  if (n.isConstant(0) && o.isFloat(x))
    return o.ret(
        o.c.scalar(o.element(x), std::numeric_limits<double>::quiet_NaN()));
  if (!o.atMost(Expr(1), n))
    return o.fail("the tensor is empty");
  return o.ret(of(o, o.c.reshape(x, {n}), 0, false).first);
}
static Status medianAlong(OpCall &o, Median *of) {
  Value x = o.tensor("self");
  LUMINAL_TRY(axis, o.axis("dim", x));
  bool keep = o.flag("keepdim");
  if (o.rank(x) && !o.atMost(Expr(1), o.extents(x)[axis]))
    return o.fail("the dim is empty");
  auto [value, index] = of(o, x, axis, keep);
  return o.ret({value, index});
}
static Status median(OpCall &o) { return medianOfAll(o, medianOf); }
static Status medianDim(OpCall &o) { return medianAlong(o, medianOf); }

/// The lower of the two middle elements of those that are not NaN, and its
/// index. NaN comes last in order.
static std::pair<Value, Value> nanMedianOf(OpCall &o, Value x, unsigned axis,
                                           bool keep) {
  Composer &c = o.c;
  if (!o.isFloat(x) || o.rank(x) == 0)
    return medianOf(o, x, axis, keep);
  auto [values, indices] = inOrder(o, x, axis, false, std::nullopt);
  Value numbers = c.reduceSum(c.cast(c.logicalNot(c.isNan(x)), o.i64()), {axis},
                              /*keepDim=*/true);
  Value zero = c.splatInt(numbers, 0), one = c.splatInt(numbers, 1);
  Value middle =
      c.floorDiv(c.maximum(c.sub(numbers, one), zero), c.splatInt(numbers, 2));
  Value place = positionsAlong(o, o.extents(x), middle, axis);
  auto pick = [&](Value v) {
    v = c.gather(c.reshape(v, {o.numElements(x)}), place);
    return keep ? v : c.squeeze(v, axis);
  };
  return {pick(values), pick(indices)};
}
static Status nanMedian(OpCall &o) { return medianOfAll(o, nanMedianOf); }
static Status nanMedianDim(OpCall &o) { return medianAlong(o, nanMedianOf); }

/// Counts elements in `bins` equal intervals of [min, max], the last of which
/// is closed; elements outside are not counted. Integers, which PyTorch
/// supports only on a GPU, are counted in integer arithmetic.
static Status histc(OpCall &o) {
  Composer &c = o.c;
  Value x = o.tensor("self");
  Type type = o.element(x);
  int64_t bins = o.integer("bins");
  double low = o.real("min"), high = o.real("max");
  if (!o.isFloat(x))
    low = std::trunc(low), high = std::trunc(high);
  if (bins <= 0 || !(low < high))
    return o.fail("needs at least one bin and min below max");
  if (type.isInteger(1))
    return o.fail("is not defined for truth values");
  SmallVector<Expr> from = o.extents(x);
  Expr n = o.numElements(from);
  // In PyTorch's compute type, whose rounding decides at the edges.
  Type wide = o.isFloat(x) ? o.opmath(type) : o.i64();
  Value v = c.cast(c.reshape(x, {n}), wide);
  auto number = [&](double n) {
    return o.isFloat(x) ? c.splat(v, n)
                        : c.splatInt(v, static_cast<int64_t>(n));
  };
  // bin = floor((x - min) * bins / (max - min))
  Value scaled = c.mul(c.sub(v, number(low)), number(double(bins)));
  Value length = number(high - low);
  Value position = o.isFloat(x) ? c.floor(c.div(scaled, length))
                                : c.floorDiv(scaled, length);
  position = c.minimum(position, number(double(bins - 1)));
  Value inside =
      c.logicalAnd(c.lessEqual(number(low), v), c.lessEqual(v, number(high)));
  Value bin = c.cast(c.select(inside, position, number(0)), o.i64());
  Value counts =
      c.scatter(Combine::Add, c.full({Expr(bins)}, c.scalarInt(o.i64(), 0)),
                bin, c.cast(inside, o.i64()));
  return o.ret(c.cast(counts, type));
}

llvm::ArrayRef<OpRow> pt2::getSortOps() {
  static const OpRow rows[] = {
      {"sort(Tensor self, int dim=-1, bool descending=False)", sort},
      {"sort.stable(Tensor self, *, bool? stable, int dim=-1, "
       "bool descending=False)",
       sortStable},
      {"argsort(Tensor self, int dim=-1, bool descending=False)", argsort},
      {"argsort.stable(Tensor self, *, bool stable, int dim=-1, "
       "bool descending=False)",
       argsortStable},
      {"topk(Tensor self, SymInt k, int dim=-1, bool largest=True, "
       "bool sorted=True)",
       topk},
      {"msort(Tensor self)", msort},
      {"kthvalue(Tensor self, SymInt k, int dim=-1, bool keepdim=False)",
       kthValue},
      {"median(Tensor self)", median},
      {"median.dim(Tensor self, int dim, bool keepdim=False)", medianDim},
      {"nanmedian(Tensor self)", nanMedian},
      {"nanmedian.dim(Tensor self, int dim, bool keepdim=False)", nanMedianDim},
      {"histc(Tensor self, int bins=100, float min=0, float max=0)", histc},
  };
  return rows;
}
