//===- Creation.cpp - New tensors, diagonals, tiling and order ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Helpers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;
using namespace luminal;
using namespace luminal::hlir;
using namespace luminal::pt2;

//===----------------------------------------------------------------------===//
// Filled tensors
//===----------------------------------------------------------------------===//

static Status filled(OpCall &o, ArrayRef<Expr> extents, Type type,
                     const Number &value) {
  for (const Expr &e : extents)
    if (!o.atMost(Expr(0), e))
      return o.fail("extent " + e.str() + " is negative");
  return o.ret(o.c.full(extents, o.materialize(value, type)));
}
static Number plain(int64_t value) {
  Number n;
  n.integer = Expr(value);
  return n;
}
/// The default dtype for a number.
static Type typeOf(OpCall &o, const Number &n) {
  return n.kind == Number::Float ? o.f32()
         : n.kind == Number::Int ? o.i64()
                                 : o.i1();
}

static Status full(OpCall &o) {
  Number value = o.number("fill_value");
  Type type = o.dtypeOrNone("dtype").value_or(typeOf(o, value));
  return filled(o, o.exprs("size"), type, value);
}
template <int value>
static Status sized(OpCall &o) {
  Type type = o.dtypeOrNone("dtype").value_or(o.f32());
  return filled(o, o.exprs("size"), type, plain(value));
}
template <int value>
static Status like(OpCall &o) {
  Value self = o.tensor("self");
  Type type = o.dtypeOrNone("dtype").value_or(o.element(self));
  return filled(o, o.extents(self), type, plain(value));
}
static Status fullLike(OpCall &o) {
  Value self = o.tensor("self");
  Type type = o.dtypeOrNone("dtype").value_or(o.element(self));
  return filled(o, o.extents(self), type, o.number("fill_value"));
}
template <int value>
static Status newSized(OpCall &o) {
  Type type = o.dtypeOrNone("dtype").value_or(o.element(o.tensor("self")));
  return filled(o, o.exprs("size"), type, plain(value));
}
static Status newFull(OpCall &o) {
  Type type = o.dtypeOrNone("dtype").value_or(o.element(o.tensor("self")));
  return filled(o, o.exprs("size"), type, o.number("fill_value"));
}
/// Strides affect the layout, not the elements.
static Status emptyPermuted(OpCall &o) {
  o.ignore({"physical_layout"});
  return sized<0>(o);
}
static Status emptyStrided(OpCall &o) {
  o.ignore({"stride"});
  return sized<0>(o);
}
static Status scalarTensor(OpCall &o) {
  Type type = o.dtypeOrNone("dtype").value_or(o.f32());
  return filled(o, {}, type, o.number("s"));
}

//===----------------------------------------------------------------------===//
// Ranges
//===----------------------------------------------------------------------===//

static Status range(OpCall &o, const Number &start, const Number &end,
                    const Number &step) {
  bool floats = start.kind == Number::Float || end.kind == Number::Float ||
                step.kind == Number::Float;
  Type type = o.dtypeOrNone("dtype").value_or(floats ? o.f32() : o.i64());
  if (!floats) {
    auto by = step.integer.asConstant();
    if (!by || *by == 0)
      return o.fail("the step " + step.integer.str() + " is symbolic or zero");
    Expr length = *by > 0
                      ? Expr::ceilDiv(end.integer - start.integer, Expr(*by))
                      : Expr::ceilDiv(start.integer - end.integer, -Expr(*by));
    if (!o.assumptions().provablyNonNegative(length))
      length = Expr::max(length, Expr(0));
    Value values = o.c.iota({o.assumptions().simplify(length)},
                            start.integer + Expr::dim(0) * Expr(*by));
    return o.ret(o.c.cast(values, type));
  }
  auto from = start.asDouble(), to = end.asDouble(), by = step.asDouble();
  if (!from || !to || !by || *by == 0)
    return o.fail("a range of floats has a symbolic bound or a step of zero");
  // PyTorch truncates start and step for integers, and counts the elements of
  // i64 alone by truncated bounds.
  bool isInteger = isa<IntegerType>(type);
  double first = isInteger ? std::trunc(*from) : *from,
         stride = isInteger ? std::trunc(*by) : *by;
  if (stride == 0)
    return o.fail("the step of a range of integers is truncated to zero");
  double count = type == o.i64() ? std::ceil((std::trunc(*to) - first) / stride)
                                 : std::ceil((*to - *from) / *by);
  if (!(count >= 0) || count > 1e15)
    return o.fail("the range has no length");
  // start + i * step in f64, rounded once.
  Type f64 = o.c.getBuilder().getF64Type();
  Value i = o.c.cast(
      o.c.iota({Expr(static_cast<int64_t>(count))}, Expr::dim(0)), f64);
  Value scaled = o.c.mul(i, o.c.splat(i, stride));
  return o.ret(o.c.cast(o.c.add(scaled, o.c.splat(i, first)), type));
}
static Status arangeEnd(OpCall &o) {
  return range(o, plain(0), o.number("end"), plain(1));
}
static Status arangeStart(OpCall &o) {
  return range(o, o.number("start"), o.number("end"), plain(1));
}
static Status arangeStep(OpCall &o) {
  return range(o, o.number("start"), o.number("end"), o.number("step"));
}

