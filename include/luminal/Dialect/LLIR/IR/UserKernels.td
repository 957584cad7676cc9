//===- UserKernels.td - Code that a user supplies ----------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_DIALECT_LLIR_IR_USERKERNELS
#define LUMINAL_DIALECT_LLIR_IR_USERKERNELS

include "luminal/Dialect/HLIR/IR/HLIRAttrs.td"
include "luminal/Dialect/LLIR/IR/LLIRInterfaces.td"
include "luminal/Dialect/LLIR/IR/UserLaunches.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def LLIR_CallOp : Op<LLIR_Dialect, "call", [Pure, LLIR_LibraryOpInterface, LLIR_StandaloneOpInterface,
                                            DeclareOpInterfaceMethods<LLIR_CostOpInterface, ["getCostOf"]>]> {
  let summary = "one launch of a user's kernel";
  let description = [{
    The kernel that `llir.user_kernel` declares under this name, with all quantities stated over the program's symbols.
    Operands are whole tensors in row-major memory, which the kernel does not write. Results are separate memory; the
    kernel writes every element. `cost` is bytes read, bytes written and scalar operations.

    Example:
    ```mlir
    %r = llir.call "double"(%x) : (tensor<?xf32, #hlir.dims<s0>>) -> tensor<?xf32, #hlir.dims<s0>> cost(4 * s0, 4 * s0, s0)
        launch #llir.cpu_custom_launch<work = s0, grain = 64, scratch = 0, values = [s0],
                                       {code = "custom/0123456789abcdef.so", entry = "twice", parallel = true}>
    ```
  }];
  let arguments = (ins StrAttr:$name, Variadic<AnyRankedTensor>:$inputs, HLIR_MapAttr:$costs,
                       LLIR_CustomLaunchAttrInterface:$custom_launch);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $name `(` $inputs `)` attr-dict `:` functional-type($inputs, $results)
    `cost` `` custom<Quantities>($costs) `launch` $custom_launch
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::luminal::llir::LaunchAttrInterface getLaunch();
    ::mlir::LogicalResult checkLibrary() { return ::mlir::success(); }
  }];
}

def LLIR_UserKernelOp : Op<LLIR_Dialect, "user_kernel", [IsolatedFromAbove, SingleBlock, NoTerminator,
                                                         NoRegionArguments, Symbol]> {
  let summary = "declares a kernel whose code a user supplies";
  let description = [{
    Stands at the top level of a file of kernels (`luminal-compile --kernels`). An `hlir.custom` of this name, written
    in the program or made by a rule, may become one launch of the kernel if its types match. The symbols of the type
    match any extent of the operands; each symbol must be the whole extent of a dim of some operand.

    `cost` is bytes read, bytes written and scalar operations, over these symbols. `reference` names a function of HLIR
    ops in the same file, with the same type, that defines what the kernel computes; the interpreter runs it. The body
    holds the code, one `llir.user_code` for each target.

    Example:
    ```mlir
    llir.user_kernel @double (tensor<?xf32, #hlir.dims<n>>) -> tensor<?xf32, #hlir.dims<n>> cost(4 * n, 4 * n, n) {
      llir.user_code file "double.so" entry "twice"
          launch #llir.cpu_custom_launch<work = n, grain = 64, scratch = 0, values = [n], {parallel = true}>
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$type, HLIR_MapAttr:$cost,
                       OptionalAttr<FlatSymbolRefAttr>:$reference);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name $type `cost` `` custom<Quantities>($cost) (`reference` $reference^)? attr-dict-with-keyword $body
  }];
  let hasRegionVerifier = 1;
}

def LLIR_UserCodeOp : Op<LLIR_Dialect, "user_code", [HasParent<"UserKernelOp">]> {
  let summary = "code of a user's kernel for one target";
  let description = [{
    The function `entry` of the code in `file` (a path relative to the folder of the file that names it), or in `text`.
    The code is a shared object for a CPU, and PTX or a cubin for an NVIDIA GPU (docs/UserKernels.md lists the
    function's parameters). `arch` is the device that the code is built for; a cubin requires it.

    Example: see `llir.user_kernel`.
  }];
  let arguments = (ins OptionalAttr<StrAttr>:$file, OptionalAttr<StrAttr>:$text, StrAttr:$entry,
                       OptionalAttr<StrAttr>:$arch, LLIR_CustomLaunchAttrInterface:$launch);
  let assemblyFormat = [{
    (`file` $file^)? (`text` $text^)? `entry` $entry (`arch` $arch^)? `launch` $launch attr-dict
  }];
  let hasVerifier = 1;
}

#endif // LUMINAL_DIALECT_LLIR_IR_USERKERNELS
