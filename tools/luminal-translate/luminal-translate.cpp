//===- luminal-translate.cpp - Translates other formats from and to .mlir -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Conversion/LLIRToNVVM.h"
#include "luminal/InitAll.h"
#include "luminal/Support/OutputFile.h"
#include "luminal/Target/PT2.h"
#include "mlir/IR/AsmState.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-translate/Translation.h"
#include "llvm/Support/SourceMgr.h"

namespace cl = llvm::cl;

static int fail(const llvm::Twine &message) {
  llvm::errs() << "luminal-translate: error: " << message << "\n";
  return 2;
}

int main(int argc, char **argv) {
  luminal::hideLibraryOptions();
  luminal::registerImportPT2Translation();
  luminal::registerLLIRToPTXTranslation();
  mlir::registerAsmPrinterCLOptions();
  mlir::registerMLIRContextCLOptions();
  cl::opt<const mlir::Translation *, false, mlir::TranslationParser>
      translation("", cl::desc("Translation"), cl::Required);
  cl::opt<std::string> input(cl::Positional, cl::init("-"));
  cl::opt<std::string> output("o", cl::desc("File to write"), cl::init("-"));
  if (!luminal::parseCommandLine(argc, argv, "Luminal translation driver\n"))
    return 2;
  std::string problem, text;
  auto buffer = mlir::openInputFile(input, &problem);
  if (!buffer)
    return fail(problem);
  auto sources = std::make_shared<llvm::SourceMgr>();
  sources->AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
  mlir::MLIRContext context;
  mlir::SourceMgrDiagnosticHandler diagnostics(*sources, &context);
  llvm::raw_string_ostream stream(text);
  if (failed((*translation.getValue())(sources, stream, &context)))
    return 2;
  luminal::Status written = luminal::writeFileAtomically(output, {text});
  return written ? 0 : fail(written.error().message);
}
