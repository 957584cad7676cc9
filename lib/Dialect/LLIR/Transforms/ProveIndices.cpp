//===- ProveIndices.cpp - Removes range checks that cannot fail -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   %i = iota <(d0) -> (d0)> : tensor<4xi64>
//   gather %x, %i {checked} : tensor<8xf32>    -->    gather %x, %i
//
// Tested by test/Dialect/LLIR/prove-indices.mlir.
//
//===----------------------------------------------------------------------===//

#include "luminal/Dialect/HLIR/IR/IntegerRange.h"
#include "luminal/Dialect/LLIR/IR/Functions.h"
#include "luminal/Dialect/LLIR/Transforms/Passes.h"
#include "luminal/Dialect/LLIR/Utils/IndexMaps.h"
#include "luminal/Dialect/LLIR/Utils/Remarks.h"
#include "luminal/Dialect/LLIR/Utils/Values.h"

#include <cmath>

namespace luminal::llir {
#define GEN_PASS_DEF_PROVEINDICESPASS
#include "luminal/Dialect/LLIR/Transforms/Passes.h.inc"
} // namespace luminal::llir

#define DEBUG_TYPE "llir-prove-indices"

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;

namespace {
/// The known bounds of the elements of an integer tensor.
struct Interval {
  /// Each element as an expression of its own index.
  std::optional<Expr> exact;
  /// Bounds of all elements, over symbols alone.
  std::optional<Expr> lo, hi;
};

class ValueRanges {
public:
  explicit ValueRanges(const Assumptions &symbols) : symbols(symbols) {}

  const Interval &get(Value value);
  bool isInside(Value indices, const Expr &extent);
  /// Decides a comparison, or a logical combination of comparisons, if its
  /// value is the same for every element.
  std::optional<bool> decide(Value condition);

private:
  Interval compute(Operation *op);
  Interval computeElementwise(ElementwiseOp op);
  Interval computeSelect(ElementwiseOp op);
  Interval computeConstant(llir::ConstantOp op);
  /// Bounds of floats that follow from integers, rounded outwards; no element
  /// is NaN.
  using Bounds = std::optional<std::pair<double, double>>;
  Bounds boundFloats(Value value);
  Bounds computeFloats(Value value);
  /// Drops bounds that the element type of `value` might not represent.
  Interval clamp(Interval range, Value value) const;
  Interval ofExact(const Expr &e, Value value) const;

  std::optional<Expr> smaller(std::optional<Expr> a,
                              std::optional<Expr> b) const;
  std::optional<Expr> larger(std::optional<Expr> a,
                             std::optional<Expr> b) const;

  const Assumptions &symbols;
  DenseMap<Value, Interval> known;
  DenseMap<Value, Bounds> knownFloats;
  /// The depth of nested floats.
  unsigned nesting = 0;
};
} // namespace

static bool mayBeIndex(Value value) {
  Type element = cast<RankedTensorType>(value.getType()).getElementType();
  return element.isSignlessInteger(32) || element.isInteger(64);
}

/// Returns the value that `value` stands for: the operand behind a kernel's
/// block argument, or the yielded value behind a kernel's result.
static Value throughKernels(Value value) {
  while (true) {
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      auto kernel = dyn_cast<KernelOp>(argument.getOwner()->getParentOp());
      if (!kernel)
        return value;
      value = kernel->getOperand(argument.getArgNumber());
    } else if (auto kernel = value.getDefiningOp<KernelOp>()) {
      Operation *yield = kernel.getBody().front().getTerminator();
      value = yield->getOperand(cast<OpResult>(value).getResultNumber());
    } else {
      return value;
    }
  }
}

std::optional<Expr> ValueRanges::smaller(std::optional<Expr> a,
                                         std::optional<Expr> b) const {
  if (!a || !b)
    return std::nullopt;
  return symbols.simplify(Expr::min(*a, *b));
}

std::optional<Expr> ValueRanges::larger(std::optional<Expr> a,
                                        std::optional<Expr> b) const {
  if (!a || !b)
    return std::nullopt;
  return symbols.simplify(Expr::max(*a, *b));
}

