//===- Plan.h - Size expressions of a manifest, compiled ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_RUNTIME_PLAN_H
#define LUMINAL_LIB_RUNTIME_PLAN_H

#include "SizeProgram.h"
#include "luminal/Runtime/Manifest.h"
#include "luminal/Support/SymbolSolver.h"

namespace luminal::runtime {

/// How symbols are solved from the extents of inputs, and the slot of every
/// size in one SizeProgram. Extents of inputs and outputs are flattened: extent
/// `axis` of input i has the index `inputStart[i] + axis`. Integer inputs
/// follow the extents of the inputs.
struct Plan {
  struct BufferSlots {
    SizeProgram::Slot offset, bytes;
  };
  struct StepSlots {
    SizeProgram::Slot traffic, flops;
    /// Index in `launches` of the first expression of the step's launch.
    uint32_t launch;
  };

  struct RequirementSlots {
    SizeProgram::Slot lesser, greater;
  };

  /// Compiles a verified manifest. Fails if a symbol is not solvable.
  static Result<Plan> build(const Manifest &manifest);

  /// One source per symbol; each uses only symbols of earlier ones.
  std::vector<SymbolSource> sources;
  /// The expressions of all input extents and integers; for an extent, its
  /// input and axis.
  std::vector<Expr> extents;
  std::vector<std::pair<uint32_t, uint32_t>> extentPlaces;
  SizeProgram sizes;
  std::vector<uint32_t> inputStart, outputStart;
  std::vector<SizeProgram::Slot> inputExtents, outputExtents;
  std::vector<BufferSlots> buffers;
  std::vector<StepSlots> steps;
  std::vector<SizeProgram::Slot> launches;
  std::vector<RequirementSlots> requirements;
  SizeProgram::Slot arenaBytes = 0;
};

} // namespace luminal::runtime

#endif // LUMINAL_LIB_RUNTIME_PLAN_H
