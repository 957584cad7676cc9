//===- Together.h - Joint products of few rows ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_DIALECT_LLIR_SCHEDULES_TOGETHER_H
#define LUMINAL_LIB_DIALECT_LLIR_SCHEDULES_TOGETHER_H

#include "Threads.h"

namespace luminal::llir {

/// Elements that one walk computes: each has sums in registers.
constexpr int64_t kMostTogether = 64;
constexpr llvm::StringLiteral kTogether = "together";
/// Threads of a block; and where that takes a single row.
constexpr unsigned kTogetherThreads = 128, kRowThreads = 256;

/// Products of which a team takes `rows` rows, all there are, of `columns`
/// columns together.
struct TogetherShape {
  int64_t rows = 1, columns = 1;
  /// Axes of the domain; no axis for a single row.
  std::optional<size_t> rowsAxis;
  size_t columnsAxis = 0;
  unsigned threads = 1, team = 1;
  /// Of each product: steps of k whose vectors are on their way together.
  llvm::SmallVector<int64_t> unrolls;
  /// Of a thread.
  int64_t registers = 0;

  /// The block of axis `i` of the domain.
  int64_t getBlock(size_t i) const {
    return i == rowsAxis ? rows : i == columnsAxis ? columns : 1;
  }
};

/// Products of few rows: a warp takes all rows of some columns, and reads what
/// they are multiplied with once. On an H200 four rows by 4096 x 28672 in bf16
/// took 3.8 times as long as one where each element read for itself. Nothing
/// where rows are many, or there are too few columns for it. `isShared`: blocks
/// share the row.
std::optional<TogetherShape>
chooseTogether(KernelAnalysis &a, const Domain &domain,
               llvm::ArrayRef<ReductionOpInterface> products,
               llvm::ArrayRef<AlongReduced> along, bool isShared,
               const MachineModel &machine);

/// Checks a case with that form: what one walk computes is known without other
/// loops, and how many elements.
mlir::LogicalResult
verifyTogether(KernelOp kernel, LoopCaseAttr loopCase,
               llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

} // namespace luminal::llir

#endif // LUMINAL_LIB_DIALECT_LLIR_SCHEDULES_TOGETHER_H
