//===- AlignedRuns.h - Contiguous runs behind divided indices ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An index that is divided, such as the contracted index of a convolution,
// steps through memory by one only up to the next multiple of a divisor: with
// `d floordiv 192 * 3584 + d mod 192`, each 192 elements are contiguous. A
// vector that begins at a multiple of its length does not cross such a boundary
// if its length divides every divisor. With quotients only, such as `d floordiv
// 192` for the channel of a pixel, it is then the same element in all lanes.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_DIALECT_LLIR_ANALYSIS_ALIGNEDRUNS_H
#define LUMINAL_DIALECT_LLIR_ANALYSIS_ALIGNEDRUNS_H

#include "luminal/Support/Expr.h"

namespace luminal {

/// Returns by how many elements `address` (an expression in elements) grows
/// from one lane to the next, for `lanes` elements from each multiple of
/// `lanes` along `dim`; std::nullopt if that is not constant.
std::optional<int64_t> findAlignedStep(const Expr &address, unsigned dim,
                                       int64_t lanes,
                                       const Assumptions &assumptions);

/// Returns whether, at `address` (an expression in elements), the `lanes`
/// elements from each multiple of `lanes` along `dim` are contiguous.
bool isAlignedRun(const Expr &address, unsigned dim, int64_t lanes,
                  const Assumptions &assumptions);

/// Returns whether `address` is a multiple of `lanes` whenever `dim` is.
bool beginsAtMultiple(const Expr &address, unsigned dim, int64_t lanes,
                      const Assumptions &assumptions);

} // namespace luminal

#endif // LUMINAL_DIALECT_LLIR_ANALYSIS_ALIGNEDRUNS_H
