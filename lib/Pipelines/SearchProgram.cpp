//===- SearchProgram.cpp - Search by measurement --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/Tools/luminal-compile/search.test.
//
//===----------------------------------------------------------------------===//

#include "SearchProgram.h"
#include "CompileClock.h"
#include "CompileReport.h"
#include "CompileSpace.h"
#include "Roofline.h"
#include "luminal/Dialect/HLIR/Utils/ModuleLocations.h"
#include "luminal/Dialect/HLIR/Utils/Reporter.h"
#include "luminal/Runtime/ThreadPool.h"
#include "luminal/Search/PlanCache.h"
#include "luminal/Support/Sha256.h"
#include "luminal/Support/ZipArchive.h"
#include "mlir/IR/AsmState.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"

#include <chrono>
#include <cmath>

#define DEBUG_TYPE "search"

using namespace mlir;
using namespace luminal;

static constexpr double kNanoseconds = 1e9;

/// The roofline bound of a kernel, in seconds.
static double getLeast(const Roofline &roofline, const KernelFigures &f) {
  return roofline.of(double(f.traffic), double(f.flops)) / kNanoseconds;
}

/// Writes the kernels, by their share of a call, with all schedules that were
/// tried.
static void writeKernels(llvm::json::OStream &j, const search::Outcome &outcome,
                         const CompileClock &clock, const Roofline &roofline) {
  j.attributeArray("kernels", [&] {
    for (auto [c, chosen] :
         llvm::zip_equal(outcome.program.classes, outcome.options))
      j.object([&, chosen = chosen, &c = c] {
        j.attribute("name", c.name);
        j.attribute("count", int64_t(c.count));
        const search::Option &option = c.options[chosen];
        j.attribute("key", option.key);
        j.attribute("schedule", option.title);
        j.attribute("predicted_seconds", option.predicted);
        if (const KernelFigures *f = clock.find(option.key);
            f && std::isfinite(f->seconds)) {
          j.attribute("seconds", f->seconds);
          j.attribute("spread", f->spread);
          j.attribute("bytes", f->traffic);
          j.attribute("flops", f->flops);
          j.attribute("roofline_share", getLeast(roofline, *f) / f->seconds);
        }
        j.attributeArray("tried", [&] {
          for (const search::Option &other :
               outcome.ways.at(c.options.front().key))
            if (const KernelFigures *f = clock.find(other.key))
              j.object([&] {
                j.attribute("key", other.key);
                j.attribute("schedule", other.title);
                j.attribute("predicted_seconds", other.predicted);
                if (std::isfinite(f->seconds))
                  j.attribute("seconds", f->seconds);
                if (!other.terms.empty())
                  j.attributeObject("terms", [&] {
                    for (const auto &[name, seconds] : other.terms)
                      j.attribute(name, seconds);
                  });
              });
        });
      });
  });
}

static std::string writeReport(const search::Outcome &outcome,
                               const CompileClock &clock,
                               const CompileSpace &space,
                               const MachineModel &machine, double seconds) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::json::OStream j(stream, 2);
  Roofline roofline(machine);
  double lower = 0, least = 0;
  for (const search::KernelClass &c : outcome.program.classes) {
    const search::Option &first = c.options.front();
    const KernelFigures *f = clock.find(first.key);
    double best = f ? f->seconds : first.predicted;
    if (f)
      lower += double(c.count) * getLeast(roofline, *f);
    for (const search::Option &option : outcome.ways.at(first.key))
      if (const KernelFigures *other = clock.find(option.key))
        best = std::min(best, other->seconds);
    least += double(c.count) * best;
  }
  // The fastest whole program wins, so another program may have a smaller sum
  // of kernels.
  for (const search::Tried &tried : outcome.tried)
    least = std::min(least, tried.seconds);
  j.object([&] {
    j.attribute("ended", outcome.reason);
    j.attribute("seconds", seconds);
    j.attribute("kernels_timed", int64_t(clock.getNumTimed()));
    j.attribute("cache_hits", int64_t(clock.getNumHits()));
    j.attribute("program", outcome.program.title);
    j.attribute("sum_of_static_kernels", outcome.staticSeconds);
    j.attribute("sum_of_kernels", outcome.seconds);
    if (outcome.staticWhole)
      j.attribute("static_seconds", *outcome.staticWhole);
    if (outcome.whole)
      j.attribute("program_seconds", *outcome.whole);
    // The smallest sum of kernels that were timed, and the lower bound of the
    // machine.
    j.attribute("least_sum_of_kernels", least);
    j.attribute("roofline_seconds", lower);
    if (least > 0)
      j.attribute("static_regret", outcome.staticSeconds / least - 1);
    j.attributeObject("phases", [&] {
      j.attribute("programs", outcome.spent.programs);
      j.attribute("schedules", outcome.spent.schedules);
      j.attribute("kernels", outcome.spent.kernels);
      j.attribute("wholes", outcome.spent.wholes);
    });
    j.attributeArray("curve", [&] {
      for (const search::Point &point : outcome.curve)
        j.object([&] {
          j.attribute("at", point.at);
          j.attribute("sum_of_kernels", point.best);
        });
    });
    j.attributeArray("candidates", [&] {
      for (const search::Tried &tried : outcome.tried)
        j.object([&] {
          j.attribute("title", tried.title);
          j.attribute("digest", tried.digest);
          j.attribute("sum_of_kernels", tried.seconds);
          if (tried.whole)
            j.attribute("seconds", *tried.whole);
          j.attribute("kept", tried.kept);
          j.attribute("won", tried.won);
        });
    });
    writeUsedRules(j, space.getUsedRules(outcome.program));
    writeKernels(j, outcome, clock, roofline);
  });
  return text;
}

