//===- Windows.cpp - Columns of a product that are windows of an image ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Dialect/LLIR/Analysis/Windows.h"

#include <set>

using namespace luminal;
using namespace mlir;

static Expr replaceDim(const Expr &e, unsigned dim, const Expr &by) {
  return e.substitute([&](const Expr &leaf) -> std::optional<Expr> {
    if (leaf.asDim() == dim)
      return by;
    return std::nullopt;
  });
}

static bool isDivision(const Expr &e) {
  return e.kind() == Expr::Kind::FloorDiv || e.kind() == Expr::Kind::Mod;
}

/// Matches `e` as `dim floordiv divisor mod extent`; extent 0 means no mod.
static std::optional<Windows::Digit> findDigit(const Expr &e, unsigned dim) {
  if (e.asDim() == dim)
    return Windows::Digit{1, 0};
  if (!isDivision(e))
    return std::nullopt;
  std::optional<int64_t> by = e.operands()[1].asConstant();
  std::optional<Windows::Digit> inner = findDigit(e.operands()[0], dim);
  if (!inner || !by || *by <= 0)
    return std::nullopt;
  if (e.kind() == Expr::Kind::Mod) {
    if (inner->extent)
      return std::nullopt;
    inner->extent = *by;
    return inner;
  }
  // (d mod a) floordiv b is a digit if b divides a.
  if (inner->extent % *by)
    return std::nullopt;
  inner->divisor *= *by;
  inner->extent /= *by;
  return inner;
}

/// Splits `e` into terms in the columns, terms in k, and the rest.
static Decision findAxis(KernelAnalysis &a, const Expr &e, unsigned column,
                         unsigned k, Windows &windows) {
  std::vector<Expr> terms{e};
  if (e.kind() == Expr::Kind::Add)
    terms = e.operands();
  Windows::Axis axis;
  std::optional<Windows::Digit> digit;
  for (const Expr &term : terms) {
    bool ofColumn = term.usesDim(column), ofK = term.usesDim(k);
    if (ofColumn && ofK)
      return Decision::refuse("an index divides columns and k together");
    if (ofK) {
      axis.offset = axis.offset + term;
      continue;
    }
    if (!ofColumn) {
      axis.begin = axis.begin + term;
      continue;
    }
    Expr factor = term;
    if (term.kind() == Expr::Kind::Mul) {
      const std::vector<Expr> &factors = term.operands();
      std::optional<int64_t> stride = factors[0].asConstant();
      if (factors.size() != 2 || !stride)
        return Decision::refuse("columns step by a number that is not known");
      axis.stride = *stride;
      factor = factors[1];
    }
    if (digit || !(digit = findDigit(factor, column)) || axis.stride < 1)
      return Decision::refuse("columns do not step along the image's dims");
  }
  std::optional<int64_t> least = a.getAssumptions().lowerBound(axis.offset),
                         most = a.getAssumptions().upperBound(axis.offset);
  if (!least || !most)
    return Decision::refuse("the window is of a size that is not known");
  axis.offset = a.simplify(axis.offset - Expr(*least));
  axis.begin = axis.begin + Expr(*least);
  axis.reach = *most - *least;
  if (digit) {
    digit->axis = windows.axes.size();
    windows.digits.push_back(*digit);
  }
  windows.axes.push_back(std::move(axis));
  return Decision::accept();
}

/// Returns the innermost sum in `e` of terms in the columns and terms in k.
static std::optional<Expr> findSum(const Expr &e, unsigned column, unsigned k) {
  auto isJoint = [&](const Expr &x) {
    return x.usesDim(column) && x.usesDim(k);
  };
  if (!isJoint(e))
    return std::nullopt;
  for (const Expr &operand : e.operands())
    if (isJoint(operand))
      return findSum(operand, column, k);
  return e.kind() == Expr::Kind::Add ? std::optional(e) : std::nullopt;
}

static Expr applyKind(Expr::Kind kind, const Expr &x, const Expr &y) {
  switch (kind) {
  case Expr::Kind::Add:
    return x + y;
  case Expr::Kind::Mul:
    return x * y;
  case Expr::Kind::FloorDiv:
    return Expr::floorDiv(x, y);
  case Expr::Kind::Mod:
    return Expr::mod(x, y);
  case Expr::Kind::Max:
    return Expr::max(x, y);
  case Expr::Kind::Min:
    return Expr::min(x, y);
  default:
    llvm_unreachable("a leaf");
  }
}

/// Writes `e` as a function of `place`, the value of `sum`; std::nullopt if
/// columns and k occur in it otherwise.
static std::optional<Expr> replaceSum(const KernelAnalysis &a, const Expr &e,
                                      const Expr &sum, unsigned column,
                                      unsigned k, const Expr &place) {
  auto isFree = [&](const Expr &x) {
    return !x.usesDim(column) && !x.usesDim(k);
  };
  if (isFree(e))
    return e;
  for (int64_t sign : {1, -1})
    if (Expr rest = a.simplify(e - sign * sum); isFree(rest))
      return sign * place + rest;
  std::optional<Expr> result;
  for (const Expr &operand : e.operands()) {
    std::optional<Expr> part = replaceSum(a, operand, sum, column, k, place);
    if (!part)
      return std::nullopt;
    result = result ? applyKind(e.kind(), *result, *part) : *part;
  }
  return result;
}

