//===- LLIRWholeOps.td - Ops that are kernels of their own -*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Included by LLIROps.td. What `llir-expand-orders` makes of ops between kernels where the
// runtime of the target does not compute them.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_DIALECT_LLIR_IR_LLIRWHOLEOPS
#define LUMINAL_DIALECT_LLIR_IR_LLIRWHOLEOPS

class LLIR_WholeOp<string mnemonic, list<Trait> traits = []>
    : LLIR_LoopOp<mnemonic, !listconcat([Pure, LLIR_Body<["getReads"]>,
                                         DeclareOpInterfaceMethods<LLIR_WholeOpInterface, ["checkTeam"]>], traits)>;

def LLIR_ScanPartsOp : LLIR_WholeOp<"scan_parts"> {
  let summary = "what each part of a scanned dim comes to";
  let description = [{
    The dim `axis` of the operand is cut into parts of `part` elements, the last of which may have less; with `reverse`
    they are counted from its end. A state is what `llir.scan` of that `kind` carries behind all elements of a part, from
    nothing before them, in as many tensors as it has numbers: the sum or product; the extremum, and with `positions` the
    place of it, an i64; the greatest element, and the sum of the exponentials of the elements relative to it.

    Example:
    ```mlir
    %s = llir.scan_parts %x {axis = 0 : i64, kind = #llir.scan_kind<sum>, part = #hlir.map<() -> (1024)>}
        : tensor<4000xf32> -> tensor<4xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$operand, LLIR_ScanKindAttr:$kind, I64Attr:$axis, HLIR_MapAttr:$part,
                       DefaultValuedAttr<BoolAttr, "false">:$reverse,
                       DefaultValuedAttr<BoolAttr, "false">:$positions);
  let results = (outs Variadic<AnyRankedTensor>:$states);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `->` type($states)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::luminal::Expr getPartExtent() { return getPart().getResults()[0]; }
  }];
}

def LLIR_ScanRowsOp : LLIR_WholeOp<"scan_rows"> {
  let summary = "a scan as a kernel";
  let description = [{
    As `llir.scan`. With `states`, those of `llir.scan_parts` of the operand, each part begins with what those before it
    come to together, so that parts are units of work of their own; without them `part` is the whole dim.

    Example:
    ```mlir
    %r = llir.scan_rows %x, %s {axis = 0 : i64, kind = #llir.scan_kind<sum>, part = #hlir.map<() -> (1024)>}
        : (tensor<4000xf32>, tensor<4xf32>) -> tensor<4000xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$operand, Variadic<AnyRankedTensor>:$states, LLIR_ScanKindAttr:$kind,
                       I64Attr:$axis, HLIR_MapAttr:$part, DefaultValuedAttr<BoolAttr, "false">:$reverse,
                       DefaultValuedAttr<BoolAttr, "false">:$exclusive,
                       DefaultValuedAttr<BoolAttr, "false">:$positions);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$operand (`,` $states^)? attr-dict `:` functional-type(operands, $result)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::luminal::Expr getPartExtent() { return getPart().getResults()[0]; }
  }];
}

#endif // LUMINAL_DIALECT_LLIR_IR_LLIRWHOLEOPS
