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
  let summary = "a loop in which each element carries its own state";
  let description = [{
    Runs the region `trips` times over carried tensors of one shape. No element of a carried tensor depends on another
    element: a time loop such as that of a state-space model. The region's arguments are the carried tensors, then one
    argument for each of `inputs`. In trip t, the element at index i of such an argument is the operand's element at
    map(t, i), where the map is the input's entry in `maps`. The region holds ops that read elements at their own index,
    or move them; carried tensors are read at their own index only. The region yields the next carried tensors, then
    further tensors of the same shape. The results are the last carried tensors, then for each further tensor all its
    trips, stacked along a new leading dim.

    Between kernels the op reads and writes memory. `llir-expand-orders` puts it into a kernel by itself, in which a
    work item computes some elements in all trips.

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
    /// Returns the region's arguments that stand for inputs.
    ::mlir::MutableArrayRef<::mlir::BlockArgument> getInputArguments() {
      return getBody().getArguments().take_back(getInputs().size());
    }
    /// Returns the map of input `number`, from (trip, index) to the operand's index.
    hlir::MapAttr getInputMap(unsigned number);
    /// Returns what the region yields: the next carried tensors, then the tensors of each trip.
    ::mlir::OperandRange getYielded();
    /// Calls `visit` for each element of a region argument that is read to compute the yielded elements at `index`.
    /// `simplify` is applied to indices.
    void walkArguments(const Index &index, ::llvm::function_ref<Expr(const Expr &)> simplify,
                       ::llvm::function_ref<void(::mlir::BlockArgument, const Index &)> visit);
    /// Returns what is wrong with the reads of the region's ops; empty if nothing is. Each op must read elements at its
    /// own index or move them, and carried tensors are read at their own index only.
    std::string findWrongRead();
    /// Returns the simple operations that one element takes in one trip.
    int64_t countStep();
    /// Returns the index in the operand of input `number` for `index` of its argument in trip `trip`.
    Index getInputIndex(unsigned number, const Expr &trip, const Index &index);
  }];
}

#endif // LUMINAL_DIALECT_LLIR_IR_LLIRRECURRENCE
