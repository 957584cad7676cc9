//===- BlockTile.h - Multiplies tiles by thread blocks --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_CONVERSION_EMITTER_BLOCKTILE_H
#define LUMINAL_LIB_CONVERSION_EMITTER_BLOCKTILE_H

#include "Kernels.h"

namespace luminal {

struct TileShape {
  int64_t rows, columns, depth;
};

/// An operand of a tile in shared memory. With `isAlongK`, a line runs along k;
/// otherwise there is a line per step of k.
struct TileOperand {
  mlir::Value memory;
  /// See `BlockTile::getStride`.
  int64_t stride;
  bool isAlongK = true;
  /// An offset to `memory` in units of 16 bytes, for operands that wgmma reads
  /// from shared memory; null: no offset. The descriptor of `memory` can then
  /// be computed once.
  mlir::Value units = {};
};

/// A tile of a matrix product whose accumulators are in the registers of a
/// thread block.
class BlockTile {
public:
  virtual ~BlockTile() = default;

  /// The element type of the operands in shared memory.
  virtual mlir::Type getElement() const = 0;
  mlir::Type getStored() const { return getStorageType(getElement()); }
  /// The layout of `lines` lines of `length` elements in shared memory: the
  /// distance from one line to the next in elements (subclasses may return
  /// another number that describes their layout), the size in elements, and the
  /// position of an element.
  virtual int64_t getStride(int64_t lines, int64_t length) const;
  virtual int64_t countElements(int64_t lines, int64_t length) const {
    return lines * getStride(lines, length);
  }
  virtual mlir::Value getPlace(mlir::Value line, mlir::Value inLine,
                               int64_t stride) const;
  /// Whether the right operand may be stored with one line per step of k.
  virtual bool takesAcross() const = 0;

  /// Accumulators of this thread, set to 0.
  virtual llvm::SmallVector<mlir::Value> begin() = 0;
  /// Returns `sums` plus the product of both operands. The left operand has
  /// lines along k.
  virtual llvm::SmallVector<mlir::Value>
  multiply(mlir::ValueRange sums, TileOperand left, TileOperand right) = 0;
  /// The same, with the code of `meanwhile` overlapped if the tensor cores work
  /// asynchronously. The result may only be passed to another such call until
  /// it has passed through `settle`.
  virtual llvm::SmallVector<mlir::Value>
  multiplyBeside(mlir::ValueRange sums, TileOperand left, TileOperand right,
                 llvm::function_ref<void()> meanwhile) {
    meanwhile();
    return multiply(sums, left, right);
  }
  virtual llvm::SmallVector<mlir::Value> settle(mlir::ValueRange sums) {
    return sums;
  }
  /// The same where the left operand is in registers: `terms`, in the type that
  /// shared memory would hold, at the positions of the accumulators of `from`,
  /// a tile with the same rows and threads whose columns are k. `room` is
  /// shared memory for layouts that must be exchanged. f32 terms in [0, 1] that
  /// are multiplied in a narrower type are split into several parts; the
  /// accumulators are then scaled by `getTermScale`.
  virtual llvm::SmallVector<mlir::Value> multiplyTerms(mlir::ValueRange sums,
                                                       const BlockTile &from,
                                                       mlir::ValueRange terms,
                                                       TileOperand room,
                                                       TileOperand right) = 0;

  virtual double getTermScale() const { return 1; }

  /// Asynchronous products, for tiles that support them: `start` and
  /// `startTerms` are the asynchronous `multiply` and `multiplyTerms`, the
  /// latter with terms from `pack`. `wait` returns once at most the `running`
  /// products started last are in flight. Accumulators, scores and packed terms
  /// of finished products must then pass through `settle`.
  virtual llvm::SmallVector<mlir::Value> start(mlir::ValueRange, TileOperand,
                                               TileOperand) {
    llvm_unreachable("this tile has no asynchronous products");
  }
  virtual llvm::SmallVector<mlir::Value> pack(const BlockTile &,
                                              mlir::ValueRange) {
    llvm_unreachable("this tile has no asynchronous products");
  }
  virtual llvm::SmallVector<mlir::Value>
  startTerms(mlir::ValueRange, mlir::ValueRange, TileOperand) {
    llvm_unreachable("this tile has no asynchronous products");
  }
  virtual void wait(unsigned) {
    llvm_unreachable("this tile has no asynchronous products");
  }
  /// Code after this call is not scheduled before these 32-bit values are
  /// computed.
  virtual void holdBack(mlir::ValueRange) {
    llvm_unreachable("this tile has no asynchronous products");
  }

  /// The number of accumulators of a thread, and the position of each in the
  /// tile.
  virtual size_t countSums() const = 0;
  virtual mlir::Value getRow(size_t sum) const = 0;
  virtual mlir::Value getColumn(size_t sum) const = 0;
  /// Calls `body` with the position in the tile of each accumulator of the
  /// thread.
  void forEach(mlir::ValueRange sums,
               llvm::function_ref<void(mlir::Value row, mlir::Value column,
                                       mlir::Value sum)>
                   body) const;

  /// Accumulators at consecutive columns of a row, and the first column.
  struct Run {
    mlir::Value column;
    llvm::SmallVector<mlir::Value> sums;
  };
  /// The accumulators of the thread's row `number` as runs of equal length, at
  /// most `most`. The threads that share the row exchange accumulators, so all
  /// threads of the warp must call this.
  virtual llvm::SmallVector<Run> joinRow(mlir::ValueRange sums, unsigned number,
                                         unsigned most);

  /// The number of rows of a thread, and which of them an accumulator belongs
  /// to. Tiles with the same rows assign them to the same threads.
  virtual unsigned countRows() const = 0;
  virtual unsigned getRowNumber(size_t sum) const = 0;
  /// The lowest row of the tile that is row `number` of some thread.
  virtual int64_t getLeastRow(unsigned number) const = 0;
  /// The number of threads that share each row; they are neighbours in a warp.
  virtual unsigned getTeam() const = 0;

  const TileShape &getShape() const { return shape; }

protected:
  BlockTile(Emitter &e, TileShape shape) : e(e), shape(shape) {}

  Emitter &e;
  TileShape shape;
};

/// Makes this thread's earlier writes to shared memory visible to tensor cores
/// that read it asynchronously, after the next barrier (fence.proxy.async).
void emitSharedFence(Emitter &e);

/// A tile multiplied by mma: f16 or bf16 `element`s, f32 accumulators. `thread`
/// is the number in the block. Its `warps` warps are laid out over the tile
/// with `warpColumns` of them side by side.
std::unique_ptr<BlockTile> makeTensorTile(Emitter &e, TileShape shape,
                                          mlir::Type element,
                                          mlir::Value thread, unsigned warps,
                                          unsigned warpColumns);
/// A tile multiplied by wgmma, by groups of four warps with 16 rows each. Right
/// operands, and left operands that are not computed, are read from shared
/// memory.
std::unique_ptr<BlockTile> makeWarpGroupTile(Emitter &e, TileShape shape,
                                             mlir::Type element,
                                             mlir::Value thread,
                                             unsigned warps);
/// A tile multiplied by fma, with 256 threads.
std::unique_ptr<BlockTile> makePlainTile(Emitter &e, TileShape shape,
                                         mlir::Type element,
                                         mlir::Value thread);

} // namespace luminal

#endif // LUMINAL_LIB_CONVERSION_EMITTER_BLOCKTILE_H
