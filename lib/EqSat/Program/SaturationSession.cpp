//===- SaturationSession.cpp - Saturate once, take many programs ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/EqSat/Program/SaturationSession.h"
#include "../Patterns/RuleLoader.h"
#include "Program.h"
#include "Report.h"
#include "luminal/Support/Sha256.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/StringSet.h"

#include <mutex>

using namespace mlir;
using namespace luminal;
using namespace luminal::eqsat;

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

SessionRules::SessionRules() : loader(std::make_unique<RuleLoader>()) {}
SessionRules::~SessionRules() = default;

FailureOr<std::shared_ptr<const SessionRules>>
SessionRules::load(Location loc, const RuleSelection &selection,
                   bool allowUnregistered) {
  std::shared_ptr<SessionRules> rules(new SessionRules);
  MLIRContext *context = loc.getContext();
  for (const std::string &file : selection.files) {
    rules->files.push_back(RuleLoader::parseFile(context, file));
    if (!rules->files.back())
      return failure();
  }
  if (failed(rules->loader->loadSets(
          loc, selection.sets, selection.sets.empty() && !selection.noSets)))
    return failure();
  std::vector<ModuleOp> modules = selection.modules;
  for (OwningOpRef<ModuleOp> &file : rules->files)
    modules.push_back(*file);
  rules->owner = selection.owner;
  for (ModuleOp module : modules)
    if (failed(rules->loader->loadModule(module)))
      return failure();
  if (!modules.empty() &&
      failed(rules->loader->check(context, allowUnregistered)))
    return failure();
  return std::shared_ptr<const SessionRules>(std::move(rules));
}

void SessionRules::warnOfRefused(const PrecisionPolicy &policy) const {
  loader->warnOfRefused(policy);
}

FailureOr<PrecisionPolicy>
luminal::eqsat::findPrecision(Location loc, StringRef name, double maxUlps) {
  if (!llvm::is_contained({"exact", "rounding", "finite"}, name))
    return emitError(loc) << "no precision is named '" << name
                          << "'; known are exact, rounding, finite";
  // Also refuses NaN.
  if (!(maxUlps >= 0))
    return emitError(loc, "max-ulps must be a nonnegative number");
  if (name == "exact")
    return PrecisionPolicy::exact();
  return PrecisionPolicy{maxUlps, name == "finite"};
}

//===----------------------------------------------------------------------===//
// Prices
//===----------------------------------------------------------------------===//

/// The first 32 hex digits of a hash.
static std::string shortHex(Sha256 &hash) { return hash.hex().substr(0, 32); }

static std::string keyOf(OperationName name, DictionaryAttr attributes,
                         TypeRange operands, TypeRange results) {
  // A rule may omit attributes that have a default, while an op always has
  // them.
  NamedAttrList all(attributes);
  if (name.isRegistered())
    name.populateDefaultAttrs(all);
  std::string text;
  llvm::raw_string_ostream(text)
      << name << " " << all.getDictionary(name.getContext()) << " (" << operands
      << ") -> (" << results << ")";
  Sha256 hash;
  hash.update(text);
  return shortHex(hash);
}

namespace {
/// The prices of a model, except for those that were set. Locks around the
/// model, which need not be thread-safe.
class SessionPrices final : public CostModel {
public:
  SessionPrices(std::unique_ptr<CostModel> model, const OpTable &ops)
      : model(std::move(model)), ops(ops) {}

  double cost(const NodeView &node) override {
    std::lock_guard<std::mutex> lock(mutex);
    double price = model->cost(node);
    if (!(price < kInfiniteCost))
      return price;
    // Scale instead of using zero, so that the cheaper of two such nodes is
    // chosen.
    constexpr double kNothing = 1e-6;
    if (areWeightsFree && node.isOfWeights &&
        llvm::all_of(node.resultTypes, [](Type type) {
          auto shaped = dyn_cast<ShapedType>(type);
          return shaped && isa<FloatType>(shaped.getElementType());
        }))
      price *= kNothing;
    if (prices.empty())
      return price;
    auto spelled = [&](ArrayRef<Type> types) {
      return llvm::map_to_vector(types, [&](Type t) { return ops.spelled(t); });
    };
    auto it = prices.find(keyOf(*node.name, node.attributes,
                                spelled(node.operandTypes),
                                spelled(node.resultTypes)));
    if (it == prices.end())
      return price;
    used.insert(it->getKey());
    return it->getValue();
  }
  double modelCost(const NodeView &node) {
    std::lock_guard<std::mutex> lock(mutex);
    return model->cost(node);
  }

