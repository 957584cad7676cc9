//===- CudaFeatures.h - What kernels of a CUDA artifact can do ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_RUNTIME_CUDAFEATURES_H
#define LUMINAL_RUNTIME_CUDAFEATURES_H

#include <optional>
#include <string_view>

namespace luminal::runtime {

/// In TargetSpec::features: every kernel waits for the steps before it, by the
/// instruction of this name, so that it may be launched before they end.
constexpr std::string_view kWaitsForSteps = "griddepcontrol";

/// A device that code is for. sm_90a: for compute capability 9.0 and no other.
struct CudaArch {
  unsigned capability = 0;
  bool exact = false;

  /// Reads "sm_90a".
  static std::optional<CudaArch> parse(std::string_view text);
  /// Whether PTX of this arch runs on a device: on all later ones too.
  bool runs(unsigned device) const {
    return exact ? capability == device : capability <= device;
  }
  /// The same of a cubin: on later ones of the same generation.
  bool runsCubin(unsigned device) const {
    return runs(device) && capability / 10 == device / 10;
  }
};

} // namespace luminal::runtime

#endif // LUMINAL_RUNTIME_CUDAFEATURES_H
