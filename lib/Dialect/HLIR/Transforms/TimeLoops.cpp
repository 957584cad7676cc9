//===- TimeLoops.cpp - Loops over lists as loops over rows ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An unrolled loop over time slices its inputs, x[0], x[1], ..., and stacks its
// outputs by a chain of selects on the index along a new dim.
//
//===----------------------------------------------------------------------===//

#include "TimeLoops.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::hlir;

/// A value as a view of a value that is not a view.
namespace {
struct Viewed {
  Value source;
  SmallVector<Expr> map;
};
} // namespace

static SmallVector<Expr> getIdentity(Value v) {
  SmallVector<Expr> map;
  for (unsigned i = 0; i < getExtents(v).size(); ++i)
    map.push_back(Expr::dim(i));
  return map;
}

/// The map of `outer` followed by `inner`, simplified over the shape of `v`.
static SmallVector<Expr> through(Value v, ArrayRef<Expr> outer, MapAttr inner) {
  SmallVector<Expr> extents = getExtents(v), map;
  Assumptions symbols(
      getAssumptions(v.getParentRegion()->getParentOp()).getSymbols(),
      {extents.begin(), extents.end()});
  for (const Expr &e : inner.getResults())
    map.push_back(
        symbols.simplify(e.substituteDims({outer.begin(), outer.end()})));
  return map;
}

static Viewed getViewed(Value v) {
  Viewed viewed{v, getIdentity(v)};
  while (auto view = viewed.source.getDefiningOp<ViewOp>()) {
    viewed.map = through(v, viewed.map, view.getMap());
    viewed.source = view.getOperand();
  }
  return viewed;
}

/// The integer that all elements are equal to.
static std::optional<int64_t> getInteger(Value v) {
  Viewed viewed = getViewed(v);
  DenseIntElementsAttr value;
  if (matchPattern(viewed.source, m_Constant(&value)) && value.isSplat())
    return value.getSplatValue<APInt>().getSExtValue();
  auto iota = viewed.source.getDefiningOp<IotaOp>();
  return iota ? iota.getMap().getResults()[0].asConstant() : std::nullopt;
}

/// The tensor whose rows are the values of a list, if these are views of one
/// value at positions that advance by a constant step; else null.
static Value makeRows(OpBuilder &builder, ValueRange list) {
  SmallVector<Viewed> views;
  for (Value v : list)
    views.push_back(getViewed(v));
  SmallVector<Expr> steps;
  for (auto [first, second] : llvm::zip_equal(views[0].map, views[1].map)) {
    Expr step = second - first;
    if (!step.asConstant())
      return {};
    steps.push_back(step);
  }
  for (auto [trip, view] : llvm::enumerate(views)) {
    if (view.source != views[0].source)
      return {};
    for (auto [i, e] : llvm::enumerate(view.map))
      if (!(e - views[0].map[i] - steps[i] * Expr(int64_t(trip))).isConstant(0))
        return {};
  }
  SmallVector<Expr> extents = getExtents(list[0]), map;
  std::vector<Expr> shifted;
  for (unsigned i = 0; i < extents.size(); ++i)
    shifted.push_back(Expr::dim(i + 1));
  for (auto [e, step] : llvm::zip_equal(views[0].map, steps))
    map.push_back(e.substituteDims(shifted) + step * Expr::dim(0));
  extents.insert(extents.begin(), Expr(int64_t(list.size())));
  auto source = views[0].source;
  auto type = getTensorType(
      extents, cast<RankedTensorType>(source.getType()).getElementType());
  return ViewOp::create(
      builder, source.getLoc(), type, source,
      MapAttr::get(builder.getContext(), extents.size(), map));
}

/// Calls `fn` for the ops at the ends of chains of views of `v`, with the
/// composed maps.
static void
forEachReader(Value v,
              function_ref<void(Operation *, Value, ArrayRef<Expr>)> fn) {
  SmallVector<std::pair<Value, SmallVector<MapAttr>>> work = {{v, {}}};
  while (!work.empty()) {
    auto [at, maps] = work.pop_back_val();
    for (Operation *user : at.getUsers()) {
      if (auto view = dyn_cast<ViewOp>(user)) {
        auto next = maps;
        next.push_back(view.getMap());
        work.push_back({view.getResult(), next});
        continue;
      }
      SmallVector<Expr> map = getIdentity(at);
      for (MapAttr inner : llvm::reverse(maps))
        map = through(at, map, inner);
      fn(user, at, map);
    }
  }
}

