//===- CompileSpace.cpp - The programs that a compile can end with --------===//
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

/// Schedules that are timed around one that is better than the static choice.
static constexpr size_t kMostNeighbours = 6;
/// What is predicted to take so many times as long is not timed.
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

/// What runs in a call, not when weights are bound.
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

/// What is said of the first program holds for all.
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

/// The first program as a compile without a search makes it.
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
  // Who knows it needs no more than that.
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

/// Programs of one search have most kernels in common: what is known of one is
/// asked for once.
std::vector<CompileSpace::Way> &CompileSpace::getWays(Operation *op) {
  auto kernel = dyn_cast<llir::KernelOp>(op);
  llir::LoopsAttr loops = kernel ? *kernel.getLoops() : llir::LoopsAttr();
  Option first = makeOption(op, loops);
  std::vector<Way> &ways = known[getName(first.key)];
  if (ways.empty())
    ways.push_back({std::move(first), loops});
  return ways;
}

/// A schedule may name symbols as this program does, and a key does not.
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
  // Of a library's call the operands say it.
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

/// What differs most, one thing at a time.
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

/// How far the prices of an extraction are changed.
static constexpr double kStrength = 0.25;

Result<search::Program> CompileSpace::best() {
  LUMINAL_TRY(program, lowerFirst());
  firstDigest = program.digest;
  // As eqsat-saturate chose it.
  auto chosen = extractNew([&](eqsat::SaturationSession &session) {
    return session.extract(options.seed, options.seed == 0 ? 0 : kStrength);
  });
  if (!chosen)
    return Error("nothing is extracted from what was saturated");
  first = std::move(*chosen);
  programs.at(firstDigest).extracted = first;
  // The clock says whether there is the memory to prepare them.
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
  // Nothing that the first program is not.
  if (note)
    note("no candidate " + program.error().message);
  search::Program same;
  same.digest = firstDigest;
  return same;
}

/// The variants, then what is the cheapest by the prices that were learned,
/// then programs by prices that a seed changed: those near the cheapest, and
/// now and then one that is found anew.
Result<std::optional<search::Program>> CompileSpace::draw(uint64_t number) {
  using Drawn = std::optional<search::Program>;
  std::vector<Variant> variants = getVariants();
  if (number <= variants.size()) {
    const Variant &v = variants[number - 1];
    return Drawn(orSame(lower(first, v, v.str())));
  }
  // Slow, but it tells most about single nodes; not the first to look at.
  constexpr uint64_t kSingle = 6;
  if (number == std::max<uint64_t>(kSingle, variants.size() + 1) ||
      (sessions.empty() && number == variants.size() + 1))
    if (Variant v{options.library, "ops"};
        from < Phase::Fused && options.fuse != v.fuse)
      return Drawn(orSame(lower(first, v, v.str())));
  // Where nothing was extracted, there is nothing else.
  if (sessions.empty())
    return Drawn();
  std::string suffix;
  if (variant != Variant{options.library, options.fuse})
    suffix = " " + variant.str();
  // Not twice in a row: prices that changed little give what is hardly new.
  if (hasNewPrices && std::exchange(mayAskPrices, false)) {
    hasNewPrices = false;
    auto cheapest = extractNew(
        [](eqsat::SaturationSession &session) { return session.best(); });
    if (cheapest)
      return Drawn(
          orSame(lower(*cheapest, variant, "measured prices" + suffix)));
  }
  mayAskPrices = true;
  // Small graphs have few programs, and to see that takes no time.
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
    // What is not known says nothing.
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

/// Of the static choice what other forms propose and what is near it, of others
/// what is near them.
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
  // At nominal sizes, as the others' prices are.
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
  // Another program may have had the kernel since.
  const search::KernelClass &c = program.classes[kernelClass];
  std::vector<Way> &ways = known.at(getName(c.options.front().key));
  for (const Way &way : ways)
    if (!llvm::is_contained(members.loops, way.loops))
      add(way);
  const bool isStatic = option == 0;
  // One is the static choice itself; all of them lead nowhere else.
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
