//===- StreamedBlocks.h - Streamed anchors by thread blocks ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// State of StreamedBlocks.cpp, which emits streamed anchors (attention) for
// thread blocks. StreamedBlocksWalk.cpp finds the chunks that a work item
// iterates over, StreamedBlocksShared.cpp lets blocks check the chunks that
// others skip, StreamedBlocksAhead.cpp overlaps asynchronous products with the
// computation of terms, StreamedBlocksRoles.cpp specializes warps, and
// StreamedBlocksParts.cpp merges parts of the stream (split-kv).
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
#include <functional>

namespace luminal::blocks {

struct Product {
  Product(const StreamedSpace::Anchor &anchor, ProductAnalysis p)
      : anchor(anchor), p(std::move(p)) {}

  mlir::Value getResult() const { return anchor.op->getResult(0); }
  /// Whether its terms are split into several narrower values.
  bool isSplit() const {
    return tile->getElement() != p.accumulator && hasSplitTerms(anchor);
  }

  const StreamedSpace::Anchor &anchor;
  ProductAnalysis p;
  std::unique_ptr<BlockTile> tile;
  /// Scores have both operands here. The left operand of sums is computed, and
  /// may need `room`.
  std::optional<BlockSide> left, right;
  TileOperand room = {};
  /// Pipeline stages of the right operand in shared memory, and their base
  /// address.
  unsigned stages = 1;
  mlir::Value memory;
  bool isCopied() const { return stages > 1; }
  /// Accumulators: the scores of a chunk, or the running sums.
  llvm::SmallVector<mlir::Value> sums;
  /// At the end of a row, the runs of its sums that are being written.
  llvm::SmallVector<BlockTile::Run> runs;
  /// Asynchronous sums: the packed terms of the current chunk, and those that
  /// the product in flight reads.
  llvm::SmallVector<mlir::Value> packed, running;
  /// Vectors of the right operand's next chunk that this thread has loaded, if
  /// the operand is not copied asynchronously.
  llvm::SmallVector<mlir::Value> next;
};

/// The running state of a reduction for each row of the thread. With
/// `isOfTeam`, it covers the elements of all threads that share the row, else
/// those of this thread only.
struct RowState {
  const StreamedSpace::Anchor *anchor;
  llir::ReductionOpInterface op;
  ReductionEmissionOpInterface emission;
  bool isOfTeam;
  llvm::SmallVector<llvm::SmallVector<mlir::Value>> rows;
};

/// For each row of the thread: the current reference, and the rescale factor of
/// the current chunk.
struct Reference : StreamReference {
  explicit Reference(StreamReference r) : StreamReference(r) {}
  llvm::SmallVector<mlir::Value> used, factors;
};

/// The terms of a maximum that are `factor` times other elements, or -inf, and
/// that are otherwise read only as differences from a reference. The factor can
/// then be folded into the exponent.
struct ScaledTerms {
  mlir::Operation *maximum;
  mlir::Value terms, product, unscaled;
  double factor;
  llvm::SmallVector<mlir::Value> differences;
  size_t reference;
};

/// The operand of a reference's maximum, if everything that reads the stream
/// reads it as a difference from the reference. Then elements after the end of
/// the stream can be set to -inf, which leaves all states unchanged. `elements`
/// are those at the positions of a chunk's scores.
struct CutTerms {
  mlir::Value value;
  llvm::SmallVector<mlir::Value> elements;
};

/// Left operand of sums: elements at the positions of a chunk's scores.
struct Terms {
  mlir::Value value;
  /// The reduction that computes them; null if none does.
  const StreamedSpace::Anchor *by;
  llvm::SmallVector<mlir::Value> elements;
};

/// A warp's role. Producers copy right operands to shared memory, consumers do
/// everything else; without specialization (Any) each warp does both.
enum class WarpRole { Any, Producer, Consumer };
/// The two pipelines of right operands, which have separate stages and
/// barriers.
enum class CopiedFor { Scores, Sums };

/// A place in the pipeline of specialized warps: the stage, and the phase of
/// its barriers (i32), the number of times modulo 2 that the stage was used
/// before.
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
  /// The block's threads that compute, as one group.
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

