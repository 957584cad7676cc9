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

/// How far the last window of ceil_mode reaches past the padded input. A window
/// that would begin in the trailing padding is left out.
static Result<int64_t> ceilReach(OpCall &o, const Expr &extent, int64_t pad,
                                 const Window &w, unsigned i) {
  auto n = extent.asConstant();
  if (!n || *n > kLargestExtent)
    return o.fail("ceil_mode needs static extents of at most " +
                  Twine(kLargestExtent));
  int64_t rest = *n + 2 * pad - w.reach(i), stride = w.stride[i];
  int64_t positions = (rest + stride - 1) / stride + 1;
  if ((positions - 1) * stride >= *n + pad)
    --positions;
  return std::max<int64_t>(0, (positions - 1) * stride - rest);
}

namespace {
/// How far each windowed dim is padded at its start and end.
using Pads = SmallVector<std::pair<int64_t, int64_t>>;

struct Pool {
  Window window;
  Pads pads;
};
} // namespace

/// The arguments of a pool.
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
  w.size = size, w.stride = stride, w.dilation = dilation;
  bool ceil = o.flag("ceil_mode");
  unsigned lead = o.rank(x) - n;
  for (unsigned i = 0; i < n; ++i) {
    int64_t more = 0;
    if (w.stride[i] <= 0 || w.size[i] <= 0 || w.dilation[i] <= 0)
      return o.fail("a window, stride or dilation is not positive");
    if (ceil) {
      LUMINAL_TRY(reach, ceilReach(o, o.extents(x)[lead + i], pads[i], w, i));
      more = reach;
    }
    pool.pads.emplace_back(pads[i], pads[i] + more);
  }
  return pool;
}

/// `x` extended over the last dims.
static Result<Value> padded(OpCall &o, Value x, const Pads &pads, double fill) {
  SmallVector<Padding> dims;
  unsigned lead = o.rank(x) - pads.size();
  for (auto [i, p] : llvm::enumerate(pads))
    if (p.first || p.second)
      dims.push_back({lead + unsigned(i), Expr(p.first), Expr(p.second)});
  return padConstant(o, x, dims, o.c.scalar(o.element(x), fill));
}

/// The maximum over the last dim and its place: the first of `indices` that
/// holds it, or the last NaN, as in PyTorch. `indices` ascend, are below
/// `none`, and -1 where there is no element.
static std::pair<Value, Value> maximumAt(OpCall &o, Value all, Value indices,
                                         const Expr &none) {
  Composer &c = o.c;
  unsigned last = o.rank(all) - 1;
  Value best = c.reduceMax(all, {last}, false);
  SmallVector<Expr> map = identityMap(last);
  Value spread = c.view(best, o.extents(all), map);
  // One maximum finds both: NaN at index i has the key none + i, every other
  // element that is the maximum none - 1 - i.
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
  auto &[w, pads] = pool;
  unsigned lead = o.rank(x) - n;
  SmallVector<Expr> from = o.extents(x);
  LUMINAL_TRY(v, padded(o, x, pads, -kInf));
  LUMINAL_CHECK(place(o, v, w));
  Value all = windows(o, v, w);
  if (!withIndices)
    return o.ret(c.reduceMax(all, {lead + n}, false));
  // The index of each element of each window in the unpadded input.
  SmallVector<Expr> space = o.extents(all);
  std::vector<Expr> sizes, place;
  for (int64_t size : w.size)
    sizes.push_back(Expr(size));
  std::vector<Expr> split = delinearize(Expr::dim(lead + n), sizes);
  Value valid;
  for (unsigned i = 0; i < n; ++i) {
    place.push_back(w.index(i, Expr::dim(lead + i), split[i]) -
                    Expr(pads[i].first));
    if (!pads[i].first && !pads[i].second)
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
  // Elements that ceil_mode adds after the padding do not count.
  Pads counted, rest;
  bool whole = true;
  for (auto [before, behind] : pads) {
    counted.emplace_back(countPadding ? before : 0, countPadding ? before : 0);
    rest.emplace_back(before - counted.back().first,
                      behind - counted.back().second);
    whole &= !rest.back().first && !rest.back().second;
  }
  x = c.cast(x, wide);
  LUMINAL_TRY(inside, padded(o, c.splat(x, 1), counted, 1));
  LUMINAL_TRY(ones, padded(o, inside, rest, 0));
  LUMINAL_TRY(v, padded(o, x, pads, 0));
  LUMINAL_CHECK(place(o, v, w));
  Value sum = c.reduceSum(windows(o, v, w), {lead + n}, false);
  Value count;
  if (divisor || whole) {
    int64_t size = 1;
    for (int64_t s : w.size)
      size *= s;
    count = c.splat(sum, static_cast<double>(divisor.value_or(size)));
  } else {
    count = c.reduceSum(windows(o, ones, w), {lead + n}, false);
  }
  return o.ret(c.cast(c.div(sum, count), type));
}

//===----------------------------------------------------------------------===//
// Windows that divide a dim
//===----------------------------------------------------------------------===//

/// Window i of `out` over `n` elements is [i n / out, ceil((i + 1) n / out)).
struct Division {
  Expr begin, length; ///< of dim `axis`
  Expr longest;
};
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
  // out of an element, and covers ceil((a + rest) / out) elements beside whole.
  // The greatest a is out - gcd(rest, out).
  int64_t rest = *extent % *parts,
          more = rest == std::gcd(rest, *parts) ? 1 : 2;
  return {begin, end - begin, Expr(*extent / *parts + more)};
}