/// PyTorch truncates the ends of integers.
static Status linspace(OpCall &o) {
  double start = o.real("start"), end = o.real("end");
  int64_t steps = o.integer("steps");
  Type type = o.dtypeOrNone("dtype").value_or(o.f32());
  if (steps < 0)
    return o.fail("has a negative length");
  if (isa<IntegerType>(type)) {
    start = std::trunc(start);
    end = std::trunc(end);
  }
  // From the nearer end, so that both ends are exact.
  Type f64 = o.c.getBuilder().getF64Type();
  double step = steps > 1 ? (end - start) / static_cast<double>(steps - 1) : 0;
  Value index = o.c.iota({Expr(steps)}, Expr::dim(0));
  Value i = o.c.cast(index, f64);
  Value low = o.c.add(o.c.splat(i, start), o.c.mul(i, o.c.splat(i, step)));
  Value back = o.c.sub(o.c.splat(i, static_cast<double>(steps - 1)), i);
  Value high = o.c.sub(o.c.splat(i, end), o.c.mul(back, o.c.splat(i, step)));
  Value first = o.c.less(index, o.c.splatInt(index, steps / 2));
  if (steps == 1)
    return o.ret(o.c.cast(low, type));
  return o.ret(o.c.cast(o.c.select(first, low, high), type));
}

/// Frequencies k / (n d) of a Fourier transform's results. The second half is
/// negative, unless the spectrum is one-sided.
template <bool oneSided>
static Status frequencies(OpCall &o) {
  int64_t n = o.integer("n");
  double d = o.real("d");
  Type type = o.dtypeOrNone("dtype").value_or(o.f32());
  if (n < 1 || n > INT32_MAX || !isa<FloatType>(type))
    return o.fail("takes a number of points, and gives floats");
  int64_t half = (n + 1) / 2;
  Expr k = Expr::dim(0);
  if (!oneSided)
    k = Expr::mod(k + Expr(n - half), Expr(n)) - Expr(n - half);
  Value index = o.c.iota({Expr(oneSided ? n / 2 + 1 : n)}, k);
  // Rounded before the multiplication, as in PyTorch.
  Value x = o.c.cast(index, o.opmath(type));
  Value y = o.c.mul(x, o.c.splat(x, 1.0 / (static_cast<double>(n) * d)));
  return o.ret(o.c.cast(y, type));
}

static Status eye(OpCall &o) {
  Expr n = o.expr("n"), m = o.entry.name == "eye.m" ? o.expr("m") : n;
  Type type = o.dtypeOrNone("dtype").value_or(o.f32());
  Value row = o.c.iota({n, m}, Expr::dim(0)),
        column = o.c.iota({n, m}, Expr::dim(1));
  Value equal = o.c.equal(row, column);
  return o.ret(o.c.select(equal, o.c.splatInt(row, 1, type),
                          o.c.splatInt(row, 0, type)));
}

/// Keeps the elements on one side of a diagonal and zeroes the others.
template <bool upper>
static Status triangle(OpCall &o) {
  Value x = o.tensor("self");
  unsigned rank = o.rank(x);
  if (rank < 2)
    return o.fail("takes at least two dims");
  Value row = indexAlong(o, x, rank - 2), column = indexAlong(o, x, rank - 1);
  Value limit =
      o.c.add(row, o.broadcastTo(o.materialize(o.number("diagonal"), o.i64()),
                                 o.extents(x)));
  Value keep =
      upper ? o.c.lessEqual(limit, column) : o.c.lessEqual(column, limit);
  return o.ret(o.c.select(keep, x, o.c.splatInt(x, 0)));
}

