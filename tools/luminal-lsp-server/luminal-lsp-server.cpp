//===- luminal-lsp-server.cpp - Language server of .mlir files ------------===//

#include "luminal/InitAll.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  luminal::setVersionPrinter();
  mlir::DialectRegistry registry;
  luminal::registerAllDialects(registry);
  return failed(mlir::MlirLspServerMain(argc, argv, registry)) ? 2 : 0;
}
