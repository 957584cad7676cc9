//===- UpdateOrder.cpp - Updates whose order does not matter --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Dialect/LLIR/Analysis/UpdateOrder.h"
#include "luminal/Dialect/LLIR/Utils/IndexMaps.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;

/// The most values that are followed from the updates to the indices.
static constexpr unsigned kMostValues = 64;

/// Whether `e` uses none of the dims below `count`.
static bool isFreeOfLeading(const Expr &e, unsigned count) {
  for (unsigned i = 0; i < count; ++i)
    if (e.usesDim(i))
      return false;
  return true;
}

/// Returns whether equal elements of `indices` have equal elements of
/// `updates`. The dims of `indices` are the leading dims of both.
static bool followFromIndices(Value updates, Value indices) {
  unsigned leading = cast<RankedTensorType>(indices.getType()).getRank();
  SmallVector<Value> work = {updates};
  for (unsigned seen = 0; !work.empty(); ++seen) {
    Value v = work.pop_back_val();
    if (v == indices)
      continue;
    Operation *op = v.getDefiningOp();
    if (!op || seen == kMostValues)
      return false;
    if (auto gather = dyn_cast<GatherOp>(op)) {
      if (cast<RankedTensorType>(gather.getIndices().getType()).getRank() !=
          leading)
        return false;
      work.push_back(gather.getIndices());
    } else if (auto view = dyn_cast<ViewOp>(op)) {
      ArrayRef<Expr> results = view.getMap().getResults();
      unsigned kept = 0;
      while (kept < leading && kept < results.size() &&
             results[kept] == Expr::dim(kept))
        ++kept;
      bool isFixed = llvm::all_of(
          results, [&](const Expr &e) { return isFreeOfLeading(e, leading); });
      bool isKept = kept == leading &&
                    llvm::all_of(results.drop_front(kept), [&](const Expr &e) {
                      return isFreeOfLeading(e, leading);
                    });
      if (!isFixed && !isKept)
        return false;
      if (!isFixed)
        work.push_back(view.getOperand());
    } else if (auto iota = dyn_cast<IotaOp>(op)) {
      if (!isFreeOfLeading(iota.getMap().getResults()[0], leading))
        return false;
    } else if (auto constant = dyn_cast<llir::ConstantOp>(op)) {
      if (!isa<SplatElementsAttr>(constant.getValue()))
        return false;
    } else if (isa<ElementwiseOp>(op)) {
      llvm::append_range(work, op->getOperands());
    } else {
      return false;
    }
  }
  return true;
}

/// Returns whether all elements of `v` are one number, known or not.
static bool isUniform(Value v) {
  if (auto view = v.getDefiningOp<ViewOp>())
    return llvm::none_of(view.getMap().getResults(),
                         [](const Expr &e) { return e.hasDims(); });
  auto constant = v.getDefiningOp<llir::ConstantOp>();
  return constant && isa<SplatElementsAttr>(constant.getValue());
}

/// Returns whether no two elements of `indices` are equal: one dim, along which
/// they grow by a constant, from any start.
static bool areDistinct(Value indices, const Assumptions &symbols) {
  auto type = cast<RankedTensorType>(indices.getType());
  if (type.getRank() != 1)
    return false;
  // Elements that wrap around stay distinct if they span less than the type's
  // range.
  auto spanIsBelowAll = [&](int64_t stride) {
    constexpr int64_t most = int64_t(1) << 31;
    return stride > -most && stride < most && stride != 0 &&
           symbols.provablyLessEqual(
               hlir::getExtents(indices)[0] * std::abs(stride), most);
  };
  Value v = indices;
  for (unsigned seen = 0; seen < kMostValues; ++seen) {
    Operation *op = v.getDefiningOp();
    if (!op)
      return false;
    if (auto iota = dyn_cast<IotaOp>(op)) {
      auto linear = iota.getMap().getResults()[0].linearIn(0);
      std::optional<int64_t> stride =
          linear ? linear->stride.asConstant() : std::nullopt;
      return stride &&
             (*stride == 1 || *stride == -1 || spanIsBelowAll(*stride));
    }
    auto elementwise = dyn_cast<ElementwiseOp>(op);
    if (!elementwise)
      return false;
    auto inputs = elementwise.getInputs();
    Fn fn = elementwise.getFn();
    if (fn == Fn::Add && isUniform(inputs[0]))
      v = inputs[1];
    else if ((fn == Fn::Add || fn == Fn::Sub) && isUniform(inputs[1]))
      v = inputs[0];
    else
      return false;
  }
  return false;
}

bool llir::isOrderFree(ScatterOp op, const Assumptions &symbols) {
  Type element =
      cast<RankedTensorType>(op.getDest().getType()).getElementType();
  Expr count = countElements(op.getIndices().getType());
  if (symbols.provablyLessEqual(count, 1))
    return true;
  if (op.getCombine() == hlir::Combine::Max &&
      (element.isF32() || element.isF64()))
    return true;
  if (op.getCombine() != hlir::Combine::Set)
    return element.isSignlessInteger(32) || element.isInteger(64);
  return areDistinct(op.getIndices(), symbols) ||
         followFromIndices(op.getUpdates(), op.getIndices());
}

bool llir::isPermutation(Value indices, const Expr &rows,
                         const Assumptions &symbols) {
  SmallVector<Expr> extents = hlir::getExtents(indices);
  auto equals = [&](const Expr &a, const Expr &b) {
    return symbols.simplify(a - b).isConstant(0);
  };
  if (extents.size() != 1 || !equals(extents[0], rows))
    return false;
  // Strip views that keep all elements in order.
  Assumptions sizes = withExtents(symbols, extents);
  Expr place = Expr::dim(0);
  while (auto view = indices.getDefiningOp<ViewOp>()) {
    SmallVector<Expr> range = hlir::getExtents(view.getOperand());
    SmallVector<Expr> domain = hlir::getExtents(indices);
    std::vector<Expr> at = delinearize(place, {domain.begin(), domain.end()});
    Expr moved = linearize(view.getMap().getResults().vec(),
                           {range.begin(), range.end()})
                     .substituteDims(at);
    if (!equals(sizes.simplify(moved), place) ||
        !equals(product({range.begin(), range.end()}), rows))
      return false;
    indices = view.getOperand();
  }
  auto order = indices.getDefiningOp<ArgsortOp>();
  return order && !order.getBegin() &&
         hlir::getExtents(indices) == hlir::getExtents(order.getOperand()) &&
         equals(hlir::getExtents(indices).back(), rows);
}