//===----------------------------------------------------------------------===//
// Diagonals and one-hot
//===----------------------------------------------------------------------===//

/// Places the last dim of x on the diagonal of two new dims.
static Status embedDiagonal(OpCall &o, Value x, int64_t offset, int64_t dim1,
                            int64_t dim2) {
  Composer &c = o.c;
  unsigned rank = o.rank(x) + 1;
  LUMINAL_TRY(a, o.axis(dim1, rank));
  LUMINAL_TRY(b, o.axis(dim2, rank));
  if (a == b || o.rank(x) == 0)
    return o.fail("takes a tensor with a dim, and two different new ones");
  SmallVector<Expr> from = o.extents(x), extents, map;
  Expr n = from.back(), size = n + Expr(std::abs(offset));
  if (!o.assumptions().provablyLessEqual(Expr(1), n)) {
    // A dim that may be empty gets one more element, so that the clamped index
    // is valid; the mask excludes it.
    n = o.assumptions().simplify(Expr::max(n, Expr(1)));
    LUMINAL_TRY(one,
                padConstant(o, x, {{o.rank(x) - 1, Expr(0), n - from.back()}},
                            c.scalarInt(o.element(x), 0)));
    x = one;
  }
  unsigned next = 0;
  for (unsigned i = 0; i < rank; ++i) {
    if (i == a || i == b) {
      extents.push_back(size);
      continue;
    }
    map.push_back(Expr::dim(i));
    extents.push_back(from[next++]);
  }
  Expr row = Expr::dim(a) + Expr(std::min<int64_t>(offset, 0)),
       column = Expr::dim(b) - Expr(std::max<int64_t>(offset, 0));
  map.push_back(Expr::max(Expr::min(row, n - Expr(1)), Expr(0)));
  Value v = c.view(x, extents, map);
  Value i = c.iota(extents, row), j = c.iota(extents, column);
  Value on = c.logicalAnd(c.equal(i, j), c.less(c.splatInt(i, -1), i));
  return o.ret(c.select(on, v, c.splatInt(v, 0)));
}
static Status diagEmbed(OpCall &o) {
  return embedDiagonal(o, o.tensor("self"), o.integer("offset"),
                       o.integer("dim1"), o.integer("dim2"));
}
static Status diagFlat(OpCall &o) {
  Value x = o.tensor("self");
  SmallVector<Expr> from = o.extents(x);
  Value flat = o.c.reshape(x, {o.numElements(from)});
  return embedDiagonal(o, flat, o.integer("offset"), 0, 1);
}
/// The elements on a diagonal of a matrix.
static Value diagonalOf(OpCall &o, Value x, int64_t offset) {
  SmallVector<Expr> from = o.extents(x);
  Expr below = offset < 0 ? -Expr(offset) : Expr(0),
       right(std::max<int64_t>(offset, 0));
  Expr n = o.assumptions().simplify(
      Expr::max(Expr::min(from[0] - below, from[1] - right), Expr(0)));
  return o.c.view(x, {n}, {Expr::dim(0) + below, Expr::dim(0) + right});
}
static Status diag(OpCall &o) {
  Value x = o.tensor("self");
  int64_t offset = o.integer("diagonal");
  if (o.rank(x) == 1)
    return embedDiagonal(o, x, offset, 0, 1);
  if (o.rank(x) != 2)
    return o.fail("takes a vector or a matrix");
  return o.ret(diagonalOf(o, x, offset));
}
static Status trace(OpCall &o) {
  Value x = o.tensor("self");
  if (o.rank(x) != 2)
    return o.fail("takes a matrix");
  Value v = diagonalOf(o, o.c.cast(x, sumType(o, o.element(x))), 0);
  return o.ret(o.c.reduceSum(v, {0}, false));
}
static Status fillDiagonal(OpCall &o) {
  Composer &c = o.c;
  Value x = o.tensor("self");
  if (o.rank(x) < 2 || o.flag("wrap"))
    return o.fail("takes at least two dims, and wraps nowhere");
  Value on, row = indexAlong(o, x, 0);
  for (unsigned i = 1; i < o.rank(x); ++i) {
    Value same = c.equal(row, indexAlong(o, x, i));
    on = on ? c.logicalAnd(on, same) : same;
  }
  Value fill = o.materialize(o.number("fill_value"), o.element(x));
  return o.ret(c.select(on, o.broadcastTo(fill, o.extents(x)), x));
}