Interval ValueRanges::clamp(Interval range, Value value) const {
  auto type = cast<RankedTensorType>(value.getType());
  // Sums of two such bounds do not overflow.
  constexpr int64_t kLimit = int64_t(1) << 62;
  auto holds = [&](const std::optional<Expr> &e,
                   const Assumptions &assumptions) {
    if (!e)
      return false;
    auto range = hlir::getRange(*e, boundSymbols(assumptions));
    return range && hlir::holds(type.getElementType(), *range) &&
           range->lo >= -kLimit && range->hi <= kLimit;
  };
  // An element that wraps can have any value.
  if (range.exact &&
      !holds(range.exact, withExtents(symbols, hlir::getExtents(type))))
    range = {};
  if (!holds(range.lo, symbols) || !holds(range.hi, symbols))
    range.lo = range.hi = std::nullopt;
  return range;
}

Interval ValueRanges::ofExact(const Expr &e, Value value) const {
  SmallVector<Expr> extents = hlir::getExtents(value);
  Assumptions assumptions = withExtents(symbols, extents);
  Interval range;
  range.exact = assumptions.simplify(e);
  if (std::optional<int64_t> lo = assumptions.lowerBound(*range.exact))
    range.lo = Expr(*lo);
  if (std::optional<int64_t> hi = assumptions.upperBound(*range.exact))
    range.hi = Expr(*hi);
  return clamp(range, value);
}

Interval ValueRanges::computeConstant(llir::ConstantOp op) {
  auto elements = dyn_cast<DenseIntElementsAttr>(op.getValue());
  auto range = hlir::getRange(elements);
  if (!range)
    return {};
  if (elements.isSplat())
    return ofExact(Expr(range->lo), op.getResult());
  return clamp({std::nullopt, Expr(range->lo), Expr(range->hi)},
               op.getResult());
}

/// Returns the integer comparison that defines `condition`.
static ElementwiseOp getComparison(Value condition) {
  auto compare = condition.getDefiningOp<ElementwiseOp>();
  if (compare && compare.getFn() == Fn::LessThan &&
      isa<IntegerType>(cast<RankedTensorType>(compare.getInputs()[0].getType())
                           .getElementType()))
    return compare;
  return {};
}

std::optional<bool> ValueRanges::decide(Value condition) {
  // A condition on all elements also holds for the elements of a view.
  while (auto view = condition.getDefiningOp<ViewOp>())
    condition = view.getOperand();
  if (auto constant = condition.getDefiningOp<llir::ConstantOp>())
    if (auto splat = dyn_cast<SplatElementsAttr>(constant.getValue());
        splat && splat.getElementType().isInteger(1))
      return splat.getSplatValue<bool>();
  auto op = condition.getDefiningOp<ElementwiseOp>();
  if (!op || op.getInputs().size() != 2)
    return std::nullopt;
  Value x = op.getInputs()[0], y = op.getInputs()[1];
  if (op.getFn() == Fn::Mul && getElementTypeOrSelf(condition).isInteger(1)) {
    std::optional<bool> first = decide(x), second = decide(y);
    if (first == false || second == false)
      return false;
    if (first && second)
      return true;
    return std::nullopt;
  }
  const bool isStrict = op.getFn() == Fn::LessThan;
  if (!isStrict && op.getFn() != Fn::LessEqual)
    return std::nullopt;
  if (isa<FloatType>(getElementTypeOrSelf(x))) {
    Bounds bx = boundFloats(x), by = boundFloats(y);
    if (!bx || !by)
      return std::nullopt;
    if (isStrict ? bx->second < by->first : bx->second <= by->first)
      return true;
    if (isStrict ? bx->first >= by->second : bx->first > by->second)
      return false;
    return std::nullopt;
  }
  Interval rx = get(x), ry = get(y);
  auto isBelow = [&](const Expr &a, const Expr &b, bool strictly) {
    return strictly ? symbols.provablyLess(a, b)
                    : symbols.provablyLessEqual(a, b);
  };
  if (rx.lo && ry.hi && isBelow(*ry.hi, *rx.lo, !isStrict))
    return false;
  if (rx.hi && ry.lo && isBelow(*rx.hi, *ry.lo, isStrict))
    return true;
  return std::nullopt;
}

