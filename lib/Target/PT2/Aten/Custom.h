//===- Custom.h - User kernels as ops -------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_TARGET_PT2_ATEN_CUSTOM_H
#define LUMINAL_LIB_TARGET_PT2_ATEN_CUSTOM_H

#include "OpTable.h"

namespace luminal::pt2 {

/// The name of a user kernel for an op: "space::name" for "space.name.default",
/// "space::name.overload" for other overloads.
std::string getKernelName(llvm::StringRef target);
/// The table entry for a node that calls a user kernel.
OpEntry makeCustomEntry(llvm::StringRef kernel, const Node &node);

} // namespace luminal::pt2

#endif // LUMINAL_LIB_TARGET_PT2_ATEN_CUSTOM_H