/// One line for a terminal: programs tried, kept and found.
static std::string summarise(const search::Outcome &outcome, double seconds) {
  std::string line;
  llvm::raw_string_ostream stream(line);
  constexpr double kMicroseconds = 1e6;
  stream << "search: " << outcome.tried.size() << " programs tried, "
         << llvm::count_if(outcome.tried,
                           [](const search::Tried &t) { return t.kept; })
         << " kept, '" << outcome.program.title << "' won: ";
  if (outcome.whole && outcome.staticWhole)
    stream << llvm::format("%.1f us a call (static %.1f)",
                           *outcome.whole * kMicroseconds,
                           *outcome.staticWhole * kMicroseconds);
  else
    stream << llvm::format("%.1f us of kernels (static %.1f)",
                           outcome.seconds * kMicroseconds,
                           outcome.staticSeconds * kMicroseconds);
  const search::Spent &spent = outcome.spent;
  stream << llvm::format("; %.1f s: %.1f drawing and lowering programs, ",
                         seconds, spent.programs)
         << llvm::format("%.1f proposing schedules, ", spent.schedules)
         << llvm::format("%.1f timing kernels, ", spent.kernels)
         << llvm::format("%.1f timing whole programs", spent.wholes)
         << "; ended by " << outcome.reason;
  return line;
}

//===----------------------------------------------------------------------===//
// Decisions
//===----------------------------------------------------------------------===//

static constexpr StringLiteral kDecisionKind = "decision";

/// The text of a module with the locations of its ops but without module names,
/// so that models with other names share decisions.
static std::string printPlaces(ModuleOp module) {
  OwningOpRef<ModuleOp> copy = cast<ModuleOp>(module->clone());
  stripModules(*copy);
  return printModule(*copy, Locations::Yes);
}

/// Hash of everything that determines the result of a search, apart from the
/// clock.
static std::string getDecisionKey(ModuleOp module, Phase from,
                                  const CompileOptions &options,
                                  const TimingDevice &device,
                                  const SampleInputs &samples) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << "luminal decision\n"
         << device.str() << "from " << getPhaseName(from) << "\nseconds "
         << llvm::format("%.17g", options.searchSeconds) << "\ncandidates "
         << options.searchCandidates << "\nschedules "
         << options.searchSchedules << "\nseed " << options.seed << "\nlibrary "
         << options.library << "\nfuse " << options.fuse << "\nprepare "
         << options.prepareBytes << "\nprecision " << options.precision << " "
         << llvm::format("%.17g", options.maxUlps) << "\nrule sets "
         << llvm::join(options.ruleSets, ",");
#define LUMINAL_EQSAT_LIMIT(TYPE, FIELD, NAME, DEFAULT, TEXT)                  \
  stream << "\n" NAME " " << options.limits.FIELD;
#include "luminal/EqSat/Core/Limits.def"
  Sha256 hash;
  hash.update(text);
  hash.update("\nsamples " + samples.digest() + "\n");
  hash.update(printPlaces(module));
  // Rule files by their contents.
  for (const std::string &file : options.rules) {
    hash.update("\nrules\n");
    if (Result<Bytes> bytes = mapFile(file))
      hash.update(bytes->text());
  }
  return hash.hex();
}

/// The number of bytes of the report, a newline, the report, the module.
static std::string printDecision(SearchedProgram &found) {
  return std::to_string(found.report.size()) + "\n" + found.report +
         printPlaces(*found.module);
}

