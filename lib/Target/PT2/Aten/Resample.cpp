//===- Resample.cpp - Interpolation and sampling of grids -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every interpolation kernel is separable, so dims are processed one after the
// other. If a result's coordinate in the source is a ratio of integers, its
// integer part becomes the index of a view, and its fraction is computed from
// an iota. Otherwise both are computed, and rows are gathered.
//
//===----------------------------------------------------------------------===//

#include "Resample.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace mlir;
using namespace luminal;
using namespace luminal::hlir;
using namespace luminal::pt2;

namespace {
enum class Kernel { Nearest, NearestExact, Linear, Cubic };

/// The coordinate of a result element in the source, whole + fraction, not
/// clamped to the source.
struct Coordinate {
  std::optional<Expr> whole; ///< of dim `axis`; absent where only computed
  Value computed;            ///< [out], i64
  Value fraction;            ///< [out], of the type computed in
};
} // namespace

/// Writes `value` exactly as numerator / denominator with a small denominator.
static std::optional<std::pair<int64_t, int64_t>> asRatio(double value) {
  for (int64_t d = 1; d <= 4096; ++d) {
    double n = std::nearbyint(value * static_cast<double>(d));
    if (n >= 1 && n < 1e6 && n / static_cast<double>(d) == value)
      return std::pair(static_cast<int64_t>(n), d);
  }
  return std::nullopt;
}

static Value take(OpCall &o, Value x, unsigned axis, const Expr &out,
                  const Expr &index) {
  SmallVector<Expr> extents = o.extents(x), map;
  for (unsigned i = 0; i < extents.size(); ++i)
    map.push_back(i == axis ? index : Expr::dim(i));
  extents[axis] = out;
  return o.c.view(x, extents, map);
}

/// The rows of x along `axis` at the coordinate's index plus `offset`, clamped.
static Value takeClamped(OpCall &o, Value x, const Resampled &r,
                         const Coordinate &at, int64_t offset) {
  Expr last = r.in - Expr(1);
  if (at.whole)
    return take(o, x, r.axis, r.out,
                Expr::max(Expr::min(*at.whole + Expr(offset), last), Expr(0)));
  Composer &c = o.c;
  Value i = at.computed;
  if (offset)
    i = c.add(i, c.splatInt(i, offset));
  i = c.minimum(i, c.full({r.out}, extentValue(o, last, o.i64())));
  i = c.maximum(i, c.splatInt(i, 0));
  auto order = llvm::to_vector(llvm::seq<unsigned>(0, o.rank(x)));
  std::swap(order[0], order[r.axis]);
  return c.permute(c.gather(c.permute(x, order), i), order);
}

Value pt2::stepOf(OpCall &o, const Resampled &r) {
  Composer &c = o.c;
  Type f64 = c.getBuilder().getF64Type();
  if (!r.alignCorners)
    return r.scale
               ? c.scalar(f64, 1.0 / *r.scale)
               : c.div(extentValue(o, r.in, f64), extentValue(o, r.out, f64));
  // A single element has no step: its coordinate is 0.
  Value out = extentValue(o, r.out - Expr(1), f64);
  return c.select(c.less(out, c.splat(out, 1)), c.splat(out, 0),
                  c.div(extentValue(o, r.in - Expr(1), f64), out));
}

