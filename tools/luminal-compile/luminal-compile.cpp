//===- luminal-compile.cpp - Compiles programs to artifacts ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Arguments.h"
#include "luminal/InitAll.h"
#include "luminal/Pipelines/TimeKernel.h"
#include "luminal/Runtime/Machine.h"
#include "luminal/Tools/Reference/ReferenceMain.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Support/Timing.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ThreadPool.h"
#include "llvm/Support/raw_ostream.h"

#include <csignal>

using namespace luminal;

/// LLVM's libraries register options too; on a name clash, LLVM's is removed.
static void freeNames(llvm::ArrayRef<llvm::StringRef> names) {
  auto &known = cl::getRegisteredOptions();
  for (llvm::StringRef name : names)
    if (cl::Option *option = known.lookup(name))
      option->removeArgument();
}

static int fail(const llvm::Twine &message) {
  llvm::errs() << "luminal-compile: error: " << message << "\n";
  return 2;
}

namespace {
/// The first Ctrl-C ends the search, and compilation continues with the best
/// candidate so far; the next one ends the process as usual.
class StopOnInterrupt {
public:
  void enable(CompileOptions &options) {
    isStopped = 0;
    ::sigaction(SIGINT, nullptr, &before);
    struct sigaction action = {};
    action.sa_handler = [](int) {
      isStopped = 1;
      ::sigaction(SIGINT, &before, nullptr);
    };
    ::sigaction(SIGINT, &action, nullptr);
    options.isStopped = [] { return isStopped != 0; };
  }

private:
  static inline volatile std::sig_atomic_t isStopped = 0;
  static inline struct sigaction before = {};
};
} // namespace

static int calibrate(const std::string &folder) {
  std::string path = runtime::getMachineFile(folder);
  if (path.empty())
    return fail("--calibrate: there is no folder for the model; name one with "
                "--plan-cache");
  Result<MachineModel> model = runtime::calibrate(path);
  if (!model)
    return fail("--calibrate: " + model.error().message);
  llvm::outs() << path << ": " << model->str(2) << "\n";
  return 0;
}

/// Compiles the program and prints its time on the device.
static int timeInput(mlir::MLIRContext &context, const CompileOptions &options,
                     double seconds) {
  if (!(seconds > 0))
    return fail("--time is a positive number of seconds");
  auto text = llvm::MemoryBuffer::getFile(options.input);
  if (!text)
    return fail(options.input + ": " + text.getError().message());
  TimeOptions time;
  time.target = options.target;
  time.arch = options.arch;
  time.workers = options.workers;
  time.planCache = options.planCache;
  time.kernels = options.kernels;
  time.threads = std::max(1u, options.threads);
  time.seconds = seconds;
  auto each = timeProgram(context, (*text)->getBuffer(), time);
  if (failed(each))
    return 2;
  llvm::outs() << llvm::format("%.9f s\n", *each);
  return 0;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  // `luminal-run --reference` runs this program: the runtime has no
  // interpreter.
  if (argc > 1 && llvm::StringRef(argv[1]) == "--reference") {
    llvm::SmallVector<llvm::StringRef> rest(argv + 2, argv + argc);
    return tools::runReference(rest);
  }
  freeNames({"o", "target", "arch", "emit", "seed", "threads", "weights",
             "precision", "report", "quiet", "calibrate", "plan-cache", "fuse",
             "kernels"});
  Arguments arguments;
  // Before parsing options, some of which name passes.
  registerAllPasses();
  mlir::registerAsmPrinterCLOptions();
  mlir::registerMLIRContextCLOptions();
  mlir::registerPassManagerCLOptions();
  mlir::registerDefaultTimingManagerCLOptions();
  // --help-hidden lists the options of LLVM and MLIR.
  cl::HideUnrelatedOptions(arguments.category);
  if (!parseCommandLine(argc, argv, "Luminal compiler\n"))
    return 2;
  if (arguments.calibrate && arguments.input.empty())
    return calibrate(arguments.planCache);
  if (arguments.calibrate)
    return fail("--calibrate takes no model");
  llvm::Expected<CompileOptions> options = arguments.get();
  if (!options)
    return fail(llvm::toString(options.takeError()));

  mlir::DefaultTimingManager timing;
  mlir::applyDefaultTimingManagerCLOptions(timing);
  mlir::TimingScope root = timing.getRootScope();
  options->configure = [&](mlir::PassManager &pm) {
    pm.enableTiming(root);
    return mlir::applyPassManagerCLOptions(pm);
  };
  mlir::DialectRegistry registry;
  registerAllDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  // Diagnostics do not print a model's whole op unless requested.
  if (!cl::getRegisteredOptions()
           .lookup("mlir-print-op-on-diagnostic")
           ->getNumOccurrences())
    context.printOpOnDiagnostic(false);
  std::unique_ptr<llvm::ThreadPoolInterface> pool;
  if (options->threads != 1) {
    pool = std::make_unique<llvm::DefaultThreadPool>(
        llvm::hardware_concurrency(options->threads));
    context.setThreadPool(*pool);
  }
  if (llvm::Error error = arguments.enableRemarks(context))
    return fail(llvm::toString(std::move(error)));
  StopOnInterrupt interrupt;
  if (options->searchSeconds > 0 || options->searchCandidates > 0)
    interrupt.enable(*options);
  llvm::SourceMgr sources;
  mlir::SourceMgrDiagnosticHandler diagnostics(sources, &context);
  if (arguments.time.getNumOccurrences())
    return timeInput(context, *options, arguments.time);
  return failed(compile(context, *options)) ? 2 : 0;
}
