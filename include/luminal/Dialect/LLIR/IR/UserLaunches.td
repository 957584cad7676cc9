//===- UserLaunches.td - How code of a user is started -----*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_DIALECT_LLIR_IR_USERLAUNCHES
#define LUMINAL_DIALECT_LLIR_IR_USERLAUNCHES

include "luminal/Dialect/LLIR/IR/LLIRBase.td"
include "luminal/Dialect/LLIR/IR/LLIRLaunchInterface.td"

def LLIR_CustomLaunchAttrInterface : AttrInterface<"CustomLaunchAttrInterface", [LLIR_LaunchAttrInterface]> {
  let cppNamespace = "::luminal::llir";
  let description = [{
    How a user's code is launched. A declaration states all but the artifact member that holds the code, which is filled
    in later.
  }];
  let methods = [
    InterfaceMethod<"Returns the artifact member that holds the code; empty if it is not known yet.",
                    "::llvm::StringRef", "getCode">,
    InterfaceMethod<"Returns the same launch, of the function `entry` in the member `code`.",
                    "::luminal::llir::CustomLaunchAttrInterface", "withCode",
                    (ins "::llvm::StringRef":$code, "::llvm::StringRef":$entry)>
  ];
}

class LLIR_CustomLaunchAttr<string name, string attrMnemonic> : LLIR_Attr<name, attrMnemonic> {
  let traits = [DeclareAttrInterfaceMethods<LLIR_LaunchAttrInterface, ["getLibrary"]>,
                DeclareAttrInterfaceMethods<LLIR_CustomLaunchAttrInterface>];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  // A map without dims holds the expressions: those of the launch, then the values.
  let parameters = (ins "::luminal::hlir::MapAttr":$quantities, "::mlir::DictionaryAttr":$facts);
}

def LLIR_CPUCustomLaunchAttr : LLIR_CustomLaunchAttr<"CPUCustomLaunch", "cpu_custom_launch"> {
  let summary = "calls of a user's function, each for a part of its work range";
  let description = [{
    As `#llir.cpu_launch`, but the function receives `values` in place of the program's symbols. No value is negative.

    Example: `#llir.cpu_custom_launch<work = m, grain = 16, scratch = 0, values = [m, n], {parallel = true}>`
  }];
}

def LLIR_CUDACustomLaunchAttr : LLIR_CustomLaunchAttr<"CUDACustomLaunch", "cuda_custom_launch"> {
  let summary = "a grid of thread blocks that runs a user's function";
  let description = [{
    `parameters` lists the function's parameters in order, separated by blanks: `bN` is the address of buffer N
    (operands, then results); `i32` and `i64` take the next of `values` as an integer of that width. No value is
    negative. `shared` is the dynamic shared memory of a block, in bytes.

    Example: `#llir.cuda_custom_launch<grid_x = m, grid_y = 1, grid_z = 1, shared = 0, values = [n],
    {block_x = 256, block_y = 1, block_z = 1, parameters = "b0 b1 b2 i64"}>`
  }];
}

#endif // LUMINAL_DIALECT_LLIR_IR_USERLAUNCHES
