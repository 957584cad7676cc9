//===- GemmTiles.h - Sums of products in tile registers -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_CONVERSION_GEMMLOOPS_GEMMTILES_H
#define LUMINAL_LIB_CONVERSION_GEMMLOOPS_GEMMTILES_H

#include "Loops.h"
#include "luminal/Conversion/GemmLoops.h"

namespace luminal {

/// Memory that says what tile registers hold.
constexpr int64_t kTileConfigBytes = 64;

/// The eight tile registers of a processor with AMX, from when one of these is
/// made to `release`. Each holds up to 16 lines of 64 bytes: of sums, of
/// pairs along k of as many rows, or of a pair of each of 16 columns.
class TileRegisters {
public:
  TileRegisters(const GemmLoops &g, Loops &m, mlir::Value config);

  /// The sums of `g.tile.rows` rows and the columns of a panel, to `memory`.
  void sumTile(mlir::Value panel, mlir::Value row, mlir::Value memory);
  /// The same of `count` rows, at most as many.
  void sumRest(mlir::Value panel, mlir::Value row, mlir::Value count,
               mlir::Value memory);
  void release();

private:
  void configure(mlir::Value rows, unsigned count);
  void sum(mlir::Value panel, mlir::Value row, unsigned strips,
           mlir::Value memory);

  const GemmLoops &g;
  Loops &m;
  mlir::Value config;
};

} // namespace luminal

#endif // LUMINAL_LIB_CONVERSION_GEMMLOOPS_GEMMTILES_H
