//===- Emission.td - How ops become code inside a kernel ---*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops of a dialect state what they are without knowing of code (LLIRInterfaces.td). Their code is attached to them
// (`attachInterface`) by whoever generates it: `lib/Conversion/Emitter` for LLIR's, any library for its own.

#ifndef LUMINAL_CONVERSION_EMISSION
#define LUMINAL_CONVERSION_EMISSION

include "mlir/IR/OpBase.td"

def EmissionOpInterface : OpInterface<"EmissionOpInterface"> {
  let cppNamespace = "::luminal";
  let description = [{
    The code of an op without loops of its own: elements of its results from elements of its operands.
  }];
  let methods = [
    InterfaceMethod<[{An element of each result at `index`, as kernels compute with it (`getComputeType`): a vector over the
                      emitter's lanes, or a scalar where it is the same in all of them. `operands` are those of the op, at
                      the index where it reads them, if it is pointwise or free; else the op emits them itself.}],
                    "::llvm::SmallVector<::mlir::Value>", "emitElements",
                    (ins "::luminal::Emitter &":$e, "const ::luminal::Index &":$index, "::mlir::ValueRange":$operands)>
  ];
}

def ReductionEmissionOpInterface : OpInterface<"ReductionEmissionOpInterface"> {
  let cppNamespace = "::luminal";
  let description = [{
    The code of a reduction (`llir::ReductionOpInterface`, which has the types of its state). All
    of it works on scalars and on vectors alike, each lane for itself; the loops around it are the schedule's.
  }];
  let methods = [
    InterfaceMethod<"The state that has taken nothing, in values of `types`: those of `getStateTypes`, or vectors of them.",
                    "::llvm::SmallVector<::mlir::Value>", "emitInitial",
                    (ins "::mlir::ImplicitLocOpBuilder &":$b, "::mlir::TypeRange":$types)>,
    InterfaceMethod<[{What the state takes at `index`, that of the results with the reduced index as its last. Scalars where
                      they are the same in all lanes.}],
                    "::llvm::SmallVector<::mlir::Value>", "emitTerms",
                    (ins "::luminal::Emitter &":$e, "const ::luminal::Index &":$index)>,
    InterfaceMethod<"The state once it has taken the terms.", "::llvm::SmallVector<::mlir::Value>", "emitStep",
                    (ins "::mlir::ImplicitLocOpBuilder &":$b, "::mlir::ValueRange":$state, "::mlir::ValueRange":$terms)>,
    InterfaceMethod<"Whether a step rounds, so that the error of a state grows with the steps that it takes.",
                    "bool", "roundsSteps", (ins), "", "return false;">,
    InterfaceMethod<"The state that has taken what both have.", "::llvm::SmallVector<::mlir::Value>", "emitMerge",
                    (ins "::mlir::ImplicitLocOpBuilder &":$b, "::mlir::ValueRange":$x, "::mlir::ValueRange":$y)>,
    InterfaceMethod<[{The state that has taken the same terms times `factor`, of which there is one for all; none where it does
                      not scale with its terms (`llir::RescaleOpInterface`).}],
                    "::llvm::SmallVector<::mlir::Value>", "emitScaled",
                    (ins "::mlir::ImplicitLocOpBuilder &":$b, "::mlir::ValueRange":$state, "::mlir::Value":$factor), "",
                    "return {};">,
    InterfaceMethod<"The elements of the results.", "::llvm::SmallVector<::mlir::Value>", "emitResults",
                    (ins "::mlir::ImplicitLocOpBuilder &":$b, "::mlir::ValueRange":$state)>
  ];
}

def WholeEmissionOpInterface : OpInterface<"WholeEmissionOpInterface"> {
  let cppNamespace = "::luminal";
  let description = [{
    The code of an op that is a kernel of its own (`llir::WholeOpInterface`).
  }];
  let methods = [
    InterfaceMethod<[{One unit of work, an i64, by the emitter's team: it reads elements of the op's operands and stores those
                      of the kernel's results.}],
                    "void", "emitUnit", (ins "::luminal::Emitter &":$e, "::mlir::Value":$unit)>
  ];
}

#endif // LUMINAL_CONVERSION_EMISSION
