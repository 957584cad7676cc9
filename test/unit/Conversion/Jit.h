//===- Jit.h - Runs generated loops inside a unit test --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_TEST_UNIT_CONVERSION_JIT_H
#define LUMINAL_TEST_UNIT_CONVERSION_JIT_H

#include "luminal/Conversion/LLIRToLLVM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/TargetSelect.h"

namespace luminal {

/// Adds `void name(ptr x arguments)`, its body built by `body`.
inline void addFunction(mlir::ImplicitLocOpBuilder &b, llvm::StringRef name,
                        unsigned arguments,
                        llvm::function_ref<void(mlir::ValueRange)> body) {
  using namespace mlir;
  OpBuilder::InsertionGuard guard(b);
  SmallVector<Type> types(arguments,
                          LLVM::LLVMPointerType::get(b.getContext()));
  auto type = LLVM::LLVMFunctionType::get(
      LLVM::LLVMVoidType::get(b.getContext()), types);
  auto fn = LLVM::LLVMFuncOp::create(b, name, type);
  Block *block = fn.addEntryBlock(b);
  b.setInsertionPointToStart(block);
  body(block->getArguments());
  LLVM::ReturnOp::create(b, ValueRange());
}

/// A module built by a callback, lowered as kernels are and compiled for the
/// host.
class Jit {
public:
  explicit Jit(llvm::function_ref<void(mlir::ImplicitLocOpBuilder &)> build) {
    using namespace mlir;
    static bool once = (llvm::InitializeNativeTarget(),
                        llvm::InitializeNativeTargetAsmPrinter(), true);
    (void)once;
    DialectRegistry registry;
    registerLLIRToLLVMDialects(registry);
    MLIRContext context(registry);
    context.loadAllAvailableDialects();
    ImplicitLocOpBuilder b(UnknownLoc::get(&context), &context);
    OwningOpRef<ModuleOp> module = ModuleOp::create(b.getLoc());
    b.setInsertionPointToEnd(module->getBody());
    build(b);
    if (failed(lowerToLLVM(*module)))
      return;
    auto llvmContext = std::make_unique<llvm::LLVMContext>();
    std::unique_ptr<llvm::Module> ir =
        translateModuleToLLVMIR(*module, *llvmContext);
    if (!ir)
      return;
    auto target = cantFail(llvm::orc::JITTargetMachineBuilder::detectHost());
    jit = cantFail(
        llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(target).create());
    cantFail(jit->addIRModule(
        llvm::orc::ThreadSafeModule(std::move(ir), std::move(llvmContext))));
  }

  /// Null if the module did not lower.
  template <typename Fn>
  Fn lookup(llvm::StringRef name) {
    return jit ? cantFail(jit->lookup(name)).toPtr<Fn>() : nullptr;
  }

private:
  std::unique_ptr<llvm::orc::LLJIT> jit;
};

} // namespace luminal

#endif // LUMINAL_TEST_UNIT_CONVERSION_JIT_H