/// The same where the image's index is a function of such a sum.
static Decision findTurnedAxis(KernelAnalysis &a, const Expr &e,
                               unsigned column, unsigned k, Windows &windows) {
  Decision found = findAxis(a, e, column, k, windows);
  std::optional<Expr> sum = findSum(e, column, k);
  if (found || !sum)
    return found;
  for (const Expr &positive : {*sum, a.simplify(-*sum)}) {
    if (!findAxis(a, positive, column, k, windows))
      continue;
    Windows::Axis &axis = windows.axes.back();
    axis.place = a.addDim(1);
    axis.turned = replaceSum(a, e, positive, column, k, Expr::dim(axis.place));
    return axis.turned ? Decision::accept() : found;
  }
  return found;
}

/// Sorts the digits, fastest first; together they must cover all `columns`.
static Decision completeDigits(Windows &windows, int64_t columns) {
  llvm::sort(windows.digits, [](const auto &x, const auto &y) {
    return x.divisor < y.divisor;
  });
  int64_t divisor = 1;
  for (Windows::Digit &digit : windows.digits) {
    if (digit.divisor != divisor)
      return Decision::refuse("columns do not step along the image's dims");
    if (&digit == &windows.digits.back())
      digit.extent = columns / divisor;
    if (digit.extent < 1)
      return Decision::refuse("columns do not step along the image's dims");
    divisor *= digit.extent;
  }
  if (divisor != columns || windows.digits.empty())
    return Decision::refuse("columns do not step along the image's dims");
  for (auto [i, digit] : llvm::enumerate(windows.digits))
    windows.axes[digit.axis].digit = i;
  return Decision::accept();
}

/// Returns whether a turned index is inside the image at each of `count` places
/// from the first on.
static bool isTurnedInside(const Windows::Axis &axis, int64_t count,
                           const Expr &extent) {
  constexpr int64_t kMostPlaces = 1 << 16;
  std::optional<int64_t> begin = axis.begin.asConstant(),
                         size = extent.asConstant();
  if (!begin || !size || count > kMostPlaces ||
      replaceDim(*axis.turned, axis.place, 0).hasDims())
    return false;
  auto noSymbols = [](std::string_view) -> std::optional<int64_t> {
    return std::nullopt;
  };
  std::vector<int64_t> dims(axis.place + 1);
  for (int64_t i = 0; i < count; ++i) {
    dims[axis.place] = *begin + i;
    std::optional<int64_t> index = axis.turned->evaluate(noSymbols, dims);
    if (!index || *index < 0 || *index >= *size)
      return false;
  }
  return true;
}

/// Returns whether everything that is copied is inside the image.
static bool isInside(const KernelAnalysis &a, const Windows &windows) {
  SmallVector<Expr> extents = hlir::getExtents(windows.image);
  for (auto [axis, extent] : llvm::zip_equal(windows.axes, extents)) {
    int64_t columns = axis.digit ? windows.digits[*axis.digit].extent : 1;
    int64_t last = axis.stride * (columns - 1) + axis.reach;
    if (axis.turned) {
      if (!isTurnedInside(axis, last + 1, extent))
        return false;
      continue;
    }
    if (!a.getAssumptions().provablyNonNegative(axis.begin) ||
        !a.getAssumptions().provablyLess(axis.begin + Expr(last), extent))
      return false;
  }
  return true;
}

static void collectDivisors(const Expr &e, unsigned dim,
                            std::set<int64_t> &divisors) {
  SmallVector<Expr> work{e};
  while (!work.empty()) {
    Expr at = work.pop_back_val();
    if (!at.usesDim(dim))
      continue;
    for (const Expr &operand : at.operands())
      work.push_back(operand);
    if (isDivision(at))
      if (std::optional<int64_t> by = at.operands()[1].asConstant())
        divisors.insert(*by);
  }
}

/// Returns by how much `e` grows with each `period` steps of `dim`;
/// std::nullopt if that is not constant.
static std::optional<int64_t> findStride(KernelAnalysis &a, const Expr &e,
                                         unsigned dim, int64_t period,
                                         int64_t outer) {
  unsigned c = a.addDim(outer), r = a.addDim(period);
  Expr at = a.simplify(replaceDim(
      e, dim, Expr(period) * Expr::dim(c) + (period > 1 ? Expr::dim(r) : 0)));
  std::optional<Expr::Linear> linear = at.linearIn(c);
  return linear ? linear->stride.asConstant() : std::nullopt;
}