  bool areWeightsFree = false;
  llvm::StringMap<double> prices;
  /// The keys looked up so far that some node has.
  llvm::StringSet<> used;

private:
  std::mutex mutex;
  std::unique_ptr<CostModel> model;
  const OpTable &ops;
};
} // namespace

std::string SaturationSession::priceKey(Operation *op) {
  return keyOf(op->getName(), OpTable::inherentAttrs(op), op->getOperandTypes(),
               op->getResultTypes());
}

//===----------------------------------------------------------------------===//
// Creation
//===----------------------------------------------------------------------===//

/// The members are declared in the order in which they refer to each other.
struct SaturationSession::State {
  std::shared_ptr<const SessionRules> source;
  OwningOpRef<ModuleOp> module;
  func::FuncOp function;
  std::optional<Program> program;
  std::optional<NativeBridge> natives;
  std::shared_ptr<const SaturationRun> run;
  std::unique_ptr<SessionPrices> prices;
  bool hasProofs = false;

  /// Created when the first program is chosen.
  struct Search {
    Search(State &state)
        : extractor(state.program->graph,
                    state.program->priceOnce(*state.prices),
                    state.program->getScopes()),
          roots(state.program->rootNames(extractor)) {
      isComplete = !llvm::is_contained(roots, kNone);
      llvm::erase(roots, kNone);
      state.program->markAlternatives(extractor, state.run->rules);
    }
    Extractor extractor;
    std::vector<ClassId> roots;
    bool isComplete;
    /// Created when the first candidate is drawn.
    std::unique_ptr<Candidates> candidates;
  };
  std::mutex mutex;
  std::unique_ptr<Search> search;

  const Search &getSearch() {
    std::lock_guard<std::mutex> lock(mutex);
    if (!search)
      search = std::make_unique<Search>(*this);
    return *search;
  }
  const Candidates &getCandidates() {
    const Search &s = getSearch();
    std::lock_guard<std::mutex> lock(mutex);
    if (!s.candidates)
      search->candidates = std::make_unique<Candidates>(s.extractor, s.roots);
    return *s.candidates;
  }
  void reprice() {
    if (!search) {
      (void)getSearch();
      return;
    }
    search->candidates.reset();
    search->extractor.reprice(program->priceOnce(*prices));
  }
  FailureOr<Candidate> toCandidate(Selection selection);
  std::string getPrefix() { return (function.getSymName() + ":").str(); }
  FailureOr<ProofReport> explain(ArrayRef<std::string> values,
                                 const Selection &selection);
};

/// A module with the attributes of the function's module, a copy of the
/// function, and declarations of the symbols that it names.
static OwningOpRef<ModuleOp> copyAlone(func::FuncOp function) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(function.getLoc());
  auto around = function->getParentOfType<ModuleOp>();
  if (around)
    (*module)->setAttrs(around->getAttrDictionary());
  OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());
  builder.insert(function->clone());
  // Skip the slow search for symbol uses if the function is alone.
  if (!around || llvm::hasSingleElement(*around.getBody()))
    return module;
  std::optional<SymbolTable::UseRange> uses =
      SymbolTable::getSymbolUses(function.getOperation());
  llvm::StringSet<> seen{function.getSymName()};
  for (SymbolTable::SymbolUse use : uses.value_or(SymbolTable::UseRange({}))) {
    StringAttr name = use.getSymbolRef().getRootReference();
    Operation *symbol = SymbolTable::lookupSymbolIn(around, name);
    if (!symbol || !seen.insert(name).second)
      continue;
    if (!isa<func::FuncOp>(symbol)) {
      builder.insert(symbol->clone());
      continue;
    }
    auto declaration = cast<func::FuncOp>(symbol->cloneWithoutRegions());
    declaration.setPrivate();
    builder.insert(declaration);
  }
  return module;
}

SaturationSession::SaturationSession(std::unique_ptr<State> state)
    : state(std::move(state)) {}
SaturationSession::~SaturationSession() = default;

