//===- Convolution.cpp - Convolutions and their transposes ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A convolution is a product over the merged window dims. A transposed
// convolution is a product over channels, whose windows are then summed where
// they overlap.
//
//===----------------------------------------------------------------------===//

#include "Windows.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::hlir;
using namespace luminal::pt2;

//===----------------------------------------------------------------------===//
// Convolution
//===----------------------------------------------------------------------===//

namespace {
/// The operands of every convolution: images, possibly without a batch dim, a
/// kernel and optionally a bias, all of one float type.
struct Operands {
  /// With a batch dim.
  Value x;
  Value weight;
  std::optional<Value> bias;
  bool batched;
  Type type;
  /// The compute type.
  Type wide;

  static Result<Operands> get(OpCall &o, unsigned n, Value x, Value weight,
                              std::optional<Value> bias);
  /// Converts `y`, [batch, channels, positions...] in `wide`, to the op's
  /// result.
  Value finish(OpCall &o, Value y) const;
};
} // namespace

Result<Operands> Operands::get(OpCall &o, unsigned n, Value x, Value weight,
                               std::optional<Value> bias) {
  Type type = o.element(x);
  if (o.element(weight) != type || (bias && o.element(*bias) != type) ||
      !isa<FloatType>(type))
    return o.fail("the operands differ in dtype");
  bool batched = o.rank(x) == n + 2;
  if ((!batched && o.rank(x) != n + 1) || o.rank(weight) != n + 2)
    return o.fail("the operands have other ranks than the op takes");
  return Operands{batched ? x : o.c.unsqueeze(x, 0),
                  weight,
                  bias,
                  batched,
                  type,
                  o.opmath(type)};
}

Value Operands::finish(OpCall &o, Value y) const {
  Composer &c = o.c;
  if (bias)
    y = c.add(y, o.spreadAlong(*bias, y, 1));
  if (!batched)
    y = c.squeeze(y, 0);
  return c.cast(y, type);
}

/// Reads the windows' sizes, the last extents of a kernel.
static Status readKernel(OpCall &o, ArrayRef<Expr> kernel, Window &w) {
  for (const Expr &size : kernel.drop_front(2)) {
    if (size.asConstant().value_or(0) > kMaxWindow)
      return o.fail("the kernel is larger than " + Twine(kMaxWindow));
    w.size.push_back(size);
  }
  return {};
}

/// The number of channels in each of `groups` groups.
static Result<Expr> divideBy(OpCall &o, const Expr &channels, int64_t groups) {
  if (groups <= 0)
    return o.fail("the groups are not positive");
  Expr each = o.assumptions().simplify(Expr::floorDiv(channels, Expr(groups)));
  if (!o.agree(each * Expr(groups), channels))
    return o.fail("the channels do not fit the groups");
  return each;
}

/// A convolution in the compute type: windows times the kernel.
static Result<Value> convolve(OpCall &o, unsigned n, Value x, Value weight,
                              std::optional<Value> bias,
                              ArrayRef<int64_t> stride,
                              ArrayRef<std::pair<Expr, Expr>> padding,
                              ArrayRef<int64_t> dilation, int64_t groups) {
  Composer &c = o.c;
  LUMINAL_TRY(operands, Operands::get(o, n, x, weight, bias));
  Type wide = operands.wide;
  weight = c.cast(weight, wide);

  SmallVector<Padding> pads;
  for (unsigned i = 0; i < n; ++i)
    if (!padding[i].first.isConstant(0) || !padding[i].second.isConstant(0))
      pads.push_back({i + 2, padding[i].first, padding[i].second});
  // Pad in the given type: a narrow image takes half the memory, and the
  // product reads it without a conversion.
  LUMINAL_TRY(padded,
              padConstant(o, operands.x, pads, c.scalar(operands.type, 0)));
  padded = c.cast(padded, wide);

  SmallVector<Expr> ex = o.extents(padded), ew = o.extents(weight);
  Window w;
  w.stride.assign(stride.begin(), stride.end());
  w.dilation.assign(dilation.begin(), dilation.end());
  LUMINAL_CHECK(readKernel(o, ew, w));
  Expr ins = ew[1];
  LUMINAL_TRY(perGroup, divideBy(o, ew[0], groups));
  if (!o.agree(ex[1], ins * Expr(groups)))
    return o.fail("the channels do not fit the groups");
  LUMINAL_CHECK(place(o, padded, w));

  // Columns: [groups, batch, positions..., channel and window offset].
  std::vector<Expr> inner = {ins};
  inner.insert(inner.end(), w.size.begin(), w.size.end());
  Expr k = product(inner);
  SmallVector<Expr> space = {Expr(groups), ex[0]};
  space.append(w.positions.begin(), w.positions.end());
  space.push_back(k);
  std::vector<Expr> split = delinearize(Expr::dim(n + 2), inner);
  SmallVector<Expr> map = {Expr::dim(1), Expr::dim(0) * ins + split[0]};
  for (unsigned i = 0; i < n; ++i)
    map.push_back(w.index(i, Expr::dim(i + 2), split[i + 1]));
  Value columns = c.view(padded, space, map);

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
    // [groups, batch, positions..., channel of the group]
    y = c.linear(columns, c.reshape(weight, {Expr(groups), perGroup, k}));
    SmallVector<unsigned> order = {1, 0, n + 2};
    for (unsigned i = 0; i < n; ++i)
      order.push_back(i + 2);
    y = c.permute(y, order);
    SmallVector<Expr> merged = {ex[0], ew[0]};
    merged.append(w.positions.begin(), w.positions.end());
    y = c.reshape(y, merged);
  }
  return operands.finish(o, y);
}

