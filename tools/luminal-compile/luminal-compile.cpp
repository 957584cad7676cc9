//===- luminal-compile.cpp - Programs to artifacts ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/InitAll.h"
#include "luminal/Pipelines/Compile.h"
#include "luminal/Pipelines/TimeKernel.h"
#include "luminal/Runtime/Machine.h"
#include "luminal/Tools/Reference/ReferenceMain.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Support/Timing.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ThreadPool.h"
#include "llvm/Support/raw_ostream.h"

namespace cl = llvm::cl;
using namespace luminal;

namespace {
/// The command line (DESIGN: other programs depend on these names).
struct Arguments {
  cl::OptionCategory category{"luminal-compile options"};
  cl::opt<std::string> input{
      cl::Positional, cl::desc("<model.pt2 | model.mlir>"), cl::cat(category)};
  cl::opt<std::string> output{"o", cl::desc("Artifact to write"),
                              cl::value_desc("file"), cl::cat(category)};
  cl::opt<std::string> target{"target", cl::init("cpu"),
                              cl::desc("Kind of device: cpu or cuda"),
                              cl::cat(category)};
  cl::opt<std::string> arch{"arch", cl::init("native"),
                            cl::desc("Which device of that kind: native, a "
                                     "processor by LLVM's name, sm_90a, ..."),
                            cl::cat(category)};
  cl::opt<bool> calibrate{
      "calibrate", cl::cat(category),
      cl::desc("Measure this machine for every later compile for native")};
  cl::opt<std::string> planCache{
      "plan-cache", cl::desc("Folder of what was measured (~/.cache/luminal)"),
      cl::value_desc("folder"), cl::cat(category)};
  cl::opt<std::string> emit{
      "emit", cl::cat(category),
      cl::desc("Stop after a phase and write the module: imported, rolled, "
               "saturated, fused, scheduled or lowered")};
  cl::opt<double> searchBudget{
      "search-budget", cl::init(0),
      cl::desc("Seconds for measuring candidates; 0 measures none"),
      cl::cat(category)};
  cl::opt<uint64_t> searchCandidates{
      "search-candidates", cl::init(1),
      cl::desc("Candidates to measure; 1 measures none"), cl::cat(category)};
  cl::opt<uint64_t> seed{"seed", cl::init(0),
                         cl::desc("Seed of random choices; 0: none is random"),
                         cl::cat(category)};
  cl::list<std::string> sampleInputs{
      "sample-input", cl::desc("Input to measure candidates with (.npy)"),
      cl::cat(category)};
  cl::opt<unsigned> threads{"threads", cl::init(0),
                            cl::desc("Threads of the compiler; 0 is all"),
                            cl::cat(category)};
  cl::opt<unsigned> workers{"workers", cl::init(0),
                            cl::desc("Workers of schedules; 0: the machine's"),
                            cl::cat(category)};
  cl::opt<std::string> weights{
      "weights", cl::value_desc("file"), cl::cat(category),
      cl::desc("Archive or .safetensors file that holds the weights")};
  cl::opt<bool> embedWeights{"embed-weights",
                             cl::desc("Put the weights into the artifact"),
                             cl::cat(category)};
  cl::opt<int64_t> prepareBytes{
      "prepare-bytes", cl::init(-1), cl::value_desc("bytes"), cl::cat(category),
      cl::desc("Memory for what is computed once, from weights; 0: none")};
  cl::list<std::string> rules{"eqsat-rules",
                              cl::desc(".mlir file of pdl.pattern ops to add"),
                              cl::value_desc("file"), cl::cat(category)};
  cl::list<std::string> ruleSets{
      "eqsat-rule-sets", cl::CommaSeparated, cl::value_desc("name,..."),
      cl::desc("Compiled-in rule sets to use, or none (default: all)"),
      cl::cat(category)};
  cl::opt<std::string> explain{
      "eqsat-explain", cl::value_desc("file"), cl::cat(category),
      cl::desc("File for the proof of the program (also in the report)")};
  cl::list<std::string> explainValues{
      "eqsat-explain-values", cl::CommaSeparated, cl::value_desc("name,name"),
      cl::desc("Explain instead why two values are equal"), cl::cat(category)};
  cl::opt<std::string> roll{
      "roll", cl::init("on"), cl::cat(category),
      cl::desc("Whether repeated layers are saturated once: on or off")};
  cl::opt<std::string> library{
      "library", cl::init("all"), cl::cat(category),
      cl::desc("Libraries that may be called: all, none, or one by name")};
  cl::opt<std::string> precision{
      "precision", cl::init("finite"), cl::cat(category),
      cl::desc("Rules that may be used: exact, rounding or finite")};
  cl::opt<double> maxUlps{
      "max-ulps", cl::init(1e300),
      cl::desc("Leave out rules that promise less precision, in ulp"),
      cl::cat(category)};
#define LUMINAL_EQSAT_LIMIT(TYPE, FIELD, NAME, DEFAULT, TEXT)                  \
  cl::opt<TYPE> FIELD{"eqsat-" NAME, cl::init(DEFAULT), cl::desc(TEXT),        \
                      cl::cat(category)};
#include "luminal/EqSat/Core/Limits.def"
  cl::opt<double> time{
      "time", cl::init(0), cl::value_desc("seconds"),
      cl::desc("Write nothing: run the program (.mlir) on random operands, for "
               "so long a measurement, and print the seconds of one run"),
      cl::cat(category)};
  cl::opt<std::string> report{"report", cl::desc("File for a report as JSON"),
                              cl::value_desc("file"), cl::cat(category)};
  cl::opt<std::string> remarks{
      "remarks-filter",
      cl::desc("Print what the import (import-pt2) and the passes of these "
               "names decided, and why"),
      cl::value_desc("regex"), cl::cat(category)};
  cl::opt<bool> quiet{"quiet", cl::desc("No progress on stderr"),
                      cl::cat(category)};

