//===- Ascending.cpp - Proofs that integers are sorted --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Dialect/LLIR/Analysis/Ascending.h"
#include "luminal/Dialect/LLIR/Utils/IndexMaps.h"
#include "luminal/Dialect/LLIR/Utils/Values.h"

#include <cmath>

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;

/// Strips views that keep all elements in order.
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

/// Returns whether `gather` reads integers in the order of their argsort.
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

/// Returns the number that all elements of `v` are, if it is finite.
static std::optional<double> getNumber(Value v) {
  while (auto view = v.getDefiningOp<ViewOp>())
    v = view.getOperand();
  if (std::optional<double> number = getFloatSplat(v))
    return std::isfinite(*number) ? number : std::nullopt;
  if (std::optional<int64_t> number = getIntegerSplat(v))
    return double(*number);
  return std::nullopt;
}

/// Returns the least and the greatest integer among the elements of `v`, if
/// they are known and no operation on the way wraps.
static std::optional<std::pair<int64_t, int64_t>>
getBounds(Value v, const Assumptions &symbols, unsigned depth = 0) {
  constexpr unsigned kMost = 16;
  // Products of two numbers below this bound do not wrap.
  constexpr int64_t kFar = int64_t(1) << 31;
  auto type = dyn_cast<IntegerType>(getElementTypeOrSelf(v));
  Operation *op = v.getDefiningOp();
  if (!type || !op || depth == kMost)
    return std::nullopt;
  auto of = [&](Value operand) {
    return getBounds(operand, symbols, depth + 1);
  };
  auto bound = [&](int64_t lo,
                   int64_t hi) -> std::optional<std::pair<int64_t, int64_t>> {
    const int64_t most =
        type.getWidth() > 32 ? kFar : (int64_t(1) << (type.getWidth() - 1)) - 1;
    if (lo < -most || hi > most)
      return std::nullopt;
    return std::pair(lo, hi);
  };
  if (std::optional<int64_t> number = getIntegerSplat(v))
    return bound(*number, *number);
  if (auto view = dyn_cast<ViewOp>(op))
    return of(view.getOperand());
  if (auto gather = dyn_cast<GatherOp>(op))
    return of(gather.getData());
  if (auto order = dyn_cast<ArgsortOp>(op)) {
    std::optional<int64_t> n =
        symbols.upperBound(hlir::getExtents(order.getOperand()).back());
    return n && *n > 0 ? bound(0, *n - 1) : std::nullopt;
  }
  auto elementwise = dyn_cast<ElementwiseOp>(op);
  if (!elementwise || elementwise.getInputs().size() > 2)
    return std::nullopt;
  auto inputs = elementwise.getInputs();
  auto a = of(inputs[0]);
  if (!a)
    return std::nullopt;
  if (elementwise.getFn() == Fn::Cast)
    return bound(a->first, a->second);
  auto b = inputs.size() == 2 ? of(inputs[1]) : std::nullopt;
  if (!b)
    return std::nullopt;
  switch (elementwise.getFn()) {
  case Fn::Min:
    return bound(std::min(a->first, b->first), std::min(a->second, b->second));
  case Fn::Max:
    return bound(std::max(a->first, b->first), std::max(a->second, b->second));
  case Fn::Add:
    return bound(a->first + b->first, a->second + b->second);
  case Fn::Mul:
    if (a->first < 0 || b->first < 0)
      return std::nullopt;
    return bound(a->first * b->first, a->second * b->second);
  case Fn::FloorDiv:
    if (a->first < 0 || b->first < 1)
      return std::nullopt;
    return bound(a->first / b->second, a->second / b->first);
  default:
    return std::nullopt;
  }
}

/// Returns whether `v` counts, for each place, the elements at or before it: a
/// count that never falls.
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
      const bool mayWrap =
          !isFloat &&
          from.getIntOrFloatBitWidth() > type.getIntOrFloatBitWidth() &&
          !getBounds(v, symbols);
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
      if (!number || (!isChoice && !isFloat && !getBounds(v, symbols)) ||
          (op.getFn() == Fn::Mul && !(*number > 0)))
        return false;
      v = inputs[i];
      continue;
    }
    case Fn::FloorDiv: {
      std::optional<double> number = rest(0);
      if (!number || isFloat || !(*number > 0))
        return false;
      v = inputs[0];
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