/// Sets the steps of all axes for a period; false if the period does not fit.
static bool setPeriod(KernelAnalysis &a, Windows &windows, int64_t period,
                      int64_t outer) {
  for (Windows::Axis &axis : windows.axes) {
    std::optional<int64_t> step =
        findStride(a, Expr::floorDiv(axis.offset, axis.stride), windows.kDim,
                   period, outer);
    // The phase must not change with the outer steps.
    std::optional<int64_t> phase = findStride(
        a, Expr::mod(axis.offset, axis.stride), windows.kDim, period, outer);
    if (!step || phase != 0)
      return false;
    axis.outerStep = *step;
  }
  windows.period = period, windows.outer = outer;
  return true;
}

/// Finds the shortest period after which all offsets repeat.
static void findPeriod(KernelAnalysis &a, Windows &windows, int64_t steps) {
  std::set<int64_t> candidates{1, steps};
  for (const Windows::Axis &axis : windows.axes)
    collectDivisors(axis.offset, windows.kDim, candidates);
  for (int64_t period : candidates)
    if (period > 0 && steps % period == 0 &&
        setPeriod(a, windows, period, steps / period))
      return;
  for (Windows::Axis &axis : windows.axes)
    axis.outerStep = 0;
  windows.period = steps, windows.outer = 1;
}

Decision luminal::findWindows(KernelAnalysis &a, Value operand, Index index,
                              unsigned column, unsigned k, Windows &windows) {
  std::optional<int64_t> columns = a.getExtents()[column].asConstant(),
                         steps = a.getExtents()[k].asConstant();
  if (!columns || !steps || *columns < 1 || *steps < 1)
    return Decision::refuse("a size is not known");
  // Find the last view whose operand is read along its dims.
  while (true) {
    windows = {};
    windows.image = operand;
    windows.kDim = k;
    Decision found = Decision::accept();
    for (const Expr &e : index)
      if (found)
        found = findTurnedAxis(a, a.simplify(e), column, k, windows);
    if (found)
      found = completeDigits(windows, *columns);
    if (found && !isInside(a, windows))
      found = Decision::refuse("an index may be outside of the image");
    if (found)
      break;
    auto view = operand.getDefiningOp<llir::ViewOp>();
    if (!view || a.isPlaced(operand))
      return found;
    index = a.mapIndex(view.getMap(), index);
    operand = view.getOperand();
  }
  if (llvm::none_of(windows.axes, [](const Windows::Axis &axis) {
        return axis.digit && (axis.reach || axis.stride > 1);
      }))
    return Decision::refuse("no element is read twice or at a distance");
  findPeriod(a, windows, *steps);
  return Decision::accept();
}

Expr Windows::Axis::getIndex(const Expr &at) const {
  return turned ? replaceDim(*turned, place, at) : at;
}

Windows::Layout Windows::getLayout(int64_t columns) const {
  Layout layout;
  layout.steps.assign(axes.size(), 0);
  layout.phaseSteps.assign(axes.size(), 0);
  int64_t size = 1;
  for (const Digit &digit : digits) {
    const Axis &axis = axes[digit.axis];
    bool isLast = &digit == &digits.back();
    int64_t count = isLast ? columns / digit.divisor : digit.extent;
    layout.steps[digit.axis] = size;
    (isLast ? layout.span : layout.lower) += (count - 1) * size;
    size *= count + axis.countMore();
    if (&digit == digits.begin())
      layout.line = size;
  }
  layout.span += layout.lower;
  for (const Digit &digit : digits) {
    layout.phaseSteps[digit.axis] = size;
    size *= axes[digit.axis].countPhases();
  }
  for (size_t i = axes.size(); i-- > 0;) {
    if (axes[i].digit)
      continue;
    layout.steps[i] = size;
    size *= axes[i].reach + 1;
  }
  layout.size = size;
  for (auto [axis, step] : llvm::zip_equal(axes, layout.steps))
    layout.outerStep += axis.outerStep * step;
  return layout;
}

SmallVector<int64_t> Windows::getDistances(int64_t columns,
                                           const Layout &layout) const {
  int64_t line = digits.front().extent;
  bool isOneLine = digits.size() == 1 || line % columns == 0;
  bool areLines = columns % line == 0 &&
                  (digits.size() < 3 || digits[2].divisor % columns == 0);
  SmallVector<int64_t> distances;
  if (!isOneLine && !areLines)
    return distances;
  for (int64_t i = 0; i < columns; ++i)
    distances.push_back(
        isOneLine ? i : i / line * layout.steps[digits[1].axis] + i % line);
  return distances;
}

Expr Windows::getOffset(const Layout &layout) const {
  Expr offset = 0;
  for (auto [i, axis] : llvm::enumerate(axes))
    offset = offset +
             Expr::floorDiv(axis.offset, axis.stride) * layout.steps[i] +
             Expr::mod(axis.offset, axis.stride) * layout.phaseSteps[i];
  return offset;
}
