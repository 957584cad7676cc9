//===- LLIRBase.td - The LLIR dialect ----------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_DIALECT_LLIR_IR_LLIRBASE
#define LUMINAL_DIALECT_LLIR_IR_LLIRBASE

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"

def LLIR_Dialect : Dialect {
  let name = "llir";
  let cppNamespace = "::luminal::llir";
  let summary = "What runs: tensor ops that have code, and the kernels made of them";
  let description = [{
    LLIR says how a program runs. Its flat ops (`elementwise view constant iota reduce softmax layer_norm rms_norm gemm
    gather scatter`) are pure and have no regions: they are what the e-graph holds beside HLIR, and what extraction
    leaves. `llir-fuse-kernels` then groups them into `llir.kernel` ops: one kernel is one launch, its region holds the
    flat ops that it computes, read element by element (values inside a kernel have no memory). `llir.alias`
    is a value that shares its operand's memory. Last, `llir.schedule` lists the launches of a program as steps over
    buffers: it is everything in an artifact besides the code of the kernels. Tensor types, extents and maps are HLIR's.
  }];
  let dependentDialects = ["::luminal::hlir::HLIRDialect"];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
}

class LLIR_Attr<string name, string attrMnemonic> : AttrDef<LLIR_Dialect, name> { let mnemonic = attrMnemonic; }

#endif // LUMINAL_DIALECT_LLIR_IR_LLIRBASE
