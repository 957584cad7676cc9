//===- Pooling.cpp - Reductions over windows, columns of windows ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Windows.h"
#include "luminal/Support/IndexCheck.h"
#include "llvm/ADT/STLExtras.h"
#include <limits>
#include <numeric>

using namespace mlir;
using namespace luminal;
using namespace luminal::hlir;
using namespace luminal::pt2;

static constexpr double kInf = std::numeric_limits<double>::infinity();

//===----------------------------------------------------------------------===//
// Windows of one size
//===----------------------------------------------------------------------===//

/// The number of windows in ceil_mode: the last may extend past the padded
/// input, but begins before the trailing padding.
static Expr ceilPositions(OpCall &o, const Expr &extent, int64_t pad,
                          const Window &w, unsigned i) {
  Expr rest = extent + Expr(2 * pad) - w.reach(i), stride(w.stride[i]);
  return o.assumptions().simplify(
      Expr::min(Expr::ceilDiv(rest, stride) + Expr(1),
                Expr::ceilDiv(extent + Expr(pad), stride)));
}

namespace {
/// The padding of each windowed dim at its start and end.
using Pads = SmallVector<std::pair<Expr, Expr>>;

struct Pool {
  Window window;
  Pads pads;
};
} // namespace

/// Reads the arguments of a pooling op.
static Result<Pool> readPool(OpCall &o, Value x, unsigned n, bool dilated) {
  LUMINAL_TRY(size, perDim(o, "kernel_size", n));
  LUMINAL_TRY(stride, perDim(o, "stride", n, size));
  LUMINAL_TRY(pads, perDim(o, "padding", n));
  SmallVector<int64_t> dilation(n, 1);
  if (dilated) {
    LUMINAL_TRY(given, perDim(o, "dilation", n));
    dilation = given;
  }
  if (o.rank(x) < n + 1 || !o.isFloat(x))
    return o.fail("takes floats with a channel dim");
  Pool pool;
  Window &w = pool.window;
  w.size = toExprs(size), w.stride = stride, w.dilation = dilation;
  bool ceil = o.flag("ceil_mode");
  unsigned lead = o.rank(x) - n;
  for (unsigned i = 0; i < n; ++i) {
    Expr more(0), extent = o.extents(x)[lead + i];
    if (stride[i] <= 0 || size[i] <= 0 || dilation[i] <= 0 || pads[i] < 0 ||
        pads[i] > size[i] / 2)
      return o.fail("a window, stride or dilation is not positive, or padding "
                    "more than half a window");
    if (!o.atMost(Expr(1), extent))
      return o.fail("extent " + extent.str() +
                    " of a dim with windows is zero");
    if (ceil) {
      Expr positions = ceilPositions(o, extent, pads[i], w, i);
      more = o.assumptions().simplify(
          Expr::max((positions - Expr(1)) * Expr(stride[i]) + w.reach(i) -
                        extent - Expr(2 * pads[i]),
                    Expr(0)));
      w.positions.push_back(positions);
    }
    pool.pads.emplace_back(Expr(pads[i]), Expr(pads[i]) + more);
  }
  return pool;
}

/// Shrinks windows by trailing offsets at which no window has an element of
/// `x`, as for a window in ceil_mode that is far larger than the input.
static void dropOutside(OpCall &o, Value x, Pool &pool) {
  auto &[w, pads] = pool;
  unsigned lead = o.rank(x) - pads.size();
  if (w.positions.empty())
    return;
  for (unsigned i = 0; i < pads.size(); ++i) {
    Expr end = o.extents(x)[lead + i] + pads[i].first;
    Expr most = o.assumptions().simplify(Expr::ceilDiv(end, w.dilation[i]));
    if (!o.assumptions().provablyLess(most, w.size[i]))
      continue;
    w.size[i] = most;
    pads[i].second = o.assumptions().simplify(Expr::max(
        (w.positions[i] - Expr(1)) * Expr(w.stride[i]) + w.reach(i) - end,
        Expr(0)));
  }
}

