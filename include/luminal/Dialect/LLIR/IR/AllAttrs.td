//===- AllAttrs.td - The attributes of LLIR, of all headers -*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Includes every file that defines attributes of LLIR: mlir-tblgen generates one attribute parser for the whole
// dialect.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_DIALECT_LLIR_IR_ALLATTRS
#define LUMINAL_DIALECT_LLIR_IR_ALLATTRS

include "luminal/Dialect/LLIR/IR/LLIRLaunches.td"
include "luminal/Dialect/LLIR/IR/UserLaunches.td"

#endif // LUMINAL_DIALECT_LLIR_IR_ALLATTRS
