//===- FusionPlan.cpp - The fusion plan -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Fusion.h"
#include "luminal/Dialect/LLIR/Utils/IndexMaps.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;
using luminal::hlir::MapAttr;

// The cost of an extra launch and of an extra pass over a value, in scalar
// operations of a vectorised loop.
static constexpr double kLaunchOps = 20000;
static constexpr double kPassOpsPerElement = 4;
static constexpr double kLoadOps = 2;
/// The fraction of a reader's work on a value up to which recomputing the value
/// is hidden by that work.
static constexpr double kHiddenShare = 1.0 / 16;
/// The same for values of indices alone: the reader's loops can find out which
/// elements are masked and skip them.
static constexpr double kHiddenShareOfIndices = 1.0 / 4;
/// The cost of long chains saturates here: they are not computed twice.
static constexpr double kManyOps = 1e6;
/// The most groups that are visited to decide whether a group may run before
/// others. Beyond that, only the deepest group may.
static constexpr unsigned kMaxGroupsSearched = 2000;

bool llir::isSplatConstant(Operation *op) {
  auto constant = dyn_cast_or_null<llir::ConstantOp>(op);
  return constant && isa<SplatElementsAttr>(constant.getValue());
}

bool llir::isAnchor(Operation *op) {
  return isa<RowReductionOpInterface, ProductOpInterface, UpdateOpInterface>(
      op);
}

static bool hasOneUser(Value value) {
  return llvm::all_equal(value.getUsers()) && !value.use_empty();
}

FusionPlan::FusionPlan(func::FuncOp func, const Assumptions &symbols,
                       int64_t codeBudget, int64_t chipBytes,
                       int64_t sharedBytes, const Reporter &reporter)
    : func(func), symbols(symbols), codeBudget(codeBudget),
      chipBytes(chipBytes), sharedBytes(sharedBytes), reporter(reporter) {
  findOutputs();
  findStreams();
  Block &block = func.getBody().front();
  for (Operation &op : block.without_terminator())
    estimate(&op);
  for (Operation &op : llvm::reverse(block.without_terminator()))
    visit(&op);
  sortGroups();
}

double FusionPlan::nominalSize(ArrayRef<Expr> extents) const {
  return nominalValue(product({extents.begin(), extents.end()}), symbols);
}

//===----------------------------------------------------------------------===//
// Forward: estimates
//===----------------------------------------------------------------------===//

/// Finds the results of the function, and the operands of standalone ops. One
/// that is a reshape of another value shares its memory. A computed value must
/// then be in memory; a function argument cannot be returned as a result.
void FusionPlan::findOutputs() {
  auto add = [&](Value read, bool isResult) {
    auto view = read.getDefiningOp<ViewOp>();
    Operation *source = view ? view.getOperand().getDefiningOp() : nullptr;
    bool isComputed = source && !isa<ViewOp, llir::ConstantOp>(source);
    if (view && (isComputed || (!source && !isResult))) {
      SmallVector<Expr> domain = hlir::getExtents(read),
                        range = hlir::getExtents(view.getOperand());
      if (isAllInOrder(view.getMap(), domain, range, symbols)) {
        aliases[read] = view.getOperand();
        if (isComputed)
          outputs.insert(view.getOperand());
        return;
      }
    }
    outputs.insert(read);
  };
  for (Value result : func.getBody().front().getTerminator()->getOperands())
    add(result, /*isResult=*/true);
  for (auto op : func.getBody().front().getOps<StandaloneOpInterface>())
    for (Value operand : op->getOperands())
      add(operand, /*isResult=*/false);
}

/// Counts the divisions in a map's index arithmetic.
static double countDivisions(const Expr &e) {
  double count =
      e.kind() == Expr::Kind::FloorDiv || e.kind() == Expr::Kind::Mod;
  for (const Expr &operand : e.operands())
    count += countDivisions(operand);
  return count;
}

/// Returns whether the elements of `v` are functions of their index alone.
bool FusionPlan::isOfIndices(Value v) const {
  Operation *op = v.getDefiningOp();
  while (auto view = dyn_cast_or_null<ViewOp>(op)) {
    v = view.getOperand();
    op = v.getDefiningOp();
  }
  auto body = dyn_cast_or_null<BodyOpInterface>(op);
  return body && op->getNumOperands() == 0 && body.isFree()
             ? !isa<llir::ConstantOp>(op) || isSplatConstant(op)
             : ofIndices.contains(v);
}

