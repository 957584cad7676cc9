//===- JoinedRows.h - Rows of chains of selects ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensors one behind the other are a chain of selects by the index along the
// first dim that has more than one: select(d0 < 1, a, select(d0 < 3, b, c)).
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_LIB_DIALECT_LLIR_TRANSFORMS_JOINEDROWS_H
#define LUMINAL_LIB_DIALECT_LLIR_TRANSFORMS_JOINEDROWS_H

#include "luminal/Dialect/LLIR/IR/LLIR.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"

namespace luminal::llir {

/// Rows [begin, end) of a tensor, where they are those of `value`, which has
/// the tensor's shape.
struct Rows {
  mlir::Value value;
  Expr begin, end;
};

/// The rows of the chain of selects that `joined` is, in order; one where it is
/// none. Adds its selects to `chain`.
llvm::SmallVector<Rows>
cutRows(mlir::Value joined, const Assumptions &symbols,
        llvm::SmallVectorImpl<mlir::Value> *chain = nullptr);

/// What rows are elements of: a value that is no view, the map from an index of
/// the rows to one of it, and the extents of the rows.
struct RowsSource {
  mlir::Value value;
  hlir::MapAttr map;
  llvm::SmallVector<Expr> extents;
};
RowsSource getSource(const Rows &rows, mlir::Value joined,
                     const Assumptions &symbols);

/// Whether the rows are proved to begin in `joined`'s memory at a multiple of
/// the alignment that kernels count on for any buffer.
bool isAligned(const Rows &rows, mlir::Value joined,
               const Assumptions &symbols);

/// What is computed when weights are bound, where equal values become one.
llvm::DenseSet<mlir::Operation *> findPrepared(mlir::func::FuncOp func);

} // namespace luminal::llir

#endif // LUMINAL_LIB_DIALECT_LLIR_TRANSFORMS_JOINEDROWS_H
