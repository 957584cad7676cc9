//===- ScatterLoops.h - What kernels of one scatter share -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_CONVERSION_EMITTER_SCATTERLOOPS_H
#define LUMINAL_LIB_CONVERSION_EMITTER_SCATTERLOOPS_H

#include "Kernels.h"

namespace luminal {

class ScatterLoops {
protected:
  ScatterLoops(Emitter &e, const WorkLoop &loop);

  static Index join(Index a, const Index &b);
  /// Finds where the scatter is in the result; false with an error where that
  /// is not known.
  bool findResult();
  /// Where element (`row`, columns) of the scatter goes: the yielded value may
  /// be a bijective view of it.
  Expr position(const Index &columns);
  /// False with an error where the kernel is in place and the destination is
  /// not operand 0, read where the result is written and by nothing else.
  bool checkInPlace(const Index &columns);
  /// Reads the index at `updateIndex`, checks it and makes it the row; `body`
  /// runs where there is such a row.
  void atRow(const Index &updateIndex, llvm::function_ref<void()> body);

  /// The element of the result at `at` after one more update of it.
  mlir::Value combine(Expr at, mlir::Value update);

  Emitter &e;
  const WorkLoop &loop;
  llir::ScatterOp op;
  /// Of the destination, and of the indices.
  llvm::SmallVector<Expr> extents, indexExtents;
  /// The destination's first dim.
  unsigned row;
  MovedResult result;
  Domain domain;
};

} // namespace luminal

#endif // LUMINAL_LIB_CONVERSION_EMITTER_SCATTERLOOPS_H