/// out * step, or (out + 1/2) * step - 1/2 if corners are not aligned.
static Coordinate locate(OpCall &o, const Resampled &r, bool clampLow,
                         Type wide) {
  Composer &c = o.c;
  Coordinate at;
  std::optional<std::pair<Expr, Expr>> ratio;
  if (r.alignCorners)
    ratio = r.out.isConstant(1) ? std::pair(Expr(0), Expr(1))
                                : std::pair(r.in - Expr(1), r.out - Expr(1));
  else if (!r.scale)
    ratio = {r.in, r.out};
  else if (auto known = asRatio(*r.scale))
    ratio = {Expr(known->second), Expr(known->first)};
  if (ratio && r.alignCorners &&
      !o.assumptions().provablyLessEqual(Expr(1), ratio->second))
    ratio.reset();
  if (ratio) {
    Expr d = Expr::dim(r.axis), numerator = d * ratio->first,
         denominator = ratio->second;
    if (!r.alignCorners) {
      numerator = (Expr(2) * d + Expr(1)) * ratio->first - ratio->second;
      denominator = Expr(2) * ratio->second;
    }
    if (clampLow)
      numerator = Expr::max(numerator, Expr(0));
    at.whole = Expr::floorDiv(numerator, denominator);
    Expr part = Expr::mod(numerator, denominator)
                    .substitute([](const Expr &leaf) -> std::optional<Expr> {
                      if (leaf.asDim())
                        return Expr::dim(0);
                      return std::nullopt;
                    });
    Type f64 = c.getBuilder().getF64Type();
    Value below = c.cast(c.iota({r.out}, part), f64);
    Value over = c.full({r.out}, extentValue(o, denominator, f64));
    at.fraction = c.cast(c.div(below, over), wide);
    return at;
  }
  Type f64 = c.getBuilder().getF64Type();
  Value i = c.cast(c.iota({r.out}, Expr::dim(0)), f64);
  Value step = c.full({r.out}, stepOf(o, r));
  Value source = c.mul(i, step);
  if (!r.alignCorners) {
    source = c.mul(c.add(i, c.splat(i, 0.5)), step);
    source = c.sub(source, c.splat(i, 0.5));
  }
  if (clampLow)
    source = c.maximum(source, c.splat(source, 0));
  Value whole = c.floor(source);
  at.computed = c.cast(whole, o.i64());
  at.fraction = c.cast(c.sub(source, whole), wide);
  return at;
}

/// The index that PyTorch computes for element i, in float arithmetic of type
/// T.
template <typename T>
static int64_t nearestIndex(int64_t i, int64_t in, int64_t out,
                            std::optional<double> scale, bool exact) {
  T step = scale ? static_cast<T>(1.0 / *scale)
                 : static_cast<T>(in) / static_cast<T>(out);
  T at = static_cast<T>(i) * step;
  if (exact) {
    at = step * (static_cast<T>(i) + static_cast<T>(0.5)) - static_cast<T>(0.5);
    at = std::max(at, static_cast<T>(0)) + static_cast<T>(0.5);
  }
  // With a tiny scale, the index exceeds any integer.
  at = std::floor(at);
  return at < static_cast<T>(in) ? std::min(static_cast<int64_t>(at), in - 1)
                                 : in - 1;
}

/// Nearest-neighbor interpolation along one dim.
static Result<Value> nearest(OpCall &o, Value x, const Resampled &r,
                             bool exact) {
  constexpr int64_t maxPositions = 1 << 20;
  Composer &c = o.c;
  Expr first = r.in, second = r.out, d = Expr::dim(r.axis);
  auto known = r.scale ? asRatio(*r.scale) : std::nullopt;
  if (known)
    first = Expr(known->second), second = Expr(known->first);
  Expr index =
      exact ? Expr::floorDiv((Expr(2) * d + Expr(1)) * first, Expr(2) * second)
            : Expr::floorDiv(d * first, second);
  // With an integer factor, the last index is always inside the source.
  if (!o.provablyEqual(first * r.out, second * r.in))
    index = Expr::min(index, r.in - Expr(1));
  bool ratio = known || !r.scale;
  auto in = r.in.asConstant(), out = r.out.asConstant();
  if (ratio && (!in || !out))
    return take(o, x, r.axis, r.out, index);
  if (!in || !out) {
    Coordinate at;
    Type type = o.element(x).isF64() ? o.element(x) : o.f32();
    Value i = c.cast(c.iota({r.out}, Expr::dim(0)), type);
    if (exact)
      i = c.add(i, c.splat(i, 0.5));
    at.computed = c.cast(c.mul(i, c.splat(i, 1.0 / *r.scale)), o.i64());
    return takeClamped(o, x, r, at, 0);
  }
  // Compute the indices at import, with PyTorch's rounding, which may select
  // other elements.
  if (*out > maxPositions)
    return o.fail("gives more than " + Twine(maxPositions) +
                  " elements along a dim");
  SmallVector<int64_t> table;
  bool same = ratio;
  std::vector<int64_t> dims(r.axis + 1, 0);
  for (int64_t i = 0; i < *out; ++i) {
    dims[r.axis] = i;
    table.push_back(o.element(x).isF64()
                        ? nearestIndex<double>(i, *in, *out, r.scale, exact)
                        : nearestIndex<float>(i, *in, *out, r.scale, exact));
    same = same && index.evaluate([](auto) { return std::nullopt; }, dims) ==
                       table.back();
  }
  if (same)
    return take(o, x, r.axis, r.out, index);
  auto type = RankedTensorType::get({*out}, o.i64());
  Coordinate at;
  at.computed = ConstantOp::create(c.getBuilder(), c.getLoc(), type,
                                   DenseIntElementsAttr::get(type, table));
  return takeClamped(o, x, r, at, 0);
}

