//===- Saturate.cpp - eqsat-saturate --------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "../Patterns/Registry.h"
#include "../Patterns/RuleLoader.h"
#include "Program.h"
#include "Report.h"
#include "luminal/EqSat/Core/Extraction.h"
#include "luminal/EqSat/Core/Runner.h"
#include "luminal/EqSat/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/PDL/IR/PDL.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"

namespace luminal::eqsat {
#define GEN_PASS_DEF_SATURATEPASS
#include "luminal/EqSat/Passes.h.inc"
} // namespace luminal::eqsat

using namespace mlir;
using namespace luminal;
using namespace luminal::eqsat;

namespace {

class SaturatePass
    : public luminal::eqsat::impl::SaturatePassBase<SaturatePass> {
public:
  SaturatePass() = default;
  SaturatePass(SaturatePassOptions options, const Limits &limits = {},
               const MachineModel &machine = {})
      : SaturatePassBase(std::move(options)), machine(machine) {
#define LUMINAL_EQSAT_LIMIT(TYPE, FIELD, NAME, DEFAULT, TEXT)                  \
  FIELD = limits.FIELD;
#include "luminal/EqSat/Core/Limits.def"
  }
  /// Options are copied by the pass manager.
  SaturatePass(const SaturatePass &other)
      : SaturatePassBase(other), machine(other.machine) {}

#define LUMINAL_EQSAT_LIMIT(TYPE, FIELD, NAME, DEFAULT, TEXT)                  \
  Option<TYPE> FIELD{*this, NAME, llvm::cl::desc(TEXT),                        \
                     llvm::cl::init(DEFAULT)};
#include "luminal/EqSat/Core/Limits.def"

  MachineModel machine;

  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<pdl::PDLDialect>();
    for (auto &insert : Registry::get().dialects)
      insert(registry);
  }

  /// Here and not in the run: no dialect may be loaded there.
  LogicalResult initialize(MLIRContext *context) override {
    files = std::make_shared<std::vector<OwningOpRef<ModuleOp>>>();
    for (const std::string &file : ruleFiles) {
      files->push_back(RuleLoader::parseFile(context, file));
      if (!files->back())
        return failure();
    }
    return success();
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(checkOptions(module.getLoc())) ||
        failed(readChoices(module.getLoc())))
      return signalPassFailure();
    RuleLoader loader;
    if (failed(loader.loadSets(module.getLoc(), ruleSets,
                               ruleSets.empty() && !noRuleSets)))
      return signalPassFailure();
    for (OwningOpRef<ModuleOp> &file : *files)
      if (failed(loader.loadModule(*file)))
        return signalPassFailure();
    if (!files->empty() &&
        failed(loader.check(&getContext(), allowUnregistered)))
      return signalPassFailure();

    StringRef model = cost;
    if (model.empty())
      model = lookupCostModel("static") ? "static" : "unit";
    const CostModelFactory *factory = lookupCostModel(model);
    if (!factory) {
      InFlightDiagnostic diag = emitError(module.getLoc())
                                << "no cost model is named '" << model
                                << "'; known are ";
      llvm::interleaveComma(registeredCostModels(), diag);
      return signalPassFailure();
    }

    SaturationReport reports;
    reports.seed = seed;
    reports.precision = precision;
    reports.maxUlps = policy().maxUlps;
    bool isGood = true;
    for (auto function :
         llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
      if (isGood && !function.isDeclaration()) {
        isGood =
            succeeded(saturateFunction(function, loader, *factory, reports));
        // Reports of many functions would fill the memory.
        if (report.empty() && explain.empty())
          reports.functions.clear();
      }
    if (isGood && !explainValues.empty() &&
        llvm::none_of(reports.functions,
                      [](const FunctionReport &f) { return f.proofs; })) {
      emitError(module.getLoc())
          << "no value has the name location '" << explainValues[0] << "'";
      isGood = false;
    }
    if (isGood && !egraph.empty())
      isGood = succeeded(writeGraphs(reports, egraph, module));
    // The report is written after a failure too: it helps most then.
    if (isGood && !explain.empty())
      isGood = succeeded(writeProofs(reports, explain, module));
    if (!report.empty() && failed(writeReport(reports, report, module)))
      isGood = false;
    if (!isGood)
      signalPassFailure();
  }

private:
  LogicalResult checkOptions(Location loc) {
    if (noRuleSets && !ruleSets.empty())
      return emitError(loc, "no-rule-sets and rule-sets contradict each other");
    if (explainValues.size() != 0 && explainValues.size() != 2)
      return emitError(loc)
             << "explain-values takes two names, not " << explainValues.size();
    if (explain.empty() && !explainValues.empty())
      return emitError(loc, "explain-values needs explain=FILE");
    if (equivalence && !explain.empty())
      return emitError(
          loc, "equivalence takes no program that explain could explain");
    if (equivalence && !getContext().allowsUnregisteredDialects())
      return emitError(loc)
             << "the ops of an equivalence.graph are of no registered dialect: "
                "say --allow-unregistered-dialect";
    if (!choices.empty() && (seed != 0 || equivalence))
      return emitError(loc)
             << "choices and " << (equivalence ? "equivalence" : "seed")
             << " contradict each other";
    if (!llvm::is_contained({"exact", "rounding", "finite"}, precision))
      return emitError(loc) << "no precision is named '" << precision
                            << "'; known are exact, rounding, finite";
    // NaN is refused too.
    if (!(maxSeconds >= 0.0) || !(maxUlps >= 0.0))
      return emitError(
          loc, "max-seconds and max-ulps are numbers that are not negative");
    if (!(seedStrength >= 0 && seedStrength <= 1000))
      return emitError(loc) << "seed-strength is between 0 and 1000, unlike "
                            << llvm::formatv("{0}", double(seedStrength)).str();
    return success();
  }

