//===- luminal-reduce.cpp - Reduces modules that fail ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/InitAll.h"
#include "luminal/Support/OutputFile.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Reducer/Passes.h"
#include "llvm/Support/SourceMgr.h"

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
  std::string problem; // Errors of invalid candidates are expected.
  mlir::ScopedDiagnosticHandler collect(
      &context, [&](mlir::Diagnostic &diag) { problem = diag.str(); });
  mlir::PassManager pm(&context);
  if (failed(passes.addToPipeline(pm, fail)))
    return 2;
  auto file = luminal::OutputFile::create(output);
  if (!file || failed(pm.run(*module)))
    return failed(fail(file ? problem : file.error().message)) ? 2 : 0;
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream);
  auto kept = file->keep(text);
  return kept || succeeded(fail(kept.error().message)) ? 0 : 2;
}