/// Pads `x` along the last dims.
static Result<Value> padded(OpCall &o, Value x, const Pads &pads, double fill) {
  SmallVector<Padding> dims;
  unsigned lead = o.rank(x) - pads.size();
  for (auto [i, p] : llvm::enumerate(pads))
    if (!p.first.isConstant(0) || !p.second.isConstant(0))
      dims.push_back({lead + unsigned(i), p.first, p.second});
  return padConstant(o, x, dims, o.c.scalar(o.element(x), fill));
}

/// The maximum over the last dim and its index: the first of `indices` that
/// holds it, or the last NaN, as in PyTorch. `indices` ascend and are below
/// `none`; -1 marks a missing element.
static std::pair<Value, Value> maximumAt(OpCall &o, Value all, Value indices,
                                         const Expr &none) {
  Composer &c = o.c;
  unsigned last = o.rank(all) - 1;
  Value best = c.reduceMax(all, {last}, false);
  SmallVector<Expr> map = identityMap(last);
  Value spread = c.view(best, o.extents(all), map);
  // A single maximum finds both. The key of a NaN at index i is none + i; that
  // of any other element equal to the maximum is none - 1 - i.
  auto count = [&](Value like) {
    return c.full(o.extents(like), extentValue(o, none, o.i64()));
  };
  Value outside = c.splatInt(indices, -1);
  Value key = c.sub(c.add(count(all), outside), indices);
  key = c.select(c.equal(all, spread), key, outside);
  key = c.select(c.isNan(all), c.add(count(all), indices), key);
  key = c.select(c.less(outside, indices), key, outside);
  Value found = c.reduceMax(key, {last}, false), total = count(found);
  Value place = c.select(c.less(found, total),
                         c.sub(c.add(total, c.splatInt(found, -1)), found),
                         c.sub(found, total));
  return {best, place};
}

template <unsigned n, bool withIndices>
static Status maxPool(OpCall &o) {
  Composer &c = o.c;
  Value x = o.tensor("self");
  LUMINAL_TRY(pool, readPool(o, x, n, /*dilated=*/true));
  dropOutside(o, x, pool);
  auto &[w, pads] = pool;
  unsigned lead = o.rank(x) - n;
  SmallVector<Expr> from = o.extents(x);
  LUMINAL_TRY(v, padded(o, x, pads, -kInf));
  LUMINAL_CHECK(place(o, v, w));
  Value all = windows(o, v, w);
  if (!withIndices)
    return o.ret(c.reduceMax(all, {lead + n}, false));
  // The index of each window element in the unpadded input.
  SmallVector<Expr> space = o.extents(all);
  std::vector<Expr> sizes(w.size.begin(), w.size.end()), place;
  std::vector<Expr> split = delinearize(Expr::dim(lead + n), sizes);
  Value valid;
  for (unsigned i = 0; i < n; ++i) {
    place.push_back(w.index(i, Expr::dim(lead + i), split[i]) - pads[i].first);
    if (pads[i].first.isConstant(0) && pads[i].second.isConstant(0))
      continue;
    Value at = c.iota(space, place.back());
    Value end = c.full(space, extentValue(o, from[lead + i], o.i64()));
    Value inside =
        c.logicalAnd(c.less(c.splatInt(at, -1), at), c.less(at, end));
    valid = valid ? c.logicalAnd(valid, inside) : inside;
  }
  std::vector<Expr> spatial(from.begin() + lead, from.end());
  Value indices = c.iota(space, linearize(place, spatial));
  if (valid)
    indices = c.select(valid, indices, c.splatInt(indices, -1));
  auto [best, index] = maximumAt(o, all, indices, product(spatial));
  return o.ret({best, index});
}