  // StreamedBlocksScaled.cpp: fold the factor of the terms into their
  // exponents.
  void findScaled();
  void rememberUnscaled();
  void rememberExponents(unsigned number);
  void scaleMaximum(const RowState &state,
                    llvm::SmallVectorImpl<mlir::Value> &values);

  // StreamedBlocksCut.cpp: mask the elements after the end of the stream.
  void findCut();
  void cutTerms(mlir::Value lo);
  void rememberCut(size_t place);

  // StreamedBlocksAhead.cpp: products that overlap with the terms of another
  // chunk.
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

  // StreamedBlocksRoles.cpp: producer and consumer warps.
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

  // StreamedBlocksShared.cpp: chunks that blocks skip are checked by other
  // blocks.
  mlir::Value hasNoFiniteRow();
  void emitUnitsShared(const Grid &grid);
  /// Called once in each walk, near its end, when no product is in flight.
  std::function<void()> beforeLastSums;

  // StreamedBlocksParts.cpp: split-kv.
  /// A value of the states: its type in memory, the thread's row that it
  /// belongs to, and its byte offset in the states of a block.
  struct Slot {
    mlir::Value *value;
    mlir::Type type;
    unsigned row;
    int64_t offset;
  };
  /// The slots of row `number`, or of all rows.
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

  /// Sets the dims to row `number` of this thread, clamped to the extent. The
  /// result is whether the row exists (null: always).
  mlir::Value setRow(unsigned number);
  /// The same for the position `place` of a chunk's scores; `isInside` if it is
  /// known to exist.
  mlir::Value setPlace(size_t place, mlir::Value lo, bool isInside = false);
  /// Computes an element for each position of a chunk's scores, with the dims
  /// set to that position; 0 for rows that no tile has.
  llvm::SmallVector<mlir::Value> emitPlaces(
      mlir::Type type, mlir::Value lo, bool areInside,
      llvm::function_ref<mlir::Value(size_t place, mlir::Value isInside)> emit);
  mlir::Value getPlaceOfRow(unsigned number);
  /// Whether some tile has a row with this number.
  bool isUsed(unsigned number) const;
  /// Remembers the reductions' elements for the row whose dims are set.
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
  /// Work items per tile of rows, each of which iterates over a part of the
  /// stream.
  int64_t parts;
  WarpRole warpRole;
  /// Specialized warps: the barriers in shared memory, and where a thread keeps
  /// its pipeline place between work items.
  mlir::Value ring, keptSlot, keptPhase;

  unsigned warp = 1;
  mlir::Value thread;
  /// Base of the block's shared memory.
  mlir::Value shared;
  StreamTile tile;
  /// The axis of the rows; null if there is one row.
  const StageAxis *rowAxis = nullptr;
  mlir::Value firstRow;
  /// The range of the stream that a row needs, unless that is all of it.
  std::optional<NeededSpan> span;
  /// Whether (i1) this thread found a non-finite element in a chunk that no
  /// block iterates over.
  mlir::Value foundGap;
  /// Selects whose condition holds for a whole chunk that begins outside of
  /// `exceptions`, so that their first operand can be taken without a test.
  /// `emitWalk` computes the exceptions for all rows of the tile. `chosen` are
  /// their elements at the positions of a chunk's scores.
  llvm::SmallVector<StreamSelect> selects;
  llvm::SmallVector<std::pair<mlir::Value, mlir::Value>> exceptions;
  llvm::SmallVector<llvm::SmallVector<mlir::Value>> chosen;
  /// The tile that assigns a chunk's elements to threads, and the dim of these.
  std::unique_ptr<BlockTile> layout;
  unsigned column = 0;
  Index at;

  /// While threads without a row help to merge parts: the number of rows, and
  /// the thread whose states this one reads.
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
