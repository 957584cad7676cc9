//===- KernelEntry.h - The interface of kernel functions ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The signature of a kernel's function and the distribution of its work items
// among workers. Each kind of device implements this interface
// (docs/Architecture.md, "The kernel function").
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_LIB_CONVERSION_EMITTER_KERNELENTRY_H
#define LUMINAL_LIB_CONVERSION_EMITTER_KERNELENTRY_H

#include "Kernels.h"
#include "luminal/Conversion/LLIRToLLVM.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace luminal {

class KernelEntry {
public:
  virtual ~KernelEntry() = default;

  /// The model of one worker, against which schedules are verified.
  virtual MachineModel getMachine() const = 0;

  /// Declares the function. Its first two arguments are the tables of buffers
  /// and of symbols.
  virtual mlir::LLVM::LLVMFuncOp declare(mlir::ImplicitLocOpBuilder &b,
                                         llvm::StringRef symbol) const = 0;
  /// The address of buffer `number`, as a generic pointer.
  virtual mlir::Value loadBuffer(mlir::ImplicitLocOpBuilder &b,
                                 mlir::Value table, int64_t number) const;

  /// Alignment of every buffer in bytes.
  virtual unsigned getBufferAlignment() const { return 1; }

  /// LLVM's name of the synchronisation scope of all workers; empty: all
  /// threads of the system.
  virtual llvm::StringRef getSyncScope() const { return ""; }
  /// Emits what must precede all accesses to buffers.
  virtual void begin(Emitter &e) const {}

  /// The work items of this worker, for any case of the schedule. Both values
  /// are available at the entry.
  struct Units {
    mlir::Value begin, end;
  };
  virtual Units getUnits(Emitter &e, mlir::Block &entry) const = 0;
  /// Emits the case `e.loopCase` with `form` for the work items [units.begin,
  /// units.end).
  virtual WorkShape
  emitCase(Emitter &e, mlir::Block &entry, Units units,
           llvm::function_ref<WorkShape(const WorkLoop &)> form) const = 0;
  /// Emits the return.
  virtual void finish(Emitter &e, mlir::Block &entry) const = 0;
};

/// Appends the function to `dest`, see emitKernel.
mlir::FailureOr<KernelInfo>
emitFunction(llir::KernelOp kernel, llvm::StringRef symbol,
             const KernelEntry &kind, mlir::ModuleOp dest,
             llvm::ArrayRef<hlir::SymbolEntry> symbols);

/// Loads an entry of a table that is constant while the kernel runs.
mlir::Value loadInvariant(mlir::ImplicitLocOpBuilder &b, mlir::Type type,
                          mlir::Value base, int64_t index);

} // namespace luminal

#endif // LUMINAL_LIB_CONVERSION_EMITTER_KERNELENTRY_H