void FusionPlan::estimate(Operation *op) {
  auto body = dyn_cast<BodyOpInterface>(op);
  if (!body || isa<StandaloneOpInterface>(op) || op->getNumResults() == 0)
    return;
  Value result = op->getResult(0);
  auto isChain = [&](Value operand, const DenseSet<Value> &set) {
    return set.contains(operand) && hasOneUser(operand) &&
           !outputs.contains(operand);
  };
  auto costOf = [&](Value operand) {
    auto it = perElement.find(operand);
    if (it != perElement.end())
      return it->second;
    // A load is cheap if few elements are read repeatedly.
    bool isSmall = nominalSize(hlir::getExtents(operand)) * 8 <=
                   nominalSize(hlir::getExtents(result));
    return isSmall ? kLoadOps / 4 : kLoadOps;
  };
  if (isAnchor(op)) {
    if (isa<ProductOpInterface>(op))
      followsProduct.insert(op->result_begin(), op->result_end());
    if (isa<RowReductionOpInterface>(op))
      followsRows.insert(op->result_begin(), op->result_end());
    return;
  }
  if (isa<llir::ConstantOp>(op)) {
    if (isSplatConstant(op))
      perElement[result] = 0;
    return;
  }
  double cost = 0;
  if (auto view = dyn_cast<ViewOp>(op)) {
    cost = costOf(view.getOperand());
    for (const Expr &e : view.getMap().getResults())
      cost += 2 * countDivisions(e);
    SmallVector<Expr> domain = hlir::getExtents(result),
                      range = hlir::getExtents(view.getOperand());
    if (isChain(view.getOperand(), followsProduct) &&
        invert(view.getMap(), domain, range, symbols))
      followsProduct.insert(result);
  } else if (body.isFree()) {
    cost = 1;
  } else {
    cost = cast<CodeOpInterface>(op).getCodeSize();
    if (llvm::all_of(op->getOperands(),
                     [&](Value v) { return isOfIndices(v); }))
      ofIndices.insert(result);
    for (Value operand : op->getOperands()) {
      cost += costOf(operand);
      if (body.isPointwise() && isChain(operand, followsProduct))
        followsProduct.insert(result);
    }
  }
  for (Value operand : op->getOperands())
    if (isChain(operand, followsRows))
      followsRows.insert(result);
  perElement[result] = std::min(cost, kManyOps);
}

//===----------------------------------------------------------------------===//
// Backward: decisions
//===----------------------------------------------------------------------===//

void FusionPlan::visit(Operation *op) {
  if (auto standalone = dyn_cast<StandaloneOpInterface>(op))
    return visitStandalone(standalone);
  auto body = dyn_cast<BodyOpInterface>(op);
  if (!body || op->getNumResults() == 0)
    return;
  if (isAnchor(op))
    return visitAnchor(op);
  Value value = op->getResult(0);
  if (isa<llir::ConstantOp>(op) && !isSplatConstant(op))
    return;
  ArrayRef<Group *> known = readers[value];
  bool isOutput = outputs.contains(value);
  // Every reader repeats ops that move no data; they are in memory only as
  // results.
  if (body.isFree() &&
      (isOutput || aliases.contains(value) || isa<llir::ConstantOp>(op))) {
    for (Group *group : llvm::to_vector(known))
      if (!group->standalone)
        inlineInto(*group, value);
    llvm::erase_if(readers[value],
                   [](const Group *group) { return !group->standalone; });
    if (isOutput && !isa<llir::ConstantOp>(op))
      materialize(op);
    return;
  }
  if (known.empty() && !isOutput)
    return;
  Decision inlining = isOutput ? refuseOutput(value) : shouldInline(value);
  if (inlining) {
    for (Group *group : llvm::to_vector(known)) {
      inlineInto(*group, value);
      tellFused(value, group, "a value of the kernel");
    }
    return;
  }
  Decision furtherResult = addRoot(value);
  if (furtherResult)
    return tellFused(value, furtherResult.getSubject(),
                     "a further result of the kernel");
  tellKept(value, inlining, furtherResult);
  materialize(op);
}

