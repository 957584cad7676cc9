//===- Transformer.cpp - Layers that PyTorch fuses ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Multi-head attention and an encoder layer, as in the ops of PyTorch's fast
// path. Each step is rounded to the tensors' type, as in PyTorch.
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

/// x [..., k] times the transpose of w [n, k], plus the bias.
static Result<Value> affine(OpCall &o, Value x, Value w, Value bias) {
  Composer &c = o.c;
  Type type = o.element(x), wide = o.opmath(type);
  if (o.rank(w) != 2 || o.rank(bias) != 1 || o.element(w) != type ||
      o.element(bias) != type ||
      !o.provablyEqual(o.extents(x).back(), o.extents(w)[1]) ||
      !o.provablyEqual(o.extents(w)[0], o.extents(bias)[0]))
    return o.fail("a weight does not match its operand");
  Value y = c.linear(c.cast(x, wide), c.cast(w, wide));
  return c.cast(c.add(y, o.as(bias, wide, o.extents(y))), type);
}

/// Reshapes [batch, time, heads * width] to [batch, heads, time, width].
static Value splitHeads(OpCall &o, Value x, int64_t heads) {
  SmallVector<Expr> e = o.extents(x);
  Expr width = Expr::floorDiv(e[2], Expr(heads));
  Value split = o.c.reshape(x, {e[0], e[1], Expr(heads), width});
  return o.c.permute(split, {0, 2, 1, 3});
}

/// Which scores [batch, heads, time, time] a mask of this kind hides.
static Result<Value> hiddenBy(OpCall &o, Value mask, int64_t kind,
                              ArrayRef<Expr> scores) {
  // Kind 0: [query, key], for all batches. Kind 1: [batch, key], for all
  // queries. Kind 2: all four dims.
  SmallVector<Expr> map;
  if (kind == 0 && o.rank(mask) == 2)
    map = {Expr::dim(2), Expr::dim(3)};
  else if (kind == 1 && o.rank(mask) == 2)
    map = {Expr::dim(0), Expr::dim(3)};
  else if (kind == 2 && o.rank(mask) == 4)
    map = identityMap(4);
  else
    return o.fail("the mask is of another rank than its kind has");
  SmallVector<Expr> extents = o.extents(mask);
  for (auto [e, read] : llvm::zip_equal(extents, map)) {
    if (e.isConstant(1))
      read = Expr(0);
    else if (!o.agree(e, scores[*read.asDim()]))
      return o.fail("the mask does not fit the scores");
  }
  return o.c.view(o.isNonZero(mask), scores, map);
}

namespace {
struct Attention {
  Value output, weights; ///< weights: [batch, heads, time, time]
};
} // namespace

static Result<Attention> attend(OpCall &o, ArrayRef<Value> inputs,
                                int64_t heads, std::optional<Value> mask) {
  Composer &c = o.c;
  Value query = inputs.front();
  Value w = o.tensor("qkv_weight"), b = o.tensor("qkv_bias");
  Type type = o.element(query), wide = o.opmath(type);
  for (Value x : inputs)
    if (o.rank(x) != 3 || o.element(x) != type || !isa<FloatType>(type))
      return o.fail("takes floats [batch, time, channel] of one dtype");
  auto width = o.extents(query).back().asConstant();
  if (!width || o.integer("embed_dim") != *width || heads <= 0 ||
      *width % heads || o.rank(w) != 2 || o.rank(b) != 1)
    return o.fail("the channels are not a known number for each head");
  SmallVector<Value> parts;
  for (auto [i, x] : llvm::enumerate(inputs)) {
    Expr start(int64_t(i) * *width), extent(*width);
    LUMINAL_TRY(part, affine(o, x, c.slice(w, 0, start, extent),
                             c.slice(b, 0, start, extent)));
    parts.push_back(splitHeads(o, part, heads));
  }
  Value q = c.cast(parts[0], wide);
  q = c.mul(q, c.splat(q, 1 / std::sqrt(double(*width / heads))));
  q = c.cast(c.cast(q, type), wide);
  LUMINAL_TRY(scores,
              matmulAny(o, q, c.permute(c.cast(parts[1], wide), {0, 1, 3, 2})));
  scores = c.cast(c.cast(scores, type), wide);
  if (mask) {
    LUMINAL_TRY(hidden,
                hiddenBy(o, *mask, o.integerOrNone("mask_type").value_or(-1),
                         o.extents(scores)));
    scores = c.select(hidden,
                      c.splat(scores, -std::numeric_limits<double>::infinity()),
                      scores);
  }
  Value weights = c.cast(c.softmax(scores, 3), type);
  LUMINAL_TRY(read,
              matmulAny(o, c.cast(weights, wide), c.cast(parts[2], wide)));
  Value joined =
      c.reshape(c.permute(c.cast(read, type), {0, 2, 1, 3}), o.extents(query));
  LUMINAL_TRY(output, affine(o, joined, o.tensor("proj_weight"),
                             o.tensor("proj_bias")));
  return Attention{output, weights};
}

