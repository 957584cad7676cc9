//===- Compile.cpp - luminal_compile of the library with the compiler -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Compile.h"
#include "Error.h"
#include "Handles.h"
#include "luminal/InitAll.h"
#include "luminal/Support/MemoryFile.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

using namespace luminal;
using luminal::capi::Diagnostics;
using luminal::capi::fail;
using luminal::capi::takeOption;

bool luminal::capi::takeOption(llvm::StringRef text, CompileOptions &options) {
  auto [name, value] = text.split('=');
  if (text == "--embed-weights")
    options.embedWeights = true;
  else if (text == "--allow-missing-weights")
    options.allowMissingWeights = true;
  else if (text == "--refuse-costly")
    options.refuseCostly = true;
  else if (text == "--check-kernels")
    options.checkKernels = true;
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
  else if (name == "--plan-cache")
    options.planCache = value.str();
  else if (name == "--plan-cache-mode")
    options.planCacheMode = value.str();
  else if (name == "--search-budget")
    return !value.getAsDouble(options.searchSeconds);
  else if (name == "--search-candidates")
    return !value.getAsInteger(10, options.searchCandidates);
  else if (name == "--search-schedules")
    return !value.getAsInteger(10, options.searchSchedules);
  else if (name == "--variant")
    options.variants.push_back(value.str());
  else if (name == "--find-variants")
    options.findVariants = value.str();
  else if (name == "--sample-input")
    options.sampleInputs.push_back(value.str());
  else if (name == "--fuse")
    options.fuse = value.str();
  else if (name == "--roll")
    options.roll = value.str();
  else if (name == "--prepare-bytes")
    return !value.getAsInteger(10, options.prepareBytes);
  else if (name == "--precision")
    options.precision = value.str();
  else if (name == "--emit") {
    options.emit = getPhase(value);
    return options.emit && *options.emit != Phase::Binary;
  } else if (name == "--report")
    options.report = value.str();
  else if (name == "--eqsat-rules")
    options.rules.push_back(value.str());
  else if (name == "--eqsat-rule-seconds")
    return !value.getAsDouble(options.ruleSeconds);
  else if (name == "--kernels")
    options.kernels.push_back(value.str());
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
    return false;
  return true;
}

void Diagnostics::report(mlir::Diagnostic &diagnostic,
                         luminal_severity severity) {
  if (!request.diagnose)
    return;
  mlir::Location loc = diagnostic.getLocation();
  std::string message = diagnostic.str(), node, file;
  luminal_diagnostic given = {};
  given.struct_size = sizeof given;
  if (auto name = loc->findInstanceOf<mlir::NameLoc>())
    node = name.getName().str();
  if (auto place = loc->findInstanceOf<mlir::FileLineColLoc>();
      place && place.getLine() > 0) {
    file = place.getFilename().str();
    given.line = place.getLine();
  }
  given.severity = severity;
  given.message = message.c_str();
  given.node = node.c_str();
  given.file = file.c_str();
  request.diagnose(request.diagnose_data, &given);
}

void Diagnostics::take(mlir::Diagnostic &diagnostic) {
  const bool isError =
      diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error;
  if (!isError && diagnostic.getSeverity() != mlir::DiagnosticSeverity::Warning)
    return;
  report(diagnostic,
         isError ? LUMINAL_SEVERITY_ERROR : LUMINAL_SEVERITY_WARNING);
  for (mlir::Diagnostic &note : diagnostic.getNotes())
    report(note, LUMINAL_SEVERITY_NOTE);
  // Keep the first error, which names the cause.
  if (!isError || !firstError.empty())
    return;
  llvm::raw_string_ostream stream(firstError);
  mlir::Location loc = diagnostic.getLocation();
  if (auto place = loc->findInstanceOf<mlir::FileLineColLoc>()) {
    stream << place.getFilename().getValue() << ":";
    if (place.getLine() > 0)
      stream << place.getLine() << ":" << place.getColumn() << ":";
    stream << " ";
  }
  stream << diagnostic;
}