ValueRanges::Bounds ValueRanges::boundFloats(Value value) {
  constexpr unsigned kMost = 32;
  if (auto it = knownFloats.find(value); it != knownFloats.end())
    return it->second;
  if (nesting == kMost)
    return std::nullopt;
  ++nesting;
  Bounds bounds = computeFloats(value);
  --nesting;
  // Bounds must stay far from the type's limits.
  const double most = getElementTypeOrSelf(value).isF16() ? 0x1p14 : 0x1p60;
  if (bounds && (!(bounds->first >= -most) || !(bounds->second <= most)))
    bounds = std::nullopt;
  knownFloats[value] = bounds;
  return bounds;
}

ValueRanges::Bounds ValueRanges::computeFloats(Value value) {
  auto type = dyn_cast<FloatType>(getElementTypeOrSelf(value));
  Operation *op = throughKernels(value).getDefiningOp();
  if (!type || !op)
    return std::nullopt;
  if (auto view = dyn_cast<ViewOp>(op))
    return boundFloats(view.getOperand());
  if (auto constant = dyn_cast<llir::ConstantOp>(op)) {
    auto splat = dyn_cast<SplatElementsAttr>(constant.getValue());
    if (!splat)
      return std::nullopt;
    double number = splat.getSplatValue<APFloat>().convertToDouble();
    return std::pair(number, number);
  }
  auto elementwise = dyn_cast<ElementwiseOp>(op);
  if (!elementwise)
    return std::nullopt;
  const int digits = int(type.getFPMantissaWidth());
  // Widen by two rounding steps of the type.
  auto widen = [&](double lo, double hi) -> Bounds {
    const double step = std::exp2(2 - digits);
    return std::pair(lo - std::abs(lo) * step, hi + std::abs(hi) * step);
  };
  auto inputs = elementwise.getInputs();
  if (elementwise.getFn() == Fn::Select) {
    std::optional<bool> known = decide(inputs[0]);
    Bounds a = boundFloats(inputs[1]), b = boundFloats(inputs[2]);
    if (known)
      return *known ? a : b;
    if (!a || !b)
      return std::nullopt;
    return std::pair(std::min(a->first, b->first),
                     std::max(a->second, b->second));
  }
  if (elementwise.getFn() == Fn::Cast && mayBeIndex(inputs[0])) {
    Interval range = get(inputs[0]);
    if (!range.lo || !range.hi)
      return std::nullopt;
    std::optional<int64_t> lo = symbols.lowerBound(*range.lo),
                           hi = symbols.upperBound(*range.hi);
    if (!lo || !hi)
      return std::nullopt;
    const int64_t exact = int64_t(1) << digits;
    if (*lo >= -exact && *hi <= exact)
      return std::pair(double(*lo), double(*hi));
    return widen(double(*lo), double(*hi));
  }
  SmallVector<std::pair<double, double>, 2> b;
  for (Value input : inputs) {
    Bounds bounds = boundFloats(input);
    if (!bounds)
      return std::nullopt;
    b.push_back(*bounds);
  }
  auto spanOf = [&](auto compute) -> Bounds {
    double all[] = {
        compute(b[0].first, b[1].first), compute(b[0].first, b[1].second),
        compute(b[0].second, b[1].first), compute(b[0].second, b[1].second)};
    return widen(*std::min_element(all, all + 4),
                 *std::max_element(all, all + 4));
  };
  switch (elementwise.getFn()) {
  case Fn::Cast:
    return widen(b[0].first, b[0].second);
  case Fn::Floor:
    return std::pair(std::floor(b[0].first), std::floor(b[0].second));
  case Fn::Min:
    return std::pair(std::min(b[0].first, b[1].first),
                     std::min(b[0].second, b[1].second));
  case Fn::Max:
    return std::pair(std::max(b[0].first, b[1].first),
                     std::max(b[0].second, b[1].second));
  case Fn::Add:
    return widen(b[0].first + b[1].first, b[0].second + b[1].second);
  case Fn::Sub:
    return widen(b[0].first - b[1].second, b[0].second - b[1].first);
  case Fn::Mul:
    return spanOf([](double x, double y) { return x * y; });
  case Fn::Div:
    // A quotient is bounded only if the divisor stays away from 0.
    if (std::min(std::abs(b[1].first), std::abs(b[1].second)) < 0x1p-20 ||
        (b[1].first < 0) != (b[1].second < 0))
      return std::nullopt;
    return spanOf([](double x, double y) { return x / y; });
  default:
    return std::nullopt;
  }
}

