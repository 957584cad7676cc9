//===- luminal-opt.cpp - Passes and pipelines over .mlir files ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/InitAll.h"
#include "luminal/Support/MemoryFile.h"
#include "luminal/Support/OutputFile.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
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
  // MLIR's main aborts if it cannot write a file, so it writes to memory. It
  // returns 1 for every failure; this project reserves 1 for negative results.
  auto run = [&]() -> luminal::Result<int> {
    // MLIR's main would not report this as an error.
    if (input != "-" && !llvm::sys::fs::exists(input))
      return luminal::Error(input + ": cannot be opened");
    LUMINAL_TRY(file, luminal::OutputFile::create(output));
    LUMINAL_TRY(memory, luminal::MemoryFile::create());
    bool isGood = succeeded(
        mlir::MlirOptMain(argc, argv, input, memory.getPath(), registry));
    // Keep the output printed before an error, for inspection.
    if (!isGood && output != "-")
      return 2;
    LUMINAL_TRY(text, memory.read());
    LUMINAL_CHECK(file.keep(text.text()));
    return isGood ? 0 : 2;
  };
  luminal::Result<int> code = run();
  if (!code)
    llvm::errs() << "luminal-opt: error: " << code.error().message << "\n";
  return code ? *code : 2;
}
