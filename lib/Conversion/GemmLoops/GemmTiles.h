//===- GemmTiles.h - Products in AMX tile registers -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_CONVERSION_GEMMLOOPS_GEMMTILES_H
#define LUMINAL_LIB_CONVERSION_GEMMLOOPS_GEMMTILES_H

#include "Loops.h"
#include "luminal/Conversion/GemmLoops.h"

namespace luminal {

/// Memory for the configuration of tile registers, behind a tile's sums.
constexpr int64_t kTileConfigBytes = 64;

/// A range of rows or columns.
struct GemmRange {
  mlir::Value begin, end;
};
/// The part of `g.build` after packing, with tile registers.
void sumInTiles(const GemmLoops &g, Loops &m, mlir::Value packed,
                mlir::Value memory, GemmRange rows, GemmRange columns);

} // namespace luminal

#endif // LUMINAL_LIB_CONVERSION_GEMMLOOPS_GEMMTILES_H
