//===- InitAll.cpp - The only list of what exists -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/InitAll.h"
#include "luminal/Conversion/Passes.h"
#include "luminal/Conversion/Target.h"
#include "luminal/Dialect/HLIR/IR/HLIR.h"
#include "luminal/Dialect/HLIR/Transforms/Passes.h"
#include "luminal/Dialect/LLIR/IR/LLIR.h"
#include "luminal/Dialect/LLIR/Transforms/Passes.h"
#include "luminal/EqSat/Passes.h"
#include "luminal/EqSat/Rules/Rules.h"
#include "luminal/Pipelines/Pipelines.h"
#include "luminal/Support/OutputFile.h"
#include "luminal/Support/Version.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/PDL/IR/PDL.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Debug.h"
#include "llvm/Support/Path.h"

#include <cstdio>
#include <unistd.h>

void luminal::registerAllDialects(mlir::DialectRegistry &registry) {
  registry.insert<mlir::func::FuncDialect, mlir::pdl::PDLDialect,
                  hlir::HLIRDialect, llir::LLIRDialect>();
  registerTargetDialects(registry);
}

void luminal::registerAllPasses() {
  mlir::registerTransformsPasses();
  eqsat::registerAllRuleSets();
  eqsat::registerLuminalEqSatPasses();
  hlir::registerHLIRPasses();
  llir::registerLLIRPasses();
  registerConversionPasses();
  registerPipelines();
}

void luminal::hideLibraryOptions() {
  auto isGeneric = [](const llvm::cl::OptionCategory *category) {
    return category->getName() == "Generic Options"; // --help and --version
  };
  for (auto &entry : llvm::cl::getRegisteredOptions())
    if (entry.second->getOptionHiddenFlag() == llvm::cl::NotHidden &&
        llvm::none_of(entry.second->Categories, isGeneric))
      entry.second->setHiddenFlag(llvm::cl::Hidden);
}

/// What `action` writes to standard error.
static std::string captureErrors(llvm::function_ref<void()> action) {
  llvm::errs().flush();
  std::FILE *file = std::tmpfile();
  int saved = file ? ::dup(STDERR_FILENO) : -1;
  bool isCaught = saved >= 0 && ::dup2(::fileno(file), STDERR_FILENO) >= 0;
  action();
  llvm::errs().flush();
  std::string text;
  if (isCaught) {
    ::dup2(saved, STDERR_FILENO);
    std::rewind(file);
    for (int c; (c = std::fgetc(file)) != EOF;)
      text.push_back(static_cast<char>(c));
  }
  if (saved >= 0)
    ::close(saved);
  if (file)
    std::fclose(file);
  return text;
}

/// -debug-only, which LLVM registers only where it has assertions itself.
/// Builds without assertions have no such output.
static void registerDebugOnly() {
#ifndef NDEBUG
  if (llvm::cl::getRegisteredOptions().contains("debug-only"))
    return;
  static llvm::cl::list<std::string> debugOnly(
      "debug-only", llvm::cl::CommaSeparated,
      llvm::cl::desc("Print what these passes decide"),
      llvm::cl::value_desc("pass,..."),
      llvm::cl::callback([](const std::string &type) {
        static std::vector<std::string> types;
        types.push_back(type);
        std::vector<const char *> names;
        for (const std::string &name : types)
          names.push_back(name.c_str());
        llvm::DebugFlag = true;
        llvm::setCurrentDebugTypes(names.data(), names.size());
      }));
#endif
}

/// MLIR's engine of remarks loses some where several threads tell it of theirs.
static void keepAllRemarks() {
  const auto &options = llvm::cl::getRegisteredOptions();
  auto threading = options.find("mlir-disable-threading");
  bool hasRemarks = llvm::any_of(options, [](const auto &option) {
    return option.first.starts_with("remarks-filter") &&
           option.second->getNumOccurrences();
  });
  if (hasRemarks && threading != options.end() &&
      !threading->second->getNumOccurrences())
    threading->second->addOccurrence(0, threading->first, "true");
}

bool luminal::parseCommandLine(int argc, char **argv,
                               llvm::StringRef overview) {
  llvm::cl::SetVersionPrinter([](llvm::raw_ostream &os) {
    os << "Luminal " LUMINAL_VERSION " (LLVM " LLVM_VERSION_STRING ")\n";
  });
  registerDebugOnly();
  removeTemporaryFilesOnSignals();
  // LLVM's parser reports every error, with hints, and some only on standard
  // error.
  bool isGood = false;
  std::string said = captureErrors([&] {
    isGood =
        llvm::cl::ParseCommandLineOptions(argc, argv, overview, &llvm::errs());
  });
  if (isGood) {
    llvm::errs() << said;
    keepAllRemarks();
    return true;
  }
  llvm::StringRef tool = llvm::sys::path::filename(argv[0]);
  llvm::StringRef problem = llvm::StringRef(said).ltrim().split('\n').first;
  problem.consume_front(tool);
  problem.consume_front(": ");
  problem = problem.split("  Try:").first.rtrim(" .!");
  llvm::errs() << tool << ": error: " << problem << "; see --help\n";
  return false;
}
