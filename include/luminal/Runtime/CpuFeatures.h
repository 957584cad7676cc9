//===- CpuFeatures.h - Instruction sets an artifact may ask for -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_RUNTIME_CPUFEATURES_H
#define LUMINAL_RUNTIME_CPUFEATURES_H

#include "luminal/Support/Result.h"
#include <string>
#include <string_view>
#include <vector>

namespace luminal::runtime {

/// The architecture this library was built for, as LLVM spells it ("x86_64").
std::string_view hostArch();

/// Whether a feature (LLVM's name, without a sign) decides if compiled code can
/// run. The compiler writes only such features into an artifact; the rest
/// (tuning, system instructions) never occur in kernels.
bool isIsaFeature(std::string_view name);

/// Those of them that this machine has, in a fixed order.
std::vector<std::string> getCpuFeatures();

/// Whether this machine can run code that uses `features`; an error names the
/// first missing one. An unknown feature counts as missing. Requests from the
/// system what must be requested (AMX tiles).
Status checkCpuFeatures(const std::vector<std::string> &features);

} // namespace luminal::runtime

#endif // LUMINAL_RUNTIME_CPUFEATURES_H
