//===- Equivalence.cpp - The e-graph as MLIR, out and in ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The form is a function whose body is one `equivalence.graph`. Its region
// holds every node as an op on classes, and an `equivalence.class` for each
// class, whose operands are its members. Ops that are not nodes are in the
// region too, in their order. `equivalence.yield` ends it. Classes may form
// cycles.
//
// The body of a scope is again such a graph, of the nodes that need the
// arguments of the scope. If a class has members there, the scope has an
// `equivalence.class` for it too, whose first member is the class outside. A
// class that only sibling scopes compute also has an `equivalence.class`
// without members in the scope around them.
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

/// Marks the fused locations of the given ops of a class. They are attached to
/// the class and to each of its nodes.
static constexpr llvm::StringLiteral kGivenMark = "equivalence.given";

static bool isClassOp(Operation *op) {
  return op && op->getName().getStringRef() == kClass;
}

//===----------------------------------------------------------------------===//
// Out
//===----------------------------------------------------------------------===//

class Program::EquivalenceWriter {
public:
  explicit EquivalenceWriter(Program &program)
      : p(program), graph(p.graph), ops(p.ops), scopes(p.scopes),
        isGiven(p.nodes.begin(), p.nodes.end()), given(graph.numClassIds()),
        content(scopes.list.size()), homes(graph.numClassIds()) {
    for (auto &[cls, where] : p.givenLocations)
      given[graph.find(cls)].insert(where);
    place();
  }

  /// Writes block `from`, the body of a scope, as a graph in `to`.
  void write(Block &from, ScopeId scope, Block &to);

private:
  /// The nodes and classes of one scope, in the order of the classes.
  struct Content {
    std::vector<ClassId> classes;
    std::vector<std::pair<ClassId, NodeRef>> rows;
  };

  void place();
  template <typename F>
  void forEachRow(F &&f) const {
    for (ClassId c = 0; c != graph.numClassIds(); ++c)
      for (const Run &run : graph.runs(c))
        for (uint32_t row = run.begin; row != run.end; ++row)
          f(c, NodeRef{run.op, row});
  }
  bool isTuple(ClassId c) const {
    return isa<TupleType>(ops.type(graph.classType(c)));
  }
  /// The class of the operation whose result a projection is.
  ClassId tupleOf(NodeRef ref) const {
    return graph.find(graph.table(ref.op).key(ref.row)[0]);
  }
  Location locationOf(ClassId c) const {
    MLIRContext *context = ops.getContext();
    if (given[c].empty())
      return UnknownLoc::get(context);
    return FusedLoc::get(context, given[c].getArrayRef(),
                         StringAttr::get(context, kGivenMark));
  }
  /// The value of a class in a scope, or null.
  Value valueOf(ClassId c, ScopeId scope) const {
    for (;; scope = scopes.list[scope].parent) {
      if (Operation *op = classOps.lookup({c, scope}))
        return op->getResult(0);
      if (scope == 0)
        return {};
    }
  }
  /// The value for an op that is not a node and must keep its operand types. If
  /// the class has another spelling, converts it with an `equivalence.class`.
  Value valueOf(Value v, ScopeId scope, OpBuilder &builder) const {
    Value known = valueOf(graph.find(p.classes.lookup(v)), scope);
    if (known.getType() == v.getType())
      return known;
    OperationState state(v.getLoc(), kClass, known, v.getType());
    return builder.create(state)->getResult(0);
  }
  void addArguments(Block &from, Block &to) {
    for (BlockArgument arg : from.getArguments())
      leaves[arg] = to.addArgument(arg.getType(), arg.getLoc());
  }
  void writeUser(Operation &op, ScopeId scope, OpBuilder &builder);
  Operation *writeNode(ClassId c, NodeRef ref, ScopeId scope,
                       OpBuilder &builder);