template <unsigned n>
static Status avgPool(OpCall &o) {
  Composer &c = o.c;
  Value x = o.tensor("self");
  LUMINAL_TRY(pool, readPool(o, x, n, /*dilated=*/false));
  auto &[w, pads] = pool;
  bool countPadding = o.flag("count_include_pad");
  std::optional<int64_t> divisor;
  if (n > 1)
    divisor = o.integerOrNone("divisor_override");
  if (divisor == 0)
    return o.fail("the divisor is zero");
  Type type = o.element(x), wide = o.opmath(type);
  unsigned lead = o.rank(x) - n;
  SmallVector<Expr> from = o.extents(x);
  x = c.cast(x, wide);
  Pool seen = pool;
  dropOutside(o, x, seen);
  LUMINAL_TRY(v, padded(o, x, seen.pads, 0));
  LUMINAL_CHECK(place(o, v, seen.window));
  Value sum = c.reduceSum(windows(o, v, seen.window), {lead + n}, false);
  // Elements that ceil_mode adds after the padding are not counted.
  Expr elements(1);
  for (unsigned i = 0; i < n; ++i) {
    auto [before, behind] = pads[i];
    Expr begin = Expr::dim(lead + i) * Expr(w.stride[i]) - before,
         end = begin + w.size[i];
    if (!countPadding)
      begin = Expr::max(begin, Expr(0));
    if (!countPadding || behind != before)
      end = Expr::min(end, from[lead + i] + (countPadding ? before : Expr(0)));
    elements = elements * (end - begin);
  }
  if (divisor)
    elements = Expr(*divisor);
  std::optional<int64_t> same = elements.asConstant();
  Value count = same ? c.splat(sum, static_cast<double>(*same))
                     : c.cast(c.iota(o.extents(sum), elements), o.element(sum));
  return o.ret(c.cast(c.div(sum, count), type));
}

//===----------------------------------------------------------------------===//
// Adaptive pooling
//===----------------------------------------------------------------------===//

/// Window i of `out` over `n` elements is [i n / out, ceil((i + 1) n / out)).
struct Division {
  Expr begin, length; ///< of dim `axis`
  Expr longest;
};
/// The windows that divide `n` elements of a dim into `out` parts.
static Division divide(OpCall &o, unsigned axis, const Expr &n,
                       const Expr &out) {
  Expr whole = o.assumptions().simplify(Expr::floorDiv(n, out)),
       d = Expr::dim(axis);
  if (o.provablyEqual(whole * out, n))
    return {d * whole, whole, whole};
  Expr begin = Expr::floorDiv(d * n, out),
       end = Expr::ceilDiv((d + Expr(1)) * n, out);
  auto extent = n.asConstant(), parts = out.asConstant();
  if (!extent || !parts)
    return {begin, end - begin, Expr::ceilDiv(n, out) + Expr(1)};
  // With n = whole * out + rest, window i begins at the fraction a = i rest mod
  // out of an element, and covers ceil((a + rest) / out) elements besides
  // `whole`. The maximum of a is out - gcd(rest, out).
  int64_t rest = *extent % *parts,
          more = rest == std::gcd(rest, *parts) ? 1 : 2;
  return {begin, end - begin, Expr(*extent / *parts + more)};
}

/// The output sizes of an adaptive pool; None keeps the input's size.
static Result<SmallVector<Expr>> adaptiveSizes(OpCall &o, Value x, unsigned n) {
  SmallVector<Expr> sizes = o.exprs("output_size");
  if (sizes.size() == 1)
    sizes.assign(n, sizes[0]);
  if (sizes.size() != n || o.rank(x) < n + 1 || !o.isFloat(x))
    return o.fail("the input has another rank or dtype than the op takes");
  unsigned lead = o.rank(x) - n;
  for (unsigned i = 0; i < n; ++i)
    if (!o.atMost(Expr(1), o.extents(x)[lead + i]) ||
        !o.atMost(Expr(1), sizes[i]))
      return o.fail("an extent is zero");
  return sizes;
}

