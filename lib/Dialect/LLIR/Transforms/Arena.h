//===- Arena.h - Offsets of values that share memory ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_DIALECT_LLIR_TRANSFORMS_ARENA_H
#define LUMINAL_LIB_DIALECT_LLIR_TRANSFORMS_ARENA_H

#include "luminal/Support/Expr.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace luminal::llir {

/// A live range: memory needed from step `first` to step `last`, inclusive.
struct ArenaRequest {
  Expr bytes;
  unsigned first, last;
};

/// Peak live bytes, for the symbols' nominal values: no plan is
/// smaller.
struct ArenaPeak {
  double bytes = 0;
  /// The first step at which the peak is reached.
  unsigned step = 0;
};
ArenaPeak findPeak(llvm::ArrayRef<ArenaRequest> requests,
                   const Assumptions &symbols);

/// Whether requests are placed by offset; else, since sizes are known only at
/// run time, they share slots as large as the largest of them.
bool haveConstantSizes(llvm::ArrayRef<ArenaRequest> requests);

/// Offsets, multiples of 64, so that requests that overlap in time never
/// overlap in memory, whatever the symbols' values; returns the size of the
/// arena.
Expr packArena(llvm::ArrayRef<ArenaRequest> requests,
               const Assumptions &symbols,
               llvm::SmallVectorImpl<Expr> &offsets);

} // namespace luminal::llir

#endif // LUMINAL_LIB_DIALECT_LLIR_TRANSFORMS_ARENA_H
