//===- GemmLoops.h - The loops of a matrix product ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops for C[r, c] = sum over k of R[r, k] * C[k, c] on one core: packing, a
// register tile, and the skinny forms. How an element is read, and what is done
// with a finished tile, are callbacks, so that views, casts and epilogues are
// the caller's. "Rows" are the operand that is broadcast element by element,
// "columns" the one that is read as vectors: either of the two operands of a
// product can be either. Source of the scheme: Goto and van de Geijn, "Anatomy
// of high-performance matrix multiplication" (2008).
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_CONVERSION_GEMMLOOPS_H
#define LUMINAL_CONVERSION_GEMMLOOPS_H

#include "luminal/Support/MachineModel.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

#include <optional>

namespace luminal {

/// The register tile: `rows` x (`vectors` * `lanes`) accumulators.
struct GemmTile {
  unsigned rows = 14, vectors = 2, lanes = 16;
  /// Columns that are packed together and stay in cache while all rows pass.
  unsigned panels = 4;
  /// Of tile registers: factors along k that all panels take before the next
  /// ones, so that rows stay in the first cache; 0: all.
  unsigned depth = 0;

  unsigned columns() const { return vectors * lanes; }
  unsigned columnBlock() const { return columns() * panels; }
};

/// All callbacks build at the insertion point of `b`. Indices and extents are
/// i64 values, counted within one batch.
struct GemmLoops {
  mlir::Type accumulator; // element type: f32, f64, i32 or i64
  /// What is read, packed and multiplied: an accumulator, or a type that stands
  /// for several elements along k, for which `multiplyAdd` is given.
  mlir::Type factor;
  /// Sum plus the products of two vectors of factors; null: fma, or its like of
  /// integers.
  std::function<mlir::Value(mlir::ImplicitLocOpBuilder &b, mlir::Value x,
                            mlir::Value y, mlir::Value sum)>
      multiplyAdd;
  /// Of the whole product; k counts factors. Where `rows` or `columns` is a
  /// constant multiple of the tile's, there is no code for a remainder.
  mlir::Value rows, columns, k;
  /// Whether (i1) columns are to be packed: where not, `scratch` holds them
  /// from the call before. Null: they are.
  mlir::Value isFresh;
  /// The first factors along k that are whole, where not all are; null: all.
  mlir::Value wholeK;
  /// Columns are packed as if there were so many factors along k, zeros after
  /// those that are there; null: `k`.
  mlir::Value paddedK;
  GemmTile tile;
  /// Of a line of the cache: what is brought ahead, is so line by line.
  int64_t lineBytes = MachineModel().lineBytes;

  /// Whether sums are kept in tile registers (AMX), kTileRows rows of a vector
  /// each, and `loadRow` is not used. A factor is then a pair of bf16,
  /// `paddedK` is a multiple of kTileSteps, `tile.rows` of kTileRows, lanes
  /// are 16.
  bool usesTiles = false;
  static constexpr unsigned kTileRows = 16, kTileSteps = 16, kTiles = 8;
  /// Where `paddedK` factors of a row stand side by side, and the bytes (i64)
  /// from one row to the next.
  struct Lines {
    mlir::Value begin, stride;
  };
  std::function<Lines(mlir::ImplicitLocOpBuilder &b, mlir::Value row)> getLines;
  /// Tile registers that a tile takes.
  static unsigned countTiles(const GemmTile &tile) {
    unsigned strips = tile.rows / kTileRows;
    return strips * tile.vectors + strips + tile.vectors;
  }

