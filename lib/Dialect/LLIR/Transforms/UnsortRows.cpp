//===- UnsortRows.cpp - Undoes the sorting of rows ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The inverse of SortRows.cpp: a front end has sorted rows by the matrix that
// each looks up, but few rows share a matrix.
//
//   %p = argsort %i
//   %s = gemm (gather %x, %p),
//             (gather %w, (gather %i, %p))   -->   %y = gemm %x, (gather %w,
//             %i)
//   %y = gather %s, (inverse of %p)
//
// Tested by test/Dialect/LLIR/unsort-rows.mlir and
// test/Integration/unsort-rows.mlir.
//
//===----------------------------------------------------------------------===//

#include "RowOrder.h"
#include "luminal/Dialect/LLIR/Analysis/UpdateOrder.h"
#include "luminal/Dialect/LLIR/Transforms/Passes.h"
#include "luminal/Dialect/LLIR/Utils/IndexMaps.h"
#include "luminal/Dialect/LLIR/Utils/Remarks.h"
#include "luminal/Dialect/LLIR/Utils/Values.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

namespace luminal::llir {
#define GEN_PASS_DEF_UNSORTROWSPASS
#include "luminal/Dialect/LLIR/Transforms/Passes.h.inc"
} // namespace luminal::llir

#define DEBUG_TYPE "llir-unsort-rows"

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;
using luminal::hlir::MapAttr;
using Decision = DecisionAbout<Operation *>;

namespace {
struct UnsortRows : llir::impl::UnsortRowsPassBase<UnsortRows> {
  using UnsortRowsPassBase::UnsortRowsPassBase;
  void runOnOperation() override;
};

/// Recomputes values of sorted rows in the original order of the rows.
class RowsInPlace {
public:
  RowsInPlace(ArgsortOp order, const Assumptions &symbols)
      : symbols(symbols), order(order),
        count(countElements(order.getResult().getType())) {}

  /// Returns whether the first `dims` dims of `v` are the sorted rows, and each
  /// of these depends only on its own position in the order.
  bool follows(Value v, unsigned dims);
  /// Returns the same value in the original order, with the rows as the first
  /// dim.
  Value compute(ImplicitLocOpBuilder &b, Value v, unsigned dims);
  /// Returns the ops that `follows` has accepted.
  ArrayRef<Operation *> getOps() const { return ops.getArrayRef(); }

private:
  /// A value whose first dims are the rows, and the number of these dims.
  using Rows = std::pair<Value, unsigned>;
  /// An operand of an op, with the map from the op's index.
  struct Operand {
    Value value;
    MapAttr map;
  };

  bool followsNew(Value v, unsigned dims);
  Value computeNew(ImplicitLocOpBuilder &b, Value v, unsigned dims);
  bool followsThrough(const Operand &operand, ArrayRef<Expr> domain,
                      unsigned dims);
  Value computeThrough(ImplicitLocOpBuilder &b, const Operand &operand,
                       ArrayRef<Expr> domain, unsigned dims, MapAttr &map);

  const Assumptions &symbols;
  ArgsortOp order;
  Expr count;
  DenseMap<Rows, bool> known;
  DenseMap<Rows, Value> computed;
  llvm::SetVector<Operation *> ops;
};
} // namespace

/// Returns the extents of a product's space: its result dims and the contracted
/// dim.
static SmallVector<Expr> getSpace(GemmOp op) {
  SmallVector<Expr> space = hlir::getExtents(op.getResult());
  space.push_back(op.getKExtent());
  return space;
}

bool RowsInPlace::followsThrough(const Operand &operand, ArrayRef<Expr> domain,
                                 unsigned dims) {
  std::optional<unsigned> rows = countDimsOfRows(
      operand.map, domain, hlir::getExtents(operand.value), dims, symbols);
  return rows && (*rows == 0 || follows(operand.value, *rows));
}

bool RowsInPlace::follows(Value v, unsigned dims) {
  Rows key(v, dims);
  if (auto it = known.find(key); it != known.end())
    return it->second;
  bool found = followsNew(v, dims);
  if (found)
    ops.insert(v.getDefiningOp());
  known[key] = found;
  return found;
}

bool RowsInPlace::followsNew(Value v, unsigned dims) {
  Operation *op = v.getDefiningOp();
  SmallVector<Expr> extents = hlir::getExtents(v);
  if (!op || dims > extents.size())
    return false;
  if (op == order)
    return dims == extents.size();
  if (auto view = dyn_cast<ViewOp>(op))
    return followsThrough({view.getOperand(), view.getMap()}, extents, dims);
  if (auto gather = dyn_cast<GatherOp>(op))
    return hlir::getExtents(gather.getIndices()).size() == dims &&
           follows(gather.getIndices(), dims);
  if (auto gemm = dyn_cast<GemmOp>(op)) {
    SmallVector<Expr> space = getSpace(gemm);
    return followsThrough({gemm.getLhs(), gemm.getLhsMap()}, space, dims) &&
           followsThrough({gemm.getRhs(), gemm.getRhsMap()}, space, dims);
  }
  return isa<ElementwiseOp>(op) &&
         llvm::all_of(op->getOperands(),
                      [&](Value operand) { return follows(operand, dims); });
}

