//===- AllAttrs.td - The attributes of LLIR, of all headers -*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A dialect has one parser for all of its attributes.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_DIALECT_LLIR_IR_ALLATTRS
#define LUMINAL_DIALECT_LLIR_IR_ALLATTRS

include "luminal/Dialect/LLIR/IR/LLIRLaunches.td"
include "luminal/Dialect/LLIR/IR/UserLaunches.td"

#endif // LUMINAL_DIALECT_LLIR_IR_ALLATTRS