/// Computes `condition ? a : b`, where the condition may bound a or b.
Interval ValueRanges::computeSelect(ElementwiseOp op) {
  Value onTrue = op.getInputs()[1], onFalse = op.getInputs()[2];
  Interval a = get(onTrue), b = get(onFalse);
  if (ElementwiseOp compare = getComparison(op.getInputs()[0])) {
    if (std::optional<bool> known = decide(op.getInputs()[0]))
      return *known ? a : b;
    Value x = compare.getInputs()[0], y = compare.getInputs()[1];
    Interval rx = get(x), ry = get(y);
    // If x < y holds the true side is selected, if y <= x the false side.
    auto raise = [&](Interval &range, const std::optional<Expr> &lo) {
      if (lo)
        range.lo = range.lo ? larger(range.lo, lo) : lo;
    };
    auto lower = [&](Interval &range, const std::optional<Expr> &hi) {
      if (hi)
        range.hi = range.hi ? smaller(range.hi, hi) : hi;
    };
    if (onTrue == x && ry.hi)
      lower(a, *ry.hi - 1);
    if (onTrue == y && rx.lo)
      raise(a, *rx.lo + 1);
    if (onFalse == x)
      raise(b, ry.lo);
    if (onFalse == y)
      lower(b, rx.hi);
  }
  return {std::nullopt, smaller(a.lo, b.lo), larger(a.hi, b.hi)};
}

Interval ValueRanges::computeElementwise(ElementwiseOp op) {
  if (op.getFn() == Fn::Select)
    return computeSelect(op);
  Interval a = get(op.getInputs()[0]);
  if (op.getFn() == Fn::Cast) {
    Bounds floats = boundFloats(op.getInputs()[0]);
    if (floats)
      return {std::nullopt, Expr(int64_t(std::trunc(floats->first))),
              Expr(int64_t(std::trunc(floats->second)))};
    return a;
  }
  if (op.getInputs().size() != 2)
    return {};
  Interval b = get(op.getInputs()[1]);
  bool exact = a.exact && b.exact;
  bool bounded = a.lo && b.lo && a.hi && b.hi;
  Interval range;
  switch (op.getFn()) {
  case Fn::Add:
    if (exact)
      return ofExact(*a.exact + *b.exact, op.getResult());
    if (bounded)
      range = {std::nullopt, *a.lo + *b.lo, *a.hi + *b.hi};
    return range;
  case Fn::Sub:
    if (exact)
      return ofExact(*a.exact - *b.exact, op.getResult());
    if (bounded)
      range = {std::nullopt, *a.lo - *b.hi, *a.hi - *b.lo};
    return range;
  case Fn::Mul:
    if (exact)
      return ofExact(*a.exact * *b.exact, op.getResult());
    if (bounded && symbols.provablyNonNegative(*a.lo) &&
        symbols.provablyNonNegative(*b.lo))
      range = {std::nullopt, *a.lo * *b.lo, *a.hi * *b.hi};
    return range;
  case Fn::Max:
    range = {std::nullopt, larger(a.lo, b.lo), larger(a.hi, b.hi)};
    if (!range.lo)
      range.lo = a.lo ? a.lo : b.lo;
    return range;
  case Fn::Min:
    range = {std::nullopt, smaller(a.lo, b.lo), smaller(a.hi, b.hi)};
    if (!range.hi)
      range.hi = a.hi ? a.hi : b.hi;
    return range;
  case Fn::FloorMod:
    if (b.lo && b.hi && symbols.provablyLess(0, *b.lo))
      range = {std::nullopt, Expr(0), *b.hi - 1};
    return range;
  case Fn::BitAnd:
    // An operand that is not negative has no sign bit, and bounds the result.
    for (const Interval &x : {a, b})
      if (x.lo && x.hi && symbols.provablyNonNegative(*x.lo))
        range = {std::nullopt, Expr(0),
                 range.hi ? smaller(range.hi, x.hi) : x.hi};
    return range;
  case Fn::ShiftRight:
    // Towards 0.
    if (a.lo && symbols.provablyNonNegative(*a.lo))
      range = {std::nullopt, Expr(0), a.hi};
    return range;
  case Fn::FloorDiv:
    if (exact && !b.exact->hasDims() && symbols.provablyLess(0, *b.exact))
      return ofExact(Expr::floorDiv(*a.exact, *b.exact), op.getResult());
    if (a.lo && a.hi && b.exact && !b.exact->hasDims() &&
        symbols.provablyNonNegative(*a.lo) && symbols.provablyLess(0, *b.exact))
      range = {std::nullopt, symbols.simplify(Expr::floorDiv(*a.lo, *b.exact)),
               symbols.simplify(Expr::floorDiv(*a.hi, *b.exact))};
    return range;
  default:
    return range;
  }
}

