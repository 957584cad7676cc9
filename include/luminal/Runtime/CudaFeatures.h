//===- CudaFeatures.h - What kernels of a CUDA artifact can do ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_RUNTIME_CUDAFEATURES_H
#define LUMINAL_RUNTIME_CUDAFEATURES_H

#include <string_view>

namespace luminal::runtime {

/// In TargetSpec::features: every kernel waits for the steps before it, by the
/// instruction of this name, so that it may be launched before they end.
constexpr std::string_view kWaitsForSteps = "griddepcontrol";

} // namespace luminal::runtime

#endif // LUMINAL_RUNTIME_CUDAFEATURES_H
