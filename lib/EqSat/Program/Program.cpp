//===- Program.cpp - A function as an e-graph, and back -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Program.h"
#include "../Patterns/Registry.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/Allocator.h"

using namespace mlir;
using namespace luminal::eqsat;

namespace {

/// Adapts a class analysis over MLIR to one over numbers: a fact is the number
/// of its attribute plus one.
class AttributeFacts final : public Analysis {
public:
  AttributeFacts(std::unique_ptr<ClassAnalysis> impl, OpTable &ops,
                 uint32_t self)
      : impl(std::move(impl)), ops(ops), self(self) {}

  uint32_t make(const EGraph &graph, OpId op, PayloadId payload,
                std::span<const ClassId> children) override {
    NodeView view;
    SmallVector<Type> operandTypes, resultTypes;
    SmallVector<Attribute> facts;
    for (ClassId c : children) {
      operandTypes.push_back(ops.type(graph.classType(c)));
      uint32_t fact = graph.fact(self, graph.find(c));
      facts.push_back(fact ? ops.attr(fact - 1) : Attribute());
    }
    Type type = ops.type(graph.payloadType(payload));
    if (op == ops.projectionOp())
      return 0; // facts describe single values
    if (auto tuple = dyn_cast<TupleType>(type))
      resultTypes.append(tuple.begin(), tuple.end());
    else
      resultTypes.push_back(type);
    if (op == ops.leafOp())
      view.leaf = ops.leafValue(payload);
    view.name = ops.opName(op);
    view.attributes = ops.attributes(payload);
    view.operandTypes = operandTypes;
    view.resultTypes = resultTypes;
    view.operandFacts = facts;
    Attribute made = impl->make(view);
    return made ? ops.getAttr(made) + 1 : 0;
  }

  std::optional<uint32_t> join(uint32_t a, uint32_t b) override {
    if (!a || !b || a == b)
      return a ? a : b;
    std::optional<Attribute> joined =
        impl->join(ops.attr(a - 1), ops.attr(b - 1));
    if (!joined)
      return std::nullopt;
    return *joined ? ops.getAttr(*joined) + 1 : 0;
  }

private:
  std::unique_ptr<ClassAnalysis> impl;
  OpTable &ops;
  uint32_t self;
};

} // namespace

Program::Program(func::FuncOp function, bool allowUnregistered)
    : ops(graph, function.getContext(), allowUnregistered), function(function) {
}

//===----------------------------------------------------------------------===//
// In
//===----------------------------------------------------------------------===//

void Program::addAnalyses(Operation *scope) {
  for (auto &[name, factory] : Registry::get().analyses) {
    uint32_t id = graph.numAnalyses();
    graph.addAnalysis(
        std::make_unique<AttributeFacts>(factory(scope), ops, id));
    ops.nameAnalysis(name, id);
  }
  for (const TypeSpellingsFactory &factory : Registry::get().typeSpellings)
    ops.addSpellings(factory(scope));
  graph.compareTypes = [this](TypeId a, TypeId b) {
    return ops.compareTypes(a, b);
  };
}

LogicalResult Program::import(Operation *scope) {
  if (!llvm::hasSingleElement(function.getBody()))
    return emitError(function.getLoc(),
                     "a function with several blocks cannot be "
                     "saturated");
  addAnalyses(scope);
  blocks.push_back(&function.getBody().front());
  scopes.scopeOf = [this](OpId op, PayloadId payload) -> ScopeId {
    if (op != ops.leafOp())
      return 0; // an op without operands exists in the whole program
    return scopeOfBlock.lookup(ops.leafValue(payload).getParentBlock());
  };
  if (isEquivalence())
    return importEquivalence();
  SmallVector<std::pair<Value, Value>> equal;
  for (const FindEqualities &find : Registry::get().equalities)
    find(function, [&](Value a, Value b) { equal.push_back({a, b}); });
  if (failed(importBlock(function.getBody().front(), 0)))
    return failure();
  for (auto [a, b] : equal)
    graph.unite(classes.lookup(a), classes.lookup(b), kKnown);
  return success();
}

LogicalResult
Program::enterScopes(Operation &op, ScopeId around,
                     function_ref<LogicalResult(Block &, ScopeId)> enter) {
  if (op.getNumRegions() == 0)
    return success();
  std::optional<double> trips = regionTrips(&op);
  if (!trips)
    return emitError(op.getLoc())
           << "'" << op.getName()
           << "' has regions, which the e-graph does not support";
  for (Region &region : op.getRegions()) {
    ScopeId inner = scopes.list.size();
    scopes.list.push_back({around, *trips});
    blocks.push_back(&region.front());
    if (failed(enter(region.front(), inner)))
      return failure();
  }
  return success();
}

