//===- Arguments.cpp - The command line of luminal-compile ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Arguments.h"
#include "luminal/Search/PlanCache.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/raw_ostream.h"

using namespace luminal;

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
  if (!(searchBudget >= 0))
    return bad("--search-budget is a number of seconds");
  if (!(ruleSeconds >= 0))
    return bad("--eqsat-rule-seconds is a number of seconds");
  // An explicit budget of 0 disables measurements.
  bool isOff = searchBudget.getNumOccurrences() && searchBudget == 0;
  bool searches = !isOff && (searchBudget > 0 || searchCandidates > 0);
  if (searches && !explain.empty())
    return bad(
        "--eqsat-explain explains the program that static prices choose: it "
        "cannot be combined with --search-budget or --search-candidates");
  if (!search::getCacheMode(planCacheMode))
    return bad("no plan cache mode '" + planCacheMode +
               "'; known are: update, read-only, frozen");
  options.input = input;
  options.output = output;
  options.target = target;
  options.arch = arch;
  options.planCache = planCache;
  options.planCacheMode = planCacheMode;
  options.searchSeconds = searchBudget;
  options.searchCandidates = searches ? uint64_t(searchCandidates) : 0;
  options.searchSchedules = searchSchedules;
  options.seed = seed;
  options.variants = {variants.begin(), variants.end()};
  options.findVariants = findVariants;
  options.checkKernels = checkKernels;
  options.refuseCostly = refuseCostly;
  options.sampleInputs = {sampleInputs.begin(), sampleInputs.end()};
  options.threads = threads;
  options.workers = workers;
  options.weights = weights;
  options.embedWeights = embedWeights;
  options.prepareBytes = prepareBytes;
  options.rules = {rules.begin(), rules.end()};
  options.ruleSeconds = ruleSeconds;
  options.kernels = {kernels.begin(), kernels.end()};
  options.ruleSets = {ruleSets.begin(), ruleSets.end()};
  if (explain.empty() && !explainValues.empty())
    return bad("--eqsat-explain-values needs --eqsat-explain=FILE");
  options.explain = explain;
  options.explainValues = {explainValues.begin(), explainValues.end()};
  options.precision = precision;
  options.library = library;
  options.roll = roll;
  options.fuse = fuse;
  options.maxUlps = maxUlps;
#define LUMINAL_EQSAT_LIMIT(TYPE, FIELD, NAME, DEFAULT, TEXT)                  \
  options.limits.FIELD = FIELD;
#include "luminal/EqSat/Core/Limits.def"
  options.report = report;
  if (!quiet && llvm::sys::Process::StandardErrIsDisplayed()) {
    options.progress = [](llvm::StringRef phase) {
      llvm::errs() << "luminal-compile: " << phase << "\n";
    };
    options.searchProgress = [](llvm::StringRef line) {
      llvm::errs() << "luminal-compile: " << line << "\n";
    };
  }
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