/// The select that reads `v`, possibly through views, at positions below `end`
/// of a dim.
static SelectOp findSelect(Value v, int64_t end, unsigned &dim,
                           SmallVector<Expr> &map) {
  SelectOp found;
  forEachReader(v, [&](Operation *user, Value at, ArrayRef<Expr> where) {
    auto select = dyn_cast<SelectOp>(user);
    if (!select || select.getOnTrue() != at || found)
      return;
    auto less = select.getCondition().getDefiningOp<LessThanOp>();
    if (!less || getInteger(less.getRhs()) != end)
      return;
    auto index = less.getLhs().getDefiningOp<IotaOp>();
    std::optional<unsigned> own =
        index ? index.getMap().getResults()[0].asDim() : std::nullopt;
    if (!own)
      return;
    found = select;
    dim = *own;
    map.assign(where.begin(), where.end());
  });
  return found;
}

namespace {
/// The values of all trips, stacked along a dim.
struct Stack {
  Value all;
  unsigned dim;
  /// Maps an index of `all` to an index in a trip.
  SmallVector<Expr> map;
};
} // namespace

/// Finds the value that stacks the trips' values along a dim.
static std::optional<Stack> findStack(ValueRange values) {
  Stack stack;
  const auto trips = static_cast<int64_t>(values.size());
  Value expected; // what the select of the trip before takes elsewhere
  for (int64_t trip = 0; trip + 1 < trips; ++trip) {
    unsigned dim = 0;
    SmallVector<Expr> map;
    SelectOp select = findSelect(values[trip], trip + 1, dim, map);
    if (!select ||
        (expected && (expected != select.getResult() || !expected.hasOneUse())))
      return std::nullopt;
    if (trip == 0)
      stack = {select.getResult(), dim, map};
    if (dim != stack.dim || map != stack.map)
      return std::nullopt;
    expected = select.getOnFalse();
  }
  Viewed last = getViewed(expected);
  SmallVector<Expr> extents = getExtents(stack.all);
  const bool isWhole = last.source == values.back() && last.map == stack.map &&
                       extents[stack.dim].isConstant(trips) &&
                       llvm::none_of(stack.map, [&](const Expr &e) {
                         return e.usesDim(stack.dim);
                       });
  return isWhole ? std::optional(stack) : std::nullopt;
}

std::optional<TimeLoop> hlir::readRows(RepeatOp repeat) {
  // Loops with fewer trips are not worth splitting.
  constexpr int64_t kFewest = 8;
  std::optional<int64_t> trips = repeat.getNumTrips();
  if (!trips || *trips < kFewest || !repeat.getRows().empty() ||
      repeat.getNumLists() == 0)
    return std::nullopt;
  const unsigned numCarried = repeat.getCarried().size();
  ValueRange made = repeat.getResults().drop_front(numCarried);
  SmallVector<std::optional<Stack>> stacks;
  for (unsigned begin = 0; begin < made.size(); begin += *trips) {
    stacks.push_back(findStack(made.slice(begin, *trips)));
    if (!stacks.back())
      return std::nullopt;
  }
  OpBuilder builder(repeat.getContext());
  builder.setInsertionPointAfter(repeat);
  SmallVector<Value> rows;
  for (unsigned begin = 0; begin < repeat.getEach().size(); begin += *trips) {
    rows.push_back(makeRows(builder, repeat.getEach().slice(begin, *trips)));
    if (!rows.back())
      return std::nullopt;
  }
  auto yield = cast<YieldOp>(repeat.getBody().front().getTerminator());
  SmallVector<Type> results(repeat.getCarried().getTypes());
  for (Value v : yield.getValues().drop_front(numCarried)) {
    SmallVector<Expr> extents = getExtents(v);
    extents.insert(extents.begin(), Expr(*trips));
    results.push_back(getTensorType(
        extents, cast<RankedTensorType>(v.getType()).getElementType()));
  }
  TimeLoop time;
  time.loop =
      RepeatOp::create(builder, repeat.getLoc(), results, *trips,
                       repeat.getCarried(), ValueRange(), rows, stacks.size());
  IRMapping mapping;
  repeat.getBody().cloneInto(&time.loop.getBody(), mapping);
  for (unsigned i = 0; i < numCarried; ++i)
    time.replaced.push_back(
        {repeat.getResult(i), i,
         MapAttr::getIdentity(repeat.getContext(),
                              getExtents(repeat.getResult(i)).size())});
  for (auto [i, stack] : llvm::enumerate(stacks)) {
    const unsigned result = numCarried + i;
    SmallVector<Expr> map = {Expr::dim(stack->dim)};
    llvm::append_range(map, stack->map);
    time.replaced.push_back({stack->all, result,
                             MapAttr::get(repeat.getContext(),
                                          getExtents(stack->all).size(), map)});
    // Other readers read a single trip's value.
    for (auto [trip, v] : llvm::enumerate(made.slice(i * *trips, *trips))) {
      SmallVector<Expr> row = {Expr(int64_t(trip))};
      llvm::append_range(row, getIdentity(v));
      time.replaced.push_back(
          {v, result,
           MapAttr::get(repeat.getContext(), getExtents(v).size(), row)});
    }
  }
  return time;
}
