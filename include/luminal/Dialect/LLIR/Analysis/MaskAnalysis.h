//===- MaskAnalysis.h - The range of a stream that a mask keeps -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A mask removes elements of a row from all that is computed of the row: a
// select replaces them by -inf if a condition does not hold, so the maximum
// does not change and the exponential is 0. If the condition compares indices,
// as a causal mask or a window does, the elements that remain form a span of
// the streamed dim, which depends on the row's index. The loop can skip the
// rest.
//
// A product multiplies the zeros of the skipped elements with elements of its
// right operand. The product is 0 only if those are finite; code that skips
// them must check this.
//
// A mask of 0 and -inf that is added to scores hides only scores that are
// neither NaN nor +inf; a mask of 1 and 0 that scores are multiplied with hides
// only finite scores. Scores are finite if the elements of their operands are
// small, which must then be checked as well.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_DIALECT_LLIR_ANALYSIS_MASKANALYSIS_H
#define LUMINAL_DIALECT_LLIR_ANALYSIS_MASKANALYSIS_H

#include "luminal/Dialect/LLIR/Analysis/StreamedStages.h"

namespace luminal {

/// The indices [lo, hi) of the streamed dim, over the dims of a row's index.
/// Empty if hi <= lo. Either end may lie outside of the dim.
struct StreamSpan {
  Expr lo, hi;
};

/// The span of the streamed dim that a row needs.
struct NeededSpan : StreamSpan {
  /// Whether the elements outside are masked only if no element that the
  /// products of scores multiply is NaN or larger than 2^kLogOfLargestScored.
  bool assumesBounded = false;
};
/// With elements of at most this size, scores are far from the overflow limit
/// of f32.
inline constexpr int kLogOfLargestScored = 50;

/// Finds the span outside of which no element of the row at `row` (one
/// expression for each dim of the parallel space) changes a state of the
/// anchors, except for 0 times elements of products that are not finite.
/// Refuses if the whole dim is needed.
Decision findStreamSpan(StreamedStages &t, const Index &row, NeededSpan &span);

/// A select over the streamed space whose condition (or its negation) holds for
/// the row at `row` at every index outside `exceptions`.
struct StreamSelect {
  llir::ElementwiseOp op;
  llvm::SmallVector<StreamSpan> exceptions;
};
/// Returns the selects whose condition compares indices, in the order of the
/// body.
llvm::SmallVector<StreamSelect> findStreamSelects(StreamedStages &t,
                                                  const Index &row);

/// Returns how an expression changes with a dim: 1 if it never falls, -1 if it
/// never rises, 0 if it is constant; std::nullopt if unknown.
std::optional<int> getDirection(const Expr &x, unsigned dim);

} // namespace luminal

#endif // LUMINAL_DIALECT_LLIR_ANALYSIS_MASKANALYSIS_H
