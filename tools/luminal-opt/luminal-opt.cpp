//===- luminal-opt.cpp - Passes and pipelines over .mlir files ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/InitAll.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"

namespace cl = llvm::cl;

int main(int argc, char **argv) {
  luminal::hideLibraryOptions();
  llvm::InitLLVM init(argc, argv);
  mlir::DialectRegistry registry;
  luminal::registerAllDialects(registry);
  luminal::registerAllPasses();
  std::string help =
      mlir::registerCLIOptions("Luminal optimizer driver\n", registry);
  cl::opt<std::string> input(cl::Positional, cl::desc("<input file>"),
                             cl::init("-"));
  cl::opt<std::string> output("o", cl::desc("Output filename"),
                              cl::value_desc("filename"), cl::init("-"));
  if (!luminal::parseCommandLine(argc, argv, help))
    return 2;
  // MLIR's main answers 1 for every failure; ours keeps 1 for a program's own
  // "no".
  return failed(mlir::MlirOptMain(argc, argv, input, output, registry)) ? 2 : 0;
}
