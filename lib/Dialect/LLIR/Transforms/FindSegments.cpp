//===- FindSegments.cpp - Recognises segment reductions -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A bag of rows (embedding_bag) is imported as a scatter whose index counts the
// bags begun so far. A row of that result cannot be computed by itself; the
// reduction of a segment, from its begin to the next begin, can.
//
// Conversely, front ends find the group of each row of a sorted sequence from
// the ends of the groups: they count the rows of each group, sum the counts,
// and count for each row the ends up to its position. The result is the number
// that was counted in the first place, so rows sorted by that number need none
// of this.
//
// Tested by test/Dialect/LLIR/find-segments.mlir.
//
//===----------------------------------------------------------------------===//

#include "luminal/Dialect/LLIR/Analysis/Ascending.h"
#include "luminal/Dialect/LLIR/Transforms/Passes.h"
#include "luminal/Dialect/LLIR/Utils/IndexMaps.h"
#include "luminal/Dialect/LLIR/Utils/Remarks.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"

namespace luminal::llir {
#define GEN_PASS_DEF_FINDSEGMENTSPASS
#include "luminal/Dialect/LLIR/Transforms/Passes.h.inc"
} // namespace luminal::llir

#define DEBUG_TYPE "llir-find-segments"

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;
using luminal::hlir::MapAttr;
using Decision = DecisionAbout<Operation *>;

namespace {
struct FindSegments : llir::impl::FindSegmentsPassBase<FindSegments> {
  using FindSegmentsPassBase::FindSegmentsPassBase;
  void runOnOperation() override;
};

/// The segment begins: `source` read through `map`, from the number of the
/// segment, and cast to `type` if that is set.
struct Begins {
  Value source;
  MapAttr map;
  Type type;
  /// The number of segments.
  Expr count;
};
} // namespace

/// Returns the element that all of `v` have; null if it is not known.
static Attribute getSplat(Value v) {
  while (auto view = v.getDefiningOp<ViewOp>())
    v = view.getOperand();
  auto constant = v.getDefiningOp<llir::ConstantOp>();
  auto splat = constant ? dyn_cast<SplatElementsAttr>(constant.getValue())
                        : SplatElementsAttr();
  return splat ? splat.getSplatValue<Attribute>() : Attribute();
}

static bool isInteger(Attribute element, int64_t value) {
  auto number = dyn_cast_or_null<IntegerAttr>(element);
  return number && number.getValue().getSExtValue() == value;
}

/// Returns whether `element` is the initial value of a reduction of this kind.
static bool isInitial(Attribute element, ReduceKind kind) {
  if (auto number = dyn_cast_or_null<FloatAttr>(element)) {
    const APFloat &v = number.getValue();
    return kind == ReduceKind::Sum ? v.isPosZero()
                                   : v.isInfinity() && v.isNegative();
  }
  auto number = dyn_cast_or_null<IntegerAttr>(element);
  return number &&
         (kind == ReduceKind::Sum ? number.getValue().isZero()
                                  : number.getValue().isMinSignedValue());
}

/// Returns `v`, of elements [row, segment], as a function of the segment;
/// std::nullopt if it differs between rows or is computed.
static std::optional<Begins> findBegins(Value v) {
  Expr count = hlir::getExtents(v).back();
  MLIRContext *context = v.getContext();
  MapAttr map = MapAttr::getIdentity(context, 2);
  Type type;
  while (Operation *op = v.getDefiningOp()) {
    auto elementwise = dyn_cast<ElementwiseOp>(op);
    if (auto view = dyn_cast<ViewOp>(op)) {
      SmallVector<Expr> results;
      for (const Expr &e : view.getMap().getResults())
        results.push_back(e.substituteDims(map.getResults().vec()));
      map = MapAttr::get(context, 2, results);
    } else if (elementwise && elementwise.getFn() == Fn::Cast && !type &&
               getElementTypeOrSelf(op->getOperand(0)).isSignlessInteger(32)) {
      type = getElementTypeOrSelf(v);
    } else {
      break;
    }
    v = op->getOperand(0);
  }
  if (map.usesDim(0))
    return std::nullopt;
  SmallVector<Expr> results;
  for (const Expr &e : map.getResults())
    results.push_back(e.substituteDims({Expr(0), Expr::dim(0)}));
  return Begins{v, MapAttr::get(context, 1, results), type, count};
}

