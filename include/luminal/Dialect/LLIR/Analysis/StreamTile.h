//===- StreamTile.h - Streamed anchors by a block of threads --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// On a GPU a block of threads takes a tile of rows through streamed anchors
// (StreamAnalysis). What rows have is in registers: scores of a chunk, states,
// lines that products sum; right operands pass through shared memory, where the
// rows of left operands stay. So extents besides rows and the streamed one are
// bounded, and known.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_DIALECT_LLIR_ANALYSIS_STREAMTILE_H
#define LUMINAL_DIALECT_LLIR_ANALYSIS_STREAMTILE_H

#include "luminal/Dialect/LLIR/Analysis/StreamAnalysis.h"

namespace luminal {

/// The type in which a product's operands may be multiplied: f16 or bf16 where
/// both are, or are widened from it, and sums are f32; else that of the sums.
/// Terms may be split instead.
mlir::Type getMultipliedType(const StreamedSpace::Anchor &anchor);
/// Whether terms of f32, none greater than 1, are multiplied with f16 or bf16:
/// each as the sum of several of these, which leaves out at most 2^-23 of it;
/// f32 rounds by 2^-24.
bool hasSplitTerms(const StreamedSpace::Anchor &anchor);

struct StreamTile {
  /// By tensor cores, or by multiplication and addition.
  bool useTensorCores = false;
  int64_t rows = 0, chunk = 0;
  unsigned threads = 0;

  /// Rows that a warp takes at once by tensor cores; and all tiles have at
  /// least.
  static constexpr int64_t kWarpRows = 16;
  /// Threads that multiply without tensor cores.
  static constexpr unsigned kPlainThreads = 256;

  /// Checks that a block has the registers and the shared memory (`bytes`) for
  /// anchors of these roles.
  DecisionAbout<mlir::Operation *>
  fits(llvm::ArrayRef<StreamedSpace::Anchor> anchors, int64_t bytes) const;

  /// The largest tile for the anchors and so many rows (nothing: unknown).
  static DecisionAbout<mlir::Operation *>
  choose(llvm::ArrayRef<StreamedSpace::Anchor> anchors,
         std::optional<int64_t> rows, int64_t bytes, StreamTile &tile);

  /// What a tile has of one product, whose extents are known: steps of k and
  /// columns, both multiples of 16.
  struct Part {
    int64_t depth, columns;
    int64_t elementBytes, sumBytes;
  };
  Part getPart(const StreamedSpace::Anchor &anchor) const {
    return *findPart(anchor);
  }

  /// Blocks that find room in the registers of a multiprocessor, about.
  int64_t countResidents(llvm::ArrayRef<StreamedSpace::Anchor> anchors) const;

private:
  std::optional<Part> findPart(const StreamedSpace::Anchor &anchor) const;
  int64_t countBytes(llvm::ArrayRef<StreamedSpace::Anchor> anchors) const;
  int64_t countRegisters(llvm::ArrayRef<StreamedSpace::Anchor> anchors) const;
};

/// Whether blocks of threads with `bytes` of shared memory may walk `anchors`
/// jointly with `last`, one of them (findStreamedAnchors): a tile fits, and
/// enough rows read the same columns to fill one.
DecisionAbout<mlir::Operation *>
canStreamByBlocks(llir::ProductOpInterface last,
                  llvm::ArrayRef<mlir::Operation *> anchors,
                  const Assumptions &symbols, int64_t bytes);
/// Whether what reads the terms of `last` leaves a tile of it possible, as far
/// as the product itself tells.
DecisionAbout<mlir::Operation *> canEndStream(llir::ProductOpInterface last,
                                              const Assumptions &symbols,
                                              int64_t bytes);

} // namespace luminal

#endif // LUMINAL_DIALECT_LLIR_ANALYSIS_STREAMTILE_H
