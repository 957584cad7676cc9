//===- GemmTiles.h - Sums of products in tile registers -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_CONVERSION_GEMMLOOPS_GEMMTILES_H
#define LUMINAL_LIB_CONVERSION_GEMMLOOPS_GEMMTILES_H

#include "Loops.h"
#include "luminal/Conversion/GemmLoops.h"

namespace luminal {

/// Memory that says what tile registers hold, at the end of a tile's.
constexpr int64_t kTileConfigBytes = 64;

/// A range of rows or columns.
struct GemmRange {
  mlir::Value begin, end;
};
/// What `g.build` does once the columns are packed, by tile registers.
void sumInTiles(const GemmLoops &g, Loops &m, mlir::Value packed,
                mlir::Value memory, GemmRange rows, GemmRange columns);

} // namespace luminal

#endif // LUMINAL_LIB_CONVERSION_GEMMLOOPS_GEMMTILES_H
