//===- LLIRLaunches.td - How steps are started, by target --*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_DIALECT_LLIR_IR_LLIRLAUNCHES
#define LUMINAL_DIALECT_LLIR_IR_LLIRLAUNCHES

include "luminal/Dialect/LLIR/IR/LLIRAttrs.td"
include "mlir/IR/AttrTypeBase.td"

def LLIR_LaunchAttrInterface : AttrInterface<"LaunchAttrInterface"> {
  let cppNamespace = "::luminal::llir";
  let description = [{
    How the code of a step is started, in the terms of one target. The artifact's manifest states the same fields by the
    same names (docs/Architecture.md).
  }];
  let methods = [
    InterfaceMethod<"The target's name, as the manifest has it.", "::llvm::StringRef", "getTargetName">,
    InterfaceMethod<"The extent of the work range, over the schedule's symbols; 0: nothing is started.",
                    "::luminal::Expr", "getWork">,
    InterfaceMethod<"All fields.", "::llvm::SmallVector<::luminal::llir::LaunchField>", "getFields">
  ];
}

class LLIR_LaunchAttr<string name, string attrMnemonic>
    : LLIR_Attr<name, attrMnemonic> {
  let traits = [DeclareAttrInterfaceMethods<LLIR_LaunchAttrInterface>];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def LLIR_CPULaunchAttr : LLIR_LaunchAttr<"CPULaunch", "cpu_launch"> {
  let summary = "calls of a kernel for parts of its work range";
  let description = [{
    The work range [0, `work`) is cut into parts of at least `grain` where `parallel` allows it; each thread brings
    `scratch` bytes.

    Example: `#llir.cpu_launch<work = s0, grain = 16, scratch = 0, parallel>`
  }];
  // A map without dims owns the expressions: work, grain, scratch.
  let parameters = (ins "::luminal::hlir::MapAttr":$quantities, "bool":$parallel);
  let builders = [AttrBuilder<(ins "const ::luminal::Expr &":$work, "const ::luminal::Expr &":$grain,
                                   "const ::luminal::Expr &":$scratch, "bool":$parallel)>];
}

def LLIR_CUDALaunchAttr : LLIR_LaunchAttr<"CUDALaunch", "cuda_launch"> {
  let summary = "a grid of thread blocks";
  let description = [{
    `work` units are done by `grid` blocks (any number gives the same result) of `block` threads, each block with
    `shared` bytes of dynamic shared memory.

    Example: `#llir.cuda_launch<work = 128 * s0, grid = s0, block = 128, shared = 0>`
  }];
  // A map without dims owns the expressions: work, grid, shared.
  let parameters = (ins "::luminal::hlir::MapAttr":$quantities, "int64_t":$block);
  let builders = [AttrBuilder<(ins "const ::luminal::Expr &":$work, "const ::luminal::Expr &":$grid,
                                   "int64_t":$block, "const ::luminal::Expr &":$shared)>];
}

#endif // LUMINAL_DIALECT_LLIR_IR_LLIRLAUNCHES
