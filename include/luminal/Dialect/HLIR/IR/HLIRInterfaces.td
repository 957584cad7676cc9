//===- HLIRInterfaces.td - Ops that compute indices --------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_DIALECT_HLIR_IR_HLIRINTERFACES
#define LUMINAL_DIALECT_HLIR_IR_HLIRINTERFACES

include "mlir/IR/OpBase.td"

def HLIR_IndexOpInterface : OpInterface<"IndexOpInterface"> {
  let cppNamespace = "::luminal::hlir";
  let description = [{
    An op that computes indices or integers by expressions over an index space. Its conditions must be proved, or
    checked once per call, before its code runs.
  }];
  let methods = [
    InterfaceMethod<"Returns the indices that the op computes, in order.",
                    "::llvm::SmallVector<::luminal::hlir::IndexRead>", "getIndexReads">
  ];
}

#endif // LUMINAL_DIALECT_HLIR_IR_HLIRINTERFACES