/// Row and column of each element on one side of a diagonal, in row-major
/// order.
template <bool upper>
static Status triangleIndices(OpCall &o) {
  int64_t rows = o.integer("row"), columns = o.integer("col"),
          offset = o.integer("offset");
  Type type = o.dtypeOrNone("dtype").value_or(o.i64());
  if (rows < 0 || columns < 0)
    return o.fail("has a negative number of rows or columns");
  // All offsets beyond the matrix are equivalent.
  offset = std::clamp(offset, -rows, columns);
  int64_t firstRow = upper ? 0 : std::max<int64_t>(-offset, 0), lastRow = rows;
  if (int64_t last; upper && !llvm::SubOverflow(columns, offset, last))
    lastRow = std::min(rows, last);
  SmallVector<int64_t> row, column;
  // Each of these rows has at least one element, so the limit bounds the loops.
  for (int64_t i = firstRow; i < lastRow && columns > 0; ++i) {
    int64_t begin = upper ? std::max<int64_t>(i + offset, 0) : 0,
            end = upper || offset >= columns - i ? columns : i + offset + 1;
    for (int64_t j = begin; j < end; ++j) {
      if (row.size() == kMaxListed)
        return o.fail("has more than " + Twine(kMaxListed) + " elements");
      row.push_back(i);
      column.push_back(j);
    }
  }
  int64_t n = row.size();
  row.append(column);
  auto tensor = RankedTensorType::get({2, n}, o.i64());
  Value v = ConstantOp::create(o.c.getBuilder(), o.c.getLoc(), tensor,
                               DenseIntElementsAttr::get(tensor, row));
  return o.ret(o.c.cast(v, type));
}

static Status oneHot(OpCall &o) {
  Composer &c = o.c;
  Value x = o.tensor("self");
  int64_t classes = o.integer("num_classes");
  if (!o.element(x).isInteger(64))
    return o.fail("takes 64-bit integers");
  SmallVector<Expr> space = o.extents(x), map;
  // If the call does not state the number, the archive does.
  Expr count(classes);
  if (classes < 0) {
    const TensorMeta *meta = o.resultMeta();
    auto known = meta && meta->sizes.size() == space.size() + 1
                     ? meta->sizes.back().asConstant()
                     : std::nullopt;
    if (!known)
      return o.fail("the number of classes is known only at run time");
    count = Expr(*known);
  }
  map = identityMap(space.size());
  space.push_back(count);
  Value hit = c.equal(c.view(x, space, map),
                      c.iota(space, Expr::dim(space.size() - 1)));
  return o.ret(c.cast(hit, o.i64()));
}

//===----------------------------------------------------------------------===//
// Window functions
//===----------------------------------------------------------------------===//

namespace {
/// The elements of a window function, by index in f64; n is the length, or one
/// less if the window is not periodic.
struct SignalWindow {
  int64_t length;
  Type type;
  double n;
  Value index;
};
} // namespace

static Result<SignalWindow> readWindow(OpCall &o) {
  Composer &c = o.c;
  int64_t length = o.integer("window_length");
  bool periodic =
      StringRef(o.entry.name).ends_with(".default") || o.flag("periodic");
  Type type = o.dtypeOrNone("dtype").value_or(o.f32());
  if (length < 0 || !isa<FloatType>(type))
    return o.fail("has a negative length or an integer dtype");
  Value index =
      c.cast(c.iota({Expr(length)}, Expr::dim(0)), c.getBuilder().getF64Type());
  return SignalWindow{
      length, type, static_cast<double>(periodic ? length : length - 1), index};
}

