//===- StreamTile.h - Tiles of streamed anchors ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// On a GPU a thread block takes a tile of rows through the streamed anchors
// (StreamAnalysis). Registers hold the state of rows: scores of a chunk,
// reduction states, and the accumulators of products that sum over the stream.
// Right operands pass through shared memory, and the rows of left operands stay
// there. So all extents other than rows and the streamed dim are bounded and
// known.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_DIALECT_LLIR_ANALYSIS_STREAMTILE_H
#define LUMINAL_DIALECT_LLIR_ANALYSIS_STREAMTILE_H

#include "luminal/Dialect/LLIR/Analysis/StreamAnalysis.h"
#include "luminal/Support/MachineModel.h"

namespace luminal {

class StreamedStages;

/// Returns the type in which tensor cores may multiply a product's operands:
/// f16 or bf16 if both operands have that type, or are widened from it, and
/// sums are f32; otherwise the type of the sums. Terms may be split instead
/// (hasSplitTerms).
mlir::Type getMultipliedType(const StreamedSpace::Anchor &anchor);
/// Returns whether f32 terms, none greater than 1, are multiplied with f16 or
/// bf16 elements: each term is split into a sum of several f16 or bf16 values,
/// with an error of at most 2^-23 of the term (f32 itself rounds by 2^-24).
bool hasSplitTerms(const StreamedSpace::Anchor &anchor);

/// Returns the registers of each thread if `blocks` blocks are resident on an
/// SM. Registers are allocated in multiples of eight.
int64_t countThreadRegisters(int64_t blocks, int64_t threads,
                             const MachineModel &machine);

/// Registers that a kernel with wgmma needs besides accumulators (26 to 30 with
/// ptxas 13.0).
inline constexpr int64_t kRegistersBesideSums = 32;

/// The tile of a thread block.
struct StreamTile {
  /// Multiply with tensor cores; otherwise with FMA instructions.
  bool useTensorCores = false;
  /// Multiply with wgmma: four warps together, which read shared memory
  /// directly.
  bool useWarpGroups = false;
  int64_t rows = 0, chunk = 0;
  /// Rows of the tile that are used; the rest is padding.
  int64_t usedRows = 0;
  unsigned threads = 0;
  /// Pipeline stages in shared memory for right operands that are copied
  /// asynchronously (`copied`) while earlier chunks are multiplied. Other right
  /// operands pass through registers. 1: all of them do.
  unsigned stages = 1;
  llvm::SmallPtrSet<mlir::Operation *, 4> copied;
  /// The terms of a chunk are computed while the products that sum the terms of
  /// the previous chunk are in flight.
  bool isAhead = false;
  /// Producer threads of the block: they copy right operands for the `threads`
  /// consumer threads, which then copy nothing. 0: warps are not specialized.
  unsigned producers = 0;
  /// Which block checks that the parts of the stream that a block skips are
  /// finite: the block itself, other blocks, or none, because the block skips
  /// nothing.
  enum class Skipped { Own, Shared, None } skipped = Skipped::Own;

  /// Rows that a warp computes at once with tensor cores; also the fewest rows
  /// of any tile.
  static constexpr int64_t kWarpRows = 16;
  /// Rows that four warps compute together (wgmma).
  static constexpr int64_t kGroupRows = 64;
  /// Rows of a tile with specialized warps, and of a large tile without tensor
  /// cores.
  static constexpr int64_t kJoinedRows = 128;
  /// Parts whose states are read at a time when they are merged, so that the
  /// loads are in flight together.
  static constexpr int64_t kMergedAtOnce = 4;
  /// Threads that multiply without tensor cores.
  static constexpr unsigned kPlainThreads = 256;
  /// Producer threads, a whole warp group because setmaxnreg applies to one;
  /// and the registers that each keeps.
  static constexpr unsigned kProducers = 128, kProducerRegisters = 32;

  /// Returns the tile of a case that was applied to `t`.
  static StreamTile get(const StreamedStages &t, llir::LoopCaseAttr loopCase);

  /// Accepts if a block has enough registers and shared memory for these
  /// anchors.
  DecisionAbout<mlir::Operation *>
  fits(llvm::ArrayRef<StreamedSpace::Anchor> anchors,
       const MachineModel &machine) const;