  Program &p;
  EGraph &graph;
  OpTable &ops;
  const Scopes &scopes;
  llvm::DenseSet<Operation *> isGiven;
  std::vector<llvm::SetVector<Location>> given;
  std::vector<Content> content;
  /// The scopes that have an `equivalence.class` of each class.
  std::vector<SmallVector<ScopeId, 1>> homes;
  llvm::DenseMap<std::pair<ClassId, ScopeId>, Operation *> classOps;
  /// The ops outside the e-graph, by the values that they define.
  llvm::DenseMap<Value, Value> leaves;
};

/// Places each node in the outermost scopes that have all its operands.
void Program::EquivalenceWriter::place() {
  Extractor extractor(
      graph, [](OpId, PayloadId, std::span<const ClassId>) { return 0.0; },
      scopes);
  auto canCompute = [&](NodeRef ref, ScopeId scope) {
    const Table &t = graph.table(ref.op);
    if (t.arity() == 0)
      return scopes.isFlat() ||
             scopes.isWithin(scope, scopes.scopeOf(ref.op, t.payload(ref.row)));
    return llvm::all_of(ArrayRef(t.key(ref.row), t.arity()), [&](ClassId c) {
      return extractor.in(c, scope) != kNone;
    });
  };
  forEachRow([&](ClassId c, NodeRef ref) {
    if (ref.op == ops.projectionOp())
      return;
    for (ScopeId s = 0; s != scopes.list.size(); ++s) {
      if (!canCompute(ref, s) ||
          (s != 0 && canCompute(ref, scopes.list[s].parent)))
        continue;
      content[s].rows.push_back({c, ref});
      homes[c].push_back(s);
    }
  });
  // The results of an op are in the same scopes as the op.
  forEachRow([&](ClassId c, NodeRef ref) {
    if (ref.op == ops.projectionOp())
      llvm::append_range(homes[c], homes[tupleOf(ref)]);
  });
  // A class that is used in a scope but cannot be computed gets an op that is
  // visible there.
  std::vector<SmallVector<ScopeId, 1>> blocked(graph.numClassIds());
  for (const ScopedClass &use : p.rootUses)
    if (extractor.in(use.cls, use.scope) == kNone)
      blocked[graph.find(use.cls)].push_back(use.scope);
  for (ClassId c = 0; c != graph.numClassIds(); ++c) {
    SmallVector<ScopeId, 1> &list = homes[c];
    llvm::sort(list);
    list.erase(llvm::unique(list), list.end());
    if (list.empty() || isTuple(c))
      continue;
    // Scopes come after their parents, so a scope that contains all others
    // would be first in the list.
    ScopeId around = list[0];
    auto isInside = [&](ScopeId s) { return scopes.isWithin(s, around); };
    while (!llvm::all_of(list, isInside) || !llvm::all_of(blocked[c], isInside))
      around = scopes.list[around].parent;
    if (around != list[0])
      list.insert(list.begin(), around);
    for (ScopeId s : list)
      content[s].classes.push_back(c);
  }
}

void Program::EquivalenceWriter::writeUser(Operation &op, ScopeId scope,
                                           OpBuilder &builder) {
  Operation *clone = op.cloneWithoutRegions();
  builder.insert(clone);
  for (OpOperand &operand : clone->getOpOperands())
    operand.set(valueOf(operand.get(), scope, builder));
  for (auto [from, to] : llvm::zip(op.getResults(), clone->getResults()))
    leaves[from] = to;
  for (auto [from, to] : llvm::zip(op.getRegions(), clone->getRegions())) {
    Block &block = to.emplaceBlock();
    addArguments(from.front(), block);
    write(from.front(), p.scopeOfBlock.lookup(&from.front()), block);
  }
}

