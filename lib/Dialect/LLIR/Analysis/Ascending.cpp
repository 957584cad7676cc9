//===- Ascending.cpp - Integers in ascending order ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Dialect/LLIR/Analysis/Ascending.h"
#include "luminal/Dialect/LLIR/Utils/IndexMaps.h"
#include "luminal/Dialect/LLIR/Utils/Values.h"

#include <cmath>

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;

/// `v` behind views that keep all elements in their order.
static Value behindReshapes(Value v, const Assumptions &symbols) {
  while (auto view = v.getDefiningOp<ViewOp>()) {
    SmallVector<Expr> domain = hlir::getExtents(v),
                      range = hlir::getExtents(view.getOperand());
    std::optional<Expr> offset =
        getContiguousOffset(view.getMap(), domain, range, symbols);
    if (!offset || !offset->isConstant(0) ||
        !haveSameSize(domain, range, symbols))
      break;
    v = view.getOperand();
  }
  return v;
}

/// Whether `v`, of one dim, are integers in ascending order.
static bool isSortedGather(GatherOp gather, const Assumptions &symbols) {
  Value indices = behindReshapes(gather.getIndices(), symbols);
  auto order = indices.getDefiningOp<ArgsortOp>();
  if (!order || order.getDescending() || order.getBegin() ||
      !isa<IntegerType>(getElementTypeOrSelf(order.getOperand())))
    return false;
  SmallVector<Expr> extents = hlir::getExtents(order.getOperand());
  return hlir::getExtents(indices) == extents &&
         haveSameSize(extents, {extents.back()}, symbols) &&
         behindReshapes(gather.getData(), symbols) ==
             behindReshapes(order.getOperand(), symbols);
}

/// The number that all elements of `v` are, if it is finite.
static std::optional<double> getNumber(Value v) {
  while (auto view = v.getDefiningOp<ViewOp>())
    v = view.getOperand();
  if (std::optional<double> number = getFloatSplat(v))
    return std::isfinite(*number) ? number : std::nullopt;
  if (std::optional<int64_t> number = getIntegerSplat(v))
    return double(*number);
  return std::nullopt;
}

/// Whether `v` counts for each place what is at or before it: more for later
/// ones.
static bool countsUpToPlace(Value v) {
  auto reduce = v.getDefiningOp<llir::ReduceOp>();
  auto cast = reduce && reduce.getKind() == ReduceKind::Sum &&
                      getElementTypeOrSelf(v).isInteger(64)
                  ? reduce.getOperand().getDefiningOp<ElementwiseOp>()
                  : ElementwiseOp();
  auto compare = cast && cast.getFn() == Fn::Cast
                     ? cast->getOperand(0).getDefiningOp<ElementwiseOp>()
                     : ElementwiseOp();
  if (!compare || compare.getFn() != Fn::LessEqual ||
      hlir::getExtents(compare.getResult()).size() != 2)
    return false;
  auto view = compare->getOperand(0).getDefiningOp<ViewOp>();
  auto place = compare->getOperand(1).getDefiningOp<IotaOp>();
  return view && !view.getMap().usesDim(0) && place &&
         place.getMap().getResults()[0] == Expr::dim(0);
}

bool llir::isAscending(Value v, const Assumptions &symbols) {
  constexpr unsigned kMost = 32;
  for (unsigned seen = 0; seen < kMost; ++seen) {
    if (auto gather = v.getDefiningOp<GatherOp>())
      return isSortedGather(gather, symbols);
    if (countsUpToPlace(v))
      return true;
    auto op = v.getDefiningOp<ElementwiseOp>();
    if (!op)
      return false;
    auto inputs = op.getInputs();
    Type type = getElementTypeOrSelf(v);
    const bool isFloat = isa<FloatType>(type);
    auto rest = [&](unsigned i) { return getNumber(inputs[1 - i]); };
    switch (op.getFn()) {
    case Fn::Cast: {
      Type from = getElementTypeOrSelf(inputs[0]);
      const bool mayWrap = !isFloat && from.getIntOrFloatBitWidth() >
                                           type.getIntOrFloatBitWidth();
      if (mayWrap || type.isInteger(1))
        return false;
      v = inputs[0];
      continue;
    }
    case Fn::Floor:
      v = inputs[0];
      continue;
    case Fn::Min:
    case Fn::Max:
    case Fn::Add:
    case Fn::Mul: {
      const bool isChoice = op.getFn() == Fn::Min || op.getFn() == Fn::Max;
      unsigned i = rest(0) ? 0 : 1;
      std::optional<double> number = rest(i);
      if (!number || (!isChoice && !isFloat) ||
          (op.getFn() == Fn::Mul && !(*number > 0)))
        return false;
      v = inputs[i];
      continue;
    }
    case Fn::Sub:
    case Fn::Div: {
      std::optional<double> number = rest(0);
      if (!number || !isFloat || (op.getFn() == Fn::Div && !(*number > 0)))
        return false;
      v = inputs[0];
      continue;
    }
    default:
      return false;
    }
  }
  return false;
}
