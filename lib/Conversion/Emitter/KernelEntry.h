//===- KernelEntry.h - The function around the code of a kernel -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the function of a kernel is given and how workers share its units, for
// one kind of device each (docs/Architecture.md, "The kernel function").
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

  /// The worker that schedules are verified against.
  virtual MachineModel getMachine() const = 0;

  /// A function without a body. The first two arguments are the tables of
  /// buffers and of symbols.
  virtual mlir::LLVM::LLVMFuncOp declare(mlir::ImplicitLocOpBuilder &b,
                                         llvm::StringRef symbol) const = 0;
  /// The address of buffer `number`, as a generic pointer.
  virtual mlir::Value loadBuffer(mlir::ImplicitLocOpBuilder &b,
                                 mlir::Value table, int64_t number) const;

  /// Bytes of which every buffer begins at a multiple.
  virtual unsigned getBufferAlignment() const { return 1; }

  /// LLVM's name of the scope of all workers that share units; empty: all
  /// threads.
  virtual llvm::StringRef getSyncScope() const { return ""; }
  /// What comes before all that reads or writes buffers.
  virtual void begin(Emitter &e) const {}

  /// Units that may be done, whichever case of the schedule applies; both
  /// values are there at the entry.
  struct Units {
    mlir::Value begin, end;
  };
  virtual Units getUnits(Emitter &e, mlir::Block &entry) const = 0;
  /// Emits the units of the case `e.loopCase` by `form`, in [units.begin,
  /// units.end).
  virtual WorkShape
  emitCase(Emitter &e, mlir::Block &entry, Units units,
           llvm::function_ref<WorkShape(const WorkLoop &)> form) const = 0;
  /// Returns from the function.
  virtual void finish(Emitter &e, mlir::Block &entry) const = 0;
};

/// Writes the function to the end of `dest`, as emitKernel says.
mlir::FailureOr<KernelInfo>
emitFunction(llir::KernelOp kernel, llvm::StringRef symbol,
             const KernelEntry &kind, mlir::ModuleOp dest,
             llvm::ArrayRef<hlir::SymbolEntry> symbols);

/// Reads an entry of a table that does not change while the kernel runs.
mlir::Value loadInvariant(mlir::ImplicitLocOpBuilder &b, mlir::Type type,
                          mlir::Value base, int64_t index);

} // namespace luminal

#endif // LUMINAL_LIB_CONVERSION_EMITTER_KERNELENTRY_H
