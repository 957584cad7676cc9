//===- LLIRToLLVM.h - Kernels as machine code of the CPU ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiling one kernel: `emitKernel` writes the function of docs/
// Architecture.md ("The kernel function") in scf, arith, math, vector and llvm
// ops; `lowerToLLVM` brings a module of such functions to the llvm dialect;
// `compileToObject` makes an object file of it and `linkSharedObject` a shared
// object, both in process.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_CONVERSION_LLIRTOLLVM_H
#define LUMINAL_CONVERSION_LLIRTOLLVM_H

#include "luminal/Dialect/LLIR/IR/LLIR.h"
#include "luminal/Support/MachineModel.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/MemoryBuffer.h"

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace luminal {

/// The processor that code is for.
struct CPUTarget {
  /// Triple, LLVM's name of the processor, and its features as LLVM writes them
  /// (`+avx512f,-sse4a`).
  std::string triple;
  std::string cpu;
  std::string features;
  /// Bits of the widest vectors that pay on it, and the number of vector
  /// registers. Emitters, LLVM's tuning features and function attributes all
  /// use these.
  unsigned vectorBits = 128;
  unsigned vectorRegisters = 16;
  /// Whether an instruction multiplies pairs of bf16.
  bool hasPairs = false;
  /// Whether one multiplies tiles of them, and the system at hand allows it.
  bool hasTiles = false;
  /// Its caches and rates.
  MachineModel model;

  /// Elements of `bits` bits in one vector.
  unsigned getLanes(unsigned bits) const {
    return std::max(1u, vectorBits / bits);
  }
  /// One core of it, as schedules see it.
  MachineModel getMachine() const;
  /// `arch` is `native` or a processor's name as LLVM has it (`znver4`,
  /// `x86-64-v3`). On failure std::nullopt, with the reason in *error.
  /// `measured` is the model of the machine at hand, for `native` only.
  static std::optional<CPUTarget> get(llvm::StringRef arch, std::string *error,
                                      const MachineModel *measured = nullptr);
};

/// Bits of the widest vectors that pay on a processor with AVX-512; empty for a
/// name that the table of processors does not list.
std::optional<unsigned> getProfitableVectorBits(llvm::StringRef cpu);
/// Bytes of its first cache; empty for the same names.
std::optional<int64_t> getFirstCacheBytes(llvm::StringRef cpu);

/// What the schedule states of a kernel, over the symbols of the program.
struct KernelInfo {
  std::string symbol;
  /// Extent of the work range.
  Expr work;
  /// The smallest part of it worth a separate thread.
  Expr grain;
  /// Scratch bytes per thread, aligned to 64.
  Expr scratch;
  /// Whether the work range may be split at all.
  bool parallel = false;
  /// Of a GPU: blocks that do all work in one go; any number does it.
  Expr blocks;
  /// Bytes of dynamic shared memory of each.
  Expr shared;
  /// Requirements of its code on the symbols, besides those of its ops.
  std::vector<Requirement> requirements;
};

/// Writes the function `symbol` that runs `kernel`, as its schedule says, to
/// the end of `dest`. `symbols` are the program's, in the order in which the
/// function receives their values. Code depends on the kernel alone (not on its
/// context), so that equal kernels give equal functions. On failure the error
/// is at the op, and `dest` is as before.
mlir::FailureOr<KernelInfo>
emitKernel(llir::KernelOp kernel, llvm::StringRef symbol,
           const CPUTarget &target, mlir::ModuleOp dest,
           llvm::ArrayRef<hlir::SymbolEntry> symbols);

/// Dialects that `emitKernel` and `lowerToLLVM` build ops of, and the code of
/// LLIR's ops (Emission.td).
void registerLLIRToLLVMDialects(mlir::DialectRegistry &registry);

/// Lowers the functions that emitKernel wrote to the llvm dialect.
mlir::LogicalResult lowerToLLVM(mlir::ModuleOp module);

/// The optimisations that both backends run on kernels. Emitters decide what is
/// vectorised: LLVM only cleans up, for its vectorisers would change nothing
/// but compile time.
void optimizeModule(llvm::Module &module, llvm::TargetMachine &machine);

/// A relocatable object of a module of the llvm dialect. On failure null, and
/// the error is at the module.
std::unique_ptr<llvm::MemoryBuffer> compileToObject(mlir::ModuleOp module,
                                                    const CPUTarget &target);

/// A shared object of `objects`, in process. It depends only on the C library
/// and libm.so.6. On failure null, and the reason in *error.
std::unique_ptr<llvm::MemoryBuffer>
linkSharedObject(llvm::ArrayRef<llvm::MemoryBufferRef> objects,
                 std::string *error);

} // namespace luminal

#endif // LUMINAL_CONVERSION_LLIRTOLLVM_H
