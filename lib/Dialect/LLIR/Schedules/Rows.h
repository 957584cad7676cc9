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

  /// Whether all loops are those of reductions of the same rows, and the
  /// results have their shape or that of the rows; finds `results`, moved ones
  /// where they may be.
  Decision check(const KernelAnalysis &a, bool mayMove);

  bool isRowLevel(mlir::Value v) const { return getRank(v) == extents.size(); }
  bool hasElementLevel() const {
    return llvm::any_of(results, [&](const MovedResult &result) {
      return !isRowLevel(result.source);
    });
  }
  unsigned getStreamDim() const { return extents.size(); }
  /// The dims of the rows; `column` is that of their elements.
  Domain findDomain(KernelAnalysis &a, unsigned column) const;

  KernelOp kernel;
  llvm::SmallVector<RowReductionOpInterface> reduces;
  /// Once `check` found them.
  llvm::SmallVector<MovedResult> results;
  /// Of the rows, and of the dim that is reduced.
  llvm::SmallVector<Expr> extents;
  Expr extent;
};

/// `index`, and then dim number `dim`.
Index append(Index index, unsigned dim);

/// The reductions whose results the terms of `op` need.
llvm::SetVector<mlir::Operation *> findNeeded(mlir::Operation *op);

/// Finds reductions that can share a walk.
class Walks {
public:
  struct Walk {
    llvm::SmallVector<RowReductionOpInterface, 2> ops;
    int64_t lanes;
    /// What they read along the row: arguments, and where.
    llvm::SmallVector<Leaf> reads;
  };

  Walks(KernelAnalysis &a, const Domain &domain, unsigned column)
      : a(a), domain(domain), column(column) {}

  /// Adds `op`, which uses so many lanes, to the first walk that it can join:
  /// one that reads some of the same, after all whose results `op` needs.
  void add(RowReductionOpInterface op, int64_t lanes);

  /// Gives all reductions their forms: `getNumbers` those of a walk.
  void addForms(CaseBuilder &c,
                llvm::function_ref<void(const Walk &, size_t)> addForm,
                llvm::SmallVectorImpl<Reporter::Arg> &why);

  llvm::SmallVector<Walk> walks;

private:
  KernelAnalysis &a;
  const Domain &domain;
  unsigned column;
};

/// Where elements of a row are far apart and rows are next to each other, or
/// rows are too short to fill a vector of `lanes`. What all rows read alike, as
/// the index that they look up, is no reason for vectors along them.
bool shouldRunAcross(KernelAnalysis &a, const RowReductions &rows,
                     const Domain &domain, unsigned column, unsigned lanes,
                     llvm::SmallVectorImpl<Reporter::Arg> &why);

/// The case `c`, and one with parts where they pay. A unit takes `length` rows;
/// a thread of a GPU reads so many elements and `bytes` of one at once.
llvm::SmallVector<LoopCaseAttr>
addParts(CaseBuilder &c, KernelAnalysis &a, const RowReductions &rows,
         const Domain &domain, int64_t length, int64_t elements, double bytes,
         const MachineModel &machine,
         llvm::SmallVectorImpl<Reporter::Arg> &why);

/// The schedule on a GPU: a team takes a row, or a thread does where neighbours
/// in memory are in different rows, of which there are many.
llvm::SmallVector<LoopCaseAttr>
proposeRowThreads(KernelAnalysis &a, const RowReductions &rows,
                  const Domain &domain, unsigned column,
                  const MachineModel &machine,
                  llvm::SmallVectorImpl<Reporter::Arg> &why);

/// What a schedule of rows does.
LoopWork countRows(KernelOp kernel, const KernelAnalysis::SymbolRanges &ranges,
                   LoopCaseAttr loopCase, const MachineModel &machine);

} // namespace luminal::llir

#endif // LUMINAL_LIB_DIALECT_LLIR_SCHEDULES_ROWS_H