Interval ValueRanges::compute(Operation *op) {
  return llvm::TypeSwitch<Operation *, Interval>(op)
      .Case([&](IotaOp iota) {
        return ofExact(iota.getMap().getResults()[0], iota.getResult());
      })
      .Case(
          [&](llir::ConstantOp constant) { return computeConstant(constant); })
      .Case([&](ViewOp view) {
        Interval range = get(view.getOperand());
        if (!range.exact)
          return range;
        Interval seen = ofExact(
            range.exact->substituteDims(view.getMap().getResults().vec()),
            view.getResult());
        if (!seen.lo || !seen.hi)
          std::tie(seen.lo, seen.hi) = std::pair(range.lo, range.hi);
        return seen;
      })
      .Case([&](llir::GatherOp gather) {
        Interval range = get(gather.getData());
        range.exact = std::nullopt;
        return range;
      })
      .Case([&](ScatterOp scatter) {
        // Each element is the destination's or one of the updates.
        if (scatter.getCombine() == hlir::Combine::Add)
          return Interval();
        Interval a = get(scatter.getDest()), b = get(scatter.getUpdates());
        return Interval{std::nullopt, smaller(a.lo, b.lo), larger(a.hi, b.hi)};
      })
      .Case([&](ArgsortOp order) {
        Expr length = hlir::getExtents(order.getOperand()).back();
        return clamp({std::nullopt, Expr(0), length - 1}, order.getResult());
      })
      .Case([&](SortRunsOp runs) {
        Expr length = hlir::getExtents(runs.getOperand()).back();
        return clamp({std::nullopt, Expr(0), length - 1}, runs->getResult(0));
      })
      .Case([&](MergeRunsOp runs) {
        Interval range = get(runs.getPositions());
        range.exact = std::nullopt;
        return range;
      })
      .Case([&](ScanOp scan) {
        if (!scan.getPositions())
          return Interval();
        Expr length = hlir::getExtents(scan.getOperand())[scan.getAxis()];
        return clamp({std::nullopt, Expr(0), length - 1}, scan.getResult());
      })
      .Case([&](ElementwiseOp elementwise) {
        return clamp(computeElementwise(elementwise), elementwise.getResult());
      })
      .Default([](Operation *) { return Interval(); });
}

/// Returns the values that the range of an op's result may follow from: its
/// operands, and the values that a condition compares.
static SmallVector<Value> getIndexOperands(Operation *op) {
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    Operation *condition = operand.getDefiningOp<ElementwiseOp>();
    if (mayBeIndex(operand))
      operands.push_back(operand);
    else if (condition)
      llvm::copy_if(condition->getOperands(), std::back_inserter(operands),
                    mayBeIndex);
  }
  return operands;
}

const Interval &ValueRanges::get(Value name) {
  Value root = throughKernels(name);
  // Ranges of operands are computed first, with a worklist instead of
  // recursion.
  SmallVector<std::pair<Value, bool>> stack = {{root, false}};
  while (!stack.empty()) {
    auto [value, operandsAreKnown] = stack.pop_back_val();
    if (known.contains(value))
      continue;
    Operation *op = value.getDefiningOp();
    if (!op || !mayBeIndex(value)) {
      known[value] = Interval();
    } else if (operandsAreKnown) {
      Interval range = compute(op);
      known[value] = range;
    } else {
      stack.push_back({value, true});
      for (Value operand : getIndexOperands(op))
        stack.push_back({throughKernels(operand), false});
    }
  }
  return known.find(root)->second;
}

