//===- TimeLoops.h - Loops whose trips read rows --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_DIALECT_HLIR_TRANSFORMS_TIMELOOPS_H
#define LUMINAL_LIB_DIALECT_HLIR_TRANSFORMS_TIMELOOPS_H

#include "luminal/Dialect/HLIR/IR/HLIR.h"

namespace luminal::hlir {

/// A loop over lists as one over rows.
struct TimeLoop {
  RepeatOp loop;
  /// What stands for a value that was read behind the loop over lists, made of
  /// a result of the loop over rows.
  struct Replacement {
    mlir::Value old;
    unsigned result;
    /// From the index of `old` to that of the result.
    MapAttr map;
  };
  llvm::SmallVector<Replacement> replaced;
};

/// The same loop behind `repeat`, which stays, where each of its lists is of
/// views of one tensor at places that follow each other, and what it makes in
/// its trips is read as a whole, along a dim of trips; nothing, else.
std::optional<TimeLoop> readRows(RepeatOp repeat);

} // namespace luminal::hlir

#endif // LUMINAL_LIB_DIALECT_HLIR_TRANSFORMS_TIMELOOPS_H
