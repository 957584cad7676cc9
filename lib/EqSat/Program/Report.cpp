//===- Report.cpp - The report of a saturation ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Report.h"
#include "luminal/Support/OutputFile.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace luminal::eqsat;

static constexpr llvm::StringLiteral kCategory = "eqsat-saturate";

/// Share of the run's time from which a rule without useful matches is marked
/// as idle.
static constexpr double kIdleShare = 0.05;

static std::string milliseconds(double seconds) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.3f", seconds * 1e3);
  return text;
}

/// Whether the rule takes time and finds nothing.
static bool isIdle(const RunReport &run, const RuleReport &r) {
  return r.useful == 0 && r.undone == 0 &&
         r.matchSeconds + r.applySeconds > kIdleShare * run.seconds;
}

/// Adds the reports of all forms of each rule to that of its first form.
static std::vector<RuleReport> addForms(ArrayRef<Rule> rules,
                                        const RunReport &run) {
  std::vector<RuleReport> sums = run.rules;
  for (auto [rule, r] : llvm::zip_equal(rules, run.rules)) {
    if (rule.formOf == kNone)
      continue;
    RuleReport &sum = sums[rule.formOf];
    sum.matches += r.matches;
    sum.useful += r.useful;
    sum.newNodes += r.newNodes;
    sum.unions += r.unions;
    sum.refused += r.refused;
    sum.bans += r.bans;
    sum.undone += r.undone;
    sum.matchSeconds += r.matchSeconds;
    sum.applySeconds += r.applySeconds;
  }
  return sums;
}

static std::string secondsLimit(const Limits &limits) {
  std::string text = "max-seconds=";
  llvm::raw_string_ostream(text) << llvm::format("%g", limits.maxSeconds);
  return text;
}

/// The option whose limit the run reached, with its value; empty if it reached
/// none.
static std::string limitReached(StopReason stop, const Limits &limits) {
  switch (stop) {
  case StopReason::Iterations:
    return llvm::formatv("max-iterations={0}", limits.maxIterations);
  case StopReason::Nodes:
    return llvm::formatv("max-nodes={0}", limits.maxNodes);
  case StopReason::Bytes:
    return llvm::formatv("max-bytes={0}", limits.maxBytes);
  case StopReason::Time:
    return secondsLimit(limits);
  case StopReason::Saturated:
  case StopReason::Conflict:
  case StopReason::Unfinished:
    return "";
  }
  return "";
}

LogicalResult luminal::eqsat::checkStop(func::FuncOp function,
                                        ArrayRef<Rule> rules,
                                        const RunReport &run,
                                        const Limits &limits) {
  if (run.stop == StopReason::Unfinished) {
    InFlightDiagnostic diag = emitError(function.getLoc())
                              << "recovery and lowering of '"
                              << function.getSymName()
                              << "' do not end within ";
    if (run.undone == 0)
      return diag << secondsLimit(limits);
    diag << run.bound << " nodes; what adds most: ";
    // Name the rules that together made half of the nodes.
    uint64_t all = 0, named = 0;
    SmallVector<std::pair<uint64_t, StringRef>> byAdded;
    for (auto [rule, r] : llvm::zip_equal(rules, addForms(rules, run)))
      if (rule.formOf == kNone && r.newNodes != 0) {
        byAdded.push_back({r.newNodes, rule.name});
        all += r.newNodes;
      }
    llvm::stable_sort(byAdded,
                      [](auto &a, auto &b) { return a.first > b.first; });
    for (auto &[added, name] : byAdded) {
      diag << (named ? ", " : "") << name;
      if ((named += added) * 2 >= all)
        break;
    }
    return diag << "; rules that can go on for ever belong in the stratum "
                   "\"alternatives\"";
  }
  std::string limit = limitReached(run.stop, limits);
  if (!limit.empty())
    emitWarning(function.getLoc())
        << "the search for alternatives to '" << function.getSymName()
        << "' was stopped by " << limit << " (" << stopReasonName(run.stop)
        << "): cheaper programs may be missed";
  return success();
}

void luminal::eqsat::emitRemarks(func::FuncOp function, ArrayRef<Rule> rules,
                                 const RunReport &run,
                                 const ExtractionReport &extraction) {
  using remark::RemarkOpts;
  using remark::detail::Remark;
  StringRef name = function.getSymName();
  Location loc = function.getLoc();
  auto add = [](StringRef key, uint64_t n) {
    return Remark::Arg(key, llvm::utostr(n));
  };
  remark::analysis(
      loc, RemarkOpts::name("saturation").category(kCategory).function(name))
      << Remark::Arg("stop", stopReasonName(run.stop))
      << add("iterations", run.iterations.size()) << add("nodes", run.nodes)
      << add("classes", run.classes) << add("bytes", run.peakBytes)
      << add("undone", run.undone)
      << Remark::Arg("milliseconds", milliseconds(run.seconds));
  if (run.growthSpent)
    remark::missed(
        loc,
        RemarkOpts::name("alternatives").category(kCategory).function(name))
        << add("nodes", run.growthSpent)
        << Remark::Arg("reason", "the rules for alternatives stopped: they "
                                 "reached their bound on added nodes");
  for (auto [rule, r] : llvm::zip_equal(rules, addForms(rules, run))) {
    if (rule.formOf != kNone)
      continue;
    if (!r.matches && !r.undone && r.admitted && !isIdle(run, r))
      continue;
    remark::analysis(
        loc, RemarkOpts::name("rule").category(kCategory).function(name))
        << Remark::Arg("rule", rule.name)
        << Remark::Arg("promise", rule.promise.str())
        << add("matches", r.matches) << add("useful", r.useful)
        << add("new nodes", r.newNodes) << add("unions", r.unions)
        << add("refused", r.refused) << add("bans", r.bans)
        << add("undone", r.undone)
        << Remark::Arg("milliseconds",
                       milliseconds(r.matchSeconds + r.applySeconds))
        << Remark::Arg("idle", isIdle(run, r) ? "yes" : "no");
  }
  remark::passed(
      loc, RemarkOpts::name("extraction").category(kCategory).function(name))
      << Remark::Arg("cost", llvm::formatv("{0:F3}", extraction.cost).str())
      << add("ops", extraction.ops)
      << Remark::Arg("milliseconds", milliseconds(extraction.seconds));
}

