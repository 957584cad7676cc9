//===- ElementReads.h - How maps read memory on a CPU ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_DIALECT_LLIR_SCHEDULES_ELEMENTREADS_H
#define LUMINAL_LIB_DIALECT_LLIR_SCHEDULES_ELEMENTREADS_H

#include "luminal/Dialect/LLIR/Analysis/KernelAnalysis.h"
#include "luminal/Support/MachineModel.h"

namespace luminal::llir {

/// Blocks of a kernel that reads across memory: `rows` along `axis` of its
/// domain, which are neighbours on a line of the cache, by `columns` along the
/// last axis, each on a line of its own.
struct TransposedBlock {
  size_t axis;
  int64_t rows, columns;
};

/// A block whose lines stay in the first cache until all of them is read
/// (measured on Zen 4: 1024 x 1024 f32 take 0.11 of the time so, 8 x 512 x 768
/// take 0.52).
std::optional<TransposedBlock> findTransposedBlock(KernelAnalysis &a,
                                                   const Domain &domain,
                                                   const MachineModel &machine);

/// At most `most` lanes along the last axis. Fewer where what is read at a
/// divided index is then a run of neighbours, and not looked up lane by lane,
/// if that is more than arithmetic loses (measured on Zen 4: windows of lines
/// of 56 f32, 0.12 of the time by 8 lanes as by 16).
unsigned chooseElementLanes(KernelAnalysis &a, const Domain &domain,
                            unsigned most);

/// Simple operations, for each element of a map, in whose time lanes look up
/// what they read.
double countLookUps(KernelAnalysis &a, const Domain &domain, unsigned lanes);

/// Lanes along the axis before the last one of which the elements of the last,
/// which are few, are beside each other; 1 where something is not read at a
/// small distance along that axis.
unsigned chooseInterleavedLanes(KernelAnalysis &a, const Domain &domain,
                                unsigned most);

} // namespace luminal::llir

#endif // LUMINAL_LIB_DIALECT_LLIR_SCHEDULES_ELEMENTREADS_H
