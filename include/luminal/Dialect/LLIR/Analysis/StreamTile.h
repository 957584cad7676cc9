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
#include "luminal/Support/MachineModel.h"

namespace luminal {

class StreamedStages;

/// The type in which a product's operands may be multiplied: f16 or bf16 where
/// both are, or are widened from it, and sums are f32; else that of the sums.
/// Terms may be split instead.
mlir::Type getMultipliedType(const StreamedSpace::Anchor &anchor);
/// Whether terms of f32, none greater than 1, are multiplied with f16 or bf16:
/// each as the sum of several of these, which leaves out at most 2^-23 of it;
/// f32 rounds by 2^-24.
bool hasSplitTerms(const StreamedSpace::Anchor &anchor);

/// Registers that so many blocks of a multiprocessor leave each of their
/// threads, which get them by eight.
int64_t countThreadRegisters(int64_t blocks, int64_t threads,
                             const MachineModel &machine);

/// Registers that an instruction of four warps takes beside its sums (26 to 30,
/// ptxas 13.0).
inline constexpr int64_t kRegistersBesideSums = 32;

struct StreamTile {
  /// By tensor cores, or by multiplication and addition.
  bool useTensorCores = false;
  /// By those of four warps together, which read shared memory themselves.
  bool useWarpGroups = false;
  int64_t rows = 0, chunk = 0;
  /// Rows from here on are in no tile.
  int64_t usedRows = 0;
  unsigned threads = 0;
  /// Chunks of right operands that have room in shared memory at a time, for
  /// those that are copied there while earlier ones are multiplied; others pass
  /// through registers. 1: all do.
  unsigned stages = 1;
  llvm::SmallPtrSet<mlir::Operation *, 4> copied;
  /// The terms of a chunk are computed beside the products that sum those of
  /// the chunk before.
  bool isAhead = false;
  /// Threads of the block that copy right operands for those that multiply
  /// (`threads`), which copy nothing then; 0: none.
  unsigned producers = 0;
  /// Who looks at what a block leaves out of the stream: the block itself,
  /// other blocks, or no one, for it walks all.
  enum class Skipped { Own, Shared, None } skipped = Skipped::Own;

  /// Rows that a warp takes at once by tensor cores; and all tiles have at
  /// least.
  static constexpr int64_t kWarpRows = 16;
  /// Rows that four warps take together.
  static constexpr int64_t kGroupRows = 64;
  /// Rows of tiles that they take.
  static constexpr int64_t kJoinedRows = 128;
  /// Parts whose states are read at a time when they are merged, so that their
  /// reads are on the way together.
  static constexpr int64_t kMergedAtOnce = 4;
  /// Threads that multiply without tensor cores.
  static constexpr unsigned kPlainThreads = 256;
  /// Threads that copy for others, all that share a limit of registers; and the
  /// registers that each of them keeps.
  static constexpr unsigned kProducers = 128, kProducerRegisters = 32;

  /// The tile of a case that was applied to `t`.
  static StreamTile get(const StreamedStages &t, llir::LoopCaseAttr loopCase);

  /// Checks that a block has the registers and the shared memory for anchors of
  /// these roles.
  DecisionAbout<mlir::Operation *>
  fits(llvm::ArrayRef<StreamedSpace::Anchor> anchors,
       const MachineModel &machine) const;

  /// The largest tile for the anchors and so many rows (nothing: unknown).
  /// `copied` are products whose right operand may be copied. `areMany` says
  /// whether tiles of twice as many rows are enough for the machine.
  static DecisionAbout<mlir::Operation *>
  choose(llvm::ArrayRef<StreamedSpace::Anchor> anchors,
         std::optional<int64_t> rows, const MachineModel &machine,
         llvm::ArrayRef<mlir::Operation *> copied, bool areMany,
         StreamTile &tile);

  /// The tile for many rows and a long stream whose right operands some warps
  /// copy for the others; nothing where it does not fit.
  std::optional<StreamTile>
  specialize(llvm::ArrayRef<StreamedSpace::Anchor> anchors,
             std::optional<int64_t> rows, const MachineModel &machine) const;

  /// What a tile has of one product, whose extents are known: steps of k and
  /// columns, both multiples of 16.
  struct Part {
    int64_t depth, columns;
    int64_t elementBytes, sumBytes;
  };
  Part getPart(const StreamedSpace::Anchor &anchor) const {
    return *findPart(anchor);
  }

  /// Chunks of the product's right operand in shared memory.
  unsigned countStages(const StreamedSpace::Anchor &anchor) const {
    return copied.contains(anchor.op) ? stages : 1;
  }

  /// Registers of a thread that products which four warps multiply together
  /// hold at a time: sums of all of them, and with `isAhead` the terms of a
  /// chunk beside its scores.
  int64_t
  countJoinedRegisters(llvm::ArrayRef<StreamedSpace::Anchor> anchors) const;
  /// Registers that `blocks` blocks of a multiprocessor leave to each thread
  /// that multiplies: where others copy for it, what these give back as well.
  int64_t countConsumerRegisters(int64_t blocks,
                                 const MachineModel &machine) const;
  /// Bytes of the barriers by which the two kinds of threads wait for each
  /// other, which lie before all else.
  int64_t countBarrierBytes() const;
  /// Blocks that find room on a multiprocessor, about.
  int64_t countResidents(llvm::ArrayRef<StreamedSpace::Anchor> anchors,
                         const MachineModel &machine) const;

  /// Sets of threads, each as many as have all rows of the tile, that a block
  /// of one warp has by tensor cores: each may merge some of the parts.
  unsigned countMergingSets() const;
  /// Rows of which a thread has elements.
  int64_t countRowsOfThread() const {
    return rows * (useTensorCores ? 4 : 16) / threads;
  }
  /// Bytes of what a thread leaves of a part of the stream: what terms are
  /// relative to, in the order of `StreamedStages::getReferences`; the states
  /// of reductions; and the lines that products sum.
  int64_t countStateBytes(const StreamedStages &t) const;

private:
  std::optional<Part> findPart(const StreamedSpace::Anchor &anchor) const;
  int64_t countBytes(llvm::ArrayRef<StreamedSpace::Anchor> anchors) const;
  int64_t countRegisters(llvm::ArrayRef<StreamedSpace::Anchor> anchors) const;
  int64_t countMoved(llvm::ArrayRef<StreamedSpace::Anchor> anchors) const;
};

/// Whether blocks of threads with `bytes` of shared memory may walk `anchors`
/// jointly with `last`, one of them (findStreamedAnchors): a tile fits, and
/// enough rows read the same columns to fill one, or tensor cores multiply
/// them.
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