/// Broadcasts one value per index of `axis` to the shape of `like`.
static Value along(OpCall &o, Value v, Value like, unsigned axis) {
  return o.c.view(v, o.extents(like), {Expr::dim(axis)});
}

static Value linear(OpCall &o, Value x, const Resampled &r) {
  Composer &c = o.c;
  Coordinate at = locate(o, r, /*clampLow=*/true, o.element(x));
  Value low = takeClamped(o, x, r, at, 0), high = takeClamped(o, x, r, at, 1);
  Value back = c.sub(c.splat(at.fraction, 1), at.fraction);
  return c.add(c.mul(along(o, back, low, r.axis), low),
               c.mul(along(o, at.fraction, low, r.axis), high));
}

/// ((a x + b) x + c) x + d
static Value cubicOf(Composer &c, Value x, ArrayRef<double> coefficients) {
  Value sum = c.splat(x, coefficients[0]);
  for (double k : coefficients.drop_front())
    sum = c.add(c.mul(sum, x), c.splat(x, k));
  return sum;
}
/// Keys' cubic kernel at distance x: up to 1, and from 1 to 2.
static Value cubicNear(Composer &c, Value x, double a) {
  return cubicOf(c, x, {a + 2, -(a + 3), 0, 1});
}
static Value cubicFar(Composer &c, Value x, double a) {
  return cubicOf(c, x, {a, -5 * a, 8 * a, -4 * a});
}
/// The weights of the four elements around a coordinate with this fraction.
static SmallVector<Value> cubicWeights(Composer &c, Value t) {
  constexpr double a = -0.75;
  Value back = c.sub(c.splat(t, 1), t);
  return {cubicFar(c, c.add(t, c.splat(t, 1)), a), cubicNear(c, t, a),
          cubicNear(c, back, a), cubicFar(c, c.add(back, c.splat(t, 1)), a)};
}

static Value cubic(OpCall &o, Value x, const Resampled &r) {
  Coordinate at = locate(o, r, /*clampLow=*/false, o.element(x));
  Value sum;
  for (auto [k, weight] : llvm::enumerate(cubicWeights(o.c, at.fraction))) {
    Value v = takeClamped(o, x, r, at, static_cast<int64_t>(k) - 1);
    Value term = o.c.mul(along(o, weight, v, r.axis), v);
    sum = sum ? o.c.add(sum, term) : term;
  }
  return sum;
}

Value pt2::kernelAt(Composer &c, Value distance, bool isCubic, double a) {
  Value one = c.splat(distance, 1), zero = c.splat(distance, 0);
  if (!isCubic)
    return c.maximum(c.sub(one, distance), zero);
  Value far = c.select(c.less(distance, c.splat(distance, 2)),
                       cubicFar(c, distance, a), zero);
  return c.select(c.less(distance, one), cubicNear(c, distance, a), far);
}

/// Uses a kernel that is widened by the step if that is above 1. Each result is
/// the normalized sum over all elements, most of which have weight 0.
static Value antialiased(OpCall &o, Value x, const Resampled &r, bool isCubic) {
  Composer &c = o.c;
  Type f64 = c.getBuilder().getF64Type();
  SmallVector<Expr> space = {r.out, r.in};
  Value step = c.full(space, stepOf(o, r));
  Value i = c.cast(c.iota(space, Expr::dim(0)), f64),
        j = c.cast(c.iota(space, Expr::dim(1)), f64);
  Value half = c.splat(i, 0.5), one = c.splat(i, 1);
  Value center = c.mul(c.add(i, half), step);
  Value distance =
      c.abs(c.div(c.add(c.sub(j, center), half), c.maximum(step, one)));
  Value weight = kernelAt(c, distance, isCubic, -0.5);
  Value total = c.reduceSum(weight, {1}, false);
  weight = c.div(weight, c.view(total, space, {Expr::dim(0)}));
  auto order = llvm::to_vector(llvm::seq<unsigned>(0, o.rank(x)));
  std::swap(order.back(), order[r.axis]);
  Value last = c.permute(x, order);
  return c.permute(c.linear(last, c.cast(weight, o.element(x))), order);
}

