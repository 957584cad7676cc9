//===- Conditions.h - Decides comparisons of indices ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs find out whether a position is in the padding of an image by
// comparing indices. If the ranges of loops decide a comparison, no code is
// emitted for it.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_DIALECT_LLIR_ANALYSIS_CONDITIONS_H
#define LUMINAL_DIALECT_LLIR_ANALYSIS_CONDITIONS_H

#include "luminal/Dialect/LLIR/Analysis/KernelAnalysis.h"

#include <set>

namespace luminal {

/// Returns the element of `v`, an i1, at `index`, if it is the same for all
/// indices in range; otherwise std::nullopt.
std::optional<bool> decideCondition(const KernelAnalysis &a, mlir::Value v,
                                    const Index &index);

/// Returns the values of `dim` at which a comparison changes its outcome, among
/// the comparisons that the element of `v` at `index` depends on and that
/// depend on `dim` alone.
std::set<int64_t> findEdges(KernelAnalysis &a, mlir::Value v,
                            const Index &index, unsigned dim);

/// Returns the values of `dim` at which a max or min switches to its other
/// operand, or a mod wraps around, in the addresses that the element of `v` at
/// `index` reads: the index is clamped, runs backwards or restarts there.
std::set<int64_t> findTurns(KernelAnalysis &a, mlir::Value v,
                            const Index &index, unsigned dim);

} // namespace luminal

#endif // LUMINAL_DIALECT_LLIR_ANALYSIS_CONDITIONS_H
