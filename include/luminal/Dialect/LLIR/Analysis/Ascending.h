//===- Ascending.h - Integers in ascending order ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_DIALECT_LLIR_ANALYSIS_ASCENDING_H
#define LUMINAL_DIALECT_LLIR_ANALYSIS_ASCENDING_H

#include "luminal/Dialect/LLIR/IR/LLIR.h"

namespace luminal::llir {

/// Whether the elements of `v`, of one dim, are proved to rise or stay: what a
/// place has before it, or integers that were sorted, or a function of these
/// that never falls.
bool isAscending(mlir::Value v, const Assumptions &symbols);

} // namespace luminal::llir

#endif // LUMINAL_DIALECT_LLIR_ANALYSIS_ASCENDING_H