static std::optional<SearchedProgram> parseDecision(MLIRContext *context,
                                                    StringRef text) {
  auto [size, rest] = text.split('\n');
  size_t bytes;
  if (size.getAsInteger(10, bytes) || bytes > rest.size())
    return std::nullopt;
  SearchedProgram found;
  found.report = rest.take_front(bytes).str();
  ScopedDiagnosticHandler silent(context,
                                 [](Diagnostic &) { return success(); });
  found.module = parseSourceString<ModuleOp>(rest.drop_front(bytes),
                                             ParserConfig(context));
  if (!found.module || getPhase(*found.module) != Phase::Scheduled)
    return std::nullopt;
  return found;
}

//===----------------------------------------------------------------------===//
// Entry
//===----------------------------------------------------------------------===//

Result<search::PlanCache>
luminal::openPlanCache(MLIRContext &context, const CompileOptions &options) {
  std::optional<search::CacheMode> mode =
      search::getCacheMode(options.planCacheMode);
  if (!mode)
    return Error("no plan cache mode '" + options.planCacheMode +
                 "'; known are: update, read-only, frozen");
  return search::PlanCache(
      {.folder = search::getPlanFolder(options.planCache),
       .mode = *mode,
       .note = [&context, input = options.input](const std::string &message) {
         Reporter(&context, DEBUG_TYPE, "")
             .missed(FileLineColLoc::get(&context, input, 0, 0), "note",
                     {{"reason", message}});
       }});
}

FailureOr<SearchedProgram> luminal::searchProgram(ModuleOp module, Phase from,
                                                  const CompileOptions &options,
                                                  StringRef machine,
                                                  const TargetInterface &target,
                                                  const SampleInputs &samples,
                                                  const PhaseFiles &files) {
  MLIRContext *context = module.getContext();
  Location loc = FileLineColLoc::get(context, options.input, 0, 0);
  auto error = [&](const Error &e) { return emitError(loc) << e.message; };
  auto cache = openPlanCache(*context, options);
  if (!cache)
    return error(cache.error());
  Reporter reporter(context, DEBUG_TYPE, "");
  auto note = [&](const std::string &message) {
    reporter.missed(loc, "note", {{"reason", message}});
  };
  auto device =
      getTimingDevice(target, options.arch, runtime::availableThreads());
  if (!device)
    return error(device.error());
  std::string key = getDecisionKey(module, from, options, *device, samples);
  if (std::optional<std::string> text = cache->find(kDecisionKind, key))
    if (auto known = parseDecision(context, *text)) {
      reporter.passed(loc, "known", {{"decision", StringRef(key)}});
      restoreModules(*known->module, collectModules(module));
      return std::move(*known);
    }
  CompileSpace space(module, from, options, machine, target, *device,
                     samples.getSizes(), files);
  space.setNote(note);
  CompileClock clock(*context, options, machine, target, *device, space, *cache,
                     samples);
  clock.setNote(note);

  search::SearchOptions how;
  how.seconds = options.searchSeconds;
  how.candidates = options.searchCandidates;
  how.isStopped = options.isStopped;
  how.now = [] {
    return std::chrono::duration<double>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
  };
  if (options.searchProgress)
    how.progress = [&](const search::Progress &p) {
      std::string line;
      llvm::raw_string_ostream stream(line);
      constexpr double kMicroseconds = 1e6;
      stream << llvm::format("search: best %.1f us (static %.1f)",
                             p.best * kMicroseconds, p.first * kMicroseconds)
             << ", " << p.candidates << " candidates, " << clock.getNumTimed()
             << " kernels measured, " << clock.getNumHits() << " cache hits";
      if (p.secondsLeft)
        stream << llvm::format(", %.0f s left", *p.secondsLeft);
      options.searchProgress(line);
    };
  double begin = how.now();
  auto outcome = search::search(space, clock, how);
  if (!outcome)
    return error(outcome.error());
  double seconds = how.now() - begin;
  if (options.searchProgress)
    options.searchProgress(summarise(*outcome, seconds));
  reporter.passed(
      loc, "found",
      {{"program", outcome->program.title},
       {"candidates", int64_t(outcome->tried.size())},
       {"kernels timed", int64_t(clock.getNumTimed())},
       {"cache hits", int64_t(clock.getNumHits())},
       {"predicted ns", int64_t(std::llround(outcome->seconds * 1e9))},
       {"static ns", int64_t(std::llround(outcome->staticSeconds * 1e9))},
       {"ended by", outcome->reason}});
  SearchedProgram found;
  found.module = space.build({&outcome->program, outcome->options, 0});
  found.report =
      writeReport(*outcome, clock, space, target.getMachine(), seconds);
  // Do not store a result that the user cut short.
  if (outcome->reason != "stopped")
    cache->store(kDecisionKind, key, printDecision(found));
  cache->trim();
  return found;
}
