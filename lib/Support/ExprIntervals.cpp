//===- ExprIntervals.cpp - Intervals of expressions -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ExprIntervals.h"
#include <algorithm>
#include <queue>
#include <unordered_map>

using namespace luminal;

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

using Int = Interval::Int;
static constexpr Int kInfinity = Interval::kInfinity;

/// Clamps bounds outside int64_t to the nearest representable ones.
static Interval normalize(Int lo, Int hi) {
  if (lo < INT64_MIN)
    lo = -kInfinity;
  if (hi > INT64_MAX)
    hi = kInfinity;
  return {std::min<Int>(lo, INT64_MAX), std::max<Int>(hi, INT64_MIN)};
}

static Interval add(const Interval &a, const Interval &b) {
  // A bound that is infinite stays infinite.
  bool noLower = a.lo == -kInfinity || b.lo == -kInfinity;
  bool noUpper = a.hi == kInfinity || b.hi == kInfinity;
  return normalize(noLower ? -kInfinity : a.lo + b.lo,
                   noUpper ? kInfinity : a.hi + b.hi);
}

static Interval negate(const Interval &a) { return normalize(-a.hi, -a.lo); }

static Interval unite(const Interval &a, const Interval &b) {
  return {std::min(a.lo, b.lo), std::max(a.hi, b.hi)};
}

static Interval multiply(const Interval &a, const Interval &b) {
  // Infinity squared fits into 128 bits, and infinity times zero is zero.
  auto [lo, hi] =
      std::minmax({a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi});
  return normalize(lo, hi);
}

static Interval raiseToPower(const Interval &a, size_t exponent) {
  Interval result = a;
  for (size_t i = 1; i < exponent; ++i)
    result = multiply(result, a);
  if (exponent % 2 == 0)
    result.lo = std::max<Int>(result.lo, 0);
  return result;
}

/// Calls fn(x, c) for the positive divisors in `c` and fn(-x, -c) for the
/// negative ones, as floor(x / c) = floor(-x / -c). Unbounded if `c` has no
/// nonzero value.
template <typename Fn, typename Mirror>
static Interval overDivisors(const Interval &x, const Interval &c, Fn fn,
                             Mirror mirror) {
  std::optional<Interval> result;
  auto join = [&](const Interval &part) {
    result = result ? unite(*result, part) : part;
  };
  if (c.hi > 0)
    join(fn(x, Interval{std::max<Int>(c.lo, 1), c.hi}));
  if (c.lo < 0)
    join(mirror(fn(negate(x), Interval{std::max<Int>(-c.hi, 1), -c.lo})));
  return result.value_or(Interval());
}

static Int floorQuotient(Int a, Int b) { return *checkedFloorDiv(a, b); }

static Interval floorDivide(const Interval &x, const Interval &c) {
  // Monotone in x; approaches zero as c grows.
  auto positive = [](const Interval &x, const Interval &c) {
    Int lo =
        x.lo == -kInfinity ? x.lo : floorQuotient(x.lo, x.lo < 0 ? c.lo : c.hi);
    Int hi =
        x.hi == kInfinity ? x.hi : floorQuotient(x.hi, x.hi < 0 ? c.hi : c.lo);
    return normalize(lo, hi);
  };
  return overDivisors(x, c, positive, [](const Interval &r) { return r; });
}

static Interval floorModulo(const Interval &x, const Interval &c) {
  auto positive = [](const Interval &x, const Interval &c) {
    if (x.lo >= 0 && x.hi < c.lo)
      return x;
    bool finite = x.lo != -kInfinity && x.hi != kInfinity;
    if (finite && c.isPoint() &&
        floorQuotient(x.lo, c.lo) == floorQuotient(x.hi, c.lo)) {
      Int base = floorQuotient(x.lo, c.lo) * c.lo;
      return normalize(x.lo - base, x.hi - base);
    }
    return normalize(0, std::min(c.hi - 1, x.lo >= 0 ? x.hi : kInfinity));
  };
  return overDivisors(x, c, positive, negate);
}

