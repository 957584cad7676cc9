//===- SplitLoops.cpp - Splits loops over time ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Splits a loop over time. Values of the body that depend on carried values and
// are elementwise in their shape stay in the loop. Everything else is computed
// for all trips at once, by the same ops with one more dim. Tested by
// test/Dialect/HLIR/split-loops.mlir.
//
//===----------------------------------------------------------------------===//

#include "TimeLoops.h"
#include "luminal/Dialect/HLIR/Transforms/Dataflow.h"
#include "luminal/Dialect/HLIR/Transforms/Passes.h"
#include "luminal/Dialect/HLIR/Utils/Composites.h"
#include "luminal/Dialect/HLIR/Utils/Reporter.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

namespace luminal::hlir {
#define GEN_PASS_DEF_SPLITLOOPSPASS
#include "luminal/Dialect/HLIR/Transforms/Passes.h.inc"
} // namespace luminal::hlir

#define DEBUG_TYPE "hlir-split-loops"

using namespace mlir;
using namespace luminal;
using namespace luminal::hlir;

namespace {
class SplitLoops : public hlir::impl::SplitLoopsPassBase<SplitLoops> {
public:
  using SplitLoopsPassBase::SplitLoopsPassBase;
  void runOnOperation() override;
};

class Splitter {
public:
  explicit Splitter(RepeatOp repeat)
      : repeat(repeat), body(repeat.getBody().front()),
        yield(cast<YieldOp>(body.getTerminator())),
        builder(repeat.getContext()), trips(repeat.getTripsExpr()) {
    builder.setInsertionPoint(repeat);
  }

  /// Rewrites the loop and erases it. If that is not possible, returns the
  /// reason.
  StringRef split();
  /// After the split: the replacements of its results.
  ArrayRef<Value> getReplaced() const { return replaced; }

private:
  StringRef analyse();
  bool isOfCarriedShape(Value v) {
    return getExtents(v) == getExtents(repeat.getCarried()[0]);
  }
  /// Whether `v` is an argument of the body or computed in it.
  bool isInside(Value v) const { return v.getParentBlock() == &body; }
  /// Whether it can be computed element by element inside the loop.
  bool isOfElements(Value v) const {
    return !isInside(v) || ofElements.contains(v);
  }
  bool canBatch(Value v);
  Value batch(Value v);
  Value spread(Value v);
  void need(Value v, llvm::SetVector<Operation *> &ops,
            llvm::SetVector<Value> &rows);

  RepeatOp repeat;
  Block &body;
  YieldOp yield;
  OpBuilder builder;
  Expr trips;
  /// Values that depend on carried values, and those of them that stay in the
  /// loop.
  DenseSet<Value> depends, stays;
  /// Other values, whose elements the loop computes where they are read.
  DenseSet<Value> ofElements;
  /// Values of the loop that are read outside, for all trips.
  llvm::SetVector<Value> stacked;
  /// Values for all trips at once. Those that stay are added once the new loop
  /// exists.
  DenseMap<Value, Value> batched;
  SmallVector<Value> replaced;
};
} // namespace

static bool isElementwise(Operation *op) {
  return op->hasTrait<OpTrait::Elementwise>();
}

/// Whether the op with an additional leading dim computes the same for each
/// index of that dim.
static bool isBatchable(Operation *op) {
  return isElementwise(op) || isa<ViewOp, ReduceSumOp, ReduceMaxOp>(op);
}

StringRef Splitter::analyse() {
  if (repeat.getNumLists() != 0 ||
      yield.getValues().size() !=
          repeat.getCarried().size() + repeat.getStacked())
    return "trips have values of their own";
  for (Value v : repeat.getCarried())
    if (!isOfCarriedShape(v))
      return "the carried values have several shapes";
  for (BlockArgument argument : body.getArguments()) {
    if (argument.getArgNumber() < repeat.getCarried().size()) {
      depends.insert(argument);
      stays.insert(argument);
    } else {
      ofElements.insert(argument);
    }
  }
  for (Operation &op : body.without_terminator()) {
    const bool isDependent = llvm::any_of(
        op.getOperands(), [&](Value v) { return depends.contains(v); });
    for (Value result : op.getResults()) {
      if (isDependent)
        depends.insert(result);
      if (isDependent && isElementwise(&op) && isOfCarriedShape(result) &&
          llvm::all_of(op.getOperands(), [&](Value v) {
            return stays.contains(v) || !depends.contains(v);
          }))
        stays.insert(result);
      if (!isDependent &&
          (isElementwise(&op) || isa<ViewOp, IotaOp, ConstantOp>(op)) &&
          llvm::all_of(op.getOperands(),
                       [&](Value v) { return isOfElements(v); }))
        ofElements.insert(result);
    }
  }
  for (Value v : yield.getValues().drop_back(repeat.getStacked()))
    if (depends.contains(v) && !stays.contains(v))
      return "a carried value takes part in more than its own element";
  return {};
}

