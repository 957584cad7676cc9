//===- ElementLoops.h - Loops over the elements of a unit -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops over the axes of a grid, innermost that of vectors. One of them, the
// vectors' or else the innermost one for which there are some, is cut into
// parts where comparisons change that elements depend on, as those that tell
// the borders of an image: in each part they need no code.
//
// The elements of a last axis of few, as the parts of a complex number, are
// emitted beside each other for a vector along the axis before: each has its
// index as a constant, and what they read of the same is read once.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_LIB_CONVERSION_EMITTER_ELEMENTLOOPS_H
#define LUMINAL_LIB_CONVERSION_EMITTER_ELEMENTLOOPS_H

#include "Kernels.h"

namespace luminal {

class ElementLoops {
public:
  ElementLoops(Emitter &e, const Grid &grid, const Index &index,
               mlir::Value scratch);

  using Body = llvm::function_ref<void(llvm::ArrayRef<Index>)>;

  /// Calls `body` for every index of a unit, or for the few of a last axis that
  /// are emitted beside each other.
  void emit(mlir::Value unit, Body body);

  Expr getScratchBytes() const;

private:
  /// Indices of an axis. Where `isLoop` is not set, they are so few that code
  /// has each of them as a constant.
  struct Part {
    int64_t begin, end;
    bool isLoop = true;
  };
  struct Loop {
    const Axis *axis;
    IndexRange range;
  };

  llvm::SmallVector<Part> findParts(const Axis &axis) const;
  llvm::SmallVector<Part> joinBorders(llvm::ArrayRef<Part> parts) const;
  void nest(llvm::ArrayRef<Loop> loops, const Index &at, Body body);
  void emitPlaces(const Loop &line, const Loop &lanes, const Index &at,
                  Body body);

  Emitter &e;
  const Grid &grid;
  const Index &index;
  mlir::Value scratch;
  const Axis *cutAxis = nullptr;
  llvm::SmallVector<Part> parts;
  /// The product of which several places of a line are summed at once, if any,
  /// and how many.
  llir::ReductionOpInterface sums;
  int64_t places = 1;
  bool keepsSums = false;
  /// How many elements of the last axis are emitted beside each other.
  int64_t interleaved = 1;
};

} // namespace luminal

#endif // LUMINAL_LIB_CONVERSION_EMITTER_ELEMENTLOOPS_H
