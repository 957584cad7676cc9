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
    What `llir.user_kernel` declares under this name, for these operands: all quantities are of the program's symbols.
    Operands are whole tensors, row-major in memory that the kernel does not write; results are memory of their own,
    whose every element it writes. `cost` is bytes read, bytes written and scalar operations.

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
    Stands at the top of a file of kernels (`luminal-compile --kernels`). An `hlir.custom` of this name, whether a rule
    makes it or the program has it, may be one launch of the kernel where its types fit: the type's symbols stand for
    whatever its operands have, and each is the whole extent of a dim of some operand.

    `cost` is bytes read, bytes written and scalar operations, over those symbols. `reference` names a function of the
    same file and of the same type, of HLIR ops, which says what the kernel computes; the interpreter runs it. The body
    has the code, one `llir.user_code` for each target.

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
    The function `entry` of the code in `file` (its path from the folder of the file that names it), or of `text`. For a
    CPU that is a shared object, for an NVIDIA GPU PTX or a cubin (docs/UserKernels.md says what the function takes).
    `arch` is the device that the code is for; a cubin does not run without it.

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
