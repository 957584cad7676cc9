//===- CompileSpace.cpp - The search space of a compile -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CompileSpace.h"
#include "luminal/Dialect/LLIR/Utils/KernelClasses.h"
#include "luminal/Dialect/LLIR/Utils/Remarks.h"
#include "luminal/Support/Sha256.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Pass/PassManager.h"

#include <cmath>

using namespace mlir;
using namespace luminal;
using search::Option;

/// Number of neighbours that are timed for a schedule that is better than the
/// static choice.
static constexpr size_t kMostNeighbours = 6;
/// Schedules whose predicted time exceeds the static choice's by this factor
/// are not timed.
static constexpr double kMostPrice = 3;

static constexpr double kNanoseconds = 1e9;

CompileSpace::CompileSpace(ModuleOp module, Phase from,
                           const CompileOptions &options, StringRef machine,
                           const TargetInterface &target,
                           const TimingDevice &device, const TimedSizes &sizes,
                           const PhaseFiles &files)
    : given(module), from(from), options(options), machine(machine.str()),
      target(target), device(device), sizes(sizes), files(files),
      variant{options.library, options.fuse} {}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

/// The ops that run in a call, as opposed to when weights are bound.
static llvm::DenseSet<Operation *> getCalled(func::FuncOp func) {
  llvm::DenseSet<Operation *> called;
  SmallVector<Operation *> worklist = {func.getBody().front().getTerminator()};
  while (!worklist.empty()) {
    Operation *op = worklist.pop_back_val();
    if (!called.insert(op).second || isa<llir::PrepareOp>(op))
      continue;
    for (Value operand : op->getOperands())
      if (Operation *def = operand.getDefiningOp())
        worklist.push_back(def);
  }
  return called;
}

static std::string getDigest(ModuleOp module) {
  Sha256 hash;
  hash.update(printModule(module, Locations::No));
  return hash.hex();
}

/// Runs `fn` and collects its first error. Warnings and remarks pass through
/// for the first program only, because they hold for all programs.
template <typename Fn>
static LogicalResult runQuietly(MLIRContext *context, bool isFirst,
                                std::string &message, Fn fn) {
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
      return failure(isFirst);
    if (message.empty())
      message = diagnostic.str();
    return success();
  });
  return fn();
}

static CompileOptions withVariant(const CompileOptions &options,
                                  const std::string &library,
                                  const std::string &fuse) {
  CompileOptions changed = options;
  changed.library = library;
  changed.fuse = fuse;
  changed.configure = nullptr;
  changed.explainValues.clear();
  return changed;
}

/// Lowers the first program exactly as a compilation without a search does.
Result<search::Program> CompileSpace::lowerFirst() {
  Lowered lowered;
  lowered.variant = variant;
  lowered.module = given.clone();
  PhaseFiles mine = files;
  mine.keepSession = [&](func::FuncOp function,
                         std::unique_ptr<eqsat::SaturationSession> session) {
    lowered.nodes.mark(function, *session);
    sessions.push_back(std::move(session));
  };
  std::string message;
  if (failed(runQuietly(given.getContext(), /*isFirst=*/true, message, [&] {
        return runPhases(*lowered.module, from, Phase::Scheduled,
                         withVariant(options, variant.library, variant.fuse),
                         machine, mine);
      })))
    return Error("best: " + message);
  return finish(std::move(lowered), "best");
}

LogicalResult CompileSpace::materialise(const Extracted &extracted,
                                        Lowered &lowered) {
  for (auto [session, candidate] : llvm::zip_equal(sessions, extracted)) {
    FailureOr<OwningOpRef<ModuleOp>> made = session->materialise(candidate);
    if (failed(made))
      return failure();
    auto from = cast<func::FuncOp>((*made)->getBody()->front());
    lowered.nodes.mark(from, *session);
    lowered.module->lookupSymbol<func::FuncOp>(from.getSymName())
        .getBody()
        .takeBody(from.getBody());
  }
  PassManager pm(given.getContext());
  addWithoutLoops(pm);
  return pm.run(*lowered.module);
}

