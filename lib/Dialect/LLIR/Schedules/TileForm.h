//===- TileForm.h - Tiles of thread blocks --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_DIALECT_LLIR_SCHEDULES_TILEFORM_H
#define LUMINAL_LIB_DIALECT_LLIR_SCHEDULES_TILEFORM_H

#include "BlockChoices.h"

namespace luminal::llir {

/// Whether the side is a multiple of so many lanes: vectors may not reach
/// beyond it.
bool isWhole(const ProductAnalysis &p, const Expr &extent, int64_t lanes);

/// What a form says of its tile, and what follows from it.
struct TileForm {
  /// Threads of the block, as its warps and threads are laid over a tile; by
  /// wgmma four warps have 64 rows.
  static constexpr unsigned kThreads = 256, kGroupThreads = 128;
  static constexpr int64_t kGroupRows = 64;
  /// Blocks that find room on a multiprocessor: one computes while another
  /// waits.
  static constexpr int64_t kResidents = 2;

  int64_t rows = 0, columns = 0, depth = 0;
  /// `mma`, `wgmma` or `fma`.
  llvm::StringRef use;
  BlockReading left, right;
  int64_t stages = 1;
  /// Blocks that are to have room on a multiprocessor; 1: no matter.
  int64_t residents = 1;
  bool copiesRows = false, copiesColumns = false;
  unsigned resultLanes = 1;
  bool resultsAlongRows = false;

  /// `rows` and `columns` are the blocks of their axes.
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
  /// Of one step of k.
  int64_t countSharedBytes(const ProductAnalysis &p) const;
  /// Of what is there at any time.
  int64_t countAllSharedBytes(const ProductAnalysis &p) const;
  /// Chooses what is copied, stages and residents.
  void chooseStages(const ProductAnalysis &p, const MachineModel &machine,
                    bool mayHaveMany = false);
  void chooseResults(const ProductAnalysis &p, const MachineModel &machine);
  /// The word of the form for what is copied; empty: nothing.
  llvm::StringRef getCopied() const {
    if (copiesRows)
      return copiesColumns ? "both" : "rows";
    return copiesColumns ? "columns" : "";
  }
};

} // namespace luminal::llir

#endif // LUMINAL_LIB_DIALECT_LLIR_SCHEDULES_TILEFORM_H
