//===- UpdateOrder.h - Updates whose order does not matter ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_DIALECT_LLIR_ANALYSIS_UPDATEORDER_H
#define LUMINAL_DIALECT_LLIR_ANALYSIS_UPDATEORDER_H

#include "luminal/Dialect/LLIR/IR/LLIR.h"

namespace luminal::llir {

/// Returns whether the updates of a scatter give the same bits in any order,
/// also in parallel. This holds for: sums and maxima of integers, which are
/// exact; maxima of f32 or f64, with -0 ordered below 0; a single
/// update; and `set` if the indices are pairwise different, or if the elements
/// depend on the index alone, so that equal indices set equal rows. The proof
/// uses the ops that define indices and updates, inside a kernel's body or
/// outside. `symbols` are the ranges of the symbols.
bool isOrderFree(ScatterOp op, const Assumptions &symbols);

/// Returns whether `indices`, of one dim, is proved to hold each of 0 to `rows`
/// - 1 once: all of the order (argsort) of one row.
bool isPermutation(mlir::Value indices, const Expr &rows,
                   const Assumptions &symbols);

} // namespace luminal::llir

#endif // LUMINAL_DIALECT_LLIR_ANALYSIS_UPDATEORDER_H