Result<search::Program> CompileSpace::lower(const Extracted &extracted,
                                            const Variant &variant,
                                            std::string title) {
  Lowered lowered;
  lowered.variant = variant;
  lowered.module = given.clone();
  std::string message;
  if (failed(runQuietly(given.getContext(), /*isFirst=*/false, message, [&] {
        Phase phase = from;
        if (!sessions.empty()) {
          if (failed(materialise(extracted, lowered)))
            return failure();
          phase = Phase::Saturated;
          lowered.extracted = extracted;
        }
        return runPhases(*lowered.module, phase, Phase::Scheduled,
                         withVariant(options, variant.library, variant.fuse),
                         machine);
      })))
    return Error(title + ": " + message);
  return finish(std::move(lowered), std::move(title));
}

Result<search::Program> CompileSpace::finish(Lowered lowered,
                                             std::string title) {
  search::Program program;
  program.title = std::move(title);
  program.family = lowered.variant.str();
  program.digest = getDigest(*lowered.module);
  auto [it, isNew] = programs.try_emplace(program.digest, std::move(lowered));
  // A program that is known already needs no more than its digest.
  if (!isNew)
    return program;
  search::Program made = makeProgram(it->second);
  program.classes = std::move(made.classes);
  it->second.marks = MarkedNodes::collect(*it->second.module);
  MarkedNodes::unmark(*it->second.module);
  return program;
}

search::Program CompileSpace::makeProgram(Lowered &lowered) {
  search::Program program;
  lowered.module->walk([&](func::FuncOp func) {
    llvm::DenseSet<Operation *> called = getCalled(func);
    llir::KernelClasses alike;
    DenseMap<unsigned, unsigned> numbers;
    func.walk([&](Operation *op) {
      auto kernel = dyn_cast<llir::KernelOp>(op);
      if (!called.contains(op) ||
          !(kernel || isa<llir::LibraryOpInterface>(op)))
        return;
      std::optional<unsigned> number;
      if (kernel)
        number = alike.add(kernel);
      if (number)
        if (auto it = numbers.find(*number); it != numbers.end()) {
          Members &members = lowered.classes[it->second];
          members.ops.push_back(op);
          members.marks.push_back(MarkedNodes::collect(op));
          ++program.classes[it->second].count;
          return;
        }
      if (number)
        numbers[*number] = program.classes.size();
      search::KernelClass &added = program.classes.emplace_back();
      Members &members = lowered.classes.emplace_back();
      added.name =
          kernel ? kernel.getTitle() : op->getName().stripDialect().str();
      members.ops.push_back(op);
      members.marks.push_back(MarkedNodes::collect(op));
      for (const Way &way : getWays(op)) {
        added.options.push_back(way.option);
        members.loops.push_back(way.loops);
      }
    });
  });
  return program;
}

/// The known schedules of a kernel. Programs of one search have most kernels in
/// common, so schedules are shared by equal kernels.
std::vector<CompileSpace::Way> &CompileSpace::getWays(Operation *op) {
  auto kernel = dyn_cast<llir::KernelOp>(op);
  llir::LoopsAttr loops = kernel ? *kernel.getLoops() : llir::LoopsAttr();
  Option first = makeOption(op, loops);
  std::vector<Way> &ways = known[getName(first.key)];
  if (ways.empty())
    ways.push_back({std::move(first), loops});
  return ways;
}

/// The key together with the symbol names: a schedule refers to symbols by the
/// names of its program, while the key is independent of them.
std::string CompileSpace::getName(const std::string &key) const {
  return key + " " + llvm::join(kernels.at(key).symbols, ",");
}

