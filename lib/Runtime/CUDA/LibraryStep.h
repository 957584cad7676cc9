//===- LibraryStep.h - A step that a library or a user's code does --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_RUNTIME_CUDA_LIBRARYSTEP_H
#define LUMINAL_LIB_RUNTIME_CUDA_LIBRARYSTEP_H

#include "CUDADevice.h"

namespace luminal::runtime::cuda {

/// A step of a plan that a library or a user's code does. What it starts holds
/// the sizes and addresses that it was started with.
class LibraryStep {
public:
  virtual ~LibraryStep();
  /// The step that does `launch`; null for the launch of a kernel. `custom` is
  /// the function of a user's code.
  static Result<std::unique_ptr<LibraryStep>>
  create(CUDADevice &device, const StepSpec &step, KernelHandle custom);

  /// Makes it ready for sizes (the values of the launch's expressions) and for
  /// memory. What takes time is done once for the same sizes; that may use
  /// `stream`, and the workspace of the step.
  virtual Status prepare(std::span<const int64_t> sizes,
                         std::span<void *const> buffers,
                         StreamHandle stream) = 0;
  /// Puts the step, as it was prepared last, on a stream that may be captured.
  virtual Status start(StreamHandle stream) = 0;
};

/// The step for a launch of a user's function, which has been verified. It has
/// `buffers` buffers.
Result<std::unique_ptr<LibraryStep>>
createCustomStep(CUDADevice &device, const CUDACustomLaunch &launch,
                 size_t buffers, FunctionHandle function);

/// The step for a launch of cuBLASLt.
Result<std::unique_ptr<LibraryStep>>
createMatmulStep(CUDADevice &device, const CublasLtLaunch &launch);

} // namespace luminal::runtime::cuda

#endif // LUMINAL_LIB_RUNTIME_CUDA_LIBRARYSTEP_H
