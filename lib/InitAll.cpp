//===- InitAll.cpp - The only list of what exists -------------------------===//

#include "luminal/InitAll.h"
#include "luminal/Dialect/HLIR/IR/HLIR.h"
#include "luminal/Dialect/LLIR/IR/LLIR.h"
#include "luminal/Support/Version.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/CommandLine.h"

void luminal::registerAllDialects(mlir::DialectRegistry &registry) {
  registry
      .insert<mlir::func::FuncDialect, hlir::HLIRDialect, llir::LLIRDialect>();
}

void luminal::registerAllPasses() {}

void luminal::setVersionPrinter() {
  llvm::cl::SetVersionPrinter([](llvm::raw_ostream &os) {
    os << "Luminal " LUMINAL_VERSION " (LLVM " LLVM_VERSION_STRING ")\n";
  });
}
