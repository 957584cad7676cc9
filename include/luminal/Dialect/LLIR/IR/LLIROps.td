//===- LLIROps.td - The ops of LLIR ------------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_DIALECT_LLIR_IR_LLIROPS
#define LUMINAL_DIALECT_LLIR_IR_LLIROPS

include "luminal/Dialect/LLIR/IR/LLIRAttrs.td"
include "luminal/Dialect/LLIR/IR/LLIRInterfaces.td"
include "luminal/Dialect/LLIR/IR/LLIRLaunches.td"
include "luminal/Dialect/HLIR/IR/HLIRAttrs.td"
include "luminal/Dialect/HLIR/IR/HLIRInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"

/// `cost` is the method of CostOpInterface that the op implements: `getCost`, or `getCostOf` if operand types, result
/// types and attributes are enough.
class LLIR_Op<string mnemonic, list<Trait> traits = [], string cost = "getCost">
    : Op<LLIR_Dialect, mnemonic, !listconcat([DeclareOpInterfaceMethods<LLIR_CostOpInterface, [cost]>], traits)>;

class LLIR_FlatOp<string mnemonic, list<Trait> traits = [], list<string> stated = []>
    : LLIR_Op<mnemonic,
              !listconcat([DeclareOpInterfaceMethods<LLIR_CodeOpInterface, !listconcat(["getCodeSize"], stated)>], traits),
              "getCostOf">;

/// A flat op whose loops are the loops of its kernel.
class LLIR_LoopOp<string mnemonic, list<Trait> traits = [], list<string> stated = []>
    : LLIR_FlatOp<mnemonic, traits, !listconcat(["getLoopCopies"], stated)>;

/// The methods of LLIR_BodyOpInterface that an op implements itself.
class LLIR_Body<list<string> stated> : DeclareOpInterfaceMethods<LLIR_BodyOpInterface, stated>;
/// The methods of LLIR_RescaleOpInterface that an op implements itself.
class LLIR_Rescale<list<string> stated> : DeclareOpInterfaceMethods<LLIR_RescaleOpInterface, stated>;
def LLIR_Reduction : DeclareOpInterfaceMethods<LLIR_ReductionOpInterface>;

//===----------------------------------------------------------------------===//
// Flat ops: what the e-graph holds
//===----------------------------------------------------------------------===//

