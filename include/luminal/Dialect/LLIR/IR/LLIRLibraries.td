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

    Each matrix lies in the row-major memory of its tensor at positions that its map tells from (batch, row, column);
    a map is linear, with strides over symbols that are not negative, and one of row and column has stride 1 (in the
    result and the addend the column), unless its extent is 1. So transposes, parts of larger tensors, and batches that
    share a matrix (stride 0) are maps. The result has no other elements, each at one position. The bias is one row.

    f16 and bf16 (with a result of that type or of f32) and f32 are multiplied exactly and added in f32, never by way of
    TF32; f64 in f64. Scale, addend, bias and epilogue are computed in that type too: the result is rounded once.
    `gelu_tanh` is the form with tanh. `inner` is at least 1.

    The library computes epilogues so only where all rows and batches begin at multiples of 16 bytes; `llir-plan-memory`
    refuses a call with an epilogue elsewhere.

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
  let summary = "positions of the elements of each row, in order";
  let description = [{
    Element `i` of a row of the result is the position, in the row of the operand, of the element that comes at place `i`
    when the row is sorted. The result has as many of them as its last dim says, at most all: the first ones, or those from
    the place `begin` on, a quantity.

    Elements ascend, or with `descending` descend; -0 equals 0, and equal elements are in the order of their positions.
    Every NaN equals every other one, and they come last, or with `nan_first` first. Elements are f16, bf16, f32, f64,
    i32 or i64, positions i64. Rows have fewer than 2^32 elements.

    On a CPU the runtime computes it, in the library `argsort`; on a GPU it is kernels (`llir-expand-orders`).

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
    /// The place of the first element whose position is in the result.
    ::luminal::Expr getFirst() { return getBegin() ? getBegin()->getResults()[0] : ::luminal::Expr(0); }
  }];
}

def LLIR_ScanOp : LLIR_Op<"scan", [Pure, DeclareOpInterfaceMethods<LLIR_LibraryOpInterface>,
                                   DeclareOpInterfaceMethods<LLIR_ExpandOpInterface>,
                                   DeclareOpInterfaceMethods<LLIR_StandaloneOpInterface>], "getCostOf"> {
  let summary = "the sum, product or extremum of all elements up to each one";
  let description = [{
    Along the dim `axis`, each element of the result is what `kind` makes of the elements of the operand up to that place:
    their sum, product, maximum, minimum, or the logarithm of the sum of their exponentials. With `exclusive` the element at
    the place itself is left out, with `reverse` it is the elements from that place on. Of no elements it is 0, 1, the
    least number, the greatest, or -inf.

    With `positions`, a maximum or minimum results in its place, an i64: the last one of those that are equal, and of NaNs.

    Elements are f16, bf16, f32, f64, i32 or i64 (`log_sum_exp`: floats). A result has the element type of the operand; of
    floats, a sum, product or logarithm has any float type, and is rounded once. Floats are added in at least f32, in any
    order; multiplied from the first one to the last, f16 and bf16 in f32, others in f64; integers wrap. NaN is beyond every number, and a zero of an extremum
    has either sign.

    On a CPU the runtime computes it, in the library `scan`; on a GPU it is kernels (`llir-expand-orders`).

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