/// The sum over k of a[k] cos(2 pi k i / n).
static Status cosineWindow(OpCall &o, ArrayRef<double> terms) {
  Composer &c = o.c;
  LUMINAL_TRY(w, readWindow(o));
  Value i = w.index;
  if (w.length == 1)
    return o.ret(c.full({Expr(1)}, c.scalar(w.type, 1)));
  Value sum = c.splat(i, terms[0]);
  for (unsigned k = 1; k < terms.size(); ++k) {
    Value angle = c.mul(i, c.splat(i, 2 * 3.141592653589793 * k / w.n));
    sum = c.add(sum, c.mul(c.cos(angle), c.splat(i, terms[k])));
  }
  return o.ret(c.cast(sum, w.type));
}
static Status bartlettWindow(OpCall &o) {
  Composer &c = o.c;
  LUMINAL_TRY(w, readWindow(o));
  if (w.length <= 1)
    return o.ret(c.full({Expr(w.length)}, c.scalar(w.type, 1)));
  Value x = c.mul(w.index, c.splat(w.index, 2 / w.n));
  Value back = c.sub(c.splat(x, 2), x);
  return o.ret(c.cast(c.minimum(x, back), w.type));
}
static Status kaiserWindow(OpCall &o) {
  Composer &c = o.c;
  double beta =
      StringRef(o.entry.name).ends_with(".beta") ? o.real("beta") : 12.0;
  LUMINAL_TRY(w, readWindow(o));
  if (w.length <= 1)
    return o.ret(c.full({Expr(w.length)}, c.scalar(w.type, 1)));
  // From -1 to 1.
  Value x =
      c.sub(c.mul(w.index, c.splat(w.index, 2 / w.n)), c.splat(w.index, 1));
  Value height = c.maximum(c.sub(c.splat(x, 1), c.mul(x, x)), c.splat(x, 0));
  Value y = besselI0(c, c.mul(c.sqrt(height), c.splat(x, beta)));
  return o.ret(c.cast(c.div(y, besselI0(c, c.splat(x, beta))), w.type));
}
static Status hannWindow(OpCall &o) { return cosineWindow(o, {0.5, -0.5}); }
static Status hammingWindow(OpCall &o) {
  return cosineWindow(o, {0.54, -0.46});
}
static Status hammingAlphaBeta(OpCall &o) {
  return cosineWindow(o, {o.real("alpha"), -o.real("beta")});
}
static Status blackmanWindow(OpCall &o) {
  return cosineWindow(o, {0.42, -0.5, 0.08});
}

//===----------------------------------------------------------------------===//
// Tiling and order
//===----------------------------------------------------------------------===//

static Status tileBy(OpCall &o, SmallVector<Expr> repeats) {
  SmallVector<Expr> from = o.extents(o.tensor("self")), extents, map;
  while (repeats.size() < from.size())
    repeats.insert(repeats.begin(), Expr(1));
  unsigned lead = repeats.size() - from.size();
  for (unsigned i = 0; i < repeats.size(); ++i) {
    if (i < lead) {
      extents.push_back(repeats[i]);
      continue;
    }
    const Expr &n = from[i - lead];
    extents.push_back(n * repeats[i]);
    map.push_back(repeats[i].isConstant(1) ? Expr::dim(i)
                  : n.isConstant(1)        ? Expr(0)
                  : n.isConstant(0)        ? Expr(0)
                                           : Expr::mod(Expr::dim(i), n));
  }
  return o.ret(o.c.view(o.tensor("self"), extents, map));
}
static Status repeat(OpCall &o) {
  SmallVector<Expr> repeats = o.exprs("repeats");
  if (repeats.size() < o.rank(o.tensor("self")))
    return o.fail("has fewer repeats than dims");
  return tileBy(o, repeats);
}
static Status tile(OpCall &o) { return tileBy(o, o.exprs("dims")); }

static Status repeatInterleave(OpCall &o) {
  Value x = o.tensor("self");
  Expr repeats = o.expr("repeats");
  o.ignore({"output_size"});
  if (!o.has("dim"))
    x = o.c.reshape(x, {o.numElements(x)});
  LUMINAL_TRY(axis, o.axis(o.integerOrNone("dim").value_or(0), o.rank(x)));
  if (!o.atMost(Expr(0), repeats))
    return o.fail("the number of repeats is negative");
  if (repeats.isConstant(0))
    return o.ret(o.c.slice(x, axis, Expr(0), Expr(0)));
  SmallVector<Expr> extents = o.extents(x), map;
  for (unsigned i = 0; i < extents.size(); ++i)
    map.push_back(i == axis ? Expr::floorDiv(Expr::dim(i), repeats)
                            : Expr::dim(i));
  extents[axis] = extents[axis] * repeats;
  return o.ret(o.c.view(x, extents, map));
}