/// Compiles as `options` say; `request` holds the texts of the options and the
/// diagnostics callback.
static luminal_status run(const char *function, CompileOptions options,
                          const luminal_compile_request &request) {
  for (size_t i = 0; i < request.num_options; ++i)
    if (const char *text = request.options[i];
        !text || !takeOption(text, options))
      return fail(std::string(function) + ": bad option '" +
                  (text ? text : "") + "'");
  // Rules and passes are registered once per process.
  static const bool registered = (registerAllPasses(), true);
  (void)registered;
  mlir::DialectRegistry registry;
  registerAllDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  Diagnostics diagnostics(request);
  mlir::ScopedDiagnosticHandler handler(&context,
                                        [&](mlir::Diagnostic &diagnostic) {
                                          diagnostics.take(diagnostic);
                                          return mlir::success();
                                        });
  // A failure before the first phase is an invalid option; a failure in it is
  // an import error.
  luminal_error_code code = LUMINAL_ERROR_ARGUMENT;
  options.progress = [&](llvm::StringRef phase) {
    code = phase == "imported" ? LUMINAL_ERROR_IMPORT : LUMINAL_ERROR_COMPILE;
  };
  if (mlir::succeeded(compile(context, options)))
    return LUMINAL_OK;
  return fail(diagnostics.getFirstError().empty() ? "compiling failed"
                                                  : diagnostics.getFirstError(),
              code);
}

luminal_status luminal_compile(const char *input, const char *const *texts,
                               size_t numOptions, const char *output) {
  if (!input || !output || (!texts && numOptions > 0))
    return fail("luminal_compile: null argument");
  CompileOptions options;
  options.input = input;
  options.output = output;
  luminal_compile_request request = {};
  request.options = texts;
  request.num_options = numOptions;
  return run("luminal_compile", std::move(options), request);
}

/// Describes what is wrong with a request, whatever its input; "" if nothing
/// is.
static std::string checkRequest(const char *function,
                                const luminal_compile_request *request) {
  std::string start = std::string(function) + ": ";
  if (!request)
    return start + "null argument";
  if (request->struct_size < sizeof(luminal_compile_request))
    return start + "struct_size is not set";
  if (!request->name || (!request->options && request->num_options > 0))
    return start + "null argument";
  return "";
}

luminal_status luminal_compile_file(const luminal_compile_request *request,
                                    const char *output) {
  std::string problem = checkRequest("luminal_compile_file", request);
  if (problem.empty() && !output)
    problem = "luminal_compile_file: null argument";
  if (!problem.empty())
    return fail(problem);
  CompileOptions options;
  options.input = request->name;
  options.output = output;
  return run("luminal_compile_file", std::move(options), *request);
}

luminal_status luminal_compile_bytes(const luminal_compile_request *request,
                                     luminal_buffer **artifact) {
  std::string problem = checkRequest("luminal_compile_bytes", request);
  if (problem.empty() &&
      (!artifact || (!request->input && request->input_size > 0)))
    problem = "luminal_compile_bytes: null argument";
  if (!problem.empty())
    return fail(problem);
  Result<MemoryFile> file = MemoryFile::create();
  if (!file)
    return fail(file.takeError().message, LUMINAL_ERROR_OTHER);
  Bytes bytes;
  bytes.data = static_cast<const uint8_t *>(request->input);
  bytes.size = request->input_size;
  CompileOptions options;
  options.input = request->name;
  options.inputBytes = bytes;
  options.output = file->getPath();
  if (run("luminal_compile_bytes", std::move(options), *request))
    return LUMINAL_ERROR;
  Result<Bytes> made = file->read();
  if (!made)
    return fail(made.takeError().message, LUMINAL_ERROR_OTHER);
  *artifact = new luminal_buffer{std::move(*made)};
  return LUMINAL_OK;
}
