//===- TimeLoops.h - Loops over lists as loops over rows --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_DIALECT_HLIR_TRANSFORMS_TIMELOOPS_H
#define LUMINAL_LIB_DIALECT_HLIR_TRANSFORMS_TIMELOOPS_H

#include "luminal/Dialect/HLIR/IR/HLIR.h"

namespace luminal::hlir {

/// A loop over lists, rewritten as a loop over rows.
struct TimeLoop {
  RepeatOp loop;
  /// The replacement of a value that was read after the loop over lists, by a
  /// result of the loop over rows.
  struct Replacement {
    mlir::Value old;
    unsigned result;
    /// Maps an index of `old` to one of the result.
    MapAttr map;
  };
  llvm::SmallVector<Replacement> replaced;
};

/// Builds the loop over rows behind `repeat`, which is kept. Applies if each of
/// its lists consists of views of one tensor at consecutive positions, and its
/// results are read as a whole along a dim of trips; otherwise std::nullopt.
std::optional<TimeLoop> readRows(RepeatOp repeat);

} // namespace luminal::hlir

#endif // LUMINAL_LIB_DIALECT_HLIR_TRANSFORMS_TIMELOOPS_H
