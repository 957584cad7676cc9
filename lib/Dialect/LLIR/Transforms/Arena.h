//===- Arena.h - Offsets of values that share memory ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_DIALECT_LLIR_TRANSFORMS_ARENA_H
#define LUMINAL_LIB_DIALECT_LLIR_TRANSFORMS_ARENA_H

#include "luminal/Support/Expr.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace luminal::llir {

/// Memory wanted from step `first` to step `last`, both included.
struct ArenaRequest {
  Expr bytes;
  unsigned first, last;
};

/// Offsets, multiples of 64, so that requests that overlap in time never
/// overlap in memory, whatever the symbols' values; returns the size of the
/// arena.
Expr packArena(llvm::ArrayRef<ArenaRequest> requests,
               const Assumptions &symbols,
               llvm::SmallVectorImpl<Expr> &offsets);

} // namespace luminal::llir

#endif // LUMINAL_LIB_DIALECT_LLIR_TRANSFORMS_ARENA_H