/// Returns whether each element of `v` is its own first index.
static bool isFirstIndex(Value v) {
  auto iota = v.getDefiningOp<IotaOp>();
  return iota && iota.getMap().getResults()[0] == Expr::dim(0);
}

/// Returns the operand of a binary op `fn` that `isOther` does not match; null
/// if there is none.
static Value getOperandBeside(Value v, Fn fn,
                              function_ref<bool(Value)> isOther) {
  auto op = v.getDefiningOp<ElementwiseOp>();
  if (!op || op.getFn() != fn)
    return {};
  for (unsigned i = 0; i < 2; ++i)
    if (isOther(op->getOperand(i)))
      return op->getOperand(1 - i);
  return {};
}

/// Returns the begins that `index` counts: for each row, the number of begins
/// at or before it, minus one.
static std::optional<Begins> findCounted(Value index) {
  Value count = getOperandBeside(
      index, Fn::Add, [](Value v) { return isInteger(getSplat(v), -1); });
  auto reduce = count ? count.getDefiningOp<llir::ReduceOp>() : nullptr;
  if (!reduce || reduce.getKind() != ReduceKind::Sum)
    return std::nullopt;
  auto cast = reduce.getOperand().getDefiningOp<ElementwiseOp>();
  if (!cast || cast.getFn() != Fn::Cast)
    return std::nullopt;
  auto compare = cast->getOperand(0).getDefiningOp<ElementwiseOp>();
  if (!compare || compare.getFn() != Fn::LessEqual ||
      !isFirstIndex(compare->getOperand(1)))
    return std::nullopt;
  return findBegins(compare->getOperand(0));
}

//===----------------------------------------------------------------------===//
// Groups of sorted rows
//===----------------------------------------------------------------------===//

static int64_t getRank(Value v) {
  return cast<RankedTensorType>(v.getType()).getRank();
}

/// Returns whether a type represents each integer up to `most`.
static bool holdsAll(Type type, const Expr &most, const Assumptions &symbols) {
  int64_t digits = 0;
  if (auto number = dyn_cast<FloatType>(type))
    digits = number.getFPMantissaWidth();
  else if (type.isSignlessInteger(32) || type.isInteger(64))
    digits = type.getIntOrFloatBitWidth() - 1;
  return digits > 0 && symbols.provablyLessEqual(
                           most, int64_t(1) << std::min<int64_t>(digits, 62));
}

/// Replaces the group of each row, found from the ends of groups, by the number
/// by which rows were counted.
static Decision replaceGroups(llir::ReduceOp reduce,
                              const Assumptions &symbols) {
  auto refuse = [](StringLiteral why) { return Decision::refuse(why); };
  auto sum = reduce.getKind() == ReduceKind::Sum
                 ? reduce.getOperand().getDefiningOp<ElementwiseOp>()
                 : ElementwiseOp();
  auto compare = sum && sum.getFn() == Fn::Cast
                     ? sum->getOperand(0).getDefiningOp<ElementwiseOp>()
                     : ElementwiseOp();
  if (!compare || compare.getFn() != Fn::LessEqual ||
      getRank(reduce.getOperand()) != 2 ||
      !isFirstIndex(compare->getOperand(1)))
    return refuse("it does not count the elements at or before a place");
  std::optional<Begins> ends = findBegins(compare->getOperand(0));
  auto scan = ends ? ends->source.getDefiningOp<ScanOp>() : ScanOp();
  if (!scan || scan.getKind() != ScanKind::Sum || scan.getReverse() ||
      scan.getExclusive() || scan.getPositions() ||
      getRank(ends->source) != 1 || ends->map.getResults()[0] != Expr::dim(0) ||
      !areEqual({ends->count}, hlir::getExtents(ends->source), symbols))
    return refuse("it does not count running sums");
  Expr rows = hlir::getExtents(reduce.getResult())[0];
  Value counts = scan.getOperand();
  auto holds = [&](Value v) {
    return holdsAll(getElementTypeOrSelf(v), rows, symbols);
  };
  if (!holds(scan.getResult()) || !holds(reduce.getResult()) ||
      !holds(sum.getResult()))
    return refuse("counts may be more than their type holds");
  while (auto cast = counts.getDefiningOp<ElementwiseOp>()) {
    if (cast.getFn() != Fn::Cast || !holds(counts))
      return refuse("the sums are not of counts");
    counts = cast->getOperand(0);
  }
  auto scatter = counts.getDefiningOp<ScatterOp>();
  if (!scatter || scatter.getCombine() != hlir::Combine::Add ||
      getRank(counts) != 1 || !holds(counts) ||
      !isInteger(getSplat(scatter.getDest()), 0))
    return refuse("the sums are not of counts");
  Value ones = scatter.getUpdates();
  if (auto cast = ones.getDefiningOp<ElementwiseOp>())
    if (cast.getFn() == Fn::Cast)
      ones = cast->getOperand(0);
  // A set bit of i1 is -1 as a signed number.
  if (!isInteger(getSplat(ones),
                 getElementTypeOrSelf(ones).isInteger(1) ? -1 : 1))
    return refuse("not every row counts as one");
  Value groups = scatter.getIndices();
  if (scatter.getChecked())
    return refuse("a group may not be among the counted ones");
  if (getRank(groups) != 1 ||
      !areEqual(hlir::getExtents(groups), {rows}, symbols))
    return refuse("other rows are counted");
  if (!isAscending(groups, symbols))
    return refuse("rows are not proved to be sorted by their group");
  ImplicitLocOpBuilder b(reduce.getLoc(), reduce);
  if (groups.getType() != reduce.getResult().getType())
    groups = ElementwiseOp::create(b, reduce.getResult().getType(), Fn::Cast,
                                   groups);
  reduce.getResult().replaceAllUsesWith(groups);
  reduce.erase();
  return Decision::accept();
}