/// Scatters each element over a window, and sums where windows overlap.
static Status convolveTransposed(OpCall &o, unsigned n, int64_t groups) {
  Composer &c = o.c;
  LUMINAL_TRY(stride, perDim(o, "stride", n));
  LUMINAL_TRY(padding, perDim(o, "padding", n));
  LUMINAL_TRY(more, perDim(o, "output_padding", n));
  LUMINAL_TRY(dilation, perDim(o, "dilation", n));
  LUMINAL_TRY(operands,
              Operands::get(o, n, o.tensor("input"), o.tensor("weight"),
                            o.tensorOrNone("bias")));
  Value x = operands.x, weight = operands.weight;
  Type wide = operands.wide;
  SmallVector<Expr> ex = o.extents(x), ew = o.extents(weight);
  Expr outs = ew[1];
  LUMINAL_TRY(perGroup, divideBy(o, ew[0], groups));
  if (!o.agree(ex[1], ew[0]))
    return o.fail("the channels do not fit the groups");
  Window w;
  w.stride = stride, w.dilation = dilation;
  SmallVector<Expr> extents;
  std::vector<Expr> positions;
  LUMINAL_CHECK(readKernel(o, ew, w));
  for (unsigned i = 0; i < n; ++i) {
    if (w.stride[i] <= 0 || w.dilation[i] <= 0 || !o.atMost(Expr(1), w.size[i]))
      return o.fail("a window, stride or dilation is not positive");
    if (!o.atMost(Expr(1), ex[i + 2]))
      return o.fail("extent " + ex[i + 2].str() + " is zero");
    positions.push_back(ex[i + 2]);
    extents.push_back(
        o.assumptions().simplify((ex[i + 2] - Expr(1)) * Expr(w.stride[i]) +
                                 w.reach(i) + Expr(more[i] - 2 * padding[i])));
    if (padding[i] < 0 || !o.atMost(Expr(0), extents[i]))
      return o.fail("extent " + extents[i].str() + " is negative");
  }
  w.positions.assign(positions.begin(), positions.end());

  // [groups, rows, channels] by [groups, channels, outs and offsets]
  Expr columns = outs * OpCall::numElements(w.size);
  SmallVector<Expr> split = {ex[0], Expr(groups), perGroup};
  split.append(positions.begin(), positions.end());
  SmallVector<unsigned> order = {1, 0};
  for (unsigned i = 0; i < n; ++i)
    order.push_back(i + 3);
  order.push_back(2);
  Expr rows = ex[0] * product(positions);
  Value a = c.reshape(c.permute(c.reshape(c.cast(x, wide), split), order),
                      {Expr(groups), rows, perGroup});
  Value b = c.reshape(c.cast(weight, wide), {Expr(groups), perGroup, columns});
  Value y = c.matmul(a, b);
  // [batch, groups, outs, offsets..., positions...]
  SmallVector<Expr> full = {Expr(groups), ex[0]};
  full.append(positions.begin(), positions.end());
  full.push_back(outs);
  full.append(w.size);
  order = {1, 0, n + 2};
  for (unsigned i = 0; i < n; ++i)
    order.push_back(n + 3 + i);
  for (unsigned i = 0; i < n; ++i)
    order.push_back(2 + i);
  y = c.permute(c.reshape(y, full), order);
  y = fold(o, y, w, padding, extents);
  SmallVector<Expr> shape = {ex[0], outs * Expr(groups)};
  shape.append(extents);
  return o.ret(operands.finish(o, c.reshape(y, shape)));
}

