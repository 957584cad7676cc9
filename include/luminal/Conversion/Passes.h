//===- Passes.h - Passes between dialects ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_CONVERSION_PASSES_H
#define LUMINAL_CONVERSION_PASSES_H

#include "luminal/Dialect/LLIR/Utils/CodeBudget.h"
#include "mlir/Pass/Pass.h"

namespace luminal {

#define GEN_PASS_DECL
#include "luminal/Conversion/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "luminal/Conversion/Passes.h.inc"

} // namespace luminal

#endif // LUMINAL_CONVERSION_PASSES_H