template <unsigned n, Kernel kernel, bool antialias = false>
static Status upsample(OpCall &o) {
  StringRef name = o.entry.name;
  bool vec = name.ends_with(".vec");
  Value x = o.tensor(vec ? "input" : "self");
  if (o.rank(x) != n + 2)
    return o.fail("the input has another rank than the op takes");
  bool copies = kernel == Kernel::Nearest || kernel == Kernel::NearestExact;
  bool bytes = !copies && o.element(x).isUnsignedInteger(8);
  if (!o.isFloat(x) && !copies && !(bytes && n == 2))
    return o.fail("is supported for floats only, and in two dims for bytes");
  bool corners = false;
  if (kernel == Kernel::Linear || kernel == Kernel::Cubic)
    corners = o.flag("align_corners");
  SmallVector<std::optional<double>> scales(n);
  SmallVector<Expr> outs;
  if (auto size = o.exprsOrNone("output_size"))
    outs = *size;
  if (vec) {
    if (auto given = o.realsOrNone("scale_factors"))
      for (unsigned i = 0; i < std::min<size_t>(n, given->size()); ++i)
        scales[i] = (*given)[i];
  } else if (n == 1) {
    scales[0] = o.realOrNone("scales");
  } else {
    constexpr StringRef names[] = {"scales_d", "scales_h", "scales_w"};
    for (unsigned i = 0; i < n; ++i)
      scales[i] = o.realOrNone(names[3 - n + i]);
  }
  if (outs.empty()) {
    const TensorMeta *meta = o.resultMeta();
    if (!meta || meta->sizes.size() != n + 2)
      return o.fail("the archive does not state the result's shape");
    outs.assign(meta->sizes.begin() + 2, meta->sizes.end());
  }
  if (outs.size() != n)
    return o.fail("output_size has another length than the dims resampled");

  Type type = o.element(x);
  Value v = copies || bytes ? x : o.c.cast(x, o.opmath(type));
  for (unsigned k = 0; k < n; ++k) {
    // Bytes are rounded after each dim, in PyTorch's order: last dim first.
    unsigned i = bytes ? n - 1 - k : k;
    Resampled r{i + 2, o.extents(v)[i + 2], outs[i], scales[i], corners};
    if (r.scale && !(*r.scale > 0))
      r.scale.reset();
    if (!o.atMost(Expr(1), r.in) || !o.atMost(Expr(0), r.out))
      return o.fail("extent " + r.in.str() + " of a resampled dim is zero");
    if (o.provablyEqual(r.in, r.out) &&
        (bytes || corners || !r.scale || *r.scale == 1))
      continue;
    if (copies) {
      LUMINAL_TRY(taken, nearest(o, v, r, kernel == Kernel::NearestExact));
      v = taken;
    } else if (bytes) {
      v = resampleBytes(o, v, r, kernel == Kernel::Cubic, antialias);
    } else if (antialias)
      v = antialiased(o, v, r, kernel == Kernel::Cubic);
    else
      v = kernel == Kernel::Linear ? linear(o, v, r) : cubic(o, v, r);
  }
  return o.ret(o.c.cast(v, type));
}

//===----------------------------------------------------------------------===//
// Sampling at given coordinates
//===----------------------------------------------------------------------===//

namespace {
/// Reads a batch of images at computed coordinates.
struct Sampler {
  OpCall &o;
  unsigned n;               ///< spatial dims
  Value rows;               ///< [batch * spatial, channel]
  SmallVector<Expr> in;     ///< spatial extents
  SmallVector<Expr> points; ///< [batch, positions...]
  enum Padding { Zeros, Border, Reflection } padding;
  bool corners;

  Value extent(unsigned i, Type type, int64_t less = 0) const {
    return o.c.full(points, extentValue(o, in[i] - Expr(less), type));
  }

  /// Reflects at low / 2 and high / 2 until x is inside.
  Value reflect(Value x, Value twiceLow, Value twiceHigh) const {
    Composer &c = o.c;
    Value half = c.splat(x, 0.5);
    Value low = c.mul(twiceLow, half),
          span = c.mul(c.sub(twiceHigh, twiceLow), half);
    Value distance = c.abs(c.sub(x, low));
    Value extra = c.fmod(distance, span);
    Value flips = c.floor(c.div(distance, span));
    Value odd = c.less(half, c.fmod(flips, c.splat(x, 2)));
    Value folded =
        c.select(odd, c.add(c.sub(span, extra), low), c.add(extra, low));
    // A dim with a single element has no span.
    return c.select(c.less(c.splat(x, 0), span), folded, c.splat(x, 0));
  }

