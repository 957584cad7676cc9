//===- Cuts.h - Ranges of a size that want programs of their own ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_SEARCH_CUTS_H
#define LUMINAL_SEARCH_CUTS_H

#include "luminal/Support/Expr.h"
#include "luminal/Support/Result.h"

#include <functional>
#include <vector>

namespace luminal::search {

/// Returns whether a program for `range` alone is faster at size `at` than the
/// program for all sizes.
using IsWorthwhile =
    std::function<Result<bool>(const SymbolRange &range, int64_t at)>;

/// The sizes to ask about: the smallest, its successive powers of two above,
/// and the largest; up to `kMostSize` if the range has no upper bound.
constexpr int64_t kMostSize = 4096;
std::vector<int64_t> getCutPoints(const SymbolRange &range);

/// Finds up to three ranges, in ascending order, that deserve a program of
/// their own: the smallest size alone; the sizes after it up to the largest cut
/// point for which `isWorthwhile`; and the sizes from the smallest cut point
/// above that on, for which it is. The last two are found by bisection, which
/// assumes that the answer changes only once. Deterministic: equal answers lead
/// to the same questions in the same order.
Result<std::vector<SymbolRange>> findCuts(const SymbolRange &range,
                                          const IsWorthwhile &isWorthwhile);

} // namespace luminal::search

#endif // LUMINAL_SEARCH_CUTS_H