/// Whether `v` can be computed for all trips at once; records the loop values
/// that it reads.
bool Splitter::canBatch(Value v) {
  SmallVector<Value> work = {v};
  DenseSet<Value> seen;
  while (!work.empty()) {
    v = work.pop_back_val();
    const bool isRow = isa<BlockArgument>(v) && !depends.contains(v);
    if (!isInside(v) || isRow || !seen.insert(v).second)
      continue;
    if (stays.contains(v)) {
      stacked.insert(v);
      continue;
    }
    Operation *op = v.getDefiningOp();
    if (op->getNumOperands() != 0 && !isBatchable(op))
      return false;
    llvm::append_range(work, op->getOperands());
  }
  return true;
}

static SmallVector<Expr> withFirst(const Expr &first, ArrayRef<Expr> others) {
  SmallVector<Expr> all = {first};
  llvm::append_range(all, others);
  return all;
}

/// Broadcasts a value that is the same in all trips.
Value Splitter::spread(Value v) {
  SmallVector<Expr> extents = getExtents(v), map;
  for (unsigned i = 0; i < extents.size(); ++i)
    map.push_back(Expr::dim(i + 1));
  Assumptions symbols = getAssumptions(repeat);
  return Composer(builder, v.getLoc(), symbols)
      .view(v, withFirst(trips, extents), map);
}

Value Splitter::batch(Value root) {
  SmallVector<Value> work = {root};
  while (!work.empty()) {
    Value v = work.back();
    if (batched.contains(v)) {
      work.pop_back();
      continue;
    }
    if (auto argument = dyn_cast<BlockArgument>(v); argument && isInside(v)) {
      const unsigned first = body.getNumArguments() - repeat.getRows().size();
      batched[v] = repeat.getRows()[argument.getArgNumber() - first];
      continue;
    }
    Operation *op = isInside(v) ? v.getDefiningOp() : nullptr;
    if (!op || op->getNumOperands() == 0) {
      batched[v] = spread(op ? builder.clone(*op)->getResult(0) : v);
      continue;
    }
    SmallVector<Value> operands, missing;
    for (Value operand : op->getOperands())
      if (Value known = batched.lookup(operand))
        operands.push_back(known);
      else
        missing.push_back(operand);
    if (!missing.empty()) {
      llvm::append_range(work, missing);
      continue;
    }
    auto type =
        getTensorType(withFirst(trips, getExtents(v)),
                      cast<RankedTensorType>(v.getType()).getElementType());
    if (auto view = dyn_cast<ViewOp>(op)) {
      std::vector<Expr> dims;
      SmallVector<Expr> map = {Expr::dim(0)};
      for (unsigned i = 0; i < view.getMap().getNumDims(); ++i)
        dims.push_back(Expr::dim(i + 1));
      for (const Expr &e : view.getMap().getResults())
        map.push_back(e.substituteDims(dims));
      batched[v] =
          ViewOp::create(builder, op->getLoc(), type, operands[0],
                         MapAttr::get(op->getContext(), dims.size() + 1, map));
      continue;
    }
    Operation *copy = builder.clone(*op);
    copy->setOperands(operands);
    copy->getResult(0).setType(type);
    batched[v] = copy->getResult(0);
  }
  return batched.lookup(root);
}

/// Collects the ops of the body that `v` needs, and the rows that the loop must
/// read.
void Splitter::need(Value v, llvm::SetVector<Operation *> &ops,
                    llvm::SetVector<Value> &rows) {
  SmallVector<Value> work = {v};
  while (!work.empty()) {
    v = work.pop_back_val();
    if (!isInside(v))
      continue;
    if (!stays.contains(v) &&
        (isa<BlockArgument>(v) || !ofElements.contains(v))) {
      rows.insert(v);
      continue;
    }
    Operation *op = v.getDefiningOp();
    if (op && ops.insert(op))
      llvm::append_range(work, op->getOperands());
  }
}

StringRef Splitter::split() {
  if (StringRef why = analyse(); !why.empty())
    return why;
  ValueRange carriedNext = yield.getValues().drop_back(repeat.getStacked());
  for (Value v : repeat.getStackedValues())
    if (!canBatch(v))
      return "an op reads values of trips that cannot be computed for all "
             "trips at once";
  llvm::SetVector<Operation *> kept;
  llvm::SetVector<Value> rows;
  for (Value v : carriedNext)
    need(v, kept, rows);
  for (Value v : stacked)
    need(v, kept, rows);
  for (Value v : rows)
    if (!isa<BlockArgument>(v) && !canBatch(v))
      return "an op reads values of trips that cannot be computed for all "
             "trips at once";

  SmallVector<Value> rowOperands;
  for (Value v : rows)
    rowOperands.push_back(batch(v));
  SmallVector<Type> results(repeat.getCarried().getTypes());
  for (Value v : stacked)
    results.push_back(
        getTensorType(withFirst(trips, getExtents(v)),
                      cast<RankedTensorType>(v.getType()).getElementType()));
  auto made = RepeatOp::create(builder, repeat.getLoc(), results,
                               repeat.getTrips(), repeat.getCarried(),
                               ValueRange(), rowOperands, stacked.size());
  Block &inside = made.getBody().emplaceBlock();
  IRMapping mapping;
  for (BlockArgument argument :
       body.getArguments().take_front(repeat.getCarried().size()))
    mapping.map(argument,
                inside.addArgument(argument.getType(), argument.getLoc()));
  for (Value v : rows)
    mapping.map(v, inside.addArgument(v.getType(), v.getLoc()));
  OpBuilder inner = OpBuilder::atBlockEnd(&inside);
  for (Operation &op : body.without_terminator())
    if (kept.contains(&op))
      inner.clone(op, mapping);
  SmallVector<Value> yielded;
  for (Value v : carriedNext)
    yielded.push_back(mapping.lookupOrDefault(v));
  for (Value v : stacked)
    yielded.push_back(mapping.lookupOrDefault(v));
  YieldOp::create(inner, yield.getLoc(), yielded);

  for (auto [v, result] : llvm::zip_equal(stacked, made.getStackedResults()))
    batched[v] = result;
  llvm::append_range(replaced,
                     made.getResults().take_front(repeat.getCarried().size()));
  for (Value v : repeat.getStackedValues())
    replaced.push_back(batch(v));
  repeat.replaceAllUsesWith(replaced);
  repeat.erase();
  return {};
}

