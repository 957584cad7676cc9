//===- Equivalence.cpp - The e-graph as MLIR, out and in ------------------===//
//
// A function whose body is one `equivalence.graph`: its region holds every node
// as an op on classes, and one `equivalence.class` of each class, whose
// operands are its members. `equivalence.yield` ends it. Classes may be in
// cycles.
//
//===----------------------------------------------------------------------===//

#include "Program.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace luminal::eqsat;

static constexpr llvm::StringLiteral kGraph = "equivalence.graph";
static constexpr llvm::StringLiteral kClass = "equivalence.class";
static constexpr llvm::StringLiteral kYield = "equivalence.yield";

/// The locations of the ops as given that a class has, fused under this mark,
/// stand on the class and on each of its nodes.
static constexpr llvm::StringLiteral kGivenMark = "equivalence.given";

//===----------------------------------------------------------------------===//
// Out
//===----------------------------------------------------------------------===//

OwningOpRef<Operation *> Program::toEquivalence() {
  auto copy = cast<func::FuncOp>(function->cloneWithoutRegions());
  OwningOpRef<Operation *> owner(copy);
  Location loc = copy.getLoc();
  Block *entry = copy.addEntryBlock();
  for (auto [from, to] :
       llvm::zip(function.getArguments(), entry->getArguments()))
    to.setLoc(from.getLoc());
  OpBuilder builder = OpBuilder::atBlockEnd(entry);
  Operation *terminator = function.getBody().front().getTerminator();

  OperationState graphState(loc, kGraph);
  graphState.addTypes(terminator->getOperandTypes());
  Block *body = new Block;
  graphState.addRegion()->push_back(body);
  Operation *graphOp = builder.create(graphState);
  builder.clone(*terminator)->setOperands(graphOp->getResults());
  builder.setInsertionPointToEnd(body);

  MLIRContext *context = function.getContext();
  std::vector<llvm::SetVector<Location>> given(graph.numClassIds());
  for (auto &[cls, where] : givenLocations)
    given[graph.find(cls)].insert(where);
  auto locationOf = [&](ClassId c) -> Location {
    if (given[c].empty())
      return UnknownLoc::get(context);
    return FusedLoc::get(context, given[c].getArrayRef(),
                         StringAttr::get(context, kGivenMark));
  };

  // Classes first: nodes stand on them, whatever the order. An op with several
  // results has no class of its own, each of its results has.
  std::vector<Operation *> classOps(graph.numClassIds());
  for (ClassId c = 0; c != graph.numClassIds(); ++c) {
    Type type = ops.type(graph.classType(c));
    if (graph.runs(c).empty() || isa<TupleType>(type))
      continue;
    OperationState state(locationOf(c), kClass);
    state.addTypes(type);
    classOps[c] = builder.create(state);
  }
  auto valueOf = [&](Value v) {
    return classOps[graph.find(classes.lookup(v))]->getResult(0);
  };
  // What stays outside the e-graph, on classes.
  llvm::DenseMap<Value, Value> leaves;
  for (auto [from, to] :
       llvm::zip(function.getArguments(), entry->getArguments()))
    leaves[from] = to;
  llvm::DenseSet<Operation *> isGiven(nodes.begin(), nodes.end());
  for (Operation &op : function.getBody().front().without_terminator()) {
    if (isGiven.contains(&op))
      continue;
    Operation *clone = builder.clone(op);
    for (OpOperand &operand : clone->getOpOperands())
      operand.set(valueOf(operand.get()));
    for (auto [from, to] : llvm::zip(op.getResults(), clone->getResults()))
      leaves[from] = to;
  }
  SmallVector<SmallVector<Value>> members(graph.numClassIds());
  std::vector<SmallVector<Operation *, 1>> severalResults(graph.numClassIds());
  auto forEachRow = [&](auto &&f) {
    for (ClassId c = 0; c != graph.numClassIds(); ++c)
      for (const Run &run : graph.runs(c))
        for (uint32_t row = run.begin; row != run.end; ++row)
          f(c, run.op, graph.table(run.op), row);
  };
  forEachRow([&](ClassId c, OpId op, const Table &t, uint32_t row) {
    if (op == ops.projectionOp())
      return;
    if (op == ops.leafOp()) {
      members[c].push_back(leaves.lookup(ops.leafValue(t.payload(row))));
      return;
    }
    OperationState state(locationOf(c), *ops.opName(op));
    for (uint32_t i = 0; i != t.arity(); ++i)
      state.operands.push_back(
          classOps[graph.find(t.key(row)[i])]->getResult(0));
    Type type = ops.type(graph.payloadType(t.payload(row)));
    if (auto tuple = dyn_cast<TupleType>(type))
      state.addTypes(tuple.getTypes());
    else
      state.addTypes(type);
    state.addAttributes(ops.attributes(t.payload(row)).getValue());
    Operation *node = builder.create(state);
    if (isa<TupleType>(type))
      severalResults[c].push_back(node);
    else
      members[c].push_back(node->getResult(0));
  });
  forEachRow([&](ClassId c, OpId op, const Table &t, uint32_t row) {
    if (op != ops.projectionOp())
      return;
    int64_t index =
        cast<IntegerAttr>(ops.attr(graph.payloadField(
                              t.payload(row), ops.projectionIndexName())))
            .getInt();
    for (Operation *node : severalResults[graph.find(t.key(row)[0])])
      members[c].push_back(node->getResult(index));
  });
  for (ClassId c = 0; c != graph.numClassIds(); ++c)
    if (classOps[c])
      classOps[c]->setOperands(members[c]);
  OperationState yield(terminator->getLoc(), kYield);
  for (Value v : terminator->getOperands())
    yield.operands.push_back(valueOf(v));
  builder.create(yield);
  return owner;
}

