//===- BlockSide.h - An operand of a tile on its way to shared memory -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_CONVERSION_EMITTER_BLOCKSIDE_H
#define LUMINAL_LIB_CONVERSION_EMITTER_BLOCKSIDE_H

#include "BlockTile.h"
#include "luminal/Dialect/LLIR/Analysis/ProductAnalysis.h"

namespace luminal {

/// The part of a product's operand that a tile takes at a time: `count` indices
/// of its own dim and `depth` steps of k. The threads of a block bring it
/// together, each some vectors, first to registers and then to shared memory.
/// What is beyond the operand is 0.
class BlockSide {
public:
  /// How a side is read: so many elements at once, along k or along its own
  /// dim.
  struct Reading {
    unsigned lanes;
    bool isAlongK;
  };
  /// As the product's form says, of its rows or its columns.
  static Reading getReading(llir::LoopFormAttr form, bool ofRows);

  BlockSide(Emitter &e, ProductAnalysis &p, const ProductSide &side,
            const BlockTile &tile, Reading reading, int64_t count,
            int64_t depth, mlir::Value thread, unsigned threads)
      : e(e), p(p), side(side), tile(tile), reading(reading), count(count),
        depth(depth), thread(thread), threads(threads),
        isLookedUp(p.isLookedUp(side)) {}

  int64_t getCount() const { return count; }
  /// Elements that a thread reads at once.
  unsigned getLanes() const { return reading.lanes; }
  /// Elements of shared memory that it takes, and where they begin.
  int64_t countElements() const;
  void setMemory(mlir::Value base) { memory = base; }
  /// From here on the operand ends at this index (below its extent).
  void setEnd(mlir::Value index) { end = index; }
  mlir::Value getEnd() const { return end ? end : e.value(side.extent); }
  TileOperand getOperand() const {
    return {memory, getStride(), hasLinesOfK()};
  }
  /// Where the memory at `base` holds it instead.
  TileOperand getOperand(mlir::Value base) const {
    return {base, getStride(), hasLinesOfK()};
  }

  unsigned countVectors() const {
    return llvm::divideCeil(count * depth, int64_t(threads) * reading.lanes);
  }
  /// The vectors that this thread brings, from index `lo` and step `begin` on.
  llvm::SmallVector<mlir::Value> load(mlir::Value lo, mlir::Value begin) const;
  void store(mlir::ValueRange vectors) const;
  /// Starts copies of them from where the kernel's operand has them to shared
  /// memory at `base`. They arrive with the group of copies that is committed
  /// after them.
  void copy(mlir::Value lo, mlir::Value begin, mlir::Value base) const;

private:
  /// Whether (i1) a thread's vector is inside the operand; null: always.
  mlir::Value isInside(unsigned number, mlir::Value at, mlir::Value atK) const;
  /// The left operand's lines are always of k.
  bool hasLinesOfK() const {
    return reading.isAlongK || &side == &p.rows || !tile.takesAcross();
  }
  /// Lines, and elements of each.
  int64_t getLines() const { return hasLinesOfK() ? count : depth; }
  int64_t getLength() const { return hasLinesOfK() ? depth : count; }
  int64_t getStride() const { return tile.getStride(getLines(), getLength()); }
  bool isWhole(const Expr &extent, int64_t by) const {
    return e.simplify(Expr::mod(extent, by)).isConstant(0);
  }
  /// Index of the side and of k, within the tile, of a thread's vector.
  std::pair<mlir::Value, mlir::Value> getPlace(unsigned number) const;
  /// Whether all threads bring as much.
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
