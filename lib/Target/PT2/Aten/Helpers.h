//===- Helpers.h - Helpers shared by groups of ops ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_TARGET_PT2_ATEN_HELPERS_H
#define LUMINAL_LIB_TARGET_PT2_ATEN_HELPERS_H

#include "OpCall.h"

namespace luminal::pt2 {

/// Maximum number of table entries, or of steps built one by one, that the
/// value of an argument may cause. Exceeding it is an error that names the
/// limit.
constexpr int64_t kMaxListed = 1 << 14;
/// The same limit for steps that each build a copy of a whole computation.
constexpr int64_t kMaxRepeats = 64;

/// Concatenates tensors of one type along `axis`; all other extents are equal.
Value concatenate(OpCall &o, ArrayRef<Value> parts, unsigned axis);

/// Extension of a dim at both ends; negative values crop.
struct Padding {
  unsigned axis;
  Expr before, after;
};
/// Extends `x` with `fill`, a rank-0 tensor of its type.
Result<Value> padConstant(OpCall &o, Value x, ArrayRef<Padding> padding,
                          Value fill);
/// Places `x`, which has elements, into the tensor that `behind` returns for
/// the padded extents.
Value placeInside(OpCall &o, Value x, ArrayRef<Padding> padding,
                  llvm::function_ref<Value(ArrayRef<Expr>)> behind);

/// Replaces the elements map(i), i in `window`, of `memory` by those of
/// `update`: by rows if one dim is sliced or indexed, else element by element.
Value writeWindow(hlir::Composer &c, Value memory, ArrayRef<Expr> window,
                  ArrayRef<Expr> map, Value update);

/// `index` as i64, with `extent` added to negative values. Creates no ops for
/// values that are known to be non-negative.
Value wrapIndices(OpCall &o, Value index, const Expr &extent);

/// All prefixes along a dim, as a new last dim: element [..., i, ..., j] of
/// `elements` is element j along `axis`, and belongs to prefix i if `inside`,
/// that is, j <= i.
struct Prefixes {
  Value elements, inside;
};
Prefixes prefixes(OpCall &o, Value x, unsigned axis);

/// The inclusive prefix sum along a dim.
Result<Value> prefixSum(OpCall &o, Value x, unsigned axis);

/// The first `count` elements of x in ascending or descending order along one
/// dim, and their indices. NaN is the largest value.
std::pair<Value, Value> inOrder(OpCall &o, Value x, unsigned axis,
                                bool descending, std::optional<Expr> count);

/// The product over a dim, which is removed; 1 if it is empty.
Result<Value> reduceProduct(OpCall &o, Value x, unsigned axis);

/// How often a dim must be halved until one element is left. A dim without an
/// upper bound is assumed to have at most 2^31 elements.
unsigned halvings(OpCall &o, const Expr &extent);

/// A dim's extent as a rank-0 tensor of the given type.
Value extentValue(OpCall &o, const Expr &extent, Type type);

/// The row-major positions in a tensor of `extents` of the elements that an
/// index (i64) names: its value is the coordinate along `axis`, in range, and
/// its own coordinates are the others.
Value positionsAlong(OpCall &o, ArrayRef<Expr> extents, Value index,
                     unsigned axis);

/// The index of each element along `axis`, as i64, in the shape of `like`.
Value indexAlong(OpCall &o, Value like, unsigned axis);

/// The dtype of a sum: a float type stays, bool and integers give i64.
Type sumType(OpCall &o, Type element);

/// Matrix products of any ranks, like torch.matmul; f16 and bf16 give f32.
Result<Value> matmulAny(OpCall &o, Value a, Value b);

/// The modified Bessel function of the first kind and order 0, in f64.
Value besselI0(hlir::Composer &c, Value x);

/// The logarithm of the softmax along `axis`, in the type of `x`.
Value logSoftmax(OpCall &o, Value x, unsigned axis);

/// torch.softmax in the accumulation type, rounded to `result`.
Value softmaxAs(OpCall &o, Value x, unsigned axis, Type result);

} // namespace luminal::pt2

#endif // LUMINAL_LIB_TARGET_PT2_ATEN_HELPERS_H
