//===- GemmLoops.h - The loops of a matrix product ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits the loops of C[r, c] = sum over k of R[r, k] * C[k, c] for one core:
// packing, a register tile, and forms for few rows. Callbacks read the elements
// and consume the finished tiles, so the caller decides about views, casts and
// epilogues. "Rows" is the operand that is broadcast element by element,
// "columns" the one that is read as vectors; either operand of a product can
// take either role. Source of the scheme: Goto and van de Geijn, "Anatomy of
// high-performance matrix multiplication" (2008).
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
  /// Register tiles side by side whose columns are packed together and stay in
  /// cache while all rows are multiplied with them.
  unsigned panels = 4;
  /// With tile registers: factors along k that all panels are multiplied over
  /// before the next ones, so that the rows stay in the L1 cache; 0: all.
  unsigned depth = 0;

  unsigned columns() const { return vectors * lanes; }
  unsigned columnBlock() const { return columns() * panels; }
};

/// All callbacks build at the insertion point of `b`. Indices and extents are
/// i64 values, counted within one batch.
struct GemmLoops {
  mlir::Type accumulator; // element type: f32, f64, i32 or i64
  /// The type that is read, packed and multiplied: the accumulator's, or a type
  /// that holds several elements along k, for which `multiplyAdd` must be set.
  mlir::Type factor;
  /// `sum` plus the product of two vectors of factors. Null: fma, or multiply
  /// and add for integers.
  std::function<mlir::Value(mlir::ImplicitLocOpBuilder &b, mlir::Value x,
                            mlir::Value y, mlir::Value sum)>
      multiplyAdd;
  /// Extents of the whole product; `k` counts factors. No remainder code is
  /// emitted for `rows` or `columns` if it is a constant multiple of the
  /// tile's.
  mlir::Value rows, columns, k;
  /// Whether (i1) columns must be packed; if false, `scratch` holds them from
  /// the previous call. Null: always packed.
  mlir::Value isFresh;
  /// The number of leading factors along k that hold only real elements; null:
  /// all of them do.
  mlir::Value wholeK;
  /// The number of factors along k up to which packed columns are padded with
  /// zeros; null: `k`.
  mlir::Value paddedK;
  GemmTile tile;
  /// Bytes of a cache line, the step of prefetches.
  int64_t lineBytes = MachineModel().lineBytes;

  /// Whether sums are kept in tile registers (AMX), each of kTileRows rows of a
  /// vector. Then a factor is a pair of bf16, `paddedK` is a multiple of
  /// kTileSteps, `tile.rows` is a multiple of kTileRows, there are 16 lanes,
  /// and `getLines` is used in place of `loadRow`.
  bool usesTiles = false;
  static constexpr unsigned kTileRows = 16, kTileSteps = 16, kTiles = 8;
  /// The address of a row whose `paddedK` factors are contiguous, and the
  /// distance (i64) to the next row in bytes.
  struct Lines {
    mlir::Value begin, stride;
  };
  std::function<Lines(mlir::ImplicitLocOpBuilder &b, mlir::Value row)> getLines;
  /// The number of tile registers that a tile needs.
  static unsigned countTiles(const GemmTile &tile) {
    unsigned strips = tile.rows / kTileRows;
    return strips * tile.vectors + strips + tile.vectors;
  }

