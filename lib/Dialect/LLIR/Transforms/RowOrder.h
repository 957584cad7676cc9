//===- RowOrder.h - What it costs and saves to sort rows --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_DIALECT_LLIR_TRANSFORMS_ROWORDER_H
#define LUMINAL_LIB_DIALECT_LLIR_TRANSFORMS_ROWORDER_H

#include "luminal/Dialect/LLIR/IR/LLIR.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace luminal::llir {

/// Bytes of `matrices` that are not read any more where rows that look up one
/// of them each, all as likely, are sorted by it.
double countBytesShared(mlir::Value matrices, double rows,
                        llvm::function_ref<double(const Expr &)> nominal);

/// Nanoseconds of sorting rows: the kernels that find the order, and the sort.
double priceSort(double rows, double kernelTime, double operationRate);

} // namespace luminal::llir

#endif // LUMINAL_LIB_DIALECT_LLIR_TRANSFORMS_ROWORDER_H
