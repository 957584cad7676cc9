//===- ReferenceMain.cpp - luminal-run --reference -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Tools/Reference/ReferenceMain.h"
#include "luminal/InitAll.h"
#include "luminal/Pipelines/Compile.h"
#include "luminal/Support/OutputFile.h"
#include "luminal/Tools/Reference/ReferenceProgram.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::tools;

static int fail(const std::string &message) {
  llvm::errs() << "luminal-run: error: " << message << "\n";
  return 2;
}

int tools::runReference(ArrayRef<StringRef> arguments) {
  removeTemporaryFilesOnSignals();
  CompileOptions options;
  RunOptions run;
  for (StringRef argument : arguments) {
    Result<bool> known = run.parse(argument);
    if (!known)
      return fail(known.error().message);
    if (*known || argument.starts_with("--threads=") ||
        argument == "--device=cpu")
      continue;
    if (argument.consume_front("--weights="))
      options.weights = argument.str();
    else if (argument.consume_front("--kernels="))
      options.kernels.push_back(argument.str());
    else if (argument.starts_with("-"))
      return fail("'" + argument.str() + "' is not an option of --reference");
    else if (options.input.empty())
      options.input = argument.str();
    else
      return fail("two models: '" + options.input + "' and '" + argument.str() +
                  "'");
  }
  if (options.input.empty())
    return fail("no model");
  DialectRegistry registry;
  registerAllDialects(registry);
  MLIRContext context(registry);
  context.printOpOnDiagnostic(false);
  llvm::SourceMgr sources;
  SourceMgrDiagnosticHandler diagnostics(sources, &context);
  OwningOpRef<ModuleOp> module = readInput(context, options);
  if (!module)
    return 2;
  auto functions = module->getOps<func::FuncOp>();
  if (!llvm::hasSingleElement(functions))
    return fail(options.input + ": expects one function");
  FailureOr<UserKernels> kernels =
      UserKernels::load(&context, options.kernels, /*target=*/nullptr);
  if (failed(kernels))
    return 2;
  ReferenceProgram program(*functions.begin(),
                           options.weights.empty() ? options.input
                                                   : options.weights,
                           std::move(*kernels));
  if (Status status = program.load(); !status)
    return fail(status.error().message);
  Result<int> code = runProgram(program, run);
  return code ? *code : fail(code.error().message);
}
