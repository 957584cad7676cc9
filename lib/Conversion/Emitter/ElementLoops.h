//===- ElementLoops.h - Loops over the elements of a work item --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops over the axes of a grid; the vectorised axis is the innermost. One axis
// (the vectorised one, or else the innermost loop) is cut where the result of a
// comparison in the body changes, such as the test for the border of an image.
// Inside each range the comparison is constant and needs no code.
//
// If the last axis has few elements, such as the two parts of a complex number,
// it is unrolled inside a vector along the axis before: each element has a
// constant index, and loads that they share are emitted once.
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

  /// Calls `body` for every index of a work item, or with all indices of an
  /// unrolled last axis at once.
  void emit(mlir::Value unit, Body body);

  Expr getScratchBytes() const;

private:
  /// A range of indices of an axis. If `isLoop` is false it is short, and
  /// unrolled with constant indices.
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
  /// A product for which neighbouring positions of a line are accumulated
  /// together, if any, and how many of them.
  llir::ReductionOpInterface sums;
  int64_t places = 1;
  bool keepsSums = false;
  /// The number of elements of the last axis that are unrolled.
  int64_t interleaved = 1;
};

} // namespace luminal

#endif // LUMINAL_LIB_CONVERSION_EMITTER_ELEMENTLOOPS_H