  /// The scalar R[row, kIndex], as `factor`; row < rows, kIndex < k.
  std::function<mlir::Value(mlir::ImplicitLocOpBuilder &b, mlir::Value row,
                            mlir::Value kIndex)>
      loadRow;
  /// The vector C[kIndex, column .. column + lanes), of which the first `count`
  /// are inside (null: all); null where that is not one cheap read.
  std::function<mlir::Value(mlir::ImplicitLocOpBuilder &b, mlir::Value kIndex,
                            mlir::Value column, mlir::Value count)>
      loadColumns;
  /// Writes C[kIndex, columnBegin .. columnEnd) to `line`, which holds
  /// tile.columnBlock() factors; null where columns are not read so.
  std::function<void(mlir::ImplicitLocOpBuilder &b, mlir::Value kIndex)>
      fillLine;
  mlir::Value line;
  /// The vector C[kIndex .. kIndex + lanesAlongK, column], all inside; null
  /// where that is not one cheap read.
  std::function<mlir::Value(mlir::ImplicitLocOpBuilder &b, mlir::Value kIndex,
                            mlir::Value column)>
      loadAlongK;
  /// A power of two up to tile.lanes. Four take the fewest shuffles; where an
  /// element is computed, whole vectors compute fewer times.
  unsigned lanesAlongK = 4;
  /// Columns that are not packed: those of one step of k are consecutive
  /// factors, from `memory` on at `outer step * outerStep` and what `table`
  /// (i64) has for the step of the period. Positions [0, count) are columns to
  /// `finish`, in place of those of the product.
  struct Windows {
    mlir::Value memory, table, count;
    int64_t outer = 1, period = 1, outerStep = 0;
  };
  std::optional<Windows> windows;
  /// Rows that are read so, in place of `loadRow`: each begins at the place
  /// that `placeRow` gives. Those of a whole tile are at `rowSteps` from its
  /// first; empty: that is not the same for all tiles.
  std::optional<Windows> rowWindows;
  std::function<mlir::Value(mlir::ImplicitLocOpBuilder &b, mlir::Value row)>
      placeRow;
  llvm::SmallVector<int64_t> rowSteps;
  /// Columns that memory holds packed, from that of column 0 on; null: they are
  /// packed to scratch.
  mlir::Value panels;
  /// Steps of k by which a panel in memory is read ahead: weights may come from
  /// memory at each call, and a tile's sums take that long.
  static constexpr int64_t kPanelAhead = 16;
  /// The scalar C[kIndex, column].
  std::function<mlir::Value(mlir::ImplicitLocOpBuilder &b, mlir::Value kIndex,
                            mlir::Value column)>
      loadColumn;
  /// A finished tile in memory: element (i, j) of [0, rowCount) x [0,
  /// columnCount) is at tile[i * tile.columns() + j], or with `transposes` at
  /// tile[j * tileLine() + i], and belongs at (row + i, column + j). Whole
  /// vectors of either may be read.
  std::function<void(mlir::ImplicitLocOpBuilder &b, mlir::Value tile,
                     mlir::Value row, mlir::Value rowCount, mlir::Value column,
                     mlir::Value columnCount)>
      finish;

  bool transposes = false;
  int64_t tileLine() const;

  /// Memory that `finish` reads or writes for a tile at (row, column): the
  /// caches bring it while the tile is summed, a row after the other. Null:
  /// what is not there is waited for.
  struct Ahead {
    mlir::Value begin;
    /// Bytes (i64) from one row to the next, and those of a row.
    mlir::Value stride;
    int64_t bytes;
    bool isWritten;
  };
  std::function<llvm::SmallVector<Ahead>(mlir::ImplicitLocOpBuilder &b,
                                         mlir::Value row, mlir::Value column)>
      findAhead;
  /// Steps of k whose products are added one after the other, to a sum of
  /// their own: n products are rounded at most 512 + n / 512 times, not n times
  /// (Higham, "The accuracy of floating point summation", 1993).
  static constexpr int64_t kSumSteps = 512;
  /// Steps of k between two rows of it, where columns are packed.
  static constexpr unsigned kAheadSteps = 4;

  /// Rows that the sums of a remainder are taken for at once: enough of them
  /// keep the units busy, and few are little code.
  static constexpr unsigned kRemainderRows = 4;

  /// Bytes of scratch that `build` needs besides packedBytes(k): the tile.
  int64_t tileBytes() const;
  /// Bytes of packed columns for each unit of k.
  int64_t packedBytesPerK() const;

  /// Rows [rowBegin, rowEnd) of columns [columnBegin, columnEnd), at most
  /// tile.columnBlock() columns. Both ranges begin at a multiple of the tile's
  /// rows and columns, and end at one or at `rows` and `columns`. `scratch`: a
  /// 64-byte aligned pointer to tileBytes() + packedBytesPerK() * k bytes.
  void build(mlir::ImplicitLocOpBuilder &b, mlir::Value scratch,
             mlir::Value rowBegin, mlir::Value rowEnd, mlir::Value columnBegin,
             mlir::Value columnEnd) const;
};

/// Dot products along k for few rows: out(row, column) = sum over k of R[row,
/// k] * C[k, column], where both operands are read as vectors along k. Bound by
/// memory when the columns' operand is large.
struct DotLoops {
  mlir::Type accumulator;
  mlir::Value k;
  unsigned lanes = 16;
  /// Rows taken at once (at most 4) and columns taken at once.
  unsigned rows = 1, columns = 4;
  /// Whether every range of columns is a multiple of those taken at once.
  bool isWhole = false;

  std::function<mlir::Value(mlir::ImplicitLocOpBuilder &b, mlir::Value row,
                            mlir::Value kIndex, bool vector)>
      loadRow;
  std::function<mlir::Value(mlir::ImplicitLocOpBuilder &b, mlir::Value kIndex,
                            mlir::Value column, bool vector)>
      loadColumn;
  std::function<void(mlir::ImplicitLocOpBuilder &b, mlir::Value sum,
                     mlir::Value row, mlir::Value column)>
      finish;

  /// Bytes of scratch that `build` needs: the sums of one step.
  int64_t scratchBytes() const;

  /// Rows [row, row + rows) of columns [columnBegin, columnEnd).
  void build(mlir::ImplicitLocOpBuilder &b, mlir::Value scratch,
             mlir::Value row, mlir::Value columnBegin,
             mlir::Value columnEnd) const;
};

} // namespace luminal

#endif // LUMINAL_CONVERSION_GEMMLOOPS_H
