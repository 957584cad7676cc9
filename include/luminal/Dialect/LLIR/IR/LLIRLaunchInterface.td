//===- LLIRLaunchInterface.td - What every launch states ---*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_DIALECT_LLIR_IR_LLIRLAUNCHINTERFACE
#define LUMINAL_DIALECT_LLIR_IR_LLIRLAUNCHINTERFACE

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"

def LLIR_LaunchAttrInterface : AttrInterface<"LaunchAttrInterface"> {
  let cppNamespace = "::luminal::llir";
  let description = [{
    How the code of a step is started, in the terms of one target. The artifact's manifest states the same fields by the
    same names (docs/Architecture.md).
  }];
  let methods = [
    InterfaceMethod<"The target's name, as the manifest has it.", "::llvm::StringRef", "getTargetName">,
    InterfaceMethod<"The library that does the step; empty for a kernel.", "::llvm::StringRef", "getLibrary",
                    (ins), "", "return {};">,
    InterfaceMethod<"The extent of the work range, over the schedule's symbols; 0: nothing is started.",
                    "::luminal::Expr", "getWork">,
    InterfaceMethod<"All fields.", "::llvm::SmallVector<::luminal::llir::LaunchField>", "getFields">
  ];
}

#endif // LUMINAL_DIALECT_LLIR_IR_LLIRLAUNCHINTERFACE
