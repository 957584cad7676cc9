//===- Translation.cpp - luminal-translate --llir-to-ptx ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mlir/Tools/mlir-translate/Translation.h"
#include "luminal/Conversion/LLIRToNVVM.h"
#include "luminal/Dialect/LLIR/Schedules/Schedules.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/CommandLine.h"

using namespace luminal;
using namespace mlir;

/// Emits every kernel of the module, except those inside another kernel. The
/// enclosing function provides the symbols and the name.
static LogicalResult emitAll(ModuleOp module, ModuleOp code,
                             const MachineModel &machine) {
  auto result = module.walk<WalkOrder::PreOrder>([&](llir::KernelOp kernel) {
    auto func = kernel->getParentOfType<func::FuncOp>();
    ArrayRef<hlir::SymbolEntry> symbols;
    if (auto table = func->getAttrOfType<hlir::SymbolsAttr>(hlir::kSymbolsAttr))
      symbols = table.getEntries();
    SmallString<32> name(func.getSymName());
    for (unsigned i = 0; code.lookupSymbol(name); ++i)
      name = (func.getSymName() + "_" + Twine(i)).str();
    if (!kernel.getLoops()) {
      KernelAnalysis::SymbolRanges ranges;
      for (const hlir::SymbolEntry &entry : symbols)
        ranges[std::string(entry.name)] = entry.range;
      kernel.setLoopsAttr(llir::proposeLoops(kernel, ranges, machine).loops);
    }
    if (failed(emitGPUKernel(kernel, name, code, symbols, machine)))
      return WalkResult::interrupt();
    return WalkResult::skip();
  });
  return failure(result.wasInterrupted());
}

void luminal::registerLLIRToPTXTranslation() {
  static llvm::cl::opt<std::string> arch(
      "gpu-arch", llvm::cl::desc("GPU architecture of --llir-to-ptx"),
      llvm::cl::init("sm_80"));
  static TranslateFromMLIRRegistration registration(
      "llir-to-ptx", "PTX of every llir.kernel of a module",
      [](ModuleOp module, raw_ostream &os) -> LogicalResult {
        // Only dialects that the parser encountered are loaded.
        module.getContext()->loadAllAvailableDialects();
        OwningOpRef<ModuleOp> code = ModuleOp::create(module.getLoc());
        if (failed(emitAll(module, *code, MachineModel::getGPU(arch))) ||
            failed(lowerToNVVM(*code)))
          return failure();
        std::optional<std::string> text = translateToPTX(*code, arch);
        if (!text)
          return failure();
        os << *text;
        return success();
      },
      [](DialectRegistry &registry) {
        registry
            .insert<func::FuncDialect, hlir::HLIRDialect, llir::LLIRDialect>();
        registerLLIRToNVVMDialects(registry);
      });
}
