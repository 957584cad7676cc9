//===- HLIRBase.td - The HLIR dialect and its op classes ---*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_DIALECT_HLIR_IR_HLIRBASE
#define LUMINAL_DIALECT_HLIR_IR_HLIRBASE

include "mlir/IR/OpBase.td"

def HLIR_Dialect : Dialect {
  let name = "hlir";
  let cppNamespace = "::luminal::hlir";
  let summary = "What is computed: fifteen primitive tensor ops and the structure around them";
  let description = [{
    HLIR says what a program computes, and nothing about how. It has exactly fifteen primitives (`log2 exp2 sin sqrt
    recip`, `add mul mod less_than`, `reduce_sum reduce_max iota gather scatter cast`) and six structural ops, which do
    no arithmetic (`constant view select bitcast repeat custom`). An operation that can be expressed already will never
    get a second op: each synonym doubles the rewrite rules.

    Values are builtin ranked tensors. A dynamic dim (`?`) has an expression over named symbols in the tensor's encoding
    (`tensor<?x16xf32, #hlir.dims<s77>>`), so that two dynamic dims are provably equal or not. The function's
    `hlir.symbols` has the ranges of the symbols. f32 f16 bf16 f64 i32 i64 i1 support all ops. i8, ui8, i16, ui16, ui32
    and the two f8 types are storage types, which only `cast`, `bitcast`, `view`, `gather` and `select` accept. There is
    no implicit broadcast: operands of an elementwise op have one shape.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let hasConstantMaterializer = 1;
  let extraClassDeclaration = [{
    /// Defined in the file that completes the storage of the attributes.
    void registerAttributes();
  }];
}

class HLIR_Op<string mnemonic, list<Trait> traits = []> : Op<HLIR_Dialect, mnemonic, traits>;

#endif // LUMINAL_DIALECT_HLIR_IR_HLIRBASE
