//===- Saturate.cpp - eqsat-saturate --------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "../Patterns/Registry.h"
#include "../Patterns/RuleLoader.h"
#include "Report.h"
#include "luminal/EqSat/Passes.h"
#include "luminal/EqSat/Program/CostModel.h"
#include "luminal/EqSat/Program/SaturationSession.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/PDL/IR/PDL.h"
#include "mlir/Dialect/PDL/IR/PDLOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"

#include <chrono>

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
               const MachineModel &machine = {}, KeepSession keep = {})
      : SaturatePassBase(std::move(options)), machine(machine),
        keep(std::move(keep)) {
#define LUMINAL_EQSAT_LIMIT(TYPE, FIELD, NAME, DEFAULT, TEXT)                  \
  FIELD = limits.FIELD;
#include "luminal/EqSat/Core/Limits.def"
  }
  /// The pass manager copies the options.
  SaturatePass(const SaturatePass &other)
      : SaturatePassBase(other), machine(other.machine), keep(other.keep) {}

#define LUMINAL_EQSAT_LIMIT(TYPE, FIELD, NAME, DEFAULT, TEXT)                  \
  Option<TYPE> FIELD{*this, NAME, llvm::cl::desc(TEXT),                        \
                     llvm::cl::init(DEFAULT)};
