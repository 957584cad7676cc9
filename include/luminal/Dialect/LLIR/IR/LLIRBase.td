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
    LLIR describes how a program runs. Its flat ops (`elementwise view constant iota reduce softmax layer_norm rms_norm
    gemm gather scatter`) are pure and have no regions. The e-graph holds them beside HLIR ops, and extraction leaves
    only them. `llir-fuse-kernels` then groups flat ops into `llir.kernel` ops. One kernel is one launch; its region
    holds the flat ops that it computes, element by element, so values inside a kernel have no memory. `llir.alias` is a
    value that shares its operand's memory. Finally, `llir.schedule` lists the launches of a program as steps over
    buffers: it is everything in an artifact except the code of the kernels. Tensor types, extents and maps are those of
    HLIR.
  }];
  let dependentDialects = ["::luminal::hlir::HLIRDialect"];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
}

class LLIR_Attr<string name, string attrMnemonic> : AttrDef<LLIR_Dialect, name> { let mnemonic = attrMnemonic; }

#endif // LUMINAL_DIALECT_LLIR_IR_LLIRBASE