Operation *Program::EquivalenceWriter::writeNode(ClassId c, NodeRef ref,
                                                 ScopeId scope,
                                                 OpBuilder &builder) {
  const Table &t = graph.table(ref.op);
  OperationState state(locationOf(c), *ops.opName(ref.op));
  for (uint32_t i = 0; i != t.arity(); ++i)
    state.operands.push_back(valueOf(graph.find(t.key(ref.row)[i]), scope));
  state.addTypes(ops.spelledList(graph.payloadType(t.payload(ref.row))));
  state.addAttributes(ops.attributes(t.payload(ref.row)).getValue());
  return builder.create(state);
}

void Program::EquivalenceWriter::write(Block &from, ScopeId scope, Block &to) {
  if (scope == 0)
    addArguments(from, to);
  Operation *terminator = from.getTerminator();
  OpBuilder builder = OpBuilder::atBlockEnd(&to);
  OperationState graphState(from.getParentOp()->getLoc(), kGraph);
  graphState.addTypes(terminator->getOperandTypes());
  Block *body = new Block;
  graphState.addRegion()->push_back(body);
  Operation *graphOp = builder.create(graphState);
  builder.clone(*terminator)->setOperands(graphOp->getResults());
  builder.setInsertionPointToEnd(body);

  // Create the classes first: they are operands of nodes. An op with several
  // results has a class for each result instead of one for itself.
  SmallVector<SmallVector<Value>> members;
  llvm::DenseMap<ClassId, unsigned> index;
  for (ClassId c : content[scope].classes) {
    index[c] = members.size();
    members.emplace_back();
    if (Value outer = valueOf(c, scope))
      members.back().push_back(outer);
    OperationState state(locationOf(c), kClass);
    state.addTypes(ops.spelled(ops.type(graph.classType(c))));
    classOps[{c, scope}] = builder.create(state);
  }
  for (Operation &op : from.without_terminator())
    if (!isGiven.contains(&op))
      writeUser(op, scope, builder);
  llvm::DenseMap<ClassId, SmallVector<Operation *, 1>> severalResults;
  for (auto [c, ref] : content[scope].rows) {
    if (ref.op == ops.leafOp()) {
      PayloadId payload = graph.table(ref.op).payload(ref.row);
      members[index[c]].push_back(leaves.lookup(ops.leafValue(payload)));
      continue;
    }
    Operation *node = writeNode(c, ref, scope, builder);
    if (isTuple(c))
      severalResults[c].push_back(node);
    else
      members[index[c]].push_back(node->getResult(0));
  }
  forEachRow([&](ClassId c, NodeRef ref) {
    if (ref.op != ops.projectionOp())
      return;
    auto number = cast<IntegerAttr>(ops.attr(graph.payloadField(
        graph.table(ref.op).payload(ref.row), ops.projectionIndexName())));
    if (auto it = severalResults.find(tupleOf(ref)); it != severalResults.end())
      for (Operation *node : it->second)
        members[index[c]].push_back(node->getResult(number.getInt()));
  });
  for (auto [c, list] : llvm::zip(content[scope].classes, members))
    classOps[{c, scope}]->setOperands(list);
  OperationState yield(terminator->getLoc(), kYield);
  for (Value v : terminator->getOperands())
    yield.operands.push_back(valueOf(v, scope, builder));
  builder.create(yield);
}

/// MLIR does not look up symbols of the module from inside a region of an
/// unregistered op, because that op might define symbols itself.
LogicalResult Program::checkEquivalence() {
  WalkResult result =
      function.getBody().walk([&](SymbolUserOpInterface op) {
        emitError(op.getLoc())
            << "'" << op->getName()
            << "' refers to a symbol, which cannot be looked up inside '"
            << kGraph << "'";
        return WalkResult::interrupt();
      });
  return failure(result.wasInterrupted());
}

OwningOpRef<Operation *> Program::toEquivalence() {
  auto copy = cast<func::FuncOp>(function->cloneWithoutRegions());
  OwningOpRef<Operation *> owner(copy);
  EquivalenceWriter(*this).write(function.getBody().front(), 0,
                                 copy.getBody().emplaceBlock());
  return owner;
}