  llvm::Expected<CompileOptions> get() const;
  llvm::Error enableRemarks(mlir::MLIRContext &context) const;
};
} // namespace

/// LLVM's libraries register options too; on a name clash, theirs is removed.
static void freeNames(llvm::ArrayRef<llvm::StringRef> names) {
  auto &known = cl::getRegisteredOptions();
  for (llvm::StringRef name : names)
    if (cl::Option *option = known.lookup(name))
      option->removeArgument();
}

llvm::Expected<CompileOptions> Arguments::get() const {
  auto bad = [](const llvm::Twine &message) {
    return llvm::createStringError(message);
  };
  CompileOptions options;
  if (input.empty())
    return bad("no model; see --help");
  if (emit.getNumOccurrences()) {
    options.emit = getPhase(llvm::StringRef(emit));
    if (!options.emit || *options.emit == Phase::Binary)
      return bad("no phase '" + emit +
                 "' to stop after; known are: imported, rolled, saturated, "
                 "fused, scheduled, lowered");
  } else if (output.empty() && !time.getNumOccurrences()) {
    return bad("no output; use -o model.lum");
  }
  if (searchBudget != 0 || searchCandidates != 1 || !sampleInputs.empty())
    return bad("measured search is not supported; use --search-budget=0");
  options.input = input;
  options.output = output;
  options.target = target;
  options.arch = arch;
  options.planCache = planCache;
  options.seed = seed;
  options.threads = threads;
  options.workers = workers;
  options.weights = weights;
  options.embedWeights = embedWeights;
  options.prepareBytes = prepareBytes;
  options.rules = {rules.begin(), rules.end()};
  options.ruleSets = {ruleSets.begin(), ruleSets.end()};
  if (explain.empty() && !explainValues.empty())
    return bad("--eqsat-explain-values needs --eqsat-explain=FILE");
  options.explain = explain;
  options.explainValues = {explainValues.begin(), explainValues.end()};
  options.precision = precision;
  options.library = library;
  options.roll = roll;
  options.maxUlps = maxUlps;
#define LUMINAL_EQSAT_LIMIT(TYPE, FIELD, NAME, DEFAULT, TEXT)                  \
  options.limits.FIELD = FIELD;
#include "luminal/EqSat/Core/Limits.def"
  options.report = report;
  if (!quiet && llvm::sys::Process::StandardErrIsDisplayed())
    options.progress = [](llvm::StringRef phase) {
      llvm::errs() << "luminal-compile: " << phase << "\n";
    };
  return options;
}

llvm::Error Arguments::enableRemarks(mlir::MLIRContext &context) const {
  if (remarks.empty())
    return llvm::Error::success();
  std::string problem;
  if (!llvm::Regex(remarks).isValid(problem))
    return llvm::createStringError("--remarks-filter: " + problem);
  mlir::remark::RemarkCategories categories;
  categories.passed = categories.missed = remarks;
  categories.analysis = categories.failed = remarks;
  if (failed(mlir::remark::enableOptimizationRemarks(
          context, /*streamer=*/nullptr,
          std::make_unique<mlir::remark::RemarkEmittingPolicyAll>(), categories,
          /*printAsEmitRemarks=*/true)))
    return llvm::createStringError("--remarks-filter: cannot be set up");
  return llvm::Error::success();
}

static int fail(const llvm::Twine &message) {
  llvm::errs() << "luminal-compile: error: " << message << "\n";
  return 2;
}

static int calibrate(const std::string &folder) {
  std::string path = runtime::getMachineFile(folder);
  if (path.empty())
    return fail("--calibrate: there is no folder to keep the model in; name "
                "one by --plan-cache");
  Result<MachineModel> model = runtime::calibrate(path);
  if (!model)
    return fail("--calibrate: " + model.error().message);
  llvm::outs() << path << ": " << model->str(2) << "\n";
  return 0;
}

/// Prints how long the program takes on the device.
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
  time.threads = std::max(1u, options.threads);
  time.seconds = seconds;
  auto each = timeProgram(context, (*text)->getBuffer(), time);
  if (failed(each))
    return 2;
  llvm::outs() << llvm::format("%.9f\n", *each);
  return 0;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  // `luminal-run --reference` hands over here: the runtime has no interpreter.
  if (argc > 1 && llvm::StringRef(argv[1]) == "--reference") {
    llvm::SmallVector<llvm::StringRef> rest(argv + 2, argv + argc);
    return tools::runReference(rest);
  }
  freeNames({"o", "target", "arch", "emit", "seed", "threads", "weights",
             "precision", "report", "quiet", "calibrate", "plan-cache"});
  Arguments arguments;
  // Before the options that name passes.
  registerAllPasses();
  mlir::registerAsmPrinterCLOptions();
  mlir::registerMLIRContextCLOptions();
  mlir::registerPassManagerCLOptions();
  mlir::registerDefaultTimingManagerCLOptions();
  // Options of LLVM and MLIR are listed by --help-hidden.
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
  // Messages do not include a model's whole text unless requested.
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
  llvm::SourceMgr sources;
  mlir::SourceMgrDiagnosticHandler diagnostics(sources, &context);
  if (arguments.time.getNumOccurrences())
    return timeInput(context, *options, arguments.time);
  return failed(compile(context, *options)) ? 2 : 0;
}