template <unsigned n>
static Status adaptiveAvgPool(OpCall &o) {
  Composer &c = o.c;
  Value x = o.tensor("self");
  LUMINAL_TRY(sizes, adaptiveSizes(o, x, n));
  Type type = o.element(x);
  Value v = c.cast(x, o.opmath(type));
  unsigned lead = o.rank(x) - n;
  for (unsigned i = 0; i < n; ++i) {
    unsigned axis = lead + i;
    SmallVector<Expr> extents = o.extents(v), map;
    Expr extent = extents[axis];
    Division w = divide(o, axis, extent, sizes[i]);
    map = identityMap(extents.size());
    unsigned last = extents.size();
    extents[axis] = sizes[i];
    extents.push_back(w.longest);
    map[axis] = w.begin + Expr::dim(last);
    if (w.length == w.longest) {
      v = c.mean(c.view(v, extents, map), {last}, false);
      continue;
    }
    map[axis] = Expr::min(map[axis], extent - Expr(1));
    Value all = c.view(v, extents, map);
    Value in =
        c.less(c.iota(extents, Expr::dim(last)), c.iota(extents, w.length));
    Value sum = c.reduceSum(c.select(in, all, c.splat(all, 0)), {last}, false);
    Value count = c.cast(c.iota(o.extents(sum), w.length), o.element(sum));
    v = c.div(sum, count);
  }
  return o.ret(c.cast(v, type));
}

template <unsigned n>
static Status adaptiveMaxPool(OpCall &o) {
  Composer &c = o.c;
  Value x = o.tensor("self");
  LUMINAL_TRY(sizes, adaptiveSizes(o, x, n));
  unsigned lead = o.rank(x) - n;
  SmallVector<Expr> from = o.extents(x),
                    space(from.begin(), from.begin() + lead), map;
  space.append(sizes);
  SmallVector<Division> parts;
  std::vector<Expr> longest, place;
  for (unsigned i = 0; i < n; ++i) {
    parts.push_back(divide(o, lead + i, from[lead + i], sizes[i]));
    longest.push_back(parts[i].longest);
  }
  space.push_back(product(longest));
  std::vector<Expr> split = delinearize(Expr::dim(lead + n), longest);
  map = identityMap(lead);
  Value valid;
  for (unsigned i = 0; i < n; ++i) {
    place.push_back(parts[i].begin + split[i]);
    if (parts[i].length != parts[i].longest) {
      place[i] = Expr::min(place[i], from[lead + i] - Expr(1));
      Value in =
          c.less(c.iota(space, split[i]), c.iota(space, parts[i].length));
      valid = valid ? c.logicalAnd(valid, in) : in;
    }
    map.push_back(place[i]);
  }
  Value all = c.view(x, space, map);
  std::vector<Expr> spatial(from.begin() + lead, from.end());
  Value indices = c.iota(space, linearize(place, spatial));
  if (valid) {
    all = c.select(valid, all, c.splat(all, -kInf));
    indices = c.select(valid, indices, c.splatInt(indices, -1));
  }
  auto [best, index] = maximumAt(o, all, indices, product(spatial));
  return o.ret({best, index});
}

//===----------------------------------------------------------------------===//
// Max unpooling
//===----------------------------------------------------------------------===//

template <unsigned n>
static Status maxUnpool(OpCall &o) {
  Composer &c = o.c;
  Value x = o.tensor("self"), indices = o.tensor("indices");
  SmallVector<Expr> size = o.exprs("output_size"), from = o.extents(x);
  if (n == 3)
    o.ignore({"stride", "padding"});
  if (size.size() != n || o.rank(x) < n + 1 || o.rank(indices) != o.rank(x) ||
      !o.element(indices).isInteger(64))
    return o.fail("takes maxima and their indices");
  unsigned lead = o.rank(x) - n;
  std::vector<Expr> batch(from.begin(), from.begin() + lead),
      spatial(size.begin(), size.end()), all(from.begin(), from.end());
  std::vector<Expr> index;
  for (unsigned i = 0; i < lead; ++i)
    index.push_back(Expr::dim(i));
  Expr plane = product(spatial);
  Value base = c.iota(from, linearize(index, batch) * plane);
  Value place = c.reshape(c.add(base, indices), {product(all)});
  Value start = c.full({product(batch) * plane}, c.scalar(o.element(x), 0));
  Value flat =
      c.scatter(Combine::Set, start, place, c.reshape(x, {product(all)}));
  SmallVector<Expr> shape(batch.begin(), batch.end());
  shape.append(size);
  return o.ret(c.reshape(flat, shape));
}

//===----------------------------------------------------------------------===//
// im2col and unfold
//===----------------------------------------------------------------------===//

