//===- UserKernels.h - Code supplied by a user ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ops and attributes of LLIR by which a user's kernel is declared and
// called (docs/UserKernels.md).
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_DIALECT_LLIR_IR_USERKERNELS_H
#define LUMINAL_DIALECT_LLIR_IR_USERKERNELS_H

#include "luminal/Dialect/LLIR/IR/LLIR.h"

#include "luminal/Dialect/LLIR/IR/UserLaunchInterfaces.h.inc"

#define GET_ATTRDEF_CLASSES
#include "luminal/Dialect/LLIR/IR/UserLaunches.h.inc"

#define GET_OP_CLASSES
#include "luminal/Dialect/LLIR/IR/UserKernels.h.inc"

#endif // LUMINAL_DIALECT_LLIR_IR_USERKERNELS_H
