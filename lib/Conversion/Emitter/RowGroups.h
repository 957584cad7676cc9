//===- RowGroups.h - Groups of a grouped product --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_CONVERSION_EMITTER_ROWGROUPS_H
#define LUMINAL_LIB_CONVERSION_EMITTER_ROWGROUPS_H

#include "Kernels.h"
#include "luminal/Dialect/LLIR/Analysis/ProductAnalysis.h"

namespace luminal {

/// Calls `body` for each group of rows that begins in `range`, in order. A
/// group is a run of rows with equal keys (`ProductAnalysis::keys`); runs are
/// also split at row numbers that are multiples of `most`. A group may extend
/// beyond the range. While `body` is emitted, `groupDim` is set and the keys
/// are remembered. All threads of `team` run it together.
void emitGroups(Emitter &e, const ProductAnalysis &p, const Emitter::Team &team,
                IndexRange range, int64_t most,
                llvm::function_ref<void(IndexRange rows)> body);

} // namespace luminal

#endif // LUMINAL_LIB_CONVERSION_EMITTER_ROWGROUPS_H
