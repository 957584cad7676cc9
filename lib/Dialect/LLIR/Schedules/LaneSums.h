//===- LaneSums.h - Products with one sum per lane --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In a depthwise convolution whose channels are contiguous, columns share
// nothing that a tile could reuse: each result is a short sum of its own, over
// elements that are vector lanes in memory. So it is computed by elements, with
// k completely unrolled. A work item has some channels and iterates along a
// line of the image, several places at a time: the sums of these places are
// independent of each other, and each weight is loaded once for all of them.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_LIB_DIALECT_LLIR_SCHEDULES_LANESUMS_H
#define LUMINAL_LIB_DIALECT_LLIR_SCHEDULES_LANESUMS_H

#include "Forms.h"

namespace luminal::llir {

struct LaneSums {
  ProductOpInterface op;
  Domain domain;
  /// The extent of k.
  int64_t steps;
  unsigned lanes;
};

/// Returns the sums of the kernel of `a`, if they have this form.
std::optional<LaneSums> findLaneSums(KernelAnalysis &a,
                                     const MachineModel &machine);

/// Builds the case that computes them.
LoopCaseAttr buildLaneSums(KernelAnalysis &a, const LaneSums &sums,
                           const MachineModel &machine);

/// Checks the number `places` of forms.
mlir::LogicalResult
verifyPlaces(KernelAnalysis &a, LoopCaseAttr loopCase,
             const MachineModel &machine,
             llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

/// Returns whether a case computes them this way, completely unrolled.
bool isStraight(const LaneSums &sums, LoopCaseAttr loopCase);

} // namespace luminal::llir

#endif // LUMINAL_LIB_DIALECT_LLIR_SCHEDULES_LANESUMS_H
