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
    come to together, so that parts are units of work of their own; without them `part` is the whole dim. With `positions`
    a second result may have the extrema themselves, whose places are in the first.

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
  let summary = "rows as sorted runs";
  let description = [{
    Cuts each row of the operand, its last dim, into runs of `run` elements, a power of two, the last of which may have
    less, and sorts each: in the order and of the types that `llir.argsort` has. Of each run the elements from the place
    `begin` on are taken, `keep` of them where there are so many, one run after the other. The first result has
    their positions in the row, i64. With a second one, which has their *keys*, positions are i32, without sign: keys are
    integers in the order of the elements, i32 of types of up to 32 bits, else i64. A run is sorted by exchanges; `counted`, each
    element counts those before it, which takes less of short runs.

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
  let summary = "sorted runs merged";
  let description = [{
    Rows of positions and keys, as `llir.sort_runs` gives them, are sorted runs of `run` elements, the last of which may have
    less. Each `ways` of them that follow each other become one; equal keys of an earlier run come first. Which elements
    are taken of it, `keep` and `begin` say as there, and results are those there.

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
  let summary = "small kernels as one launch of one block of threads";
  let description = [{
    The region holds scheduled kernels, which a block of threads computes one after the other: it meets between them. Values that
    are not yielded lie in the memory that the block shares, those that are in the results of the kernel around it. There may be
    `llir.alias` between them. Sizes are known. `llir-sequence-kernels` makes it of kernels whose work is less than their launches.

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
    /// Threads of the block: the most that one of the kernels has.
    unsigned countThreads();
  }];
}

#endif // LUMINAL_DIALECT_LLIR_IR_LLIRWHOLEOPS
