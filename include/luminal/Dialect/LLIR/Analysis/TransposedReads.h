//===- TransposedReads.h - Reads that are not contiguous --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A map that transposes reads elements that are far apart in memory for
// neighbouring results: memory is contiguous along another axis. If a tile of
// such a value is staged on chip, it is read along that axis and written along
// the results' last axis.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_DIALECT_LLIR_ANALYSIS_TRANSPOSEDREADS_H
#define LUMINAL_DIALECT_LLIR_ANALYSIS_TRANSPOSEDREADS_H

#include "luminal/Dialect/LLIR/Analysis/KernelAnalysis.h"

namespace luminal {

/// The transposing views of a kernel.
struct TransposedReads {
  /// Views that are read at the index of the results only.
  llvm::SmallVector<mlir::Operation *> ops;
  /// The axis of the domain along which everything that the views read is
  /// contiguous. Results are contiguous along the last axis.
  size_t axis = 0;
};

/// Returns the axes of a kernel that computes element by element; all its
/// results have one shape.
Domain findMapDomain(KernelAnalysis &a);

/// Whether an index that is clamped to an extent, as concatenation reads its
/// operands, counts as contiguous.
enum class ClampedReads { Refused, Contiguous };

/// Returns the transposed reads of a kernel without loops over its `domain`;
/// `ops` is empty if there are none.
TransposedReads
findTransposedReads(KernelAnalysis &a, const Domain &domain,
                    ClampedReads clamped = ClampedReads::Refused);

} // namespace luminal

#endif // LUMINAL_DIALECT_LLIR_ANALYSIS_TRANSPOSEDREADS_H
