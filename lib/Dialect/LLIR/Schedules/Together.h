//===- Together.h - Joint products of few rows ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_DIALECT_LLIR_SCHEDULES_TOGETHER_H
#define LUMINAL_LIB_DIALECT_LLIR_SCHEDULES_TOGETHER_H

#include "Threads.h"

namespace luminal::llir {

/// The most elements that one loop computes together: each has accumulators in
/// registers.
constexpr int64_t kMostTogether = 64;
constexpr llvm::StringLiteral kTogether = "together";
/// Threads of a block; and of a block that takes a single row.
constexpr unsigned kTogetherThreads = 128, kRowThreads = 256;

/// Products for which a thread group takes all `rows` rows and `columns`
/// columns together.
struct TogetherShape {
  int64_t rows = 1, columns = 1;
  /// The axes of the domain; a single row has no axis.
  std::optional<size_t> rowsAxis;
  size_t columnsAxis = 0;
  unsigned threads = 1, team = 1;
  /// For each product: the steps of k whose loads are in flight together.
  llvm::SmallVector<int64_t> unrolls;
  /// Registers of a thread.
  int64_t registers = 0;

  /// Returns the block of axis `i` of the domain.
  int64_t getBlock(size_t i) const {
    return i == rowsAxis ? rows : i == columnsAxis ? columns : 1;
  }
};

/// Chooses the shape for products of few rows: a warp takes all rows of some
/// columns, and loads the columns once for all of them. On an H200, four rows
/// by 4096 x 28672 in bf16 took 3.8 times as long as one row when each element
/// loaded its own operands. Returns std::nullopt if there are many rows, or too
/// few columns. `isShared` says that blocks share the row.
std::optional<TogetherShape>
chooseTogether(KernelAnalysis &a, const Domain &domain,
               llvm::ArrayRef<ReductionOpInterface> products,
               llvm::ArrayRef<AlongReduced> along, bool isShared,
               const MachineModel &machine);

/// Checks a case with this form: each element needs no other loops, and the
/// number of elements of a work item is known.
mlir::LogicalResult
verifyTogether(KernelOp kernel, LoopCaseAttr loopCase,
               llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

} // namespace luminal::llir

#endif // LUMINAL_LIB_DIALECT_LLIR_SCHEDULES_TOGETHER_H
