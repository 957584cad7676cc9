//===- CudaFeatures.h - Features and architecture of CUDA code ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_RUNTIME_CUDAFEATURES_H
#define LUMINAL_RUNTIME_CUDAFEATURES_H

#include <optional>
#include <string_view>

namespace luminal::runtime {

/// A value of TargetSpec::features: every kernel executes the instruction of
/// this name to wait for the steps before it, so it may be launched before they
/// have ended (programmatic dependent launch).
constexpr std::string_view kWaitsForSteps = "griddepcontrol";

/// A GPU architecture that code is compiled for. `exact` (as in sm_90a): the
/// code runs on this compute capability only.
struct CudaArch {
  /// Ten times the major version plus the minor version.
  unsigned capability = 0;
  bool exact = false;

  /// Parses "sm_90" or "sm_90a".
  static std::optional<CudaArch> parse(std::string_view text);
  /// Whether PTX for this arch runs on a device of capability `device`: on all
  /// later devices too, unless `exact`.
  bool runs(unsigned device) const {
    return exact ? capability == device : capability <= device;
  }
  /// Whether a cubin for this arch runs there: on later devices of the same
  /// major version only.
  bool runsCubin(unsigned device) const {
    return runs(device) && capability / 10 == device / 10;
  }
};

} // namespace luminal::runtime

#endif // LUMINAL_RUNTIME_CUDAFEATURES_H
