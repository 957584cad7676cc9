//===- LLIRLaunchInterface.td - What every launch states ---*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_DIALECT_LLIR_IR_LLIRLAUNCHINTERFACE
#define LUMINAL_DIALECT_LLIR_IR_LLIRLAUNCHINTERFACE

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"

def LLIR_LaunchAttrInterface : AttrInterface<"LaunchAttrInterface"> {
  let cppNamespace = "::luminal::llir";
  let description = [{
    How a step is launched, in the terms of one target. The artifact's manifest has the same fields under the same names
    (docs/Architecture.md).
  }];
  let methods = [
    InterfaceMethod<"Returns the target's name as the manifest spells it.", "::llvm::StringRef", "getTargetName">,
    InterfaceMethod<"Returns the library of the step; empty for a kernel.", "::llvm::StringRef", "getLibrary",
                    (ins), "", "return {};">,
    InterfaceMethod<"Returns the extent of the work range, over the schedule's symbols; 0: no launch.",
                    "::luminal::Expr", "getWork">,
    InterfaceMethod<"Returns all fields.", "::llvm::SmallVector<::luminal::llir::LaunchField>", "getFields">
  ];
}

#endif // LUMINAL_DIALECT_LLIR_IR_LLIRLAUNCHINTERFACE