Interval luminal::intervalOf(Expr::Kind kind, const std::vector<Expr> &operands,
                             const std::vector<Interval> &values) {
  Interval result = values.front();
  switch (kind) {
  case Expr::Kind::Add:
    for (size_t i = 1; i < values.size(); ++i)
      result = add(result, values[i]);
    return result;
  case Expr::Kind::Mul:
    result = Interval::point(1);
    for (size_t i = 0, next; i < values.size(); i = next) {
      for (next = i + 1; next < values.size() && operands[next] == operands[i];)
        ++next;
      result = multiply(result, raiseToPower(values[i], next - i));
    }
    return result;
  case Expr::Kind::FloorDiv:
    return floorDivide(values[0], values[1]);
  case Expr::Kind::Mod:
    return floorModulo(values[0], values[1]);
  case Expr::Kind::Max:
    return {std::max(values[0].lo, values[1].lo),
            std::max(values[0].hi, values[1].hi)};
  case Expr::Kind::Min:
    return {std::min(values[0].lo, values[1].lo),
            std::min(values[0].hi, values[1].hi)};
  default:
    return {};
  }
}

//===----------------------------------------------------------------------===//
// Cases
//===----------------------------------------------------------------------===//

namespace {
/// Limits the cost of a search to boxes times nodes.
constexpr size_t kMaxBoxes = 128;
constexpr size_t kMaxNodes = 256;
/// Length of the part of an unbounded range that is searched separately.
constexpr int64_t kHead = 32;

/// An expression and the extents of its dims as straight-line code, operands
/// first.
class IntervalProgram {
public:
  IntervalProgram(const std::function<SymbolRange(const Expr &)> &rangeOf,
                  const std::vector<Expr> &extents)
      : rangeOf(rangeOf), extents(extents) {}

  /// Adds `e`; the last node added is the root. False if the limit on nodes is
  /// exceeded.
  bool add(const Expr &e);

  /// One interval for each symbol and dim, in order of first occurrence.
  using Box = std::vector<Interval>;
  /// The full ranges of all variables.
  Box getWhole();

  /// The interval of the root over a box; std::nullopt if the box is empty.
  std::optional<Interval> evaluate(const Box &box) {
    return run(box, [](const Interval &range) { return range; });
  }
  /// The value of the root with every symbol and dim at its minimum (or
  /// maximum); std::nullopt if a range has no such end or the root has no value
  /// there.
  std::optional<int64_t> evaluateCorner(const Box &box, bool greatest);

private:
  template <typename Choose>
  std::optional<Interval> run(const Box &box, Choose choose);

  struct Entry {
    Expr e;
    std::vector<size_t> operands;
    size_t variable = 0;
  };
  const std::function<SymbolRange(const Expr &)> &rangeOf;
  const std::vector<Expr> &extents;
  std::vector<Entry> entries;
  std::unordered_map<Expr, size_t, ExprHash> index;
  Box whole;
  // Buffers that each run reuses.
  std::vector<Interval> values, operandValues;
};
} // namespace

bool IntervalProgram::add(const Expr &e) {
  if (index.count(e))
    return true;
  Entry entry{e, {}, 0};
  auto addOperand = [&](const Expr &operand) {
    if (!add(operand))
      return false;
    entry.operands.push_back(index.at(operand));
    return true;
  };
  for (const Expr &operand : e.operands())
    if (!addOperand(operand))
      return false;
  if (std::optional<unsigned> dim = e.asDim()) {
    bool known = *dim < extents.size() && !extents[*dim].isUndefined();
    if (!known || !addOperand(extents[*dim]))
      return false;
    entry.variable = whole.size();
    whole.push_back({0, kInfinity});
  } else if (e.asSymbol()) {
    entry.variable = whole.size();
    whole.push_back(Interval::of(rangeOf(e)));
  }
  if (entries.size() == kMaxNodes)
    return false;
  index.emplace(e, entries.size());
  entries.push_back(std::move(entry));
  return true;
}

