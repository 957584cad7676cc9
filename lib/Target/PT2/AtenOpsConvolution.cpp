//===- AtenOpsConvolution.cpp - Convolutions and pooling ------------------===//
//
// A window is a view: out position * stride + window position * dilation. So a
// convolution is a product over merged window dims, and pooling a reduction.
//
//===----------------------------------------------------------------------===//

#include "Helpers.h"
#include "llvm/ADT/STLExtras.h"
#include <limits>

using namespace mlir;
using namespace luminal;
using namespace luminal::hlir;
using namespace luminal::pt2;

/// A list of `n` integers; one is repeated, none is `fallback`.
static std::optional<SmallVector<int64_t>>
perDim(OpCall &o, StringRef name, unsigned n,
       std::optional<SmallVector<int64_t>> fallback = std::nullopt) {
  SmallVector<int64_t> values =
      o.integers(name).value_or(SmallVector<int64_t>());
  if (values.empty() && fallback)
    return fallback;
  if (values.size() == 1)
    values.assign(n, values[0]);
  if (values.size() != n) {
    (void)o.fail("argument '" + name + "' has " + Twine(values.size()) +
                 " entries for " + Twine(n) + " dims");
    return std::nullopt;
  }
  return values;
}

namespace {
struct Window {
  SmallVector<int64_t> size, stride, dilation;
  /// Extents of the windows' positions.
  SmallVector<Expr> positions;
};
} // namespace

/// Positions of the windows over the last dims of `x`, which is padded.
static LogicalResult place(OpCall &o, Value x, Window &w) {
  unsigned n = w.size.size(), lead = o.rank(x) - n;
  for (unsigned i = 0; i < n; ++i) {
    if (w.size[i] <= 0 || w.stride[i] <= 0 || w.dilation[i] <= 0)
      return o.fail("a window, stride or dilation is not positive");
    Expr reach = o.extents(x)[lead + i] -
                 Expr(w.dilation[i] * (w.size[i] - 1)) - Expr(1);
    if (!o.scope().provablyNonNegative(reach))
      return o.fail("the window is not provably inside the padded input");
    w.positions.push_back(
        o.scope().simplify(Expr::floorDiv(reach, Expr(w.stride[i])) + Expr(1)));
  }
  return success();
}

/// The source index of window position `at` and offset `inside` along dim i.
static Expr windowIndex(const Window &w, unsigned i, const Expr &at,
                        const Expr &inside) {
  return at * Expr(w.stride[i]) + inside * Expr(w.dilation[i]);
}

static std::vector<Expr> asExprs(ArrayRef<int64_t> values) {
  std::vector<Expr> result;
  for (int64_t v : values)
    result.push_back(Expr(v));
  return result;
}

//===----------------------------------------------------------------------===//
// Convolution
//===----------------------------------------------------------------------===//

