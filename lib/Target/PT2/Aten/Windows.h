//===- Windows.h - Sliding windows over the last dims of a tensor ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A window is a view: position * stride + offset inside * dilation. Ops that
// read windows are products or reductions over the offsets. Ops that write
// windows sum, for each element, over the windows that cover it.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_LIB_TARGET_PT2_ATEN_WINDOWS_H
#define LUMINAL_LIB_TARGET_PT2_ATEN_WINDOWS_H

#include "Helpers.h"

namespace luminal::pt2 {

/// Upper limit of sizes, strides, dilations and padding: products of two of
/// them stay far below 2^63.
constexpr int64_t kMaxWindow = INT32_MAX;

/// A list of `n` integers of at most kMaxWindow; a single one is repeated, an
/// empty list becomes `fallback`.
Result<SmallVector<int64_t>>
perDim(OpCall &o, StringRef name, unsigned n,
       std::optional<SmallVector<int64_t>> fallback = std::nullopt);

/// Sizes and spacing of the windows along each windowed dim.
struct Window {
  SmallVector<Expr> size;
  SmallVector<int64_t> stride, dilation;
  /// Extents of the windows' positions.
  SmallVector<Expr> positions;

  /// The source index for window position `at` and offset `inside` along dim i.
  Expr index(unsigned i, const Expr &at, const Expr &inside) const {
    return at * Expr(stride[i]) + inside * Expr(dilation[i]);
  }
  /// The number of elements that a window spans along dim i.
  Expr reach(unsigned i) const {
    return Expr(dilation[i]) * (size[i] - Expr(1)) + Expr(1);
  }
};

/// The values as expressions.
SmallVector<Expr> toExprs(ArrayRef<int64_t> values);

/// Computes the positions of the windows over the last dims of `x`, which is
/// padded. Positions that are set already are kept.
Status place(OpCall &o, Value x, Window &w);

/// The windows over the last dims: [lead..., positions..., window].
Value windows(OpCall &o, Value x, const Window &w);

/// Sums overlapping windows: `columns` [lead..., offsets..., positions...]
/// becomes [lead..., outs...], where the windows begin `padding` elements
/// before it.
Value fold(OpCall &o, Value columns, const Window &w, ArrayRef<int64_t> padding,
           ArrayRef<Expr> outs);

} // namespace luminal::pt2

#endif // LUMINAL_LIB_TARGET_PT2_ATEN_WINDOWS_H
