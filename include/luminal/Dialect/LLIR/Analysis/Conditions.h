//===- Conditions.h - Comparisons of indices ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What lies outside of an image is told by comparing indices. Where the ranges
// of loops decide that, there is nothing to compare.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_DIALECT_LLIR_ANALYSIS_CONDITIONS_H
#define LUMINAL_DIALECT_LLIR_ANALYSIS_CONDITIONS_H

#include "luminal/Dialect/LLIR/Analysis/KernelAnalysis.h"

#include <set>

namespace luminal {

/// The element of `v`, an i1, at `index`, where it is the same for all indices
/// in range.
std::optional<bool> decideCondition(const KernelAnalysis &a, mlir::Value v,
                                    const Index &index);

/// The values of `dim` from which on comparisons that the element of `v` at
/// `index` depends on have another outcome than before, as far as they depend
/// on `dim` alone.
std::set<int64_t> findEdges(KernelAnalysis &a, mlir::Value v,
                            const Index &index, unsigned dim);

/// The values of `dim` from which on another operand of a max or min is the
/// result, or a mod begins anew, in the addresses that the element of `v` at
/// `index` reads: where an index is clamped, runs back or begins again.
std::set<int64_t> findTurns(KernelAnalysis &a, mlir::Value v,
                            const Index &index, unsigned dim);

} // namespace luminal

#endif // LUMINAL_DIALECT_LLIR_ANALYSIS_CONDITIONS_H