/// Returns why a value has to be in memory.
Decision FusionPlan::refuseOutput(Value value) const {
  auto it = readers.find(value);
  return it != readers.end() && llvm::any_of(it->second,
                                             [](const Group *g) {
                                               return bool(g->standalone);
                                             })
             ? Decision::refuse("an op that no kernel holds reads it")
             : Decision::refuse("it is a result of the function");
}

void FusionPlan::visitAnchor(Operation *op) {
  bool isOutput = llvm::any_of(op->getResults(),
                               [&](Value v) { return outputs.contains(v); });
  bool isRead = llvm::any_of(op->getResults(),
                             [&](Value v) { return !readers[v].empty(); });
  if (!isOutput && !isRead)
    return;
  Value value = op->getResult(0);
  Decision joined = isOutput ? refuseOutput(value) : joinReaders(op);
  if (joined)
    return tellFused(value, joined.getSubject(), "the loops of the kernel");
  tellKept(value, joined,
           Decision::refuse("it belongs to the loops that compute it"));
  materialize(op);
}

/// Makes a standalone op a group, so that it is ordered with all others.
void FusionPlan::visitStandalone(StandaloneOpInterface op) {
  if (llvm::all_of(op->getResults(), [&](Value v) {
        return !outputs.contains(v) && readers[v].empty();
      }))
    return;
  Group &group = *groups.emplace_back(std::make_unique<Group>());
  group.standalone = op;
  auto identity = [&](Value value) {
    return MapAttr::getIdentity(
        func.getContext(), cast<RankedTensorType>(value.getType()).getRank());
  };
  for (Value result : op->getResults()) {
    group.roots.push_back(
        {result, kMainSpace, identity(result), identity(result)});
    writers[result] = &group;
    runBefore(&group, readers[result]);
  }
  for (Value operand : op->getOperands()) {
    Value read = getMemoryOf(operand);
    if (group.accesses.count(read))
      continue;
    group.accesses[read].push_back({kMainSpace, identity(read), {}});
    readers[read].push_back(&group);
  }
}

/// Makes a new group for the op.
void FusionPlan::materialize(Operation *op) {
  Group &group = *groups.emplace_back(std::make_unique<Group>());
  SmallVector<Expr> extents = hlir::getExtents(op->getResult(0));
  MapAttr identity = MapAttr::getIdentity(func.getContext(), extents.size());
  group.spaces.push_back({extents});
  group.spaces.push_back({});
  for (Value value : op->getResults()) {
    if (op->getNumResults() > 1 && readers[value].empty() &&
        !outputs.contains(value))
      continue;
    group.roots.push_back({value, kMainSpace, identity, identity});
    writers[value] = &group;
    runBefore(&group, readers[value]);
    group.accesses[value].push_back({kMainSpace, identity, {0}});
  }
  if (!isAnchor(op))
    return inlineInto(group, op->getResult(0));
  Decision joined = join(group, op);
  assert(joined && "an anchor always fits its own loops");
  (void)joined;
}

Decision FusionPlan::join(Group &group, Operation *op) {
  if (auto rows = dyn_cast<RowReductionOpInterface>(op))
    return joinRows(group, rows);
  if (auto product = dyn_cast<ProductOpInterface>(op))
    return joinProduct(group, product);
  return joinUpdate(group, cast<UpdateOpInterface>(op));
}

static unsigned getDeepest(ArrayRef<Group *> groups) {
  unsigned deepest = 0;
  for (const Group *group : groups)
    deepest = std::max(deepest, group->depth);
  return deepest;
}

/// Makes an anchor part of the kernel that reads it. An anchor with several
/// reading kernels may join one that only moves it; the others then read the
/// moved value.
Decision FusionPlan::joinReaders(Operation *op) {
  llvm::SetVector<Group *> all;
  for (Value result : op->getResults())
    all.insert(readers[result].begin(), readers[result].end());
  SmallVector<Group *> known = all.takeVector();
  Value value = op->getResult(0);
  if (known.size() == 1)
    return join(*known.front(), op);
  Decision decision = Decision::refuse("several kernels read it");
  unsigned deepest = getDeepest(readers[value]), effort = kMaxGroupsSearched;
  for (Group *group : known) {
    if (isa<RowReductionOpInterface>(op) || group->roots.size() != 1 ||
        stripViews(group->roots[0].value, *group) != value)
      continue;
    if (!mayRunFirst(group, known, deepest, effort)) {
      decision = Decision::refuse("the reader that moves it would have to run "
                                  "before one that it needs",
                                  group);
      continue;
    }
    decision = join(*group, op);
    if (decision) {
      llvm::erase(readers[value], group);
      writers[value] = group;
      runBefore(group, readers[value]);
      break;
    }
  }
  return decision;
}

