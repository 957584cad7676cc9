//===- ConvertLLIRToLLVM.cpp - Functions of kernels to llvm functions -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   func.func private @k0(%x) { kernel map(%x) }  -->  llvm.func @k0(...)
//   step @k0(%b) writes(%c)                       -->  step ... launch <...>
//
// Tested by test/Conversion/LLIRToLLVM.
//
//===----------------------------------------------------------------------===//

#include "luminal/Conversion/LLIRToLLVM.h"
#include "luminal/Conversion/Passes.h"
#include "luminal/Dialect/LLIR/Utils/Remarks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace luminal {
#define GEN_PASS_DEF_CONVERTLLIRTOLLVMPASS
#include "luminal/Conversion/Passes.h.inc"
} // namespace luminal

#define DEBUG_TYPE "convert-llir-to-llvm"

using namespace mlir;
using namespace luminal;

namespace {
class ConvertLLIRToLLVM
    : public luminal::impl::ConvertLLIRToLLVMPassBase<ConvertLLIRToLLVM> {
public:
  using ConvertLLIRToLLVMPassBase::ConvertLLIRToLLVMPassBase;
  void runOnOperation() override;

private:
  FailureOr<KernelInfo> convert(func::FuncOp func, llir::KernelOp kernel,
                                const CPUTarget &target, ModuleOp dest);
};
} // namespace

/// The kernel of a function that holds nothing else.
static llir::KernelOp getOnlyKernel(func::FuncOp func) {
  if (func.isDeclaration() || !llvm::hasSingleElement(func.getBody()))
    return {};
  auto body = func.getBody().front().without_terminator();
  if (!llvm::hasSingleElement(body))
    return {};
  return dyn_cast<llir::KernelOp>(*body.begin());
}

FailureOr<KernelInfo> ConvertLLIRToLLVM::convert(func::FuncOp func,
                                                 llir::KernelOp kernel,
                                                 const CPUTarget &target,
                                                 ModuleOp dest) {
  ArrayRef<hlir::SymbolEntry> symbols;
  if (auto table = func->getAttrOfType<hlir::SymbolsAttr>(hlir::kSymbolsAttr))
    symbols = table.getEntries();
  return emitKernel(kernel, func.getSymName(), target, dest, symbols);
}

/// What the schedule is told of a kernel.
static void tellLaunch(llir::KernelOp kernel, const KernelInfo &info,
                       StringRef pass) {
  Reporter reporter(kernel.getContext(), pass, info.symbol);
  if (reporter.isListening())
    reporter.analysis(kernel.getLoc(), "launch",
                      {{"kernel", describe(kernel)},
                       {"work", info.work.str()},
                       {"grain", info.grain.str()},
                       {"scratch", info.scratch.str()}});
}

void ConvertLLIRToLLVM::runOnOperation() {
  ModuleOp module = getOperation();
  std::string error;
  std::optional<CPUTarget> target = CPUTarget::get(arch, &error);
  if (!target) {
    module.emitError(error);
    return signalPassFailure();
  }
  OwningOpRef<ModuleOp> code = ModuleOp::create(module.getLoc());
  SmallVector<func::FuncOp> done;
  llvm::StringMap<KernelInfo> infos;
  SmallVector<Requirement> requirements;
  for (auto func : module.getOps<func::FuncOp>()) {
    llir::KernelOp kernel = getOnlyKernel(func);
    if (!kernel)
      continue;
    FailureOr<KernelInfo> info = convert(func, kernel, *target, *code);
    if (failed(info))
      return signalPassFailure();
    tellLaunch(kernel, *info, DEBUG_TYPE);
    infos[func.getSymName()] = *info;
    hlir::addRequirements(requirements, info->requirements);
    done.push_back(func);
  }
  if (!keepLoops && failed(lowerToLLVM(*code)))
    return signalPassFailure();
  for (func::FuncOp func : done)
    func.erase();
  Block &body = *module.getBody();
  body.getOperations().splice(body.end(), code->getBody()->getOperations());
  for (auto schedule : module.getOps<llir::ScheduleOp>()) {
    SmallVector<Requirement> all = hlir::getRequirements(schedule);
    hlir::addRequirements(all, requirements);
    hlir::setRequirements(schedule, all);
  }
  module.walk([&](llir::StepOp step) {
    auto it = infos.find(step.getCallee());
    if (it == infos.end())
      return;
    const KernelInfo &info = it->second;
    std::array<Expr, 3> launch = {info.work, info.grain, info.scratch};
    step.setLaunchAttr(hlir::MapAttr::get(&getContext(), 0, launch));
    step.setParallel(info.parallel);
  });
}