static LogicalResult convolve(OpCall &o, unsigned n, Value x, Value weight,
                              Value bias, ArrayRef<int64_t> stride,
                              ArrayRef<std::pair<int64_t, int64_t>> padding,
                              ArrayRef<int64_t> dilation, int64_t groups) {
  Composer &c = o.c;
  Type type = o.element(x), wide = o.opmath(type);
  if (o.element(weight) != type || (bias && o.element(bias) != type) ||
      !isa<FloatType>(type))
    return o.fail("the operands differ in dtype");
  bool batched = o.rank(x) == n + 2;
  if ((!batched && o.rank(x) != n + 1) || o.rank(weight) != n + 2)
    return o.fail("the operands have other ranks than the op takes");
  if (!batched)
    x = c.unsqueeze(x, 0);
  x = c.cast(x, wide);
  weight = c.cast(weight, wide);

  SmallVector<Padding> pads;
  for (unsigned i = 0; i < n; ++i)
    if (padding[i].first || padding[i].second)
      pads.push_back({i + 2, Expr(padding[i].first), Expr(padding[i].second)});
  if (!pads.empty())
    x = padConstant(o, x, pads, c.scalar(wide, 0));
  if (!x)
    return failure();

  SmallVector<Expr> ex = o.extents(x), ew = o.extents(weight);
  Window w;
  w.stride.assign(stride.begin(), stride.end());
  w.dilation.assign(dilation.begin(), dilation.end());
  for (unsigned i = 0; i < n; ++i) {
    auto size = ew[i + 2].asConstant();
    if (!size)
      return o.fail("the kernel's extents are symbolic");
    w.size.push_back(*size);
  }
  auto outs = ew[0].asConstant(), ins = ew[1].asConstant();
  if (!outs || !ins || groups <= 0 || *outs % groups ||
      !o.provablyEqual(ex[1], Expr(*ins * groups)))
    return o.fail("the channels do not fit the groups");
  if (failed(place(o, x, w)))
    return failure();

  // Columns: [groups, batch, positions..., channel and window offset].
  std::vector<Expr> inner = {Expr(*ins)};
  for (int64_t size : w.size)
    inner.push_back(Expr(size));
  Expr k = product(inner);
  SmallVector<Expr> space = {Expr(groups), ex[0]};
  space.append(w.positions.begin(), w.positions.end());
  space.push_back(k);
  std::vector<Expr> split = delinearize(Expr::dim(n + 2), inner);
  SmallVector<Expr> map = {Expr::dim(1), Expr::dim(0) * Expr(*ins) + split[0]};
  for (unsigned i = 0; i < n; ++i)
    map.push_back(windowIndex(w, i, Expr::dim(i + 2), split[i + 1]));
  Value columns = c.view(x, space, map);

  Expr perGroup(*outs / groups);
  Value y;
  if (groups == 1) {
    Value flat = c.reshape(weight, {ew[0], k});
    y = c.linear(c.squeeze(columns, 0), flat);
    // [batch, positions..., channel]
    SmallVector<unsigned> order = {0, n + 1};
    for (unsigned i = 0; i < n; ++i)
      order.push_back(i + 1);
    y = c.permute(y, order);
  } else {
    std::vector<Expr> rows(space.begin() + 1, space.end() - 1);
    Value a = c.reshape(columns, {Expr(groups), product(rows), k});
    Value b =
        c.permute(c.reshape(weight, {Expr(groups), perGroup, k}), {0, 2, 1});
    y = c.matmul(a, b);
    SmallVector<Expr> full(space.begin(), space.end() - 1);
    full.push_back(perGroup);
    y = c.reshape(y, full);
    // [groups, batch, positions..., channel of the group]
    SmallVector<unsigned> order = {1, 0, n + 2};
    for (unsigned i = 0; i < n; ++i)
      order.push_back(i + 2);
    y = c.permute(y, order);
    SmallVector<Expr> merged = {ex[0], ew[0]};
    merged.append(w.positions.begin(), w.positions.end());
    y = c.reshape(y, merged);
  }
  if (bias)
    y = c.add(y, c.view(c.cast(bias, wide), o.extents(y), {Expr::dim(1)}));
  if (!batched)
    y = c.squeeze(y, 0);
  return o.ret(c.cast(y, type));
}

static LogicalResult convolveWith(OpCall &o, unsigned n, int64_t groups) {
  Value x = o.tensor("input"), weight = o.tensor("weight"),
        bias = o.tensor("bias");
  auto stride = perDim(o, "stride", n), dilation = perDim(o, "dilation", n);
  if (!stride || !dilation || o.rank(weight) != n + 2)
    return o.fail("the kernel has another rank than the op takes");
  SmallVector<std::pair<int64_t, int64_t>> padding;
  StringRef mode = o.string("padding");
  if (mode == "same") {
    // The odd element of an even window goes behind.
    for (unsigned i = 0; i < n; ++i) {
      int64_t size = o.extents(weight)[i + 2].asConstant().value_or(1);
      int64_t total = (*dilation)[i] * (size - 1);
      if ((*stride)[i] != 1)
        return o.fail("padding 'same' needs stride 1");
      padding.emplace_back(total / 2, total - total / 2);
    }
  } else if (mode == "valid") {
    padding.assign(n, {0, 0});
  } else if (!mode.empty()) {
    return o.fail("padding '" + mode + "' is not known");
  } else {
    auto amounts = perDim(o, "padding", n);
    if (!amounts)
      return failure();
    for (int64_t p : *amounts)
      padding.emplace_back(p, p);
  }
  return convolve(o, n, x, weight, bias, *stride, padding, *dilation, groups);
}
template <unsigned n>
static LogicalResult conv(OpCall &o) {
  return convolveWith(o, n, *o.integer("groups"));
}
static LogicalResult convolution(OpCall &o) {
  if (o.flag("transposed"))
    return o.fail("transposed convolution is not supported");
  SmallVector<int64_t> outputPadding = *o.integers("output_padding");
  for (int64_t p : outputPadding)
    if (p != 0)
      return o.fail("output_padding is for transposed convolution only");
  unsigned rank = o.rank(o.tensor("weight"));
  if (rank < 3)
    return o.fail("the kernel has no spatial dims");
  return convolveWith(o, rank - 2, *o.integer("groups"));
}

