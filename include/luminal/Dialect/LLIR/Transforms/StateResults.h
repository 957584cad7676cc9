//===- StateResults.h - Results in the memory of states ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_DIALECT_LLIR_TRANSFORMS_STATERESULTS_H
#define LUMINAL_DIALECT_LLIR_TRANSFORMS_STATERESULTS_H

#include "luminal/Dialect/LLIR/IR/LLIR.h"

namespace luminal::llir {

/// Of a function's result that updates a state: what makes it writes it to the
/// memory of the state (`llir-write-states`), which nothing reads any more.
constexpr llvm::StringLiteral kInStateAttr = "llir.in_state";

/// The value whose memory `value` has by updates in place.
mlir::Value getFirstMemory(mlir::Value value);

} // namespace luminal::llir

#endif // LUMINAL_DIALECT_LLIR_TRANSFORMS_STATERESULTS_H
