//===- CPUEntry.cpp - Functions of kernels on a CPU -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "KernelEntry.h"

using namespace luminal;
using namespace mlir;

namespace {
/// i32 (ptr buffers, ptr symbols, i64 begin, i64 end, ptr scratch)
class CPUEntry : public KernelEntry {
public:
  explicit CPUEntry(MachineModel machine) : machine(machine) {}

  MachineModel getMachine() const override { return machine; }

  LLVM::LLVMFuncOp declare(ImplicitLocOpBuilder &b,
                           StringRef symbol) const override {
    Type ptr = LLVM::LLVMPointerType::get(b.getContext());
    Type i64 = b.getI64Type();
    return LLVM::LLVMFuncOp::create(
        b, symbol,
        LLVM::LLVMFunctionType::get(b.getI32Type(), {ptr, ptr, i64, i64, ptr}));
  }

  Units getUnits(Emitter &, Block &entry) const override {
    return {entry.getArgument(2), entry.getArgument(3)};
  }

  WorkShape
  emitCase(Emitter &e, Block &entry, Units units,
           function_ref<WorkShape(const WorkLoop &)> form) const override {
    WorkLoop loop;
    loop.begin = units.begin;
    loop.end = units.end;
    loop.step = e.constant(1);
    loop.scratch = entry.getArgument(4);
    return form(loop);
  }

  void finish(Emitter &e, Block &) const override {
    // Non-temporal stores must be visible before the kernel ends. On x86 a
    // weaker fence would emit no instruction.
    if (llvm::any_of(e.kernel.getLoops()->getCases(),
                     [](llir::LoopCaseAttr c) { return c.getNontemporal(); }))
      LLVM::FenceOp::create(e.b, LLVM::AtomicOrdering::seq_cst);
    LLVM::ReturnOp::create(e.b, e.getStatus());
  }

private:
  MachineModel machine;
};
} // namespace

FailureOr<KernelInfo> luminal::emitKernel(llir::KernelOp kernel,
                                          StringRef symbol,
                                          const CPUTarget &target,
                                          ModuleOp dest,
                                          ArrayRef<hlir::SymbolEntry> symbols) {
  return emitFunction(kernel, symbol, CPUEntry(target.getMachine()), dest,
                      symbols);
}