//===----------------------------------------------------------------------===//
// Pooling
//===----------------------------------------------------------------------===//

/// Windows over the last n dims: [lead..., positions..., window].
static Value windows(OpCall &o, Value x, const Window &w) {
  unsigned n = w.size.size(), lead = o.rank(x) - n;
  std::vector<Expr> inner = asExprs(w.size);
  std::vector<Expr> split = delinearize(Expr::dim(lead + n), inner);
  SmallVector<Expr> from = o.extents(x),
                    space(from.begin(), from.begin() + lead), map;
  space.append(w.positions.begin(), w.positions.end());
  space.push_back(product(inner));
  for (unsigned i = 0; i < lead; ++i)
    map.push_back(Expr::dim(i));
  for (unsigned i = 0; i < n; ++i)
    map.push_back(windowIndex(w, i, Expr::dim(lead + i), split[i]));
  return o.c.view(x, space, map);
}

/// How far the last window of ceil_mode reaches behind the padded input. A
/// window that would begin in the padding behind is left out.
static std::optional<int64_t> ceilReach(OpCall &o, const Expr &extent,
                                        int64_t pad, int64_t size,
                                        int64_t stride, int64_t dilation) {
  auto n = extent.asConstant();
  if (!n) {
    (void)o.fail("ceil_mode needs static extents");
    return std::nullopt;
  }
  int64_t reach = *n + 2 * pad - dilation * (size - 1) - 1;
  int64_t positions = (reach + stride - 1) / stride + 1;
  if ((positions - 1) * stride >= *n + pad)
    --positions;
  return std::max<int64_t>(0, (positions - 1) * stride - reach);
}

static bool readWindow(OpCall &o, unsigned n, Window &w,
                       SmallVector<int64_t> &padding, bool dilated) {
  auto size = perDim(o, "kernel_size", n);
  if (!size)
    return false;
  auto stride = perDim(o, "stride", n, size), pads = perDim(o, "padding", n);
  auto dilation = dilated ? perDim(o, "dilation", n)
                          : std::optional(SmallVector<int64_t>(n, 1));
  if (!stride || !pads || !dilation)
    return false;
  w.size = *size, w.stride = *stride, w.dilation = *dilation;
  padding = *pads;
  return true;
}

template <unsigned n, bool withIndices>
static LogicalResult maxPool(OpCall &o) {
  Composer &c = o.c;
  Value x = o.tensor("self");
  Window w;
  SmallVector<int64_t> padding;
  bool ceil = o.flag("ceil_mode");
  if (!readWindow(o, n, w, padding, true) || o.rank(x) < n + 1)
    return o.fail("the input has another rank than the op takes");
  if (!o.isFloat(x))
    return o.fail("is supported for floats only");
  SmallVector<Padding> pads;
  unsigned lead = o.rank(x) - n;
  for (unsigned i = 0; i < n; ++i) {
    int64_t more = 0;
    if (ceil) {
      auto reach = ceilReach(o, o.extents(x)[lead + i], padding[i], w.size[i],
                             w.stride[i], w.dilation[i]);
      if (!reach)
        return failure();
      more = *reach;
    }
    if (padding[i] || more)
      pads.push_back({lead + i, Expr(padding[i]), Expr(padding[i] + more)});
  }
  if (!pads.empty())
    x = padConstant(
        o, x, pads,
        c.scalar(o.element(x), -std::numeric_limits<double>::infinity()));
  if (!x || failed(place(o, x, w)))
    return failure();
  Value all = windows(o, x, w);
  Value result = c.reduceMax(all, {lead + n}, false);
  // Indices are left out; a program that reads them is refused there.
  if (withIndices)
    return o.ret({result, Value()});
  return o.ret(result);
}

