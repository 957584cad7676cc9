//===- CompileClock.cpp - Compiles kernels and programs, and times them ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CompileClock.h"
#include "Phases.h"
#include "TimeInTurn.h"
#include "luminal/Support/Sha256.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace luminal;
using search::CacheMode;

static constexpr double kCannotRun = std::numeric_limits<double>::infinity();
static constexpr StringLiteral kKernelKind = "kernel", kProgramKind = "program";

//===----------------------------------------------------------------------===//
// Figures
//===----------------------------------------------------------------------===//

std::string KernelFigures::str() const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  // Enough digits to parse back to the same number.
  stream << llvm::formatv("{0} {1:e17} {2:e17} {3} {4}\n",
                          std::isfinite(seconds) ? "runs" : "cannot-run",
                          std::isfinite(seconds) ? seconds : 0.0, spread,
                          traffic, flops);
  return text;
}

std::optional<KernelFigures> KernelFigures::parse(StringRef text) {
  SmallVector<StringRef> words;
  text.trim().split(words, ' ');
  KernelFigures found;
  if (words.size() != 5 || words[1].getAsDouble(found.seconds) ||
      words[2].getAsDouble(found.spread) ||
      words[3].getAsInteger(10, found.traffic) ||
      words[4].getAsInteger(10, found.flops))
    return std::nullopt;
  if (words[0] == "cannot-run")
    found.seconds = kCannotRun;
  else if (words[0] != "runs" || !(found.seconds > 0))
    return std::nullopt;
  return found;
}

CompileClock::CompileClock(MLIRContext &context, const CompileOptions &given,
                           StringRef machine, const TargetInterface &target,
                           const TimingDevice &device,
                           const CompileSpace &space, search::PlanCache &cache,
                           const SampleInputs &samples)
    : context(context), options(given), machine(machine.str()), target(target),
      device(device), space(space), cache(cache), samples(samples) {
  options.configure = nullptr;
  options.explainValues.clear();
}

void CompileClock::keep(const std::string &key, const KernelFigures &found,
                        search::Times &times) {
  figures[key] = found;
  times[key] = found.seconds;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// One option that is being compiled and timed.
struct CompileClock::Task {
  std::string key, name, title;
  /// Number of its kernel class.
  size_t group;
  std::shared_ptr<const runtime::Artifact> artifact;
  std::unique_ptr<BoundProgram> program;
  KernelFigures found;
};

/// Compiles the programs of these texts as one module. Returns the first error.
Result<std::vector<std::shared_ptr<const runtime::Artifact>>>
CompileClock::makeAll(const std::vector<std::string> &texts) {
  std::string message = "cannot be compiled";
  bool isFirst = true;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error &&
        std::exchange(isFirst, false))
      message = diagnostic.str();
    return success();
  });
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
  for (auto [i, text] : llvm::enumerate(texts)) {
    OwningOpRef<ModuleOp> parsed =
        parseSourceString<ModuleOp>(text, ParserConfig(&context));
    if (!parsed)
      return Error(message);
    for (auto func :
         llvm::make_early_inc_range(parsed->getOps<func::FuncOp>())) {
      func.setSymName("p" + std::to_string(i));
      func->remove();
      module->push_back(func);
    }
  }
  auto made = makeArtifacts(*module, Phase::Fused, options, machine, target);
  if (failed(made))
    return Error(message);
  return std::move(*made);
}

/// Compiles and loads the tasks: all together or, if one of them has an error,
/// one by one.
void CompileClock::load(std::vector<Task> &tasks) {
  std::vector<std::string> texts;
  for (const Task &task : tasks)
    texts.push_back(space.getKernel(task.key).text);
  if (auto made = makeAll(texts)) {
    for (auto [task, artifact] : llvm::zip_equal(tasks, *made))
      task.artifact = artifact;
    return;
  }
  for (auto [task, text] : llvm::zip_equal(tasks, texts)) {
    auto made = makeAll({text});
    if (made)
      task.artifact = made->front();
    else if (note)
      note("kernel '" + task.name + "' with " + task.title +
           " is not timed: " + made.error().message);
  }
}

Result<BoundProgram *> CompileClock::getProbe() {
  if (!probe) {
    LUMINAL_TRY(made, makeAll({getProbeText().str()}));
    LUMINAL_TRY(bound, BoundProgram::create(made.front(), device.threads, {},
                                            probeOperands));
    probe = std::move(bound);
  }
  return probe.get();
}

std::optional<search::DeviceLock> CompileClock::takeDevice() {
  auto taken = search::DeviceLock::take(device.target + "-0");
  if (taken)
    return std::move(*taken);
  if (note && !std::exchange(saidNoLock, true))
    note("measured without a lock: " + taken.error().message);
  return std::nullopt;
}