/// The sizes of an adaptive pool; None keeps the input's.
static Result<SmallVector<Expr>> adaptiveSizes(OpCall &o, Value x, unsigned n) {
  SmallVector<Expr> sizes = o.exprs("output_size");
  if (sizes.size() == 1)
    sizes.assign(n, sizes[0]);
  if (sizes.size() != n || o.rank(x) < n + 1 || !o.isFloat(x))
    return o.fail("the input has another rank or dtype than the op takes");
  unsigned lead = o.rank(x) - n;
  for (unsigned i = 0; i < n; ++i)
    if (!o.assumptions().provablyLessEqual(Expr(1), o.extents(x)[lead + i]) ||
        !o.assumptions().provablyLessEqual(Expr(1), sizes[i]))
      return o.fail("an extent may be zero");
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
// Back to the places of maxima
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
// Columns
//===----------------------------------------------------------------------===//

/// The arguments of columns of windows.
static Result<Pool> readColumns(OpCall &o) {
  LUMINAL_TRY(size, perDim(o, "kernel_size", 2));
  LUMINAL_TRY(stride, perDim(o, "stride", 2));
  LUMINAL_TRY(pads, perDim(o, "padding", 2));
  LUMINAL_TRY(dilation, perDim(o, "dilation", 2));
  Pool pool{{size, stride, dilation, {}}, {}};
  for (unsigned i = 0; i < 2; ++i) {
    if (size[i] <= 0 || stride[i] <= 0 || dilation[i] <= 0)
      return o.fail("a window, stride or dilation is not positive");
    pool.pads.emplace_back(pads[i], pads[i]);
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
  Expr size(w.size[0] * w.size[1]), count(1);
  Expr channels = o.assumptions().simplify(Expr::floorDiv(e[1], size));
  SmallVector<Expr> split = {e[0], channels, Expr(w.size[0]), Expr(w.size[1])};
  for (unsigned i = 0; i < 2; ++i) {
    Expr rest = outs[i] + Expr(2 * pads[i].first - w.reach(i));
    split.push_back(o.assumptions().simplify(
        Expr::floorDiv(rest, Expr(w.stride[i])) + Expr(1)));
    if (!o.assumptions().provablyLessEqual(Expr(1), split.back()))
      return o.fail("the window is not provably inside the padded image");
    count = count * split.back();
  }
  if (!o.provablyEqual(channels * size, e[1]) || !o.provablyEqual(count, e[2]))
    return o.fail("the columns do not fit the image's size");
  Value y = fold(o, c.reshape(c.cast(x, o.opmath(type)), split), w,
                 {pads[0].first, pads[1].first}, outs);
  y = c.cast(y, type);
  return o.ret(batched ? y : c.squeeze(y, 0));
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
  };
  return rows;
}
