//===- luminal-reduce.cpp - Smaller modules that still fail ---------------===//

#include "luminal/InitAll.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Tools/mlir-reduce/MlirReduceMain.h"

int main(int argc, char **argv) {
  luminal::setVersionPrinter();
  mlir::DialectRegistry registry;
  luminal::registerAllDialects(registry);
  luminal::registerAllPasses();
  mlir::MLIRContext context(registry);
  return failed(mlir::mlirReduceMain(argc, argv, context)) ? 2 : 0;
}
