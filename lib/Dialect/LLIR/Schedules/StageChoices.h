//===- StageChoices.h - Choices for forms of several anchors --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_DIALECT_LLIR_SCHEDULES_STAGECHOICES_H
#define LUMINAL_LIB_DIALECT_LLIR_SCHEDULES_STAGECHOICES_H

#include "ProductChoices.h"
#include "luminal/Dialect/LLIR/Analysis/StageAnalysis.h"

namespace luminal::llir {

/// The most row tiles of a work item: each work item packs columns once.
constexpr int64_t kMostTiles = 8;
/// The number of accumulators of a pass along a row.
constexpr int64_t kPassUnroll = 2;

/// Gives a product of the stages its form: one for few rows, or a tile whose
/// rows divide `rowBlock` (0: all rows) and whose panel divides `chunk` (0: any
/// panel).
void addStageProduct(CaseBuilder &c, const StageAnalysis &s, ProductAnalysis &p,
                     int64_t rowBlock, bool isFew, const MachineModel &machine,
                     int64_t chunk = 0);

/// Returns the cases of a kernel for which `first` proposes a grid: one, or, if
/// the number of rows of a work item is not known, a second one for few rows.
template <typename Proposal>
llvm::SmallVector<LoopCaseAttr>
proposeByRows(Proposal &first, KernelOp kernel,
              const KernelAnalysis::SymbolRanges &ranges,
              const MachineModel &machine) {
  std::optional<Expr> rows = first.getRows();
  std::optional<int64_t> count = rows ? rows->asConstant() : 1;
  first.addForms(/*isFew=*/!count || *count <= kFewRows);
  if (count)
    return {first.c.build()};
  first.c.atMost.push_back({*rows, kFewRows});
  Proposal many(kernel, ranges, machine);
  bool found(many.addGrid());
  assert(found && "the anchors are the same");
  (void)found;
  many.addForms(/*isFew=*/false);
  return {first.c.build(), many.c.build()};
}

/// Returns the rows or columns of a product that a work item takes.
double countBlock(const StageAnalysis &s, const ProductSide &side,
                  const KernelSizes &sizes);

/// Checks the form of a product of the stages, and that its panel fits its
/// tile.
mlir::LogicalResult
verifyStage(const StageAnalysis &s, ProductAnalysis &p, LoopFormAttr form,
            const MachineModel &machine,
            llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

} // namespace luminal::llir

#endif // LUMINAL_LIB_DIALECT_LLIR_SCHEDULES_STAGECHOICES_H
