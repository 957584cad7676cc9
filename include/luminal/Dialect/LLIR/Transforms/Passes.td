//===- Passes.td - Passes over LLIR ------------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_DIALECT_LLIR_TRANSFORMS_PASSES
#define LUMINAL_DIALECT_LLIR_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

def ExpandRowFunctionsPass : Pass<"llir-expand-row-functions", "::mlir::func::FuncOp"> {
  let summary = "Expand softmax, layer_norm and rms_norm";
  let description = [{
    Rewrites row functions as reductions and elementwise ops, as `llir-fuse-kernels` does with those that are left. The
    pass runs before library calls are chosen. Products that will run in one loop with a softmax (docs/Fusion.md,
    "Streamed kernels") are then known, and are left to kernels.
  }];
  let options = [
    Option<"chipBytes", "chip-bytes", "int64_t", "::luminal::MachineModel().getChipBytes()",
           "On-chip memory of one worker in bytes, as of llir-fuse-kernels">,
    Option<"sharedBytes", "shared-bytes", "int64_t", "0",
           "Shared memory of a thread block in bytes, as of llir-fuse-kernels">
  ];
  let dependentDialects = ["::luminal::llir::LLIRDialect"];
}

def ExpandUpdatesPass : Pass<"llir-expand-updates", "::mlir::func::FuncOp"> {
  let summary = "Make scatter updates independent of their order";
  let description = [{
    If several updates set one row, the last one counts. For indices that may be equal, the pass builds a table with an
    entry for each row of the destination: the position of the last update of that row, found by a maximum of integers,
    which is exact. Each update then sets the elements of the update at the position in the table. All updates of a row
    now set the same elements, so the scatter needs no order (`llir::isOrderFree`).

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
    If the indices are the whole argsort of one row, each row is set exactly once. The result is then a gather by the
    inverse permutation, which is computed in any order (`llir::isPermutation`).

    Sums of floats, and maxima of f16 and bf16, are computed by sorted indices: the pass computes the order of the
    updates by row and where the segment of each row begins in it, then reduces each segment in order. The rounding of
    such sums differs from the program's order, but is the same in every run.

    Left alone: updates that need no order; a small number of float updates, which are combined in order; with `exact`,
    all sums of floats.
  }];
  let options = [
    Option<"isExact", "exact", "bool", "false", "Keep every rounding of the program">,
    Option<"blockThreads", "block-threads", "int64_t", "0",
           "Threads of a GPU's thread block; 0: the target has no thread blocks, and nothing is changed">
  ];
  let dependentDialects = ["::luminal::llir::LLIRDialect"];
}

