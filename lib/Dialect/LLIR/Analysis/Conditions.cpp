//===- Conditions.cpp - Decides comparisons of indices --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Dialect/LLIR/Analysis/Conditions.h"
#include "luminal/Dialect/LLIR/Utils/Values.h"
#include "llvm/Support/MathExtras.h"

using namespace luminal;
using namespace mlir;
using luminal::llir::Fn;

/// The deepest nesting of ops in a condition that is analysed.
static constexpr unsigned kMostNested = 16;

/// Returns an index that is used as data: 64 bits wide, with known bounds.
static std::optional<Expr> getInteger(const KernelAnalysis &a, Value v,
                                      Index index) {
  while (auto view = v.getDefiningOp<llir::ViewOp>()) {
    index = a.mapIndex(view.getMap(), index);
    v = view.getOperand();
  }
  if (!getElementType(v).isInteger(64))
    return std::nullopt;
  if (std::optional<int64_t> number = llir::getIntegerSplat(v))
    return Expr(*number);
  auto op = v.getDefiningOp<llir::BodyOpInterface>();
  std::optional<Expr> found = op ? op.getElementExpr(index) : std::nullopt;
  if (!found || !a.getAssumptions().lowerBound(*found) ||
      !a.getAssumptions().upperBound(*found))
    return std::nullopt;
  return a.simplify(*found);
}

/// Returns an expression that is not negative exactly if the comparison holds.
static std::optional<Expr> getDifference(const KernelAnalysis &a,
                                         llir::ElementwiseOp op,
                                         const Index &index) {
  if (op.getFn() != Fn::LessThan && op.getFn() != Fn::LessEqual)
    return std::nullopt;
  std::optional<Expr> x = getInteger(a, op.getInputs()[0], index),
                      y = getInteger(a, op.getInputs()[1], index);
  if (!x || !y)
    return std::nullopt;
  return a.simplify(*y - *x - Expr(op.getFn() == Fn::LessThan ? 1 : 0));
}

/// Decides the condition `v` at `index`, if it is the same for all indices in
/// range; `depth` counts nested ops.
static std::optional<bool> decide(const KernelAnalysis &a, Value v, Index index,
                                  unsigned depth) {
  while (auto view = v.getDefiningOp<llir::ViewOp>()) {
    index = a.mapIndex(view.getMap(), index);
    v = view.getOperand();
  }
  if (depth == kMostNested || !getElementType(v).isInteger(1))
    return std::nullopt;
  if (std::optional<int64_t> number = llir::getIntegerSplat(v))
    return *number != 0;
  auto op = v.getDefiningOp<llir::ElementwiseOp>();
  if (!op)
    return std::nullopt;
  if (std::optional<Expr> difference = getDifference(a, op, index)) {
    if (a.getAssumptions().provablyNonNegative(*difference))
      return true;
    if (a.getAssumptions().provablyLess(*difference, 0))
      return false;
    return std::nullopt;
  }
  if (op.getFn() != Fn::Mul && op.getFn() != Fn::Or)
    return std::nullopt;
  // One operand may decide the result alone.
  bool decides = op.getFn() == Fn::Or;
  std::optional<bool> x = decide(a, op.getInputs()[0], index, depth + 1);
  if (x == decides)
    return x;
  std::optional<bool> y = decide(a, op.getInputs()[1], index, depth + 1);
  if (y == decides)
    return y;
  return x && y ? std::optional<bool>(!decides) : std::nullopt;
}

std::optional<bool> luminal::decideCondition(const KernelAnalysis &a, Value v,
                                             const Index &index) {
  return decide(a, v, index, 0);
}

std::set<int64_t> luminal::findEdges(KernelAnalysis &a, Value v,
                                     const Index &index, unsigned dim) {
  std::set<int64_t> edges;
  auto visit = [&](Value at, const Index &where) {
    auto op = at.getDefiningOp<llir::ElementwiseOp>();
    if (!op || !getElementType(at).isInteger(1))
      return;
    std::optional<Expr> difference = getDifference(a, op, where);
    std::optional<Expr::Linear> linear =
        difference ? difference->linearIn(dim) : std::nullopt;
    if (!linear)
      return;
    // In windows, `rest` differs between the elements of a window.
    const Assumptions &known = a.getAssumptions();
    std::optional<int64_t> stride = linear->stride.asConstant(),
                           least = known.lowerBound(linear->rest),
                           most = known.upperBound(linear->rest);
    if (!stride || !least || !most || *stride == 0)
      return;
    // stride * dim + rest >= 0 holds from this edge on, or up to it.
    for (int64_t rest : {*least, *most})
      edges.insert(*stride > 0 ? llvm::divideCeilSigned(-rest, *stride)
                               : llvm::divideFloorSigned(rest, -*stride) + 1);
  };
  a.walk(v, index, /*visit=*/nullptr, visit);
  return edges;
}

