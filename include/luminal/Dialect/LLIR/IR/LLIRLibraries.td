//===- LLIRLibraries.td - Ops that a library computes ------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Included by LLIROps.td.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_DIALECT_LLIR_IR_LLIRLIBRARIES
#define LUMINAL_DIALECT_LLIR_IR_LLIRLIBRARIES

def LLIR_CublasLtMatmulOp : LLIR_Op<"cublaslt_matmul", [Pure, AttrSizedOperandSegments,
                                                        DeclareOpInterfaceMethods<LLIR_LibraryOpInterface,
                                                                                  ["getWorkspaceBytes"]>,
                                                        DeclareOpInterfaceMethods<LLIR_StandaloneOpInterface>,
                                                        DeclareOpInterfaceMethods<HLIR_IndexOpInterface>]> {
  let summary = "a matrix product by cuBLASLt";
  let description = [{
    With `sizes` batch, rows, columns and inner, for each index (b, i, j) below the first three:
    `result[b, i, j] = epilogue(alpha * sum over l < inner of lhs[b, i, l] * rhs[b, l, j] + addend[b, i, j] + bias[j])`.

    A map gives the position of each matrix element, in the row-major memory of its tensor, from (batch, row, column).
    The map is linear, with strides over symbols that are not negative. Either the row or the column has stride 1 (in
    the result and the addend, the column), unless its extent is 1. So transposes, slices of larger tensors, and batches
    that share a matrix (stride 0) are all maps. Each result element is written exactly once. The bias is one row.

    f16 and bf16 (with a result of that type or of f32) and f32 are multiplied exactly and accumulated in f32, never in
    TF32; f64 is accumulated in f64. Scale, addend, bias and epilogue are computed in the accumulator's type, so the
    result is rounded once. `gelu_tanh` is the tanh approximation. `inner` is at least 1.

    cuBLASLt computes epilogues this way only if all rows and batches begin at multiples of 16 bytes. `llir-plan-memory`
    rejects any other call with an epilogue.

    Example:
    ```mlir
    %r = llir.cublaslt_matmul(%x, %w bias %v) sizes(1, 4, 5, 8) lhs<(d0, d1, d2) -> (8 * d1 + d2)>
        rhs<(d0, d1, d2) -> (d1 + 8 * d2)> result<(d0, d1, d2) -> (5 * d1 + d2)>
        {epilogue = #llir.epilogue<relu>}
        : (tensor<4x8xf32>, tensor<5x8xf32>, tensor<5xf32>) -> tensor<4x5xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$lhs, AnyRankedTensor:$rhs, Optional<AnyRankedTensor>:$addend,
                       Optional<AnyRankedTensor>:$bias, HLIR_MapAttr:$sizes, HLIR_MapAttr:$lhs_map,
                       HLIR_MapAttr:$rhs_map, OptionalAttr<HLIR_MapAttr>:$addend_map, HLIR_MapAttr:$result_map,
                       DefaultValuedAttr<F64Attr, "1.0">:$alpha,
                       DefaultValuedAttr<LLIR_EpilogueAttr, "::luminal::llir::Epilogue::None">:$epilogue);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    `(` $lhs `,` $rhs (`add` $addend^)? (`bias` $bias^)? `)` `sizes` `` custom<Quantities>($sizes) `lhs` `` $lhs_map `rhs` `` $rhs_map
    (`add` `` $addend_map^)? `result` `` $result_map attr-dict `:` functional-type(operands, $result)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::luminal::Expr getBatch() { return getSizes().getResults()[0]; }
    ::luminal::Expr getRows() { return getSizes().getResults()[1]; }
    ::luminal::Expr getColumns() { return getSizes().getResults()[2]; }
    ::luminal::Expr getInner() { return getSizes().getResults()[3]; }
  }];
}

def LLIR_ArgsortOp : LLIR_Op<"argsort", [Pure, DeclareOpInterfaceMethods<LLIR_LibraryOpInterface>,
                                         DeclareOpInterfaceMethods<LLIR_ExpandOpInterface>,
                                         DeclareOpInterfaceMethods<LLIR_StandaloneOpInterface>], "getCostOf"> {
  let summary = "the positions that sort each row";
  let description = [{
    Element `i` of a result row is the position, in the operand's row, of the element of rank `i` in sorted order. The
    last dim of the result says how many ranks are returned, at most all: the first ones, or those from rank `begin` on
    (a quantity).

    Elements are sorted in ascending order, or with `descending` in descending order. The sort is stable, and -0 equals
    0. All NaNs are equal and come last, or with `nan_first` first. Elements are f16, bf16, f32, f64, i32 or i64;
    positions are i64. Rows have fewer than 2^32 elements.

    On a CPU the runtime computes it with its library `argsort`; on a GPU it becomes kernels (`llir-expand-orders`).

    Example:
    ```mlir
    %r = llir.argsort %x {descending = true, nan_first = true} : tensor<2x9xf32> -> tensor<2x3xi64>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$operand, DefaultValuedAttr<BoolAttr, "false">:$descending,
                       DefaultValuedAttr<BoolAttr, "false">:$nan_first, OptionalAttr<HLIR_MapAttr>:$begin);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `->` type($result)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns the rank of the first element whose position is returned.
    ::luminal::Expr getFirst() { return getBegin() ? getBegin()->getResults()[0] : ::luminal::Expr(0); }
  }];
}

def LLIR_ScanOp : LLIR_Op<"scan", [Pure, DeclareOpInterfaceMethods<LLIR_LibraryOpInterface>,
                                   DeclareOpInterfaceMethods<LLIR_ExpandOpInterface>,
                                   DeclareOpInterfaceMethods<LLIR_StandaloneOpInterface>], "getCostOf"> {
  let summary = "the running sum, product or extremum along a dim";
  let description = [{
    Along the dim `axis`, each result element combines the operand's elements up to its index: `kind` is their sum,
    product, maximum, minimum, or the logarithm of the sum of their exponentials. With `exclusive` the element at the
    index itself is left out; with `reverse` the elements from the index to the end are combined. The result over no
    elements is 0, 1, the least number, the greatest number, or -inf.

    With `positions`, a maximum or minimum gives the position of the extremum, an i64: the last position among equal
    elements, and among NaNs.

    Elements are f16, bf16, f32, f64, i32 or i64 (`log_sum_exp`: floats only). The result has the operand's element
    type; the sum, product or logarithm of floats may have any float type and is rounded once. Floats are added in at
    least f32, in any order. Floats are multiplied from the first to the last, f16 and bf16 in f32, others in f64.
    Integers wrap. A NaN wins against every number in an extremum, and a zero may have either sign.

    On a CPU the runtime computes it with its library `scan`; on a GPU it becomes kernels (`llir-expand-orders`).

    Example:
    ```mlir
    %r = llir.scan %x {axis = 1 : i64, kind = #llir.scan_kind<sum>} : tensor<2x9xf32> -> tensor<2x9xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$operand, LLIR_ScanKindAttr:$kind, I64Attr:$axis,
                       DefaultValuedAttr<BoolAttr, "false">:$reverse, DefaultValuedAttr<BoolAttr, "false">:$exclusive,
                       DefaultValuedAttr<BoolAttr, "false">:$positions);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `->` type($result)";
  let hasVerifier = 1;
}

#endif // LUMINAL_DIALECT_LLIR_IR_LLIRLIBRARIES