//===----------------------------------------------------------------------===//
// In
//===----------------------------------------------------------------------===//

class Program::EquivalenceReader {
public:
  explicit EquivalenceReader(Program &program)
      : p(program), ops(p.ops), classes(p.classes) {}

  LogicalResult read() {
    if (failed(check(p.function.getBody().front(), 0)))
      return failure();
    addNodes();
    if (failed(unite()))
      return failure();
    dissolve();
    return success();
  }

private:
  struct Graph {
    Operation *op;
    ScopeId scope;
    SmallVector<Operation *> users; ///< ops that are not nodes
    Block &body() const { return op->getRegion(0).front(); }
    Operation *yield() const { return &body().back(); }
  };

  LogicalResult check(Block &block, ScopeId scope);
  LogicalResult checkOp(Operation &op, size_t graph);
  void addNodes();
  void learn(Value v, ClassId c);
  LogicalResult unite();
  void dissolve();
  template <typename F>
  LogicalResult forEachOp(F &&f) {
    for (Graph &g : graphs)
      for (Operation &op : g.body())
        if (failed(f(op)))
          return failure();
    return success();
  }

  Program &p;
  OpTable &ops;
  llvm::DenseMap<Value, ClassId> &classes;
  /// One graph for each scope, in the order of scopes.
  std::vector<Graph> graphs;
  std::vector<Value> leaves;
  /// The number of operands of each op whose class is unknown.
  llvm::DenseMap<Operation *, unsigned> missing;
  SmallVector<Operation *> ready;
};

LogicalResult Program::EquivalenceReader::check(Block &block, ScopeId scope) {
  Operation *graphOp = &block.front();
  if (graphOp->getName().getStringRef() != kGraph)
    return emitError(graphOp->getLoc())
           << "the body of a scope must be one '" << kGraph
           << "', like the code around it";
  if (graphOp->getNumRegions() != 1 || graphOp->getNumOperands() != 0 ||
      !llvm::hasSingleElement(graphOp->getRegion(0)))
    return emitError(graphOp->getLoc())
           << "'" << kGraph << "' must have no operands and one block";
  for (Operation *op = graphOp->getNextNode(); op; op = op->getNextNode())
    if (!op->hasTrait<OpTrait::IsTerminator>())
      return emitError(op->getLoc())
             << "'" << kGraph << "' must be the only op of the "
             << (scope == 0 ? "function" : "body of the scope") << " does";
  Block &body = graphOp->getRegion(0).front();
  if (body.empty() || body.back().getName().getStringRef() != kYield ||
      body.back().getOperandTypes() != graphOp->getResultTypes())
    return emitError(graphOp->getLoc()) << "'" << kGraph << "' must end in a '"
                                        << kYield << "' of its results";
  p.scopeOfBlock[&block] = scope;
  size_t index = graphs.size();
  graphs.push_back({graphOp, scope, {}});
  llvm::append_range(leaves, block.getArguments());
  for (Operation &op : body)
    if (failed(checkOp(op, index)))
      return failure();
  return success();
}

LogicalResult Program::EquivalenceReader::checkOp(Operation &op, size_t graph) {
  if (isClassOp(&op)) {
    // A class without members may be computed in inner scopes.
    if (op.getNumResults() != 1 ||
        (op.getNumOperands() == 0 && llvm::none_of(op.getUsers(), isClassOp)))
      return emitError(op.getLoc())
             << "'" << kClass
             << "' must have one result and at least one member";
    missing[&op] = op.getNumOperands();
    return success();
  }
  for (Value v : op.getOperands())
    if (!isClassOp(v.getDefiningOp()))
      return emitError(op.getLoc())
             << "an operand of a node is not the result of a '" << kClass
             << "'";
  if (op.getName().getStringRef() == kYield) {
    if (&op != graphs[graph].yield())
      return emitError(op.getLoc()) << "'" << kYield << "' must be the last op";
    return success();
  }
  if (ops.isNode(&op)) {
    missing[&op] = op.getNumOperands();
    if (op.getNumOperands() == 0)
      ready.push_back(&op);
    return success();
  }
  graphs[graph].users.push_back(&op);
  llvm::append_range(leaves, op.getResults());
  return p.enterScopes(
      op, graphs[graph].scope,
      [&](Block &block, ScopeId inner) { return check(block, inner); });
}

