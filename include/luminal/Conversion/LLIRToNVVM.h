//===- LLIRToNVVM.h - From kernels to PTX for NVIDIA GPUs -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The GPU backend of the kernel emitter: it writes the code of one thread,
// lowers it to the nvvm and llvm dialects and translates these to PTX, which
// `ptxas` or the driver assembles. A CUDA toolkit is needed only for kernels
// that use libdevice: transcendental functions of f64 and floating-point
// remainders.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_CONVERSION_LLIRTONVVM_H
#define LUMINAL_CONVERSION_LLIRTONVVM_H

#include "luminal/Conversion/LLIRToLLVM.h"

namespace luminal {

/// Appends the GPU function of `kernel` to `dest`:
///
///   void kernel(void *const *buffers, const int64_t *symbols, int32_t *status)
///
/// It differs from `emitKernel` in that the blocks of a one-dimensional grid of
/// any size share the work items, each with as many threads as the schedule
/// says, and that *status becomes 1 if an index was out of range. Schedules are
/// verified against `machine`. With `startsEarly` (see canStartEarly) the
/// kernel is launched before earlier kernels have ended and waits for them
/// itself (griddepcontrol).
mlir::FailureOr<KernelInfo>
emitGPUKernel(llir::KernelOp kernel, llvm::StringRef symbol,
              mlir::ModuleOp dest, llvm::ArrayRef<hlir::SymbolEntry> symbols,
              const MachineModel &machine, bool startsEarly = false);

/// Whether `arch` supports programmatic dependent launch: sm_90 and later.
bool canStartEarly(llvm::StringRef arch);

void registerLLIRToNVVMDialects(mlir::DialectRegistry &registry);

/// Lowers functions of emitGPUKernel to the nvvm and llvm dialects.
mlir::LogicalResult lowerToNVVM(mlir::ModuleOp module);

/// Whether kernels can be compiled for `arch` (`sm_80`, `sm_90a`). If not, the
/// reason is in *error.
bool isGPUArchitecture(llvm::StringRef arch, std::string *error);

/// Translates a module that lowerToNVVM returned to PTX for `arch`. Functions
/// of libdevice are linked from the file `libdevice` or, if it is empty, from
/// the CUDA toolkit found by CUDA_HOME, CUDA_PATH or the location of `ptxas`.
/// On failure std::nullopt, with an error at the module.
std::optional<std::string> translateToPTX(mlir::ModuleOp module,
                                          llvm::StringRef arch,
                                          llvm::StringRef libdevice = "");

/// Assembles PTX for `arch` with the `ptxas` of PATH or of a CUDA toolkit; an
/// empty string if there is none. On failure the reason is in *error.
mlir::FailureOr<std::string>
assemblePTX(llvm::StringRef text, llvm::StringRef arch, std::string *error);

/// Directories where a CUDA toolkit may be: CUDA_HOME, CUDA_PATH, that of
/// `ptxas`, and the default one.
std::vector<std::string> getToolkits();

/// Registers `--llir-to-ptx`: from planned kernels to PTX text.
void registerLLIRToPTXTranslation();

} // namespace luminal

#endif // LUMINAL_CONVERSION_LLIRTONVVM_H
