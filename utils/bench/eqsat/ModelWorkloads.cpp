//===- ModelWorkloads.cpp - Whole programs with all rules -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Patterns/RuleLoader.h"
#include "Program/Program.h"
#include "Workloads.h"
#include "luminal/EqSat/Passes.h"
#include "luminal/EqSat/Rules/Rules.h"
#include "luminal/InitAll.h"
#include "luminal/Pipelines/Compile.h"
#include "mlir/IR/DialectRegistry.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace luminal::eqsat;
using namespace luminal::eqsat::bench;

std::unique_ptr<MLIRContext> luminal::eqsat::bench::makeContext() {
  DialectRegistry registry;
  luminal::registerAllDialects(registry);
  auto context =
      std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  context->allowUnregisteredDialects();
  context->loadAllAvailableDialects();
  return context;
}

/// What a search begins with: nodes, time, and the state that it changes.
namespace {
struct Search {
  Search(func::FuncOp function)
      : program(function, /*allowUnregistered=*/false),
        natives(program.ops, function) {}
  Program program;
  NativeBridge natives;
};
} // namespace

/// The limits are those of the pass.
static RunnerOptions limits() {
  RunnerOptions options;
  options.staged = true;
  return options;
}

static void runFunction(Figures &figures, func::FuncOp function,
                        const RuleLoader &loader) {
  double build = 0, round = 0, run = 0, extract = 0, compile = 0;
  uint64_t given = 0;
  RunReport report;
  std::optional<FailureOr<ExtractionReport>> extracted;
  const CostModelFactory &cost = *lookupCostModel("static");
  figures.calibrate();
  // The best of three: each of these is short.
  for (unsigned repeat = 0; repeat != 3; ++repeat) {
    auto best = [&](double &figure, double since) {
      double took = now() - since;
      figure = repeat == 0 ? took : std::min(figure, took);
    };
    OwningOpRef<func::FuncOp> copy(function.clone());
    double start = now();
    Search search(*copy);
    if (failed(search.program.import(search.natives.scope())))
      return figures.fail("it does not enter the e-graph");
    best(build, start);
    given = search.program.graph.numNodes();
    start = now();
    auto rules = loader.compile(search.program.ops, search.natives);
    if (failed(rules))
      return figures.fail("its rules cannot be compiled");
    best(compile, start);
    start = now();
    report = saturate(search.program.graph, *rules, limits());
    best(run, start);
    std::unique_ptr<CostModel> model =
        cost(search.natives.scope(), luminal::MachineModel());
    start = now();
    extracted = search.program.extract(*model);
    best(extract, start);
  }
  round = run / double(report.iterations.size());
  auto rate = [&](const char *what, double nodes, double seconds) {
    figures.add(what, seconds * 1e3, "ms");
    figures.add(std::string(what) + ", nodes/s", nodes / seconds / 1e6, "M");
  };
  rate("build", double(given), build);
  figures.add("rules", double(report.rules.size()), "");
  figures.add("compile rules", compile * 1e3, "ms");
  figures.add("saturate", run * 1e3, "ms", Goal::milliseconds(250));
  figures.addText("stop reason", stopReasonName(report.stop));
  figures.add("nodes", double(report.nodes), "", Goal::atMost(199999));
  figures.add("rounds", double(report.iterations.size()), "");
  rate("one round", double(report.nodes), round);
  rate("one extraction", double(report.nodes), extract);
  if (failed(*extracted))
    figures.fail("no program of finite price");
}

void luminal::eqsat::bench::runModel(Figures &figures,
                                     const std::string &path) {
  static bool registered = [] {
    registerAllRuleSets();
    return true;
  }();
  (void)registered;
  StringRef name = llvm::sys::path::filename(path);
  if (name == "model.pt2")
    name = llvm::sys::path::filename(llvm::sys::path::parent_path(path));
  figures.workload(name.str());
  auto context = makeContext();
  luminal::CompileOptions options;
  options.input = path;
  OwningOpRef<ModuleOp> module = luminal::readInput(*context, options);
  if (!module)
    return figures.addText("does not import", "");
  RuleLoader loader;
  std::vector<std::string> sets;
  for (StringRef s : registeredRuleSets())
    if (!s.starts_with("bench-"))
      sets.push_back(s.str());
  if (failed(loader.loadSets(module->getLoc(), sets, false)))
    return figures.fail("its rules cannot be loaded");
  for (auto function : module->getOps<func::FuncOp>())
    if (!function.isDeclaration())
      runFunction(figures, function, loader);
}
