//===- JoinedColumns.h - Joined columns of products -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_DIALECT_LLIR_TRANSFORMS_JOINEDCOLUMNS_H
#define LUMINAL_DIALECT_LLIR_TRANSFORMS_JOINEDCOLUMNS_H

#include "luminal/Dialect/LLIR/IR/LLIR.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace luminal::llir {

/// Columns of a tensor [columns, rest...]: `source` read through `map`.
struct ColumnsPart {
  mlir::Value source;
  hlir::MapAttr map;
  int64_t columns;
};

/// Concatenates the parts to [columns of all parts, rest...] by a select on the
/// column. Each part is also evaluated at the columns of the other parts; its
/// index is clamped so that it stays in bounds.
mlir::Value joinColumns(mlir::ImplicitLocOpBuilder &b,
                        llvm::ArrayRef<ColumnsPart> parts,
                        llvm::ArrayRef<Expr> rest);

/// Return the extent of `v` along `dim`, and the contracted extent of a
/// product; std::nullopt if it is not known at compile time.
std::optional<int64_t> getKnownExtent(mlir::Value v, unsigned dim);
std::optional<int64_t> getKnownInner(GemmOp op);

/// Returns `columns` columns of `joined` along dim `column`, from `begin` on.
mlir::Value readColumns(mlir::OpBuilder &b, mlir::Value joined, unsigned column,
                        int64_t begin, int64_t columns);

/// Returns for each value whether it meets another one of `values`: some
/// elementwise op reads both, with only views and elementwise ops in between.
llvm::SmallVector<bool> findMeetings(llvm::ArrayRef<mlir::Value> values);

/// Returns whether the function returns `v` or a view of it; it then needs
/// memory of its own.
bool isReturned(mlir::Value v);

} // namespace luminal::llir

#endif // LUMINAL_DIALECT_LLIR_TRANSFORMS_JOINEDCOLUMNS_H