/// Reads the arguments of im2col and col2im.
static Result<Pool> readColumns(OpCall &o) {
  LUMINAL_TRY(size, perDim(o, "kernel_size", 2));
  LUMINAL_TRY(stride, perDim(o, "stride", 2));
  LUMINAL_TRY(pads, perDim(o, "padding", 2));
  LUMINAL_TRY(dilation, perDim(o, "dilation", 2));
  Pool pool{{toExprs(size), stride, dilation, {}}, {}};
  for (unsigned i = 0; i < 2; ++i) {
    if (size[i] <= 0 || stride[i] <= 0 || dilation[i] <= 0)
      return o.fail("a window, stride or dilation is not positive");
    pool.pads.emplace_back(Expr(pads[i]), Expr(pads[i]));
  }
  return pool;
}

static Status im2col(OpCall &o) {
  Composer &c = o.c;
  Value x = o.tensor("self");
  LUMINAL_TRY(pool, readColumns(o));
  auto &[w, pads] = pool;
  if (o.rank(x) < 3 || o.rank(x) > 4)
    return o.fail("takes images");
  bool batched = o.rank(x) == 4;
  if (!batched)
    x = c.unsqueeze(x, 0);
  LUMINAL_TRY(v, padded(o, x, pads, 0));
  LUMINAL_CHECK(place(o, v, w));
  // [batch, channel, positions, window] to [batch, channel and window,
  // position]
  Value all = windows(o, v, w);
  SmallVector<Expr> e = o.extents(all);
  Value y = c.reshape(c.permute(all, {0, 1, 4, 2, 3}),
                      {e[0], e[1] * e[4], e[2] * e[3]});
  return o.ret(batched ? y : c.squeeze(y, 0));
}

static Status col2im(OpCall &o) {
  Composer &c = o.c;
  Value x = o.tensor("self");
  SmallVector<Expr> outs = o.exprs("output_size");
  LUMINAL_TRY(pool, readColumns(o));
  auto &[w, pads] = pool;
  if (o.rank(x) < 2 || o.rank(x) > 3 || outs.size() != 2)
    return o.fail("takes columns and an image's size");
  bool batched = o.rank(x) == 3;
  if (!batched)
    x = c.unsqueeze(x, 0);
  Type type = o.element(x);
  SmallVector<Expr> e = o.extents(x);
  Expr size = w.size[0] * w.size[1], count(1);
  Expr channels = o.assumptions().simplify(Expr::floorDiv(e[1], size));
  SmallVector<Expr> split = {e[0], channels, w.size[0], w.size[1]};
  SmallVector<int64_t> starts;
  for (unsigned i = 0; i < 2; ++i) {
    starts.push_back(*pads[i].first.asConstant());
    Expr rest = outs[i] + Expr(2 * starts[i]) - w.reach(i);
    split.push_back(o.assumptions().simplify(
        Expr::floorDiv(rest, Expr(w.stride[i])) + Expr(1)));
    if (!o.atMost(Expr(0), rest))
      return o.fail("the window is not inside the padded image");
    count = count * split.back();
  }
  if (!o.agree(channels * size, e[1]) || !o.agree(count, e[2]))
    return o.fail("the columns do not fit the image's size");
  Value y =
      fold(o, c.reshape(c.cast(x, o.opmath(type)), split), w, starts, outs);
  y = c.cast(y, type);
  return o.ret(batched ? y : c.squeeze(y, 0));
}

