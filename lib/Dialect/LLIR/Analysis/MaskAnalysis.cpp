//===- MaskAnalysis.cpp - The range of a stream that a mask keeps ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Follows numbers and conditions from constants and comparisons of indices to
// the terms of the anchors. A span is never too small: the union of two spans
// is the least span that contains both, and an op that is not understood gives
// the whole dim.
//
//===----------------------------------------------------------------------===//

#include "luminal/Dialect/LLIR/Analysis/MaskAnalysis.h"
#include "luminal/Dialect/HLIR/IR/IntegerRange.h"
#include "luminal/Dialect/LLIR/IR/Functions.h"
#include "luminal/Dialect/LLIR/Utils/Values.h"
#include "luminal/Support/IndexCheck.h"

#include <cmath>
#include <limits>

using namespace luminal;
using namespace mlir;
using luminal::llir::Fn;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// The deepest chain of ops that the recursion follows.
static constexpr unsigned kMostNested = 100;

namespace {
/// A superset of the indices of the streamed dim at which something holds.
struct Where {
  enum class Kind { Nowhere, Somewhere, Everywhere };
  Kind kind = Kind::Everywhere;
  /// The span for `Somewhere`.
  StreamSpan span;

  static Where nowhere() { return {Kind::Nowhere, {}}; }
  static Where in(const Expr &lo, const Expr &hi) {
    return {Kind::Somewhere, {lo, hi}};
  }
};

/// A condition: where it may be true, and where it may be false.
struct Truth {
  Where yes, no;
};

/// The element equals `number` everywhere outside of `rest`.
struct Masked {
  std::optional<double> number;
  Where rest;
};

class Masks {
public:
  Masks(StreamedStages &t, const Index &row)
      : t(t), a(t.a), dim(a.addDim(t.extent)), at(row) {
    at.push_back(Expr::dim(dim));
  }

  /// Returns where `v` may differ from `number`.
  Where findOther(Value v, double number) {
    Masked found = getMasked(v, at);
    return found.number == number ? found.rest : Where();
  }
  Where join(const Where &x, const Where &y) const;
  /// Adds spans outside of which the condition `v` holds; false if it may fail
  /// at any index.
  bool addExceptions(Value v, const Index &index,
                     SmallVectorImpl<StreamSpan> &spans);
  const Index &getIndex() const { return at; }
  /// Returns whether a result relies on bounded elements of the products of
  /// scores.
  bool hasAssumed() const { return assumesBounded; }

private:
  Where meet(const Where &x, const Where &y) const;
  Masked getMasked(Value v, const Index &index);
  Masked findMasked(Value v, const Index &index);
  Masked findElementwise(llir::ElementwiseOp op, const Index &index);
  Masked chooseMasked(llir::ElementwiseOp op, const Index &index);
  Truth getTruth(Value v, const Index &index);
  Truth findTruth(Value v, const Index &index);
  Truth compare(llir::ElementwiseOp op, const Index &index);
  std::optional<Expr> getInteger(Value v, const Index &index);
  std::optional<Expr> getIntegerResult(llir::ElementwiseOp op,
                                       const Index &index);
  bool isReference(Value v);
  std::optional<double> getLogOfLargest(Value v);
  std::optional<double> findLogOfLargest(Value v);
  Index read(llir::ViewOp view, const Index &index) {
    return a.mapIndex(view.getMap(), index);
  }

  StreamedStages &t;
  KernelAnalysis &a;
  unsigned dim;
  Index at;
  unsigned depth = 0;
  bool assumesBounded = false;
  DenseMap<Value, SmallVector<std::pair<Index, Masked>, 1>> masked;
  DenseMap<Value, SmallVector<std::pair<Index, Truth>, 1>> truths;
  /// The cached results of getLogOfLargest.
  DenseMap<Value, std::optional<double>> largest;
};
} // namespace

Where Masks::join(const Where &x, const Where &y) const {
  if (x.kind == Where::Kind::Nowhere)
    return y;
  if (y.kind == Where::Kind::Nowhere)
    return x;
  if (x.kind == Where::Kind::Everywhere || y.kind == Where::Kind::Everywhere)
    return {};
  return Where::in(a.simplify(Expr::min(x.span.lo, y.span.lo)),
                   a.simplify(Expr::max(x.span.hi, y.span.hi)));
}

