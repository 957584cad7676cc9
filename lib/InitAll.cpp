//===- InitAll.cpp - The only list of what exists -------------------------===//

#include "luminal/InitAll.h"
#include "luminal/Dialect/HLIR/IR/HLIR.h"
#include "luminal/Dialect/LLIR/IR/LLIR.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

void luminal::registerAllDialects(mlir::DialectRegistry &registry) {
  registry
      .insert<mlir::func::FuncDialect, hlir::HLIRDialect, llir::LLIRDialect>();
}

void luminal::registerAllPasses() {}