/// Returns the operand in original order, and the map through which an op in
/// original order reads it.
Value RowsInPlace::computeThrough(ImplicitLocOpBuilder &b,
                                  const Operand &operand, ArrayRef<Expr> domain,
                                  unsigned dims, MapAttr &map) {
  unsigned rows = *countDimsOfRows(
      operand.map, domain, hlir::getExtents(operand.value), dims, symbols);
  SmallVector<Expr> results;
  if (rows)
    results.push_back(Expr::dim(0));
  for (const Expr &e : operand.map.getResults().drop_front(rows))
    results.push_back(joinDimsOfRows(e, dims));
  map = MapAttr::get(b.getContext(), domain.size() - dims + 1, results);
  return rows ? compute(b, operand.value, rows) : operand.value;
}

Value RowsInPlace::compute(ImplicitLocOpBuilder &b, Value v, unsigned dims) {
  if (auto it = computed.find({v, dims}); it != computed.end())
    return it->second;
  Value result = computeNew(b, v, dims);
  return computed[{v, dims}] = result;
}

/// Returns each element as an expression of its index; std::nullopt if it is
/// computed otherwise.
static std::optional<Expr> getNumbers(Value v) {
  if (auto iota = v.getDefiningOp<IotaOp>())
    return iota.getMap().getResults()[0];
  if (auto view = v.getDefiningOp<ViewOp>())
    v = view.getOperand();
  if (std::optional<int64_t> number = getIntegerSplat(v))
    return Expr(*number);
  return std::nullopt;
}

