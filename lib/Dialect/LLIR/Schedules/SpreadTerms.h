//===- SpreadTerms.h - Terms spread over thread groups --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_DIALECT_LLIR_SCHEDULES_SPREADTERMS_H
#define LUMINAL_LIB_DIALECT_LLIR_SCHEDULES_SPREADTERMS_H

#include "Threads.h"

namespace luminal::llir {

/// A reduction of few terms, each of which depends on products along memory,
/// such as the weighted sum of the experts of one token: each thread group of a
/// block computes one term.
struct SpreadTerms {
  ReductionOpInterface reduction;
  int64_t terms = 0;
  llvm::SmallVector<ReductionOpInterface> products;
  /// For each product: the lanes, and the rounds whose loads are in flight
  /// together.
  llvm::SmallVector<unsigned> lanes;
  llvm::SmallVector<int64_t> unrolls;
  /// Threads that compute a term.
  unsigned team = 1;
};
/// Returns std::nullopt if the kernel's reductions have another structure.
std::optional<SpreadTerms>
chooseSpread(KernelAnalysis &a, const Domain &domain,
             llvm::ArrayRef<ReductionOpInterface> reductions,
             const MachineModel &machine);

/// Returns the number of threads that compute `op` for one element together:
/// the thread group, or for a spread reduction its share of the block.
unsigned getTeamOf(mlir::Operation *op, LoopCaseAttr loopCase);

/// Checks a case with this form: the block has one thread group for each term.
mlir::LogicalResult
verifySpread(KernelOp kernel, LoopCaseAttr loopCase,
             const MachineModel &machine,
             llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

} // namespace luminal::llir

#endif // LUMINAL_LIB_DIALECT_LLIR_SCHEDULES_SPREADTERMS_H
