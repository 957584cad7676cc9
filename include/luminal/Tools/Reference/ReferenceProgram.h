//===- ReferenceProgram.h - Runs a function by the interpreter ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_TOOLS_REFERENCE_REFERENCEPROGRAM_H
#define LUMINAL_TOOLS_REFERENCE_REFERENCEPROGRAM_H

#include "luminal/Conversion/UserKernels.h"
#include "luminal/Reference/Interpreter.h"
#include "luminal/Runtime/Weights.h"
#include "luminal/Support/SafeTensors.h"
#include "luminal/Support/ZipArchive.h"
#include "luminal/Tools/Run/RunDriver.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace luminal::tools {

/// Runs a function through the interpreter as a program of the run driver.
class ReferenceProgram : public Runnable {
public:
  /// User kernels are evaluated by their reference functions.
  ReferenceProgram(mlir::func::FuncOp func, std::string weightsPath,
                   UserKernels kernels)
      : func(func), weightsPath(std::move(weightsPath)),
        kernels(std::move(kernels)), arguments(func.getNumArguments()) {}

  /// Checks the function and loads its weights.
  Status load();
  const std::vector<Port> &getInputs() const override { return inputs; }
  const std::vector<Port> &getOutputs() const override { return outputPorts; }
  Status bind(std::vector<HostTensor> tensors) override;
  Status call() override;
  Result<std::vector<HostTensor>> outputs() override { return answers; }

private:
  /// Reads a weight from the weights file or from its `hlir.source`.
  Result<HostTensor> readWeight(unsigned index, mlir::DictionaryAttr source);
  Status openWeights();
  Status checkKernels();
  std::optional<llvm::SmallVector<reference::Tensor>>
  runKernel(llvm::StringRef name, llvm::ArrayRef<reference::Tensor> inputs);

  mlir::func::FuncOp func;
  std::string weightsPath;
  UserKernels kernels;
  std::optional<ZipArchive> archive;
  std::optional<SafeTensors> safeTensors;
  std::vector<Port> inputs, outputPorts;
  /// Positions of the inputs among the function's arguments.
  std::vector<unsigned> inputIndices;
  std::vector<reference::Tensor> arguments;
  reference::SymbolValues integers;
  std::vector<unsigned> weightIndices;
  std::vector<runtime::WeightSpec> inArchive;
  /// Owns the memory that `arguments` refer to.
  std::vector<HostTensor> weights, bound;
  std::vector<reference::Tensor> results;
  std::vector<HostTensor> answers;
};

} // namespace luminal::tools

#endif // LUMINAL_TOOLS_REFERENCE_REFERENCEPROGRAM_H