LogicalResult Program::importBlock(Block &block, ScopeId scope) {
  scopeOfBlock[&block] = scope;
  auto classOf = [&](Value v) {
    auto [it, inserted] = classes.try_emplace(v, kNone);
    if (inserted)
      it->second = ops.addLeaf(v);
    return it->second;
  };
  for (Value arg : block.getArguments())
    classOf(arg);
  for (Operation &op : block) {
    SmallVector<ClassId> operands;
    for (Value v : op.getOperands())
      operands.push_back(classOf(v));
    if (!ops.isNode(&op)) {
      for (ClassId c : operands)
        rootUses.push_back({c, scope});
      for (Value r : op.getResults())
        classOf(r);
      if (failed(enterScopes(op, scope, [&](Block &inner, ScopeId innerScope) {
            return importBlock(inner, innerScope);
          })))
        return failure();
      continue;
    }
    if (op.getNumResults() == 1 && isa<TupleType>(op.getResult(0).getType()))
      return emitError(op.getLoc())
             << "a value of type " << op.getResult(0).getType()
             << ": the e-graph uses tuples for the results of an op with "
                "several";
    ClassId node = ops.addOperation(&op, operands);
    nodes.push_back(&op);
    givenLocations.push_back({node, op.getLoc()});
    for (OpResult r : op.getResults())
      classes[r] = ops.addResult(node, r.getResultNumber(), r.getType(),
                                 op.getNumResults());
  }
  return success();
}

std::vector<std::pair<Operation *, ScopeId>> Program::users() const {
  llvm::DenseSet<Operation *> isGiven(nodes.begin(), nodes.end());
  std::vector<std::pair<Operation *, ScopeId>> list;
  func::FuncOp(function).getBody().walk<WalkOrder::PreOrder>(
      [&](Operation *op) {
        if (isGiven.contains(op))
          return WalkResult::skip();
        list.push_back({op, scopeOfBlock.lookup(op->getBlock())});
        return WalkResult::advance();
      });
  return list;
}

LogicalResult Program::emitConflict(ArrayRef<Rule> rules) {
  const Conflict &c = *graph.conflict();
  auto describe = [&](RuleId id) {
    if (id == kKnown)
      return std::string("what is known of integers");
    return id < rules.size() ? "rule '" + rules[id].name + "'"
                             : std::string("the program");
  };
  // Report at any given op of either class.
  Location loc = function.getLoc();
  for (auto &[cls, where] : givenLocations)
    if (graph.find(cls) == graph.find(c.a) ||
        (c.b != kNone && graph.find(cls) == graph.find(c.b))) {
      loc = where;
      break;
    }
  InFlightDiagnostic diag = emitError(loc);
  diag << describe(c.rule) << " makes two values equal ";
  if (c.analysis == kNone)
    diag << "whose types differ: " << ops.type(c.typeA) << " and "
         << ops.type(c.typeB);
  else
    diag << "about which contradictory facts are known";
  RuleId otherA = graph.makerOf(c.a);
  RuleId otherB = c.b == kNone ? kGiven : graph.makerOf(c.b);
  diag << "; they come from " << describe(otherA) << " and "
       << describe(c.b == kNone ? c.rule : otherB);
  return diag;
}

//===----------------------------------------------------------------------===//
// Out
//===----------------------------------------------------------------------===//

double Program::price(CostModel &model, OpId op, PayloadId payload,
                      std::span<const ClassId> children) const {
  if (op == ops.leafOp() || op == ops.projectionOp())
    return 0;
  NodeView view;
  SmallVector<Type> operandTypes, resultTypes;
  for (ClassId c : children)
    operandTypes.push_back(ops.type(graph.classType(c)));
  Type type = ops.type(graph.payloadType(payload));
  if (auto tuple = dyn_cast<TupleType>(type))
    resultTypes.append(tuple.begin(), tuple.end());
  else
    resultTypes.push_back(type);
  view.name = ops.opName(op);
  view.attributes = ops.attributes(payload);
  view.operandTypes = operandTypes;
  view.resultTypes = resultTypes;
  view.isOfWeights = isOfWeights(children);
  return model.cost(view);
}

bool Program::isOfWeights(std::span<const ClassId> children) const {
  std::optional<uint32_t> weight = ops.analysis("weight");
  return weight && !children.empty() && llvm::all_of(children, [&](ClassId c) {
           return graph.fact(*weight, graph.find(c)) != 0;
         });
}

void Program::serialize(CostModel &model, StringRef prefix, GraphSerializer &to,
                        const GraphSerializer::OnNode &onNode) {
  GraphSerializer::Labels labels;
  labels.node = [&](OpId op, PayloadId payload) {
    std::string text = graph.opName(op);
    DictionaryAttr attributes = ops.attributes(payload);
    if (!attributes.empty())
      llvm::raw_string_ostream(text) << " " << attributes;
    return text;
  };
  labels.type = [&](TypeId type) {
    std::string text;
    llvm::raw_string_ostream(text) << ops.type(type);
    return text;
  };
  to.add(
      graph, rootUses,
      [&](OpId op, PayloadId payload, std::span<const ClassId> children) {
        return price(model, op, payload, children);
      },
      labels, prefix.str(), scopes, onNode);
}

