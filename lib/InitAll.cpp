//===- InitAll.cpp - The only list of what exists -------------------------===//

#include "luminal/InitAll.h"
#include "luminal/Conversion/LLIRToLLVM.h"
#include "luminal/Conversion/Passes.h"
#include "luminal/Dialect/HLIR/IR/HLIR.h"
#include "luminal/Dialect/LLIR/IR/LLIR.h"
#include "luminal/Dialect/LLIR/Transforms/Passes.h"
#include "luminal/EqSat/Passes.h"
#include "luminal/EqSat/Rules.h"
#include "luminal/Pipelines/Pipelines.h"
#include "luminal/Support/Version.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/PDL/IR/PDL.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/CommandLine.h"

void luminal::registerAllDialects(mlir::DialectRegistry &registry) {
  registry.insert<mlir::func::FuncDialect, mlir::pdl::PDLDialect,
                  hlir::HLIRDialect, llir::LLIRDialect>();
  registerLLIRToLLVMDialects(registry);
}

void luminal::registerAllPasses() {
  mlir::registerTransformsPasses();
  eqsat::registerAllRuleSets();
  eqsat::registerLuminalEqSatPasses();
  llir::registerLLIRPasses();
  registerConversionPasses();
  registerPipelines();
}

void luminal::setVersionPrinter() {
  llvm::cl::SetVersionPrinter([](llvm::raw_ostream &os) {
    os << "Luminal " LUMINAL_VERSION " (LLVM " LLVM_VERSION_STRING ")\n";
  });
}