#include "luminal/EqSat/Core/Limits.def"

  MachineModel machine;
  KeepSession keep;

  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<pdl::PDLDialect>();
    for (auto &insert : Registry::get().dialects)
      insert(registry);
  }

  /// Parses the rule files here, because a dialect must not be loaded while the
  /// pass runs.
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
    FailureOr<SessionOptions> session = sessionOptions();
    if (failed(session))
      return signalPassFailure();

    SaturationReport reports;
    reports.seed = seed;
    reports.precision = precision;
    reports.maxUlps = session->precision.maxUlps;
    bool isGood = true;
    for (auto function :
         llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
      if (isGood && !function.isDeclaration()) {
        isGood = succeeded(saturateFunction(function, *session, reports));
        // Do not keep reports of many functions in memory if nothing will be
        // written.
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
    // Write the report after a failure too, when it helps most.
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
      return emitError(loc, "explain cannot be combined with equivalence, "
                            "which extracts no program");
    if (equivalence && !getContext().allowsUnregisteredDialects())
      return emitError(loc)
             << "the ops of an equivalence.graph are not of a registered "
                "dialect: use --allow-unregistered-dialect";
    if (draws != 0 && equivalence)
      return emitError(loc, "draws and equivalence contradict each other");
    if (!choices.empty() && (seed != 0 || equivalence))
      return emitError(loc)
             << "choices and " << (equivalence ? "equivalence" : "seed")
             << " contradict each other";
    // Also refuses NaN.
    if (!(maxSeconds >= 0.0) || !(maxUlps >= 0.0))
      return emitError(loc,
                       "max-seconds and max-ulps must be nonnegative numbers");
    if (!(seedStrength >= 0 && seedStrength <= 1000))
      return emitError(loc)
             << "seed-strength must be between 0 and 1000, found "
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

  FailureOr<SessionOptions> sessionOptions() {
    Location loc = getOperation().getLoc();
    SessionOptions o;
    RuleSelection selection;
    selection.sets.assign(ruleSets.begin(), ruleSets.end());
    selection.noSets = noRuleSets;
    auto owned = std::make_shared<RuleFiles>();
    owned->files = files;
    for (OwningOpRef<ModuleOp> &file : *files)
      selection.modules.push_back(*file);
    owned->program = takeRules(getOperation());
    if (owned->program) {
      if (failed(RuleLoader::readAttributes(*owned->program)))
        return failure();
      selection.modules.push_back(*owned->program);
    }
    selection.owner = owned;
    FailureOr<std::shared_ptr<const SessionRules>> rules =
        SessionRules::load(loc, selection, allowUnregistered);
    // Check the cost model even if the module has no function.
    if (failed(rules) || failed(findCostModel(loc, cost)))
      return failure();
    o.rules = std::move(*rules);
#define LUMINAL_EQSAT_LIMIT(TYPE, FIELD, NAME, DEFAULT, TEXT)                  \
  o.limits.FIELD = FIELD;
#include "luminal/EqSat/Core/Limits.def"
    FailureOr<PrecisionPolicy> policy = findPrecision(loc, precision, maxUlps);
    if (failed(policy))
      return failure();
    o.precision = *policy;
    o.rules->warnOfRefused(*policy);
    o.costModel = cost;
    o.machine = machine;
    // A session that outlives the pass must be able to explain its programs.
    o.keepProofs = !explain.empty() || !report.empty() || keep;
    o.allowUnregistered = allowUnregistered;
    o.batch = batch;
    o.naive = naive;
    return o;
  }

  /// Owns the modules with the rules of a session as long as it lives.
  struct RuleFiles {
    std::shared_ptr<std::vector<OwningOpRef<ModuleOp>>> files;
    OwningOpRef<ModuleOp> program;
  };

  /// Moves the rules beside the functions of a program into a module of their
  /// own; null if there are none.
  static OwningOpRef<ModuleOp> takeRules(ModuleOp program) {
    OwningOpRef<ModuleOp> taken;
    for (auto pattern :
         llvm::make_early_inc_range(program.getOps<pdl::PatternOp>())) {
      if (!taken)
        taken = ModuleOp::create(program.getLoc());
      pattern->moveBefore(taken->getBody(), taken->getBody()->end());
    }
    return taken;
  }

  /// The contents of the file `choices`.
  std::string choicesText;
  /// The modules of the option `rules`, shared by the copies of the pass.
  std::shared_ptr<std::vector<OwningOpRef<ModuleOp>>> files;

  LogicalResult saturateFunction(func::FuncOp function,
                                 const SessionOptions &options,
                                 SaturationReport &reports) {
    std::shared_ptr<const SaturationRun> run;
    auto created = SaturationSession::create(function, options, &run);
    FunctionReport *told = nullptr;
    if (run)
      told = &reports.functions.emplace_back(
          FunctionReport{run, std::nullopt, std::nullopt});
    if (failed(created))
      return failure();
    const SaturationSession &session = **created;
    if (!egraph.empty())
      session.serialize(reports.graphs);
    if (equivalence) {
      auto graph = session.toEquivalence();
      if (failed(graph))
        return failure();
      emitRemarks(function, run->rules, run->run, ExtractionReport());
      OpBuilder(function).insert(graph->release());
      function.erase();
      return success();
    }
    FailureOr<ExtractionReport> extracted = replace(function, session, *told);
    // Emit the remarks even if extraction failed: a rule that did not match may
    // be the reason.
    emitRemarks(function, run->rules, run->run,
                succeeded(extracted) ? *extracted : ExtractionReport());
    if (failed(extracted))
      return failure();
    told->extraction = std::move(*extracted);
    if (failed(insertDraws(function, session)))
      return failure();
    if (keep)
      keep(function, std::move(*created));
    return success();
  }

  /// Inserts candidates after the function, drawn with the seeds after `seed`.
  LogicalResult insertDraws(func::FuncOp function,
                            const SaturationSession &session) {
    OpBuilder builder(function.getContext());
    builder.setInsertionPointAfter(function);
    for (unsigned i = 1; i <= draws; ++i) {
      FailureOr<Candidate> drawn = session.draw(seed + i, seedStrength);
      if (failed(drawn))
        return failure();
      FailureOr<OwningOpRef<ModuleOp>> made = session.materialise(*drawn);
      if (failed(made))
        return failure();
      auto copy = cast<func::FuncOp>((*made)->getBody()->front());
      copy->remove();
      copy.setSymName((function.getSymName() + ".draw" + Twine(i)).str());
      copy->setAttr("eqsat.digest", builder.getStringAttr(drawn->digest));
      copy->setAttr("eqsat.cost", builder.getF64FloatAttr(drawn->cost));
      builder.insert(copy);
    }
    return success();
  }

  /// Replaces the body of the function by the selected program.
  FailureOr<ExtractionReport> replace(func::FuncOp function,
                                      const SaturationSession &session,
                                      FunctionReport &told) {
    auto start = std::chrono::steady_clock::now();
    FailureOr<Candidate> chosen =
        choices.empty() ? session.extract(seed, seed == 0 ? 0 : seedStrength)
                        : session.choose(choicesText, choices);
    if (failed(chosen))
      return failure();
    if (!explain.empty()) {
      FailureOr<ProofReport> proofs =
          explainValues.empty()
              ? session.explain(*chosen)
              : session.explain(explainValues[0], explainValues[1]);
      if (failed(proofs))
        return failure();
      if (!proofs->text.empty())
        told.proofs = std::move(*proofs);
    }
    ExtractionReport extraction;
    FailureOr<OwningOpRef<ModuleOp>> made =
        session.materialise(*chosen, &extraction);
    if (failed(made))
      return failure();
    if (!report.empty())
      told.used = session.getUsedRules(*chosen, extraction);
    auto from = cast<func::FuncOp>((*made)->getBody()->front());
    function.getBody().takeBody(from.getBody());
    extraction.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
            .count();
    return extraction;
  }
};

} // namespace

std::unique_ptr<Pass> luminal::eqsat::createSaturatePass(
    SaturatePassOptions options, const Limits &limits,
    const MachineModel &machine, KeepSession keep) {
  return std::make_unique<SaturatePass>(std::move(options), limits, machine,
                                        std::move(keep));
}