Value llir::stripViews(Value value, const Group &group) {
  while (auto view = value.getDefiningOp<ViewOp>()) {
    if (!group.inlined.contains(value))
      break;
    value = view.getOperand();
  }
  return value;
}

/// Makes a value that several kernels read an additional result of one of them,
/// which has to run before the others.
Decision FusionPlan::addRoot(Value value) {
  if (followsProduct.contains(value) ||
      cast<BodyOpInterface>(value.getDefiningOp()).isFree())
    return Decision::refuse("it belongs to the loops that compute it");
  // A kernel that is the only reader and computes the value needs no memory for
  // it.
  if (!outputs.contains(value) && readers[value].size() == 1)
    return Decision::refuse("no other kernel reads it");
  Decision decision = Decision::refuse("no kernel reads it");
  unsigned deepest = getDeepest(readers[value]), effort = kMaxGroupsSearched;
  // A value of rows becomes a result of the kernel that reads it by rows, if no
  // other kernel has to wait for that.
  bool isReadOnce = readers[value].size() == 1;
  for (Group *group : readers[value]) {
    if (group->standalone)
      continue;
    ArrayRef<Access> accesses = group->accesses[value];
    if ((group->loopsOf != GroupLoops::Elements &&
         group->loopsOf != GroupLoops::Rows) ||
        accesses.size() != 1 ||
        (accesses[0].space != kMainSpace &&
         !(accesses[0].space == kRowsSpace &&
           group->loopsOf == GroupLoops::Rows && isReadOnce))) {
      decision = Decision::refuse("no reader has its index space", group);
      continue;
    }
    unsigned number = accesses[0].space;
    const IndexSpace &space = group->spaces[number];
    SmallVector<Expr> extents = hlir::getExtents(value);
    std::optional<MapAttr> back =
        invert(accesses[0].map, space.extents, extents, symbols);
    if (!back) {
      decision =
          Decision::refuse("no reader reads each element exactly once", group);
      continue;
    }
    if (Decision fits = fitsBudget(*group, value); !fits) {
      decision = fits;
      continue;
    }
    if (!mayRunFirst(group, readers[value], deepest, effort)) {
      decision = Decision::refuse(
          "the reader would have to run before one that it needs", group);
      continue;
    }
    group->roots.push_back({value, number, accesses[0].map, *back});
    // Elements of the root are results as well.
    SmallVector<unsigned, 1> &loops = group->accesses[value][0].loops;
    if (loops.empty() || loops[0] != 0)
      loops.insert(loops.begin(), 0);
    writers[value] = group;
    llvm::erase(readers[value], group);
    runBefore(group, readers[value]);
    inlineInto(*group, value);
    return Decision::accept(group);
  }
  return decision;
}

/// Returns whether a product would read its operand with index divisions that
/// the producer of the operand could avoid by writing it in another order.
bool FusionPlan::isWrittenBetter(ViewOp view) {
  ArrayRef<Group *> known = readers[view.getResult()];
  if (!followsProduct.contains(view.getResult()) || known.size() != 1 ||
      known.front()->loopsOf != GroupLoops::Product ||
      !hasOneUser(view.getOperand()))
    return false;
  for (const Access &access : known.front()->accesses[view.getResult()]) {
    if (access.space < kFirstOwnSpace || !access.map.isIdentity())
      return false;
  }
  SmallVector<Expr> range = hlir::getExtents(view.getOperand());
  Expr position = withExtents(symbols, hlir::getExtents(view.getResult()))
                      .simplify(linearize(view.getMap().getResults().vec(),
                                          {range.begin(), range.end()}));
  return countDivisions(position) > 0;
}

/// Returns whether `value` is a cast of a smaller type: reading that and
/// casting it again costs less than the difference in bytes.
static bool isWidening(Value value) {
  auto op = value.getDefiningOp<ElementwiseOp>();
  return op && op.getFn() == Fn::Cast &&
         getElementTypeOrSelf(op->getOperand(0)).getIntOrFloatBitWidth() <
             getElementTypeOrSelf(value).getIntOrFloatBitWidth();
}

