//===- Passes.td - Passes over HLIR ------------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_DIALECT_HLIR_TRANSFORMS_PASSES
#define LUMINAL_DIALECT_HLIR_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

def FoldIntegersPass : Pass<"hlir-fold-integers", "::mlir::func::FuncOp"> {
  let summary = "Rewrite integers that are one expression of their index";
  let description = [{
    Integers and flags that depend only on their index and the program's symbols, such as masks and positions, are
    linear functions on sets of indices, which are known exactly for all symbols. A value that is the same function on
    all its indices becomes a constant or an `hlir.iota`. For example, of the mask that models compute for packed
    sequences, only the causal part remains if there is a single sequence. A lookup is analysed only if each of its
    indices is proved in bounds, and a value whose computation might wrap is not folded. A remark states each folded
    value.

    Before:
    ```mlir
    %0 = hlir.iota <(d0) -> (d0 + 1)> : tensor<4xi64>
    %1 = hlir.iota <(d0) -> (d0)> : tensor<4xi64>
    %2 = hlir.less_than %1, %0 : tensor<4xi64> -> tensor<4xi1>
    ```
    After:
    ```mlir
    %true = hlir.constant dense<true> : tensor<i1>
    %2 = hlir.view %true <(d0) -> ()> : tensor<i1> -> tensor<4xi1>
    ```
  }];
  let dependentDialects = ["::luminal::hlir::HLIRDialect"];
}

def RollLoopsPass : Pass<"hlir-roll-loops", "::mlir::func::FuncOp"> {
  let summary = "Rewrite repeated subgraphs as loops";
  let description = [{
    Finds consecutive subgraphs that are equal except for the values that they read, such as the layers of a model, and
    makes them the trips of one `hlir.repeat`. Values that a trip reads from the trip before are carried; values that
    differ from trip to trip (weights, states, constants) become a list of operands; all other values are captured.
    Values of a trip that other ops read are results for each trip. Later phases then process one body, whatever the
    number of trips.

    The result depends on the data flow alone; the order of ops in the block has no influence. If something is rolled,
    the function's ops are sorted in the order in which its results need them. A remark says what was rolled, and which
    repeated run was not rolled and why.

    Before:
    ```mlir
    %0 = hlir.sin %x : tensor<4xf32>
    %1 = hlir.mul %0, %w0 : tensor<4xf32>
    %2 = hlir.sin %1 : tensor<4xf32>
    %3 = hlir.mul %2, %w1 : tensor<4xf32>
    ```
    After:
    ```mlir
    %0 = hlir.repeat 2 carried(%x : tensor<4xf32>) each(%w0, %w1 : tensor<4xf32>, tensor<4xf32>) {
    ^bb0(%c: tensor<4xf32>, %w: tensor<4xf32>):
      %1 = hlir.sin %c : tensor<4xf32>
      %2 = hlir.mul %1, %w : tensor<4xf32>
      hlir.yield %2 : tensor<4xf32>
    } -> tensor<4xf32>
    ```
  }];
  let options = [
    Option<"minTrips", "min-trips", "unsigned", "3", "The fewest trips of a loop that is rolled">,
    Option<"minOps", "min-ops", "unsigned", "16",
           "The fewest ops in the body of a loop that is rolled, so that small patterns stay visible">
  ];
  let dependentDialects = ["::luminal::hlir::HLIRDialect"];
}

def SplitLoopsPass : Pass<"hlir-split-loops", "::mlir::func::FuncOp"> {
  let summary = "Move out of loops over rows what their carried values do not need";
  let description = [{
    In a `hlir.repeat` over rows, ops that the next carried values do not depend on are computed for all trips at once:
    for example, products of the rows before the loop, and reductions of the trips' values after it. Only ops that are
    elementwise in the carried values stay.

    If carried values take part in more than their own element, as in a product, the loop gets a list of values instead
    of rows, and a value for each trip instead of a stacked one, for `hlir-unroll-loops`. The number of trips must then
    be known.

    Before:
    ```mlir
    %l, %y = hlir.repeat 9 carried(%h : tensor<4xf32>) rows(%x : tensor<9x4xf32>) stacked 1 {
    ^bb0(%s: tensor<4xf32>, %row: tensor<4xf32>):
      %n = hlir.add %s, %row : tensor<4xf32>
      %sum = hlir.reduce_sum %n : tensor<4xf32> -> tensor<f32>
      hlir.yield %n, %sum : tensor<4xf32>, tensor<f32>
    } -> (tensor<4xf32>, tensor<9xf32>)
    ```
    After:
    ```mlir
    %l, %all = hlir.repeat 9 carried(%h : tensor<4xf32>) rows(%x : tensor<9x4xf32>) stacked 1 { ... }
    %y = hlir.reduce_sum %all : tensor<9x4xf32> -> tensor<9xf32>
    ```
  }];
  let dependentDialects = ["::luminal::hlir::HLIRDialect"];
}

def NarrowSymbolsPass : Pass<"hlir-narrow-symbols", "::mlir::func::FuncOp"> {
  let summary = "Narrow the ranges of a program's symbols";
  let description = [{
    Each of `ranges` is `NAME=VALUE`, `NAME=LEAST..MOST` or `NAME=LEAST..`, and must lie within the range of that
    symbol. A symbol with a single value is replaced by that number in every type and attribute, so the rest compiles as
    if the program had been written for it. The symbol stays in the table of symbols.

    Before, with `ranges=s=1`:
    ```mlir
    func.func @f(%x: tensor<?x16xf32, #hlir.dims<s>>) attributes {hlir.symbols = #hlir.symbols<s in [1, 64]>}
    ```
    After:
    ```mlir
    func.func @f(%x: tensor<1x16xf32>) attributes {hlir.symbols = #hlir.symbols<s in [1, 1]>}
    ```
  }];
  let options = [
    ListOption<"ranges", "ranges", "std::string", "The new ranges of symbols">
  ];
}

def UnrollLoopsPass : Pass<"hlir-unroll-loops", "::mlir::func::FuncOp"> {
  let summary = "Replace loops by their trips, one after the other";
  let description = [{
    Replaces every `hlir.repeat` by its trips: the inverse of `hlir-roll-loops`. The ops of a body may be of any
    dialect. The function's ops are sorted in the order in which its results need them, as in `hlir-roll-loops`. A
    function that would have more than `max-ops` ops is rejected.
  }];
  let options = [
    Option<"maxOps", "max-ops", "int64_t", "1000000", "The most ops that a function may have afterwards">
  ];
}

#endif // LUMINAL_DIALECT_HLIR_TRANSFORMS_PASSES
