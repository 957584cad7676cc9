//===- TransposedReads.h - What is read across memory -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A map that transposes reads neighbours of its results far apart from each
// other: neighbours in memory are those along another axis. A tile of such a
// value that is brought through memory on chip is read along that axis and
// written along the results'.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_DIALECT_LLIR_ANALYSIS_TRANSPOSEDREADS_H
#define LUMINAL_DIALECT_LLIR_ANALYSIS_TRANSPOSEDREADS_H

#include "luminal/Dialect/LLIR/Analysis/KernelAnalysis.h"

namespace luminal {

struct TransposedReads {
  /// Views that are read at the index of the results and nowhere else.
  llvm::SmallVector<mlir::Operation *> ops;
  /// The axis of the domain along which all that they read are neighbours; the
  /// results' is the last.
  size_t axis = 0;
};

/// The axes of a kernel that computes element by element: its results have one
/// shape.
Domain findMapDomain(KernelAnalysis &a);

/// Those of a kernel without loops, over its `domain`; no ops where there are
/// none.
TransposedReads findTransposedReads(KernelAnalysis &a, const Domain &domain);

} // namespace luminal

#endif // LUMINAL_DIALECT_LLIR_ANALYSIS_TRANSPOSEDREADS_H