/// For each of `total` positions, the index of the element repeated there: the
/// number of elements whose repeats end at or before it.
static Result<Value> repeatedIndices(OpCall &o, Value repeats,
                                     const Expr &total) {
  Composer &c = o.c;
  if (o.rank(repeats) != 1 ||
      !(o.element(repeats).isInteger(64) || o.element(repeats).isInteger(32)))
    return o.fail("takes a vector of integers as repeats");
  if (!o.atMost(Expr(0), total))
    return o.fail("extent " + total.str() + " is negative");
  Expr n = o.extents(repeats)[0];
  LUMINAL_TRY(ends, prefixSum(o, c.cast(repeats, o.i64()), 0));
  SmallVector<Expr> space = {total, n};
  Value end = c.view(ends, space, {Expr::dim(1)}),
        place = c.iota(space, Expr::dim(0));
  Value before = c.cast(c.lessEqual(end, place), o.i64());
  return c.reduceSum(before, {1}, false);
}
static Result<Expr> statedOutputSize(OpCall &o) {
  if (auto size = o.exprOrNone("output_size"))
    return *size;
  return o.fail(
      "has a result whose shape is known only at run time (output_size)");
}
static Status repeatIndices(OpCall &o) {
  Value repeats = o.tensor("repeats");
  LUMINAL_TRY(total, statedOutputSize(o));
  LUMINAL_TRY(index, repeatedIndices(o, repeats, total));
  return o.ret(o.c.cast(index, o.element(repeats)));
}
static Status repeatEach(OpCall &o) {
  Composer &c = o.c;
  Value x = o.tensor("self"), repeats = o.tensor("repeats");
  auto dim = o.integerOrNone("dim");
  if (!dim)
    x = c.reshape(x, {o.numElements(x)});
  if (o.rank(x) == 0)
    x = c.unsqueeze(x, 0);
  LUMINAL_TRY(axis, o.axis(dim.value_or(0), o.rank(x)));
  LUMINAL_TRY(total, statedOutputSize(o));
  // A single number of repeats applies to all elements.
  Expr n = o.extents(x)[axis];
  if (o.rank(repeats) == 0 ||
      (o.rank(repeats) == 1 && o.extents(repeats)[0].isConstant(1)))
    repeats = o.broadcastTo(repeats, {n});
  LUMINAL_TRY(index, repeatedIndices(o, repeats, total));
  if (!o.agree(o.extents(repeats)[0], n))
    return o.fail("has another number of repeats than of elements");
  if (!o.atMost(Expr(1), n, {total}))
    return o.fail("repeats no elements");
  // If output_size is not the sum of the repeats, clamp the index.
  Value last = c.full({total}, extentValue(o, n - Expr(1), o.i64()));
  index = c.minimum(index, last);
  auto order = llvm::to_vector(llvm::seq<unsigned>(0, o.rank(x)));
  std::swap(order[0], order[axis]);
  return o.ret(c.permute(c.gather(c.permute(x, order), index), order));
}

static Status flip(OpCall &o) {
  Value x = o.tensor("self");
  SmallVector<int64_t> dims = o.integers("dims");
  if (dims.empty())
    return o.ret(x);
  LUMINAL_TRY(axes, o.axes(dims, o.rank(x)));
  SmallVector<Expr> extents = o.extents(x), map;
  for (unsigned i = 0; i < extents.size(); ++i)
    map.push_back(llvm::is_contained(axes, i)
                      ? extents[i] - Expr(1) - Expr::dim(i)
                      : Expr::dim(i));
  return o.ret(o.c.view(x, extents, map));
}

static Status roll(OpCall &o) {
  Value x = o.tensor("self");
  SmallVector<Expr> shifts = o.exprs("shifts"), original = o.extents(x);
  SmallVector<int64_t> dims = o.integers("dims");
  bool flat = dims.empty();
  if (flat && shifts.size() != 1)
    return o.fail("has several shifts but no dims");
  Value y = x;
  if (flat) {
    y = o.c.reshape(x, {o.numElements(original)});
    dims = {0};
  }
  if (shifts.size() != dims.size())
    return o.fail("has another number of shifts than of dims");
  for (auto [shift, dim] : llvm::zip(shifts, dims)) {
    LUMINAL_TRY(axis, o.axis(dim, o.rank(y)));
    SmallVector<Expr> extents = o.extents(y), map;
    for (unsigned i = 0; i < extents.size(); ++i) {
      bool rolled = i == axis && !extents[i].isConstant(0);
      map.push_back(rolled ? Expr::mod(Expr::dim(i) - shift, extents[i])
                           : Expr::dim(i));
    }
    y = o.c.view(y, extents, map);
  }
  return o.ret(flat ? o.c.reshape(y, original) : y);
}

