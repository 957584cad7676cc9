//===- luminal-translate.cpp - Other formats to and from .mlir ------------===//

#include "luminal/Conversion/LLIRToNVVM.h"
#include "luminal/InitAll.h"
#include "luminal/Target/PT2.h"
#include "mlir/Tools/mlir-translate/MlirTranslateMain.h"

int main(int argc, char **argv) {
  luminal::setVersionPrinter();
  luminal::registerImportPT2Translation();
  luminal::registerLLIRToPTXTranslation();
  // MLIR's main answers 1 for every failure; ours keeps 1 for a program's own
  // "no".
  return failed(mlir::mlirTranslateMain(argc, argv,
                                        "Luminal translation driver\n"))
             ? 2
             : 0;
}