FailureOr<std::unique_ptr<SaturationSession>>
SaturationSession::create(func::FuncOp function, const SessionOptions &options,
                          std::shared_ptr<const SaturationRun> *told) {
  auto state = std::make_unique<State>();
  State &s = *state;
  s.source = options.rules;
  if (!s.source) {
    auto rules = SessionRules::load(function.getLoc(), {});
    if (failed(rules))
      return failure();
    s.source = std::move(*rules);
  }
  FailureOr<const CostModelFactory *> factory =
      findCostModel(function.getLoc(), options.costModel);
  if (failed(factory))
    return failure();

  s.module = copyAlone(function);
  s.function = cast<func::FuncOp>(s.module->getBody()->front());
  s.program.emplace(s.function, options.allowUnregistered);
  s.hasProofs = options.keepProofs;
  if (s.hasProofs)
    s.program->keepProofs();
  s.natives.emplace(s.program->ops, s.function, options.precision);
  if (failed(s.program->import(s.natives->scope())))
    return failure();
  FailureOr<LoadedRules> rules =
      s.source->loader->compile(s.program->ops, *s.natives, s.hasProofs);
  if (failed(rules))
    return failure();
  RunnerOptions limits{options.limits};
  limits.incremental = !options.naive;
  limits.staged = !options.batch;
  auto run = std::make_shared<SaturationRun>();
  s.run = run;
  run->name = s.function.getSymName().str();
  run->run = saturate(s.program->graph, *rules, limits);
  run->rules = std::move(rules->all);
  if (failed(s.natives->checkMisuse()))
    return failure();
  if (told)
    *told = s.run;
  if (run->run.stop == StopReason::Conflict)
    return s.program->emitConflict(run->rules);
  if (failed(checkStop(s.function, run->rules, run->run, limits)))
    return failure();
  s.program->freeze();
  s.prices = std::make_unique<SessionPrices>(
      (**factory)(s.natives->scope(), options.machine), s.program->ops);
  return std::unique_ptr<SaturationSession>(
      new SaturationSession(std::move(state)));
}

const SaturationRun &SaturationSession::report() const { return *state->run; }

StringRef SaturationSession::getName() const {
  return state->function.getSymName();
}

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

FailureOr<Candidate>
SaturationSession::State::toCandidate(Selection selection) {
  const Search &s = getSearch();
  if (!s.isComplete || !(selection.dagCost < kInfiniteCost))
    return program->emitBlocked(s.extractor, selection);
  Candidate candidate;
  candidate.cost = selection.dagCost;
  Sha256 hash;
  for (ClassId c : s.extractor.order(selection, s.roots)) {
    NodeRef node = selection.chosen[c];
    uint32_t words[] = {c, node.op, node.row};
    hash.update(words, sizeof words);
  }
  candidate.digest = shortHex(hash);
  candidate.selection = std::make_shared<const Selection>(std::move(selection));
  return candidate;
}

FailureOr<Candidate> SaturationSession::best() const {
  return state->toCandidate(state->getCandidates().best());
}

FailureOr<Candidate> SaturationSession::draw(uint64_t seed,
                                             double strength) const {
  return state->toCandidate(state->getCandidates().draw({seed, strength}));
}

FailureOr<Candidate> SaturationSession::extract(uint64_t seed,
                                                double strength) const {
  const State::Search &s = state->getSearch();
  return state->toCandidate(s.extractor.greedyDag(s.roots, {seed, strength}));
}

FailureOr<Candidate> SaturationSession::choose(StringRef choices,
                                               StringRef name) const {
  const State::Search &s = state->getSearch();
  if (!s.isComplete)
    return best(); // emits the error that says why there is no program
  FailureOr<Selection> selection = state->program->readChoices(
      *state->prices, state->getPrefix(), choices, name, s.extractor, s.roots);
  if (failed(selection))
    return failure();
  return state->toCandidate(std::move(*selection));
}

std::string SaturationSession::choices(const Candidate &candidate) const {
  const State::Search &s = state->getSearch();
  std::vector<uint8_t> needed(candidate.selection->chosen.size());
  for (ClassId c : s.extractor.order(*candidate.selection, s.roots))
    needed[c] = 1;
  llvm::json::Object list;
  GraphSerializer to;
  state->program->serialize(
      *state->prices, state->getPrefix(), to,
      [&](const std::string &node, NodeRef ref, ScopedClass place) {
        ClassId name = s.extractor.in(place.cls, place.scope);
        if (name != kNone && needed[name] &&
            s.extractor.scopeOf(name) == place.scope &&
            candidate.selection->chosen[name] == ref)
          list[StringRef(node).rsplit('.').first.str()] = node;
      });
  std::string text;
  llvm::raw_string_ostream(text)
      << llvm::json::Value(llvm::json::Object{{"choices", std::move(list)}});
  return text;
}

