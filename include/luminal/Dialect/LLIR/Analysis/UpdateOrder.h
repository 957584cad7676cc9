//===- UpdateOrder.h - Updates whose order is of no matter ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_DIALECT_LLIR_ANALYSIS_UPDATEORDER_H
#define LUMINAL_DIALECT_LLIR_ANALYSIS_UPDATEORDER_H

#include "luminal/Dialect/LLIR/IR/LLIR.h"

namespace luminal::llir {

/// Whether the updates of a scatter give the same bits in any order, and at
/// once: integers are added or compared, which is exact; f32 or f64 are
/// compared, of which -0 is below 0 then; there is at most one update; or rows
/// are set whose indices are pairwise different, or whose elements follow from
/// the index alone, so that equal indices set equal rows. Found from the ops
/// that define the indices and updates, in a kernel's body or outside of one.
/// `symbols` are the ranges of the symbols.
bool isOrderFree(ScatterOp op, const Assumptions &symbols);

/// Whether `indices`, of one dim, hold each of 0 to `rows` - 1 once: all of the
/// order of one row.
bool isPermutation(mlir::Value indices, const Expr &rows,
                   const Assumptions &symbols);

} // namespace luminal::llir

#endif // LUMINAL_DIALECT_LLIR_ANALYSIS_UPDATEORDER_H
