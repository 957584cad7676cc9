//===- ProductTime.h - Predicted times of products on a GPU -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_DIALECT_LLIR_SCHEDULES_PRODUCTTIME_H
#define LUMINAL_DIALECT_LLIR_SCHEDULES_PRODUCTTIME_H

#include "luminal/Support/MachineModel.h"

namespace luminal::llir {

/// A matrix product: batch, rows, columns and contracted extent; the bits of an
/// operand's element; and `across`, the number of operands that are contiguous
/// in memory along their own dim instead of the contracted one.
struct ProductShape {
  double batch, rows, columns, inner;
  unsigned bits;
  unsigned across = 0;
};

/// The tile of the result that a block multiplies, and the split-k factor
/// `parts`.
struct PricedTile {
  int64_t rows, columns, parts = 1;
};

/// Returns the nanoseconds of a product of f16 or bf16 in these tiles: operands
/// are copied to shared memory unchanged and multiplied by tensor cores
/// (wgmma), after another product in a CUDA graph.
double getTileTime(const ProductShape &shape, const PricedTile &tile,
                   const MachineModel &machine);

/// Returns the nanoseconds that reading the operands from memory takes.
double getReadTime(const ProductShape &shape, const MachineModel &machine);

/// Returns the fastest tile; among equally fast ones the smallest.
PricedTile chooseTile(const ProductShape &shape, const MachineModel &machine);

/// How a product is computed: by a kernel that computes its operands on the way
/// to the tile, by a kernel that copies them to shared memory unchanged, or by
/// a library.
enum class ProductCode { Kernel, StagedKernel, Library };

/// Returns the nanoseconds of a product of more than a few rows, after another
/// product in a CUDA graph.
double getProductTime(const ProductShape &shape, ProductCode code,
                      const MachineModel &machine);

} // namespace luminal::llir

#endif // LUMINAL_DIALECT_LLIR_SCHEDULES_PRODUCTTIME_H
