//===- StreamedBlocks.h - Streamed anchors by blocks of threads -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The state of StreamedBlocks.cpp, of which StreamedBlocksWalk.cpp finds what
// is walked, StreamedBlocksShared.cpp who looks at the rest,
// StreamedBlocksAhead.cpp lets products go on beside terms,
// StreamedBlocksRoles.cpp has warps that copy for others, and
// StreamedBlocksParts.cpp merges parts.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_LIB_CONVERSION_EMITTER_STREAMEDBLOCKS_H
#define LUMINAL_LIB_CONVERSION_EMITTER_STREAMEDBLOCKS_H

#include "BlockSide.h"
#include "StageLoops.h"
#include "StreamReference.h"
#include "luminal/Dialect/LLIR/Analysis/MaskAnalysis.h"
#include "luminal/Dialect/LLIR/Analysis/StreamTile.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

namespace luminal::blocks {

struct Product {
  Product(const StreamedSpace::Anchor &anchor, ProductAnalysis p)
      : anchor(anchor), p(std::move(p)) {}

  mlir::Value getResult() const { return anchor.op->getResult(0); }
  /// Whether it multiplies its terms in parts.
  bool isSplit() const {
    return tile->getElement() != p.accumulator && hasSplitTerms(anchor);
  }

  const StreamedSpace::Anchor &anchor;
  ProductAnalysis p;
  std::unique_ptr<BlockTile> tile;
  /// Of scores; of sums the left operand is computed, and may need room.
  std::optional<BlockSide> left, right;
  TileOperand room = {};
  /// Chunks of the right operand that are in shared memory, or on their way
  /// there, at a time; and where they begin.
  unsigned stages = 1;
  mlir::Value memory;
  bool isCopied() const { return stages > 1; }
  /// Sums: of a chunk of scores, or so far.
  llvm::SmallVector<mlir::Value> sums;
  /// At the end, those of the row that is being written.
  llvm::SmallVector<BlockTile::Run> runs;
  /// Of sums that go on beside other code: the terms of a chunk, and of the one
  /// that is being multiplied.
  llvm::SmallVector<mlir::Value> packed, running;
  /// What this thread brings of the right operand's next chunk, which is not
  /// copied.
  llvm::SmallVector<mlir::Value> next;
};

/// The state of a reduction: for each row of the thread, what the whole team
/// has taken, or this thread alone.
struct RowState {
  const StreamedSpace::Anchor *anchor;
  llir::ReductionOpInterface op;
  ReductionEmissionOpInterface emission;
  bool isOfTeam;
  llvm::SmallVector<llvm::SmallVector<mlir::Value>> rows;
};

/// For each row of the thread: what terms are relative to, and the factor of
/// the chunk.
struct Reference : StreamReference {
  explicit Reference(StreamReference r) : StreamReference(r) {}
  llvm::SmallVector<mlir::Value> used, factors;
};

/// Terms of a maximum that are `factor` times other elements, or -inf, and are
/// else read by differences from a reference alone.
struct ScaledTerms {
  mlir::Operation *maximum;
  mlir::Value terms, product, unscaled;
  double factor;
  llvm::SmallVector<mlir::Value> differences;
  size_t reference;
};

/// What a reference is the maximum of, where all that reads the stream takes it
/// by its difference from the reference: -inf beyond the stream's end leaves
/// the states as they are. Its elements at the places of a chunk's scores.
struct CutTerms {
  mlir::Value value;
  llvm::SmallVector<mlir::Value> elements;
};

/// Elements that products sum, at the places of a chunk's scores.
struct Terms {
  mlir::Value value;
  /// The reduction that computes them; null for none.
  const StreamedSpace::Anchor *by;
  llvm::SmallVector<mlir::Value> elements;
};

/// What a warp does: all that a block does; or it copies right operands
/// (producer), or does the rest (consumer).
enum class WarpRole { Any, Producer, Consumer };
/// What is copied to shared memory ahead, each by stages and barriers of its
/// own.
enum class CopiedFor { Scores, Sums };

/// A stage that chunks take in turn, and how often (modulo 2, i32) one has
/// taken it before: that where warps copy for others alone.
struct RingPlace {
  mlir::Value slot, phase;
};

class StreamedBlocks {
public:
  StreamedBlocks(Emitter &e, const WorkLoop &loop,
                 WarpRole role = WarpRole::Any)
      : e(e), loop(loop), t(e), s(t.s), parts(e.loopCase.getParts()),
        warpRole(role) {}