/// Returns whether the loops of all readers are cut at the indices where
/// `value` changes, or where it switches between two values, such as an image
/// and its padding.
bool FusionPlan::isToldByLoops(Value value) const {
  auto op = value.getDefiningOp<ElementwiseOp>();
  bool isChosen =
      op && op.getFn() == Fn::Select && isOfIndices(op->getOperand(0));
  if (!isChosen && !ofIndices.contains(value))
    return false;
  return llvm::all_of(readers.lookup(value), [&](const Group *group) {
    return llvm::all_of(group->accesses.lookup(value), [&](const Access &a) {
      return group->spaces[a.space].isCut;
    });
  });
}

Decision FusionPlan::shouldInline(Value value) {
  ArrayRef<Group *> known = readers[value];
  // Index arithmetic moves no data.
  if (auto view = value.getDefiningOp<ViewOp>()) {
    if (isWrittenBetter(view))
      return Decision::refuse("the product that reads it would divide indices",
                              known.front());
    return fitBudgets(value);
  }
  if (cast<BodyOpInterface>(value.getDefiningOp()).isFree() ||
      isWidening(value) || isToldByLoops(value))
    return fitBudgets(value);
  bool isEnd = followsProduct.contains(value) || followsRows.contains(value);
  for (Group *group : known)
    for (const Access &access : group->accesses[value]) {
      if (isEnd && known.size() > 1)
        return Decision::refuse("several kernels read it, and each would "
                                "repeat the product or reduction before it");
      if (isEnd && access.space >= kFirstOwnSpace &&
          !group->isRowSpace(access.space))
        return Decision::refuse("the reader would repeat the product or "
                                "reduction before it",
                                group);
    }
  if (isEnd && needsStage(*known.front(), value)) {
    if (Decision fits = followsStage(*known.front(), value); !fits)
      return fits;
  } else if (followsProduct.contains(value)) {
    // The end of a product's epilogue, unless the epilogue continues.
    Group &group = *known.front();
    ArrayRef<Access> accesses = group.accesses[value];
    if (group.loopsOf != GroupLoops::Elements)
      return Decision::refuse("the reader's loops are not those of the product "
                              "before it",
                              &group);
    if (accesses.size() != 1 || accesses[0].space != kMainSpace ||
        !invert(accesses[0].map, group.spaces[kMainSpace].extents,
                hlir::getExtents(value), symbols))
      return Decision::refuse("it follows a product, and the reader does not "
                              "read each element exactly once",
                              &group);
  }
  double size = nominalSize(hlir::getExtents(value));
  double evaluations = 0, work = 0;
  // A reduction before it will join, so it is computed once per row.
  for (Group *group : known) {
    evaluations +=
        followsRows.contains(value) ? size : countEvaluations(*group, value);
    work += countWork(*group, value);
  }
  double extra = (evaluations - size) * perElement.lookup(value);
  bool isHidden = ofIndices.contains(value) && work > 0;
  double limit = kPassOpsPerElement * size + kLaunchOps +
                 (isHidden ? kHiddenShareOfIndices : kHiddenShare) * work;
  if (extra > limit)
    return Decision::refuseAbove("computing it once more for each reader costs "
                                 "more operations than memory does",
                                 extra, limit);
  if (isHidden)
    return fitBudgets(value);
  // Small tensors take little time to compute, but not less code.
  double code = (known.size() - 1) * perElement.lookup(value);
  if (code > codeBudget / 8.0)
    return Decision::refuseAbove("computing it in each reader takes more code "
                                 "than it is worth",
                                 code, codeBudget / 8.0);
  return fitBudgets(value);
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

/// Values that do not depend on the last dim of a reduction's domain are
/// computed once per row.
static Access hoistToRows(const Group &group, const Access &access) {
  if (!group.isRowSpace(access.space))
    return access;
  unsigned last = group.spaces[access.space].extents.size() - 1;
  if (access.map.usesDim(last))
    return access;
  return {kRowsSpace,
          MapAttr::get(access.map.getContext(), last, access.map.getResults()),
          access.loops};
}

static void addTo(SmallVectorImpl<Access> &accesses, const Access &access) {
  auto *same = llvm::find_if(accesses, [&](const Access &other) {
    return other.space == access.space && other.map == access.map;
  });
  if (same == accesses.end()) {
    accesses.push_back(access);
    return;
  }
  SmallVector<unsigned, 1> loops;
  std::set_union(same->loops.begin(), same->loops.end(), access.loops.begin(),
                 access.loops.end(), std::back_inserter(loops));
  same->loops = std::move(loops);
}

void FusionPlan::addAccess(Group &group, Value value, const Access &access) {
  SmallVector<Access, 1> &accesses = group.accesses[value];
  if (accesses.empty())
    readers[value].push_back(&group);
  addTo(accesses, hoistToRows(group, access));
}

/// Gives a group over [rows..., n] the loops of a reduction.
void FusionPlan::takeRows(Group &group) {
  ArrayRef<Expr> domain = group.spaces[kMainSpace].extents;
  group.loopsOf = GroupLoops::Rows;
  group.spaces[kRowsSpace].extents.assign(domain.begin(),
                                          std::prev(domain.end()));
  for (auto &[value, accesses] : group.accesses) {
    SmallVector<Access, 1> hoisted;
    for (const Access &access : accesses)
      addTo(hoisted, hoistToRows(group, access));
    accesses = std::move(hoisted);
  }
}

/// Returns a space with the value's own extents. Values of one shape share a
/// space if their reader does the same amount of work with them.
unsigned FusionPlan::getOwnSpace(Group &group, Value value, double evaluations,
                                 double work, bool isCut) {
  SmallVector<Expr> extents = hlir::getExtents(value);
  double weight = evaluations / std::max(nominalSize(extents), 1.0);
  for (unsigned i = kFirstOwnSpace; i < group.spaces.size(); ++i)
    if (group.spaces[i].extents == extents && group.spaces[i].work == work &&
        group.spaces[i].isCut == isCut && !group.isRowSpace(i)) {
      group.spaces[i].weight = std::max(group.spaces[i].weight, weight);
      return i;
    }
  group.spaces.push_back({extents, weight, work, isCut});
  return group.spaces.size() - 1;
}

void FusionPlan::inlineInto(Group &group, Value value) {
  group.inlined.insert(value);
  group.addCode(value);
  SmallVector<Access> accesses(ArrayRef<Access>(group.accesses[value]));
  Operation *op = value.getDefiningOp();
  if (auto lookup = dyn_cast<LookupOpInterface>(op)) {
    double evaluations = countEvaluations(group, value);
    // Each access to the lookup has a different index.
    unsigned loop = group.addLoop(group.countCopies(value));
    SmallVector<Expr> row = hlir::getExtents(lookup.getData());
    row.erase(row.begin());
    auto addOwn = [&](Value operand, double count) {
      unsigned space = getOwnSpace(group, operand, count);
      addAccess(group, operand,
                {space,
                 MapAttr::getIdentity(
                     value.getContext(),
                     cast<RankedTensorType>(operand.getType()).getRank()),
                 {loop}});
    };
    addOwn(lookup.getData(), evaluations);
    // If single elements are looked up in the order of the reader's loops,
    // these loops also compute the indices, once for all readers.
    Value indices = lookup.getIndices();
    SmallVector<Expr> extents = hlir::getExtents(indices);
    if (row.empty() && llvm::all_of(accesses, [&](const Access &access) {
          return access.map.isIdentity() &&
                 group.spaces[access.space].extents == extents;
        })) {
      for (const Access &access : accesses)
        addAccess(group, indices, access);
      return;
    }
    addOwn(indices, evaluations / std::max(nominalSize(row), 1.0));
    return;
  }
  for (const Access &access : accesses) {
    if (auto view = dyn_cast<ViewOp>(op)) {
      MapAttr map = compose(access.map, view.getMap(),
                            group.spaces[access.space].extents, symbols);
      addAccess(group, view.getOperand(), {access.space, map, access.loops});
      continue;
    }
    for (Value operand : op->getOperands())
      addAccess(group, operand, access);
  }
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

bool FusionPlan::mayRunFirst(const Group *group, ArrayRef<Group *> others,
                             unsigned deepest, unsigned &effort) const {
  if (group->depth >= deepest)
    return true;
  DenseSet<const Group *> seen;
  SmallVector<Group *> worklist;
  // Only deeper groups can depend on `group`.
  auto add = [&](ArrayRef<Group *> next) {
    effort -= std::min<size_t>(effort, next.size());
    for (Group *other : next)
      if (other->depth > group->depth && seen.insert(other).second)
        worklist.push_back(other);
  };
  add(others);
  while (!worklist.empty()) {
    if (effort == 0)
      return false;
    const Group *next = worklist.pop_back_val();
    for (const Root &root : next->roots) {
      // Others may read an anchor that the root only moves.
      for (Value written : {root.value, stripViews(root.value, *next)}) {
        auto it = readers.find(written);
        if (it == readers.end() || getWriter(written) != next)
          continue;
        if (llvm::is_contained(it->second, group))
          return false;
        add(it->second);
      }
    }
  }
  return true;
}

void FusionPlan::runBefore(Group *group, ArrayRef<Group *> others) {
  for (const Group *other : others)
    group->depth = std::max(group->depth, other->depth + 1);
  // The groups that this one reads must be deeper still.
  SmallVector<Group *> worklist = {group};
  while (!worklist.empty()) {
    Group *reader = worklist.pop_back_val();
    for (auto &[value, accesses] : reader->accesses)
      if (Group *writer = getSource(*reader, value);
          writer && writer->depth <= reader->depth) {
        writer->depth = reader->depth + 1;
        worklist.push_back(writer);
      }
  }
}

/// Sorts groups by their roots, and moves a group up if another one needs a
/// further result of it.
void FusionPlan::sortGroups() {
  DenseSet<const Group *> placed;
  SmallVector<std::pair<Group *, bool>> stack;
  // Groups were made from the last to the first.
  for (std::unique_ptr<Group> &made : llvm::reverse(groups)) {
    stack.push_back({made.get(), false});
    while (!stack.empty()) {
      auto [group, needsArePlaced] = stack.pop_back_val();
      if (placed.contains(group))
        continue;
      if (needsArePlaced) {
        placed.insert(group);
        order.push_back(group);
        continue;
      }
      stack.push_back({group, true});
      size_t begin = stack.size();
      for (auto &[value, accesses] : group->accesses)
        if (Group *writer = getSource(*group, value);
            writer && !placed.contains(writer))
          stack.push_back({writer, false});
      std::reverse(stack.begin() + begin, stack.end());
    }
  }
}

//===----------------------------------------------------------------------===//
// Remarks
//===----------------------------------------------------------------------===//

/// Returns the op of `reader` that uses `value`, possibly through views.
static Operation *getReadingOp(Value value, const Group *reader) {
  for (Operation *user : value.getUsers()) {
    if (user->getNumResults() == 0)
      continue;
    Value result = user->getResult(0);
    if (isa<ViewOp>(user) && reader->accesses.contains(result))
      return getReadingOp(result, reader);
    if (reader->inlined.contains(result))
      return user;
  }
  return reader->roots[0].value.getDefiningOp();
}

void FusionPlan::tellFused(Value value, const Group *reader, StringRef as) {
  // Every reader repeats ops that move no data.
  if (!reporter.isListening() ||
      cast<BodyOpInterface>(value.getDefiningOp()).isFree())
    return;
  Operation *into = getReadingOp(value, reader);
  reporter.passed(value.getLoc(), "fusion",
                  {{"op", describe(value.getDefiningOp())},
                   {"reader", describeWithPlace(into)},
                   {"as", as}});
}

void FusionPlan::tellKept(Value value, const Decision &inlining,
                          const Decision &furtherResult) {
  if (!reporter.isListening())
    return;
  SmallVector<Group *, 2> known = readers[value];
  llvm::erase_if(known,
                 [](const Group *group) { return bool(group->standalone); });
  if (known.empty())
    return;
  const Group *reader =
      inlining.getSubject() ? inlining.getSubject() : known.front();
  Operation *into = getReadingOp(value, reader);
  reporter.missed(value.getLoc(), "fusion",
                  {{"op", describe(value.getDefiningOp())},
                   {"reader", describeWithPlace(into)},
                   {"readers", uint64_t(known.size())},
                   {"reason", inlining.str()},
                   {"further result", furtherResult.str()}});
}