static Status multiHeadAttention(OpCall &o) {
  Composer &c = o.c;
  Value inputs[] = {o.tensor("query"), o.tensor("key"), o.tensor("value")};
  LUMINAL_TRY(result,
              attend(o, inputs, o.integer("num_head"), o.tensorOrNone("mask")));
  o.ignore({"mask_type"});
  bool average = o.flag("average_attn_weights");
  if (!o.flag("need_weights"))
    return o.retFirst({result.output});
  Value weights = result.weights;
  return o.ret(
      {result.output, average ? c.mean(weights, {1}, false) : weights});
}

static Status encoderLayer(OpCall &o) {
  Composer &c = o.c;
  Value src = o.tensor("src");
  Type type = o.element(src), wide = o.opmath(type);
  bool gelu = o.flag("use_gelu"), normFirst = o.flag("norm_first");
  double eps = o.real("eps");
  auto norm = [&](Value x, StringRef weight, StringRef bias) -> Result<Value> {
    Value w = o.tensor(weight), b = o.tensor(bias);
    Value y = c.layerNorm(c.cast(x, wide), eps);
    SmallVector<Expr> extents = o.extents(y);
    y = c.mul(y, o.as(w, wide, extents));
    return c.cast(c.add(y, o.as(b, wide, extents)), type);
  };
  Value x = src;
  if (normFirst) {
    LUMINAL_TRY(y, norm(x, "norm_weight_1", "norm_bias_1"));
    x = y;
  }
  Value inputs[] = {x, x, x};
  LUMINAL_TRY(attention, attend(o, inputs, o.integer("num_heads"),
                                o.tensorOrNone("mask")));
  o.ignore({"mask_type"});
  x = c.add(attention.output, src);
  if (!normFirst) {
    LUMINAL_TRY(y, norm(x, "norm_weight_1", "norm_bias_1"));
    x = y;
  }
  Value before = x;
  if (normFirst) {
    LUMINAL_TRY(y, norm(x, "norm_weight_2", "norm_bias_2"));
    x = y;
  }
  LUMINAL_TRY(inner,
              affine(o, x, o.tensor("ffn_weight_1"), o.tensor("ffn_bias_1")));
  inner = gelu ? c.gelu(inner) : c.relu(inner);
  LUMINAL_TRY(outer, affine(o, inner, o.tensor("ffn_weight_2"),
                            o.tensor("ffn_bias_2")));
  x = c.add(outer, before);
  if (!normFirst) {
    LUMINAL_TRY(y, norm(x, "norm_weight_2", "norm_bias_2"));
    x = y;
  }
  return o.ret(x);
}

llvm::ArrayRef<OpRow> pt2::getTransformerOps() {
#define LUMINAL_PROJECTIONS                                                    \
  "Tensor qkv_weight, Tensor qkv_bias, Tensor proj_weight, Tensor proj_bias, "
  static const OpRow rows[] = {
      {"_native_multi_head_attention(Tensor query, Tensor key, Tensor value, "
       "int embed_dim, int num_head, " LUMINAL_PROJECTIONS
       "Tensor? mask=None, bool need_weights=True, "
       "bool average_attn_weights=True, int? mask_type=None)",
       multiHeadAttention},
      {"_transformer_encoder_layer_fwd(Tensor src, int embed_dim, "
       "int num_heads, " LUMINAL_PROJECTIONS
       "bool use_gelu, bool norm_first, float eps, Tensor norm_weight_1, "
       "Tensor norm_bias_1, Tensor norm_weight_2, Tensor norm_bias_2, "
       "Tensor ffn_weight_1, Tensor ffn_bias_1, Tensor ffn_weight_2, "
       "Tensor ffn_bias_2, Tensor? mask=None, int? mask_type=None)",
       encoderLayer},
  };
  return rows;
}
