//===- luminal-lsp-server.cpp - Language server of .mlir files ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Replies.h"
#include "luminal/InitAll.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "llvm/Support/CommandLine.h"

namespace cl = llvm::cl;

enum class Style { Standard, Delimited };
enum class Log { Error, Info, Verbose };

/// Parses the command line first: MLIR's main registers its options only when
/// it runs, and ends the process on invalid usage.
static bool checkCommandLine(int argc, char **argv) {
  cl::opt<Style> style(
      "input-style", cl::desc("How messages are separated"),
      cl::values(clEnumValN(Style::Standard, "standard", "by their lengths"),
                 clEnumValN(Style::Delimited, "delimited", "by // -----")));
  cl::opt<Log> log(
      "log", cl::desc("What is logged on standard error"),
      cl::values(clEnumValN(Log::Error, "error", "errors"),
                 clEnumValN(Log::Info, "info", "all messages"),
                 clEnumValN(Log::Verbose, "verbose", "everything")));
  cl::opt<bool> pretty("pretty", cl::desc("Format answers for people"));
  cl::opt<bool> test("lit-test", cl::desc("Settings for tests"));
  if (!luminal::parseCommandLine(argc, argv, "Luminal language server\n"))
    return false;
  for (cl::Option *option :
       std::initializer_list<cl::Option *>{&style, &log, &pretty, &test})
    option->removeArgument();
  cl::ResetAllOptionOccurrences();
  return true;
}

int main(int argc, char **argv) {
  luminal::hideLibraryOptions();
  if (!checkCommandLine(argc, argv))
    return 2;
  mlir::DialectRegistry registry;
  luminal::registerAllDialects(registry);
  ReplyFilter filter;
  return filter && succeeded(mlir::MlirLspServerMain(argc, argv, registry)) ? 0
                                                                            : 2;
}
