//===- Materialise.cpp - A selection as a function ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Program.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace luminal::eqsat;

/// Builds one function. Ops that are not nodes are copied in order; each
/// selected node is made before the first of them that needs it.
class Program::Materialiser {
public:
  Materialiser(const Program &p, const Extractor &extractor, const Selection &s,
               CostModel &model, ExtractionReport &report)
      : p(p), ops(p.ops), graph(p.graph), extractor(extractor), s(s),
        model(model), report(report) {}

  FailureOr<OwningOpRef<func::FuncOp>> run();

private:
  void copyRegion(Region &from, Region &to,
                  const llvm::DenseSet<Operation *> &nodes);
  FailureOr<Value> make(ClassId root, Operation *user);
  /// Converts the value to an equal type with another spelling.
  FailureOr<Value> inSpelling(Value value, Type type, Operation *before,
                              Location loc);
  /// The insertion point in the scope that computes the name: the op of that
  /// scope's block that contains the user.
  Operation *placeOf(ClassId name, Operation *user) const {
    return copies.lookup(p.blocks[extractor.scopeOf(name)])
        ->findAncestorOpInBlock(*user);
  }
  Location locationOf(ClassId c, Location user) const {
    auto it = p.locations.find(c);
    if (it == p.locations.end())
      return user;
    return FusedLoc::get(user.getContext(), it->second);
  }

  const Program &p;
  const OpTable &ops;
  const EGraph &graph;
  const Extractor &extractor;
  const Selection &s;
  CostModel &model;
  ExtractionReport &report;
  /// Maps values, ops and blocks of the program to the new ones.
  IRMapping copies;
  /// By the extractor's names.
  llvm::DenseMap<ClassId, SmallVector<Value, 1>> built;
  llvm::DenseMap<std::pair<Value, Type>, Value> respelled;
};

/// Operands are set afterwards, when all values exist.
void Program::Materialiser::copyRegion(
    Region &from, Region &to, const llvm::DenseSet<Operation *> &nodes) {
  for (Block &block : from) {
    Block *copy = &to.emplaceBlock();
    copies.map(&block, copy);
    for (BlockArgument arg : block.getArguments())
      copies.map(arg, copy->addArgument(arg.getType(), arg.getLoc()));
    for (Operation &op : block) {
      if (nodes.contains(&op))
        continue;
      Operation *made = op.clone(
          copies,
          Operation::CloneOptions::all().cloneRegions(false).cloneOperands(
              false));
      copies.map(&op, made);
      copy->push_back(made);
      for (auto [inner, innerCopy] :
           llvm::zip_equal(op.getRegions(), made->getRegions()))
        copyRegion(inner, innerCopy, nodes);
    }
  }
}

FailureOr<Value> Program::Materialiser::inSpelling(Value value, Type type,
                                                   Operation *before,
                                                   Location loc) {
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
    return emitError(loc) << "no op converts a value of type " << from
                          << " where the equal type " << type << " is written";
  ++report.ops;
  made = OpBuilder(before).create(*cheapest)->getResult(0);
  return made;
}

FailureOr<Value> Program::Materialiser::make(ClassId root, Operation *user) {
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
    Operation *before = placeOf(name, user);
    PayloadId payload = t.payload(ref.row);
    if (ref.op == ops.leafOp()) {
      Value leaf = copies.lookup(ops.leafValue(payload));
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
    // Ops are made with the chosen spellings of types, whichever members were
    // selected. Leaves keep their types and are converted.
    for (ClassId child : children) {
      Value v = built[child][0];
      FailureOr<Value> operand =
          inSpelling(v, ops.spelled(v.getType()), placeOf(child, user), loc);
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

FailureOr<OwningOpRef<func::FuncOp>> Program::Materialiser::run() {
  func::FuncOp given = p.function;
  OwningOpRef<func::FuncOp> made(given.cloneWithoutRegions());
  llvm::DenseSet<Operation *> nodes(p.nodes.begin(), p.nodes.end());
  copyRegion(given.getBody(), made->getBody(), nodes);
  for (auto [op, scope] : p.users()) {
    Operation *copy = copies.lookup(op);
    SmallVector<Value> operands;
    for (OpOperand &operand : op->getOpOperands()) {
      ClassId name = extractor.in(p.classes.lookup(operand.get()), scope);
      FailureOr<Value> v = make(name, copy);
      // An op that is not a node keeps its original operand types.
      if (succeeded(v))
        v = inSpelling(*v, operand.get().getType(), placeOf(name, copy),
                       op->getLoc());
      if (failed(v))
        return failure();
      operands.push_back(*v);
    }
    copy->setOperands(operands);
  }
  return std::move(made);
}

void Program::indexLocations() {
  locations.clear();
  for (auto &[cls, loc] : givenLocations) {
    auto &list = locations[graph.find(cls)];
    if (!llvm::is_contained(list, loc))
      list.push_back(loc);
  }
}

void Program::freeze() {
  indexLocations();
  ops.makeAttributes();
}

FailureOr<OwningOpRef<func::FuncOp>>
Program::materialise(const Extractor &extractor, const Selection &selection,
                     CostModel &model, ExtractionReport &report) const {
  report.cost = selection.dagCost;
  return Materialiser(*this, extractor, selection, model, report).run();
}
