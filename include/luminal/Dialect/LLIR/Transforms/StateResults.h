//===- StateResults.h - Results in the memory of states ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_DIALECT_LLIR_TRANSFORMS_STATERESULTS_H
#define LUMINAL_DIALECT_LLIR_TRANSFORMS_STATERESULTS_H

#include "luminal/Dialect/LLIR/IR/LLIR.h"

namespace luminal::llir {

/// An attribute of a function result that updates a state: its producer writes
/// it to the memory of the state (`llir-write-states`), whose old value nothing
/// reads afterwards.
constexpr llvm::StringLiteral kInStateAttr = "llir.in_state";

/// Follows updates in place back to the value whose memory `value` shares.
mlir::Value getFirstMemory(mlir::Value value);

} // namespace luminal::llir

#endif // LUMINAL_DIALECT_LLIR_TRANSFORMS_STATERESULTS_H
