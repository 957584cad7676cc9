//===- BlockTile.h - How a block of threads multiplies a tile -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_CONVERSION_EMITTER_BLOCKTILE_H
#define LUMINAL_LIB_CONVERSION_EMITTER_BLOCKTILE_H

#include "Kernels.h"

namespace luminal {

struct TileShape {
  int64_t rows, columns, depth;
};

/// One operand of a tile in shared memory: lines of k, or where `isAlongK` is
/// not set, a line for each step of k.
struct TileOperand {
  mlir::Value memory;
  /// As `BlockTile::getStride`.
  int64_t stride;
  bool isAlongK = true;
  /// What begins so many times 16 bytes further, where four warps together read
  /// it; null: none. So what is known of `memory` need not be computed again.
  mlir::Value units = {};
};

/// A tile of a product whose sums the threads of a block hold.
class BlockTile {
public:
  virtual ~BlockTile() = default;

  /// The element type that is multiplied, as it is in shared memory.
  virtual mlir::Type getElement() const = 0;
  mlir::Type getStored() const { return getStorageType(getElement()); }
  /// How `lines` lines of `length` elements are laid out: elements from one
  /// line to the next, or as a tile says; how many elements they take; and
  /// where an element is.
  virtual int64_t getStride(int64_t lines, int64_t length) const;
  virtual int64_t countElements(int64_t lines, int64_t length) const {
    return lines * getStride(lines, length);
  }
  virtual mlir::Value getPlace(mlir::Value line, mlir::Value inLine,
                               int64_t stride) const;
  /// Whether the right operand may have a line for each step of k.
  virtual bool takesAcross() const = 0;

  /// The sums of a thread, all 0.
  virtual llvm::SmallVector<mlir::Value> begin() = 0;
  /// The sums once they have taken both operands, the left one along k.
  virtual llvm::SmallVector<mlir::Value>
  multiply(mlir::ValueRange sums, TileOperand left, TileOperand right) = 0;
  /// The same with the code of `meanwhile`, which goes on while tensor cores
  /// multiply where they do that by themselves. Nothing but a further call may
  /// use the sums before they have passed through `settle`.
  virtual llvm::SmallVector<mlir::Value>
  multiplyBeside(mlir::ValueRange sums, TileOperand left, TileOperand right,
                 llvm::function_ref<void()> meanwhile) {
    meanwhile();
    return multiply(sums, left, right);
  }
  virtual llvm::SmallVector<mlir::Value> settle(mlir::ValueRange sums) {
    return sums;
  }
  /// The same where the left operand is `terms` (as in shared memory): at the
  /// places of the sums of `from`, a tile of the same rows and threads whose
  /// columns are k. `room` is memory that it may take. Terms of f32 in [0, 1]
  /// that are multiplied as narrower elements are split; then sums are
  /// `getTermScale` times what they stand for.
  virtual llvm::SmallVector<mlir::Value> multiplyTerms(mlir::ValueRange sums,
                                                       const BlockTile &from,
                                                       mlir::ValueRange terms,
                                                       TileOperand room,
                                                       TileOperand right) = 0;

  virtual double getTermScale() const { return 1; }

  /// Products that go on beside the code after them, where a tile has these:
  /// the same as `multiply` and `multiplyTerms`, the latter with terms as
  /// `pack` makes them. Up to `running` of those that began last may go on
  /// after `wait`; sums, scores and packed terms of the others are then to pass
  /// through `settle`.
  virtual llvm::SmallVector<mlir::Value> start(mlir::ValueRange, TileOperand,
                                               TileOperand) {
    llvm_unreachable("products of this tile do not go on");
  }
  virtual llvm::SmallVector<mlir::Value> pack(const BlockTile &,
                                              mlir::ValueRange) {
    llvm_unreachable("products of this tile do not go on");
  }
  virtual llvm::SmallVector<mlir::Value>
  startTerms(mlir::ValueRange, mlir::ValueRange, TileOperand) {
    llvm_unreachable("products of this tile do not go on");
  }
  virtual void wait(unsigned) {
    llvm_unreachable("products of this tile do not go on");
  }
  /// Code after this runs once these values (of 32 bits) are computed.
  virtual void holdBack(mlir::ValueRange) {
    llvm_unreachable("products of this tile do not go on");
  }

  /// Sums of a thread, and the place in the tile of each.
  virtual size_t countSums() const = 0;
  virtual mlir::Value getRow(size_t sum) const = 0;
  virtual mlir::Value getColumn(size_t sum) const = 0;
  /// Calls `body` with the place in the tile of each sum of the thread.
  void forEach(mlir::ValueRange sums,
               llvm::function_ref<void(mlir::Value row, mlir::Value column,
                                       mlir::Value sum)>
                   body) const;

  /// Sums of a row that lie side by side, and the column of the first one.
  struct Run {
    mlir::Value column;
    llvm::SmallVector<mlir::Value> sums;
  };
  /// The sums of the thread's row `number` as runs of one length, at most
  /// `most`. Threads that have the row exchange sums for that: all of a warp
  /// are to be here.
  virtual llvm::SmallVector<Run> joinRow(mlir::ValueRange sums, unsigned number,
                                         unsigned most);

  /// Rows of a thread, and which of them a sum is in. Tiles of the same rows
  /// have them in the same threads.
  virtual unsigned countRows() const = 0;
  virtual unsigned getRowNumber(size_t sum) const = 0;
  /// The first row of the tile that some thread has with this number.
  virtual int64_t getLeastRow(unsigned number) const = 0;
  /// Threads that have the same rows, where all of them are neighbours in a
  /// warp.
  virtual unsigned getTeam() const = 0;

  const TileShape &getShape() const { return shape; }

protected:
  BlockTile(Emitter &e, TileShape shape) : e(e), shape(shape) {}

  Emitter &e;
  TileShape shape;
};

/// What this thread wrote to shared memory before is seen by tensor cores that
/// read it themselves, once threads have met.
void emitSharedFence(Emitter &e);

/// By tensor cores: f16 or bf16 `element`s, sums in f32. `thread` is the number
/// in the block, of `warps` warps, which are laid over the tile with
/// `warpColumns` side by side.
std::unique_ptr<BlockTile> makeTensorTile(Emitter &e, TileShape shape,
                                          mlir::Type element,
                                          mlir::Value thread, unsigned warps,
                                          unsigned warpColumns);
/// The same by four warps together (wgmma), which read right operands, and left
/// ones of scores, from shared memory. A warp has 16 rows.
std::unique_ptr<BlockTile> makeWarpGroupTile(Emitter &e, TileShape shape,
                                             mlir::Type element,
                                             mlir::Value thread,
                                             unsigned warps);
/// By multiplication and addition of sums, with 256 threads.
std::unique_ptr<BlockTile> makePlainTile(Emitter &e, TileShape shape,
                                         mlir::Type element,
                                         mlir::Value thread);

} // namespace luminal

#endif // LUMINAL_LIB_CONVERSION_EMITTER_BLOCKTILE_H
