//===- luminal-translate.cpp - Other formats to .mlir files ---------------===//

#include "luminal/Target/PT2.h"
#include "mlir/Tools/mlir-translate/MlirTranslateMain.h"

int main(int argc, char **argv) {
  luminal::registerImportPT2Translation();
  // MLIR's main answers 1 for every failure; ours keeps 1 for a program's own
  // "no".
  return failed(mlir::mlirTranslateMain(argc, argv,
                                        "Luminal translation driver\n"))
             ? 2
             : 0;
}