Status CompileClock::timeTasks(std::vector<Task> &tasks) {
  load(tasks);
  LUMINAL_TRY(reference, getProbe());
  std::map<size_t, Operands> operands;
  std::map<size_t, std::vector<HostTensor>> expected;
  std::vector<TimedProgram> timed;
  std::vector<Task *> order;
  std::optional<search::DeviceLock> lock = takeDevice();
  for (Task &task : tasks) {
    task.found.seconds = kCannotRun;
    if (!task.artifact)
      continue;
    Operands &memory =
        operands.try_emplace(task.group, Operands::Values::Positive)
            .first->second;
    auto made = BoundProgram::create(task.artifact, device.threads,
                                     space.getSizes(task.key), memory);
    auto outputs = made ? (*made)->compute()
                        : Result<std::vector<HostTensor>>(made.takeError());
    if (!outputs) {
      if (note)
        note("kernel '" + task.name + "' with " + task.title +
             " is not timed: " + outputs.error().message);
      continue;
    }
    // The first task of a class is its static choice.
    auto [it, isFirst] = expected.try_emplace(task.group, *outputs);
    if (!isFirst) {
      std::string difference = describeDifference(
          it->second, *outputs, {space.getTerms(task.key), 1});
      if (!difference.empty())
        return Error("kernel '" + task.name + "' with the schedule " +
                     task.title +
                     " gives other results than with its static schedule: " +
                     difference);
    }
    task.program = std::move(*made);
    task.found.traffic = task.program->getTraffic();
    task.found.flops = task.program->getFlops();
    timed.push_back({task.program.get(), task.group});
    order.push_back(&task);
  }
  LUMINAL_CHECK(timeInTurn(timed, *reference));
  for (auto [task, result] : llvm::zip_equal(order, timed)) {
    task->found.seconds = std::max(result.seconds, 1e-12);
    task->found.spread = result.spread;
  }
  return {};
}

Status CompileClock::time(const search::Program &program,
                          std::span<const size_t> kernelClasses,
                          search::Times &times) {
  std::vector<Task> tasks;
  for (size_t number : kernelClasses) {
    const search::KernelClass &c = program.classes[number];
    SmallVector<const search::Option *> missing;
    for (const search::Option &option : c.options) {
      if (times.count(option.key))
        continue;
      std::optional<KernelFigures> known;
      if (auto text = cache.find(kKernelKind, option.key))
        known = KernelFigures::parse(*text);
      if (known) {
        ++numHits;
        keep(option.key, *known, times);
      } else {
        missing.push_back(&option);
      }
    }
    if (missing.empty() || cache.getMode() == CacheMode::Frozen)
      continue;
    // The static choice comes first: the others are compared with it.
    if (missing.front() != &c.options.front())
      missing.insert(missing.begin(), &c.options.front());
    for (const search::Option *option : missing)
      tasks.push_back({option->key, c.name, option->title, number, {}, {}, {}});
  }
  if (tasks.empty())
    return {};
  LUMINAL_CHECK(timeTasks(tasks));
  for (const Task &task : tasks) {
    // Skip a static choice that was only run for comparison.
    if (times.count(task.key))
      continue;
    ++numTimed;
    keep(task.key, task.found, times);
    cache.store(kKernelKind, task.key, task.found.str());
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

Result<std::optional<std::vector<double>>>
CompileClock::timePrograms(std::span<const search::Choice> choices) {
  std::vector<OwningOpRef<ModuleOp>> modules;
  std::vector<std::string> keys;
  std::vector<double> known;
  for (const search::Choice &choice : choices) {
    modules.push_back(space.build(choice));
    Sha256 hash;
    hash.update("luminal program\n");
    hash.update(device.str());
    hash.update(samples.digest());
    hash.update(printModule(*modules.back(), Locations::No));
    keys.push_back(hash.hex());
    if (auto entry = cache.find(kProgramKind, keys.back()))
      if (auto found = KernelFigures::parse(*entry))
        known.push_back(found->seconds);
  }
  if (known.size() == choices.size()) {
    numHits += known.size();
    return std::optional(std::move(known));
  }
  if (cache.getMode() == CacheMode::Frozen)
    return std::optional<std::vector<double>>();

  const std::string weights = getWeightsPath(options);
  Operands operands(Operands::Values::Centred, &samples);
  std::vector<std::unique_ptr<BoundProgram>> programs;
  std::vector<TimedProgram> timed;
  std::vector<HostTensor> expected;
  LUMINAL_TRY(reference, getProbe());
  for (auto [i, choice] : llvm::enumerate(choices)) {
    std::string message = "cannot be compiled";
    std::shared_ptr<const runtime::Artifact> artifact;
    {
      ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
          message = diagnostic.str();
        return success();
      });
      auto made = makeArtifacts(*modules[i], Phase::Scheduled, options, machine,
                                target, weights);
      if (failed(made))
        return Error(choice.program->title + ": " + message);
      artifact = made->front();
    }
    LUMINAL_TRY(program, BoundProgram::create(artifact, device.threads,
                                              samples.getSizes(), operands));
    LUMINAL_TRY(outputs, program->compute());
    if (i == 0) {
      expected = std::move(outputs);
    } else {
      // Rounding errors of one kernel are passed on to the next.
      double terms = 0;
      for (auto [c, option] :
           llvm::zip_equal(choice.program->classes, choice.options))
        terms = std::max(terms, space.getTerms(c.options[option].key));
      double depth = std::sqrt(double(artifact->getManifest().steps.size()));
      std::string difference =
          describeDifference(expected, outputs, {terms, 1 + depth});
      if (!difference.empty())
        return Error(
            "the program found (" + choice.program->title +
            ") gives other results than the static choice: " + difference);
    }
    timed.push_back({program.get(), 0});
    programs.push_back(std::move(program));
  }
  std::optional<search::DeviceLock> lock = takeDevice();
  TurnOptions turns;
  constexpr double kSecondsEach = 2e-3;
  constexpr unsigned kRounds = 15;
  turns.seconds = kSecondsEach;
  turns.rounds = kRounds;
  LUMINAL_CHECK(timeInTurn(timed, *reference, turns));
  std::vector<double> seconds;
  for (auto [i, result] : llvm::enumerate(timed)) {
    seconds.push_back(std::max(result.seconds, 1e-12));
    cache.store(kProgramKind, keys[i],
                KernelFigures{seconds.back(), result.spread,
                              programs[i]->getTraffic(),
                              programs[i]->getFlops()}
                    .str());
  }
  return std::optional(std::move(seconds));
}