Where Masks::meet(const Where &x, const Where &y) const {
  if (x.kind == Where::Kind::Everywhere)
    return y;
  if (y.kind == Where::Kind::Everywhere)
    return x;
  if (x.kind == Where::Kind::Nowhere || y.kind == Where::Kind::Nowhere)
    return Where::nowhere();
  return Where::in(a.simplify(Expr::max(x.span.lo, y.span.lo)),
                   a.simplify(Expr::min(x.span.hi, y.span.hi)));
}

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

std::optional<Expr> Masks::getIntegerResult(llir::ElementwiseOp op,
                                            const Index &index) {
  SmallVector<Expr> x;
  for (Value operand : op.getInputs()) {
    std::optional<Expr> element = getInteger(operand, index);
    if (!element)
      return std::nullopt;
    x.push_back(*element);
  }
  switch (op.getFn()) {
  case Fn::Cast:
    return x[0];
  case Fn::Neg:
    return -x[0];
  case Fn::Add:
    return x[0] + x[1];
  case Fn::Sub:
    return x[0] - x[1];
  default:
    return std::nullopt;
  }
}

/// Returns an integer element as an expression of its index that cannot wrap.
std::optional<Expr> Masks::getInteger(Value v, const Index &index) {
  Operation *op = v.getDefiningOp();
  if (!op || depth == kMostNested || !isa<IntegerType>(getElementType(v)))
    return std::nullopt;
  ++depth;
  std::optional<Expr> found;
  if (auto view = dyn_cast<llir::ViewOp>(op)) {
    found = getInteger(view.getOperand(), read(view, index));
  } else if (std::optional<int64_t> number = llir::getIntegerSplat(v)) {
    found = Expr(*number);
  } else if (auto body = dyn_cast<llir::BodyOpInterface>(op)) {
    found = body.getElementExpr(index);
    if (auto elementwise = dyn_cast<llir::ElementwiseOp>(op))
      found = getIntegerResult(elementwise, index);
  }
  --depth;
  if (!found)
    return std::nullopt;
  auto range = hlir::getRange(*found, boundSymbols(a.getAssumptions()));
  if (!range || !hlir::holds(getElementType(v), *range))
    return std::nullopt;
  return a.simplify(*found);
}

/// Returns where x < y, x <= y or x == y.
Truth Masks::compare(llir::ElementwiseOp op, const Index &index) {
  std::optional<Expr> x = getInteger(op.getInputs()[0], index);
  std::optional<Expr> y = getInteger(op.getInputs()[1], index);
  if (!x || !y)
    return {};
  Expr difference = a.simplify(*y - *x);
  if (op.getFn() == Fn::LessThan)
    difference = difference - 1;
  // The comparison is stride * d + rest >= 0, or == 0.
  std::optional<Expr::Linear> linear = difference.linearIn(dim);
  std::optional<int64_t> stride =
      linear ? linear->stride.asConstant() : std::nullopt;
  if (!stride || *stride == std::numeric_limits<int64_t>::min())
    return {};
  Expr rest = linear->rest, none = 0, all = t.extent;
  if (op.getFn() == Fn::Equal) {
    if (*stride != 1 && *stride != -1)
      return {};
    Expr only = a.simplify(rest * -*stride);
    return {Where::in(only, only + 1), {}};
  }
  if (*stride == 0) {
    // The comparison is independent of d: it holds for the whole row or
    // nowhere.
    Expr holds = Expr::min(1, Expr::max(0, rest + 1));
    return {Where::in(0, a.simplify(holds * all)),
            Where::in(0, a.simplify((Expr(1) - holds) * all))};
  }
  if (*stride > 0) {
    Expr first = a.simplify(Expr::ceilDiv(-rest, *stride));
    return {Where::in(first, all), Where::in(none, first)};
  }
  Expr end = a.simplify(Expr::floorDiv(rest, -*stride) + 1);
  return {Where::in(none, end), Where::in(end, all)};
}

Truth Masks::getTruth(Value v, const Index &index) {
  auto &known = truths[v];
  for (const auto &[at, truth] : known)
    if (at == index)
      return truth;
  if (depth == kMostNested)
    return {};
  ++depth;
  Truth found = findTruth(v, index);
  --depth;
  truths[v].push_back({index, found});
  return found;
}

