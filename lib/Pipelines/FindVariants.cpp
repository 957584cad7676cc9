//===- FindVariants.cpp - Finds ranges worth a variant --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/Tools/luminal-compile/find-variants.test.
//
//===----------------------------------------------------------------------===//

#include "FindVariants.h"
#include "TimeInTurn.h"
#include "luminal/Dialect/HLIR/Utils/Reporter.h"
#include "luminal/Pipelines/KernelKey.h"
#include "luminal/Runtime/ThreadPool.h"
#include "luminal/Search/Cuts.h"
#include "luminal/Search/DeviceLock.h"
#include "luminal/Search/PlanCache.h"
#include "luminal/Support/Sha256.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FormatVariadic.h"

#define DEBUG_TYPE "find-variants"

using namespace mlir;
using namespace luminal;

/// A range gets its own program only if that takes less than this share of the
/// time of the program for all sizes. Otherwise the gain does not justify more
/// code.
static constexpr double kWorthwhile = 0.95;
static constexpr StringLiteral kKind = "range";

namespace {
/// Times programs on the local device, with a plan cache.
class RangeTimer {
public:
  RangeTimer(ModuleOp given, Phase from, StringRef symbol,
             const CompileOptions &options, StringRef machine,
             const TargetInterface &target, const TimingDevice &device,
             search::PlanCache &cache)
      : given(given), from(from), symbol(symbol), options(options),
        machine(machine), target(target), device(device), cache(cache) {
    this->options.configure = nullptr;
    this->options.explainValues.clear();
  }

  Result<bool> isWorthwhile(const SymbolRange &range, int64_t at);

private:
  using Pair = std::pair<double, double>;

  Result<OwningOpRef<ModuleOp>> lower(StringRef ranges);
  Result<std::shared_ptr<const runtime::Artifact>> load(ModuleOp module,
                                                        Phase phase);
  Result<Pair> time(ModuleOp whole, ModuleOp part, int64_t at);

  ModuleOp given;
  Phase from;
  StringRef symbol;
  CompileOptions options;
  StringRef machine;
  const TargetInterface &target;
  const TimingDevice &device;
  search::PlanCache &cache;
  /// The program for all sizes, in phase `scheduled`.
  OwningOpRef<ModuleOp> whole;
};
} // namespace

/// Runs `fn` and turns its first diagnostic error into a Status.
template <typename Fn>
static Status withMessage(MLIRContext *context, Fn fn) {
  std::string message = "cannot be compiled";
  bool isFirst = true;
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error &&
        std::exchange(isFirst, false))
      message = diagnostic.str();
    return success();
  });
  return succeeded(LogicalResult(fn())) ? Status() : Status(Error(message));
}

/// A range in the form of CompileOptions::variants.
static std::string getText(StringRef symbol, const SymbolRange &range) {
  std::string text = symbol.str() + "=" + std::to_string(range.lo);
  if (range.hi != range.lo)
    text += ".." + (range.hi ? std::to_string(*range.hi) : "");
  return text;
}

/// The program with static prices for these ranges; empty: for all sizes.
Result<OwningOpRef<ModuleOp>> RangeTimer::lower(StringRef ranges) {
  OwningOpRef<ModuleOp> module(cast<ModuleOp>(given->clone()));
  LUMINAL_CHECK(withMessage(given.getContext(), [&] {
    if (!ranges.empty() && failed(narrowSymbols(*module, ranges, options)))
      return failure();
    return runPhases(*module, from, Phase::Scheduled, options, machine);
  }));
  return module;
}

Result<std::shared_ptr<const runtime::Artifact>>
RangeTimer::load(ModuleOp module, Phase phase) {
  std::string weights;
  if (phase == Phase::Scheduled)
    weights = getWeightsPath(options);
  std::shared_ptr<const runtime::Artifact> artifact;
  // Compile a copy, since the module is timed more than once.
  OwningOpRef<ModuleOp> copy(cast<ModuleOp>(module->clone()));
  LUMINAL_CHECK(withMessage(module.getContext(), [&] {
    auto made = makeArtifacts(*copy, phase, options, machine, target, weights);
    if (failed(made))
      return failure();
    artifact = made->front();
    return success();
  }));
  return artifact;
}

