//===- Plan.h - A manifest made ready to be evaluated ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_RUNTIME_PLAN_H
#define LUMINAL_LIB_RUNTIME_PLAN_H

#include "SizeProgram.h"
#include "luminal/Runtime/Manifest.h"

namespace luminal::runtime {

/// How symbols follow from input extents, and where every size stands in one
/// program. Extents of inputs and outputs are flattened: extent `axis` of input
/// i is number `inputStart[i] + axis`.
struct Plan {
  /// symbol = (extent - rest) / stride, exactly; both over symbols found
  /// before.
  struct Solve {
    uint32_t symbol, input, axis;
    bool bare; ///< The extent is the symbol itself.
    SizeProgram program;
    SizeProgram::Slot stride = 0, rest = 0;
  };
  struct BufferSlots {
    SizeProgram::Slot offset, bytes;
  };
  struct StepSlots {
    SizeProgram::Slot work, grain, scratch, traffic, flops;
  };

  static Result<Plan> build(const Manifest &manifest);

  std::vector<Solve> solves;
  size_t largestSolve = 0;
  SizeProgram sizes;
  std::vector<uint32_t> inputStart, outputStart;
  std::vector<SizeProgram::Slot> inputExtents, outputExtents;
  std::vector<BufferSlots> buffers;
  std::vector<StepSlots> steps;
  SizeProgram::Slot arenaBytes = 0;
};

} // namespace luminal::runtime

#endif // LUMINAL_LIB_RUNTIME_PLAN_H
