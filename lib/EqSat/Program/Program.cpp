//===- Program.cpp - A function as an e-graph, and back -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Program.h"
#include "../Patterns/Registry.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/Allocator.h"

#include <chrono>

using namespace mlir;
using namespace luminal::eqsat;

namespace {

/// A class analysis over MLIR as one over numbers: a fact is an attribute's
/// number plus one.
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
      return 0; // facts are about single values
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
      return 0; // an op without operands
    return scopeOfBlock.lookup(ops.leafValue(payload).getParentBlock());
  };
  return isEquivalence() ? importEquivalence()
                         : importBlock(function.getBody().front(), 0);
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
           << "' has regions, which the e-graph does not look into";
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
             << ": the e-graph takes a tuple for the results "
                "of an op with several";
    ClassId node = ops.addOperation(&op, operands);
    nodes.push_back(&op);
    givenLocations.push_back({node, op.getLoc()});
    for (OpResult r : op.getResults())
      classes[r] = ops.addResult(node, r.getResultNumber(), r.getType(),
                                 op.getNumResults());
  }
  return success();
}

std::vector<std::pair<Operation *, ScopeId>> Program::users() {
  llvm::DenseSet<Operation *> isGiven(nodes.begin(), nodes.end());
  std::vector<std::pair<Operation *, ScopeId>> list;
  function.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
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
    return id < rules.size() ? "rule '" + rules[id].name + "'"
                             : std::string("the program");
  };
  // The nearest given op: any of either class.
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
                      std::span<const ClassId> children) {
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
  return model.cost(view);
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
             << "a value of a scope is needed where it does not exist";
    }
    InFlightDiagnostic diag = emitError(loc) << "nothing lowers ";
    std::optional<OperationName> name =
        runs.empty() ? std::nullopt : ops.opName(runs[0].op);
    // Ops of the program are what its author knows.
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

Location Program::locationOf(ClassId c, Location user) const {
  auto it = locations.find(c);
  if (it == locations.end())
    return user;
  return FusedLoc::get(user.getContext(), it->second);
}

FailureOr<Value> Program::inSpelling(Value value, Type type, CostModel &model,
                                     Operation *before, Location loc,
                                     ExtractionReport &report) {
  if (value.getType() == type)
    return value;
  Value &made = respelled[{value, type}];
  if (made)
    return made;
  std::optional<OperationState> cheapest;
  double least = kInfiniteCost;
  Type from = value.getType();
  for (auto &[name, attributes] : ops.conversions(from, type)) {
    NodeView view;
    view.name = OperationName(name, type.getContext());
    view.attributes = attributes;
    view.operandTypes = from;
    view.resultTypes = type;
    double cost = model.cost(view);
    if (!(cost < least))
      continue;
    least = cost;
    cheapest.emplace(loc, *view.name, value, type, attributes.getValue());
  }
  if (!cheapest)
    return emitError(loc) << "nothing takes a value of type " << from
                          << " where the equal type " << type << " is written";
  ++report.ops;
  made = OpBuilder(before).create(*cheapest)->getResult(0);
  return made;
}