bool ValueRanges::isInside(Value indices, const Expr &extent) {
  const Interval &range = get(indices);
  if (range.exact) {
    Assumptions assumptions = withExtents(symbols, hlir::getExtents(indices));
    if (assumptions.provablyNonNegative(*range.exact) &&
        assumptions.provablyLess(*range.exact, extent))
      return true;
  }
  return range.lo && range.hi && symbols.provablyNonNegative(*range.lo) &&
         symbols.provablyLess(*range.hi, extent);
}

namespace {
/// An op on numbers as a function of one integer, possibly computed in floats.
class FunctionOfInteger {
public:
  explicit FunctionOfInteger(ElementwiseOp root) : root(root) {}

  /// Returns the one integer that the result depends on; null if there are
  /// several, or something else.
  Value findSource() { return visit(root) ? source : Value(); }
  /// Evaluates the op for the source `x`; std::nullopt if the result is not
  /// known or not a number.
  std::optional<double> evaluate(double x) {
    numbers.clear();
    numbers[source] = x;
    return get(root.getResult());
  }

private:
  static constexpr size_t kMostOps = 32;

  bool visit(ElementwiseOp op) {
    if (ops.contains(op))
      return true;
    if (ops.size() == kMostOps || op.getFn() == Fn::Bitcast)
      return false;
    ops.insert(op);
    return llvm::all_of(op.getInputs(), [&](Value v) { return visit(v); });
  }
  bool visit(Value v) {
    if (getConstant(v))
      return true;
    if (mayBeIndex(v)) {
      if (!source)
        source = v;
      return source == v;
    }
    auto op = v.getDefiningOp<ElementwiseOp>();
    return op && isa<FloatType>(getElementTypeOrSelf(v)) && visit(op);
  }
  static std::optional<double> getConstant(Value v) {
    if (auto view = v.getDefiningOp<ViewOp>())
      v = view.getOperand();
    if (std::optional<int64_t> number = getIntegerSplat(v))
      return double(*number);
    return getFloatSplat(v);
  }
  std::optional<double> get(Value v) {
    if (auto it = numbers.find(v); it != numbers.end())
      return it->second;
    std::optional<double> number = getConstant(v);
    if (!number)
      number = compute(v.getDefiningOp<ElementwiseOp>());
    return numbers[v] = number;
  }
  std::optional<double> compute(ElementwiseOp op) {
    SmallVector<double, 2> operands;
    for (Value input : op.getInputs()) {
      std::optional<double> number = get(input);
      if (!number)
        return std::nullopt;
      operands.push_back(*number);
    }
    Type type = getElementTypeOrSelf(op.getResult());
    std::optional<double> exact = op.getFn() == Fn::Cast
                                      ? operands[0]
                                      : llir::evaluate(op.getFn(), operands);
    // Integers of this size are exact and do not wrap.
    if (!exact || !(std::abs(*exact) < 0x1p30))
      return std::nullopt;
    auto format = dyn_cast<FloatType>(type);
    if (!format)
      return std::trunc(*exact);
    APFloat rounded(*exact);
    bool losesInfo;
    rounded.convert(format.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                    &losesInfo);
    return rounded.convertToDouble();
  }

  ElementwiseOp root;
  llvm::SmallDenseSet<Operation *> ops;
  Value source;
  DenseMap<Value, std::optional<double>> numbers;
};
} // namespace

/// Replaces a function of one integer by the integer, if it maps each of the
/// few possible values to itself: the bin of an integer among as many bins as
/// there are integers.
static void foldIdentities(func::FuncOp function, ValueRanges &ranges,
                           const Assumptions &symbols,
                           const Reporter &reporter) {
  constexpr int64_t kMostNumbers = 4096;
  auto returnsEach = [&](FunctionOfInteger &of, Value source) {
    const Interval &range = ranges.get(source);
    if (!range.lo || !range.hi)
      return false;
    std::optional<int64_t> lo = symbols.lowerBound(*range.lo),
                           hi = symbols.upperBound(*range.hi);
    if (!lo || !hi || *lo > *hi || *hi - *lo >= kMostNumbers)
      return false;
    for (int64_t x = *lo; x <= *hi; ++x)
      if (of.evaluate(double(x)) != double(x))
        return false;
    return true;
  };
  for (ElementwiseOp op : function.getBody().front().getOps<ElementwiseOp>()) {
    if (!mayBeIndex(op.getResult()))
      continue;
    FunctionOfInteger of(op);
    Value source = of.findSource();
    if (!source || source.getType() != op.getResult().getType() ||
        !returnsEach(of, source))
      continue;
    reporter.passed(op.getLoc(), "identity", {});
    op.getResult().replaceAllUsesWith(source);
  }
}