FailureOr<Selection> Program::readChoices(CostModel &model, StringRef prefix,
                                          StringRef choices, StringRef name,
                                          const Extractor &extractor,
                                          std::span<const ClassId> roots) {
  GraphSerializer to;
  std::map<std::string, std::pair<NodeRef, ScopedClass>> byName;
  serialize(model, prefix, to,
            [&](const std::string &node, NodeRef ref, ScopedClass place) {
              byName.insert({node, {ref, place}});
            });
  auto serialized = SerializedGraph::parse(to.str(), name.str());
  if (!serialized)
    return emitError(function.getLoc()) << serialized.error().message;
  auto taken = (*serialized)->check(choices, name.str());
  if (!taken)
    return emitError(function.getLoc()) << taken.error().message;
  Selection s = extractor.bottomUp({});
  for (const std::string &node : *taken) {
    auto &[ref, place] = byName[node];
    s.chosen[extractor.in(place.cls, place.scope)] = ref;
  }
  s.dagCost = extractor.dagCost(s, roots);
  return s;
}

LogicalResult Program::emitBlocked(const Extractor &extractor,
                                   const Selection &s) {
  for (const ScopedClass &root : rootUses) {
    ClassId blocker = extractor.blocker(s, root.cls, root.scope);
    if (blocker == kNone)
      continue;
    Location loc = function.getLoc();
    for (auto &[cls, where] : givenLocations)
      if (graph.find(cls) == blocker) {
        loc = where;
        break;
      }
    std::span<const Run> runs = graph.runs(blocker);
    if (!runs.empty() && runs[0].op == ops.leafOp()) {
      PayloadId payload = graph.table(runs[0].op).payload(runs[0].begin);
      return emitError(ops.leafValue(payload).getLoc())
             << "a value of a scope is used outside of it";
    }
    InFlightDiagnostic diag = emitError(loc) << "nothing lowers ";
    std::optional<OperationName> name =
        runs.empty() ? std::nullopt : ops.opName(runs[0].op);
    // Name an op of the given program, because its author knows it.
    for (const Run &run : runs)
      for (uint32_t row = run.begin; row != run.end; ++row)
        if (graph.table(run.op).rule(row) == kGiven && ops.opName(run.op)) {
          name = ops.opName(run.op);
          goto found;
        }
  found:
    if (name)
      diag << "'" << *name << "' of type ";
    else
      diag << "a value of type ";
    diag << ops.type(graph.classType(blocker));
    return diag;
  }
  return emitError(function.getLoc(), "no program of finite price was found");
}

NodeCostFn Program::priceOnce(CostModel &model) {
  // Layers repeat, so nodes that look alike are priced once. If few nodes are
  // alike, the cache stops growing, since it would not be worth its memory.
  constexpr size_t kMaxPrices = size_t(1) << 16;
  struct Cache {
    llvm::BumpPtrAllocator allocator;
    llvm::DenseMap<ArrayRef<uint32_t>, double> prices;
    SmallVector<uint32_t> key;
  };
  return [this, &model, cache = std::make_shared<Cache>()](
             OpId op, PayloadId payload, std::span<const ClassId> children) {
    SmallVector<uint32_t> &key = cache->key;
    key.assign({op, payload, isOfWeights(children)});
    for (ClassId c : children)
      key.push_back(graph.classType(c));
    if (auto it = cache->prices.find(key); it != cache->prices.end())
      return it->second;
    double cost = price(model, op, payload, children);
    if (cache->prices.size() < kMaxPrices)
      cache->prices.insert(
          {ArrayRef<uint32_t>(key).copy(cache->allocator), cost});
    return cost;
  };
}

void Program::markAlternatives(Extractor &extractor,
                               ArrayRef<Rule> rules) const {
  std::vector<bool> bounded;
  for (const Rule &rule : rules)
    bounded.push_back(rule.growth > 0);
  extractor.setAlternatives([this, bounded = std::move(bounded)](NodeRef node) {
    RuleId rule = graph.table(node.op).rule(node.row);
    return rule < bounded.size() && bounded[rule];
  });
}

std::vector<ClassId> Program::rootNames(const Extractor &extractor) const {
  std::vector<ClassId> names;
  for (const ScopedClass &root : rootUses)
    names.push_back(extractor.in(root.cls, root.scope));
  return names;
}

FailureOr<ExtractionReport>
Program::extract(CostModel &model, OnSelected onSelected, Choose choose) {
  Extractor extractor(graph, priceOnce(model), scopes);
  std::vector<ClassId> roots = rootNames(extractor);
  bool isComplete = !llvm::is_contained(roots, kNone);
  llvm::erase(roots, kNone);
  FailureOr<Selection> chosen = choose && isComplete
                                    ? choose(extractor, roots)
                                    : extractor.greedyDag(roots);
  if (failed(chosen))
    return failure();
  if (!isComplete || !(chosen->dagCost < kInfiniteCost))
    return emitBlocked(extractor, *chosen);
  if (onSelected && failed(onSelected(extractor, *chosen)))
    return failure();
  indexLocations();
  ExtractionReport report;
  FailureOr<OwningOpRef<func::FuncOp>> made =
      materialise(extractor, *chosen, model, report);
  if (failed(made))
    return failure();
  // Leaves refer to values of the old body, so keep it.
  replaced = function.cloneWithoutRegions();
  replaced->getBody().takeBody(function.getBody());
  function.getBody().takeBody((*made)->getBody());
  return report;
}