Truth Masks::findTruth(Value v, const Index &index) {
  if (std::optional<int64_t> holds = llir::getIntegerSplat(v))
    return *holds ? Truth{{}, Where::nowhere()} : Truth{Where::nowhere(), {}};
  if (auto view = v.getDefiningOp<llir::ViewOp>())
    return getTruth(view.getOperand(), read(view, index));
  auto op = v.getDefiningOp<llir::ElementwiseOp>();
  if (!op)
    return {};
  auto of = [&](unsigned i) { return getTruth(op.getInputs()[i], index); };
  switch (op.getFn()) {
  case Fn::Not: {
    Truth x = of(0);
    return {x.no, x.yes};
  }
  case Fn::Mul: {
    Truth x = of(0), y = of(1);
    return {meet(x.yes, y.yes), join(x.no, y.no)};
  }
  case Fn::Or: {
    Truth x = of(0), y = of(1);
    return {join(x.yes, y.yes), meet(x.no, y.no)};
  }
  case Fn::Select: {
    Truth by = of(0), x = of(1), y = of(2);
    return {join(meet(by.yes, x.yes), meet(by.no, y.yes)),
            join(meet(by.yes, x.no), meet(by.no, y.no))};
  }
  case Fn::LessThan:
  case Fn::LessEqual:
  case Fn::Equal:
    return compare(op, index);
  default:
    return {};
  }
}

