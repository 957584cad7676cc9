//===- Cuts.h - Ranges of a size that want programs of their own ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_SEARCH_CUTS_H
#define LUMINAL_SEARCH_CUTS_H

#include "luminal/Support/Expr.h"
#include "luminal/Support/Result.h"

#include <functional>
#include <vector>

namespace luminal::search {

/// Whether the program for `range` alone is worth it at a size in it: faster
/// than the program for all sizes.
using IsWorthwhile =
    std::function<Result<bool>(const SymbolRange &range, int64_t at)>;

/// The sizes that are asked about: the least, its doubles, and the most; at
/// most `kMostSize` where there is no most.
constexpr int64_t kMostSize = 4096;
std::vector<int64_t> getCutPoints(const SymbolRange &range);

/// Ranges, in order, of which each is worth a program: the least size alone;
/// from the next one to the greatest point at which the program up to there
/// is; and from the least point above at which the program from there on is.
/// Both are found by bisection, so they are those cuts where what is asked
/// changes once. Asks the same in the same order for the same answers.
Result<std::vector<SymbolRange>> findCuts(const SymbolRange &range,
                                          const IsWorthwhile &isWorthwhile);

} // namespace luminal::search

#endif // LUMINAL_SEARCH_CUTS_H
