//===- BlockChoices.h - Choices for products by thread blocks -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_DIALECT_LLIR_SCHEDULES_BLOCKCHOICES_H
#define LUMINAL_LIB_DIALECT_LLIR_SCHEDULES_BLOCKCHOICES_H

#include "Forms.h"
#include "luminal/Dialect/LLIR/Analysis/ProductAnalysis.h"

namespace luminal::llir {

/// Converts `count` multiply-adds of `bits` bits in the tiles of a thread
/// block, with or without tensor cores, to the unit of priceWork's rate.
double countInBlocks(double count, unsigned bits, bool usesTensorCores,
                     const MachineModel &machine);

/// How a side is read: `lanes` elements at once, along k or along its own dim.
struct BlockReading {
  unsigned lanes = 1;
  bool isAlongK = true;
};
BlockReading chooseReading(ProductAnalysis &p, const ProductSide &side,
                           const MachineModel &machine);
/// Accepts if a side is in memory in the type `multiplied`, so that it can be
/// copied to shared memory without passing through registers. Lines in shared
/// memory then run along k, or, with `mayBeAcross`, along the dim in which the
/// side is read.
Decision canCopy(const ProductAnalysis &p, const ProductSide &side,
                 BlockReading reading, mlir::Type multiplied, bool mayBeAcross);
/// Checks how a form reads a side, for a tile of `count` rows or columns and
/// `depth` indices of k.
mlir::LogicalResult
verifyReading(LoopFormAttr form, const ProductAnalysis &p, bool ofRows,
              int64_t count, int64_t depth,
              llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

/// Checks that `blocks` resident blocks on an SM, which leave `room` registers
/// to each thread, leave enough for a wgmma product with `sums` accumulator
/// registers.
mlir::LogicalResult
verifyResidents(int64_t blocks, int64_t threads, int64_t room, int64_t sums,
                llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

} // namespace luminal::llir

#endif // LUMINAL_LIB_DIALECT_LLIR_SCHEDULES_BLOCKCHOICES_H
