//===- ProductTime.h - What products take on a GPU --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_DIALECT_LLIR_SCHEDULES_PRODUCTTIME_H
#define LUMINAL_DIALECT_LLIR_SCHEDULES_PRODUCTTIME_H

#include "luminal/Support/MachineModel.h"

namespace luminal::llir {

/// A product of matrices: their batch, extents and contracted extent, the bits
/// of an element of the operands, and how many of these are in memory along
/// their own dim, not along the contracted one.
struct ProductShape {
  double batch, rows, columns, inner;
  unsigned bits;
  unsigned across = 0;
};

/// What a block multiplies at a time, and into how many parts the contracted
/// dim is cut.
struct PricedTile {
  int64_t rows, columns, parts = 1;
};

/// Nanoseconds of a product of f16 or bf16 by tiles whose operands are copied
/// to shared memory as they are and multiplied by tensor cores (wgmma), behind
/// another product in a graph.
double getTileTime(const ProductShape &shape, const PricedTile &tile,
                   const MachineModel &machine);

/// Nanoseconds in which the operands are read from memory.
double getReadTime(const ProductShape &shape, const MachineModel &machine);

/// The tile of least time, and of those that are as good the smallest.
PricedTile chooseTile(const ProductShape &shape, const MachineModel &machine);

/// What multiplies: a kernel that computes its operands on their way to a tile,
/// one that copies them to shared memory as they are, or a library.
enum class ProductCode { Kernel, StagedKernel, Library };

/// Nanoseconds of a product of more than a few rows behind another one, in a
/// graph of a GPU.
double getProductTime(const ProductShape &shape, ProductCode code,
                      const MachineModel &machine);

} // namespace luminal::llir

#endif // LUMINAL_DIALECT_LLIR_SCHEDULES_PRODUCTTIME_H
