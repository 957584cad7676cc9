//===- Emission.td - How ops become code inside a kernel ---*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The definitions of ops know nothing about code generation (LLIRInterfaces.td). A code generator attaches these interfaces
// to the ops (`attachInterface`): `lib/Conversion/Emitter` to those of LLIR, any other library to its own.

#ifndef LUMINAL_CONVERSION_EMISSION
#define LUMINAL_CONVERSION_EMISSION

include "mlir/IR/OpBase.td"

def EmissionOpInterface : OpInterface<"EmissionOpInterface"> {
  let cppNamespace = "::luminal";
  let description = [{
    Code of an op without loops of its own: it computes elements of its results from elements of its operands.
  }];
  let methods = [
    InterfaceMethod<[{Emits the element of each result at `index` in its compute type (`getComputeType`): a vector over the
                      emitter's lanes, or a scalar if it is the same in all lanes. For a pointwise or free op `operands`
                      holds the elements that it reads; any other op emits those itself.}],
                    "::llvm::SmallVector<::mlir::Value>", "emitElements",
                    (ins "::luminal::Emitter &":$e, "const ::luminal::Index &":$index, "::mlir::ValueRange":$operands)>
  ];
}

def ReductionEmissionOpInterface : OpInterface<"ReductionEmissionOpInterface"> {
  let cppNamespace = "::luminal";
  let description = [{
    Code of a reduction (`llir::ReductionOpInterface`, which gives the types of its state). All methods
    work on scalars and on vectors, lane by lane. The schedule emits the loops around this code.
  }];
  let methods = [
    InterfaceMethod<"The neutral state, before any term is added, in values of `types`: those of `getStateTypes`, or vectors of them.",
                    "::llvm::SmallVector<::mlir::Value>", "emitInitial",
                    (ins "::mlir::ImplicitLocOpBuilder &":$b, "::mlir::TypeRange":$types)>,
    InterfaceMethod<[{The terms at `index`: the index of the result followed by the reduced index. A term is a scalar if it is
                      the same in all lanes.}],
                    "::llvm::SmallVector<::mlir::Value>", "emitTerms",
                    (ins "::luminal::Emitter &":$e, "const ::luminal::Index &":$index)>,
    InterfaceMethod<"The state after `terms` are added to it.", "::llvm::SmallVector<::mlir::Value>", "emitStep",
                    (ins "::mlir::ImplicitLocOpBuilder &":$b, "::mlir::ValueRange":$state, "::mlir::ValueRange":$terms)>,
    InterfaceMethod<"Whether a step rounds, so that the error of a state grows with the number of steps.",
                    "bool", "roundsSteps", (ins), "", "return false;">,
    InterfaceMethod<"The merged state of `x` and `y`.", "::llvm::SmallVector<::mlir::Value>", "emitMerge",
                    (ins "::mlir::ImplicitLocOpBuilder &":$b, "::mlir::ValueRange":$x, "::mlir::ValueRange":$y)>,
    InterfaceMethod<[{The state of the same terms multiplied by `factor`, which is the same for all of them; empty if the state
                      does not scale with its terms (`llir::RescaleOpInterface`).}],
                    "::llvm::SmallVector<::mlir::Value>", "emitScaled",
                    (ins "::mlir::ImplicitLocOpBuilder &":$b, "::mlir::ValueRange":$state, "::mlir::Value":$factor), "",
                    "return {};">,
    InterfaceMethod<"The elements of the results for a final state.", "::llvm::SmallVector<::mlir::Value>", "emitResults",
                    (ins "::mlir::ImplicitLocOpBuilder &":$b, "::mlir::ValueRange":$state)>
  ];
}

def WholeEmissionOpInterface : OpInterface<"WholeEmissionOpInterface"> {
  let cppNamespace = "::luminal";
  let description = [{
    Code of an op that is a kernel of its own (`llir::WholeOpInterface`).
  }];
  let methods = [
    InterfaceMethod<[{Emits one work item, whose number is `unit` (i64), for the emitter's thread group: it loads elements of
                      the op's operands and stores those of the kernel's results.}],
                    "void", "emitUnit", (ins "::luminal::Emitter &":$e, "::mlir::Value":$unit)>
  ];
}

#endif // LUMINAL_CONVERSION_EMISSION
