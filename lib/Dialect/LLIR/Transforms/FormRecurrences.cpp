//===- FormRecurrences.cpp - Recognises recurrences -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a trip reads becomes an input of the recurrence, composed with the views
// before it. Elementwise ops whose only reader is the loop move into its
// region, so that they are computed where they are read. Tested by
// test/Dialect/LLIR/form-recurrences.mlir.
//
//===----------------------------------------------------------------------===//

#include "luminal/Dialect/LLIR/Transforms/Passes.h"
#include "luminal/Dialect/LLIR/Utils/IndexMaps.h"
#include "luminal/Dialect/LLIR/Utils/Remarks.h"
#include "mlir/Transforms/RegionUtils.h"

namespace luminal::llir {
#define GEN_PASS_DEF_FORMRECURRENCESPASS
#include "luminal/Dialect/LLIR/Transforms/Passes.h.inc"
} // namespace luminal::llir

#define DEBUG_TYPE "llir-form-recurrences"

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;
using hlir::MapAttr;

namespace {
class Former {
public:
  explicit Former(hlir::RepeatOp repeat)
      : repeat(repeat), symbols(hlir::getAssumptions(repeat)),
        builder(repeat.getContext()) {}

  /// Builds the recurrence before the loop; null if the loop is none.
  RecurrenceOp form(std::string &why);

private:
  Value getInput(Value source, MapAttr map, ArrayRef<Expr> extents,
                 bool isSunk);
  Value getRow(Value rows);
  Value getCaptured(Value value);
  Value get(Value value);
  SmallVector<Expr> getDomain(ArrayRef<Expr> extents) const {
    SmallVector<Expr> domain = {repeat.getTripsExpr()};
    llvm::append_range(domain, extents);
    return domain;
  }

  mutable hlir::RepeatOp repeat;
  Assumptions symbols;
  /// Inserts into the region.
  OpBuilder builder;
  Block body;
  struct Input {
    Value operand;
    MapAttr map;
    BlockArgument argument;
  };
  std::vector<Input> inputs;
  /// Maps values of the loop's body, and captured values, to values of the
  /// region.
  DenseMap<Value, Value> mapped;
};
} // namespace

/// Returns `map` without its first dim; std::nullopt if it depends on the trip.
static std::optional<MapAttr> withoutTrip(MapAttr map) {
  SmallVector<Expr> results;
  std::vector<Expr> dims = {Expr(0)};
  for (unsigned i = 0; i + 1 < map.getNumDims(); ++i)
    dims.push_back(Expr::dim(i));
  for (const Expr &e : map.getResults()) {
    if (e.usesDim(0))
      return std::nullopt;
    results.push_back(e.substituteDims(dims));
  }
  return MapAttr::get(map.getContext(), map.getNumDims() - 1, results);
}

/// Returns the region argument or value that has, at index i of `extents` in
/// trip t, the element map(t, i) of `source`. With `isSunk`, the op that
/// computes `source` has no other reader.
Value Former::getInput(Value source, MapAttr map, ArrayRef<Expr> extents,
                       bool isSunk) {
  while (auto view = source.getDefiningOp<ViewOp>()) {
    isSunk &= source.hasOneUse();
    map = compose(map, view.getMap(), getDomain(extents), symbols);
    source = view.getOperand();
  }
  Type element = cast<RankedTensorType>(source.getType()).getElementType();
  auto type = hlir::getTensorType(extents, element);
  Operation *def = source.getDefiningOp();
  std::optional<MapAttr> same = withoutTrip(map);
  if (isa_and_nonnull<llir::ConstantOp, IotaOp>(def) && same) {
    Operation *copy = builder.clone(*def);
    return ViewOp::create(builder, def->getLoc(), type, copy->getResult(0),
                          *same);
  }
  auto elementwise = dyn_cast_or_null<ElementwiseOp>(def);
  if (elementwise && isSunk && source.hasOneUse()) {
    SmallVector<Value> operands;
    for (Value operand : elementwise.getInputs())
      operands.push_back(getInput(operand, map, extents, isSunk));
    Operation *copy = builder.clone(*def);
    copy->setOperands(operands);
    copy->getResult(0).setType(type);
    return copy->getResult(0);
  }
  for (const Input &input : inputs)
    if (input.operand == source && input.map == map &&
        input.argument.getType() == type)
      return input.argument;
  BlockArgument argument = body.addArgument(type, source.getLoc());
  inputs.push_back({source, map, argument});
  return argument;
}

Value Former::getRow(Value rows) {
  SmallVector<Expr> extents = hlir::getExtents(rows);
  return getInput(rows,
                  MapAttr::getIdentity(repeat.getContext(), extents.size()),
                  ArrayRef(extents).drop_front(), rows.hasOneUse());
}

