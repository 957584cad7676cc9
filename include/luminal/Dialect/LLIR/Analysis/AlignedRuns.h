//===- AlignedRuns.h - Neighbours in memory within vectors ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An index that is divided, such as the contracted one of a convolution, steps
// through memory by one only up to the next multiple of a divisor: of
// `d floordiv 192 * 3584 + d mod 192` each 192 elements are neighbours. A
// vector that begins at a multiple of its length is whole where that length
// divides every divisor.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_DIALECT_LLIR_ANALYSIS_ALIGNEDRUNS_H
#define LUMINAL_DIALECT_LLIR_ANALYSIS_ALIGNEDRUNS_H

#include "luminal/Support/Expr.h"

namespace luminal {

/// Whether `lanes` elements from each multiple of `lanes` along `dim` on are
/// neighbours at `address`, an expression in elements.
bool isAlignedRun(const Expr &address, unsigned dim, int64_t lanes,
                  const Assumptions &assumptions);

/// Whether `address` is a multiple of `lanes` wherever `dim` is.
bool beginsAtMultiple(const Expr &address, unsigned dim, int64_t lanes,
                      const Assumptions &assumptions);

} // namespace luminal

#endif // LUMINAL_DIALECT_LLIR_ANALYSIS_ALIGNEDRUNS_H