template <unsigned n>
static LogicalResult avgPool(OpCall &o) {
  Composer &c = o.c;
  Value x = o.tensor("self");
  Window w;
  SmallVector<int64_t> padding;
  if (!readWindow(o, n, w, padding, false) || o.rank(x) < n + 1)
    return o.fail("the input has another rank than the op takes");
  if (o.flag("ceil_mode"))
    return o.fail("ceil_mode is not supported");
  if (!o.isFloat(x))
    return o.fail("is supported for floats only");
  bool countPadding = o.flag("count_include_pad");
  std::optional<int64_t> divisor;
  if (n > 1)
    divisor = o.integer("divisor_override");
  Type type = o.element(x), wide = o.opmath(type);
  unsigned lead = o.rank(x) - n;
  SmallVector<Padding> pads;
  for (unsigned i = 0; i < n; ++i)
    if (padding[i])
      pads.push_back({lead + i, Expr(padding[i]), Expr(padding[i])});
  Value v = c.cast(x, wide), ones = c.splat(v, 1);
  if (!pads.empty()) {
    v = padConstant(o, v, pads, c.scalar(wide, 0));
    ones = padConstant(o, ones, pads, c.scalar(wide, 0));
  }
  if (!v || failed(place(o, v, w)))
    return failure();
  Value sum = c.reduceSum(windows(o, v, w), {lead + n}, false);
  Value count;
  if (divisor || countPadding || pads.empty()) {
    int64_t size = 1;
    for (int64_t s : w.size)
      size *= s;
    count = c.splat(sum, static_cast<double>(divisor.value_or(size)));
  } else {
    count = c.reduceSum(windows(o, ones, w), {lead + n}, false);
  }
  return o.ret(c.cast(c.div(sum, count), type));
}

/// Window i of `out` over `n` elements is [i n / out, ceil((i + 1) n / out)).
template <unsigned n>
static LogicalResult adaptiveAvgPool(OpCall &o) {
  Composer &c = o.c;
  Value x = o.tensor("self");
  auto sizes = perDim(o, "output_size", n);
  if (!sizes || o.rank(x) < n + 1 || !o.isFloat(x))
    return o.fail("the input has another rank or dtype than the op takes");
  Type type = o.element(x);
  Value v = c.cast(x, o.opmath(type));
  unsigned lead = o.rank(x) - n;
  for (unsigned i = 0; i < n; ++i) {
    unsigned axis = lead + i;
    SmallVector<Expr> extents = o.extents(v), map;
    Expr extent = extents[axis], out((*sizes)[i]);
    if (!o.scope().provablyLessEqual(Expr(1), extent) || (*sizes)[i] <= 0)
      return o.fail("an extent may be zero");
    for (unsigned d = 0; d < extents.size(); ++d)
      map.push_back(Expr::dim(d));
    unsigned last = extents.size();
    Expr size = o.scope().simplify(Expr::floorDiv(extent, out));
    extents[axis] = out;
    if (o.provablyEqual(size * out, extent)) {
      map[axis] = Expr::dim(axis) * size + Expr::dim(last);
      extents.push_back(size);
      v = c.mean(c.view(v, extents, map), {last}, false);
      continue;
    }
    // Windows of several lengths: a mask over the whole dim.
    map[axis] = Expr::dim(last);
    extents.push_back(extent);
    Expr begin = Expr::floorDiv(Expr::dim(axis) * extent, out);
    Expr end = Expr::ceilDiv((Expr::dim(axis) + Expr(1)) * extent, out);
    Value all = c.view(v, extents, map);
    Value at = c.iota(extents, Expr::dim(last));
    Value in = c.logicalAnd(c.lessEqual(c.iota(extents, begin), at),
                            c.less(at, c.iota(extents, end)));
    Value sum = c.reduceSum(c.select(in, all, c.splat(all, 0)), {last}, false);
    Value count = c.cast(c.iota(o.extents(sum), end - begin), o.element(sum));
    v = c.div(sum, count);
  }
  return o.ret(c.cast(v, type));
}

