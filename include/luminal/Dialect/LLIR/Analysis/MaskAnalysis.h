//===- MaskAnalysis.h - What of a streamed dim a row needs ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A mask takes elements of a row out of everything that is computed of it: a
// select puts -inf where a condition does not hold, so that the maximum stays
// as it is and the exponential is 0. Where the condition compares indices, as
// a causal one or a window does, the elements that are left lie in a span of
// the streamed dim that the row's index tells, and the rest need not be
// walked.
//
// A product multiplies the zeros of the rest with elements of its right
// operand. That is 0 where those are finite; whoever leaves the rest out has
// to see to it.
//
// A mask that is added to scores, 0 or -inf, masks those alone that are neither
// NaN nor +inf, and one that they are multiplied with, 1 or 0, those that are
// finite. Scores of operands whose elements are small are: then this has to be
// seen to as well.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_DIALECT_LLIR_ANALYSIS_MASKANALYSIS_H
#define LUMINAL_DIALECT_LLIR_ANALYSIS_MASKANALYSIS_H

#include "luminal/Dialect/LLIR/Analysis/StreamedStages.h"

namespace luminal {

/// Indices of the streamed dim, [lo, hi), over the dims of a row's index. It is
/// empty where hi <= lo, and either end may lie outside of the dim.
struct StreamSpan {
  Expr lo, hi;
};

/// What a row needs of the streamed dim.
struct NeededSpan : StreamSpan {
  /// Whether the rest is masked only where no element that products of scores
  /// multiply is larger than 2^kLogOfLargestScored, or NaN.
  bool assumesBounded = false;
};
/// Scores of so large elements are far from the end of f32.
inline constexpr int kLogOfLargestScored = 50;

/// The span outside of which no element of the row at `row` (one expression for
/// each dim of the parallel space) changes any state of the anchors, but for
/// zeros times elements of products that are not finite. Refused where the
/// whole dim is needed.
Decision findStreamSpan(StreamedStages &t, const Index &row, NeededSpan &span);

/// A select over the streamed space whose condition, true or not, holds for the
/// row at `row` wherever an index is in none of `exceptions`.
struct StreamSelect {
  llir::ElementwiseOp op;
  llvm::SmallVector<StreamSpan> exceptions;
};
/// Those whose condition compares indices, in the order of the body.
llvm::SmallVector<StreamSelect> findStreamSelects(StreamedStages &t,
                                                  const Index &row);

/// How an expression changes with a dim: 1 and -1 where it never falls or never
/// rises, 0 where it is fixed.
std::optional<int> getDirection(const Expr &x, unsigned dim);

} // namespace luminal

#endif // LUMINAL_DIALECT_LLIR_ANALYSIS_MASKANALYSIS_H