/// Folds comparisons that are the same for every element, and selects by them.
/// Front ends wrap every index that they do not know, and most indices are
/// orders or positions.
static void foldConditions(func::FuncOp function, ValueRanges &ranges) {
  // Only flat ops: a kernel may have a schedule, which numbers its ops.
  Block &body = function.getBody().front();
  for (ElementwiseOp op : body.getOps<ElementwiseOp>())
    if (op.getFn() == Fn::Select)
      if (std::optional<bool> known = ranges.decide(op.getInputs()[0]))
        op.getResult().replaceAllUsesWith(op.getInputs()[*known ? 1 : 2]);
  SmallVector<std::pair<ElementwiseOp, bool>> decided;
  for (ElementwiseOp op : body.getOps<ElementwiseOp>())
    if (getElementTypeOrSelf(op.getResult()).isInteger(1) && !op->use_empty())
      if (std::optional<bool> known = ranges.decide(op.getResult()))
        decided.push_back({op, *known});
  for (auto [op, known] : decided) {
    OpBuilder b(op);
    auto scalar = RankedTensorType::get({}, b.getI1Type());
    Value one = llir::ConstantOp::create(
        b, op.getLoc(), scalar,
        DenseElementsAttr::get(scalar, Attribute(b.getBoolAttr(known))));
    Value all = ViewOp::create(
        b, op.getLoc(), op.getResult().getType(), one,
        hlir::MapAttr::get(b.getContext(),
                           hlir::getExtents(op.getResult()).size(), {}));
    op.getResult().replaceAllUsesWith(all);
  }
}

/// Erases ops without readers; readers come after the ops that they read.
static void eraseDead(func::FuncOp function) {
  Block &body = function.getBody().front();
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (isa<ElementwiseOp, ViewOp, llir::ConstantOp, IotaOp>(op) &&
        op.use_empty())
      op.erase();
}

namespace {
class ProveIndices : public llir::impl::ProveIndicesPassBase<ProveIndices> {
public:
  void runOnOperation() override {
    if (getOperation().isDeclaration())
      return;
    Assumptions symbols =
        hlir::getAssumptions(getOperation().getBody().front().getTerminator());
    Reporter reporter(&getContext(), DEBUG_TYPE, getOperation().getSymName());
    {
      ValueRanges before(symbols);
      foldConditions(getOperation(), before);
    }
    {
      ValueRanges before(symbols);
      foldIdentities(getOperation(), before, symbols, reporter);
    }
    eraseDead(getOperation());
    ValueRanges ranges(symbols);
    // Removes the check if the index is proved, otherwise adds it; emits a
    // remark.
    auto prove = [&](auto op, Value table) {
      Expr extent = hlir::getExtents(table)[0];
      bool isProved = ranges.isInside(op.getIndices(), extent);
      op.setChecked(!isProved);
      if (!reporter.isListening())
        return;
      if (isProved)
        return reporter.passed(op.getLoc(), "range-check", {});
      const Interval &range = ranges.get(op.getIndices());
      auto text = [](const std::optional<Expr> &e) {
        return e ? e->str() : std::string("unknown");
      };
      reporter.missed(op.getLoc(), "range-check",
                      {{"extent", extent.str()},
                       {"least index", text(range.lo)},
                       {"greatest index", text(range.hi)},
                       {"reason", "the indices are not proved to be inside"}});
    };
    getOperation().walk([&](Operation *op) {
      if (auto gather = dyn_cast<llir::GatherOp>(op))
        prove(gather, gather.getData());
      else if (auto scatter = dyn_cast<llir::ScatterOp>(op))
        prove(scatter, scatter.getDest());
    });
  }
};
} // namespace