  /// Moves the coordinate inside the image as the padding mode says.
  Value inside(Value x, unsigned i) const {
    Composer &c = o.c;
    if (padding == Zeros)
      return x;
    Type type = o.element(x);
    Value last = extent(i, type, 1), zero = c.splat(x, 0);
    if (padding == Reflection) {
      Value two = c.splat(x, 2);
      x = corners ? reflect(x, zero, c.mul(last, two))
                  : reflect(x, c.splat(x, -1),
                            c.sub(c.mul(extent(i, type), two), c.splat(x, 1)));
    }
    // PyTorch clamps NaN to the start for images, and to the end for volumes.
    if (n == 2)
      return c.select(c.less(zero, x), c.select(c.less(x, last), x, last),
                      zero);
    return c.select(c.less(x, last), c.select(c.less(zero, x), x, zero), last);
  }

  /// Converts an integral coordinate to an index; NaN is outside.
  Value index(Value x) const {
    Composer &c = o.c;
    if (padding == Zeros)
      x = c.select(c.isNan(x), c.splat(x, -1), x);
    return c.cast(x, o.i64());
  }

  /// Converts a coordinate in [-1, 1] to element units.
  Value scaled(Value x, unsigned i) const {
    Composer &c = o.c;
    Type type = o.element(x);
    Value one = c.splat(x, 1), half = c.splat(x, 0.5);
    if (corners)
      return c.mul(c.mul(c.add(x, one), half), extent(i, type, 1));
    return c.mul(c.sub(c.mul(c.add(x, one), extent(i, type)), one), half);
  }

  /// Elements at integral coordinates, times a weight if given: [batch,
  /// positions..., channel]. Elements outside are zero; if the weight is NaN,
  /// they are NaN for images but not for volumes, as in PyTorch.
  Value read(ArrayRef<Value> at, Value weight = {}) const {
    Composer &c = o.c;
    Value position = c.iota(points, Expr::dim(0)), valid;
    for (unsigned i = 0; i < n; ++i) {
      Value last = extent(i, o.i64(), 1), zero = c.splatInt(position, 0);
      Value held = c.minimum(c.maximum(at[i], zero), last);
      Value fits = c.equal(held, at[i]);
      valid = valid ? c.logicalAnd(valid, fits) : fits;
      position = c.add(c.mul(position, extent(i, o.i64())), held);
    }
    Value v = c.gather(rows, position);
    SmallVector<Expr> map = identityMap(points.size());
    auto masked = [&](Value v) {
      return c.select(c.view(valid, o.extents(v), map), v, c.splat(v, 0));
    };
    auto weighted = [&](Value v) {
      return weight ? c.mul(v, c.view(weight, o.extents(v), map)) : v;
    };
    return n == 2 ? weighted(masked(v)) : masked(weighted(v));
  }
};
} // namespace

