//===- Passes.h - Passes over LLIR ----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_DIALECT_LLIR_TRANSFORMS_PASSES_H
#define LUMINAL_DIALECT_LLIR_TRANSFORMS_PASSES_H

#include "luminal/Dialect/LLIR/IR/LLIR.h"
#include "luminal/Dialect/LLIR/Utils/CodeBudget.h"
#include "luminal/Support/MachineModel.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace luminal::llir {

/// An attribute of a step without a kernel, set by `llir-plan-memory` with
/// `keep-calls`: the function that holds the call.
constexpr llvm::StringLiteral kComputesAttr = "llir.computes";

#define GEN_PASS_DECL
#include "luminal/Dialect/LLIR/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "luminal/Dialect/LLIR/Transforms/Passes.h.inc"

} // namespace luminal::llir

#endif // LUMINAL_DIALECT_LLIR_TRANSFORMS_PASSES_H
