//===- HLIROps.td - The ops of HLIR ------------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_DIALECT_HLIR_IR_HLIROPS
#define LUMINAL_DIALECT_HLIR_IR_HLIROPS

include "luminal/Dialect/HLIR/IR/HLIRAttrs.td"
include "luminal/Dialect/HLIR/IR/HLIRInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"

//===----------------------------------------------------------------------===//
// Elementwise primitives
//===----------------------------------------------------------------------===//

class HLIR_UnaryOp<string mnemonic> : HLIR_Op<mnemonic, [Pure, Elementwise, SameOperandsAndResultType]> {
  let arguments = (ins AnyRankedTensor:$operand);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def HLIR_Log2Op : HLIR_UnaryOp<"log2"> {
  let summary = "base-2 logarithm of each element";
  let description = [{
    log2 of each element of a float tensor; NaN below zero, -inf at zero.

    Example:
    ```mlir
    %r = hlir.log2 %x : tensor<4xf32>
    ```
  }];
  let hasFolder = 1;
}
def HLIR_Exp2Op : HLIR_UnaryOp<"exp2"> {
  let summary = "two to the power of each element";
  let description = [{
    2^x of each element of a float tensor.

    Example:
    ```mlir
    %r = hlir.exp2 %x : tensor<4xf32>
    ```
  }];
  let hasFolder = 1;
}
def HLIR_SinOp : HLIR_UnaryOp<"sin"> {
  let summary = "sine of each element, in radians";
  let description = [{
    sin of each element of a float tensor, with exact range reduction for every finite input; NaN at infinity.

    Example:
    ```mlir
    %r = hlir.sin %x : tensor<4xf32>
    ```
  }];
  let hasFolder = 1;
}
def HLIR_SqrtOp : HLIR_UnaryOp<"sqrt"> {
  let summary = "square root of each element";
  let description = [{
    Correctly rounded square root of each element of a float tensor; NaN below zero.

    Example:
    ```mlir
    %r = hlir.sqrt %x : tensor<4xf32>
    ```
  }];
  let hasFolder = 1;
}
def HLIR_RecipOp : HLIR_UnaryOp<"recip"> {
  let summary = "reciprocal of each element";
  let description = [{
    Correctly rounded 1/x of each element of a float tensor; at zero an infinity with the sign of x.

    Example:
    ```mlir
    %r = hlir.recip %x : tensor<4xf32>
    ```
  }];
  let hasFolder = 1;
}

class HLIR_BinaryOp<string mnemonic, list<Trait> traits = []>
    : HLIR_Op<mnemonic, !listconcat([Pure, Elementwise, SameOperandsAndResultType], traits)> {
  let arguments = (ins AnyRankedTensor:$lhs, AnyRankedTensor:$rhs);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def HLIR_AddOp : HLIR_BinaryOp<"add", [Commutative]> {
  let summary = "sum of two tensors, element by element";
  let description = [{
    Integers wrap; i1 is rejected ("or" is a select).

    Example:
    ```mlir
    %r = hlir.add %a, %b : tensor<2x3xf32>
    ```
  }];
  let hasFolder = 1;
}
def HLIR_MulOp : HLIR_BinaryOp<"mul", [Commutative]> {
  let summary = "product of two tensors, element by element";
  let description = [{
    Integers wrap; on i1 the product is "and".

    Example:
    ```mlir
    %r = hlir.mul %a, %b : tensor<2x3xf32>
    ```
  }];
  let hasFolder = 1;
}
def HLIR_ModOp : HLIR_BinaryOp<"mod"> {
  let summary = "remainder of a truncated division, element by element";
  let description = [{
    C's fmod for floats and % for integers: the result has the sign of the dividend. An integer remainder by zero is 0
    C's fmod for floats and % for integers: the result has the sign of the dividend. An integer remainder by zero is 0
    (defined, so that no program traps). i1 is rejected.
    Example:
    ```mlir
    %r = hlir.mod %a, %b : tensor<4xi64>
    ```
  }];
  let hasFolder = 1;
}

def HLIR_LessThanOp : HLIR_Op<"less_than", [Pure, Elementwise, SameTypeOperands]> {
  let summary = "whether the left element is below the right one";
  let description = [{
    Ordered comparison: false if either element is NaN. Integers compare as signed; for i1, 0 < 1.

    Example:
    ```mlir
    %r = hlir.less_than %a, %b : tensor<4xf32> -> tensor<4xi1>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$lhs, AnyRankedTensor:$rhs);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def HLIR_CastOp : HLIR_Op<"cast", [Pure, Elementwise]> {
  let summary = "each element converted to another element type";
  let description = [{
    Float to float rounds to nearest even. Float to i32 and i64 truncates and saturates, and maps NaN to 0. Float to i8,
    ui8, i16, ui16 and ui32 truncates to 64 bits and keeps the low bits; values that do not fit into 64 bits, and NaN,
    give 0. Integer to integer wraps; integer to float rounds to nearest even. To i1: whether the element differs from
    zero (NaN does). From i1: 0 or 1. f8 types behave as their names say; E4M3FN has no infinity, and values that are
    too large become its largest value of that sign, as in PyTorch.

    Example:
    ```mlir
    %r = hlir.cast %x : tensor<4xf32> -> tensor<4xf64>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$operand);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

class HLIR_ReduceOp<string mnemonic> : HLIR_Op<mnemonic, [Pure]> {
  let arguments = (ins AnyRankedTensor:$operand);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `->` type($result)";
  let hasVerifier = 1;
}

def HLIR_ReduceSumOp : HLIR_ReduceOp<"reduce_sum"> {
  let summary = "sum over the last dim";
  let description = [{
    Removes the last dim. To reduce other dims, a view moves them there, and merges several into one. Floats accumulate
    in at least f32, in any order (in the interpreter in f64); integers wrap; i1 is rejected. The sum of no elements is
    0.

    Example:
    ```mlir
    %r = hlir.reduce_sum %x : tensor<2x3xf32> -> tensor<2xf32>
    ```
  }];
}
def HLIR_ReduceMaxOp : HLIR_ReduceOp<"reduce_max"> {
  let summary = "maximum over the last dim";
  let description = [{
    Removes the last dim. NaN wins over every number; on i1 the maximum is "or". The maximum of no elements is the least
    value of the type (-inf for floats, false for i1).

    Example:
    ```mlir
    %r = hlir.reduce_max %x : tensor<2x3xf32> -> tensor<2xf32>
    ```
  }];
}

//===----------------------------------------------------------------------===//
// Index ops
//===----------------------------------------------------------------------===//

def HLIR_IotaOp : HLIR_Op<"iota", [Pure, DeclareOpInterfaceMethods<HLIR_IndexOpInterface>]> {
  let summary = "a tensor whose elements are an expression of their index";
  let description = [{
    Element [d0, d1, ...] is the map's only result, an integer expression over the index and the program's symbols (so a
    dim becomes data as a rank-0 iota). The element type is i64 or i32 (which wraps).

    Example:
    ```mlir
    %r = hlir.iota <(d0, d1) -> (d0 * 3 + d1)> : tensor<2x3xi64>
    ```
  }];
  let arguments = (ins HLIR_MapAttr:$map);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$map attr-dict `:` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def HLIR_GatherOp : HLIR_Op<"gather", [Pure]> {
  let summary = "rows of a tensor, taken along its first dim by index";
  let description = [{
    `result[i..., r...] = data[indices[i...], r...]`: the result's shape is the indices' shape followed by the data's
    shape without its first dim. Indices are i32 or i64 and must be in [0, extent); the importer wraps negative ones. At
    run time an index out of bounds is an error that names the step, and no access leaves the buffer.

    Example:
    ```mlir
    %r = hlir.gather %data, %indices : tensor<10x4xf32>, tensor<2x3xi64> -> tensor<2x3x4xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$data, AnyRankedTensor:$indices);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$data `,` $indices attr-dict `:` type($data) `,` type($indices) `->` type($result)";
  let hasVerifier = 1;
}

def HLIR_ScatterOp : HLIR_Op<"scatter", [Pure, AllTypesMatch<["dest", "result"]>]> {
  let summary = "a tensor with rows along its first dim updated by index";
  let description = [{
    The result is `dest` after, for each index i... in row-major order, `row = indices[i...]` and
    `result[row, r...] = combine(result[row, r...], updates[i..., r...])`: duplicates apply in index order. `updates`
    has the indices' shape followed by dest's shape without its first dim. Indices as in gather.

    Example:
    ```mlir
    %r = hlir.scatter add %dest, %indices, %updates : tensor<10x4xf32>, tensor<3xi64>, tensor<3x4xf32>
    ```
  }];
  let arguments = (ins HLIR_CombineAttr:$combine, AnyRankedTensor:$dest, AnyRankedTensor:$indices,
                       AnyRankedTensor:$updates);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "custom<Keyword>($combine) $dest `,` $indices `,` $updates attr-dict `:` type($dest) `,` type($indices) `,` type($updates)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

def HLIR_ConstantOp : HLIR_Op<"constant", [Pure, ConstantLike, AllTypesMatch<["value", "result"]>]> {
  let summary = "a tensor known at compile time";
  let description = [{
    A scalar is a rank-0 constant, which a view broadcasts. Constants have at most 64 KiB: parameters of a program are
    arguments, not constants.

    Example:
    ```mlir
    %r = hlir.constant dense<[1.0, 2.0]> : tensor<2xf32>
    ```
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = "attr-dict $value";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def HLIR_ViewOp : HLIR_Op<"view", [Pure, DeclareOpInterfaceMethods<HLIR_IndexOpInterface>]> {
  let summary = "a tensor read through a map of its index";
  let description = [{
    `result[d0, d1, ...] = operand[map(d0, d1, ...)]`. The only data movement op: permute, broadcast, slice, split,
    merge, stride, reshape and overlapping windows are all maps. For every index of the result, the map must be within
    the operand: `llir-check-indices` proves this, or adds a requirement on the symbols (`hlir.requires`), or rejects
    the map. The verifier rejects maps that are out of bounds for all symbols. No data moves.

    Example:
    ```mlir
    %r = hlir.view %x <(d0, d1) -> (d1, d0)> : tensor<2x3xf32> -> tensor<3x2xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$operand, HLIR_MapAttr:$map);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$operand $map attr-dict `:` type($operand) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def HLIR_SelectOp : HLIR_Op<"select", [Pure, Elementwise, AllTypesMatch<["onTrue", "onFalse", "result"]>]> {
  let summary = "elements of one tensor or another, by a condition";
  let description = [{
    `onTrue` where the i1 condition holds, else `onFalse`. No arithmetic: an infinity or NaN that is not selected has no
    effect.

    Example:
    ```mlir
    %r = hlir.select %c, %a, %b : tensor<4xi1>, tensor<4xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$condition, AnyRankedTensor:$onTrue, AnyRankedTensor:$onFalse);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$condition `,` $onTrue `,` $onFalse attr-dict `:` type($condition) `,` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def HLIR_BitcastOp : HLIR_Op<"bitcast", [Pure, Elementwise]> {
  let summary = "the bits of each element as those of another element type";
  let description = [{
    Both types have the same width, and neither is i1, whose bytes may only be 0 or 1. No arithmetic: the bits of a NaN
    do not change.

    Example:
    ```mlir
    %r = hlir.bitcast %x : tensor<4xf32> -> tensor<4xi32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$operand);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def HLIR_RepeatOp : HLIR_Op<"repeat", [SingleBlock, AttrSizedOperandSegments, RecursiveMemoryEffects]> {
  let summary = "a region run a number of times over carried values";
  let description = [{
    Runs the body `trips` times. The block arguments are the carried values; then one value for each list of `each`;
    then one row for each tensor of `rows`. A list of `each` has `trips` operands (one list for each varying weight),
    and trip i sees operand i. The leading extent of a tensor of `rows` is the number of trips, and trip i sees row i.
    The body may capture outer values. It yields the next carried values, then values of the trip. The results are the
    last carried values, then for each value of a trip one result for every trip; for the last `stacked` of them instead
    one tensor with a row for each trip.

    `trips` is `?` if the leading extent of `rows` is not a number. The op then has no `each` and no separate results
    for each trip.

    Example:
    ```mlir
    %r = hlir.repeat 2 carried(%x : tensor<4xf32>) each(%w0, %w1 : tensor<4xf32>, tensor<4xf32>) {
    ^bb0(%c: tensor<4xf32>, %w: tensor<4xf32>):
      %m = hlir.mul %c, %w : tensor<4xf32>
      hlir.yield %m : tensor<4xf32>
    } -> tensor<4xf32>
    // Running products of rows.
    %last, %all = hlir.repeat 9 carried(%x : tensor<4xf32>) rows(%xs : tensor<9x4xf32>) stacked 1 {
    ^bb0(%c: tensor<4xf32>, %row: tensor<4xf32>):
      %m = hlir.mul %c, %row : tensor<4xf32>
      hlir.yield %m, %m : tensor<4xf32>, tensor<4xf32>
    } -> (tensor<4xf32>, tensor<9x4xf32>)
    ```
  }];
  let arguments = (ins I64Attr:$trips, Variadic<AnyRankedTensor>:$carried, Variadic<AnyRankedTensor>:$each,
                       Variadic<AnyRankedTensor>:$rows, DefaultValuedAttr<I64Attr, "0">:$stacked);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::llvm::LogicalResult verifyTrips();
    /// Returns the number of trips; std::nullopt if the leading extent of the rows is not a number.
    std::optional<int64_t> getNumTrips();
    /// Returns the number of trips as an expression over the program's symbols.
    ::luminal::Expr getTripsExpr();
    /// Returns the number of lists of `each`; the body has one argument for each list.
    unsigned getNumLists() { return getBody().getNumArguments() - getCarried().size() - getRows().size(); }
    /// Returns the body's arguments that are rows.
    ::mlir::MutableArrayRef<::mlir::BlockArgument> getRowArguments() {
      return getBody().getArguments().take_back(getRows().size());
    }
    /// Returns the yielded values of stacked results, which are the last ones.
    ::mlir::OperandRange getStackedValues();
    ::mlir::ResultRange getStackedResults() { return getResults().take_back(getStacked()); }
  }];
}

def HLIR_YieldOp : HLIR_Op<"yield", [Pure, Terminator, HasParent<"RepeatOp">]> {
  let summary = "the carried values of the next trip, and values of this one";
  let description = [{
    Ends the body of a `repeat`.

    Example: see `hlir.repeat`.
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
}

def HLIR_CustomOp : HLIR_Op<"custom", [Pure]> {
  let summary = "a named kernel that the caller supplies";
  let description = [{
    Calls the kernel registered under `name`. Pure: it may be shared, moved and dropped.

    Example:
    ```mlir
    %r = hlir.custom "my.kernel"(%x) {alpha = 2.0 : f64} : (tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
  let arguments = (ins StrAttr:$name, Variadic<AnyRankedTensor>:$inputs);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = "$name `(` $inputs `)` attr-dict `:` functional-type($inputs, $results)";
  let hasVerifier = 1;
}

#endif // LUMINAL_DIALECT_HLIR_IR_HLIROPS
