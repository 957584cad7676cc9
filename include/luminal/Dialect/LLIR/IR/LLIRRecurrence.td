//===- LLIRRecurrence.td - Elements that carry a state -----*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Included by LLIROps.td.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_DIALECT_LLIR_IR_LLIRRECURRENCE
#define LUMINAL_DIALECT_LLIR_IR_LLIRRECURRENCE

def LLIR_RecurrenceOp
    : LLIR_Op<"recurrence", [Pure, IsolatedFromAbove, SingleBlock, AttrSizedOperandSegments, LLIR_Body<["getReads"]>,
                             DeclareOpInterfaceMethods<HLIR_IndexOpInterface>,
                             DeclareOpInterfaceMethods<LLIR_CodeOpInterface, ["getCodeSize", "getLoopCopies"]>,
                             DeclareOpInterfaceMethods<LLIR_ExpandOpInterface>,
                             DeclareOpInterfaceMethods<LLIR_StandaloneOpInterface>]> {
  let summary = "elements that each carry a state through a loop of their own";
  let description = [{
    Runs the region `trips` times over carried tensors of one shape, of which no element takes part in another: a time loop
    as of a state-space model. The region's arguments are the carried tensors, then one for each of `inputs`, of which the
    element at index i in trip t is that of the operand at map(t, i): its own map of `maps`. The region holds ops that read
    elements at their own index, or move them, and carried ones are read at their own index alone. It yields the next
    carried tensors, then tensors of the same shape. Results are the last carried tensors, and for each of those tensors one
    with a leading dim of the trips.

    Between kernels it reads and writes memory; `llir-expand-orders` puts it into a kernel of its own, in which a unit of work
    is some elements in all trips.

    Example:
    ```mlir
    %last, %all = llir.recurrence trips <() -> (9)> carried(%h : tensor<4xf32>) inputs(%x : tensor<9x4xf32>)
        maps [#hlir.map<(d0, d1) -> (d0, d1)>] : tensor<4xf32>, tensor<9x4xf32> {
    ^bb0(%s: tensor<4xf32>, %row: tensor<4xf32>):
      %n = llir.elementwise add(%s, %row) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      llir.yield %n, %n : tensor<4xf32>, tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins HLIR_MapAttr:$trips, Variadic<AnyRankedTensor>:$carried, Variadic<AnyRankedTensor>:$inputs,
                       TypedArrayAttrBase<HLIR_MapAttr, "maps">:$maps);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `trips` $trips (`carried` `(` $carried^ `:` type($carried) `)`)? (`inputs` `(` $inputs^ `:` type($inputs) `)`)?
    `maps` $maps attr-dict `:` type($results) $body
  }];
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    Expr getTripsExpr() { return getTrips().getResults()[0]; }
    /// The region's arguments for inputs, and their maps.
    ::mlir::MutableArrayRef<::mlir::BlockArgument> getInputArguments() {
      return getBody().getArguments().take_back(getInputs().size());
    }
    hlir::MapAttr getInputMap(unsigned number);
    /// Values of the region: the next carried ones, then those of each trip.
    ::mlir::OperandRange getYielded();
    /// Calls `visit` for each element of an argument of the region that is read for the elements at `index` of what it
    /// yields; `simplify` is for indices.
    void walkArguments(const Index &index, ::llvm::function_ref<Expr(const Expr &)> simplify,
                       ::llvm::function_ref<void(::mlir::BlockArgument, const Index &)> visit);
    /// What is wrong about its ops: each reads elements at its own index or moves them, and carried ones are read at
    /// their own index alone. Empty where nothing is.
    std::string findWrongRead();
    /// Simple operations of an element in a trip.
    int64_t countStep();
    /// The index of the operand of input `number` for `index` of its argument in trip `trip`.
    Index getInputIndex(unsigned number, const Expr &trip, const Index &index);
  }];
}

#endif // LUMINAL_DIALECT_LLIR_IR_LLIRRECURRENCE