Option CompileSpace::makeOption(Operation *op, llir::LoopsAttr loops) {
  auto func = op->getParentOfType<func::FuncOp>();
  auto table = func->getAttrOfType<hlir::SymbolsAttr>(hlir::kSymbolsAttr);
  ArrayRef<hlir::SymbolEntry> symbols =
      table ? table.getEntries() : ArrayRef<hlir::SymbolEntry>();
  auto kernel = dyn_cast<llir::KernelOp>(op);
  std::optional<llir::LoopsAttr> before;
  if (kernel) {
    before = kernel.getLoops();
    kernel.setLoopsAttr(loops);
  }
  LoneKernel lone = isolateKernel(op, symbols);
  if (kernel)
    kernel.setLoopsAttr(*before);
  std::map<std::string, int64_t, std::less<>> ofProgram;
  TimedSizes ownSizes;
  SmallVector<int64_t> inOrder;
  for (const auto &[i, name] : llvm::enumerate(lone.symbols)) {
    const auto *it = llvm::find_if(
        symbols, [&](const hlir::SymbolEntry &e) { return e.name == name; });
    auto given = sizes.find(name);
    int64_t size =
        given != sizes.end()
            ? given->second
            : getTimedSize(it != symbols.end() ? it->range : SymbolRange());
    ofProgram[name] = size;
    ownSizes["s" + std::to_string(i)] = size;
    inOrder.push_back(size);
  }
  Option option;
  option.key = getKernelKey(lone, inOrder, device);
  if (loops) {
    llvm::raw_string_ostream(option.title) << Attribute(loops);
    const MachineModel model = target.getMachine();
    KernelAnalysis::SymbolRanges timed =
        hlir::getAssumptions(func).getSymbols();
    for (const auto &[name, size] : ofProgram)
      timed[name] = {size, size};
    llir::PriceTerms price =
        llir::explainPrice(kernel, loops, timed, model, model.workers);
    option.predicted = price.total() / kNanoseconds;
    price.visit([&](StringRef name, double nanoseconds) {
      if (nanoseconds > 0)
        option.terms.push_back({name.str(), nanoseconds / kNanoseconds});
    });
  }
  double sum = 0;
  op->walk([&](llir::ReductionOpInterface reduction) {
    sum += double(reduction.getReducedExtent()
                      .evaluate([&](std::string_view name) {
                        auto it = ofProgram.find(name);
                        return it == ofProgram.end()
                                   ? std::nullopt
                                   : std::optional(it->second);
                      })
                      .value_or(0));
  });
  // For a library call, estimate the number of terms from the operands.
  if (isa<llir::LibraryOpInterface>(op))
    for (Value operand : op->getOperands())
      for (int64_t extent :
           cast<RankedTensorType>(operand.getType()).getShape())
        sum = std::max(sum, double(extent));
  terms[option.key] = sum;
  kernelSizes[option.key] = std::move(ownSizes);
  kernels.emplace(option.key, std::move(lone));
  return option;
}

//===----------------------------------------------------------------------===//
// Draws
//===----------------------------------------------------------------------===//

/// Variants that differ most from the given one, each in one respect.
std::vector<CompileSpace::Variant> CompileSpace::getVariants() const {
  std::vector<Variant> variants;
  auto add = [&](StringRef library, StringRef fuse) {
    if (library != options.library || fuse != options.fuse)
      variants.push_back({library.str(), fuse.str()});
  };
  if (from >= Phase::Fused)
    return variants;
  add(options.library, "kernels");
  if (!target.getLibraries().empty()) {
    add("none", options.fuse);
    add("none", "kernels");
  }
  return variants;
}

/// Strength of the random changes of prices in an extraction.
static constexpr double kStrength = 0.25;

Result<search::Program> CompileSpace::best() {
  LUMINAL_TRY(program, lowerFirst());
  firstDigest = program.digest;
  // Extract the same program as eqsat-saturate did.
  auto chosen = extractNew([&](eqsat::SaturationSession &session) {
    return session.extract(options.seed, options.seed == 0 ? 0 : kStrength);
  });
  if (!chosen)
    return Error("nothing could be extracted from the e-graph");
  first = std::move(*chosen);
  programs.at(firstDigest).extracted = first;
  // Assume that values computed from weights are free, until measurements show
  // whether the memory for them suffices.
  for (auto &session : sessions)
    session->setWeightsFree(true);
  hasNewPrices = true;
  return program;
}

