//===- Passes.h - Passes over the e-graph ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_EQSAT_PASSES_H
#define LUMINAL_EQSAT_PASSES_H

#include "luminal/EqSat/Core/Limits.h"
#include "luminal/Support/MachineModel.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

#include <functional>
#include <memory>

namespace luminal::eqsat {

class SaturationSession;

#define GEN_PASS_DECL
#include "luminal/EqSat/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "luminal/EqSat/Passes.h.inc"

/// Called with each function, which then holds the extracted program, and with
/// its session.
using KeepSession =
    std::function<void(mlir::func::FuncOp, std::unique_ptr<SaturationSession>)>;

/// `machine` is the machine that prices are estimated for.
std::unique_ptr<mlir::Pass> createSaturatePass(SaturatePassOptions options,
                                               const Limits &limits,
                                               const MachineModel &machine = {},
                                               KeepSession keep = {});

} // namespace luminal::eqsat

#endif // LUMINAL_EQSAT_PASSES_H
