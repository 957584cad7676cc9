//===- Custom.h - Ops that are kernels of a user --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_TARGET_PT2_ATEN_CUSTOM_H
#define LUMINAL_LIB_TARGET_PT2_ATEN_CUSTOM_H

#include "OpTable.h"

namespace luminal::pt2 {

/// The name that a user's kernel for a target has: "space::name" of
/// "space.name.default", with the overload where that is another.
std::string getKernelName(llvm::StringRef target);
/// The entry of a node that is a user's kernel.
OpEntry makeCustomEntry(llvm::StringRef kernel, const Node &node);

} // namespace luminal::pt2

#endif // LUMINAL_LIB_TARGET_PT2_ATEN_CUSTOM_H