/// A captured value is the same in all trips, so it is computed before them.
Value Former::getCaptured(Value value) {
  SmallVector<Expr> extents = hlir::getExtents(value), map;
  for (unsigned i = 0; i < extents.size(); ++i)
    map.push_back(Expr::dim(i + 1));
  return getInput(value,
                  MapAttr::get(repeat.getContext(), extents.size() + 1, map),
                  extents, /*isSunk=*/false);
}

Value Former::get(Value value) {
  auto it = mapped.find(value);
  if (it != mapped.end())
    return it->second;
  auto argument = dyn_cast<BlockArgument>(value);
  Value made;
  if (argument && argument.getOwner() == &repeat.getBody().front()) {
    const unsigned first = repeat.getRowArguments().front().getArgNumber();
    made = getRow(repeat.getRows()[argument.getArgNumber() - first]);
  } else {
    made = getCaptured(value);
  }
  return mapped[value] = made;
}

RecurrenceOp Former::form(std::string &why) {
  Block &from = repeat.getBody().front();
  const size_t numCarried = repeat.getCarried().size();
  const size_t numYielded = from.getTerminator()->getNumOperands();
  if (numCarried == 0 || repeat.getNumLists() != 0 ||
      numYielded != numCarried + repeat.getStacked()) {
    why = "nothing is carried, or trips have separate results";
    return {};
  }
  builder.setInsertionPointToEnd(&body);
  for (BlockArgument argument : from.getArguments().take_front(numCarried))
    mapped[argument] = body.addArgument(argument.getType(), argument.getLoc());
  for (Operation &op : from.without_terminator()) {
    auto read = dyn_cast<BodyOpInterface>(op);
    if (!read || !(read.isFree() || read.isPointwise())) {
      why = describeWithPlace(&op) + " is not of one element at a time";
      return {};
    }
    SmallVector<Value> operands;
    for (Value operand : op.getOperands())
      operands.push_back(get(operand));
    Operation *copy = builder.clone(op);
    copy->setOperands(operands);
    for (auto [result, own] :
         llvm::zip_equal(op.getResults(), copy->getResults()))
      mapped[result] = own;
  }
  SmallVector<Value> yielded, operands;
  for (Value v : from.getTerminator()->getOperands())
    yielded.push_back(get(v));
  YieldOp::create(builder, repeat.getLoc(), yielded);
  SmallVector<Attribute> maps;
  for (const Input &input : inputs) {
    operands.push_back(input.operand);
    maps.push_back(input.map);
  }
  OpBuilder outer(repeat);
  auto made = RecurrenceOp::create(
      outer, repeat.getLoc(), repeat.getResultTypes(),
      MapAttr::get(repeat.getContext(), 0, repeat.getTripsExpr()),
      repeat.getCarried(), operands, outer.getArrayAttr(maps));
  made.getBody().push_back(new Block());
  Block &region = made.getBody().front();
  for (BlockArgument argument : body.getArguments())
    argument.replaceAllUsesWith(
        region.addArgument(argument.getType(), argument.getLoc()));
  region.getOperations().splice(region.end(), body.getOperations());
  why = made.findWrongRead();
  if (why.empty())
    return made;
  made.erase();
  return {};
}

namespace {
struct FormRecurrences : llir::impl::FormRecurrencesPassBase<FormRecurrences> {
  using FormRecurrencesPassBase::FormRecurrencesPassBase;
  void runOnOperation() override;
};
} // namespace

/// Erases ops whose last reader was erased.
static void eraseUnread(ValueRange values) {
  SmallVector<Operation *> work;
  for (Value v : values)
    if (Operation *def = v.getDefiningOp())
      work.push_back(def);
  while (!work.empty()) {
    Operation *op = work.pop_back_val();
    if (!op->use_empty() || !isOpTriviallyDead(op) ||
        llvm::is_contained(work, op))
      continue;
    for (Value operand : op->getOperands())
      if (Operation *def = operand.getDefiningOp())
        work.push_back(def);
    op->erase();
  }
}

void FormRecurrences::runOnOperation() {
  Reporter reporter(&getContext(), DEBUG_TYPE, getOperation().getSymName());
  SmallVector<hlir::RepeatOp> loops;
  getOperation().walk([&](hlir::RepeatOp repeat) {
    if (!repeat.getRows().empty())
      loops.push_back(repeat);
  });
  for (hlir::RepeatOp repeat : loops) {
    std::string why;
    RecurrenceOp made = Former(repeat).form(why);
    if (!made) {
      reporter.missed(repeat.getLoc(), "recurrence", {{"reason", why}});
      continue;
    }
    reporter.passed(repeat.getLoc(), "recurrence",
                    {{"trips", repeat.getTripsExpr().str()},
                     {"inputs", int64_t(made.getInputs().size())}});
    SmallVector<Value> read(repeat.getRows());
    llvm::SetVector<Value> captured;
    getUsedValuesDefinedAbove(repeat.getBody(), captured);
    llvm::append_range(read, captured);
    repeat.replaceAllUsesWith(made.getResults());
    repeat.erase();
    eraseUnread(read);
  }
}