static Status gridSampler(OpCall &o) {
  Composer &c = o.c;
  Value x = o.tensor("input"), grid = o.tensor("grid");
  int64_t mode = o.integer("interpolation_mode"),
          padding = o.integer("padding_mode");
  unsigned n = o.rank(x) - 2;
  if (o.rank(x) < 4 || o.rank(x) > 5 || o.rank(grid) != n + 2 ||
      !o.extents(grid)[n + 1].isConstant(n) ||
      !o.agree(o.extents(grid)[0], o.extents(x)[0]) || !o.isFloat(x) ||
      o.element(grid) != o.element(x))
    return o.fail("takes a batch of images and one grid for each");
  if (mode < 0 || mode > 2 || padding < 0 || padding > 2 ||
      (mode == 2 && n != 2))
    return o.fail("interpolation or padding mode is not known");
  Type type = o.element(x), wide = o.opmath(type);
  SmallVector<Expr> from = o.extents(x), all = o.extents(grid);
  for (const Expr &e : ArrayRef(from).drop_front(2))
    if (!o.atMost(Expr(1), e))
      return o.fail("extent " + e.str() + " of a sampled dim is zero");
  Sampler s{o,
            n,
            {},
            {},
            {},
            static_cast<Sampler::Padding>(padding),
            o.flag("align_corners")};
  s.in.assign(from.begin() + 2, from.end());
  s.points.assign(all.begin(), all.end() - 1);
  SmallVector<unsigned> order = {0};
  for (unsigned i = 0; i < n; ++i)
    order.push_back(i + 2);
  order.push_back(1);
  std::vector<Expr> flat(s.in.begin(), s.in.end());
  flat.push_back(from[0]);
  s.rows =
      c.reshape(c.permute(c.cast(x, wide), order), {product(flat), from[1]});

  // The grid's last dim lists coordinates from the innermost image dim out.
  SmallVector<Value> at;
  SmallVector<Expr> map = identityMap(s.points.size());
  map.push_back(Expr(0));
  for (unsigned i = 0; i < n; ++i) {
    map.back() = Expr(int64_t(n - 1 - i));
    Value v = s.scaled(c.view(c.cast(grid, wide), s.points, map), i);
    at.push_back(mode == 2 ? v : s.inside(v, i));
  }
  Value result;
  auto add = [&](ArrayRef<Value> where, Value weight) {
    Value term = s.read(where, weight);
    result = result ? c.add(result, term) : term;
  };
  if (mode == 1) {
    SmallVector<Value> where;
    for (Value v : at)
      where.push_back(s.index(c.round(v)));
    result = s.read(where);
  } else if (mode == 0) {
    SmallVector<Value> low, fraction;
    for (Value v : at) {
      low.push_back(c.floor(v));
      fraction.push_back(c.sub(v, low.back()));
    }
    for (unsigned corner = 0; corner < (1u << n); ++corner) {
      SmallVector<Value> where;
      Value weight;
      for (unsigned i = 0; i < n; ++i) {
        bool high = corner >> i & 1;
        Value one = c.splat(low[i], 1);
        where.push_back(s.index(high ? c.add(low[i], one) : low[i]));
        Value w = high ? fraction[i] : c.sub(one, fraction[i]);
        weight = weight ? c.mul(weight, w) : w;
      }
      add(where, weight);
    }
  } else {
    Value low[2];
    SmallVector<Value> weights[2];
    for (unsigned i = 0; i < 2; ++i) {
      low[i] = c.floor(at[i]);
      weights[i] = cubicWeights(c, c.sub(at[i], low[i]));
    }
    for (int64_t a = 0; a < 4; ++a)
      for (int64_t b = 0; b < 4; ++b) {
        int64_t offsets[] = {a, b};
        SmallVector<Value> where;
        for (unsigned i = 0; i < 2; ++i) {
          Value v = c.add(low[i], c.splat(low[i], double(offsets[i] - 1)));
          where.push_back(s.index(s.inside(v, i)));
        }
        add(where, c.mul(weights[0][a], weights[1][b]));
      }
  }
  // [batch, channel, positions...]
  SmallVector<unsigned> back = {0, n + 1};
  for (unsigned i = 0; i < n; ++i)
    back.push_back(i + 1);
  return o.ret(c.cast(c.permute(result, back), type));
}

/// theta times the coordinates of a grid over [-1, 1].
static Status affineGrid(OpCall &o) {
  Composer &c = o.c;
  Value theta = o.tensor("theta");
  SmallVector<Expr> size = o.exprs("size");
  bool corners = o.flag("align_corners");
  unsigned n = size.size() - 2;
  if (size.size() < 4 || size.size() > 5 || o.rank(theta) != 3 ||
      !o.extents(theta)[1].isConstant(n) ||
      !o.extents(theta)[2].isConstant(n + 1) || !o.isFloat(theta))
    return o.fail("takes one affine map for each image");
  Type type = o.element(theta), wide = o.opmath(type);
  Type f64 = c.getBuilder().getF64Type();
  SmallVector<Expr> space(size.begin() + 2, size.end());
  Value result;
  SmallVector<Expr> outs = {size[0]};
  outs.append(space.begin(), space.end());
  outs.push_back(Expr(int64_t(n)));
  for (unsigned k = 0; k <= n; ++k) {
    Value factor = c.view(c.cast(theta, wide), outs,
                          {Expr::dim(0), Expr::dim(n + 1), Expr(int64_t(k))});
    Value term = factor;
    if (k < n) {
      // Coordinate k counts from the innermost dim.
      unsigned axis = n - 1 - k;
      const Expr &extent = space[axis];
      Expr less(corners ? 1 : 0), shift(corners ? 0 : 1);
      Value i = c.cast(
          c.iota(outs, Expr(2) * Expr::dim(axis + 1) + shift - extent + less),
          f64);
      Value over =
          c.full(outs, extentValue(o, Expr::max(extent - less, Expr(1)), f64));
      // If corners are aligned, a single element is at 0.
      term = c.mul(c.cast(c.div(i, over), wide), factor);
    }
    result = result ? c.add(result, term) : term;
  }
  return o.ret(c.cast(result, type));
}

