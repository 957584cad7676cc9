//===- Rows.h - Kernels of reductions over rows ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_DIALECT_LLIR_SCHEDULES_ROWS_H
#define LUMINAL_LIB_DIALECT_LLIR_SCHEDULES_ROWS_H

#include "Forms.h"
#include "llvm/ADT/SetVector.h"

namespace luminal::llir {

/// A kernel of reductions over rows of one domain.
struct RowReductions {
  explicit RowReductions(KernelOp kernel) : kernel(kernel) {
    llvm::append_range(reduces,
                       kernel.getBody().getOps<RowReductionOpInterface>());
    if (reduces.empty())
      return;
    extents = hlir::getExtents(reduces.front()->getOperand(0));
    extent = extents.pop_back_val();
  }

  /// Accepts if all loops are reductions of the same rows, and if results have
  /// the shape of the domain or of the rows. Finds `results`, before their
  /// trailing views if `mayMove`.
  Decision check(const KernelAnalysis &a, bool mayMove);

  bool isRowLevel(mlir::Value v) const { return getRank(v) == extents.size(); }
  bool hasElementLevel() const {
    return llvm::any_of(results, [&](const MovedResult &result) {
      return !isRowLevel(result.source);
    });
  }
  unsigned getStreamDim() const { return extents.size(); }
  /// Returns the dims of the rows; `column` is the dim of their elements.
  Domain findDomain(KernelAnalysis &a, unsigned column) const;

  KernelOp kernel;
  llvm::SmallVector<RowReductionOpInterface> reduces;
  /// Set by `check`.
  llvm::SmallVector<MovedResult> results;
  /// The extents of the rows, and the extent of the reduced dim.
  llvm::SmallVector<Expr> extents;
  Expr extent;
};

/// Appends dim `dim` to `index`.
Index append(Index index, unsigned dim);

/// Returns the reductions that the terms of `op` depend on.
llvm::SetVector<mlir::Operation *> findNeeded(mlir::Operation *op);

/// Groups reductions that can share a loop over the row (a walk).
class Walks {
public:
  struct Walk {
    llvm::SmallVector<RowReductionOpInterface, 2> ops;
    int64_t lanes;
    /// What they read along the row: arguments and addresses.
    llvm::SmallVector<Leaf> reads;
  };

  Walks(KernelAnalysis &a, const Domain &domain, unsigned column)
      : a(a), domain(domain), column(column) {}

  /// Adds `op`, which uses `lanes` lanes, to the first walk that it can join:
  /// one that reads some of the same elements, after all reductions that `op`
  /// depends on.
  void add(RowReductionOpInterface op, int64_t lanes);

  /// Gives all reductions their forms; `addForm` adds that of a walk.
  void addForms(CaseBuilder &c,
                llvm::function_ref<void(const Walk &, size_t)> addForm,
                llvm::SmallVectorImpl<Reporter::Arg> &why);

  llvm::SmallVector<Walk> walks;

private:
  KernelAnalysis &a;
  const Domain &domain;
  unsigned column;
};

/// Returns whether vectors should run across rows: the elements of a row are
/// far apart and rows are adjacent in memory, or rows are too short to fill a
/// vector of `lanes`. Reads that are the same for all rows, such as the indices
/// of a lookup, do not count in favour of vectors along rows.
bool shouldRunAcross(KernelAnalysis &a, const RowReductions &rows,
                     const Domain &domain, unsigned column, unsigned lanes,
                     llvm::SmallVectorImpl<Reporter::Arg> &why);

/// Returns the case `c`, and one with parts if they pay. A work item takes
/// `length` rows; on a GPU, a thread reads `each` elements and `bytes` bytes of
/// one row at once.
llvm::SmallVector<LoopCaseAttr>
addParts(CaseBuilder &c, KernelAnalysis &a, const RowReductions &rows,
         const Domain &domain, int64_t length, int64_t elements, double bytes,
         const MachineModel &machine,
         llvm::SmallVectorImpl<Reporter::Arg> &why);

/// Proposes the schedule on a GPU: a thread group takes a row, or, if adjacent
/// elements in memory belong to different rows and there are many rows, a
/// single thread does.
llvm::SmallVector<LoopCaseAttr>
proposeRowThreads(KernelAnalysis &a, const RowReductions &rows,
                  const Domain &domain, unsigned column,
                  const MachineModel &machine,
                  llvm::SmallVectorImpl<Reporter::Arg> &why);

/// Counts the work of a schedule of rows.
LoopWork countRows(KernelOp kernel, const KernelAnalysis::SymbolRanges &ranges,
                   LoopCaseAttr loopCase, const MachineModel &machine);

} // namespace luminal::llir

#endif // LUMINAL_LIB_DIALECT_LLIR_SCHEDULES_ROWS_H
