//===- luminal-reduce.cpp - Smaller modules that still fail ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/InitAll.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Reducer/Passes.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"

namespace cl = llvm::cl;
void registerReduceOpsPass();

static llvm::LogicalResult fail(const llvm::Twine &message) {
  llvm::errs() << "luminal-reduce: error: " << message << "\n";
  return llvm::failure();
}

int main(int argc, char **argv) {
  luminal::hideLibraryOptions();
  mlir::DialectRegistry registry;
  luminal::registerAllDialects(registry);
  luminal::registerAllPasses();
  registerReduceOpsPass();
  mlir::registerReducerPasses();
  cl::opt<std::string> input(cl::Positional, cl::Required);
  cl::opt<std::string> output("o", cl::desc("File to write"), cl::init("-"));
  mlir::PassPipelineCLParser passes("", "Reductions to run");
  if (!luminal::parseCommandLine(argc, argv, "Luminal test case reducer\n"))
    return 2;
  mlir::MLIRContext context(registry);
  llvm::SourceMgr sources;
  mlir::SourceMgrDiagnosticHandler diagnostics(sources, &context);
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(input, sources, &context);
  if (!module)
    return 2;
  std::string problem;
  // Of candidates that are no valid module nobody needs to hear.
  mlir::ScopedDiagnosticHandler collect(
      &context, [&](mlir::Diagnostic &diag) { problem = diag.str(); });
  mlir::PassManager pm(&context);
  if (failed(passes.addToPipeline(pm, fail)))
    return 2;
  auto file = mlir::openOutputFile(output, &problem);
  if (!file || failed(pm.run(*module)))
    return failed(fail(problem)) ? 2 : 0;
  module->print(file->os());
  file->keep();
}
