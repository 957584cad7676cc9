//===- Compile.cpp - luminal_compile of the library with the compiler -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Pipelines/Compile.h"
#include "Error.h"
#include "luminal/InitAll.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

using namespace luminal;
using luminal::capi::fail;

/// Parses one option of luminal-compile; false if it has no meaning here or its
/// value is wrong.
static bool takeOption(llvm::StringRef text, CompileOptions &options) {
  auto [name, value] = text.split('=');
  if (text == "--embed-weights")
    options.embedWeights = true;
  else if (text == "--allow-missing-weights")
    options.allowMissingWeights = true;
  else if (text == "--quiet")
    return true;
  else if (value.empty())
    return false;
  else if (name == "--target")
    options.target = value.str();
  else if (name == "--arch")
    options.arch = value.str();
  else if (name == "--weights")
    options.weights = value.str();
  else if (name == "--library")
    options.library = value.str();
  else if (name == "--precision")
    options.precision = value.str();
  else if (name == "--report")
    options.report = value.str();
  else if (name == "--eqsat-rules")
    options.rules.push_back(value.str());
  else if (name == "--eqsat-rule-sets")
    for (llvm::StringRef set : llvm::split(value, ','))
      options.ruleSets.push_back(set.str());
  else if (name == "--seed")
    return !value.getAsInteger(10, options.seed);
  else if (name == "--threads")
    return !value.getAsInteger(10, options.threads);
  else if (name == "--workers")
    return !value.getAsInteger(10, options.workers);
  else if (name == "--max-ulps")
    return !value.getAsDouble(options.maxUlps);
  else if (name.consume_front("--eqsat-"))
    return options.limits.set(name, value);
  else
    // Programs are chosen by estimates only: measuring is not supported here.
    return text == "--search-budget=0";
  return true;
}

luminal_status luminal_compile(const char *input, const char *const *texts,
                               size_t numOptions, const char *output) {
  if (!input || !output || (!texts && numOptions > 0))
    return fail("luminal_compile: null argument");
  CompileOptions options;
  options.input = input;
  options.output = output;
  for (size_t i = 0; i < numOptions; ++i)
    if (!texts[i] || !takeOption(texts[i], options))
      return fail(std::string("luminal_compile: bad option '") +
                  (texts[i] ? texts[i] : "") + "'");
  // Rules and passes are registered once per process.
  static const bool registered = (registerAllPasses(), true);
  (void)registered;
  mlir::DialectRegistry registry;
  registerAllDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  // The first error names the cause.
  std::string message;
  mlir::ScopedDiagnosticHandler handler(
      &context, [&](mlir::Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() != mlir::DiagnosticSeverity::Error ||
            !message.empty())
          return mlir::success();
        llvm::raw_string_ostream stream(message);
        mlir::Location loc = diagnostic.getLocation();
        if (auto place = loc->findInstanceOf<mlir::FileLineColLoc>()) {
          stream << place.getFilename().getValue() << ":";
          if (place.getLine() > 0)
            stream << place.getLine() << ":" << place.getColumn() << ":";
          stream << " ";
        }
        stream << diagnostic;
        return mlir::success();
      });
  if (mlir::failed(compile(context, options)))
    return fail(message.empty() ? "compiling failed" : message);
  return LUMINAL_OK;
}