/// Rotates by k quarter turns from the first dim to the second.
static Status rot90(OpCall &o) {
  Value x = o.tensor("self");
  SmallVector<int64_t> dims = o.integers("dims");
  int64_t turns = ((o.integer("k") % 4) + 4) % 4;
  if (dims.size() != 2 || o.rank(x) < 2)
    return o.fail("takes two dims");
  LUMINAL_TRY(a, o.axis(dims[0], o.rank(x)));
  LUMINAL_TRY(b, o.axis(dims[1], o.rank(x)));
  if (a == b)
    return o.fail("takes two different dims");
  SmallVector<Expr> from = o.extents(x), extents = from,
                    map = identityMap(from.size());
  auto mirrored = [&](unsigned axis, unsigned dim) {
    return from[axis] - Expr(1) - Expr::dim(dim);
  };
  if (turns % 2)
    std::swap(extents[a], extents[b]);
  if (turns == 1)
    map[a] = Expr::dim(b), map[b] = mirrored(b, a);
  if (turns == 2)
    map[a] = mirrored(a, a), map[b] = mirrored(b, b);
  if (turns == 3)
    map[a] = mirrored(a, b), map[b] = Expr::dim(a);
  return o.ret(o.c.view(x, extents, map));
}
template <unsigned axis>
static Status flipAxis(OpCall &o) {
  Value x = o.tensor("self");
  if (o.rank(x) <= axis)
    return o.fail("has fewer dims than the op takes");
  SmallVector<Expr> extents = o.extents(x), map;
  for (unsigned i = 0; i < extents.size(); ++i)
    map.push_back(i == axis ? extents[i] - Expr(1) - Expr::dim(i)
                            : Expr::dim(i));
  return o.ret(o.c.view(x, extents, map));
}

#define LUMINAL_TENSOR_OPTIONS                                                 \
  "ScalarType? dtype=None, Layout? layout=None, Device? device=None, "         \
  "bool? pin_memory=None"
#define LUMINAL_LONG_OPTIONS                                                   \
  "ScalarType? dtype=4, Layout? layout=None, Device? device=None, "            \
  "bool? pin_memory=None"
#define LUMINAL_LIKE_OPTIONS                                                   \
  LUMINAL_TENSOR_OPTIONS ", MemoryFormat? memory_format=None"

