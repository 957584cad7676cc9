//===- BlockChoices.h - Choices for products by thread blocks -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_DIALECT_LLIR_SCHEDULES_BLOCKCHOICES_H
#define LUMINAL_LIB_DIALECT_LLIR_SCHEDULES_BLOCKCHOICES_H

#include "Forms.h"
#include "luminal/Dialect/LLIR/Analysis/ProductAnalysis.h"

namespace luminal::llir {

/// `count` products of `bits` bits in tiles of a block, by tensor cores or not,
/// as the number of those that priceWork's rate is of.
double countInBlocks(double count, unsigned bits, bool usesTensorCores,
                     const MachineModel &machine);

/// How a side is read: so many elements at once, along k or its own dim.
struct BlockReading {
  unsigned lanes = 1;
  bool isAlongK = true;
};
BlockReading chooseReading(ProductAnalysis &p, const ProductSide &side,
                           const MachineModel &machine);
/// Whether a side is in memory as it is multiplied, as elements of type
/// `multiplied`, so that it may be copied to shared memory without passing
/// through registers. There lines are of k, or, where `mayBeAcross`, as they
/// are read.
Decision canCopy(const ProductAnalysis &p, const ProductSide &side,
                 BlockReading reading, mlir::Type multiplied, bool mayBeAcross);
/// Checks what a form says of that, for a tile of `count` rows or columns and
/// `depth` steps of k.
mlir::LogicalResult
verifyReading(LoopFormAttr form, const ProductAnalysis &p, bool ofRows,
              int64_t count, int64_t depth,
              llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

/// Checks that so many blocks of threads of a multiprocessor, which leave each
/// thread `room` registers, leave it those of a product that four warps
/// multiply together, into so many registers of sums.
mlir::LogicalResult
verifyResidents(int64_t blocks, int64_t threads, int64_t room, int64_t sums,
                llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

} // namespace luminal::llir

#endif // LUMINAL_LIB_DIALECT_LLIR_SCHEDULES_BLOCKCHOICES_H