FailureOr<Value> Program::materialise(ClassId root, const Extractor &extractor,
                                      const Selection &s, CostModel &model,
                                      Operation *user,
                                      ExtractionReport &report) {
  struct Frame {
    ClassId name;
    Location loc;
    uint32_t next;
  };
  SmallVector<Frame> stack;
  auto enter = [&](ClassId name, Location loc) {
    if (!built.count(name))
      stack.push_back({name, locationOf(extractor.classOf(name), loc), 0});
  };
  enter(root, user->getLoc());
  while (!stack.empty()) {
    Frame &f = stack.back();
    ClassId name = f.name;
    NodeRef ref = s.chosen[name];
    const Table &t = graph.table(ref.op);
    if (f.next != t.arity()) {
      uint32_t next = f.next++;
      enter(extractor.child(s, name, next), f.loc);
      continue;
    }
    Location loc = f.loc;
    stack.pop_back();
    if (built.count(name))
      continue;
    SmallVector<ClassId> children;
    for (uint32_t i = 0; i != t.arity(); ++i)
      children.push_back(extractor.child(s, name, i));
    // In the scope that computes it, before what leads to the user.
    auto placeOf = [&](ClassId name) {
      return blocks[extractor.scopeOf(name)]->findAncestorOpInBlock(*user);
    };
    Operation *before = placeOf(name);
    PayloadId payload = t.payload(ref.row);
    if (ref.op == ops.leafOp()) {
      Value leaf = ops.leafValue(payload);
      Operation *def = leaf.getDefiningOp();
      if (def && !def->isBeforeInBlock(before))
        return emitError(loc)
               << "a value is equal to a result of '" << def->getName()
               << "', which is computed after it is needed";
      built[name] = {leaf};
      continue;
    }
    if (ref.op == ops.projectionOp()) {
      int64_t index =
          cast<IntegerAttr>(
              ops.attr(graph.payloadField(payload, ops.projectionIndexName())))
              .getInt();
      Value v = built[children[0]][index];
      built[name] = {v};
      continue;
    }
    OpBuilder builder(before);
    OperationState state(loc, *ops.opName(ref.op));
    // Whichever members were chosen, ops are made in one spelling, and leaves,
    // which keep their types, are converted to it.
    for (ClassId child : children) {
      Value v = built[child][0];
      FailureOr<Value> operand = inSpelling(v, ops.spelled(v.getType()), model,
                                            placeOf(child), loc, report);
      if (failed(operand))
        return failure();
      state.operands.push_back(*operand);
    }
    state.addTypes(ops.spelledList(graph.payloadType(payload)));
    state.addAttributes(ops.attributes(payload).getValue());
    Operation *op = builder.create(state);
    built[name] = {op->result_begin(), op->result_end()};
    ++report.ops;
    if (t.rule(ref.row) != kGiven)
      ++report.usedRules[t.rule(ref.row)];
  }
  return built[root][0];
}

FailureOr<ExtractionReport>
Program::extract(CostModel &model, OnSelected onSelected, Choose choose) {
  auto start = std::chrono::steady_clock::now();
  // Layers repeat: nodes that look alike are priced once. Where few do, the
  // cache is not worth its memory.
  constexpr size_t kMaxPrices = size_t(1) << 16;
  llvm::BumpPtrAllocator allocator;
  llvm::DenseMap<ArrayRef<uint32_t>, double> prices;
  SmallVector<uint32_t> key;
  auto priceOf = [&](OpId op, PayloadId payload,
                     std::span<const ClassId> children) {
    key.assign({op, payload});
    for (ClassId c : children)
      key.push_back(graph.classType(c));
    if (auto it = prices.find(key); it != prices.end())
      return it->second;
    double cost = price(model, op, payload, children);
    if (prices.size() < kMaxPrices)
      prices.insert({ArrayRef<uint32_t>(key).copy(allocator), cost});
    return cost;
  };
  Extractor extractor(graph, priceOf, scopes);
  std::vector<ClassId> rootNames;
  for (const ScopedClass &root : rootUses)
    rootNames.push_back(extractor.in(root.cls, root.scope));
  bool isComplete = !llvm::is_contained(rootNames, kNone);
  if (!isComplete)
    llvm::erase(rootNames, kNone);
  FailureOr<Selection> chosen = choose && isComplete
                                    ? choose(extractor, rootNames)
                                    : extractor.greedyDag(rootNames);
  if (failed(chosen))
    return failure();
  const Selection &s = *chosen;
  if (!isComplete || !(s.dagCost < kInfiniteCost))
    return emitBlocked(extractor, s);
  if (onSelected && failed(onSelected(extractor, s)))
    return failure();

  ExtractionReport report;
  report.cost = s.dagCost;
  for (auto &[cls, loc] : givenLocations) {
    auto &list = locations[graph.find(cls)];
    if (!llvm::is_contained(list, loc))
      list.push_back(loc);
  }
  for (auto [op, scope] : users())
    for (OpOperand &operand : op->getOpOperands()) {
      ClassId name = extractor.in(classes.lookup(operand.get()), scope);
      FailureOr<Value> v = materialise(name, extractor, s, model, op, report);
      // An op that is not a node keeps the types that it was written with.
      if (succeeded(v))
        v = inSpelling(
            *v, operand.get().getType(), model,
            blocks[extractor.scopeOf(name)]->findAncestorOpInBlock(*op),
            op->getLoc(), report);
      if (failed(v))
        return failure();
      operand.set(*v);
    }
  for (Operation *op : llvm::reverse(nodes))
    op->erase();
  nodes.clear();
  report.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  return report;
}