Value RowsInPlace::computeNew(ImplicitLocOpBuilder &b, Value v, unsigned dims) {
  MLIRContext *context = b.getContext();
  SmallVector<Expr> extents = hlir::getExtents(v), flat = {count};
  llvm::append_range(flat, ArrayRef(extents).drop_front(dims));
  auto type = hlir::getTensorType(flat, getElementTypeOrSelf(v));
  Operation *op = v.getDefiningOp();
  auto number = [&](const Expr &e) {
    return IotaOp::create(b, type, MapAttr::get(context, flat.size(), e));
  };
  if (op == order)
    return number(Expr::dim(0));
  if (auto view = dyn_cast<ViewOp>(op)) {
    MapAttr map;
    Value source = computeThrough(b, {view.getOperand(), view.getMap()},
                                  extents, dims, map);
    return b.createOrFold<ViewOp>(type, source, map);
  }
  if (auto gather = dyn_cast<GatherOp>(op)) {
    Value indices = compute(b, gather.getIndices(), dims);
    // A position that follows from the row's number needs no lookup.
    Assumptions inside = withExtents(symbols, flat);
    if (std::optional<Expr> place = getNumbers(indices);
        place && inside.provablyNonNegative(*place) &&
        inside.provablyLess(*place, hlir::getExtents(gather.getData())[0])) {
      SmallVector<Expr> results = {inside.simplify(*place)};
      for (unsigned d = 1; d < flat.size(); ++d)
        results.push_back(Expr::dim(d));
      return b.createOrFold<ViewOp>(
          type, gather.getData(), MapAttr::get(context, flat.size(), results));
    }
    return GatherOp::create(b, type, gather.getData(), indices,
                            gather.getChecked());
  }
  if (auto gemm = dyn_cast<GemmOp>(op)) {
    SmallVector<Expr> space = getSpace(gemm);
    MapAttr left, right;
    Value lhs = computeThrough(b, {gemm.getLhs(), gemm.getLhsMap()}, space,
                               dims, left),
          rhs = computeThrough(b, {gemm.getRhs(), gemm.getRhsMap()}, space,
                               dims, right);
    return GemmOp::create(b, type, lhs, rhs, gemm.getK(), left, right);
  }
  auto elementwise = cast<ElementwiseOp>(op);
  SmallVector<Value> inputs;
  for (Value operand : op->getOperands())
    inputs.push_back(compute(b, operand, dims));
  if (elementwise.getFn() == Fn::FloorDiv) {
    std::optional<Expr> place = getNumbers(inputs[0]),
                        by = getNumbers(inputs[1]);
    if (place && by && by->asConstant().value_or(0) > 0 &&
        withExtents(symbols, flat).provablyNonNegative(*place))
      return number(Expr::floorDiv(*place, *by));
  }
  return ElementwiseOp::create(b, type, elementwise.getFn(), inputs);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Returns the value behind views that keep all elements in order; null if a
/// view does not.
static Value skipViews(Value v, const Assumptions &symbols) {
  while (auto view = v.getDefiningOp<ViewOp>()) {
    if (!isAllInOrder(view.getMap(), hlir::getExtents(v),
                      hlir::getExtents(view.getOperand()), symbols))
      return {};
    v = view.getOperand();
  }
  return v;
}

/// Returns the argsort of which `v` is the inverse: the place of each row in
/// it.
static ArgsortOp findOrder(Value v, const Assumptions &symbols) {
  SmallVector<Expr> extents = hlir::getExtents(v);
  if (extents.size() != 1)
    return {};
  Value order;
  if (auto scatter = v.getDefiningOp<ScatterOp>()) {
    auto places = scatter.getUpdates().getDefiningOp<IotaOp>();
    if (places && places.getMap().getResults()[0] == Expr::dim(0) &&
        scatter.getCombine() == hlir::Combine::Set)
      order = scatter.getIndices();
  } else {
    v = skipViews(v, symbols);
    if (!v)
      return {};
    auto sort = v.getDefiningOp<ArgsortOp>();
    if (sort && !sort.getDescending() && !sort.getBegin())
      order = sort.getOperand();
    SmallVector<Expr> sorted = hlir::getExtents(v);
    if (!order || !haveSameSize(sorted, {sorted.back()}, symbols))
      return {};
  }
  Value flat = order ? skipViews(order, symbols) : order;
  if (!flat)
    return {};
  auto found = flat.getDefiningOp<ArgsortOp>();
  if (!found || found.getBegin())
    return {};
  SmallVector<Expr> shape = hlir::getExtents(found.getOperand());
  return areEqual(hlir::getExtents(flat), shape, symbols) &&
                 haveSameSize(shape, {shape.back()}, symbols) &&
                 haveSameSize(shape, extents, symbols)
             ? found
             : ArgsortOp();
}

/// Returns the matrices with columns that a product looks up for each row.
static SmallVector<Value, 2> findMatrices(GemmOp op) {
  SmallVector<Value, 2> found;
  SmallVector<Expr> extents = hlir::getExtents(op.getResult());
  for (auto [side, map] : {std::pair(op.getLhs(), op.getLhsMap()),
                           std::pair(op.getRhs(), op.getRhsMap())}) {
    auto lookup = skipWidening(side).getDefiningOp<GatherOp>();
    bool hasColumns = false;
    for (unsigned d = 1; d < extents.size(); ++d)
      hasColumns |= map.usesDim(d) && !extents[d].isConstant(1);
    if (lookup && hasColumns)
      found.push_back(lookup.getData());
  }
  return found;
}

/// Returns whether `back` is the only reader of the results of products in
/// sorted order.
static bool isReadBack(ArrayRef<Operation *> ops, GatherOp back) {
  DenseSet<Operation *> known(ops.begin(), ops.end());
  known.insert(back);
  SmallVector<Operation *> work;
  for (Operation *op : ops)
    if (isa<GemmOp>(op))
      work.push_back(op);
  DenseSet<Operation *> seen(work.begin(), work.end());
  while (!work.empty()) {
    Operation *op = work.pop_back_val();
    if (op == back)
      continue;
    for (Operation *user : op->getUsers()) {
      if (!known.contains(user))
        return false;
      if (seen.insert(user).second)
        work.push_back(user);
    }
  }
  return true;
}

void UnsortRows::runOnOperation() {
  if (getOperation().isDeclaration())
    return;
  Block &block = getOperation().getBody().front();
  Assumptions symbols = hlir::getAssumptions(block.getTerminator());
  Reporter reporter(&getContext(), DEBUG_TYPE, getOperation().getSymName());
  auto nominal = [&](const Expr &e) { return nominalValue(e, symbols); };
  SmallVector<std::pair<GatherOp, ArgsortOp>> found;
  for (auto gather : block.getOps<GatherOp>())
    if (ArgsortOp order = findOrder(gather.getIndices(), symbols))
      found.push_back({gather, order});
  DenseSet<Operation *> gone;
  for (auto [back, order] : found) {
    if (gone.contains(back))
      continue;
    Location loc = back.getLoc();
    RowsInPlace inPlace(order, symbols);
    if (!inPlace.follows(back.getData(), 1)) {
      reporter.missed(loc, "rows",
                      {{"reason", "they do not depend on sorted rows alone"}});
      continue;
    }
    if (!isReadBack(inPlace.getOps(), back)) {
      reporter.missed(loc, "rows",
                      {{"reason", "another op reads them in sorted order"}});
      continue;
    }
    double rows = nominal(countElements(order.getResult().getType())),
           bytes = 0;
    for (Operation *op : inPlace.getOps())
      if (auto gemm = dyn_cast<GemmOp>(op))
        for (Value matrices : findMatrices(gemm))
          bytes += countBytesShared(matrices, rows, nominal);
    double gain = priceSort(rows, kernelTime, operationRate),
           cost = bytes / readRate;
    if (gain <= cost) {
      reporter.missed(loc, "rows",
                      {{"reason", "sorted rows share matrices"},
                       {"gain ns", int64_t(gain)},
                       {"cost ns", int64_t(cost)}});
      continue;
    }
    ImplicitLocOpBuilder b(loc, back);
    Value result = inPlace.compute(b, back.getData(), 1);
    back.getResult().replaceAllUsesWith(result);
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (isOpTriviallyDead(&op)) {
        gone.insert(&op);
        op.erase();
      }
    reporter.passed(loc, "rows",
                    {{"gain ns", int64_t(gain)}, {"cost ns", int64_t(cost)}});
  }
}
