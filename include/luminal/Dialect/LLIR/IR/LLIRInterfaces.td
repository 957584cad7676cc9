//===- LLIRInterfaces.td - What every LLIR op states -------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_DIALECT_LLIR_IR_LLIRINTERFACES
#define LUMINAL_DIALECT_LLIR_IR_LLIRINTERFACES

include "mlir/IR/OpBase.td"

def LLIR_CostOpInterface : OpInterface<"CostOpInterface"> {
  let cppNamespace = "::luminal::llir";
  let description = [{
    The inputs of a roofline price. Every quantity is an expression over the program's symbols. `getCost` of a flat op
    prices it as the body of a fused kernel would run it; of a kernel, the launch as a whole.
  }];
  let methods = [
    InterfaceMethod<"Bytes read and written, scalar operations, and launches (0 for what moves no data).",
                    "::luminal::llir::Cost", "getCost">
  ];
}

#endif // LUMINAL_DIALECT_LLIR_IR_LLIRINTERFACES