/// Rewrites rows to lists of values, and stacked results to one value per trip.
static void expandRows(RepeatOp repeat) {
  OpBuilder builder(repeat);
  Assumptions symbols = getAssumptions(repeat);
  Composer composer(builder, repeat.getLoc(), symbols);
  const int64_t trips = *repeat.getNumTrips();
  SmallVector<Value> each(repeat.getEach());
  for (Value rows : repeat.getRows())
    for (int64_t trip = 0; trip < trips; ++trip)
      each.push_back(
          composer.squeeze(composer.slice(rows, 0, Expr(trip), Expr(1)), 0));
  const unsigned numOthers = repeat.getNumResults() - repeat.getStacked();
  SmallVector<Type> results(
      repeat.getResults().take_front(numOthers).getTypes());
  for (Value v : repeat.getStackedValues())
    results.append(trips, v.getType());
  auto made = RepeatOp::create(builder, repeat.getLoc(), results, trips,
                               repeat.getCarried(), each, ValueRange(), 0);
  made.getBody().takeBody(repeat.getBody());
  SmallVector<Value> replaced(made.getResults().take_front(numOthers));
  for (unsigned i = 0; i < repeat.getStacked(); ++i) {
    SmallVector<Value> parts;
    for (Value v : made.getResults().slice(numOthers + i * trips, trips))
      parts.push_back(composer.unsqueeze(v, 0));
    replaced.push_back(composer.concat(parts, 0));
  }
  repeat.replaceAllUsesWith(replaced);
  repeat.erase();
}

/// Splits a loop whose trips read rows of lists; leaves it if that is not
/// possible.
static void splitLists(RepeatOp repeat, const Reporter &reporter) {
  std::optional<TimeLoop> time = readRows(repeat);
  if (!time)
    return;
  Location loc = repeat.getLoc();
  std::string count = repeat.getTripsExpr().str();
  Splitter splitter(time->loop);
  if (StringRef why = splitter.split(); !why.empty()) {
    reporter.missed(loc, "rows", {{"reason", why}, {"trips", count}});
    time->loop.erase();
    return;
  }
  reporter.passed(loc, "rows", {{"trips", count}});
  OpBuilder builder(repeat.getContext());
  builder.setInsertionPointAfterValue(splitter.getReplaced().back());
  for (const TimeLoop::Replacement &r : time->replaced) {
    if (r.old.use_empty())
      continue;
    Value made = splitter.getReplaced()[r.result];
    if (!r.map.isIdentity())
      made = ViewOp::create(
          builder, loc, cast<RankedTensorType>(r.old.getType()), made, r.map);
    Value old = r.old;
    old.replaceAllUsesWith(made);
  }
  if (repeat.use_empty())
    repeat.erase();
}

void SplitLoops::runOnOperation() {
  func::FuncOp func = getOperation();
  if (func.isDeclaration())
    return;
  Reporter reporter(&getContext(), DEBUG_TYPE, func.getSymName());
  SmallVector<RepeatOp> loops, lists;
  func.walk([&](RepeatOp repeat) {
    if (!repeat.getRows().empty() || repeat.getStacked())
      loops.push_back(repeat);
    else
      lists.push_back(repeat);
  });
  for (RepeatOp repeat : lists)
    splitLists(repeat, reporter);
  for (RepeatOp repeat : loops) {
    Location loc = repeat.getLoc();
    std::string count = repeat.getTripsExpr().str();
    StringRef why = Splitter(repeat).split();
    if (why.empty()) {
      reporter.passed(loc, "rows", {{"trips", count}});
      continue;
    }
    reporter.missed(loc, "rows", {{"reason", why}, {"trips", count}});
    if (!repeat.getNumTrips()) {
      repeat.emitOpError() << "has " << count
                           << " trips, a number that only a call tells, and "
                           << why << ": its trips must be written out";
      return signalPassFailure();
    }
    expandRows(repeat);
  }
  if (!loops.empty() || !lists.empty())
    for (Block &block : func.getBody())
      sortByDataflow(block);
}
