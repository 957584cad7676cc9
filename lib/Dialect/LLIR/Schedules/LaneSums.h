//===- LaneSums.h - Products with one sum per lane --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A depthwise convolution whose channels lie side by side has nothing for a
// tile to share between columns: each element is a short sum of its own, over
// elements that are lanes of vectors in memory. So it is computed by elements,
// all steps in straight code. A unit has some channels and walks along a line
// of the image, several places at a time: their sums go on beside each other,
// and each weight is read once for all of them.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_LIB_DIALECT_LLIR_SCHEDULES_LANESUMS_H
#define LUMINAL_LIB_DIALECT_LLIR_SCHEDULES_LANESUMS_H

#include "Forms.h"

namespace luminal::llir {

struct LaneSums {
  ProductOpInterface op;
  Domain domain;
  /// Of the contracted index.
  int64_t steps;
  unsigned lanes;
};

/// The sums of `a`'s kernel, if they are such.
std::optional<LaneSums> findLaneSums(KernelAnalysis &a,
                                     const MachineModel &machine);

/// The case that computes them.
LoopCaseAttr buildLaneSums(KernelAnalysis &a, const LaneSums &sums,
                           const MachineModel &machine);

/// Checks the number `places` of forms.
mlir::LogicalResult
verifyPlaces(KernelAnalysis &a, LoopCaseAttr loopCase,
             const MachineModel &machine,
             llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

/// Whether a case computes them so, in straight code.
bool isStraight(const LaneSums &sums, LoopCaseAttr loopCase);

} // namespace luminal::llir

#endif // LUMINAL_LIB_DIALECT_LLIR_SCHEDULES_LANESUMS_H
