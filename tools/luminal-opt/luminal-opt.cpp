//===- luminal-opt.cpp - Passes and pipelines over .mlir files ------------===//

#include "luminal/InitAll.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  luminal::setVersionPrinter();
  mlir::DialectRegistry registry;
  luminal::registerAllDialects(registry);
  luminal::registerAllPasses();
  // MLIR's main answers 1 for every failure; ours keeps 1 for a program's own
  // "no".
  return failed(mlir::MlirOptMain(argc, argv, "Luminal optimizer driver\n",
                                  registry))
             ? 2
             : 0;
}