std::optional<CompileSpace::Extracted> CompileSpace::extractNew(
    function_ref<FailureOr<eqsat::Candidate>(eqsat::SaturationSession &)>
        extract) {
  Extracted all;
  std::string digest = variant.str();
  for (auto &session : sessions) {
    FailureOr<eqsat::Candidate> one = extract(*session);
    if (failed(one))
      return std::nullopt;
    digest += " " + one->digest;
    all.push_back(std::move(*one));
  }
  if (!extracted.insert(std::move(digest)).second)
    return std::nullopt;
  return all;
}

search::Program CompileSpace::orSame(Result<search::Program> program) {
  if (program)
    return std::move(*program);
  // Return the first program, which the search already knows.
  if (note)
    note("no candidate " + program.error().message);
  search::Program same;
  same.digest = firstDigest;
  return same;
}

/// Draws first the variants, then the cheapest program by learned prices, then
/// programs by randomly changed prices: mostly near the cheapest program,
/// sometimes extracted again.
Result<std::optional<search::Program>> CompileSpace::draw(uint64_t number) {
  using Drawn = std::optional<search::Program>;
  std::vector<Variant> variants = getVariants();
  if (number <= variants.size()) {
    const Variant &v = variants[number - 1];
    return Drawn(orSame(lower(first, v, v.str())));
  }
  // The program without fusion is slow, but its times say most about single
  // nodes. Not drawn first.
  constexpr uint64_t kSingle = 6;
  if (number == std::max<uint64_t>(kSingle, variants.size() + 1) ||
      (sessions.empty() && number == variants.size() + 1))
    if (Variant v{options.library, "ops"};
        from < Phase::Fused && options.fuse != v.fuse)
      return Drawn(orSame(lower(first, v, v.str())));
  // Without sessions there is nothing else to draw.
  if (sessions.empty())
    return Drawn();
  std::string suffix;
  if (variant != Variant{options.library, options.fuse})
    suffix = " " + variant.str();
  // Not twice in a row: small changes of prices rarely lead to a new program.
  if (hasNewPrices && std::exchange(mayAskPrices, false)) {
    hasNewPrices = false;
    auto cheapest = extractNew(
        [](eqsat::SaturationSession &session) { return session.best(); });
    if (cheapest)
      return Drawn(
          orSame(lower(*cheapest, variant, "measured prices" + suffix)));
  }
  mayAskPrices = true;
  // A small graph has few programs, and repeated draws are cheap.
  constexpr unsigned kTries = 16;
  constexpr uint64_t kStride = 1000003;
  constexpr uint64_t kAnew = 8;
  constexpr double kStrengths[] = {0.25, 1, 4};
  for (unsigned i = 0; i < kTries; ++i) {
    ++seeds;
    uint64_t seed = options.seed * kStride + seeds;
    double strength = kStrengths[seeds % std::size(kStrengths)];
    bool isAnew = seeds % kAnew == 0;
    auto drawn = extractNew([&](eqsat::SaturationSession &session) {
      return isAnew ? session.extract(seed, strength)
                    : session.draw(seed, strength);
    });
    if (drawn)
      return Drawn(orSame(
          lower(*drawn, variant, "seed=" + std::to_string(seed) + suffix)));
  }
  search::Program same;
  same.digest = firstDigest;
  return Drawn(std::move(same));
}

void CompileSpace::learn(const search::Program &program,
                         const search::Times &times) {
  const Lowered &lowered = programs.at(program.digest);
  search::Choice choice = search::chooseOptions(program, times, /*worth=*/1);
  if (choice.seconds < leastSeconds) {
    leastSeconds = choice.seconds;
    variant = lowered.variant;
  }
  std::vector<NodePrices::Timed> kernels;
  for (auto [i, members] : llvm::enumerate(lowered.classes)) {
    auto time = times.find(program.classes[i].options[choice.options[i]].key);
    // Times are missing: learn nothing.
    if (time == times.end() || !std::isfinite(time->second))
      return;
    for (const std::vector<unsigned> &marks : members.marks)
      kernels.push_back({&marks, time->second});
  }
  prices.learn(lowered.nodes, lowered.marks, kernels);
  std::vector<std::pair<std::string, double>> changed = prices.take();
  if (changed.empty())
    return;
  for (auto &session : sessions)
    (void)session->setPrices(changed);
  hasNewPrices = true;
}