/// Sums the windows that unfold returns, each at its position.
static Status unfoldBackward(OpCall &o) {
  Composer &c = o.c;
  Value x = o.tensor("grad_in");
  SmallVector<Expr> outs = o.exprs("input_sizes"), from = o.extents(x);
  int64_t size = o.integer("size"), step = o.integer("step");
  const unsigned rank = outs.size();
  if (rank == 0 || from.size() != rank + 1 || size < 1 || step < 1 ||
      size > kMaxWindow || step > kMaxWindow)
    return o.fail("takes windows along a dim, and the sizes without them");
  LUMINAL_TRY(axis, o.axis(o.integer("dim"), rank));
  Expr rest = outs[axis] - Expr(size);
  SmallVector<Expr> expected = outs;
  expected[axis] =
      o.assumptions().simplify(Expr::floorDiv(rest, Expr(step)) + Expr(1));
  expected.push_back(Expr(size));
  if (!o.atMost(Expr(0), rest) || !o.agree(expected, from))
    return o.fail("the windows do not fit the sizes");
  Window w{{Expr(size)}, {step}, {1}, {}};
  // The other dims, then the offset in the window and its position.
  SmallVector<unsigned> order, back;
  for (unsigned i = 0; i < rank; ++i) {
    back.push_back(i == axis ? rank - 1 : i - (i > axis));
    if (i != axis)
      order.push_back(i);
  }
  order.append({rank, axis});
  Type type = o.element(x);
  Value y = fold(o, c.permute(c.cast(x, o.opmath(type)), order), w, {0},
                 {outs[axis]});
  return o.ret(c.cast(c.permute(y, back), type));
}

llvm::ArrayRef<OpRow> pt2::getPoolingOps() {
#define LUMINAL_MAX_POOL                                                       \
  "(Tensor self, int[] kernel_size, int[] stride=[], int[] padding=[0], "      \
  "int[] dilation=[1], bool ceil_mode=False)"
#define LUMINAL_AVG_POOL                                                       \
  "(Tensor self, int[] kernel_size, int[] stride=[], int[] padding=[0], "      \
  "bool ceil_mode=False, bool count_include_pad=True"
#define LUMINAL_ADAPTIVE "(Tensor self, SymInt[] output_size)"
#define LUMINAL_COLUMNS                                                        \
  "int[] kernel_size, int[] dilation, int[] padding, int[] stride)"
  static const OpRow rows[] = {
      {"max_pool1d" LUMINAL_MAX_POOL, maxPool<1, false>},
      {"max_pool2d" LUMINAL_MAX_POOL, maxPool<2, false>},
      {"max_pool3d" LUMINAL_MAX_POOL, maxPool<3, false>},
      {"max_pool1d_with_indices" LUMINAL_MAX_POOL, maxPool<1, true>},
      {"max_pool2d_with_indices" LUMINAL_MAX_POOL, maxPool<2, true>},
      {"max_pool3d_with_indices" LUMINAL_MAX_POOL, maxPool<3, true>},
      {"avg_pool1d" LUMINAL_AVG_POOL ")", avgPool<1>},
      {"avg_pool2d" LUMINAL_AVG_POOL ", int? divisor_override=None)",
       avgPool<2>},
      {"avg_pool3d" LUMINAL_AVG_POOL ", int? divisor_override=None)",
       avgPool<3>},
      {"adaptive_avg_pool1d" LUMINAL_ADAPTIVE, adaptiveAvgPool<1>},
      {"adaptive_avg_pool2d" LUMINAL_ADAPTIVE, adaptiveAvgPool<2>},
      {"_adaptive_avg_pool2d" LUMINAL_ADAPTIVE, adaptiveAvgPool<2>},
      {"adaptive_avg_pool3d" LUMINAL_ADAPTIVE, adaptiveAvgPool<3>},
      {"_adaptive_avg_pool3d" LUMINAL_ADAPTIVE, adaptiveAvgPool<3>},
      {"adaptive_max_pool1d" LUMINAL_ADAPTIVE, adaptiveMaxPool<1>},
      {"adaptive_max_pool2d" LUMINAL_ADAPTIVE, adaptiveMaxPool<2>},
      {"adaptive_max_pool3d" LUMINAL_ADAPTIVE, adaptiveMaxPool<3>},
      {"max_unpool2d(Tensor self, Tensor indices, SymInt[] output_size)",
       maxUnpool<2>},
      {"max_unpool3d(Tensor self, Tensor indices, SymInt[] output_size, "
       "int[] stride, int[] padding)",
       maxUnpool<3>},
      {"im2col(Tensor self, " LUMINAL_COLUMNS, im2col},
      {"col2im(Tensor self, SymInt[] output_size, " LUMINAL_COLUMNS, col2im},
      {"unfold_backward(Tensor grad_in, SymInt[] input_sizes, int dim, "
       "int size, int step)",
       unfoldBackward},
  };
  return rows;
}
