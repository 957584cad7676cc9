//===- TileForm.h - Tiles of thread blocks --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_DIALECT_LLIR_SCHEDULES_TILEFORM_H
#define LUMINAL_LIB_DIALECT_LLIR_SCHEDULES_TILEFORM_H

#include "BlockChoices.h"

namespace luminal::llir {

/// Returns whether the side's extent is a multiple of `lanes`: vectors must not
/// reach beyond it.
bool isWhole(const ProductAnalysis &p, const Expr &extent, int64_t lanes);

/// The tile that a form states, and the quantities that follow from it.
struct TileForm {
  /// Threads of a block, with fma and mma, and with wgmma, where four warps
  /// have 64 rows.
  static constexpr unsigned kThreads = 256, kGroupThreads = 128;
  static constexpr int64_t kGroupRows = 64;
  /// Resident blocks on an SM: one computes while another waits.
  static constexpr int64_t kResidents = 2;

  int64_t rows = 0, columns = 0, depth = 0;
  /// `mma`, `wgmma` or `fma`.
  llvm::StringRef use;
  BlockReading left, right;
  int64_t stages = 1;
  /// Blocks that must be resident on an SM; 1: no requirement.
  int64_t residents = 1;
  bool copiesRows = false, copiesColumns = false;
  unsigned resultLanes = 1;
  bool resultsAlongRows = false;

  /// Parses a form; `rows` and `columns` are the blocks of their axes.
  static TileForm get(LoopFormAttr form, int64_t rows, int64_t columns);

  bool useTensorCores() const { return use != "fma"; }
  bool useWarpGroups() const { return use == "wgmma"; }
  unsigned getThreads() const {
    return useWarpGroups() ? rows / kGroupRows * kGroupThreads : kThreads;
  }
  mlir::Type getMultipliedType(const ProductAnalysis &p) const {
    return useTensorCores() ? getElementType(p.rows.operand) : p.accumulator;
  }
  Decision canCopyRows(const ProductAnalysis &p) const {
    return canCopy(p, p.rows, left, getMultipliedType(p),
                   /*mayBeAcross=*/false);
  }
  Decision canCopyColumns(const ProductAnalysis &p) const {
    return canCopy(p, p.columns, right, getMultipliedType(p),
                   /*mayBeAcross=*/useTensorCores());
  }
  int64_t countSums() const { return rows * columns / getThreads(); }
  /// Returns the shared memory of one step of k.
  int64_t countSharedBytes(const ProductAnalysis &p) const;
  /// Returns the shared memory of the block: all stages, whose memory the
  /// results reuse.
  int64_t countAllSharedBytes(const ProductAnalysis &p) const;
  /// Chooses which sides are copied, the stages and the resident blocks.
  void chooseStages(const ProductAnalysis &p, const MachineModel &machine,
                    bool mayHaveMany = false);
  void chooseResults(const ProductAnalysis &p, const MachineModel &machine);
  /// Returns the word of the form for the sides that are copied; empty if none
  /// is.
  llvm::StringRef getCopied() const {
    if (copiesRows)
      return copiesColumns ? "both" : "rows";
    return copiesColumns ? "columns" : "";
  }
};

} // namespace luminal::llir

#endif // LUMINAL_LIB_DIALECT_LLIR_SCHEDULES_TILEFORM_H