  /// Finds the largest tile for the anchors and `rows` rows (nullopt: unknown).
  /// `copied` are products whose right operand may be copied asynchronously.
  /// `areMany` says whether tiles with twice as many rows still give the
  /// machine enough blocks.
  static DecisionAbout<mlir::Operation *>
  choose(llvm::ArrayRef<StreamedSpace::Anchor> anchors,
         std::optional<int64_t> rows, const MachineModel &machine,
         llvm::ArrayRef<mlir::Operation *> copied, bool areMany,
         StreamTile &tile);

  /// Returns the tile with specialized warps, for many rows and a long stream;
  /// std::nullopt if it does not fit.
  std::optional<StreamTile>
  specialize(llvm::ArrayRef<StreamedSpace::Anchor> anchors,
             std::optional<int64_t> rows, const MachineModel &machine) const;

  /// The share of a tile in one product with known extents: k and columns, both
  /// rounded up to multiples of 16.
  struct Part {
    int64_t depth, columns;
    int64_t elementBytes, sumBytes;
  };
  Part getPart(const StreamedSpace::Anchor &anchor) const {
    return *findPart(anchor);
  }

  /// Returns the pipeline stages of the product's right operand.
  unsigned countStages(const StreamedSpace::Anchor &anchor) const {
    return copied.contains(anchor.op) ? stages : 1;
  }

  /// Returns the registers of a thread that wgmma products hold at a time: all
  /// accumulators, and with `isAhead` also the terms of one chunk beside the
  /// scores of the next.
  int64_t
  countJoinedRegisters(llvm::ArrayRef<StreamedSpace::Anchor> anchors) const;
  /// Returns the registers of each consumer thread if `blocks` blocks are
  /// resident on an SM, including the registers that producers give up.
  int64_t countConsumerRegisters(int64_t blocks,
                                 const MachineModel &machine) const;
  /// Returns the bytes of the barriers with which producers and consumers wait
  /// for each other; they come first in shared memory.
  int64_t countBarrierBytes() const;
  /// Estimates how many blocks are resident on an SM.
  int64_t countResidents(llvm::ArrayRef<StreamedSpace::Anchor> anchors,
                         const MachineModel &machine) const;

  /// Returns the sets of threads, in a block of one warp that uses tensor
  /// cores, that each cover all rows of the tile: each set may merge a share of
  /// the parts.
  unsigned countMergingSets() const;
  /// Returns the number of rows of which a thread holds elements.
  int64_t countRowsOfThread() const {
    return rows * (useTensorCores ? 4 : 16) / threads;
  }
  /// Returns the bytes of a thread's states for one part of the stream:
  /// references, in the order of `StreamedStages::getReferences`; the states of
  /// reductions; and the accumulators of products.
  int64_t countStateBytes(const StreamedStages &t) const;

private:
  std::optional<Part> findPart(const StreamedSpace::Anchor &anchor) const;
  int64_t countBytes(llvm::ArrayRef<StreamedSpace::Anchor> anchors) const;
  int64_t countRegisters(llvm::ArrayRef<StreamedSpace::Anchor> anchors) const;
  int64_t countMoved(llvm::ArrayRef<StreamedSpace::Anchor> anchors) const;
};

/// Returns whether thread blocks with `bytes` of shared memory can run
/// `anchors` in one loop with `last`, one of them (findStreamedAnchors): a tile
/// fits, and enough rows read the same columns to fill it, or tensor cores
/// multiply them.
DecisionAbout<mlir::Operation *>
canStreamByBlocks(llir::ProductOpInterface last,
                  llvm::ArrayRef<mlir::Operation *> anchors,
                  const Assumptions &symbols, int64_t bytes);
/// Returns whether thread blocks could run `last` as the last product of one
/// loop, as far as the product alone decides it: the op that computes its terms
/// may still be rewritten.
DecisionAbout<mlir::Operation *> canEndStream(llir::ProductOpInterface last,
                                              const Assumptions &symbols,
                                              int64_t bytes);

} // namespace luminal

#endif // LUMINAL_DIALECT_LLIR_ANALYSIS_STREAMTILE_H