  /// The scalar R[row, kIndex], as `factor`; row < rows, kIndex < k.
  std::function<mlir::Value(mlir::ImplicitLocOpBuilder &b, mlir::Value row,
                            mlir::Value kIndex)>
      loadRow;
  /// The vector C[kIndex, column .. column + lanes). Only the first `count` are
  /// inside (null: all). Null if it is not a single cheap load.
  std::function<mlir::Value(mlir::ImplicitLocOpBuilder &b, mlir::Value kIndex,
                            mlir::Value column, mlir::Value count)>
      loadColumns;
  /// Writes C[kIndex, columnBegin .. columnEnd) to `line`, which holds
  /// tile.columnBlock() factors. Null if columns are packed another way.
  std::function<void(mlir::ImplicitLocOpBuilder &b, mlir::Value kIndex)>
      fillLine;
  mlir::Value line;
  /// The vector C[kIndex .. kIndex + lanesAlongK, column], all inside. Null if
  /// it is not a single cheap load.
  std::function<mlir::Value(mlir::ImplicitLocOpBuilder &b, mlir::Value kIndex,
                            mlir::Value column)>
      loadAlongK;
  /// A power of two up to tile.lanes. Four need the fewest shuffles; if the
  /// elements are computed, whole vectors compute fewer times.
  unsigned lanesAlongK = 4;
  /// Columns that are read without packing: the columns of a step of k are
  /// contiguous in `memory`, from position `(k div period) * outerStep +
  /// table[k mod period]` on (`table` holds i64). Positions [0, count) are the
  /// columns that `finish` is called with, instead of the product's.
  struct Windows {
    mlir::Value memory, table, count;
    int64_t outer = 1, period = 1, outerStep = 0;
  };
  std::optional<Windows> windows;
  /// Rows that are read the same way instead of by `loadRow`: `placeRow` gives
  /// the position at which a row begins. `rowSteps` are the distances of a
  /// tile's rows from its first row; empty if they differ between tiles.
  std::optional<Windows> rowWindows;
  std::function<mlir::Value(mlir::ImplicitLocOpBuilder &b, mlir::Value row)>
      placeRow;
  llvm::SmallVector<int64_t> rowSteps;
  /// Memory that holds the columns packed already, from column 0 on. Null:
  /// columns are packed to scratch.
  mlir::Value panels;
  /// Steps of k by which a panel in memory is prefetched: weights may come from
  /// DRAM on each call, and summing a tile gives that much time.
  static constexpr int64_t kPanelAhead = 16;
  /// The scalar C[kIndex, column].
  std::function<mlir::Value(mlir::ImplicitLocOpBuilder &b, mlir::Value kIndex,
                            mlir::Value column)>
      loadColumn;
  /// Consumes a finished tile in memory. Element (i, j) of [0, rowCount) x [0,
  /// columnCount) is tile[i * tile.columns() + j], or with `transposes` tile[j
  /// * tileLine() + i], and belongs at (row + i, column + j). Whole vectors may
  /// be read.
  std::function<void(mlir::ImplicitLocOpBuilder &b, mlir::Value tile,
                     mlir::Value row, mlir::Value rowCount, mlir::Value column,
                     mlir::Value columnCount)>
      finish;

  bool transposes = false;
  int64_t tileLine() const;

  /// Memory that `finish` reads or writes for a tile at (row, column). It is
  /// prefetched, row by row, while the tile is summed. Null: no prefetch.
  struct Ahead {
    mlir::Value begin;
    /// Distance (i64) from one row to the next, and length of a row, in bytes.
    mlir::Value stride;
    int64_t bytes;
    bool isWritten;
  };
  std::function<llvm::SmallVector<Ahead>(mlir::ImplicitLocOpBuilder &b,
                                         mlir::Value row, mlir::Value column)>
      findAhead;
  /// The most products that are accumulated one after the other: longer sums
  /// are added up in blocks, so that n products are rounded at most 512 + n /
  /// 512 times, not n times (Higham, "The accuracy of floating point
  /// summation", 1993).
  static constexpr int64_t kSumSteps = 512;
  /// Steps of k between prefetches of two rows, if columns are packed.
  static constexpr unsigned kAheadSteps = 4;

  /// Rows of a remainder that are summed together: enough to hide the latency
  /// of fma, few enough to keep the code small.
  static constexpr unsigned kRemainderRows = 4;

  /// Bytes of scratch for the tile, which `build` needs beside packed columns.
  int64_t tileBytes() const;
  /// Bytes of packed columns per step of k.
  int64_t packedBytesPerK() const;

  /// Emits the product of rows [rowBegin, rowEnd) and columns [columnBegin,
  /// columnEnd), at most tile.columnBlock() columns. Both ranges begin at a
  /// multiple of the tile's rows or columns, and end at one or at `rows` or
  /// `columns`. `scratch` is a 64-byte aligned pointer to tileBytes() +
  /// packedBytesPerK() * k bytes.
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
  /// Rows (at most 4) and columns that are summed together.
  unsigned rows = 1, columns = 4;
  /// Whether every range of columns is a multiple of `columns` long.
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

  /// Bytes of scratch that `build` needs for the sums of `rows` and `columns`.
  int64_t scratchBytes() const;

  /// Emits rows [row, row + rows) of columns [columnBegin, columnEnd).
  void build(mlir::ImplicitLocOpBuilder &b, mlir::Value scratch,
             mlir::Value row, mlir::Value columnBegin,
             mlir::Value columnEnd) const;
};

} // namespace luminal

#endif // LUMINAL_CONVERSION_GEMMLOOPS_H