/// Further schedules: for the static choice, proposals of all forms and its
/// neighbours; for others, their neighbours.
const SmallVector<llir::ProposedLoops> &
CompileSpace::getMore(llir::KernelOp kernel, const std::string &key,
                      llir::LoopsAttr loops, bool isStatic) {
  auto [it, isNew] = more.try_emplace(getName(key));
  if (!isNew)
    return it->second;
  KernelAnalysis::SymbolRanges ranges =
      hlir::getAssumptions(kernel).getSymbols();
  it->second = isStatic ? target.proposeAll(kernel, ranges)
                        : target.refine(kernel, loops, ranges);
  if (!options.searchSchedules)
    return it->second;
  // Compare prices at nominal sizes, at which the proposals are priced.
  const MachineModel model = target.getMachine();
  const double most = kMostPrice * llir::priceLoops(kernel, loops, ranges,
                                                    model, model.workers);
  llvm::erase_if(it->second, [&](const llir::ProposedLoops &proposed) {
    return proposed.price > most;
  });
  return it->second;
}

Result<std::vector<Option>> CompileSpace::refine(const search::Program &program,
                                                 size_t kernelClass,
                                                 size_t option) {
  Members &members = programs.at(program.digest).classes[kernelClass];
  std::vector<Option> found;
  auto add = [&](const Way &way) {
    found.push_back(way.option);
    members.loops.push_back(way.loops);
  };
  auto kernel = dyn_cast<llir::KernelOp>(members.ops.front());
  if (!kernel)
    return found;
  // Another program with this kernel may have added schedules since.
  const search::KernelClass &c = program.classes[kernelClass];
  std::vector<Way> &ways = known.at(getName(c.options.front().key));
  for (const Way &way : ways)
    if (!llvm::is_contained(members.loops, way.loops))
      add(way);
  const bool isStatic = option == 0;
  // With searchSchedules = 1 only the static choice is measured; with 0, all
  // schedules were proposed already.
  if (options.searchSchedules == 1 || !(options.searchSchedules || isStatic))
    return found;
  const size_t most = !options.searchSchedules ? SIZE_MAX
                      : isStatic               ? options.searchSchedules - 1
                                               : kMostNeighbours;
  size_t count = 0;
  for (const llir::ProposedLoops &proposed : getMore(
           kernel, c.options[option].key, members.loops[option], isStatic)) {
    if (count == most)
      break;
    if (llvm::is_contained(members.loops, proposed.loops))
      continue;
    ++count;
    ways.push_back({makeOption(kernel, proposed.loops), proposed.loops});
    add(ways.back());
  }
  return found;
}

OwningOpRef<ModuleOp> CompileSpace::build(const search::Choice &choice) const {
  const Lowered &lowered = programs.at(choice.program->digest);
  IRMapping map;
  OwningOpRef<ModuleOp> module(
      cast<ModuleOp>(lowered.module.get().getOperation()->clone(map)));
  for (auto [members, option] :
       llvm::zip_equal(lowered.classes, choice.options))
    if (llir::LoopsAttr loops = members.loops[option])
      for (Operation *op : members.ops)
        cast<llir::KernelOp>(map.lookup(op)).setLoopsAttr(loops);
  return module;
}

std::map<std::string, eqsat::UsedRule>
CompileSpace::getUsedRules(const search::Program &program) const {
  std::map<std::string, eqsat::UsedRule> all;
  const Lowered &lowered = programs.at(program.digest);
  if (lowered.extracted.size() != sessions.size())
    return all;
  for (auto [session, candidate] :
       llvm::zip_equal(sessions, lowered.extracted)) {
    eqsat::ExtractionReport made;
    if (failed(session->materialise(candidate, &made)))
      continue;
    for (const auto &[name, used] : session->getUsedRules(candidate, made)) {
      all[name].ops += used.ops;
      all[name].steps += used.steps;
    }
  }
  return all;
}