  WorkShape emit();

private:
  void find();
  void findLayout();
  WorkShape emitUnits();
  void addProduct(const StreamedSpace::Anchor &anchor);
  void addAnchors();
  int64_t countResidents();
  int64_t makeRoom();
  Emitter::Team getTeam();
  /// All threads of the block.
  Emitter::Team getBlock();

  void emitWalk(llvm::ArrayRef<IndexRange> ranges, IndexRange part,
                mlir::Value isAll = {});
  void emitInitial();
  mlir::Value getFirstRow(llvm::ArrayRef<IndexRange> ranges);
  IndexRange getNeeded();
  IndexRange getWalked(IndexRange part);
  IndexRange getWalkedShared(mlir::Value isAll);
  mlir::Value findNotFinite(llvm::ArrayRef<IndexRange> ranges);
  mlir::Value findUnbounded(llvm::ArrayRef<IndexRange> ranges,
                            mlir::Value step);
  mlir::Value isAnyOfBlock(mlir::Value v);
  std::pair<mlir::Value, mlir::Value> getBounds(const StreamSpan &of);
  void findExceptions();
  mlir::Value isRegular(mlir::Value lo);
  void chooseMasks(mlir::Value lo);
  mlir::Value emitZeros(const Product &sum, mlir::Value from, mlir::Value to,
                        mlir::Value zeros);
  llvm::SmallVector<mlir::Value> getCarried() const;
  void setCarried(mlir::ValueRange values);
  void emitChunk(mlir::Value lo, mlir::Value slot, IndexRange walked);
  mlir::Value getNextSlot(mlir::Value slot);
  mlir::Value getSlotBefore(mlir::Value slot);
  mlir::Value getBuffer(const Product &product, mlir::Value slot);
  TileOperand getRight(const Product &product, mlir::Value slot);
  /// The first index of a chunk, and the stage that it is copied to.
  struct CopiedChunk {
    mlir::Value lo, slot;
  };
  void startCopies(llvm::ArrayRef<std::unique_ptr<Product>> products,
                   CopiedChunk chunk);
  void startCopies(CopiedChunk chunk, IndexRange walked);
  void emitRows(mlir::Value lo);
  void emitTerms(const StreamedSpace::Anchor *by, size_t place,
                 mlir::Value isInside);
  void emitSum(Product &sum, mlir::Value slot);
  void scaleSums(Product &sum);

  // The factor of terms, in their exponent.
  void findScaled();
  void rememberUnscaled();
  void rememberExponents(unsigned number);
  void scaleMaximum(const RowState &state,
                    llvm::SmallVectorImpl<mlir::Value> &values);

  // The end of the stream, as a mask.
  void findCut();
  void cutTerms(mlir::Value lo);
  void rememberCut(size_t place);

  // Products beside the terms of another chunk.
  void startFirstCopies(IndexRange walked);
  void startCopiesAhead(CopiedChunk ofScores, CopiedChunk ofSums,
                        IndexRange walked);
  void meetAhead();
  void emitWalkAhead(IndexRange walked);
  void emitChunkAhead(mlir::Value lo, RingPlace place, IndexRange walked);
  void packTerms();
  void startSums(mlir::Value slot);
  void holdBack();
  void settleSums();

  // Warps that copy for others.
  WorkShape emitRoles(Emitter::Team team);
  RingPlace getFirstPlace();
  RingPlace getNextPlace(RingPlace place);
  void keepPlace(RingPlace place);
  mlir::Value getRingBarrier(CopiedFor what, bool isFull, mlir::Value slot);
  void waitForRing(CopiedFor what, bool isFull, RingPlace place);
  void awaitCopies(CopiedFor what, RingPlace place);
  void release(CopiedFor what, RingPlace place);
  void produce(CopiedFor what, mlir::Value lo, RingPlace place);
  void emitProducer(IndexRange walked);

  // What blocks skip, looked at by others.
  mlir::Value hasNoFiniteRow();
  void emitUnitsShared(const Grid &grid);