//===----------------------------------------------------------------------===//
// In
//===----------------------------------------------------------------------===//

Operation *Program::equivalenceGraph() {
  Operation &first = function.getBody().front().front();
  return first.getName().getStringRef() == kGraph ? &first : nullptr;
}

LogicalResult Program::importEquivalence(Operation *graphOp) {
  if (graphOp->getNumRegions() != 1 || graphOp->getNumOperands() != 0 ||
      !llvm::hasSingleElement(graphOp->getRegion(0)))
    return graphOp->emitError()
           << "'" << kGraph << "' takes no operands and one block";
  for (Operation *op = graphOp->getNextNode(); op; op = op->getNextNode())
    if (!op->hasTrait<OpTrait::IsTerminator>())
      return op->emitError()
             << "'" << kGraph << "' is not all that the function does";
  Block &body = graphOp->getRegion(0).front();
  if (body.empty() || body.back().getName().getStringRef() != kYield ||
      body.back().getOperandTypes() != graphOp->getResultTypes())
    return graphOp->emitError() << "'" << kGraph << "' does not end in a '"
                                << kYield << "' of its results";
  Operation *yield = &body.back();

  // A class is known with its first member; a node with all its classes. What
  // is in a cycle alone is never known.
  llvm::DenseMap<Operation *, unsigned> missing;
  SmallVector<Operation *> ready;
  // `without_terminator` knows registered terminators only.
  for (Operation &op : llvm::make_range(body.begin(), yield->getIterator())) {
    bool isClass = op.getName().getStringRef() == kClass;
    if (isClass && (op.getNumResults() != 1 || op.getNumOperands() == 0))
      return op.emitError()
             << "'" << kClass << "' has one result and a member at least";
    if (!isClass && !ops.isNode(&op))
      return op.emitError()
             << "'" << op.getName() << "' cannot be a node of the e-graph";
    for (Value v : op.getOperands()) {
      Operation *def = v.getDefiningOp();
      if (!isClass && !(def && def->getName().getStringRef() == kClass))
        return op.emitError() << "an operand of a node is not the result of a '"
                              << kClass << "'";
    }
    missing[&op] = op.getNumOperands();
    if (op.getNumOperands() == 0)
      ready.push_back(&op);
  }
  auto learn = [&](Value v, ClassId c) {
    classes[v] = c;
    for (OpOperand &use : v.getUses()) {
      Operation *user = use.getOwner();
      if (user == yield || !missing.count(user))
        continue;
      bool isClass = user->getName().getStringRef() == kClass;
      unsigned &left = missing[user];
      if (isClass ? left == user->getNumOperands() : left == 1)
        ready.push_back(user);
      --left;
    }
  };
  for (Value arg : function.getArguments())
    learn(arg, ops.addLeaf(arg));
  for (size_t i = 0; i != ready.size(); ++i) {
    Operation *op = ready[i];
    if (op->getName().getStringRef() == kClass) {
      for (Value v : op->getOperands())
        if (auto it = classes.find(v); it != classes.end()) {
          learn(op->getResult(0), it->second);
          break;
        }
      continue;
    }
    SmallVector<ClassId> operands;
    for (Value v : op->getOperands())
      operands.push_back(classes.lookup(v));
    ClassId node = ops.addOperation(op, operands);
    Location where = op->getLoc();
    auto fused = dyn_cast<FusedLoc>(where);
    auto mark =
        fused ? dyn_cast_or_null<StringAttr>(fused.getMetadata()) : nullptr;
    if (mark && mark.getValue() == kGivenMark) {
      for (Location piece : fused.getLocations())
        givenLocations.push_back({node, piece});
    } else if (!isa<UnknownLoc>(where)) {
      givenLocations.push_back({node, where});
    }
    for (OpResult r : op->getResults())
      learn(r, ops.addResult(node, r.getResultNumber(), r.getType(),
                             op->getNumResults()));
  }
  for (Operation &op : body)
    for (Value v : op.getOperands())
      if (!classes.count(v))
        return op.emitError() << "an operand can be computed by no member of "
                                 "its class: they are all in cycles";
  for (Operation &op : body)
    if (op.getName().getStringRef() == kClass)
      for (Value v : op.getOperands())
        if (graph.unite(classes.lookup(op.getResult(0)), classes.lookup(v)) >=
            Merge::Refused)
          return op.emitError() << "members of a class are not provably of "
                                   "equal types, or facts about them "
                                   "contradict each other";
  nodes.push_back(graphOp);
  for (auto [result, v] :
       llvm::zip(graphOp->getResults(), yield->getOperands())) {
    classes[result] = classes.lookup(v);
    rootUses.push_back({classes.lookup(v), 0});
  }
  return success();
}
