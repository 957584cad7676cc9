//===- ScatterLoops.h - Loops shared by scatter kernels ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_CONVERSION_EMITTER_SCATTERLOOPS_H
#define LUMINAL_LIB_CONVERSION_EMITTER_SCATTERLOOPS_H

#include "Kernels.h"

namespace luminal {

class ScatterLoops {
protected:
  ScatterLoops(Emitter &e, const WorkLoop &loop);

  static Index join(Index a, const Index &b);
  /// Finds the result that holds the scatter; false, with an error, if it
  /// cannot be determined.
  bool findResult();
  /// The position in the result of element (`row`, columns) of the scatter. The
  /// yielded value may be a bijective view of the scatter.
  Expr position(const Index &columns);
  /// False, with an error, if the kernel is in place but the destination is not
  /// operand 0, is read at another index than is written, or has another
  /// reader.
  bool checkInPlace(const Index &columns);
  /// Loads the index at `updateIndex`, checks its range and sets `row` to it;
  /// `body` runs if it is in range.
  void atRow(const Index &updateIndex, llvm::function_ref<void()> body);

  /// The element of the result at `at` after `update` is applied to it.
  mlir::Value combine(Expr at, mlir::Value update);

  Emitter &e;
  const WorkLoop &loop;
  llir::ScatterOp op;
  /// Extents of the destination, and of the indices.
  llvm::SmallVector<Expr> extents, indexExtents;
  /// The dim that is the destination's first.
  unsigned row;
  MovedResult result;
  Domain domain;
};

} // namespace luminal

#endif // LUMINAL_LIB_CONVERSION_EMITTER_SCATTERLOOPS_H
