//===- Targets.h - The kinds of devices -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_CONVERSION_TARGETS_TARGETS_H
#define LUMINAL_LIB_CONVERSION_TARGETS_TARGETS_H

#include "luminal/Conversion/Target.h"

namespace luminal {

TargetKind getCPUKind();
TargetKind getCUDAKind();

} // namespace luminal

#endif // LUMINAL_LIB_CONVERSION_TARGETS_TARGETS_H
