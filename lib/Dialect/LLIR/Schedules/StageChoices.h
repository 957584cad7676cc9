//===- StageChoices.h - What forms of several anchors share ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_DIALECT_LLIR_SCHEDULES_STAGECHOICES_H
#define LUMINAL_LIB_DIALECT_LLIR_SCHEDULES_STAGECHOICES_H

#include "ProductChoices.h"
#include "luminal/Dialect/LLIR/Analysis/StageAnalysis.h"

namespace luminal::llir {

/// Tiles of rows in one unit, at most: packing is paid once a unit.
constexpr int64_t kMostTiles = 8;
/// Accumulators of a pass along a row.
constexpr int64_t kPassUnroll = 2;

/// Checks the form of a product of the stages, and that its panel fits its
/// tile.
mlir::LogicalResult
verifyStage(const StageAnalysis &s, ProductAnalysis &p, LoopFormAttr form,
            const MachineModel &machine,
            llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

} // namespace luminal::llir

#endif // LUMINAL_LIB_DIALECT_LLIR_SCHEDULES_STAGECHOICES_H