bool Masks::addExceptions(Value v, const Index &index,
                          SmallVectorImpl<StreamSpan> &spans) {
  if (auto view = v.getDefiningOp<llir::ViewOp>())
    return addExceptions(view.getOperand(), read(view, index), spans);
  auto op = v.getDefiningOp<llir::ElementwiseOp>();
  if (op && op.getFn() == Fn::Mul)
    return llvm::all_of(op.getInputs(), [&](Value input) {
      return addExceptions(input, index, spans);
    });
  Where no = getTruth(v, index).no;
  if (no.kind == Where::Kind::Somewhere)
    spans.push_back(no.span);
  return no.kind != Where::Kind::Everywhere;
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

Masked Masks::getMasked(Value v, const Index &index) {
  for (const auto &[at, found] : masked[v])
    if (at == index)
      return found;
  if (depth == kMostNested)
    return {};
  ++depth;
  Masked found = findMasked(v, index);
  --depth;
  masked[v].push_back({index, found});
  return found;
}

Masked Masks::findMasked(Value v, const Index &index) {
  if (std::optional<double> number = llir::getFloatSplat(v))
    return {number, Where::nowhere()};
  if (auto view = v.getDefiningOp<llir::ViewOp>())
    return getMasked(view.getOperand(), read(view, index));
  auto op = v.getDefiningOp<llir::ElementwiseOp>();
  if (!op || !isa<FloatType>(getElementType(v)))
    return {};
  if (op.getFn() == Fn::Select)
    return chooseMasked(op, index);
  // A condition cast to a number.
  if (op.getFn() == Fn::Cast && getElementType(op.getInputs()[0]).isInteger(1))
    return {0.0, getTruth(op.getInputs()[0], index).yes};
  return findElementwise(op, index);
}

Masked Masks::chooseMasked(llir::ElementwiseOp op, const Index &index) {
  Truth by = getTruth(op.getInputs()[0], index);
  Masked x = getMasked(op.getInputs()[1], index),
         y = getMasked(op.getInputs()[2], index);
  if (x.number && y.number && *x.number == *y.number)
    return {x.number, join(meet(by.yes, x.rest), meet(by.no, y.rest))};
  // Outside the indices that select the other operand, the number is this
  // one's.
  Masked ofFirst{x.number, join(by.no, x.rest)},
      ofSecond{y.number, join(by.yes, y.rest)};
  auto isUse = [](const Masked &m) {
    return m.number && m.rest.kind != Where::Kind::Everywhere;
  };
  return isUse(ofSecond) ? ofSecond : isUse(ofFirst) ? ofFirst : Masked();
}

/// Applies a function to numbers, if the result is 0 or infinite in every type.
static std::optional<double> apply(Fn fn, ArrayRef<double> x) {
  std::optional<double> result = fn == Fn::Cast ? x[0] : llir::evaluate(fn, x);
  if (!result)
    return std::nullopt;
  // Results of finite numbers are rounded.
  bool isExact = fn == Fn::Cast || llvm::any_of(x, [](double v) {
                   return v == 0 || std::isinf(v);
                 });
  bool isSame = *result == 0 || std::isinf(*result);
  return isExact && isSame ? result : std::nullopt;
}

/// Returns whether `v` is the reference of its row, possibly negated or cast.
bool Masks::isReference(Value v) {
  Dependence d = t.space->getDependence(v);
  Operation *op = v.getDefiningOp();
  if (!d.rescaling.isShifted() || op->getNumOperands() != 1)
    return false;
  return op->getOperand(0) == d.reference || isReference(op->getOperand(0));
}

/// Returns the base-2 logarithm of a bound on the absolute value of all
/// elements of `v`, none of which is NaN, if the operands of scores are
/// bounded; std::nullopt if there is no bound.
std::optional<double> Masks::findLogOfLargest(Value v) {
  if (std::optional<double> number = llir::getFloatSplat(v))
    return std::isfinite(*number) ? std::optional(std::log2(std::abs(*number)))
                                  : std::nullopt;
  if (auto view = v.getDefiningOp<llir::ViewOp>())
    return getLogOfLargest(view.getOperand());
  for (const StreamedSpace::Anchor &anchor : t.getAnchors())
    if (anchor.role == StreamedSpace::Role::Scores &&
        anchor.op->getResult(0) == v) {
      std::optional<int64_t> steps = cast<llir::ProductOpInterface>(anchor.op)
                                         .getReducedExtent()
                                         .asConstant();
      return steps ? std::optional(2.0 * kLogOfLargestScored +
                                   std::log2(std::max<double>(1, *steps)))
                   : std::nullopt;
    }
  auto op = v.getDefiningOp<llir::ElementwiseOp>();
  if (!op)
    return std::nullopt;
  if (op.getFn() == Fn::Cast && getElementType(op.getInputs()[0]).isInteger(1))
    return 0;
  SmallVector<double> x;
  for (Value operand :
       op.getInputs().drop_front(op.getFn() == Fn::Select ? 1 : 0)) {
    std::optional<double> of = getLogOfLargest(operand);
    if (!of)
      return std::nullopt;
    x.push_back(*of);
  }
  switch (op.getFn()) {
  case Fn::Cast:
  case Fn::Neg:
  case Fn::Abs:
  // These lie between 0 and x for positive x, and within [-1, 1] for negative
  // x.
  case Fn::Silu:
  case Fn::Gelu:
  case Fn::GeluTanh:
    return std::max(x[0], 0.0);
  case Fn::Sigmoid:
  case Fn::Tanh:
  case Fn::Erf:
  case Fn::Sin:
  case Fn::Cos:
    return 0;
  case Fn::Max:
  case Fn::Min:
  case Fn::Select:
    return std::max(x[0], x[1]);
  case Fn::Add:
  case Fn::Sub:
    return std::max(x[0], x[1]) + 1;
  case Fn::Mul:
    return x[0] + x[1];
  case Fn::Div:
    // Only the size of a divisor that is a constant is known.
    return llir::getFloatSplat(op.getInputs()[1]) ? std::optional(x[0] - x[1])
                                                  : std::nullopt;
  default:
    return std::nullopt;
  }
}

std::optional<double> Masks::getLogOfLargest(Value v) {
  auto type = dyn_cast<FloatType>(getElementType(v));
  if (!type || depth == kMostNested)
    return std::nullopt;
  if (auto it = largest.find(v); it != largest.end())
    return it->second;
  ++depth;
  std::optional<double> found = findLogOfLargest(v);
  --depth;
  // A margin of a factor 2 below the type's maximum covers every rounding.
  int most = llvm::APFloat::semanticsMaxExponent(type.getFloatSemantics()) - 1;
  if (found && *found >= most)
    found.reset();
  largest[v] = found;
  return found;
}

Masked Masks::findElementwise(llir::ElementwiseOp op, const Index &index) {
  llir::Rescaling changes = t.space->getDependence(op.getResult()).rescaling;
  SmallVector<double> numbers;
  // -inf plus any bounded number is -inf, and 0 times any bounded number is 0.
  const bool isSum = op.getFn() == Fn::Add;
  const bool mayBeBounded = isSum || op.getFn() == Fn::Mul;
  const double stays = isSum ? -kInfinity : 0;
  bool isMasked = false, isBounded = false;
  Where rest = Where::nowhere();
  for (Value operand : op.getInputs()) {
    if (isReference(operand)) {
      // While the reference is -inf, 0 is subtracted in its place.
      numbers.push_back(0);
      continue;
    }
    Masked found = getMasked(operand, index);
    if (!found.number && mayBeBounded && getLogOfLargest(operand)) {
      isBounded = true;
      numbers.push_back(isSum ? 0 : 1);
      continue;
    }
    if (!found.number)
      return {};
    isMasked |= *found.number == stays;
    numbers.push_back(*found.number);
    rest = join(rest, found.rest);
  }
  if (isBounded && !isMasked)
    return {};
  std::optional<double> number = apply(op.getFn(), numbers);
  if (!number || std::isnan(*number))
    return {};
  // A shift does not change -inf, and scaling does not change 0.
  if (changes.isShifted() && (changes.slope >= 0 || *number != -kInfinity))
    return {};
  if (changes.isScaled() && *number != 0)
    return {};
  if (!changes.isFixed() && !changes.isShifted() && !changes.isScaled())
    return {};
  assumesBounded |= isBounded;
  return {number, rest};
}

//===----------------------------------------------------------------------===//
// Anchors
//===----------------------------------------------------------------------===//

/// Returns the term that leaves an anchor's state unchanged.
static std::optional<double> getNeutral(const StreamedSpace::Anchor &anchor) {
  if (anchor.role == StreamedSpace::Role::Sum)
    return 0;
  auto rescale = dyn_cast<llir::RescaleOpInterface>(anchor.op);
  if (rescale && rescale.isMaximum())
    return -kInfinity;
  auto reduce = dyn_cast<llir::ReduceOp>(anchor.op);
  bool isSum = reduce && reduce.getKind() == llir::ReduceKind::Sum;
  return isSum ? std::optional(0.0) : std::nullopt;
}

Decision luminal::findStreamSpan(StreamedStages &t, const Index &row,
                                 NeededSpan &span) {
  Masks masks(t, row);
  Where all = Where::nowhere();
  for (const StreamedSpace::Anchor &anchor : t.getAnchors()) {
    if (anchor.role == StreamedSpace::Role::Scores)
      continue;
    std::optional<double> neutral = getNeutral(anchor);
    if (!neutral)
      return Decision::refuse("an anchor has no neutral term", anchor.op);
    if (!isa<FloatType>(getElementType(anchor.op->getResult(0))))
      return Decision::refuse("an anchor is not of floats", anchor.op);
    Where needed = Where();
    if (anchor.role == StreamedSpace::Role::Sum)
      needed = masks.findOther(
          StreamedSpace::getTerms(cast<llir::ProductOpInterface>(anchor.op)),
          *neutral);
    else if (anchor.op->getNumOperands() == 1)
      needed = masks.findOther(anchor.op->getOperand(0), *neutral);
    if (needed.kind == Where::Kind::Everywhere)
      return Decision::refuse("no index of the stream is proved to be masked",
                              anchor.op);
    all = masks.join(all, needed);
  }
  static_cast<StreamSpan &>(span) =
      all.kind == Where::Kind::Nowhere ? StreamSpan{0, 0} : all.span;
  span.assumesBounded = masks.hasAssumed();
  return Decision::accept();
}

SmallVector<StreamSelect> luminal::findStreamSelects(StreamedStages &t,
                                                     const Index &row) {
  Masks masks(t, row);
  SmallVector<Expr> domain(t.s.extents);
  domain.push_back(t.extent);
  SmallVector<StreamSelect> found;
  for (auto op : t.a.kernel.getBody().getOps<llir::ElementwiseOp>()) {
    // Selects that depend on no reference.
    if (op.getFn() != Fn::Select ||
        hlir::getExtents(op.getResult()) != domain ||
        !t.space->getDependence(op.getResult()).rescaling.isFixed())
      continue;
    StreamSelect select{op, {}};
    if (masks.addExceptions(op.getInputs()[0], masks.getIndex(),
                            select.exceptions) &&
        !select.exceptions.empty())
      found.push_back(std::move(select));
  }
  return found;
}

std::optional<int> luminal::getDirection(const Expr &x, unsigned dim) {
  if (!x.usesDim(dim))
    return 0;
  if (x.asDim() == dim)
    return 1;
  std::vector<Expr> operands(x.operands());
  int all = 0;
  switch (x.kind()) {
  case Expr::Kind::FloorDiv:
  case Expr::Kind::Mul: {
    std::optional<int64_t> by = operands[1].asConstant();
    if (!by)
      std::swap(operands[0], operands[1]), by = operands[1].asConstant();
    if (!by || (x.kind() == Expr::Kind::FloorDiv && *by <= 0))
      return std::nullopt;
    std::optional<int> of = getDirection(operands[0], dim);
    return of ? std::optional(*by < 0 ? -*of : *of) : std::nullopt;
  }
  case Expr::Kind::Add:
  case Expr::Kind::Max:
  case Expr::Kind::Min:
    for (const Expr &operand : operands) {
      std::optional<int> of = getDirection(operand, dim);
      if (!of || *of * all < 0)
        return std::nullopt;
      all = all ? all : *of;
    }
    return all;
  default:
    return std::nullopt;
  }
}
