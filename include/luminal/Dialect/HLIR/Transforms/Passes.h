//===- Passes.h - Passes over HLIR ----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_DIALECT_HLIR_TRANSFORMS_PASSES_H
#define LUMINAL_DIALECT_HLIR_TRANSFORMS_PASSES_H

#include "luminal/Dialect/HLIR/IR/HLIR.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace luminal::hlir {

#define GEN_PASS_DECL
#include "luminal/Dialect/HLIR/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "luminal/Dialect/HLIR/Transforms/Passes.h.inc"

} // namespace luminal::hlir

#endif // LUMINAL_DIALECT_HLIR_TRANSFORMS_PASSES_H
