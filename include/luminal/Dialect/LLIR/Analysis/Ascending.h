//===- Ascending.h - Proofs that integers are sorted ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_DIALECT_LLIR_ANALYSIS_ASCENDING_H
#define LUMINAL_DIALECT_LLIR_ANALYSIS_ASCENDING_H

#include "luminal/Dialect/LLIR/IR/LLIR.h"

namespace luminal::llir {

/// Returns whether the elements of `v`, which has one dim, are proved to be in
/// ascending order (with repetitions): a running count, sorted integers, or a
/// monotonic function of these.
bool isAscending(mlir::Value v, const Assumptions &symbols);

} // namespace luminal::llir

#endif // LUMINAL_DIALECT_LLIR_ANALYSIS_ASCENDING_H
