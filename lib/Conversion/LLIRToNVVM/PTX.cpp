//===- PTX.cpp - The nvvm dialect to PTX text -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Conversion/LLIRToNVVM.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Linker/Linker.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/IPO/Internalize.h"

using namespace luminal;
using namespace mlir;

/// The path of libdevice in a toolkit, or an empty string.
static std::string findLibdevice() {
  for (const std::string &root : getToolkits()) {
    llvm::SmallString<128> path(root);
    llvm::sys::path::append(path, "nvvm", "libdevice", "libdevice.10.bc");
    if (llvm::sys::fs::exists(path))
      return path.str().str();
  }
  return "";
}

static bool needsLibdevice(const llvm::Module &module) {
  return llvm::any_of(module, [](const llvm::Function &fn) {
    return fn.isDeclaration() && fn.getName().starts_with("__nv_");
  });
}

/// Links the functions of libdevice that the module calls, and hides everything
/// but the kernels.
static LogicalResult linkLibdevice(llvm::Module &module, StringRef path,
                                   ModuleOp from) {
  std::string file = path.empty() ? findLibdevice() : path.str();
  if (file.empty())
    return from.emitError("the kernels call functions of libdevice, and no "
                          "CUDA toolkit that has it was found");
  llvm::SMDiagnostic diagnostic;
  std::unique_ptr<llvm::Module> device =
      llvm::parseIRFile(file, diagnostic, module.getContext());
  if (!device)
    return from.emitError("reading libdevice: ") << diagnostic.getMessage();
  device->setTargetTriple(module.getTargetTriple());
  device->setDataLayout(module.getDataLayout());
  llvm::StringSet<> kernels;
  for (const llvm::Function &fn : module)
    if (!fn.isDeclaration())
      kernels.insert(fn.getName());
  if (llvm::Linker::linkModules(module, std::move(device),
                                llvm::Linker::LinkOnlyNeeded))
    return from.emitError("linking libdevice failed");
  llvm::internalizeModule(module, [&](const llvm::GlobalValue &value) {
    return kernels.contains(value.getName());
  });
  return success();
}

static const llvm::Triple &getTriple() {
  static const llvm::Triple triple("nvptx64-nvidia-cuda");
  return triple;
}

static const llvm::Target *getTarget(std::string *error) {
  static bool once =
      (LLVMInitializeNVPTXTarget(), LLVMInitializeNVPTXTargetInfo(),
       LLVMInitializeNVPTXTargetMC(), LLVMInitializeNVPTXAsmPrinter(), true);
  (void)once;
  return llvm::TargetRegistry::lookupTarget(getTriple(), *error);
}

bool luminal::isGPUArchitecture(StringRef arch, std::string *error) {
  const llvm::Target *target = getTarget(error);
  if (!target)
    return false;
  std::unique_ptr<llvm::MCSubtargetInfo> known(
      target->createMCSubtargetInfo(getTriple(), "", ""));
  unsigned number = 0;
  StringRef digits = arch;
  if (!digits.consume_front("sm_") || digits.consumeInteger(10, number) ||
      !known->isCPUStringValid(arch)) {
    *error = "unknown GPU architecture '" + arch.str() + "'";
    return false;
  }
  // The first architecture with bf16 and asynchronous copies to shared memory.
  constexpr unsigned kOldest = 80;
  if (number < kOldest) {
    *error = "kernels need sm_" + std::to_string(kOldest) +
             " or newer, found " + arch.str();
    return false;
  }
  return true;
}

bool luminal::canStartEarly(StringRef arch) {
  constexpr unsigned kOldest = 90;
  unsigned number = 0;
  return arch.consume_front("sm_") && !arch.consumeInteger(10, number) &&
         number >= kOldest;
}

/// Replaces 64-bit subtractions of values extended from 32 bits by additions of
/// the extended negation. `ptxas` 13.0 for sm_90 fuses such a subtraction with
/// the `mul.hi.u32` of a division by a constant; the upper half of the
/// difference is then off by one if 0 is subtracted.
static void addNegations(llvm::Module &module) {
  using namespace llvm::PatternMatch;
  for (llvm::Function &fn : module)
    for (llvm::Instruction &i : llvm::make_early_inc_range(instructions(fn))) {
      llvm::Value *from, *narrow;
      if (!match(&i, m_Sub(m_Value(from), m_ZExt(m_Value(narrow)))) ||
          !i.getType()->isIntegerTy(64) || !narrow->getType()->isIntegerTy(32))
        continue;
      // The negation of a larger value would not fit the sign.
      if (!llvm::computeKnownBits(narrow, module.getDataLayout())
               .isNonNegative())
        continue;
      llvm::IRBuilder<> b(&i);
      llvm::Value *sum =
          b.CreateAdd(from, b.CreateSExt(b.CreateNeg(narrow), i.getType()));
      i.replaceAllUsesWith(sum);
      i.eraseFromParent();
    }
}

std::optional<std::string>
luminal::translateToPTX(ModuleOp module, StringRef arch, StringRef libdevice) {
  std::string error;
  if (!isGPUArchitecture(arch, &error)) {
    module.emitError(error);
    return std::nullopt;
  }
  const llvm::Target *target = getTarget(&error);
  const llvm::Triple &triple = getTriple();
  std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(
      triple, arch, "", llvm::TargetOptions(), std::nullopt));
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> ir = translateModuleToLLVMIR(module, context);
  if (!ir) {
    module.emitError("the kernels have no LLVM form");
    return std::nullopt;
  }
  ir->setTargetTriple(triple);
  ir->setDataLayout(machine->createDataLayout());
  // Flags for libdevice: keep denormals, exact division and square root.
  ir->addModuleFlag(llvm::Module::Override, "nvvm-reflect-ftz", 0u);
  if (needsLibdevice(*ir) && failed(linkLibdevice(*ir, libdevice, module)))
    return std::nullopt;
  optimizeModule(*ir, *machine);
  addNegations(*ir);
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager codegen;
  if (machine->addPassesToEmitFile(codegen, stream, nullptr,
                                   llvm::CodeGenFileType::AssemblyFile)) {
    module.emitError("no PTX for ") << arch;
    return std::nullopt;
  }
  codegen.run(*ir);
  return text.str().str();
}