//===----------------------------------------------------------------------===//
// Pixel and channel shuffles
//===----------------------------------------------------------------------===//

static Status pixelShuffle(OpCall &o) {
  Value x = o.tensor("self");
  Expr r(o.integer("upscale_factor"));
  unsigned lead = o.rank(x) - 3;
  if (o.rank(x) < 3 || *r.asConstant() <= 0)
    return o.fail("takes images and a positive factor");
  SmallVector<Expr> extents = o.extents(x), map;
  Expr outs = o.assumptions().simplify(Expr::floorDiv(extents[lead], r * r));
  if (!o.agree(outs * r * r, extents[lead]))
    return o.fail("the channels do not divide by the factor's square");
  map = identityMap(lead);
  Expr h = Expr::dim(lead + 1), w = Expr::dim(lead + 2);
  map.push_back((Expr::dim(lead) * r + Expr::mod(h, r)) * r + Expr::mod(w, r));
  map.append({Expr::floorDiv(h, r), Expr::floorDiv(w, r)});
  extents[lead] = outs;
  extents[lead + 1] = extents[lead + 1] * r;
  extents[lead + 2] = extents[lead + 2] * r;
  return o.ret(o.c.view(x, extents, map));
}

static Status pixelUnshuffle(OpCall &o) {
  Value x = o.tensor("self");
  Expr r(o.integer("downscale_factor"));
  unsigned lead = o.rank(x) - 3;
  if (o.rank(x) < 3 || *r.asConstant() <= 0)
    return o.fail("takes images and a positive factor");
  SmallVector<Expr> extents = o.extents(x), map = identityMap(lead);
  Expr channel = Expr::dim(lead);
  map.push_back(Expr::floorDiv(channel, r * r));
  map.push_back(Expr::dim(lead + 1) * r +
                Expr::mod(Expr::floorDiv(channel, r), r));
  map.push_back(Expr::dim(lead + 2) * r + Expr::mod(channel, r));
  for (unsigned i = lead + 1; i < lead + 3; ++i) {
    Expr out = o.assumptions().simplify(Expr::floorDiv(extents[i], r));
    if (!o.agree(out * r, extents[i]))
      return o.fail("extent " + extents[i].str() +
                    " does not divide by the factor");
    extents[i] = out;
  }
  extents[lead] = extents[lead] * r * r;
  return o.ret(o.c.view(x, extents, map));
}

static Status channelShuffle(OpCall &o) {
  Value x = o.tensor("self");
  Expr groups = o.expr("groups");
  if (o.rank(x) < 3)
    return o.fail("takes a batch with channels");
  SmallVector<Expr> extents = o.extents(x), split = extents;
  Expr inner = o.assumptions().simplify(Expr::floorDiv(extents[1], groups));
  if (!o.atMost(Expr(1), groups) || !o.agree(inner * groups, extents[1]))
    return o.fail("the channels do not divide into the groups");
  split[1] = inner;
  split.insert(split.begin() + 1, groups);
  auto order = llvm::to_vector(llvm::seq<unsigned>(0, split.size()));
  std::swap(order[1], order[2]);
  return o.ret(o.c.reshape(o.c.permute(o.c.reshape(x, split), order), extents));
}

