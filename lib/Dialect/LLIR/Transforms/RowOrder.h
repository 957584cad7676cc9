//===- RowOrder.h - The price of sorted rows --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_DIALECT_LLIR_TRANSFORMS_ROWORDER_H
#define LUMINAL_LIB_DIALECT_LLIR_TRANSFORMS_ROWORDER_H

#include "luminal/Dialect/LLIR/IR/LLIR.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace luminal::llir {

/// Returns the bytes of `matrices` that need not be read if rows, each of which
/// looks up one of them with equal probability, are sorted by matrix.
double countBytesShared(mlir::Value matrices, double rows,
                        llvm::function_ref<double(const Expr &)> nominal);

/// Returns the nanoseconds of sorting rows: the kernels that compute the order,
/// and the sort.
double priceSort(double rows, double kernelTime, double operationRate);

} // namespace luminal::llir

#endif // LUMINAL_LIB_DIALECT_LLIR_TRANSFORMS_ROWORDER_H
