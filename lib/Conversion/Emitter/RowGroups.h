//===- RowGroups.h - Rows of a product that share their columns -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_CONVERSION_EMITTER_ROWGROUPS_H
#define LUMINAL_LIB_CONVERSION_EMITTER_ROWGROUPS_H

#include "Kernels.h"
#include "luminal/Dialect/LLIR/Analysis/ProductAnalysis.h"

namespace luminal {

/// Calls `body` for the groups of rows that begin in `range`, one after the
/// other: rows with the same keys (`ProductAnalysis::keys`), cut where a row's
/// number is a multiple of `most`. A group may end behind the range. The code
/// of `body` runs with `groupDim` set and the keys remembered; all members of
/// `team` run it together.
void emitGroups(Emitter &e, const ProductAnalysis &p, const Emitter::Team &team,
                IndexRange range, int64_t most,
                llvm::function_ref<void(IndexRange rows)> body);

} // namespace luminal

#endif // LUMINAL_LIB_CONVERSION_EMITTER_ROWGROUPS_H