IntervalProgram::Box IntervalProgram::getWhole() {
  Box box = whole;
  if (evaluate(whole))
    for (size_t i = 0; i < entries.size(); ++i)
      if (entries[i].e.asDim())
        box[entries[i].variable] = values[i];
  return box;
}

template <typename Choose>
std::optional<Interval> IntervalProgram::run(const Box &box, Choose choose) {
  values.clear();
  for (const Entry &entry : entries) {
    if (std::optional<int64_t> constant = entry.e.asConstant()) {
      values.push_back(Interval::point(*constant));
    } else if (entry.e.asDim()) {
      Interval range = box[entry.variable];
      Int extent = values[entry.operands.front()].hi;
      if (extent != kInfinity)
        range.hi = std::min(range.hi, extent - 1);
      if (range.lo > range.hi)
        return std::nullopt;
      values.push_back(choose(range));
    } else if (entry.operands.empty()) {
      values.push_back(choose(box[entry.variable]));
    } else {
      operandValues.clear();
      for (size_t operand : entry.operands)
        operandValues.push_back(values[operand]);
      values.push_back(
          intervalOf(entry.e.kind(), entry.e.operands(), operandValues));
    }
  }
  return values.back();
}

std::optional<int64_t> IntervalProgram::evaluateCorner(const Box &box,
                                                       bool greatest) {
  std::optional<Interval> value = run(box, [&](const Interval &range) {
    Int end = greatest && range.hi != kInfinity ? range.hi : range.lo;
    return Interval{end, end};
  });
  if (!value || !value->isPoint())
    return std::nullopt;
  return value->lower();
}

std::optional<int64_t> luminal::lowerByCases(
    const Expr &e, const std::function<SymbolRange(const Expr &)> &rangeOf,
    const std::vector<Expr> &extents, std::optional<int64_t> enough) {
  using Box = IntervalProgram::Box;
  IntervalProgram program(rangeOf, extents);
  if (!program.add(e))
    return std::nullopt;

  // The box with the lowest bound comes first; of equals, the older one.
  struct Case {
    Int lo;
    size_t number;
    Box box;
    bool operator<(const Case &other) const {
      return lo != other.lo ? lo > other.lo : number > other.number;
    }
  };
  std::priority_queue<Case> open;
  size_t boxes = 0;
  // The smallest value evaluated; no lower bound can exceed it.
  Int seen = kInfinity;
  auto consider = [&](Box box) {
    std::optional<Interval> value = program.evaluate(box);
    if (!value)
      return;
    for (bool greatest : {false, true})
      if (std::optional<int64_t> corner = program.evaluateCorner(box, greatest))
        seen = std::min<Int>(seen, *corner);
    open.push({value->lo, boxes++, std::move(box)});
  };
  const Box whole = program.getWhole();
  // Returns the variable to split: the one with the widest range. An unbounded
  // range is split once, after its first kHead values.
  auto widest = [&](const Box &box) {
    std::optional<size_t> best;
    Int width = 0;
    for (size_t i = 0; i < box.size(); ++i) {
      bool bounded = box[i].hi != kInfinity;
      if (!bounded && box[i].lo != whole[i].lo)
        continue;
      Int w = bounded ? box[i].hi - box[i].lo : Int(kHead);
      if (w > width) {
        width = w;
        best = i;
      }
    }
    return best;
  };
  consider(whole);
  while (!open.empty()) {
    const Case &least = open.top();
    bool settled = least.lo >= seen || (enough && least.lo >= *enough) ||
                   (enough && seen < *enough) || boxes >= kMaxBoxes;
    std::optional<size_t> variable;
    if (!settled)
      variable = widest(least.box);
    if (!variable)
      return normalize(least.lo, kInfinity).lower();
    Box low = least.box, high = low;
    open.pop();
    const Interval &range = low[*variable];
    Int middle = range.hi == kInfinity ? range.lo + kHead - 1
                                       : range.lo + (range.hi - range.lo) / 2;
    low[*variable].hi = middle;
    high[*variable].lo = middle + 1;
    consider(std::move(low));
    consider(std::move(high));
  }
  // The space is empty.
  return enough;
}