//===----------------------------------------------------------------------===//
// Resampling
//===----------------------------------------------------------------------===//

/// Whole-number factors only: every source pixel is repeated.
static LogicalResult upsampleNearest(OpCall &o) {
  Value x = o.tensor("input");
  if (o.rank(x) != 4)
    return o.fail("takes a batch of images");
  if (o.has("scale_factors"))
    o.ignore({"scale_factors"});
  if (o.has("output_size"))
    o.ignore({"output_size"});
  const TensorMeta *meta = o.resultMeta();
  if (!meta || meta->sizes.size() != 4)
    return o.fail("the archive does not state the result's shape");
  SmallVector<Expr> extents = o.extents(x), map = {Expr::dim(0), Expr::dim(1)};
  for (unsigned i = 2; i < 4; ++i) {
    Expr factor =
        o.scope().simplify(Expr::floorDiv(meta->sizes[i], extents[i]));
    if (!o.provablyEqual(factor * extents[i], meta->sizes[i]))
      return o.fail("scales by other than a whole number");
    extents[i] = meta->sizes[i];
    map.push_back(Expr::floorDiv(Expr::dim(i), factor));
  }
  return o.ret(o.c.view(x, extents, map));
}

llvm::ArrayRef<OpRow> pt2::getConvolutionOps() {
  static const OpRow rows[] = {
      {"conv1d(Tensor input, Tensor weight, Tensor? bias=None, "
       "int[] stride=[1], int[] padding=[0], int[] dilation=[1], int groups=1)",
       conv<1>},
      {"conv2d(Tensor input, Tensor weight, Tensor? bias=None, "
       "int[] stride=[1], int[] padding=[0], int[] dilation=[1], int groups=1)",
       conv<2>},
      {"conv3d(Tensor input, Tensor weight, Tensor? bias=None, "
       "int[] stride=[1], int[] padding=[0], int[] dilation=[1], int groups=1)",
       conv<3>},
      {"conv1d.padding(Tensor input, Tensor weight, Tensor? bias=None, "
       "int[] stride=[1], str padding=valid, int[] dilation=[1], int groups=1)",
       conv<1>},
      {"conv2d.padding(Tensor input, Tensor weight, Tensor? bias=None, "
       "int[] stride=[1], str padding=valid, int[] dilation=[1], int groups=1)",
       conv<2>},
      {"convolution(Tensor input, Tensor weight, Tensor? bias, int[] stride, "
       "int[] padding, int[] dilation, bool transposed, "
       "int[] output_padding, int groups)",
       convolution},
      {"max_pool1d(Tensor self, int[] kernel_size, int[] stride=[], "
       "int[] padding=[0], int[] dilation=[1], bool ceil_mode=False)",
       maxPool<1, false>},
      {"max_pool2d(Tensor self, int[] kernel_size, int[] stride=[], "
       "int[] padding=[0], int[] dilation=[1], bool ceil_mode=False)",
       maxPool<2, false>},
      {"max_pool2d_with_indices(Tensor self, int[] kernel_size, "
       "int[] stride=[], int[] padding=[0], int[] dilation=[1], "
       "bool ceil_mode=False)",
       maxPool<2, true>},
      {"avg_pool1d(Tensor self, int[] kernel_size, int[] stride=[], "
       "int[] padding=[0], bool ceil_mode=False, bool count_include_pad=True)",
       avgPool<1>},
      {"avg_pool2d(Tensor self, int[] kernel_size, int[] stride=[], "
       "int[] padding=[0], bool ceil_mode=False, bool count_include_pad=True, "
       "int? divisor_override=None)",
       avgPool<2>},
      {"adaptive_avg_pool1d(Tensor self, int[] output_size)",
       adaptiveAvgPool<1>},
      {"adaptive_avg_pool2d(Tensor self, int[] output_size)",
       adaptiveAvgPool<2>},
      {"_adaptive_avg_pool2d(Tensor self, int[] output_size)",
       adaptiveAvgPool<2>},
      {"upsample_nearest2d.vec(Tensor input, SymInt[]? output_size, "
       "FloatList? scale_factors)",
       upsampleNearest},
  };
  return rows;
}
