//===- LLIRToLLVM.h - From kernels to objects for a CPU -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiles kernels: `emitKernel` writes the function of docs/Architecture.md
// ("The kernel function") in scf, arith, math, vector and llvm ops;
// `lowerToLLVM` brings a module of such functions to the llvm dialect;
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

/// The processor that code is compiled for.
struct CPUTarget {
  /// Triple, LLVM's name of the processor, and its features as LLVM writes them
  /// (`+avx512f,-sse4a`).
  std::string triple;
  std::string cpu;
  std::string features;
  /// Bits of the widest vectors that are faster than narrower ones on this
  /// processor, and the number of vector registers. Emitters, LLVM's tuning
  /// features and function attributes all use these.
  unsigned vectorBits = 128;
  unsigned vectorRegisters = 16;
  /// Whether an instruction multiplies pairs of bf16 (AVX512_BF16).
  bool hasPairs = false;
  /// Whether it has AMX tiles of bf16 and the operating system allows them.
  bool hasTiles = false;
  /// Caches and rates of the machine.
  MachineModel model;

  /// Elements of `bits` bits in one vector.
  unsigned getLanes(unsigned bits) const {
    return std::max(1u, vectorBits / bits);
  }
  /// One core of the machine, as schedules see it.
  MachineModel getMachine() const;
  /// `arch` is `native` or LLVM's name of a processor (`znver4`, `x86-64-v3`).
  /// On failure std::nullopt, with the reason in *error. `measured`, for
  /// `native` only, is the calibrated model of this machine.
  static std::optional<CPUTarget> get(llvm::StringRef arch, std::string *error,
                                      const MachineModel *measured = nullptr);
};

/// Bits of the widest vectors that are faster than narrower ones on a processor
/// with AVX-512; std::nullopt if `cpu` is not in the table of processors.
std::optional<unsigned> getProfitableVectorBits(llvm::StringRef cpu);
/// Bytes of the L1 data cache, from the same table.
std::optional<int64_t> getFirstCacheBytes(llvm::StringRef cpu);

/// What the schedule of a kernel states, over the symbols of the program.
struct KernelInfo {
  std::string symbol;
  /// Extent of the work range.
  Expr work;
  /// The smallest part of the work range that is worth a separate thread.
  Expr grain;
  /// Scratch bytes per thread, aligned to 64.
  Expr scratch;
  /// Whether the work range may be split at all.
  bool parallel = false;
  /// GPU: the number of blocks that fit at once; a launch with any number of
  /// blocks computes everything.
  Expr blocks;
  /// GPU: dynamic shared memory of a block, in bytes.
  Expr shared;
  /// Requirements of the code on the symbols, besides those of the ops.
  std::vector<Requirement> requirements;
};

/// Appends the function `symbol`, which runs `kernel` as its schedule says, to
/// `dest`. `symbols` are the program's, in the order in which the function
/// receives their values. The code depends on the kernel alone, not on its
/// context, so equal kernels give equal functions. On failure the error is at
/// the op, and `dest` is unchanged.
mlir::FailureOr<KernelInfo>
emitKernel(llir::KernelOp kernel, llvm::StringRef symbol,
           const CPUTarget &target, mlir::ModuleOp dest,
           llvm::ArrayRef<hlir::SymbolEntry> symbols);

/// Registers the dialects that `emitKernel` and `lowerToLLVM` use, and the code
/// of LLIR's ops (Emission.td).
void registerLLIRToLLVMDialects(mlir::DialectRegistry &registry);

/// Lowers the functions that emitKernel wrote to the llvm dialect.
mlir::LogicalResult lowerToLLVM(mlir::ModuleOp module);

/// The LLVM passes that both backends run on kernels. The emitters have
/// vectorised already; LLVM's vectorisers are left out because they only cost
/// compile time.
void optimizeModule(llvm::Module &module, llvm::TargetMachine &machine);

/// A relocatable object of a module in the llvm dialect. On failure null, with
/// the error at the module.
std::unique_ptr<llvm::MemoryBuffer> compileToObject(mlir::ModuleOp module,
                                                    const CPUTarget &target);

/// Links `objects` to a shared object, in process. It depends only on the C
/// library and libm.so.6. On failure null, with the reason in *error.
std::unique_ptr<llvm::MemoryBuffer>
linkSharedObject(llvm::ArrayRef<llvm::MemoryBufferRef> objects,
                 std::string *error);

} // namespace luminal

#endif // LUMINAL_CONVERSION_LLIRTOLLVM_H