/// Propagates a known class: an `equivalence.class` is known as soon as one
/// member or a class that it belongs to is known, a node once all its operands
/// are. Ops that depend only on a cycle never become known.
void Program::EquivalenceReader::learn(Value v, ClassId c) {
  SmallVector<Value> same = {v};
  while (!same.empty()) {
    Value v = same.pop_back_val();
    if (!classes.try_emplace(v, c).second)
      continue;
    for (OpOperand &use : v.getUses()) {
      Operation *user = use.getOwner();
      auto it = missing.find(user);
      if (it == missing.end())
        continue;
      unsigned &left = it->second;
      if (isClassOp(user) ? left == user->getNumOperands() : left == 1)
        ready.push_back(user);
      --left;
    }
    if (Operation *def = v.getDefiningOp(); isClassOp(def))
      for (Value member : def->getOperands())
        if (isClassOp(member.getDefiningOp()))
          same.push_back(member);
  }
}

void Program::EquivalenceReader::addNodes() {
  for (Value leaf : leaves)
    learn(leaf, ops.addLeaf(leaf));
  for (size_t i = 0; i != ready.size(); ++i) {
    Operation *op = ready[i];
    if (isClassOp(op)) {
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
        p.givenLocations.push_back({node, piece});
    } else if (!isa<UnknownLoc>(where)) {
      p.givenLocations.push_back({node, where});
    }
    for (OpResult r : op->getResults())
      learn(r, ops.addResult(node, r.getResultNumber(), r.getType(),
                             op->getNumResults()));
  }
}

LogicalResult Program::EquivalenceReader::unite() {
  LogicalResult areKnown = forEachOp([&](Operation &op) -> LogicalResult {
    for (Value v : op.getOperands())
      if (!classes.count(v))
        return emitError(op.getLoc()) << "no member of an operand's class can "
                                         "be computed: all are in cycles";
    return success();
  });
  if (failed(areKnown))
    return failure();
  return forEachOp([&](Operation &op) -> LogicalResult {
    if (!isClassOp(&op))
      return success();
    ClassId c = classes.lookup(op.getResult(0));
    TypeId written = ops.getType(op.getResult(0).getType());
    TypeId type = p.graph.classType(c);
    bool isClass =
        written == type || ops.compareTypes(written, type) == Equality::Yes;
    for (Value v : op.getOperands())
      isClass = isClass && p.graph.unite(c, classes.lookup(v)) < Merge::Refused;
    if (!isClass)
      return emitError(op.getLoc())
             << "members of a class are not provably of equal "
                "types, or facts about them contradict each "
                "other";
    return success();
  });
}

/// Moves ops that are not nodes in front of the graph, so that it holds only
/// nodes.
void Program::EquivalenceReader::dissolve() {
  for (const Graph &g : graphs) {
    p.nodes.push_back(g.op);
    for (Operation *user : g.users) {
      user->moveBefore(g.op);
      for (Value v : user->getOperands())
        p.rootUses.push_back({classes.lookup(v), g.scope});
    }
    for (auto [result, v] :
         llvm::zip(g.op->getResults(), g.yield()->getOperands()))
      classes[result] = classes.lookup(v);
    for (Value v : g.op->getBlock()->getTerminator()->getOperands())
      p.rootUses.push_back({classes.lookup(v), g.scope});
  }
}

bool Program::isEquivalence() {
  return function.getBody().front().front().getName().getStringRef() == kGraph;
}

LogicalResult Program::importEquivalence() {
  return EquivalenceReader(*this).read();
}