static Status convolveWith(OpCall &o, unsigned n, int64_t groups) {
  Value x = o.tensor("input"), weight = o.tensor("weight");
  auto bias = o.tensorOrNone("bias");
  LUMINAL_TRY(stride, perDim(o, "stride", n));
  LUMINAL_TRY(dilation, perDim(o, "dilation", n));
  if (o.rank(weight) != n + 2)
    return o.fail("the kernel has another rank than the op takes");
  SmallVector<std::pair<Expr, Expr>> padding;
  StringRef mode = o.string("padding");
  if (mode == "same") {
    // With an even window, the odd padding element is at the end.
    for (unsigned i = 0; i < n; ++i) {
      Expr total = Expr(dilation[i]) * (o.extents(weight)[i + 2] - Expr(1));
      if (stride[i] != 1)
        return o.fail("padding 'same' needs stride 1");
      Expr before = o.assumptions().simplify(Expr::floorDiv(total, Expr(2)));
      padding.emplace_back(before, total - before);
    }
  } else if (mode == "valid") {
    padding.assign(n, {Expr(0), Expr(0)});
  } else if (!mode.empty()) {
    return o.fail("padding '" + mode + "' is not known");
  } else {
    LUMINAL_TRY(amounts, perDim(o, "padding", n));
    for (int64_t p : amounts)
      padding.emplace_back(Expr(p), Expr(p));
  }
  LUMINAL_TRY(
      y, convolve(o, n, x, weight, bias, stride, padding, dilation, groups));
  return o.ret(y);
}
template <unsigned n>
static Status conv(OpCall &o) {
  return convolveWith(o, n, o.integer("groups"));
}
template <unsigned n>
static Status convTransposed(OpCall &o) {
  return convolveTransposed(o, n, o.integer("groups"));
}
static Status convolution(OpCall &o) {
  if (o.entry.name == "_convolution.default")
    o.ignore({"benchmark", "deterministic", "cudnn_enabled", "allow_tf32"});
  unsigned rank = o.rank(o.tensor("weight"));
  if (rank < 3)
    return o.fail("the kernel has no spatial dims");
  if (o.flag("transposed"))
    return convolveTransposed(o, rank - 2, o.integer("groups"));
  SmallVector<int64_t> outputPadding = o.integers("output_padding");
  for (int64_t p : outputPadding)
    if (p != 0)
      return o.fail("output_padding is for transposed convolution only");
  return convolveWith(o, rank - 2, o.integer("groups"));
}

/// Convolves [time, batch, channel] with a kernel [offset, in, out].
static Status convTbc(OpCall &o) {
  int64_t pad = o.integer("pad");
  Value x = o.tensor("self"), weight = o.tensor("weight");
  if (o.rank(x) != 3 || o.rank(weight) != 3)
    return o.fail("the operands have other ranks than the op takes");
  LUMINAL_TRY(y,
              convolve(o, 1, o.c.permute(x, {1, 2, 0}),
                       o.c.permute(weight, {2, 1, 0}), o.tensorOrNone("bias"),
                       {1}, {{Expr(pad), Expr(pad)}}, {1}, 1));
  return o.ret(o.c.permute(y, {2, 0, 1}));
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
      {"conv3d.padding(Tensor input, Tensor weight, Tensor? bias=None, "
       "int[] stride=[1], str padding=valid, int[] dilation=[1], int groups=1)",
       conv<3>},
      {"conv_transpose1d(Tensor input, Tensor weight, Tensor? bias=None, "
       "int[] stride=[1], int[] padding=[0], int[] output_padding=[0], "
       "int groups=1, int[] dilation=[1])",
       convTransposed<1>},
      {"conv_transpose2d.input(Tensor input, Tensor weight, "
       "Tensor? bias=None, int[] stride=[1], int[] padding=[0], "
       "int[] output_padding=[0], int groups=1, int[] dilation=[1])",
       convTransposed<2>},
      {"conv_transpose3d.input(Tensor input, Tensor weight, "
       "Tensor? bias=None, int[] stride=[1], int[] padding=[0], "
       "int[] output_padding=[0], int groups=1, int[] dilation=[1])",
       convTransposed<3>},
      {"convolution(Tensor input, Tensor weight, Tensor? bias, int[] stride, "
       "int[] padding, int[] dilation, bool transposed, "
       "int[] output_padding, int groups)",
       convolution},
      {"_convolution(Tensor input, Tensor weight, Tensor? bias, "
       "int[] stride, int[] padding, int[] dilation, bool transposed, "
       "int[] output_padding, int groups, bool benchmark, "
       "bool deterministic, bool cudnn_enabled, bool allow_tf32)",
       convolution},
      {"conv_tbc(Tensor self, Tensor weight, Tensor bias, int pad=0)", convTbc},
  };
  return rows;
}
