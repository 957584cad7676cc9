//===- BlockSide.h - Loads an operand of a tile ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_CONVERSION_EMITTER_BLOCKSIDE_H
#define LUMINAL_LIB_CONVERSION_EMITTER_BLOCKSIDE_H

#include "BlockTile.h"
#include "luminal/Dialect/LLIR/Analysis/ProductAnalysis.h"

namespace luminal {

/// The part of a product's operand that a thread block loads per step of a
/// tile: `count` indices of the operand's own dim and `depth` steps of k. The
/// threads share the load: each loads some vectors to registers and stores them
/// to shared memory, or copies them asynchronously. Elements outside the
/// operand are 0.
class BlockSide {
public:
  /// How the operand is read: `lanes` elements per load, along k or along the
  /// operand's own dim.
  struct Reading {
    unsigned lanes;
    bool isAlongK;
  };
  /// The reading that the form of the product gives for its rows or its
  /// columns.
  static Reading getReading(llir::LoopFormAttr form, bool ofRows);

  BlockSide(Emitter &e, ProductAnalysis &p, const ProductSide &side,
            const BlockTile &tile, Reading reading, int64_t count,
            int64_t depth, mlir::Value thread, unsigned threads)
      : e(e), p(p), side(side), tile(tile), reading(reading), count(count),
        depth(depth), thread(thread), threads(threads),
        isLookedUp(p.isLookedUp(side)) {}

  int64_t getCount() const { return count; }
  /// Elements per vector load of a thread.
  unsigned getLanes() const { return reading.lanes; }
  /// The number of elements in shared memory, and the base address there.
  int64_t countElements() const;
  void setMemory(mlir::Value base) { memory = base; }
  /// Overrides the end of the operand's own dim with `index`, which is below
  /// its extent.
  void setEnd(mlir::Value index) { end = index; }
  mlir::Value getEnd() const { return end ? end : e.value(side.extent); }
  TileOperand getOperand() const {
    return {memory, getStride(), hasLinesOfK()};
  }
  /// The same operand stored at `base`.
  TileOperand getOperand(mlir::Value base) const {
    return {base, getStride(), hasLinesOfK()};
  }

  unsigned countVectors() const {
    return llvm::divideCeil(count * depth, int64_t(threads) * reading.lanes);
  }
  /// Loads this thread's vectors for index `lo` and step `begin` of k. `store`
  /// writes them to shared memory.
  llvm::SmallVector<mlir::Value> load(mlir::Value lo, mlir::Value begin) const;
  void store(mlir::ValueRange vectors) const;
  /// Starts asynchronous copies of the same vectors from the kernel's operand
  /// to shared memory at `base`. They belong to the copy group that is
  /// committed next.
  void copy(mlir::Value lo, mlir::Value begin, mlir::Value base) const;

private:
  /// Whether (i1) vector `number` of a thread is inside the operand; null:
  /// always.
  mlir::Value isInside(unsigned number, mlir::Value at, mlir::Value atK) const;
  /// Whether a line in shared memory runs along k. Lines of the left operand
  /// always do.
  bool hasLinesOfK() const {
    return reading.isAlongK || &side == &p.rows || !tile.takesAcross();
  }
  /// The number of lines, and elements per line.
  int64_t getLines() const { return hasLinesOfK() ? count : depth; }
  int64_t getLength() const { return hasLinesOfK() ? depth : count; }
  int64_t getStride() const { return tile.getStride(getLines(), getLength()); }
  bool isWhole(const Expr &extent, int64_t by) const {
    return e.simplify(Expr::mod(extent, by)).isConstant(0);
  }
  /// The index in the operand's own dim and in k, relative to the tile, of
  /// vector `number` of this thread.
  std::pair<mlir::Value, mlir::Value> getPlace(unsigned number) const;
  /// Whether all threads load the same number of vectors.
  bool isSpread() const {
    return count * depth % (int64_t(threads) * reading.lanes) == 0;
  }
  mlir::Type getVectorType() const;

  Emitter &e;
  ProductAnalysis &p;
  const ProductSide &side;
  const BlockTile &tile;
  Reading reading;
  int64_t count, depth;
  mlir::Value thread;
  unsigned threads;
  bool isLookedUp;
  mlir::Value memory, end;
};

} // namespace luminal

#endif // LUMINAL_LIB_CONVERSION_EMITTER_BLOCKSIDE_H