/// Returns the expressions that `e` may equal if each max and min in it selects
/// one operand; empty if there are too many.
static SmallVector<Expr> getChoices(const Expr &e) {
  constexpr size_t kMostChoices = 8;
  if (e.kind() == Expr::Kind::Max || e.kind() == Expr::Kind::Min) {
    SmallVector<Expr> choices;
    for (const Expr &operand : e.operands())
      choices.append(getChoices(operand));
    return choices.size() > kMostChoices ? SmallVector<Expr>() : choices;
  }
  if (e.kind() != Expr::Kind::Add && e.kind() != Expr::Kind::Mul)
    return {e};
  bool isSum = e.kind() == Expr::Kind::Add;
  SmallVector<Expr> choices = {Expr(isSum ? 0 : 1)};
  for (const Expr &operand : e.operands()) {
    SmallVector<Expr> longer;
    for (const Expr &last : getChoices(operand))
      for (const Expr &first : choices)
        longer.push_back(isSum ? first + last : first * last);
    if (longer.size() > kMostChoices)
      return {};
    choices = std::move(longer);
  }
  return choices;
}

/// Adds the values of `dim` at which `e`, a mod, wraps around: the ends of a
/// line that is repeated beyond them. A mod that wraps more often is an index
/// of a joined dim, and is left out.
static void addWraps(const Assumptions &known, const Expr &e, unsigned dim,
                     std::set<int64_t> &turns) {
  constexpr int64_t kMostWraps = 2;
  std::optional<Expr::Linear> linear = e.operands()[0].linearIn(dim);
  std::optional<int64_t> size = e.operands()[1].asConstant(),
                         least = known.lowerBound(e.operands()[0]),
                         most = known.upperBound(e.operands()[0]);
  if (!size || *size < 1 || !linear || !linear->stride.isConstant(1) ||
      !linear->rest.asConstant() || !least || !most)
    return;
  const int64_t first = llvm::divideFloorSigned(*least, *size) + 1,
                last = llvm::divideFloorSigned(*most, *size);
  if (last - first >= kMostWraps)
    return;
  for (int64_t i = first; i <= last; ++i)
    turns.insert(i * *size - *linear->rest.asConstant());
}

/// Adds the values of `dim` at which a max or min in `e` switches to its other
/// operand, and at which a mod in it wraps around.
static void addTurns(const Assumptions &known, const Expr &e, unsigned dim,
                     std::set<int64_t> &turns) {
  if (!e.usesDim(dim))
    return;
  for (const Expr &operand : e.operands())
    addTurns(known, operand, dim, turns);
  if (e.kind() == Expr::Kind::Mod)
    addWraps(known, e, dim, turns);
  bool isMax = e.kind() == Expr::Kind::Max;
  if (!isMax && e.kind() != Expr::Kind::Min)
    return;
  for (const Expr &x : getChoices(e.operands()[0]))
    for (const Expr &y : getChoices(e.operands()[1])) {
      std::optional<Expr::Linear> linear = (x - y).linearIn(dim);
      std::optional<int64_t> stride = linear ? linear->stride.asConstant()
                                             : std::nullopt,
                             rest = linear ? linear->rest.asConstant()
                                           : std::nullopt;
      if (!stride || !rest || *stride == 0)
        continue;
      if (*stride < 0)
        stride = -*stride, rest = -*rest;
      // Where both operands are equal, the growing one counts as selected, as
      // in comparisons that bound an extent.
      turns.insert(isMax ? llvm::divideCeilSigned(-*rest, *stride)
                         : llvm::divideFloorSigned(-*rest, *stride) + 1);
    }
}

std::set<int64_t> luminal::findTurns(KernelAnalysis &a, Value v,
                                     const Index &index, unsigned dim) {
  std::set<int64_t> turns;
  a.walk(v, index, [&](const Leaf &leaf) {
    if (leaf.argument)
      addTurns(a.getAssumptions(), leaf.address, dim, turns);
  });
  return turns;
}