def LLIR_ElementwiseOp : LLIR_FlatOp<"elementwise", [Pure, LLIR_Body<["isPointwise"]>, LLIR_Rescale<["getRescaling"]>]> {
  let summary = "a scalar function of each element";
  let description = [{
    `result[i...] = fn(inputs[i...]...)`; operands and result have one shape.

    Example:
    ```mlir
    %r = llir.elementwise add(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
  let arguments = (ins LLIR_FnAttr:$fn, Variadic<AnyRankedTensor>:$inputs);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "custom<Keyword>($fn) `(` $inputs `)` attr-dict `:` functional-type($inputs, $result)";
  let hasVerifier = 1;
}

def LLIR_ViewOp : LLIR_FlatOp<"view", [Pure, LLIR_Body<["getReads", "isFree"]>,
                                       DeclareOpInterfaceMethods<HLIR_IndexOpInterface>]> {
  let summary = "a tensor read through a map of its index";
  let description = [{
    As `hlir.view`. Inside a kernel it is index arithmetic; outside, fusion makes it an `alias` or a copying kernel.

    Example:
    ```mlir
    %r = llir.view %x <(d0, d1) -> (d1, d0)> : tensor<2x3xf32> -> tensor<3x2xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$operand, HLIR_MapAttr:$map);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$operand $map attr-dict `:` type($operand) `->` type($result)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def LLIR_ConstantOp : LLIR_FlatOp<"constant", [Pure, ConstantLike, LLIR_Body<["isFree"]>, AllTypesMatch<["value", "result"]>]> {
  let summary = "a tensor known at compile time";
  let description = [{
    A splat becomes an immediate of the kernels that read it; any other constant is a buffer of the artifact.

    Example:
    ```mlir
    %r = llir.constant dense<1.0> : tensor<f32>
    ```
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = "attr-dict $value";
  let hasFolder = 1;
}

def LLIR_IotaOp : LLIR_FlatOp<"iota", [Pure, LLIR_Body<["getElementExpr", "isFree"]>,
                                       DeclareOpInterfaceMethods<HLIR_IndexOpInterface>]> {
  let summary = "a tensor whose elements are an expression of their index";
  let description = [{
    As `hlir.iota`.

    Example:
    ```mlir
    %r = llir.iota <(d0) -> (d0)> : tensor<4xi64>
    ```
  }];
  let arguments = (ins HLIR_MapAttr:$map);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$map attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def LLIR_ReduceOp : LLIR_LoopOp<"reduce", [Pure, LLIR_Body<["getReads"]>, LLIR_Reduction,
                                           LLIR_RowReductionOpInterface,
                                           LLIR_Rescale<["getRescaling", "isMaximum"]>]> {
  let summary = "sum or maximum over the last dim";
  let description = [{
    As `hlir.reduce_sum` and `hlir.reduce_max`.

    Example:
    ```mlir
    %r = llir.reduce sum %x : tensor<2x3xf32> -> tensor<2xf32>
    ```
  }];
  let arguments = (ins LLIR_ReduceKindAttr:$kind, AnyRankedTensor:$operand);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "custom<Keyword>($kind) $operand attr-dict `:` type($operand) `->` type($result)";
  let hasVerifier = 1;
}

def LLIR_SoftmaxOp : LLIR_LoopOp<"softmax", [Pure, SameOperandsAndResultType]> {
  let summary = "softmax over the last dim, as one kernel";
  let description = [{
    `exp(x - max(x)) / sum(exp(x - max(x)))` over the last dim; f16 and bf16 compute in f32 and round once.

    Example:
    ```mlir
    %r = llir.softmax %x : tensor<2x3xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$operand);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def LLIR_LayerNormOp : LLIR_LoopOp<"layer_norm", [Pure, SameOperandsAndResultType]> {
  let summary = "layer normalisation over the last dim without scale and shift, as one kernel";
  let description = [{
    `(x - mean) * rsqrt(mean((x - mean)^2) + eps)` over the last dim.

    Example:
    ```mlir
    %r = llir.layer_norm %x {eps = 1.0e-5 : f64} : tensor<2x3xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$operand, F64Attr:$eps);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def LLIR_RMSNormOp : LLIR_LoopOp<"rms_norm", [Pure, SameOperandsAndResultType]> {
  let summary = "root-mean-square normalisation over the last dim without scale, as one kernel";
  let description = [{
    `x * rsqrt(mean(x^2) + eps)` over the last dim.

    Example:
    ```mlir
    %r = llir.rms_norm %x {eps = 1.0e-6 : f64} : tensor<2x3xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$operand, F64Attr:$eps);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def LLIR_GemmOp : LLIR_LoopOp<"gemm", [Pure, LLIR_Body<["getReads"]>, LLIR_Reduction, LLIR_ProductOpInterface,
                                       LLIR_Rescale<["getRescaling"]>,
                                       DeclareOpInterfaceMethods<HLIR_IndexOpInterface>], ["getReaderCopies"]> {
  let summary = "sum of products of two tensors, each read through a map";
  let description = [{
    With result index (d0 ... dn-1) and the contracted index dn of extent `k`:
    `result[d...] = sum over dn of lhs[lhsMap(d..., dn)] * rhs[rhsMap(d..., dn)]`. `k` is an expression over symbols.
    Batched, transposed and implicit (convolution) products differ only in their maps. Dims that occur in both maps are
    batch dims, dims in lhsMap alone are rows (M), dims in rhsMap alone are columns (N). f16, bf16 and f32 accumulate in
    f32, f64 in f64; integers wrap.

    Example:
    ```mlir
    %r = llir.gemm %a, %b k(8) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)>
        : tensor<4x8xf32>, tensor<5x8xf32> -> tensor<4x5xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$lhs, AnyRankedTensor:$rhs, HLIR_MapAttr:$k, HLIR_MapAttr:$lhsMap, HLIR_MapAttr:$rhsMap);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$lhs `,` $rhs `k` `` custom<Quantities>($k) $lhsMap `,` $rhsMap attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Extent of the contracted dim (`k` is a map without dims and with one result).
    ::luminal::Expr getKExtent() { return getK().getResults()[0]; }
  }];
}

def LLIR_GatherOp : LLIR_FlatOp<"gather", [Pure, LLIR_Body<["getReads"]>, LLIR_LookupOpInterface]> {
  let summary = "rows of a tensor, taken along its first dim by index";
  let description = [{
    As `hlir.gather`. `checked` is absent if every index is proved to be in bounds.

    Example:
    ```mlir
    %r = llir.gather %data, %indices {checked} : tensor<10x4xf32>, tensor<2xi64> -> tensor<2x4xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$data, AnyRankedTensor:$indices, UnitAttr:$checked);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$data `,` $indices attr-dict `:` type($data) `,` type($indices) `->` type($result)";
  let hasVerifier = 1;
}

def LLIR_SegmentReduceOp : LLIR_FlatOp<"segment_reduce", [Pure, LLIR_Body<["getReads"]>, LLIR_LookupOpInterface]> {
  let summary = "sum or maximum over segments of the first dim";
  let description = [{
    Row `b` of the result reduces the rows of `data` from `begins[b]` up to `begins[b + 1]` (for the last segment, up to
    the end), in order. `begins` must be sorted and start with 0; otherwise the program fails, as for an index that is
    out of bounds. The result of an empty segment is 0, or the least value of the type.

    Example:
    ```mlir
    %r = llir.segment_reduce sum %data, %begins : tensor<10x4xf32>, tensor<3xi64> -> tensor<3x4xf32>
    ```
  }];
  let arguments = (ins LLIR_ReduceKindAttr:$kind, AnyRankedTensor:$data, AnyRankedTensor:$begins);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "custom<Keyword>($kind) $data `,` $begins attr-dict `:` type($data) `,` type($begins) `->` type($result)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Value getIndices() { return getBegins(); }
    /// Returns the index in `begins` of the begin that follows that of the segment at `index`.
    ::luminal::Index getNext(const ::luminal::Index &index);
  }];
}

def LLIR_ScatterOp : LLIR_LoopOp<"scatter", [Pure, LLIR_Body<["getReads"]>, LLIR_UpdateOpInterface,
                                          AllTypesMatch<["dest", "result"]>]> {
  let summary = "a tensor with rows along its first dim updated by index";
  let description = [{
    As `hlir.scatter`; `checked` as in gather.

    Example:
    ```mlir
    %r = llir.scatter set %dest, %indices, %updates {checked}
        : tensor<10x4xf32>, tensor<3xi64>, tensor<3x4xf32>
    ```
  }];
  let arguments = (ins HLIR_CombineAttr:$combine, AnyRankedTensor:$dest, AnyRankedTensor:$indices,
                       AnyRankedTensor:$updates, UnitAttr:$checked);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "custom<Keyword>($combine) $dest `,` $indices `,` $updates attr-dict `:` type($dest) `,` type($indices) `,` type($updates)";
  let hasVerifier = 1;
}

include "luminal/Dialect/LLIR/IR/LLIRLibraries.td"
include "luminal/Dialect/LLIR/IR/LLIRWholeOps.td"
include "luminal/Dialect/LLIR/IR/LLIRRecurrence.td"

//===----------------------------------------------------------------------===//
// Between kernels
//===----------------------------------------------------------------------===//

def LLIR_PrepareOp : LLIR_Op<"prepare", [Pure, SameOperandsAndResultType,
                                         DeclareOpInterfaceMethods<LLIR_StandaloneOpInterface,
                                                                   ["writesResults", "keepsOperands"]>]> {
  let summary = "a value computed from weights alone, once when weights are bound";
  let description = [{
    The result equals the operand. The operand is computed from weights, constants, and ops on them that use no symbol.
    The kernels that compute it are steps of the `prepare` schedule, which runs when weights are bound and not in every
    call (`llir-prepare-weights` chooses such values).

    Example:
    ```mlir
    %r = llir.prepare %scale : tensor<4xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$operand);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
  let extraClassDefinition = [{
    bool $cppClass::writesResults() { return false; }
    bool $cppClass::keepsOperands() { return true; }
    ::luminal::llir::Cost $cppClass::getCost() { return {}; }
  }];
}

//===----------------------------------------------------------------------===//
// Kernels: what fusion leaves
//===----------------------------------------------------------------------===//

def LLIR_KernelOp : LLIR_Op<"kernel", [Pure, IsolatedFromAbove, SingleBlock]> {
  let summary = "one launch: a region of flat ops, computed element by element";
  let description = [{
    Block arguments stand for the operands, `llir.yield` for the results. Every result is a new buffer, except that an
    `in_place` update writes its operand 0. Values inside have no memory: an element of a result is computed from
    elements of the operands by evaluating the body, which may hold any op that implements `BodyOpInterface`. Ops with
    loops of their own (reductions, products, updates) are the kernel's *anchors*. A kernel has any number of anchors,
    over one parallel index space.

    `overwrites` lists operands whose memory a result is written to; such a result has the operand's elements in the
    same places (`llir-write-states`). Each element is read only by the thread that overwrites it, before the write.

    `loops` is the kernel's schedule: how it runs on a machine (`llir-schedule-kernels` chooses it,
    docs/Schedules.md). It does not change what the kernel computes.

    Example:
    ```mlir
    %r = llir.kernel(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%x: tensor<4xf32>, %y: tensor<4xf32>):
      %0 = llir.elementwise add(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      %1 = llir.elementwise exp(%0) : (tensor<4xf32>) -> tensor<4xf32>
      llir.yield %1 : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, UnitAttr:$in_place,
                       OptionalAttr<LLIR_LoopsAttr>:$loops, OptionalAttr<DenseI64ArrayAttr>:$overwrites);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "`(` $inputs `)` (`loops` `` $loops^)? attr-dict `:` functional-type($inputs, $results) $body";
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let builders = [
    OpBuilder<(ins "::mlir::TypeRange":$results, "::mlir::ValueRange":$inputs, "bool":$inPlace, "LoopsAttr":$loops), [{
      build($_builder, $_state, results, inputs, inPlace, loops, /*overwrites=*/nullptr);
    }]>
  ];
  let extraClassDeclaration = [{
    /// Returns whether the kernel writes the memory of operand `number`.
    bool writesOperand(unsigned number) {
      return (getInPlace() && number == 0) ||
             (getOverwrites() && ::llvm::is_contained(*getOverwrites(), int64_t(number)));
    }
    /// Returns the kernel's name in reports: the names of its anchors; without anchors those of its lookups, else
    /// `map`.
    std::string getTitle();
    /// The ops of the body, in order.
    auto getOps() { return getBody().front().without_terminator(); }
  }];
}

def LLIR_YieldOp : Op<LLIR_Dialect, "yield", [Pure, Terminator, ParentOneOf<["KernelOp", "SequenceOp", "RecurrenceOp"]>]> {
  let summary = "the results of the region of a kernel, a sequence or a recurrence";
  let description = [{
    Ends the region of a kernel, a sequence or a recurrence.

    Example: see `llir.kernel`.
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
}

def LLIR_AliasOp : LLIR_Op<"alias", [Pure, DeclareOpInterfaceMethods<HLIR_IndexOpInterface>], "getCostOf"> {
  let summary = "a tensor within the memory of another";
  let description = [{
    The result is contiguous row-major memory inside the operand's memory, beginning `offset` elements in. It needs no
    launch.

    Example:
    ```mlir
    %r = llir.alias %x offset(0) : tensor<2x3xf32> -> tensor<6xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$operand, HLIR_MapAttr:$offset);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$operand `offset` `` custom<Quantities>($offset) attr-dict `:` type($operand) `->` type($result)";
  let hasVerifier = 1;
}

def LLIR_ConcatOp : LLIR_Op<"concat", [Pure, DeclareOpInterfaceMethods<LLIR_StandaloneOpInterface, ["keepsOperands"]>],
                            "getCostOf"> {
  let summary = "tensors concatenated in one memory buffer";
  let description = [{
    The result is the concatenation of the parts' elements, each part in row-major order. The producer of each part
    writes it directly to the result's memory, so there is no launch. Therefore each part is a result of a kernel or a
    library call that updates nothing in place. A part occurs in no other `llir.concat`, the function does not return
    it, and nothing updates it in place.

    Example:
    ```mlir
    %r = llir.concat(%a, %b) : (tensor<2x8xf32>, tensor<8xf32>) -> tensor<3x8xf32>
    ```
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$parts);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "`(` $parts `)` attr-dict `:` functional-type($parts, $result)";
  let hasVerifier = 1;
  let extraClassDefinition = [{
    bool $cppClass::keepsOperands() { return true; }
  }];
}

//===----------------------------------------------------------------------===//
// Schedules: the contents of an artifact
//===----------------------------------------------------------------------===//

def LLIR_ScheduleOp : Op<LLIR_Dialect, "schedule", [IsolatedFromAbove, SingleBlock, NoTerminator, NoRegionArguments,
                                                    Symbol]> {
  let summary = "the launches of a program, in order, over buffers";
  let description = [{
    The body declares buffers (`argument`, `data`, `slot`, `counters`, `result`, `part`), then lists the steps that read
    and write them, and the outputs. Steps run in order. `arena` is the size in bytes of the memory that all slots
    share, an expression over `symbols`. The functions that steps call are in the same module.

    A program may have a second schedule, `prepare`. It reads weights and constants only and runs when weights are
    bound; its outputs are the `prepared` buffers of this schedule. No size in it depends on a symbol.

    Example:
    ```mlir
    llir.schedule @main symbols <s0 in [1, 64]> arena(64 * s0) {
      %x = llir.argument input "x" : tensor<?x16xf32, #hlir.dims<s0>>
      %t = llir.slot offset(0) bytes(64 * s0)
      llir.step "map" @k0(%x) writes(%t) cost(128 * s0, 16 * s0)
          launch #llir.cpu_launch<work = s0, grain = 16, scratch = 0, parallel>
      %y = llir.result : tensor<?x16xf32, #hlir.dims<s0>>
      llir.step "map" @k1(%t) writes(%y) cost(128 * s0, 16 * s0)
          launch #llir.cpu_launch<work = s0, grain = 16, scratch = 0, parallel>
      llir.output "y" %y : tensor<?x16xf32, #hlir.dims<s0>>
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, HLIR_SymbolsAttr:$symbols, HLIR_MapAttr:$arena,
                       OptionalAttr<FlatSymbolRefAttr>:$prepare);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name `symbols` $symbols `arena` `` custom<Quantities>($arena) (`prepare` $prepare^)? attr-dict-with-keyword $body
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns the schedule that runs when weights are bound; null if there is none.
    ScheduleOp getPrepareSchedule();
  }];
}

class LLIR_ScheduleEntryOp<string mnemonic, list<Trait> traits = []>
    : Op<LLIR_Dialect, mnemonic, !listconcat([HasParent<"ScheduleOp">], traits)>;

def LLIR_ArgumentOp : LLIR_ScheduleEntryOp<"argument", [DeclareOpInterfaceMethods<LLIR_BufferOpInterface>]> {
  let summary = "memory that the caller or the archive supplies";
  let description = [{
    `source` (as `hlir.source`) says where the archive holds the initial bytes of a weight or state.

    Example:
    ```mlir
    %w = llir.argument weight "a.weight" source {member = "data/weights/weight_0", offset = 0 : i64, bytes = 64 : i64}
        : tensor<4x4xf32>
    ```
  }];
  let arguments = (ins LLIR_ArgumentKind:$kind, StrAttr:$name, OptionalAttr<DictionaryAttr>:$source, TypeAttr:$type);
  let results = (outs LLIR_BufferType:$buffer);
  let assemblyFormat = "$kind $name (`source` $source^)? attr-dict `:` $type";
  let hasVerifier = 1;
}

def LLIR_DataOp : LLIR_ScheduleEntryOp<"data", [DeclareOpInterfaceMethods<LLIR_BufferOpInterface>]> {
  let summary = "memory that holds a constant of the artifact";
  let description = [{
    Example:
    ```mlir
    %c = llir.data dense<[1.0, 2.0]> : tensor<2xf32>
    ```
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs LLIR_BufferType:$buffer);
  let assemblyFormat = "$value attr-dict";
}

def LLIR_SlotOp : LLIR_ScheduleEntryOp<"slot", [DeclareOpInterfaceMethods<LLIR_BufferOpInterface>]> {
  let summary = "memory in the arena";
  let description = [{
    Two slots overlap only if no step needs both.

    Example:
    ```mlir
    %t = llir.slot offset(0) bytes(64 * s0)
    ```
  }];
  let arguments = (ins HLIR_MapAttr:$offset, HLIR_MapAttr:$bytes);
  let results = (outs LLIR_BufferType:$buffer);
  let assemblyFormat = "`offset` `` custom<Quantities>($offset) `bytes` `` custom<Quantities>($bytes) attr-dict";
  let hasVerifier = 1;
}

def LLIR_CountersOp : LLIR_ScheduleEntryOp<"counters", [DeclareOpInterfaceMethods<LLIR_BufferOpInterface>]> {
  let summary = "memory of one step that is zero between launches";
  let description = [{
    A step finds `bytes` zero bytes there and leaves them zero. Exactly one step has the buffer, in its workspace.

    Example:
    ```mlir
    %c = llir.counters bytes(4)
    ```
  }];
  let arguments = (ins HLIR_MapAttr:$bytes);
  let results = (outs LLIR_BufferType:$buffer);
  let assemblyFormat = "`bytes` `` custom<Quantities>($bytes) attr-dict";
  let hasVerifier = 1;
}

def LLIR_ResultOp : LLIR_ScheduleEntryOp<"result", [DeclareOpInterfaceMethods<LLIR_BufferOpInterface>]> {
  let summary = "memory of the caller that holds an output";
  let description = [{
    Example:
    ```mlir
    %y = llir.result : tensor<4xf32>
    ```
  }];
  let arguments = (ins TypeAttr:$type);
  let results = (outs LLIR_BufferType:$buffer);
  let assemblyFormat = "attr-dict `:` $type";
}

def LLIR_PreparedOp : LLIR_ScheduleEntryOp<"prepared", [DeclareOpInterfaceMethods<LLIR_BufferOpInterface>]> {
  let summary = "memory that the schedule `prepare` wrote";
  let description = [{
    `name` is the name of the output in that schedule.

    Example:
    ```mlir
    %p = llir.prepared "p0" : tensor<4xf32>
    ```
  }];
  let arguments = (ins StrAttr:$name, TypeAttr:$type);
  let results = (outs LLIR_BufferType:$buffer);
  let assemblyFormat = "$name attr-dict `:` $type";
  let hasVerifier = 1;
}

def LLIR_PartOp : LLIR_ScheduleEntryOp<"part", [DeclareOpInterfaceMethods<LLIR_BufferOpInterface>]> {
  let summary = "a part of another buffer";
  let description = [{
    `offset` and `bytes` count bytes.

    Example:
    ```mlir
    %p = llir.part %t offset(64) bytes(32)
    ```
  }];
  let arguments = (ins LLIR_BufferType:$of, HLIR_MapAttr:$offset, HLIR_MapAttr:$bytes);
  let results = (outs LLIR_BufferType:$buffer);
  let assemblyFormat = "$of `offset` `` custom<Quantities>($offset) `bytes` `` custom<Quantities>($bytes) attr-dict";
  let hasVerifier = 1;
}

def LLIR_StepOp : LLIR_ScheduleEntryOp<"step", [AttrSizedOperandSegments,
                                                DeclareOpInterfaceMethods<SymbolUserOpInterface>,
                                                DeclareOpInterfaceMethods<HLIR_IndexOpInterface>]> {
  let summary = "one launch";
  let description = [{
    Calls `callee` with buffers that it reads and buffers that it writes (an update in place has its buffer in both
    lists). `workspace` is memory that the kernel needs only while it runs: a slot for the states of split-k parts, and
    counters. A kernel whose schedule has no parts needs none. `label` is the step's name in errors and profiles. `cost`
    is the bytes that the step moves and the scalar operations that it computes. `launch` says how the target launches
    the kernel's code; it is absent while the callee is an `llir.kernel` without generated code. A library step has no
    callee, and has its launch from the start.

    Example:
    ```mlir
    llir.step "map" @k0(%x) writes(%t) cost(128 * s0, 16 * s0)
        launch #llir.cpu_launch<work = s0, grain = 16, scratch = 0, parallel>
    ```
  }];
  let arguments = (ins StrAttr:$label, OptionalAttr<FlatSymbolRefAttr>:$callee, Variadic<LLIR_BufferType>:$inputs,
                       Variadic<LLIR_BufferType>:$outputs, Variadic<LLIR_BufferType>:$workspace,
                       HLIR_MapAttr:$cost,
                       OptionalAttr<LLIR_LaunchAttrInterface>:$launch);
  let assemblyFormat = [{
    $label ($callee^)? `(` $inputs `)` `writes` `(` $outputs `)` (`workspace` `(` $workspace^ `)`)?
    `cost` `` custom<Quantities>($cost) (`launch` $launch^)? attr-dict
  }];
  let hasVerifier = 1;
}

def LLIR_OutputOp : LLIR_ScheduleEntryOp<"output"> {
  let summary = "an output of the program, in order";
  let description = [{
    `updates` is the number of the argument (counted over inputs and states) whose new value the output is. If the
    output's buffer is that argument's buffer, the update happened in place.

    Example:
    ```mlir
    llir.output "y" %y : tensor<4xf32>
    ```
  }];
  let arguments = (ins StrAttr:$name, LLIR_BufferType:$buffer, TypeAttr:$type, OptionalAttr<I64Attr>:$updates);
  let assemblyFormat = "$name $buffer (`updates` $updates^)? attr-dict `:` $type";
}

#endif // LUMINAL_DIALECT_LLIR_IR_LLIROPS