  // Parts of the stream.
  /// A value of the states: as what type it is in memory, its row of the thread
  /// and where the block has it, in bytes.
  struct Slot {
    mlir::Value *value;
    mlir::Type type;
    unsigned row;
    int64_t offset;
  };
  /// Of the row with this number, or all.
  llvm::SmallVector<Slot> getSlots(std::optional<unsigned> row = std::nullopt);
  mlir::Value getAddress(const Slot &slot, mlir::Value states);
  void emitUnitsOfParts(const Grid &grid);
  void leaveStates(mlir::Value to);
  void mergeStates(llvm::ArrayRef<mlir::Value> others);
  void mergeRow(unsigned number, llvm::ArrayRef<mlir::Value> other);
  void mergeParts(llvm::function_ref<mlir::Value(mlir::Value part)> getStates);
  void mergeSets(unsigned sets);

  unsigned getRun(const Product &sum);
  void emitEnd();
  void emitLines(const Expr &extent, llvm::ArrayRef<size_t> numbers);
  void emitValues(const Index &at, llvm::ArrayRef<size_t> numbers);

  /// Sets the dims of a row of this thread, whose number is `number`, inside
  /// the extent; the result tells whether it is (null: it always is).
  mlir::Value setRow(unsigned number);
  /// The same of a place of a chunk's scores, which may be known to be inside.
  mlir::Value setPlace(size_t place, mlir::Value lo, bool isInside = false);
  /// An element of each place of a chunk's scores, with its row and place set:
  /// 0 of rows that no tile has.
  llvm::SmallVector<mlir::Value> emitPlaces(
      mlir::Type type, mlir::Value lo, bool areInside,
      llvm::function_ref<mlir::Value(size_t place, mlir::Value isInside)> emit);
  mlir::Value getPlaceOfRow(unsigned number);
  /// Whether some tile may have a row with this number.
  bool isUsed(unsigned number) const;
  /// Remembers what is known of the row that is set.
  void rememberRow(unsigned number);
  void rememberScores(size_t place);

  mlir::Value clampInside(mlir::Value at, const Expr &extent, bool isWhole,
                          mlir::Value &inside);
  Reference *getReference(const StreamedSpace::Anchor &anchor) {
    auto it = llvm::find_if(references, [&](const Reference &r) {
      return r.value == anchor.reference;
    });
    return it == references.end() ? nullptr : &*it;
  }
  bool isWhole(const Expr &extent, int64_t by) {
    return e.simplify(Expr::mod(extent, by)).isConstant(0);
  }
  void publish();
  void barrier() { mlir::NVVM::Barrier0Op::create(e.b); }
  void meetConsumers();
  void meetBeforeUnit();

  Emitter &e;
  const WorkLoop &loop;
  StreamedStages t;
  StageAnalysis &s;
  /// Units that walk a part of the stream each, for the same rows.
  int64_t parts;
  WarpRole warpRole;
  /// Of warps that copy or are copied for: the barriers in shared memory, and
  /// where they keep the place of the next chunk between units.
  mlir::Value ring, keptSlot, keptPhase;

  unsigned warp = 1;
  mlir::Value thread;
  /// The shared memory of the block.
  mlir::Value shared;
  StreamTile tile;
  /// The axis of the rows, null where there is one.
  const StageAxis *rowAxis = nullptr;
  mlir::Value firstRow;
  /// What a row needs of the stream, where that is not all.
  std::optional<NeededSpan> span;
  /// Whether (i1) this thread found an element that is not finite in what no
  /// block walks.
  mlir::Value foundGap;
  /// Selects of which a chunk has the first operand alone wherever it begins
  /// outside of `exceptions`: those of all rows of the tile, which `emitWalk`
  /// finds. Then their elements at the places of a chunk's scores.
  llvm::SmallVector<StreamSelect> selects;
  llvm::SmallVector<std::pair<mlir::Value, mlir::Value>> exceptions;
  llvm::SmallVector<llvm::SmallVector<mlir::Value>> chosen;
  /// Where the threads have a chunk's elements, and the dim of these.
  std::unique_ptr<BlockTile> layout;
  unsigned column = 0;
  Index at;

  /// While threads without a row merge parts of those of others: the rows that
  /// there are, and the thread whose states this one reads.
  mlir::Value rowsOfSet, threadOfSet;

  std::vector<std::unique_ptr<Product>> scores, sums;
  llvm::SmallVector<RowState> states;
  llvm::SmallVector<Reference> references;
  llvm::SmallVector<Terms> terms;
  llvm::SmallVector<ScaledTerms> scaledTerms;
  llvm::SmallVector<CutTerms> cut;
};

} // namespace luminal::blocks

#endif // LUMINAL_LIB_CONVERSION_EMITTER_STREAMEDBLOCKS_H
