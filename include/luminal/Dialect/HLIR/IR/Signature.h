//===- Signature.h - Symbols and requirements of a call -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_DIALECT_HLIR_IR_SIGNATURE_H
#define LUMINAL_DIALECT_HLIR_IR_SIGNATURE_H

#include "luminal/Support/SymbolSolver.h"
#include "mlir/IR/Operation.h"

namespace luminal::hlir {

/// On a function or schedule: [{name = "n", value = #hlir.map<() -> (s0)>}],
/// the integers that a call gives beside its tensors, and what each is equal
/// to.
constexpr llvm::StringLiteral kIntegersAttr = "hlir.integers";
/// On a result of type tensor<i1>, and on the output of a schedule that it
/// becomes: where it is false the call fails with this message (string). The
/// caller does not get the result.
constexpr llvm::StringLiteral kAssertionAttr = "hlir.assertion";

/// hlir.integers of `op`, read and written.
llvm::SmallVector<IntegerInput> getIntegers(mlir::Operation *op);
void setIntegers(mlir::Operation *op, llvm::ArrayRef<IntegerInput> integers);

} // namespace luminal::hlir

#endif // LUMINAL_DIALECT_HLIR_IR_SIGNATURE_H