llvm::ArrayRef<OpRow> pt2::getCreationOps() {
  static const OpRow rows[] = {
      {"full(SymInt[] size, Scalar fill_value, *, " LUMINAL_TENSOR_OPTIONS ")",
       full},
      {"zeros(SymInt[] size, *, " LUMINAL_TENSOR_OPTIONS ")", sized<0>},
      {"ones(SymInt[] size, *, " LUMINAL_TENSOR_OPTIONS ")", sized<1>},
      {"empty.memory_format(SymInt[] size, *, " LUMINAL_LIKE_OPTIONS ")",
       sized<0>},
      {"empty_permuted(SymInt[] size, int[] physical_layout, "
       "*, " LUMINAL_TENSOR_OPTIONS ")",
       emptyPermuted},
      {"empty_strided(SymInt[] size, SymInt[] stride, "
       "*, " LUMINAL_TENSOR_OPTIONS ")",
       emptyStrided},
      {"zeros_like(Tensor self, *, " LUMINAL_LIKE_OPTIONS ")", like<0>},
      {"ones_like(Tensor self, *, " LUMINAL_LIKE_OPTIONS ")", like<1>},
      {"empty_like(Tensor self, *, " LUMINAL_LIKE_OPTIONS ")", like<0>},
      {"full_like(Tensor self, Scalar fill_value, *, " LUMINAL_LIKE_OPTIONS ")",
       fullLike},
      {"new_zeros(Tensor self, SymInt[] size, *, " LUMINAL_TENSOR_OPTIONS ")",
       newSized<0>},
      {"new_ones(Tensor self, SymInt[] size, *, " LUMINAL_TENSOR_OPTIONS ")",
       newSized<1>},
      {"new_empty(Tensor self, SymInt[] size, *, " LUMINAL_TENSOR_OPTIONS ")",
       newSized<0>},
      {"new_full(Tensor self, SymInt[] size, Scalar fill_value, "
       "*, " LUMINAL_TENSOR_OPTIONS ")",
       newFull},
      {"scalar_tensor(Scalar s, *, " LUMINAL_TENSOR_OPTIONS ")", scalarTensor},
      {"prims::scalar_tensor(Scalar s, *, ScalarType? dtype=None, "
       "Device? device=None)",
       scalarTensor},
      {"arange(Scalar end, *, " LUMINAL_TENSOR_OPTIONS ")", arangeEnd},
      {"arange.start(Scalar start, Scalar end, *, " LUMINAL_TENSOR_OPTIONS ")",
       arangeStart},
      {"arange.start_step(Scalar start, Scalar end, Scalar step=1, "
       "*, " LUMINAL_TENSOR_OPTIONS ")",
       arangeStep},
      {"linspace(float start, float end, int steps, "
       "*, " LUMINAL_TENSOR_OPTIONS ")",
       linspace},
      {"fft_fftfreq(int n, float d=1., *, " LUMINAL_TENSOR_OPTIONS ")",
       frequencies<false>},
      {"fft_rfftfreq(int n, float d=1., *, " LUMINAL_TENSOR_OPTIONS ")",
       frequencies<true>},
      {"eye(SymInt n, *, " LUMINAL_TENSOR_OPTIONS ")", eye},
      {"eye.m(SymInt n, SymInt m, *, " LUMINAL_TENSOR_OPTIONS ")", eye},
      {"tril(Tensor self, Scalar diagonal=0)", triangle<false>},
      {"triu(Tensor self, Scalar diagonal=0)", triangle<true>},
      {"repeat(Tensor self, SymInt[] repeats)", repeat},
      {"tile(Tensor self, SymInt[] dims)", tile},
      {"repeat_interleave.self_int(Tensor self, SymInt repeats, "
       "int? dim=None, *, SymInt? output_size=None)",
       repeatInterleave},
      {"repeat_interleave.Tensor(Tensor repeats, *, SymInt? output_size=None)",
       repeatIndices},
      {"repeat_interleave.self_Tensor(Tensor self, Tensor repeats, "
       "int? dim=None, *, SymInt? output_size=None)",
       repeatEach},
      {"diag(Tensor self, int diagonal=0)", diag},
      {"diag_embed(Tensor self, int offset=0, int dim1=-2, int dim2=-1)",
       diagEmbed},
      {"diagflat(Tensor self, int offset=0)", diagFlat},
      {"trace(Tensor self)", trace},
      {"fill_diagonal(Tensor self, Scalar fill_value, bool wrap=False)",
       fillDiagonal},
      {"tril_indices(int row, int col, int offset=0, *, " LUMINAL_LONG_OPTIONS
       ")",
       triangleIndices<false>},
      {"triu_indices(int row, int col, int offset=0, *, " LUMINAL_LONG_OPTIONS
       ")",
       triangleIndices<true>},
      {"one_hot(Tensor self, int num_classes=-1)", oneHot},
      {"hann_window(int window_length, *, " LUMINAL_TENSOR_OPTIONS ")",
       hannWindow},
      {"hann_window.periodic(int window_length, bool periodic, "
       "*, " LUMINAL_TENSOR_OPTIONS ")",
       hannWindow},
      {"hamming_window(int window_length, *, " LUMINAL_TENSOR_OPTIONS ")",
       hammingWindow},
      {"hamming_window.periodic(int window_length, bool periodic, "
       "*, " LUMINAL_TENSOR_OPTIONS ")",
       hammingWindow},
      {"hamming_window.periodic_alpha_beta(int window_length, "
       "bool periodic, float alpha, float beta, *, " LUMINAL_TENSOR_OPTIONS ")",
       hammingAlphaBeta},
      {"bartlett_window(int window_length, *, " LUMINAL_TENSOR_OPTIONS ")",
       bartlettWindow},
      {"bartlett_window.periodic(int window_length, bool periodic, "
       "*, " LUMINAL_TENSOR_OPTIONS ")",
       bartlettWindow},
      {"kaiser_window(int window_length, *, " LUMINAL_TENSOR_OPTIONS ")",
       kaiserWindow},
      {"kaiser_window.periodic(int window_length, bool periodic, "
       "*, " LUMINAL_TENSOR_OPTIONS ")",
       kaiserWindow},
      {"kaiser_window.beta(int window_length, bool periodic, float beta, "
       "*, " LUMINAL_TENSOR_OPTIONS ")",
       kaiserWindow},
      {"blackman_window(int window_length, *, " LUMINAL_TENSOR_OPTIONS ")",
       blackmanWindow},
      {"blackman_window.periodic(int window_length, bool periodic, "
       "*, " LUMINAL_TENSOR_OPTIONS ")",
       blackmanWindow},
      {"rot90(Tensor self, int k=1, int[] dims=[0, 1])", rot90},
      {"flipud(Tensor self)", flipAxis<0>},
      {"fliplr(Tensor self)", flipAxis<1>},
      {"flip(Tensor self, int[] dims)", flip},
      {"roll(Tensor self, SymInt[] shifts, int[] dims=[])", roll},
  };
  return rows;
}
