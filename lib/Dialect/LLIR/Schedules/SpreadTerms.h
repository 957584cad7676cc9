//===- SpreadTerms.h - Terms spread over thread groups --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_DIALECT_LLIR_SCHEDULES_SPREADTERMS_H
#define LUMINAL_LIB_DIALECT_LLIR_SCHEDULES_SPREADTERMS_H

#include "Threads.h"

namespace luminal::llir {

/// A reduction of few terms, each of which follows from products along memory,
/// as those of the experts of one token, which are summed: each team of a block
/// computes a term.
struct SpreadTerms {
  ReductionOpInterface reduction;
  int64_t terms = 0;
  llvm::SmallVector<ReductionOpInterface> products;
  /// Of each product: lanes, and rounds whose vectors are on their way
  /// together.
  llvm::SmallVector<unsigned> lanes;
  llvm::SmallVector<int64_t> unrolls;
  /// Threads that compute a term.
  unsigned team = 1;
};
/// Nothing where the kernel's reductions are something else.
std::optional<SpreadTerms>
chooseSpread(KernelAnalysis &a, const Domain &domain,
             llvm::ArrayRef<ReductionOpInterface> reductions,
             const MachineModel &machine);

/// The threads that compute `op` for one element together: a team, or of a
/// reduction whose terms are spread their part of it.
unsigned getTeamOf(mlir::Operation *op, LoopCaseAttr loopCase);

/// Checks a case with that form: the block is a team for each term.
mlir::LogicalResult
verifySpread(KernelOp kernel, LoopCaseAttr loopCase,
             const MachineModel &machine,
             llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

} // namespace luminal::llir

#endif // LUMINAL_LIB_DIALECT_LLIR_SCHEDULES_SPREADTERMS_H
