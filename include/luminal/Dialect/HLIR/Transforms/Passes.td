//===- Passes.td - Passes over HLIR ------------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_DIALECT_HLIR_TRANSFORMS_PASSES
#define LUMINAL_DIALECT_HLIR_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

def FoldIntegersPass : Pass<"hlir-fold-integers", "::mlir::func::FuncOp"> {
  let summary = "Write integers that are one expression of their index as that";
  let description = [{
    Integers and flags that depend on nothing but their index and the program's symbols, such as masks and positions,
    are linear functions on sets of indices that are known exactly, whatever the symbols are. One that is the same
    function everywhere becomes a constant or an `hlir.iota`: of a mask that models compute for packed sequences, where
    there is one sequence, the causal part stays.

    A lookup is read through only where each of its indices is proved inside, and no value whose computation might wrap
    is folded. A remark tells what each folded value is.

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
  let summary = "Write repeated subgraphs as loops";
  let description = [{
    Finds subgraphs that follow each other and are equal but for the values that they read, such as the layers of a
    model, and makes them the trips of one `hlir.repeat`. What a trip reads of the one before is carried, what differs
    from trip to trip (weights, states, constants) is a list of operands, all else is captured; values of a trip that
    others read are results for each trip. Later phases then look at one body, whatever the number of trips.

    Depends on the flow of data alone: the order of the ops in the block has no influence. Where anything is rolled, the
    function's ops are put into the order in which its results need them.

    A remark tells what was rolled, and which repeated run was not, and why.

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
    Option<"minTrips", "min-trips", "unsigned", "3", "Loops of fewer trips stay as they are">,
    Option<"minOps", "min-ops", "unsigned", "16",
           "Loops with fewer ops in their bodies stay as they are, so that no small pattern is hidden">
  ];
  let dependentDialects = ["::luminal::hlir::HLIRDialect"];
}

def SplitLoopsPass : Pass<"hlir-split-loops", "::mlir::func::FuncOp"> {
  let summary = "Move out of loops over rows what their state does not need";
  let description = [{
    Of a `hlir.repeat` over rows, what the next carried values do not need is computed for all trips at once: products with
    what a trip reads before the loop, reductions of what it made behind it. What stays is elementwise in what is carried.

    A loop whose carried values take part in more than their own element, as in a product, gets a list of values in place of
    rows, and a value for each trip in place of a stacked one, for `hlir-unroll-loops`. Its number of trips must be known.

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
    Each of `ranges` is `NAME=VALUE`, `NAME=LEAST..MOST` or `NAME=LEAST..`, and lies within the range of that symbol. A
    symbol of one value is that number in every type and attribute: what follows compiles as if the program had been
    written for it. It stays in the table of symbols.

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
    ListOption<"ranges", "ranges", "std::string", "The ranges">
  ];
}

def UnrollLoopsPass : Pass<"hlir-unroll-loops", "::mlir::func::FuncOp"> {
  let summary = "Write loops as one trip after the other";
  let description = [{
    Replaces every `hlir.repeat` by its trips: the inverse of `hlir-roll-loops`. The ops of a body may be of any dialect.
    The function's ops are put into the order in which its results need them, as `hlir-roll-loops` does.

    A function that would have more than a million ops is refused.
  }];
  let options = [
    Option<"maxOps", "max-ops", "int64_t", "1000000", "Ops that a function may have afterwards">
  ];
}

#endif // LUMINAL_DIALECT_HLIR_TRANSFORMS_PASSES