double SaturationSession::costOf(const Candidate &candidate) const {
  const State::Search &s = state->getSearch();
  return s.extractor.dagCost(*candidate.selection, s.roots);
}

FailureOr<OwningOpRef<ModuleOp>>
SaturationSession::materialise(const Candidate &candidate,
                               ExtractionReport *report) const {
  State &s = *state;
  ExtractionReport own;
  FailureOr<OwningOpRef<func::FuncOp>> function =
      s.program->materialise(state->getSearch().extractor, *candidate.selection,
                             *s.prices, report ? *report : own);
  if (failed(function))
    return failure();
  OwningOpRef<ModuleOp> module = ModuleOp::create(s.module->getLoc());
  (*module)->setAttrs((*s.module)->getAttrDictionary());
  OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());
  builder.insert(function->release());
  for (Operation &op : llvm::drop_begin(*s.module->getBody()))
    builder.insert(op.clone());
  return std::move(module);
}

void SaturationSession::setWeightsFree(bool areFree) {
  state->prices->areWeightsFree = areFree;
  state->reprice();
}

double SaturationSession::modelPrice(Operation *op) const {
  NodeView node;
  node.name = op->getName();
  node.attributes = OpTable::inherentAttrs(op);
  SmallVector<Type> operands(op->getOperandTypes()),
      results(op->getResultTypes());
  node.operandTypes = operands;
  node.resultTypes = results;
  return state->prices->modelCost(node);
}

FailureOr<unsigned>
SaturationSession::setPrices(ArrayRef<std::pair<std::string, double>> prices) {
  for (auto &[key, price] : prices)
    if (!(price >= 0 && price < kInfiniteCost))
      return emitError(state->function.getLoc())
             << "the price of " << key << " is not a finite nonnegative number";
  SessionPrices &all = *state->prices;
  for (auto &[key, price] : prices)
    all.prices[key] = price;
  state->reprice();
  unsigned used = 0;
  for (auto &[key, price] : prices)
    used += all.used.contains(key);
  return used;
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

FailureOr<ProofReport>
SaturationSession::State::explain(ArrayRef<std::string> values,
                                  const Selection &selection) {
  if (!hasProofs)
    return emitError(function.getLoc(), "this session recorded no proofs");
  return program->explain(run->rules, values, getSearch().extractor, selection);
}

FailureOr<ProofReport>
SaturationSession::explain(const Candidate &candidate) const {
  return state->explain({}, *candidate.selection);
}

FailureOr<ProofReport> SaturationSession::explain(StringRef a,
                                                  StringRef b) const {
  return state->explain({a.str(), b.str()}, Selection());
}

void SaturationSession::serialize(GraphSerializer &to) const {
  state->program->serialize(*state->prices, state->getPrefix(), to);
}

std::string SaturationSession::serialize() const {
  GraphSerializer to;
  serialize(to);
  return to.str();
}

FailureOr<OwningOpRef<Operation *>> SaturationSession::toEquivalence() const {
  if (failed(state->program->checkEquivalence()))
    return failure();
  return state->program->toEquivalence();
}

std::map<std::string, UsedRule>
SaturationSession::getUsedRules(const Candidate &candidate,
                                const ExtractionReport &made) const {
  std::map<std::string, UsedRule> used;
  ArrayRef<Rule> rules = report().rules;
  for (auto [id, count] : made.usedRules)
    if (id < rules.size()) {
      const Rule &rule = rules[id];
      used[(rule.formOf == kNone ? rule : rules[rule.formOf]).name].ops +=
          count;
    }
  FailureOr<ProofReport> proofs = failure();
  {
    ScopedDiagnosticHandler silent(state->function.getContext(),
                                   [](Diagnostic &) { return success(); });
    proofs = explain(candidate);
  }
  if (failed(proofs))
    return used;
  const llvm::json::Object *root = proofs->json.getAsObject();
  if (const llvm::json::Array *steps = root ? root->getArray("steps") : nullptr)
    for (const llvm::json::Value &step : *steps)
      if (const llvm::json::Object *object = step.getAsObject())
        if (auto rule = object->getString("rule"))
          ++used[rule->str()].steps;
  return used;
}
