//===- LibraryStep.h - A step run by a library or user code ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_RUNTIME_CUDA_LIBRARYSTEP_H
#define LUMINAL_LIB_RUNTIME_CUDA_LIBRARYSTEP_H

#include "CUDADevice.h"

namespace luminal::runtime::cuda {

/// A step that a library or user code executes. Work that it submits holds the
/// sizes and addresses of that moment.
class LibraryStep {
public:
  virtual ~LibraryStep();
  /// Creates the step for `step.launch`; null if that is a kernel's. `custom`
  /// is the function of user code.
  static Result<std::unique_ptr<LibraryStep>>
  create(CUDADevice &device, const StepSpec &step, KernelHandle custom);

  /// Sets sizes (the values of the launch's expressions) and buffers. Expensive
  /// preparation is done once per sizes, and may use `stream` and the step's
  /// workspace.
  virtual Status prepare(std::span<const int64_t> sizes,
                         std::span<void *const> buffers,
                         StreamHandle stream) = 0;
  /// Submits the step, as last prepared, to a stream, which may be capturing.
  virtual Status start(StreamHandle stream) = 0;
};

/// Creates the step for a verified launch of a user function. The step has
/// `buffers` buffers.
Result<std::unique_ptr<LibraryStep>>
createCustomStep(CUDADevice &device, const CUDACustomLaunch &launch,
                 size_t buffers, FunctionHandle function);

/// Creates the step for a cuBLASLt launch.
Result<std::unique_ptr<LibraryStep>>
createMatmulStep(CUDADevice &device, const CublasLtLaunch &launch);

} // namespace luminal::runtime::cuda

#endif // LUMINAL_LIB_RUNTIME_CUDA_LIBRARYSTEP_H
