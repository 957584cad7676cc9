//===- Helpers.h - Forms that several themes of ops share -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_TARGET_PT2_ATEN_HELPERS_H
#define LUMINAL_LIB_TARGET_PT2_ATEN_HELPERS_H

#include "OpCall.h"

namespace luminal::pt2 {

/// The most entries that a table has, or steps that are built one by one, by
/// the value of an argument. More is an error that names the limit.
constexpr int64_t kMaxListed = 1 << 14;
/// The same for steps that each build a copy of a whole computation.
constexpr int64_t kMaxRepeats = 64;

/// Tensors of one type joined along `axis`; extents of the others equal.
Value concatenate(OpCall &o, ArrayRef<Value> parts, unsigned axis);

/// How far a dim is extended at both ends; negative amounts crop.
struct Padding {
  unsigned axis;
  Expr before, after;
};
/// `x` extended by `fill`, a rank-0 tensor of its type.
Result<Value> padConstant(OpCall &o, Value x, ArrayRef<Padding> padding,
                          Value fill);
/// `x`, which has elements, within what `behind` gives for the padded extents.
Value placeInside(OpCall &o, Value x, ArrayRef<Padding> padding,
                  llvm::function_ref<Value(ArrayRef<Expr>)> behind);

/// `memory` with the elements map(i), i in `window`, replaced by `update`'s: by
/// rows where one dim is sliced or indexed, else element by element.
Value writeWindow(hlir::Composer &c, Value memory, ArrayRef<Expr> window,
                  ArrayRef<Expr> map, Value update);

/// `index` with negative values wrapped by `extent`, as i64. Nothing is built
/// where the values are known not to be negative.
Value wrapIndices(OpCall &o, Value index, const Expr &extent);

/// All prefixes along a dim, as a new last dim: [..., i, ..., j] of `elements`
/// is element j of `axis`, which belongs to prefix i where `inside` (j <= i).
struct Prefixes {
  Value elements, inside;
};
Prefixes prefixes(OpCall &o, Value x, unsigned axis);

/// The sum of all elements before i, and i itself, along a dim.
Result<Value> prefixSum(OpCall &o, Value x, unsigned axis);

/// Values and indices of x in order along one dim, NaN last, or descending
/// first; the first `count` of them.
std::pair<Value, Value> inOrder(OpCall &o, Value x, unsigned axis,
                                bool descending, std::optional<Expr> count);

/// The product over a dim, which is removed; 1 where it has no element.
Result<Value> reduceProduct(OpCall &o, Value x, unsigned axis);

/// How often a dim must be halved until one element is left. A dim without a
/// bound is assumed to have at most 2^31 elements.
unsigned halvings(OpCall &o, const Expr &extent);

/// A dim's extent as a rank-0 tensor of the given type.
Value extentValue(OpCall &o, const Expr &extent, Type type);

/// The index of each element along `axis`, as i64, in the shape of `like`.
Value indexAlong(OpCall &o, Value like, unsigned axis);

/// Sums in f32 for f16 and bf16, rounded once; bool and i32 as i64.
Type sumType(OpCall &o, Type element);

/// Matrix products of any ranks, as torch.matmul; f16 and bf16 give f32.
Result<Value> matmulAny(OpCall &o, Value a, Value b);

/// The modified Bessel function of the first kind and order 0, of f64.
Value besselI0(hlir::Composer &c, Value x);

/// The logarithm of the softmax over `axis`, in the type of `x`.
Value logSoftmax(OpCall &o, Value x, unsigned axis);

/// torch.softmax in the accumulator's type, rounded to `result`.
Value softmaxAs(OpCall &o, Value x, unsigned axis, Type result);

} // namespace luminal::pt2

#endif // LUMINAL_LIB_TARGET_PT2_ATEN_HELPERS_H
