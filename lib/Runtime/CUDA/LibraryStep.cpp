//===- LibraryStep.cpp - Creates library and user steps -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "LibraryStep.h"

using namespace luminal;
using namespace luminal::runtime;
using namespace luminal::runtime::cuda;

LibraryStep::~LibraryStep() = default;

Result<std::unique_ptr<LibraryStep>> LibraryStep::create(CUDADevice &device,
                                                         const StepSpec &step,
                                                         KernelHandle custom) {
  if (const auto *matmul = std::get_if<CublasLtLaunch>(&step.launch))
    return createMatmulStep(device, *matmul);
  if (const auto *launch = std::get_if<CUDACustomLaunch>(&step.launch))
    return createCustomStep(device, *launch, step.buffers.size(),
                            static_cast<FunctionHandle>(custom));
  return std::unique_ptr<LibraryStep>();
}