/// Seconds of both programs at one size, measured in interleaved rounds.
Result<RangeTimer::Pair> RangeTimer::time(ModuleOp whole, ModuleOp part,
                                          int64_t at) {
  OwningOpRef<ModuleOp> probeModule = parseSourceString<ModuleOp>(
      getProbeText(), ParserConfig(given.getContext()));
  Operands probeOperands(Operands::Values::Positive);
  LUMINAL_TRY(probeArtifact, load(*probeModule, Phase::Fused));
  LUMINAL_TRY(probe, BoundProgram::create(probeArtifact, device.threads, {},
                                          probeOperands));
  Operands operands(Operands::Values::Centred);
  const TimedSizes sizes = {{symbol.str(), at}};
  std::vector<std::unique_ptr<BoundProgram>> programs;
  std::vector<TimedProgram> timed;
  for (ModuleOp module : {whole, part}) {
    LUMINAL_TRY(artifact, load(module, Phase::Scheduled));
    LUMINAL_TRY(program, BoundProgram::create(artifact, device.threads, sizes,
                                              operands));
    timed.push_back({program.get(), 0});
    programs.push_back(std::move(program));
  }
  auto lock = search::DeviceLock::take(device.target + "-0");
  TurnOptions turns;
  constexpr double kSecondsEach = 2e-3;
  turns.seconds = kSecondsEach;
  LUMINAL_CHECK(timeInTurn(timed, *probe, turns));
  return Pair(timed[0].seconds, timed[1].seconds);
}

Result<bool> RangeTimer::isWorthwhile(const SymbolRange &range, int64_t at) {
  if (!whole) {
    LUMINAL_TRY(made, lower(""));
    whole = std::move(made);
  }
  std::string text = getText(symbol, range);
  LUMINAL_TRY(part, lower(text));
  Sha256 hash;
  hash.update("luminal range\n" + device.str() + symbol.str() + " at " +
              std::to_string(at) + "\n");
  hash.update(printModule(*whole, Locations::No));
  hash.update(printModule(*part, Locations::No));
  const std::string key = hash.hex();
  Pair seconds;
  auto known = cache.find(kKind, key);
  StringRef first, second;
  if (known)
    std::tie(first, second) = StringRef(*known).trim().split(' ');
  if (!known || first.getAsDouble(seconds.first) ||
      second.getAsDouble(seconds.second)) {
    if (cache.getMode() == search::CacheMode::Frozen)
      return false;
    LUMINAL_TRY(measured, time(*whole, *part, at));
    seconds = measured;
    cache.store(
        kKind, key,
        llvm::formatv("{0:e17} {1:e17}\n", seconds.first, seconds.second)
            .str());
  }
  constexpr double kNanoseconds = 1e9;
  Reporter(given.getContext(), DEBUG_TYPE, "")
      .analysis(given.getLoc(), "range",
                {{"range", StringRef(text)},
                 {"at", at},
                 {"ns", int64_t(seconds.second * kNanoseconds)},
                 {"all sizes ns", int64_t(seconds.first * kNanoseconds)}});
  return seconds.second < kWorthwhile * seconds.first;
}

FailureOr<std::vector<std::string>>
luminal::findVariants(func::FuncOp func, Phase from, StringRef symbol,
                      const CompileOptions &options, StringRef machine,
                      const TargetInterface &target) {
  auto module = func->getParentOfType<ModuleOp>();
  Location loc = FileLineColLoc::get(module.getContext(), options.input, 0, 0);
  std::optional<search::CacheMode> mode =
      search::getCacheMode(options.planCacheMode);
  if (!mode)
    return emitError(loc) << "no plan cache mode '" << options.planCacheMode
                          << "'; known are: update, read-only, frozen";
  ArrayRef<hlir::SymbolEntry> symbols;
  if (auto table = func->getAttrOfType<hlir::SymbolsAttr>(hlir::kSymbolsAttr))
    symbols = table.getEntries();
  const auto *entry = llvm::find_if(
      symbols, [&](const hlir::SymbolEntry &e) { return e.name == symbol; });
  if (entry == symbols.end()) {
    std::string known;
    for (const hlir::SymbolEntry &e : symbols)
      known += (known.empty() ? "" : ", ") + e.name.str();
    return emitError(loc) << "--find-variants: '" << symbol
                          << "' is not a symbol of the program ("
                          << (known.empty() ? "it has none"
                                            : "known are: " + known)
                          << ")";
  }
  auto device =
      getTimingDevice(target, options.arch, runtime::availableThreads());
  if (!device)
    return emitError(loc) << device.error().message;
  Reporter reporter(module.getContext(), DEBUG_TYPE, "");
  search::PlanCache cache({.folder = search::getPlanFolder(options.planCache),
                           .mode = *mode,
                           .note = [&](const std::string &message) {
                             reporter.missed(loc, "note",
                                             {{"reason", message}});
                           }});
  RangeTimer timer(module, from, symbol, options, machine, target, *device,
                   cache);
  auto found =
      search::findCuts(entry->range, [&](const SymbolRange &range, int64_t at) {
        return timer.isWorthwhile(range, at);
      });
  if (!found)
    return emitError(loc) << "--find-variants: " << found.error().message;
  cache.trim();
  std::vector<std::string> variants;
  for (const SymbolRange &range : *found)
    variants.push_back(getText(symbol, range));
  reporter.passed(loc, "found", {{"variants", llvm::join(variants, " ")}});
  return variants;
}
