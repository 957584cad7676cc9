//===- BlockTile.h - How a block of threads multiplies a tile -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_CONVERSION_EMITTER_BLOCKTILE_H
#define LUMINAL_LIB_CONVERSION_EMITTER_BLOCKTILE_H

#include "Kernels.h"

namespace luminal {

struct TileShape {
  int64_t rows, columns, depth;
};

/// A tile of a product whose sums the threads of a block hold. Both operands
/// are in shared memory, elements of k side by side.
class BlockTile {
public:
  virtual ~BlockTile() = default;

  /// The element type that is multiplied, as it is in shared memory, and the
  /// elements from one row of it to the next.
  virtual mlir::Type getElement() const = 0;
  mlir::Type getStored() const { return getStorageType(getElement()); }
  int64_t getStride() const;

  /// The sums of a thread, all 0.
  virtual llvm::SmallVector<mlir::Value> begin() = 0;
  /// The sums once they have taken the tile in shared memory.
  virtual llvm::SmallVector<mlir::Value>
  multiply(mlir::ValueRange sums, mlir::Value left, mlir::Value right) = 0;
  /// Calls `body` with the place in the tile of each sum of the thread.
  virtual void
  forEach(mlir::ValueRange sums,
          llvm::function_ref<void(mlir::Value row, mlir::Value column,
                                  mlir::Value sum)>
              body) = 0;

protected:
  BlockTile(Emitter &e, TileShape shape) : e(e), shape(shape) {}

  Emitter &e;
  TileShape shape;
};

/// By tensor cores: f16 or bf16 `element`s, sums in f32. `thread` is the number
/// in the block, of 256.
std::unique_ptr<BlockTile> makeTensorTile(Emitter &e, TileShape shape,
                                          mlir::Type element,
                                          mlir::Value thread);
/// By multiplication and addition of sums.
std::unique_ptr<BlockTile> makePlainTile(Emitter &e, TileShape shape,
                                         mlir::Type element,
                                         mlir::Value thread);

} // namespace luminal

#endif // LUMINAL_LIB_CONVERSION_EMITTER_BLOCKTILE_H
