//===- JoinedColumns.h - Columns side by side -------------------*- C++ -*-===//
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

/// The parts one behind the other, [columns of all, rest...], each element
/// chosen by its column; every part is read within its bounds also at the
/// columns of others.
mlir::Value joinColumns(mlir::ImplicitLocOpBuilder &b,
                        llvm::ArrayRef<ColumnsPart> parts,
                        llvm::ArrayRef<Expr> rest);

/// The extent of `v` along `dim`, and that along which a product sums, where
/// they are known.
std::optional<int64_t> getKnownExtent(mlir::Value v, unsigned dim);
std::optional<int64_t> getKnownInner(GemmOp op);

/// `columns` of `joined` along dim `column`, from `begin` on.
mlir::Value readColumns(mlir::OpBuilder &b, mlir::Value joined, unsigned column,
                        int64_t begin, int64_t columns);

/// For each value whether an elementwise op follows, with nothing but views and
/// such ops between, that another of them is read by as well.
llvm::SmallVector<bool> findMeetings(llvm::ArrayRef<mlir::Value> values);

/// Whether the function returns `v` or a view of it, which then has memory of
/// its own.
bool isReturned(mlir::Value v);

} // namespace luminal::llir

#endif // LUMINAL_DIALECT_LLIR_TRANSFORMS_JOINEDCOLUMNS_H