  LogicalResult readChoices(Location loc) {
    if (choices.empty())
      return success();
    auto buffer = llvm::MemoryBuffer::getFile(choices);
    if (!buffer)
      return emitError(loc) << choices << ": " << buffer.getError().message();
    choicesText = (*buffer)->getBuffer().str();
    return success();
  }

  RunnerOptions runnerOptions() const {
    RunnerOptions o;
#define LUMINAL_EQSAT_LIMIT(TYPE, FIELD, NAME, DEFAULT, TEXT) o.FIELD = FIELD;
#include "luminal/EqSat/Core/Limits.def"
    o.incremental = !naive;
    o.staged = !batch;
    return o;
  }

  PrecisionPolicy policy() const {
    if (precision == "exact")
      return PrecisionPolicy::exact();
    return {maxUlps, precision == "finite"};
  }

  Perturbation perturbation() const {
    return seed == 0 ? Perturbation() : Perturbation{seed, seedStrength};
  }

  /// The text of the file `choices`.
  std::string choicesText;
  /// Those of `rules`, shared by the copies of the pass.
  std::shared_ptr<std::vector<OwningOpRef<ModuleOp>>> files;

  LogicalResult saturateFunction(func::FuncOp function, RuleLoader &loader,
                                 const CostModelFactory &factory,
                                 SaturationReport &reports) {
    Program program(function, allowUnregistered);
    if (!explain.empty())
      program.keepProofs();
    NativeBridge natives(program.ops, function, policy());
    if (failed(program.import(natives.scope())))
      return failure();
    FailureOr<LoadedRules> rules =
        loader.compile(program.ops, natives, !explain.empty());
    if (failed(rules))
      return failure();

    RunReport run = saturate(program.graph, *rules, runnerOptions());
    if (failed(natives.checkMisuse()))
      return failure();
    FunctionReport &told = reports.functions.emplace_back(
        FunctionReport{function.getSymName().str(), std::move(rules->all),
                       std::move(run), std::nullopt, std::nullopt});
    if (told.run.stop == StopReason::Conflict)
      return program.emitConflict(told.rules);
    if (failed(checkStop(function, told.rules, told.run, runnerOptions())))
      return failure();

    std::unique_ptr<CostModel> model = factory(natives.scope(), machine);
    std::string prefix = (function.getSymName() + ":").str();
    if (!egraph.empty())
      program.serialize(*model, prefix, reports.graphs);
    if (equivalence) {
      if (failed(program.checkEquivalence()))
        return failure();
      emitRemarks(function, told.rules, told.run, ExtractionReport());
      OpBuilder(function).insert(program.toEquivalence().release());
      function.erase();
      return success();
    }
    FailureOr<ExtractionReport> extracted = program.extract(
        *model,
        [&](const Extractor &extractor, const Selection &selection) {
          if (explain.empty())
            return success();
          FailureOr<ProofReport> proofs =
              program.explain(told.rules, explainValues, extractor, selection);
          if (succeeded(proofs) && !proofs->text.empty())
            told.proofs = std::move(*proofs);
          return LogicalResult(proofs);
        },
        [&](const Extractor &extractor,
            std::span<const ClassId> roots) -> FailureOr<Selection> {
          if (choices.empty())
            return extractor.greedyDag(roots, perturbation());
          return program.readChoices(*model, prefix, choicesText, choices,
                                     extractor, roots);
        });
    // A rule that was not reached may be why nothing has a price.
    emitRemarks(function, told.rules, told.run,
                succeeded(extracted) ? *extracted : ExtractionReport());
    if (failed(extracted))
      return failure();
    told.extraction = std::move(*extracted);
    return success();
  }
};

} // namespace

std::unique_ptr<Pass>
luminal::eqsat::createSaturatePass(SaturatePassOptions options,
                                   const Limits &limits,
                                   const MachineModel &machine) {
  return std::make_unique<SaturatePass>(std::move(options), limits, machine);
}
