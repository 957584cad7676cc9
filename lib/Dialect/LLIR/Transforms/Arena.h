//===- Arena.h - Offsets of values that share memory ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_DIALECT_LLIR_TRANSFORMS_ARENA_H
#define LUMINAL_LIB_DIALECT_LLIR_TRANSFORMS_ARENA_H

#include "luminal/Support/Expr.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace luminal::llir {

/// A live range: memory is needed from step `first` to step `last`, inclusive.
struct ArenaRequest {
  Expr bytes;
  unsigned first, last;
};

/// The peak of live bytes, with symbols at their nominal values: a lower bound
/// for every plan.
struct ArenaPeak {
  double bytes = 0;
  /// The first step at which the peak is reached.
  unsigned step = 0;
};
ArenaPeak findPeak(llvm::ArrayRef<ArenaRequest> requests,
                   const Assumptions &symbols);

/// Returns whether all sizes are constants, so that requests are placed by
/// offset. Otherwise sizes are known only at run time, and requests share slots
/// as large as the largest request in them.
bool haveConstantSizes(llvm::ArrayRef<ArenaRequest> requests);

/// Computes offsets, multiples of 64. Requests that overlap in time never
/// overlap in memory, whatever the symbols' values. Returns the size of the
/// arena.
Expr packArena(llvm::ArrayRef<ArenaRequest> requests,
               const Assumptions &symbols,
               llvm::SmallVectorImpl<Expr> &offsets);

} // namespace luminal::llir

#endif // LUMINAL_LIB_DIALECT_LLIR_TRANSFORMS_ARENA_H
