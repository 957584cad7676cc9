//===- JoinedRows.h - Rows joined by chains of selects --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Concatenated tensors are a chain of selects by the index along the first dim
// whose extent is not 1: select(d0 < 1, a, select(d0 < 3, b, c)).
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_LIB_DIALECT_LLIR_TRANSFORMS_JOINEDROWS_H
#define LUMINAL_LIB_DIALECT_LLIR_TRANSFORMS_JOINEDROWS_H

#include "luminal/Dialect/LLIR/IR/LLIR.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"

namespace luminal::llir {

/// Rows [begin, end) of a tensor that equal those of `value`, which has the
/// tensor's shape.
struct Rows {
  mlir::Value value;
  Expr begin, end;
};

/// Returns the rows of the chain of selects that defines `joined`, in order; a
/// single entry if it is no chain. Appends the selects to `chain`.
llvm::SmallVector<Rows>
cutRows(mlir::Value joined, const Assumptions &symbols,
        llvm::SmallVectorImpl<mlir::Value> *chain = nullptr);

/// The source of rows: a value that is no view, the map from an index of the
/// rows to its index, and the extents of the rows.
struct RowsSource {
  mlir::Value value;
  hlir::MapAttr map;
  llvm::SmallVector<Expr> extents;
};
RowsSource getSource(const Rows &rows, mlir::Value joined,
                     const Assumptions &symbols);

/// Returns whether the rows are proved to begin, in the memory of `joined`, at
/// a multiple of the alignment that kernels assume for every buffer.
bool isAligned(const Rows &rows, mlir::Value joined,
               const Assumptions &symbols);

/// Returns the ops that are computed when weights are bound, where equal values
/// are merged.
llvm::DenseSet<mlir::Operation *> findPrepared(mlir::func::FuncOp func);

} // namespace luminal::llir

#endif // LUMINAL_LIB_DIALECT_LLIR_TRANSFORMS_JOINEDROWS_H
