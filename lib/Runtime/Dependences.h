//===- Dependences.h - Dependences between steps --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_RUNTIME_DEPENDENCES_H
#define LUMINAL_LIB_RUNTIME_DEPENDENCES_H

#include "luminal/Runtime/Manifest.h"
#include <vector>

namespace luminal::runtime {

/// For each step, the earlier steps that must end before it starts because one
/// of the two writes memory that the other reads or writes, for some values of
/// the symbols. An edge is omitted if a path of other edges implies it. Steps
/// that are not `active` are ignored.
std::vector<std::vector<uint32_t>>
planDependences(const Manifest &manifest, const std::vector<bool> &active);

} // namespace luminal::runtime

#endif // LUMINAL_LIB_RUNTIME_DEPENDENCES_H
