//===- LLIRToNVVM.h - Kernels as code of an NVIDIA GPU --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The second backend of the kernel emitter: the code of one thread, lowered to
// the nvvm and llvm dialects and from there to PTX, which `ptxas` or the driver
// turns into machine code. No toolkit is needed, except for libdevice where a
// kernel has transcendental functions of f64 or a remainder of floats.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_CONVERSION_LLIRTONVVM_H
#define LUMINAL_CONVERSION_LLIRTONVVM_H

#include "luminal/Conversion/LLIRToLLVM.h"

namespace luminal {

/// Writes the GPU function of `kernel` to the end of `dest`:
///
///   void kernel(void *const *buffers, const int64_t *symbols, int32_t *status)
///
/// as `emitKernel` does, except that the blocks of a one-dimensional grid of
/// any size share all units of work, the threads of a block being as many as
/// the schedule says, and that *status becomes 1 where an index was out of
/// range. Schedules are verified against `machine`. With `startsEarly`, for
/// architectures that have it (canStartEarly), the kernel itself waits for what
/// was launched before it (griddepcontrol).
mlir::FailureOr<KernelInfo>
emitGPUKernel(llir::KernelOp kernel, llvm::StringRef symbol,
              mlir::ModuleOp dest, llvm::ArrayRef<hlir::SymbolEntry> symbols,
              const MachineModel &machine, bool startsEarly = false);

/// Whether kernels for `arch` can wait for others: sm_90 and later.
bool canStartEarly(llvm::StringRef arch);

void registerLLIRToNVVMDialects(mlir::DialectRegistry &registry);

/// Lowers the functions that emitGPUKernel wrote to the nvvm and llvm dialects.
mlir::LogicalResult lowerToNVVM(mlir::ModuleOp module);

/// Whether kernels can be compiled for `arch` (`sm_80`, `sm_90a`); the reason
/// in *error if not.
bool isGPUArchitecture(llvm::StringRef arch, std::string *error);

/// The PTX text of such a module for `arch` (`sm_80`, `sm_90a`). Functions of
/// libdevice are linked from the file `libdevice`, or, if it is empty, from the
/// CUDA toolkit that CUDA_HOME, CUDA_PATH or the location of `ptxas` gives. On
/// failure std::nullopt, with an error at the module.
std::optional<std::string> translateToPTX(mlir::ModuleOp module,
                                          llvm::StringRef arch,
                                          llvm::StringRef libdevice = "");

/// Machine code for `arch` of PTX text, by the `ptxas` of the path or of a CUDA
/// toolkit; empty where there is none. On failure the reason is in *error.
mlir::FailureOr<std::string>
assemblePTX(llvm::StringRef text, llvm::StringRef arch, std::string *error);

/// Folders where a CUDA toolkit may be: what CUDA_HOME and CUDA_PATH name, that
/// of `ptxas`, the usual one.
std::vector<std::string> getToolkits();

/// Registers `--llir-to-ptx`: from planned kernels to PTX text.
void registerLLIRToPTXTranslation();

} // namespace luminal

#endif // LUMINAL_CONVERSION_LLIRTONVVM_H
