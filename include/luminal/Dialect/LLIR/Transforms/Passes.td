//===- Passes.td - Passes over LLIR ------------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_DIALECT_LLIR_TRANSFORMS_PASSES
#define LUMINAL_DIALECT_LLIR_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

def ExpandRowFunctionsPass : Pass<"llir-expand-row-functions", "::mlir::func::FuncOp"> {
  let summary = "Expand softmax, layer_norm and rms_norm";
  let description = [{
    Writes functions of rows as reductions and elementwise ops, as `llir-fuse-kernels` does with those that are left.
    Before libraries are called, so that products that are to be walked jointly with a softmax (docs/LLIR.md, "Jointly
    over one streamed dim") are known and left to kernels.
  }];
  let options = [
    Option<"chipBytes", "chip-bytes", "int64_t", "::luminal::MachineModel().getChipBytes()",
           "As of llir-fuse-kernels">,
    Option<"sharedBytes", "shared-bytes", "int64_t", "0", "As of llir-fuse-kernels">
  ];
  let dependentDialects = ["::luminal::llir::LLIRDialect"];
}

def ExpandUpdatesPass : Pass<"llir-expand-updates", "::mlir::func::FuncOp"> {
  let summary = "Let updates of one row agree, so that they may run in any order";
  let description = [{
    Of several updates that set one row, the last one counts. Where equal indices may meet, a table of the destination's
    rows gets the greatest position at which each row's index stands, by an exact maximum of integers, and each update
    then sets the elements of the update at that position. So all that set a row set the same, and the scatter needs no
    order (`llir::isOrderFree`).

    Before:
    ```mlir
    %r = llir.scatter set %x, %i, %u {checked} : tensor<9x4xf32>, tensor<3xi64>, tensor<3x4xf32>
    ```
    After:
    ```mlir
    %t = llir.scatter max %none, %i, %positions {checked} : tensor<9xi32>, tensor<3xi64>, tensor<3xi32>
    %w = llir.gather %t, %i {checked} : tensor<9xi32>, tensor<3xi64> -> tensor<3xi32>
    %v = llir.gather %u, %w {checked} : tensor<3x4xf32>, tensor<3xi32> -> tensor<3x4xf32>
    %r = llir.scatter set %x, %i, %v {checked} : tensor<9x4xf32>, tensor<3xi64>, tensor<3x4xf32>
    ```
    Where the indices are all of an order of one row, each row is set once: the result is a gather by the inverse of that
    permutation, which is counted in any order (`llir::isPermutation`).

    Sums of floats, and maxima of f16 and bf16, are computed by sorted indices: the places of the updates in the order of their rows, where each
    row's begin among them, and a reduction of each such segment, in their order. Sums round in another way then, the same in
    every run.

    Left alone: updates that need no order, and few of floats, which are combined in order; with `exact` all sums of floats.
  }];
  let options = [
    Option<"isExact", "exact", "bool", "false", "Every rounding of the program stays">,
    Option<"blockThreads", "block-threads", "int64_t", "0",
           "Threads of a GPU's block; 0: the target has none, and nothing is changed">
  ];
  let dependentDialects = ["::luminal::llir::LLIRDialect"];
}

def FormRecurrencesPass : Pass<"llir-form-recurrences", "::mlir::func::FuncOp"> {
  let summary = "Make recurrences of loops over rows";
  let description = [{
    A `hlir.repeat` over rows, whose ops are of one element at a time and read what is carried at its own index, becomes a
    `llir.recurrence`: each element goes through all trips by itself. Views of what it reads become maps of its inputs, and
    elementwise ops that nothing else reads move into its region. Other loops are left to `hlir-unroll-loops`.

    Before:
    ```mlir
    %last, %all = hlir.repeat 9 carried(%h : tensor<4xf32>) rows(%x : tensor<9x4xf32>) stacked 1 { ... }
    ```
    After:
    ```mlir
    %last, %all = llir.recurrence trips <() -> (9)> carried(%h : tensor<4xf32>) inputs(%x : tensor<9x4xf32>) ...
    ```
  }];
  let dependentDialects = ["::luminal::llir::LLIRDialect", "::luminal::hlir::HLIRDialect"];
}

def ExpandOrdersPass : Pass<"llir-expand-orders", "::mlir::func::FuncOp"> {
  let summary = "Make kernels of ops between kernels that no library computes";
  let description = [{
    Recurrences become kernels of their own, scans and sorts on machines with threads in blocks. Where rows are few and long, they are cut into
    parts: a kernel finds what each part comes to, and another one begins each part with those before it. The length
    of a part follows from the length of a row alone. A sort is one of runs of up to 2,048 elements, and passes that merge them.

    Before:
    ```mlir
    %r = llir.scan %x {axis = 0 : i64, kind = #llir.scan_kind<sum>} : tensor<40000xf32> -> tensor<40000xf32>
    ```
    After:
    ```mlir
    %s = llir.kernel(%x) : (tensor<40000xf32>) -> tensor<40xf32> { llir.scan_parts ... }
    %r = llir.kernel(%x, %s) : (tensor<40000xf32>, tensor<40xf32>) -> tensor<40000xf32> { llir.scan_rows ... }
    ```
  }];
  let options = [
    Option<"workers", "workers", "int64_t", "108", "Multiprocessors of the GPU">,
    Option<"blockThreads", "block-threads", "int64_t", "0",
           "Threads of a GPU's block; 0: the target has none, and nothing is changed">
  ];
  let dependentDialects = ["::luminal::llir::LLIRDialect"];
}

def JoinProductsPass : Pass<"llir-join-products", "::mlir::func::FuncOp"> {
  let summary = "Let products that read the same row be one";
  let description = [{
    Products of one row with operands of the function, which are read as soon as a kernel runs, become one product whose
    columns are those of all; each is a view of it. Its right operand is chosen by the column. Each column is the same sum as
    before. Products that one elementwise op reads stay as they are: `llir-join-rows` computes those together. Nothing is
    done without `block-threads`, on a machine that calls kernels.

    Before:
    ```mlir
    %a = llir.gemm %x, %v k(64) <(d0, d1, d2) -> (0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<1x64xf32>, tensor<32x64xf32> -> tensor<1x32xf32>
    %b = llir.gemm %x, %w k(64) <(d0, d1, d2) -> (0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<1x64xf32>, tensor<8x64xf32> -> tensor<1x8xf32>
    ```
    After:
    ```mlir
    %s = llir.elementwise select(%before32, %v40, %w40) : (tensor<40x64xi1>, tensor<40x64xf32>, tensor<40x64xf32>) -> tensor<40x64xf32>
    %c = llir.gemm %x, %s k(64) <(d0, d1, d2) -> (0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<1x64xf32>, tensor<40x64xf32> -> tensor<1x40xf32>
    %a = llir.view %c <(d0, d1) -> (0, d1)> : tensor<1x40xf32> -> tensor<1x32xf32>
    %b = llir.view %c <(d0, d1) -> (0, d1 + 32)> : tensor<1x40xf32> -> tensor<1x8xf32>
    ```
  }];
  let options = [Option<"blockThreads", "block-threads", "int64_t", "0", "Threads of a GPU's block; 0: the target has none">];
  let dependentDialects = ["::luminal::llir::LLIRDialect"];
}

def FindSegmentsPass : Pass<"llir-find-segments", "::mlir::func::FuncOp"> {
  let summary = "Let scatters into sorted segments be reductions of them";
  let description = [{
    A scatter that adds up, or takes the maximum of, runs of rows is imported with an index that counts the begins at or
    before each row. Each row of its result follows from all rows; as `llir.segment_reduce` it follows from those of its
    segment, so that it can be computed where it is read. That begins are sorted and the first is 0 is checked when they are
    read, as an index is.

    Before:
    ```mlir
    %s = llir.elementwise less_equal(%begins, %i) : (tensor<9x4xi64>, tensor<9x4xi64>) -> tensor<9x4xi1>
    %t = llir.elementwise cast(%s) : (tensor<9x4xi1>) -> tensor<9x4xi64>
    %c = llir.reduce sum %t : tensor<9x4xi64> -> tensor<9xi64>
    %b = llir.elementwise add(%c, %minus) : (tensor<9xi64>, tensor<9xi64>) -> tensor<9xi64>
    %r = llir.scatter add %zero, %b, %x {checked} : tensor<4x8xf32>, tensor<9xi64>, tensor<9x8xf32>
    ```
    After:
    ```mlir
    %r = llir.segment_reduce sum %x, %o : tensor<9x8xf32>, tensor<4xi64> -> tensor<4x8xf32>
    ```
  }];
  let dependentDialects = ["::luminal::llir::LLIRDialect"];
}

def SortRowsPass : Pass<"llir-sort-rows", "::mlir::func::FuncOp"> {
  let summary = "Put rows in the order of the matrices that they look up";
  let description = [{
    Rows of a product that look up their matrices, as tokens do that are sent to experts, are sorted by the index of the
    matrix, so that a matrix is read once for all of its rows. Products by the same indices have one order, and what is
    between them element by element is computed in it; results are gathered back. Nothing is done where the indices are
    proved to be sorted, or where the matrices that are read less often take less time than sorting.

    Before:
    ```mlir
    %m = llir.gather %w, %i : tensor<8x96x64xf32>, tensor<80xi64> -> tensor<80x96x64xf32>
    %y = llir.gemm %x, %m k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d0, d1, d2)>
        : tensor<80x64xf32>, tensor<80x96x64xf32> -> tensor<80x96xf32>
    ```
    After:
    ```mlir
    %p = llir.argsort %i : tensor<80xi64> -> tensor<80xi64>
    %q = llir.scatter set %zero, %p, %place : tensor<80xi64>, tensor<80xi64>, tensor<80xi64>
    %a = llir.gather %x, %p : tensor<80x64xf32>, tensor<80xi64> -> tensor<80x64xf32>
    %j = llir.gather %i, %p : tensor<80xi64>, tensor<80xi64> -> tensor<80xi64>
    %m = llir.gather %w, %j : tensor<8x96x64xf32>, tensor<80xi64> -> tensor<80x96x64xf32>
    %s = llir.gemm %a, %m k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d0, d1, d2)>
        : tensor<80x64xf32>, tensor<80x96x64xf32> -> tensor<80x96xf32>
    %y = llir.gather %s, %q : tensor<80x96xf32>, tensor<80xi64> -> tensor<80x96xf32>
    ```
  }];
  let options = [
    Option<"readRate", "read-rate", "double", "::luminal::MachineModel().getCacheRate()",
           "Bytes that are read in a nanosecond from where matrices are at best">,
    Option<"operationRate", "operation-rate", "double", "::luminal::MachineModel().operationRate",
           "Simple operations in a nanosecond">,
    Option<"kernelTime", "kernel-time", "double", "::luminal::MachineModel().getKernelTime()",
           "Nanoseconds that a kernel more takes">
  ];
  let dependentDialects = ["::luminal::llir::LLIRDialect"];
}

def UnsortRowsPass : Pass<"llir-unsort-rows", "::mlir::func::FuncOp"> {
  let summary = "Leave rows where they are if sorting them saves little";
  let description = [{
    A front end sorts rows by the matrix that each looks up, as the tokens of experts, and puts the results back. Where few
    rows share a matrix, the sort takes longer than it saves, by the prices of `llir-sort-rows`: what is computed of rows in
    their order and gathered by the inverse of that order is computed where it is read. No value changes.

    Before:
    ```mlir
    %p = llir.argsort %i : tensor<8xi64> -> tensor<8xi64>
    %q = llir.scatter set %zero, %p, %place : tensor<8xi64>, tensor<8xi64>, tensor<8xi64>
    %a = llir.gather %x, %p : tensor<8x64xf32>, tensor<8xi64> -> tensor<8x64xf32>
    %j = llir.gather %i, %p : tensor<8xi64>, tensor<8xi64> -> tensor<8xi64>
    %m = llir.gather %w, %j : tensor<128x96x64xf32>, tensor<8xi64> -> tensor<8x96x64xf32>
    %s = llir.gemm %a, %m k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d0, d1, d2)>
        : tensor<8x64xf32>, tensor<8x96x64xf32> -> tensor<8x96xf32>
    %y = llir.gather %s, %q : tensor<8x96xf32>, tensor<8xi64> -> tensor<8x96xf32>
    ```
    After:
    ```mlir
    %m = llir.gather %w, %i : tensor<128x96x64xf32>, tensor<8xi64> -> tensor<8x96x64xf32>
    %y = llir.gemm %x, %m k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d0, d1, d2)>
        : tensor<8x64xf32>, tensor<8x96x64xf32> -> tensor<8x96xf32>
    ```
  }];
  let options = [
    Option<"readRate", "read-rate", "double", "::luminal::MachineModel().readRate",
           "Bytes of matrices that are read in a nanosecond">,
    Option<"operationRate", "operation-rate", "double", "::luminal::MachineModel().operationRate",
           "Simple operations in a nanosecond">,
    Option<"kernelTime", "kernel-time", "double", "::luminal::MachineModel().getKernelTime()",
           "Nanoseconds that a kernel more takes">
  ];
  let dependentDialects = ["::luminal::llir::LLIRDialect"];
}

def SplitProductsPass : Pass<"llir-split-products", "::mlir::func::FuncOp"> {
  let summary = "Let columns that meet element by element be products of their own";
  let description = [{
    A product of single rows, of which an elementwise op reads several parts of the columns, as a gate and what it
    multiplies, becomes one product for each part. They have one index space then, so that one kernel computes them with
    what follows (`llir-join-elements`). Each column is computed as before. Products of which rows share a matrix stay:
    these read it for many rows at once.

    Before:
    ```mlir
    %c = llir.gemm %x, %w k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<1x64xf32>, tensor<32x64xf32> -> tensor<1x32xf32>
    %a = llir.view %c <(d0, d1) -> (d0, d1)> : tensor<1x32xf32> -> tensor<1x16xf32>
    %b = llir.view %c <(d0, d1) -> (d0, d1 + 16)> : tensor<1x32xf32> -> tensor<1x16xf32>
    %m = llir.elementwise mul(%a, %b) : (tensor<1x16xf32>, tensor<1x16xf32>) -> tensor<1x16xf32>
    ```
    After:
    ```mlir
    %a = llir.gemm %x, %w k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<1x64xf32>, tensor<32x64xf32> -> tensor<1x16xf32>
    %b = llir.gemm %x, %w k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1 + 16, d2)> : tensor<1x64xf32>, tensor<32x64xf32> -> tensor<1x16xf32>
    %m = llir.elementwise mul(%a, %b) : (tensor<1x16xf32>, tensor<1x16xf32>) -> tensor<1x16xf32>
    ```
  }];
  let options = [Option<"blockThreads", "block-threads", "int64_t", "0", "Threads of a GPU's block; 0: the target has none">];
  let dependentDialects = ["::luminal::llir::LLIRDialect"];
}

def FuseKernelsPass : Pass<"llir-fuse-kernels", "::mlir::func::FuncOp"> {
  let summary = "Group flat ops into kernels";
  let description = [{
    Replaces the flat ops of a function by `llir.kernel`, `llir.alias` and the `llir.constant` ops that kernels load.
    Elementwise ops, views and gathers join the kernels that read them, a reduction or product absorbs the ops before
    and after it, and reductions over one domain become one kernel. A value that several kernels read, or that one
    kernel reads too often to recompute, is written to memory once. softmax, layer_norm and rms_norm are first expanded,
    so that they fuse like all other ops.

    No kernel has more code than `code-budget` (docs/LLIR.md): a value that would exceed it is written to memory and
    read by the next kernel. Only a single op, with the index arithmetic before it, may be over the budget.

    Anchors that follow each other over the same rows (a softmax between two products) are stages of one kernel where
    what a product reads for all rows fits into `chip-bytes`, the memory on chip of one worker.

    Functions with ops of other dialects are refused; existing kernels are not changed.

    Before:
    ```mlir
    %0 = llir.elementwise add(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %1 = llir.elementwise exp(%0) : (tensor<4xf32>) -> tensor<4xf32>
    return %1 : tensor<4xf32>
    ```
    After:
    ```mlir
    %0 = llir.kernel(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%x: tensor<4xf32>, %y: tensor<4xf32>):
      %1 = llir.elementwise add(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      %2 = llir.elementwise exp(%1) : (tensor<4xf32>) -> tensor<4xf32>
      llir.yield %2 : tensor<4xf32>
    }
    return %0 : tensor<4xf32>
    ```
  }];
  let options = [
    Option<"codeBudget", "code-budget", "unsigned", "::luminal::llir::kKernelCodeBudget",
           "Maximum code of one kernel, in vector operations">,
    Option<"chipBytes", "chip-bytes", "int64_t", "::luminal::MachineModel().getChipBytes()",
           "Memory on chip for what a unit of work keeps; 0: none, and no stages">,
    Option<"sharedBytes", "shared-bytes", "int64_t", "0",
           "Shared memory of a block of threads, by which anchors are walked jointly where there are no stages; 0: none">
  ];
  let dependentDialects = ["::luminal::llir::LLIRDialect"];
}

def CheckIndicesPass : Pass<"llir-check-indices", "::mlir::ModuleOp"> {
  let summary = "Prove that every index is in bounds, or state what that requires";
  let description = [{
    Proves of every map of HLIR and LLIR, of every extent, and of the buffers that steps give to kernels, that no index
    is out of bounds and no 64-bit arithmetic overflows or divides by zero, for all symbols in their ranges. Conditions
    that hold for some symbols only become `hlir.requires` of the function (or of the schedule, for its kernels): the
    runtime and the interpreter check it whenever symbols get values. A condition that can neither be proved nor be
    decided by symbols is an error.

    Also refuses a function with a symbol that follows from no argument (`luminal/Support/SymbolSolver.h` has the
    rule); unused symbols are dropped from `hlir.symbols`.

    Before:
    ```mlir
    func.func @f(%a: tensor<?xf32, #hlir.dims<n>>, ...) -> ... attributes {hlir.symbols = ...} {
      %r = hlir.view %a <(d0) -> (d0)> : tensor<?xf32, #hlir.dims<n>> -> tensor<?xf32, #hlir.dims<m>>
    ```
    After: `hlir.requires = [#hlir.requirement<lesser = m, greater = n, over = (m), "f.mlir:2:8: 'hlir.view' op its map, dim 0 of extent
    n">]` on the function.
  }];
  let dependentDialects = ["::luminal::hlir::HLIRDialect"];
}

def CheckKernelsPass : Pass<"llir-check-kernels", "::mlir::func::FuncOp"> {
  let summary = "Refuse results of kernels that nothing reads";
  let description = [{
    Part of the contract of the phases `fused` and `scheduled`: each result of an `llir.kernel` is read, by another op
    or by the function's return. A result without a reader would be written to memory for nothing. It is an error at the
    kernel. Nothing is changed.
  }];
}

def PlanMemoryPass : Pass<"llir-plan-memory", "::mlir::ModuleOp"> {
  let summary = "Give every value memory and list the launches";
  let description = [{
    Replaces the function of kernels by an `llir.schedule`, and puts each distinct kernel into a private function (equal
    kernels share one). Results of the program are written by their kernels into the caller's memory; all other values
    share one arena, where two of them overlap only if no step needs both. Sizes and offsets are expressions over the
    program's symbols, multiples of 64 bytes.

    Fails where a result has no separate memory (llir-fuse-kernels gives it a copying kernel).

    With `keep-calls` the step of a call of a library or of a user's code names, as `llir.computes`, a private function
    that holds the call: what checks a schedule step by step finds there what the step is to compute.
  }];
  let options = [
    Option<"keepCalls", "keep-calls", "bool", "false", "Keep what steps without a kernel compute">
  ];
  let dependentDialects = ["::luminal::llir::LLIRDialect", "::mlir::func::FuncDialect"];
}

def PrepareWeightsPass : Pass<"llir-prepare-weights", "::mlir::func::FuncOp"> {
  let summary = "Choose what is computed once, when weights are bound";
  let description = [{
    Puts `llir.prepare` after values that depend on weights and constants alone, on no symbol, and that kernels read in
    at most 0.6 of the time in which they compute them. `llir-plan-memory` then makes a second schedule of what they
    are computed from. Those that save the most time for their memory come first, as long as there is room.

    Functions that hold `llir.prepare` or kernels are left as they are.

    Before:
    ```mlir
    %0 = llir.elementwise sqrt(%w) : (tensor<4xf32>) -> tensor<4xf32>
    %1 = llir.elementwise recip(%0) : (tensor<4xf32>) -> tensor<4xf32>
    %2 = llir.elementwise mul(%x, %1) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    ```
    After:
    ```mlir
    %0 = llir.elementwise sqrt(%w) : (tensor<4xf32>) -> tensor<4xf32>
    %1 = llir.elementwise recip(%0) : (tensor<4xf32>) -> tensor<4xf32>
    %p = llir.prepare %1 : tensor<4xf32>
    %2 = llir.elementwise mul(%x, %p) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
  let options = [
    Option<"prepareBytes", "prepare-bytes", "int64_t", "-1",
           "Memory for prepared values; below 0: `share` of that of the weights">,
    Option<"share", "share", "double", "1.0", "Memory for prepared values, in bytes a byte of weights">,
    Option<"readRate", "read-rate", "double", "::luminal::MachineModel().readRate",
           "Bytes that a worker reads in a nanosecond">,
    Option<"operationRate", "operation-rate", "double", "::luminal::MachineModel().operationRate",
           "Simple operations that a worker computes in a nanosecond">
  ];
  let dependentDialects = ["::luminal::llir::LLIRDialect"];
}

def ProveIndicesPass : Pass<"llir-prove-indices", "::mlir::func::FuncOp"> {
  let summary = "Drop range checks that cannot fail";
  let description = [{
    Removes `checked` from the gathers and scatters whose indices are proved to be inside: indices made of iotas,
    constants, integer arithmetic that cannot wrap, minima, maxima, and selects by a comparison that bounds them. Adds
    it to all others, hand-written ones included. Selects of flat ops whose comparison such bounds, through floats too, decide are their branch:
    front ends let every index below 0 count from the end, and places in an order never are. A function of one
    integer that gives back each of the few that there may be, as the bin of an integer among as many bins as there are
    integers, is that integer (`identity`).

    Before:
    ```mlir
    %i = llir.iota <(d0) -> (d0)> : tensor<4xi64>
    %r = llir.gather %x, %i {checked} : tensor<8xf32>, tensor<4xi64> -> tensor<4xf32>
    ```
    After:
    ```mlir
    %i = llir.iota <(d0) -> (d0)> : tensor<4xi64>
    %r = llir.gather %x, %i : tensor<8xf32>, tensor<4xi64> -> tensor<4xf32>
    ```
  }];
  let dependentDialects = ["::luminal::llir::LLIRDialect"];
}

def UpdateInPlacePass : Pass<"llir-update-in-place", "::mlir::func::FuncOp"> {
  let summary = "Let scatters write the memory that they update";
  let description = [{
    Marks a scatter kernel `in_place` where the old value is not needed afterwards: the old value is a state whose new
    value the function returns (`hlir.updates`), or a kernel's own result. Kernels that read the old value are moved
    before the update; where one of them depends on the update, the scatter keeps copying.

    Before:
    ```mlir
    %0 = llir.kernel(%cache, %i, %x) : ...
    %1 = llir.kernel(%cache) : ...
    return %0, %1
    ```
    After:
    ```mlir
    %1 = llir.kernel(%cache) : ...
    %0 = llir.kernel(%cache, %i, %x) {in_place} : ...
    return %0, %1
    ```

    With `block-threads`, a scatter whose updates may run in any order, and which has to copy, is two kernels: one copies,
    the other updates the copy in place, each with as many threads as it has work for.
  }];
  let options = [
    Option<"blockThreads", "block-threads", "int64_t", "0", "Threads of a GPU's block; 0: the target has none">
  ];
  let dependentDialects = ["::luminal::llir::LLIRDialect"];
}

def FormConcatsPass : Pass<"llir-form-concats", "::mlir::func::FuncOp"> {
  let summary = "Make long chains of selects that join tensors one op";
  let description = [{
    A chain of selects by the index along the first dim puts tensors in memory one behind the other: what the trips of a loop
    computed. Each element is compared with every bound, n^2 comparisons for n rows, and fusion cuts a chain that is longer than
    a kernel may be. Where the parts are computed by ops, and begin at multiples of the alignment of buffers, a long chain
    becomes a `llir.concat`, which fusion leaves as it is: kernels write the parts there. Shorter ones `llir-concat-in-place`
    finds behind fusion, where it is known what has memory.

    Before:
    ```mlir
    %0 = llir.elementwise select(%less, %a, %b) : (tensor<2x8xi1>, tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
    ```
    After:
    ```mlir
    %0 = llir.concat(%a0, %b0) : (tensor<8xf32>, tensor<8xf32>) -> tensor<2x8xf32>
    ```
  }];
  let options = [
    Option<"fewestParts", "fewest-parts", "unsigned", "32", "Parts of the shortest chain">
  ];
  let dependentDialects = ["::luminal::llir::LLIRDialect"];
}

def ConcatInPlacePass : Pass<"llir-concat-in-place", "::mlir::func::FuncOp"> {
  let summary = "Have kernels write what they compute where it is joined";
  let description = [{
    A kernel that only puts tensors in memory one behind the other, a chain of selects by the index along the first dim,
    copies each once and compares each element's index with every bound: of n rows that trips of a loop computed, n^2
    comparisons. Where kernels compute most of these tensors and nothing updates them, it becomes a `llir.concat`, which
    they write; the others are copied. The parts begin at multiples of the alignment of buffers, or all stays as it is.

    Before:
    ```mlir
    %0 = llir.kernel(%x) : (tensor<4x8xf32>) -> tensor<8xf32> {...}
    %1 = llir.kernel(%0) : (tensor<8xf32>) -> tensor<8xf32> {...}
    %2 = llir.kernel(%0, %1) : (tensor<8xf32>, tensor<8xf32>) -> tensor<2x8xf32> {
      // select(d0 < 1, operand 0, operand 1)
    }
    ```
    After:
    ```mlir
    %0 = llir.kernel(%x) : (tensor<4x8xf32>) -> tensor<8xf32> {...}
    %1 = llir.kernel(%0) : (tensor<8xf32>) -> tensor<8xf32> {...}
    %2 = llir.concat(%0, %1) : (tensor<8xf32>, tensor<8xf32>) -> tensor<2x8xf32>
    ```
  }];
  let dependentDialects = ["::luminal::llir::LLIRDialect"];
}

def AliasSlicesPass : Pass<"llir-alias-slices", "::mlir::func::FuncOp"> {
  let summary = "Give a kernel the slice of an operand that it reads";
  let description = [{
    Of an operand that a kernel reads through maps, it may read a range of the first dim alone: row 3 of what the trips of a
    loop read. The range becomes an operand of its own, in the same memory (`llir.alias`), so kernels that differ in the
    range alone are equal: one is compiled and measured for all. The range begins at a multiple of the alignment of buffers.

    Before:
    ```mlir
    %0 = llir.kernel(%x) : (tensor<4x8xf32>) -> tensor<8xf32> {
    ^bb0(%a: tensor<4x8xf32>):
      %1 = llir.view %a <(d0) -> (3, d0)> : tensor<4x8xf32> -> tensor<8xf32>
      ...
    ```
    After:
    ```mlir
    %r = llir.alias %x offset(24) : tensor<4x8xf32> -> tensor<1x8xf32>
    %0 = llir.kernel(%r) : (tensor<1x8xf32>) -> tensor<8xf32> {
    ^bb0(%a: tensor<1x8xf32>):
      %1 = llir.view %a <(d0) -> (0, d0)> : tensor<1x8xf32> -> tensor<8xf32>
      ...
    ```
  }];
  let dependentDialects = ["::luminal::llir::LLIRDialect"];
}

def WriteStatesPass : Pass<"llir-write-states", "::mlir::func::FuncOp"> {
  let summary = "Let kernels write new values of states where the states are";
  let description = [{
    Marks a result that is the new value of a state (`hlir.updates`) as `llir.in_state` where its kernel, or call of a
    library, may write it to the state's memory: all that reads the old value runs before, or is that kernel, if each
    element is read only by the thread that writes its new value, and before it does (the kernel is scheduled as
    elements, and then `overwrites` these operands). Other readers are moved before it. What is not marked is computed
    elsewhere, and copied at the end of a call.

    Before:
    ```mlir
    func.func @main(%s: tensor<8xf32> {hlir.kind = "state"}, %x: tensor<8xf32>)
        -> (tensor<8xf32> {hlir.updates = 0 : i64}) {
      %0 = llir.kernel(%s, %x) loops<...> : ...
    ```
    After:
    ```mlir
    func.func @main(%s: tensor<8xf32> {hlir.kind = "state"}, %x: tensor<8xf32>)
        -> (tensor<8xf32> {hlir.updates = 0 : i64, llir.in_state}) {
      %0 = llir.kernel(%s, %x) loops<...> {overwrites = array<i64: 0>} : ...
    ```
  }];
}

#endif // LUMINAL_DIALECT_LLIR_TRANSFORMS_PASSES