def FormRecurrencesPass : Pass<"llir-form-recurrences", "::mlir::func::FuncOp"> {
  let summary = "Turn loops over rows into recurrences";
  let description = [{
    An `hlir.repeat` over rows becomes an `llir.recurrence` if its ops work on one element at a time and read carried
    tensors at their own index: each element then goes through all trips independently. Views of what the loop reads
    become maps of the recurrence's inputs, and elementwise ops with no other reader move into its region. Other loops
    are left to `hlir-unroll-loops`.

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
  let summary = "Turn recurrences, scans and sorts into kernels";
  let description = [{
    Recurrences become kernels; so do scans and sorts on a machine with thread blocks. A few long rows are cut into
    parts: one kernel computes the total of each part, and another one begins each part with the total of the parts
    before it. The length of a part depends on the length of a row alone. A sort consists of sorted runs of up to 2,048
    elements, and passes that merge them.

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
    Option<"workers", "workers", "int64_t", "108", "Multiprocessors (SMs) of the GPU">,
    Option<"blockThreads", "block-threads", "int64_t", "0",
           "Threads of a GPU's thread block; 0: the target has no thread blocks, and only recurrences become kernels">
  ];
  let dependentDialects = ["::luminal::llir::LLIRDialect"];
}

def JoinProductsPass : Pass<"llir-join-products", "::mlir::func::FuncOp"> {
  let summary = "Join products that read the same row into one";
  let description = [{
    If several products multiply one row with operands of the function, which are available when a kernel starts, the
    pass joins them into one product with the columns of all; each original product becomes a view of it. The right
    operand is selected by the column. Each column is the same sum as before. Products that one elementwise op reads
    stay separate: `llir-join-rows` computes those together. Without `block-threads` the pass does nothing.

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
  let options = [Option<"blockThreads", "block-threads", "int64_t", "0", "Threads of a GPU's thread block; 0: the target has no thread blocks">];
  let dependentDialects = ["::luminal::llir::LLIRDialect"];
}

def FindSegmentsPass : Pass<"llir-find-segments", "::mlir::func::FuncOp"> {
  let summary = "Turn scatters into sorted segments into segment reductions";
  let description = [{
    The importer writes a sum or maximum over runs of rows as a scatter whose index counts the segment begins at or
    before each row. Each row of such a result depends on all rows. As an `llir.segment_reduce` it depends on the rows
    of its segment only, so it can be computed by its readers. Code that reads the begins checks that they are sorted
    and start with 0, as it checks an index.

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
  let summary = "Sort rows by the matrices that they look up";
  let description = [{
    The rows of a product may look up their matrices, as tokens look up their experts. The pass sorts such rows by the
    index of the matrix, so that a matrix is read once for all its rows. Products with the same indices share one order;
    elementwise ops between them are computed in that order, and results are gathered back. The pass does nothing if the
    indices are proved to be sorted, or if the time saved by reading matrices less often is below the time of sorting.

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
           "Bytes of matrices that are read in a nanosecond from the nearest memory that holds them">,
    Option<"operationRate", "operation-rate", "double", "::luminal::MachineModel().operationRate",
           "Simple operations in a nanosecond">,
    Option<"kernelTime", "kernel-time", "double", "::luminal::MachineModel().getKernelTime()",
           "Nanoseconds that one more kernel takes">
  ];
  let dependentDialects = ["::luminal::llir::LLIRDialect"];
}

def UnsortRowsPass : Pass<"llir-unsort-rows", "::mlir::func::FuncOp"> {
  let summary = "Undo the sorting of rows if it saves little";
  let description = [{
    A front end sorts rows by the matrix that each looks up, as tokens by their experts, and puts the results back. If
    few rows share a matrix, the sort takes longer than it saves, by the prices of `llir-sort-rows`. Then the pass
    removes it: a value that is computed from rows in sorted order, and is gathered by the inverse of that order, is
    computed in the original order at its readers. No value changes.

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
           "Nanoseconds that one more kernel takes">
  ];
  let dependentDialects = ["::luminal::llir::LLIRDialect"];
}

def SplitProductsPass : Pass<"llir-split-products", "::mlir::func::FuncOp"> {
  let summary = "Split products whose column ranges meet element by element";
  let description = [{
    If an elementwise op reads several column ranges of one product of single rows, such as a gate and the values that
    it multiplies, each range becomes a product. The products then have one index space, so that one kernel computes
    them with the ops that follow (`llir-join-elements`). Each column is computed as before. A product whose rows share
    a matrix stays: it reads the matrix once for many rows.

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
  let options = [Option<"blockThreads", "block-threads", "int64_t", "0", "Threads of a GPU's thread block; 0: the target has no thread blocks">];
  let dependentDialects = ["::luminal::llir::LLIRDialect"];
}

def FuseKernelsPass : Pass<"llir-fuse-kernels", "::mlir::func::FuncOp"> {
  let summary = "Group flat ops into kernels";
  let description = [{
    Replaces the flat ops of a function by `llir.kernel`, `llir.alias`, and the `llir.constant` ops that kernels load.
    Elementwise ops, views and gathers join the kernels that read them. A reduction or product absorbs the ops before
    and after it. Reductions over one domain become one kernel. A value is written to memory once if several kernels
    read it, or if one kernel reads it too often to recompute it. softmax, layer_norm and rms_norm are expanded first,
    so that they fuse like all other ops.

    No kernel has more code than `code-budget` (docs/Fusion.md): a value that would exceed the budget is written to memory
    and read by the next kernel. Only a single op, with the index arithmetic before it, may exceed the budget.

    Anchors over the same rows that depend on each other (a softmax between two products) become stages of one kernel if
    everything that a product reads for all rows fits into `chip-bytes`, the on-chip memory of one worker.

    Functions with ops of other dialects are rejected; existing kernels are not changed.

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
           "On-chip memory in bytes for what a work item keeps; 0: no memory, and no stages">,
    Option<"sharedBytes", "shared-bytes", "int64_t", "0",
           "Shared memory of a thread block in bytes, for anchors that run in one loop on machines without stages; 0: none">
  ];
  let dependentDialects = ["::luminal::llir::LLIRDialect"];
}

def CheckIndicesPass : Pass<"llir-check-indices", "::mlir::ModuleOp"> {
  let summary = "Prove that every index is in bounds, or state the conditions under which it is";
  let description = [{
    Proves that no index is out of bounds and that no 64-bit arithmetic overflows or divides by zero, for all symbols in
    their ranges. This covers every map of HLIR and LLIR, every extent, and the buffers that steps pass to kernels.
    Conditions that hold only for some symbols become `hlir.requires` of the function (or of the schedule, for its
    kernels); the runtime and the interpreter check them whenever symbols get values. A condition that cannot be proved
    and that symbols do not decide is an error.

    Also rejects a function with a symbol that follows from no argument (`luminal/Support/SymbolSolver.h` defines the
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
  let summary = "Reject results of kernels that nothing reads";
  let description = [{
    Part of the contract of the phases `fused` and `scheduled`: another op, or the function's return, reads each result
    of an `llir.kernel`. A result without a reader, which would be written to memory for nothing, is an error at the
    kernel. The pass changes nothing.
  }];
}

def PlanMemoryPass : Pass<"llir-plan-memory", "::mlir::ModuleOp"> {
  let summary = "Assign memory to every value and list the launches";
  let description = [{
    Replaces the function of kernels by an `llir.schedule`, and puts each distinct kernel into a private function (equal
    kernels share one). Kernels write results of the program to the caller's memory. All other values share one arena,
    in which two values overlap only if no step needs both. Sizes and offsets are expressions over the program's
    symbols, multiples of 64 bytes.

    Fails if a result has no separate memory (llir-fuse-kernels adds a copying kernel for it).

    With `keep-calls`, a step that calls a library or a user's code names, as `llir.computes`, a private function that
    holds the call. Tools that check a schedule step by step find there what the step must compute.
  }];
  let options = [
    Option<"keepCalls", "keep-calls", "bool", "false", "Keep the definition of steps that are no kernels">
  ];
  let dependentDialects = ["::luminal::llir::LLIRDialect", "::mlir::func::FuncDialect"];
}

def PrepareWeightsPass : Pass<"llir-prepare-weights", "::mlir::func::FuncOp"> {
  let summary = "Choose values to compute once, when weights are bound";
  let description = [{
    Puts `llir.prepare` after values that depend on weights and constants alone and on no symbol, if kernels read them
    in at most 0.6 of the time of computing them. `llir-plan-memory` then makes a second schedule that computes these
    values. The values that save the most time for their memory are chosen first, until the memory limit is reached.

    Functions that already hold `llir.prepare` or kernels are not changed.

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
           "Memory for prepared values in bytes; below 0: `share` times the bytes of the weights">,
    Option<"share", "share", "double", "1.0", "Memory for prepared values, as a fraction of the bytes of the weights">,
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
    Removes `checked` from gathers and scatters whose indices are proved to be in bounds: indices made of iotas,
    constants, integer arithmetic that cannot wrap, minima, maxima, and selects by a comparison that bounds them. Adds
    it to all others, including hand-written ones. Selects of flat ops are replaced by one branch if such bounds decide
    their comparison, also through floats: front ends let every index below 0 count from the end, and positions in an
    order are never negative. A function of one integer that maps each of its few possible values to itself is replaced
    by the integer, for instance the bin of an integer among as many bins as there are integers (`identity`).

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
    Marks a scatter kernel `in_place` if the old value is not needed afterwards: the old value is a state whose new
    value the function returns (`hlir.updates`), or a result of another kernel. Kernels that read the old value are
    moved before the update; if one of them depends on the update, the scatter keeps copying.

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

    With `block-threads`, a scatter that has to copy, and whose updates may run in any order, becomes two kernels: one
    copies, the other one updates the copy in place, each with as many threads as it has work for.
  }];
  let options = [
    Option<"blockThreads", "block-threads", "int64_t", "0", "Threads of a GPU's thread block; 0: the target has no thread blocks">
  ];
  let dependentDialects = ["::luminal::llir::LLIRDialect"];
}

def FormConcatsPass : Pass<"llir-form-concats", "::mlir::func::FuncOp"> {
  let summary = "Turn long chains of selects that concatenate tensors into one op";
  let description = [{
    A chain of selects by the index along the first dim concatenates tensors in memory, such as the results of the trips
    of a loop. It compares each element's index with every bound, n^2 comparisons for n rows, and fusion cuts a chain
    that exceeds the code budget of a kernel. A long chain becomes an `llir.concat` if ops compute its parts and the
    parts begin at multiples of the buffer alignment. Fusion does not change it, and kernels write the parts directly to
    it. `llir-concat-in-place` finds shorter chains after fusion, when it is known which values have memory.

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
    Option<"fewestParts", "fewest-parts", "unsigned", "32", "Parts of the shortest chain that is converted">
  ];
  let dependentDialects = ["::luminal::llir::LLIRDialect"];
}

def ConcatInPlacePass : Pass<"llir-concat-in-place", "::mlir::func::FuncOp"> {
  let summary = "Let kernels write their results directly into a concatenation";
  let description = [{
    A kernel that only concatenates tensors in memory (a chain of selects by the index along the first dim) copies each
    tensor once, and compares each element's index with every bound: n^2 comparisons for n rows that trips of a loop
    computed. If kernels compute most of these tensors and nothing updates them, it becomes an `llir.concat`, and those
    kernels write to it directly; the other tensors are copied. Nothing changes if a part does not begin at a multiple
    of the buffer alignment.

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
  let summary = "Pass a kernel the slice of an operand that it reads";
  let description = [{
    A kernel that reads an operand through maps may read only a range of the first dim, such as row 3 of the input of a
    loop. The pass makes the range an operand in the same memory (`llir.alias`). Kernels that differ only in the range
    are then equal: one is compiled and measured for all. The range must begin at a multiple of the buffer alignment.

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
  let summary = "Let kernels write new values of states to the states' memory";
  let description = [{
    Marks a result that is the new value of a state (`hlir.updates`) as `llir.in_state` if its kernel, or library call,
    may write it to the state's memory. All other readers of the old value must run before; the pass moves them. The
    kernel itself may read the old value if each element is read only by the thread that writes its new value, before
    the write; the kernel is then scheduled as elements and `overwrites` these operands. A result that is not marked is
    computed elsewhere, and copied at the end of a call.

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