/// Writes the file completely or not at all; "-" is the standard output.
static LogicalResult writeText(StringRef path, StringRef text,
                               Operation *module) {
  if (path == "-") {
    llvm::outs() << text;
    llvm::outs().flush();
    return success();
  }
  luminal::Status status = luminal::writeFileAtomically(path.str(), {text});
  if (!status)
    return emitError(module->getLoc()) << status.error().message;
  return success();
}

LogicalResult luminal::eqsat::writeGraphs(const SaturationReport &report,
                                          StringRef path, Operation *module) {
  return writeText(path, report.graphs.str(), module);
}

LogicalResult luminal::eqsat::writeProofs(const SaturationReport &report,
                                          StringRef path, Operation *module) {
  std::string text;
  for (const FunctionReport &f : report.functions)
    if (f.proofs)
      text += f.proofs->text;
  return writeText(path, text, module);
}

LogicalResult luminal::eqsat::writeReport(const SaturationReport &report,
                                          StringRef path, Operation *module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::json::OStream j(os, 2);
  j.objectBegin();
  j.attribute("precision", report.precision);
  if (report.precision != "exact")
    j.attribute("max_ulps", report.maxUlps);
  j.attribute("seed", report.seed);
  j.attributeArray("functions", [&] {
    for (const FunctionReport &f : report.functions) {
      j.object([&] {
        const RunReport &run = f.saturation->run;
        ArrayRef<Rule> rules = f.saturation->rules;
        const ExtractionReport extraction =
            f.extraction.value_or(ExtractionReport());
        j.attribute("name", f.saturation->name);
        j.attribute("stop", stopReasonName(run.stop));
        j.attribute("nodes", run.nodes);
        j.attribute("classes", run.classes);
        j.attribute("undone_rounds", run.undone);
        j.attribute("alternatives_rest", run.growthSpent != 0);
        j.attribute("peak_bytes", run.peakBytes);
        j.attributeObject("milliseconds", [&] {
          j.attribute("total", run.seconds * 1e3);
          j.attribute("match", run.matchSeconds * 1e3);
          j.attribute("apply", run.applySeconds * 1e3);
          j.attribute("rebuild", run.rebuildSeconds * 1e3);
          j.attribute("extract", extraction.seconds * 1e3);
        });
        j.attributeArray("iterations", [&] {
          for (const IterationReport &i : run.iterations)
            j.object([&] {
              j.attribute("stratum", stratumName(i.stratum));
              j.attribute("nodes", i.nodes);
              j.attribute("classes", i.classes);
              j.attribute("useful", i.useful);
            });
        });
        std::vector<RuleReport> ruleReports = addForms(rules, run);
        j.attributeArray("rules", [&] {
          for (auto [id, rule] : llvm::enumerate(rules)) {
            if (rule.formOf != kNone)
              continue;
            const RuleReport &r = ruleReports[id];
            j.object([&] {
              j.attribute("name", rule.name);
              j.attribute("location", rule.location);
              j.attribute("promise", rule.promise.str());
              j.attribute("stratum", stratumName(rule.stratum));
              j.attributeArray("dtypes", [&] {
                for (const std::string &dtype : rule.dtypes)
                  j.value(dtype);
              });
              j.attribute("admitted", r.admitted);
              j.attribute("matches", r.matches);
              j.attribute("useful", r.useful);
              j.attribute("new_nodes", r.newNodes);
              j.attribute("unions", r.unions);
              j.attribute("refused", r.refused);
              j.attribute("idle", isIdle(run, r));
              j.attribute("bans", r.bans);
              j.attribute("undone", r.undone);
              j.attribute("match_milliseconds", r.matchSeconds * 1e3);
              j.attribute("apply_milliseconds", r.applySeconds * 1e3);
              auto used = f.used.find(rule.name);
              j.attribute("extracted_ops",
                          used == f.used.end() ? 0 : used->second.ops);
              j.attribute("used_steps",
                          used == f.used.end() ? 0 : used->second.steps);
            });
          }
        });
        if (f.proofs)
          j.attribute("explanation", f.proofs->json);
        if (!f.extraction) {
          j.attribute("extraction", nullptr);
          return;
        }
        j.attributeObject("extraction", [&] {
          j.attribute("cost", extraction.cost);
          j.attribute("ops", extraction.ops);
        });
      });
    }
  });
  j.objectEnd();
  j.flush();
  os << "\n";
  return writeText(path, text, module);
}
