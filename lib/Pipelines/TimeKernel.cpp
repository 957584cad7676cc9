//===- TimeKernel.cpp - Times a kernel on this machine --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Pipelines/TimeKernel.h"
#include "BoundProgram.h"
#include "luminal/Pipelines/Compile.h"
#include "luminal/Support/MemoryFile.h"
#include "luminal/Support/OutputFile.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"

#include <algorithm>

using namespace mlir;
using namespace luminal;

/// The median of several measurements. Each averages as many runs as fill the
/// requested time.
static Result<double> timeBound(BoundProgram &program,
                                const TimeOptions &options) {
  constexpr unsigned kMostRepeats = 1 << 20;
  unsigned repeats = 1;
  while (true) {
    LUMINAL_TRY(each, program.time(repeats));
    if (each * repeats >= options.seconds || repeats >= kMostRepeats)
      break;
    repeats *= 2;
  }
  std::vector<double> times;
  for (unsigned round = 0; round < std::max(1u, options.rounds); ++round) {
    LUMINAL_TRY(each, program.time(repeats));
    times.push_back(each);
  }
  std::nth_element(times.begin(), times.begin() + times.size() / 2,
                   times.end());
  return times[times.size() / 2];
}

FailureOr<double> luminal::timeProgram(MLIRContext &context, StringRef text,
                                       const TimeOptions &options) {
  Location place = FileLineColLoc::get(&context, "kernel", 0, 0);
  Result<MemoryFile> source = MemoryFile::create(), code = MemoryFile::create();
  if (!source || !code)
    return emitError(place) << "no memory for the program's text and code";
  if (Status status = writeFileAtomically(source->getPath(), {text.str()});
      !status)
    return emitError(place) << status.error().message;
  CompileOptions compileOptions;
  compileOptions.input = source->getPath();
  compileOptions.output = code->getPath();
  compileOptions.target = options.target;
  compileOptions.arch = options.arch;
  compileOptions.workers = options.workers;
  compileOptions.planCache = options.planCache;
  compileOptions.kernels = options.kernels;
  compileOptions.allowMissingWeights = true;
  if (failed(compile(context, compileOptions)))
    return failure();
  runtime::LoadOptions load;
  load.findWeightsFile = false;
  Result<std::shared_ptr<const runtime::Artifact>> artifact =
      runtime::Artifact::load(code->getPath(), load);
  if (!artifact)
    return emitError(place) << artifact.error().message;
  Operands operands(Operands::Values::Positive);
  auto program = BoundProgram::create(*artifact, options.threads,
                                      options.symbols, operands);
  if (!program)
    return emitError(place) << program.error().message;
  Result<double> seconds = timeBound(**program, options);
  if (!seconds)
    return emitError(place) << seconds.error().message;
  return *seconds;
}

FailureOr<double> luminal::timeKernel(llir::KernelOp kernel,
                                      ArrayRef<hlir::SymbolEntry> symbols,
                                      const TimeOptions &options) {
  MLIRContext *context = kernel->getContext();
  context->loadDialect<func::FuncDialect>();
  OwningOpRef<ModuleOp> module = ModuleOp::create(kernel.getLoc());
  OpBuilder b = OpBuilder::atBlockEnd(module->getBody());
  auto function =
      func::FuncOp::create(b, kernel.getLoc(), "main",
                           b.getFunctionType(kernel.getInputs().getTypes(),
                                             kernel.getResultTypes()));
  if (!symbols.empty())
    function->setAttr(hlir::kSymbolsAttr,
                      hlir::SymbolsAttr::get(context, symbols));
  Block *body = function.addEntryBlock();
  b.setInsertionPointToStart(body);
  IRMapping map;
  map.map(kernel.getInputs(), body->getArguments());
  Operation *copy = b.clone(*kernel, map);
  // An in-place state would change from run to run.
  cast<llir::KernelOp>(copy).setInPlace(false);
  func::ReturnOp::create(b, kernel.getLoc(), copy->getResults());
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream);
  return timeProgram(*context, text, options);
}
