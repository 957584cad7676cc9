//===- LLIRWholeOps.td - Ops that are kernels of their own -*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Included by LLIROps.td. `llir-expand-orders` makes these ops from ops between kernels if the target's runtime does
// not compute those.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_DIALECT_LLIR_IR_LLIRWHOLEOPS
#define LUMINAL_DIALECT_LLIR_IR_LLIRWHOLEOPS

class LLIR_WholeOp<string mnemonic, list<Trait> traits = []>
    : LLIR_LoopOp<mnemonic, !listconcat([Pure, LLIR_Body<["getReads"]>,
                                         DeclareOpInterfaceMethods<LLIR_WholeOpInterface, ["checkTeam"]>], traits)>;

def LLIR_ScanPartsOp : LLIR_WholeOp<"scan_parts"> {
  let summary = "the total of each part of a scanned dim";
  let description = [{
    The dim `axis` of the operand is cut into parts of `part` elements; the last part may have fewer. With `reverse`
    parts are counted from the end. The result is each part's total: the state that `llir.scan` of that `kind` has after
    all elements of the part, if it begins before the part's first element. There is one result for each number of a
    state: the sum or product; the extremum and, with `positions`, its position (an i64); or the maximum and the sum of
    the exponentials of the elements relative to it.

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
  let summary = "a scan inside a kernel";
  let description = [{
    As `llir.scan`. With `states`, the results of `llir.scan_parts` of the operand, each part begins with the combined
    total of the parts before it, so that parts are separate work items. Without them `part` is the whole dim. With
    `positions` a second result may hold the extrema whose positions are in the first result.

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
  let results = (outs Variadic<AnyRankedTensor>:$scanned);
  let assemblyFormat = "$operand (`,` $states^)? attr-dict `:` functional-type(operands, $scanned)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::luminal::Expr getPartExtent() { return getPart().getResults()[0]; }
  }];
}

def LLIR_SortRunsOp : LLIR_WholeOp<"sort_runs"> {
  let summary = "rows cut into sorted runs";
  let description = [{
    Cuts each row of the operand (its last dim) into runs of `run` elements, a power of two, and sorts each run. The
    last run may be shorter. Order and element types are those of `llir.argsort`. Of each run, up to `keep` elements
    from rank `begin` on are kept; the kept elements of all runs follow each other. The first result is their positions
    in the row, i64. A second result, if present, is their *keys*, and positions are then unsigned i32. Keys are
    integers in the order of the elements: i32 for types of up to 32 bits, else i64. A run is sorted by a bitonic
    network; with `counted`, each element counts the elements before it, which is faster for short runs.

    Example: the first three of each 64 elements.
    ```mlir
    %p, %k = llir.sort_runs %x {keep = #hlir.map<() -> (3)>, run = 64 : i64}
        : tensor<2x130xf32> -> tensor<2x8xi32>, tensor<2x8xi32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$operand, I64Attr:$run, HLIR_MapAttr:$keep,
                       OptionalAttr<HLIR_MapAttr>:$begin, DefaultValuedAttr<BoolAttr, "false">:$descending,
                       DefaultValuedAttr<BoolAttr, "false">:$nan_first, UnitAttr:$counted);
  let results = (outs Variadic<AnyRankedTensor>:$sorted);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `->` type($sorted)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::luminal::Expr getKept() { return getKeep().getResults()[0]; }
    ::luminal::Expr getFirst() { return getBegin() ? getBegin()->getResults()[0] : ::luminal::Expr(0); }
  }];
}

def LLIR_MergeRunsOp : LLIR_WholeOp<"merge_runs"> {
  let summary = "a merge of sorted runs";
  let description = [{
    The operands are positions and keys as `llir.sort_runs` returns them: rows of sorted runs of `run` elements, of
    which the last may be shorter. Each `ways` consecutive runs are merged into one; among equal keys, those of an
    earlier run come first. `keep`, `begin` and the results are as for `llir.sort_runs`.

    Example:
    ```mlir
    %r = llir.merge_runs %p, %k {keep = #hlir.map<() -> (3)>, run = #hlir.map<() -> (3)>, ways = 8 : i64}
        : tensor<2x8xi32>, tensor<2x8xi32> -> tensor<2x3xi64>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$positions, AnyRankedTensor:$keys, HLIR_MapAttr:$run, I64Attr:$ways,
                       HLIR_MapAttr:$keep, OptionalAttr<HLIR_MapAttr>:$begin);
  let results = (outs Variadic<AnyRankedTensor>:$merged);
  let assemblyFormat = "$positions `,` $keys attr-dict `:` type($positions) `,` type($keys) `->` type($merged)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::luminal::Expr getRunExtent() { return getRun().getResults()[0]; }
    ::luminal::Expr getKept() { return getKeep().getResults()[0]; }
    ::luminal::Expr getFirst() { return getBegin() ? getBegin()->getResults()[0] : ::luminal::Expr(0); }
  }];
}

def LLIR_SequenceOp
    : LLIR_Op<"sequence", [Pure, IsolatedFromAbove, SingleBlock, LLIR_Body<["getReads"]>,
                           DeclareOpInterfaceMethods<LLIR_CodeOpInterface, ["getCodeSize", "getLoopCopies"]>,
                           DeclareOpInterfaceMethods<LLIR_WholeOpInterface, ["checkTeam"]>]> {
  let summary = "small kernels as one launch of one thread block";
  let description = [{
    The region holds scheduled kernels. One thread block computes them in order, with a barrier between them. Values
    that are not yielded are in the block's shared memory; yielded values are in the results of the kernel around the
    sequence. `llir.alias` ops may stand between the kernels. All sizes are known at compile time.
    `llir-sequence-kernels` makes sequences of kernels that take less time than their launches.

    Example:
    ```mlir
    %r = llir.sequence(%x) : (tensor<8xf32>) -> tensor<f32> {
    ^bb0(%y: tensor<8xf32>):
      %0 = llir.kernel(%y) loops<grid(d0) threads(32)> : (tensor<8xf32>) -> tensor<8xf32> { ... }
      %1 = llir.kernel(%0) loops<grid() stream(d0:all) threads(32, 8) op0 = pass> : (tensor<8xf32>) -> tensor<f32> { ... }
      llir.yield %1 : tensor<f32>
    }
    ```
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "`(` $inputs `)` attr-dict `:` functional-type($inputs, $results) $body";
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// The kernels, in order.
    auto getKernels() { return getBody().front().getOps<::luminal::llir::KernelOp>(); }
    /// Returns the threads of the block: the most that any of the kernels has.
    unsigned countThreads();
  }];
}

#endif // LUMINAL_DIALECT_LLIR_IR_LLIRWHOLEOPS
