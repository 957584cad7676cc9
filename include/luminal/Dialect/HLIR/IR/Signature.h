//===- Signature.h - Symbols and requirements of a call -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_DIALECT_HLIR_IR_SIGNATURE_H
#define LUMINAL_DIALECT_HLIR_IR_SIGNATURE_H

#include "luminal/Support/SymbolSolver.h"
#include "mlir/IR/Operation.h"

namespace luminal::hlir {

/// An attribute of a function or schedule: [{name = "n", value = #hlir.map<()
/// -> (s0)>}], the integers that a call passes besides its tensors, and the
/// expression that each must equal.
constexpr llvm::StringLiteral kIntegersAttr = "hlir.integers";
/// An attribute of a result of type tensor<i1>, and of the schedule's output
/// for it: if it is false, the call fails with this message (a string). The
/// caller does not receive the result.
constexpr llvm::StringLiteral kAssertionAttr = "hlir.assertion";

/// Read and write hlir.integers of `op`.
llvm::SmallVector<IntegerInput> getIntegers(mlir::Operation *op);
void setIntegers(mlir::Operation *op, llvm::ArrayRef<IntegerInput> integers);

} // namespace luminal::hlir

#endif // LUMINAL_DIALECT_HLIR_IR_SIGNATURE_H
