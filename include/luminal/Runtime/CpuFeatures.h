//===- CpuFeatures.h - Instruction sets an artifact may require -----------===//
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

/// Whether `name` (an LLVM feature, without a sign) decides if compiled code
/// can run. The compiler records only these in an artifact; other features
/// (tuning, system instructions) never affect kernels.
bool isIsaFeature(std::string_view name);

/// The features of this machine that isIsaFeature accepts, in a fixed order.
std::vector<std::string> getCpuFeatures();

/// Checks that this machine can run code that uses `features`; the error names
/// the first missing one. An unknown feature counts as missing. Requests
/// permission from the system for features that need it (AMX tiles).
Status checkCpuFeatures(const std::vector<std::string> &features);

} // namespace luminal::runtime

#endif // LUMINAL_RUNTIME_CPUFEATURES_H