//===----------------------------------------------------------------------===//
// Segments
//===----------------------------------------------------------------------===//

/// Replaces the scatter by a reduction of segments.
static Decision replace(ScatterOp op, const Assumptions &symbols) {
  if (op.getCombine() == hlir::Combine::Set)
    return Decision::refuse("it sets rows");
  ReduceKind kind =
      op.getCombine() == hlir::Combine::Add ? ReduceKind::Sum : ReduceKind::Max;
  if (!isInitial(getSplat(op.getDest()), kind))
    return Decision::refuse(
        "the destination does not hold the initial value of the reduction");
  std::optional<Begins> begins = findCounted(op.getIndices());
  if (!begins)
    return Decision::refuse("its indices do not count where segments begin");
  // The counted segments must be the rows of the destination.
  const Expr &count = begins->count;
  if (!areEqual({count}, {hlir::getExtents(op.getDest())[0]}, symbols))
    return Decision::refuse("there are more rows than segments");
  Type number = getElementTypeOrSelf(op.getDest());
  if (!number.isIntOrFloat() || number.isInteger(1))
    return Decision::refuse("its elements are not numbers");
  ImplicitLocOpBuilder b(op.getLoc(), op);
  Type element = getElementTypeOrSelf(begins->source);
  Value at = ViewOp::create(b, hlir::getTensorType(count, element),
                            begins->source, begins->map);
  if (begins->type)
    at = ElementwiseOp::create(b, hlir::getTensorType(count, begins->type),
                               Fn::Cast, at);
  Value result = SegmentReduceOp::create(b, op.getDest().getType(), kind,
                                         op.getUpdates(), at);
  op.getResult().replaceAllUsesWith(result);
  op.erase();
  return Decision::accept();
}

void FindSegments::runOnOperation() {
  if (getOperation().isDeclaration())
    return;
  Assumptions symbols =
      hlir::getAssumptions(getOperation().getBody().front().getTerminator());
  Reporter reporter(&getContext(), DEBUG_TYPE, getOperation().getSymName());
  SmallVector<llir::ReduceOp> counts;
  for (auto op : getOperation().getBody().front().getOps<llir::ReduceOp>())
    counts.push_back(op);
  for (llir::ReduceOp op : counts) {
    Location loc = op.getLoc();
    // Refusals for other sums get no remark.
    if (replaceGroups(op, symbols))
      reporter.passed(loc, "groups", {});
  }
  SmallVector<ScatterOp> scatters;
  for (auto op : getOperation().getBody().front().getOps<ScatterOp>())
    if (!op->use_empty())
      scatters.push_back(op);
  for (ScatterOp op : scatters) {
    Location loc = op.getLoc();
    if (Decision found = replace(op, symbols))
      reporter.passed(loc, "segments", {});
    else
      reporter.missed(loc, "segments", {{"reason", found.str()}});
  }
}