llvm::ArrayRef<OpRow> pt2::getResampleOps() {
  using K = Kernel;
#define LUMINAL_BY_FACTOR                                                      \
  "(Tensor input, SymInt[]? output_size, FloatList? scale_factors)"
#define LUMINAL_ALIGNED_BY_FACTOR                                              \
  "(Tensor input, SymInt[]? output_size, bool align_corners, "                 \
  "FloatList? scale_factors)"
#define LUMINAL_SCALES_1 "float? scales=None)"
#define LUMINAL_SCALES_2 "float? scales_h=None, float? scales_w=None)"
#define LUMINAL_SCALES_3                                                       \
  "float? scales_d=None, float? scales_h=None, float? scales_w=None)"
#define LUMINAL_TO_SIZE "(Tensor self, SymInt[] output_size, "
#define LUMINAL_ALIGNED_TO_SIZE                                                \
  "(Tensor self, SymInt[] output_size, bool align_corners, "
  static const OpRow rows[] = {
      {"upsample_nearest1d.vec" LUMINAL_BY_FACTOR, upsample<1, K::Nearest>},
      {"upsample_nearest2d.vec" LUMINAL_BY_FACTOR, upsample<2, K::Nearest>},
      {"upsample_nearest3d.vec" LUMINAL_BY_FACTOR, upsample<3, K::Nearest>},
      {"upsample_nearest1d" LUMINAL_TO_SIZE LUMINAL_SCALES_1,
       upsample<1, K::Nearest>},
      {"upsample_nearest2d" LUMINAL_TO_SIZE LUMINAL_SCALES_2,
       upsample<2, K::Nearest>},
      {"upsample_nearest3d" LUMINAL_TO_SIZE LUMINAL_SCALES_3,
       upsample<3, K::Nearest>},
      {"_upsample_nearest_exact1d.vec" LUMINAL_BY_FACTOR,
       upsample<1, K::NearestExact>},
      {"_upsample_nearest_exact2d.vec" LUMINAL_BY_FACTOR,
       upsample<2, K::NearestExact>},
      {"_upsample_nearest_exact3d.vec" LUMINAL_BY_FACTOR,
       upsample<3, K::NearestExact>},
      {"_upsample_nearest_exact1d" LUMINAL_TO_SIZE LUMINAL_SCALES_1,
       upsample<1, K::NearestExact>},
      {"_upsample_nearest_exact2d" LUMINAL_TO_SIZE LUMINAL_SCALES_2,
       upsample<2, K::NearestExact>},
      {"_upsample_nearest_exact3d" LUMINAL_TO_SIZE LUMINAL_SCALES_3,
       upsample<3, K::NearestExact>},
      {"upsample_linear1d.vec" LUMINAL_ALIGNED_BY_FACTOR,
       upsample<1, K::Linear>},
      {"upsample_bilinear2d.vec" LUMINAL_ALIGNED_BY_FACTOR,
       upsample<2, K::Linear>},
      {"upsample_trilinear3d.vec" LUMINAL_ALIGNED_BY_FACTOR,
       upsample<3, K::Linear>},
      {"upsample_bicubic2d.vec" LUMINAL_ALIGNED_BY_FACTOR,
       upsample<2, K::Cubic>},
      {"upsample_linear1d" LUMINAL_ALIGNED_TO_SIZE LUMINAL_SCALES_1,
       upsample<1, K::Linear>},
      {"upsample_bilinear2d" LUMINAL_ALIGNED_TO_SIZE LUMINAL_SCALES_2,
       upsample<2, K::Linear>},
      {"upsample_trilinear3d" LUMINAL_ALIGNED_TO_SIZE LUMINAL_SCALES_3,
       upsample<3, K::Linear>},
      {"upsample_bicubic2d" LUMINAL_ALIGNED_TO_SIZE LUMINAL_SCALES_2,
       upsample<2, K::Cubic>},
      {"_upsample_bilinear2d_aa.vec" LUMINAL_ALIGNED_BY_FACTOR,
       upsample<2, K::Linear, true>},
      {"_upsample_bicubic2d_aa.vec" LUMINAL_ALIGNED_BY_FACTOR,
       upsample<2, K::Cubic, true>},
      {"_upsample_bilinear2d_aa" LUMINAL_ALIGNED_TO_SIZE LUMINAL_SCALES_2,
       upsample<2, K::Linear, true>},
      {"_upsample_bicubic2d_aa" LUMINAL_ALIGNED_TO_SIZE LUMINAL_SCALES_2,
       upsample<2, K::Cubic, true>},
      {"grid_sampler(Tensor input, Tensor grid, int interpolation_mode, "
       "int padding_mode, bool align_corners)",
       gridSampler},
      {"grid_sampler_2d(Tensor input, Tensor grid, int interpolation_mode, "
       "int padding_mode, bool align_corners)",
       gridSampler},
      {"grid_sampler_3d(Tensor input, Tensor grid, int interpolation_mode, "
       "int padding_mode, bool align_corners)",
       gridSampler},
      {"affine_grid_generator(Tensor theta, SymInt[] size, "
       "bool align_corners)",
       affineGrid},
      {"pixel_shuffle(Tensor self, int upscale_factor)", pixelShuffle},
      {"pixel_unshuffle(Tensor self, int downscale_factor)", pixelUnshuffle},
      {"channel_shuffle(Tensor self, SymInt groups)", channelShuffle},
      {"native_channel_shuffle(Tensor self, SymInt groups)", channelShuffle},
  };
  return rows;
}
