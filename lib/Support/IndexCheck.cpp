//===- IndexCheck.cpp - Whether index arithmetic stays in bounds ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tries `Assumptions` first. If that finds no proof, computes the minimum and
// maximum over the iteration space as expressions over symbols: at the corners
// if the expression is monotone or linear in each dim, else by evaluating every
// point of a small space with constant extents. These are exact, so comparing
// them with the limits decides.
//
//===----------------------------------------------------------------------===//

#include "luminal/Support/IndexCheck.h"
#include "ExprDetail.h"
#include <algorithm>

using namespace luminal;

/// Maximum number of points to evaluate, without and with symbols in the
/// expression.
static constexpr int64_t kMaxPoints = int64_t(1) << 20;
static constexpr int64_t kMaxSymbolicPoints = 16;
/// Maximum number of dims for which both ends are tried.
static constexpr unsigned kMaxLinearDims = 4;

SymbolRange luminal::boundedRange(SymbolRange range) {
  if (!range.hi)
    range.hi = std::max(range.lo, kLargestExtent);
  return range;
}

Assumptions luminal::boundSymbols(const Assumptions &assumptions) {
  std::map<std::string, SymbolRange> ranges = assumptions.getSymbols();
  for (auto &[name, range] : ranges)
    range = boundedRange(range);
  return Assumptions(std::move(ranges), assumptions.getExtents());
}

std::optional<std::string>
Requirement::getViolation(const Expr::SymbolValues &symbols) const {
  for (const Expr &extent : space)
    if (extent.evaluate(symbols) == 0)
      return std::nullopt;
  std::optional<int64_t> a = lesser.evaluate(symbols),
                         b = greater.evaluate(symbols);
  if (a && b && *a <= *b)
    return std::nullopt;
  auto text = [](std::optional<int64_t> value) {
    return value ? std::to_string(*value)
                 : std::string("an overflow or a division by zero");
  };
  return what + ": expected " + lesser.str() + " <= " + greater.str() +
         ", found " + text(a) + " and " + text(b);
}

IndexChecker::IndexChecker(const Assumptions &symbols, std::vector<Expr> space)
    : space(std::move(space)) {
  std::map<std::string, SymbolRange> ranges =
      boundSymbols(symbols).getSymbols();
  Assumptions plain(ranges);
  for (const Expr &extent : this->space) {
    isEmpty |= plain.provablyLessEqual(extent, 0);
    if (!plain.provablyLessEqual(1, extent))
      mayBeZero.push_back(extent);
  }
  std::sort(mayBeZero.begin(), mayBeZero.end());
  mayBeZero.erase(std::unique(mayBeZero.begin(), mayBeZero.end()),
                  mayBeZero.end());
  points = Assumptions(ranges, this->space);
  sizes = points;
}

//===----------------------------------------------------------------------===//
// Minima and maxima
//===----------------------------------------------------------------------===//

IndexChecker::Trend IndexChecker::trendIn(const Expr &e, unsigned dim) {
  auto flip = [](Trend t) {
    return t == Trend::Rising    ? Trend::Falling
           : t == Trend::Falling ? Trend::Rising
                                 : t;
  };
  auto both = [](Trend a, Trend b) {
    if (a == Trend::Constant || a == b)
      return b;
    return b == Trend::Constant ? a : Trend::Unknown;
  };
  auto monotone = [](Trend t) {
    return t == Trend::Linear ? Trend::Unknown : t;
  };
  if (!e.usesDim(dim))
    return Trend::Constant;
  if (std::optional<Expr::Linear> linear = e.linearIn(dim)) {
    if (points.provablyNonNegative(linear->stride))
      return Trend::Rising;
    if (points.provablyNonNegative(-linear->stride))
      return Trend::Falling;
    return Trend::Linear;
  }
  switch (e.kind()) {
  case Expr::Kind::Add: {
    Trend result = Trend::Constant;
    for (const Expr &operand : e.operands())
      result = both(result, monotone(trendIn(operand, dim)));
    return result;
  }
  case Expr::Kind::Mul: {
    Trend result = Trend::Constant;
    bool negative = false;
    for (const Expr &factor : e.operands()) {
      if (std::optional<int64_t> c = factor.asConstant()) {
        negative ^= *c < 0;
        continue;
      }
      if (!points.provablyNonNegative(factor))
        return Trend::Unknown;
      result = both(result, monotone(trendIn(factor, dim)));
    }
    return negative ? flip(result) : result;
  }
  case Expr::Kind::FloorDiv: {
    const Expr &x = e.operands()[0], &c = e.operands()[1];
    if (!c.usesDim(dim)) {
      if (points.provablyLess(0, c))
        return monotone(trendIn(x, dim));
      if (points.provablyLess(c, 0))
        return flip(monotone(trendIn(x, dim)));
    } else if (!x.usesDim(dim) && points.provablyNonNegative(x) &&
               points.provablyLess(0, c)) {
      return flip(monotone(trendIn(c, dim)));
    }
    return Trend::Unknown;
  }
  case Expr::Kind::Max:
  case Expr::Kind::Min:
    return both(monotone(trendIn(e.operands()[0], dim)),
                monotone(trendIn(e.operands()[1], dim)));
  default:
    return Trend::Unknown;
  }
}

std::optional<Expr> IndexChecker::atCorners(const Expr &e, bool greatest) {
  std::vector<unsigned> linear;
  std::vector<bool> last(space.size());
  for (unsigned i = 0; i < space.size(); ++i) {
    Trend trend = trendIn(e, i);
    if (trend == Trend::Unknown)
      return std::nullopt;
    if (trend == Trend::Linear)
      linear.push_back(i);
    last[i] = (trend == Trend::Rising) == greatest;
  }
  if (linear.size() > kMaxLinearDims)
    return std::nullopt;
  std::optional<Expr> best;
  for (unsigned corner = 0; corner < 1u << linear.size(); ++corner) {
    for (size_t k = 0; k < linear.size(); ++k)
      last[linear[k]] = corner >> k & 1;
    Expr value = e.substitute([&](const Expr &leaf) -> std::optional<Expr> {
      if (!leaf.asDim())
        return std::nullopt;
      return last[*leaf.asDim()] ? space[*leaf.asDim()] - Expr(1) : Expr(0);
    });
    best = !best      ? value
           : greatest ? Expr::max(*best, value)
                      : Expr::min(*best, value);
  }
  return sizes.simplify(*best);
}

/// The extreme of k * ((d + rest) mod c), if d alone takes c consecutive
/// values.
std::optional<Expr> IndexChecker::ofMod(const Expr &e, bool greatest) {
  std::vector<Term> terms = ExprBuilder::terms(e);
  if (terms.size() != 1)
    return std::nullopt;
  Term term = terms.front();
  std::optional<Expr> mod;
  Expr times(term.coefficient);
  for (const Expr &factor : term.factors) {
    if (factor.kind() == Expr::Kind::Mod && !mod)
      mod = factor;
    else if (factor.hasDims())
      return std::nullopt;
    else
      times = times * factor;
  }
  if (!mod || mod->operands()[1].hasDims())
    return std::nullopt;
  const Expr &c = mod->operands()[1];
  bool takesAll = false;
  for (unsigned i = 0; i < space.size() && !takesAll; ++i) {
    std::optional<Expr::Linear> linear = mod->operands()[0].linearIn(i);
    takesAll =
        linear &&
        (linear->stride.isConstant(1) || linear->stride.isConstant(-1)) &&
        points.provablyLessEqual(c, space[i]);
  }
  if (!takesAll || !points.provablyLess(0, c))
    return std::nullopt;
  Expr end = times * (c - Expr(1));
  return sizes.simplify(greatest ? Expr::max(end, 0) : Expr::min(end, 0));
}

std::optional<Expr> IndexChecker::byEnumeration(const Expr &e, bool greatest) {
  std::vector<unsigned> dims;
  std::vector<int64_t> extents;
  int64_t count = 1;
  std::vector<std::string> symbols;
  e.collectSymbols(symbols);
  int64_t most = symbols.empty() ? kMaxPoints : kMaxSymbolicPoints;
  for (unsigned i = 0; i < space.size(); ++i) {
    if (!e.usesDim(i))
      continue;
    std::optional<int64_t> extent = space[i].asConstant();
    if (!extent || *extent > most / count)
      return std::nullopt;
    dims.push_back(i);
    extents.push_back(*extent);
    count *= *extent;
  }
  std::vector<int64_t> at(space.size());
  std::optional<Expr> best;
  std::optional<int64_t> bestValue;
  for (int64_t n = 0; n < count; ++n) {
    if (symbols.empty()) {
      std::optional<int64_t> value = e.evaluate({}, at);
      if (!value)
        return std::nullopt;
      if (!bestValue || (greatest ? *value > *bestValue : *value < *bestValue))
        bestValue = value;
    } else {
      Expr value = e.substitute([&](const Expr &leaf) -> std::optional<Expr> {
        if (!leaf.asDim())
          return std::nullopt;
        return Expr(at[*leaf.asDim()]);
      });
      best = !best      ? value
             : greatest ? Expr::max(*best, value)
                        : Expr::min(*best, value);
    }
    for (size_t k = dims.size(); k-- > 0;) {
      if (++at[dims[k]] < extents[k])
        break;
      at[dims[k]] = 0;
    }
  }
  if (bestValue)
    return Expr(*bestValue);
  return best ? std::optional<Expr>(sizes.simplify(*best)) : std::nullopt;
}

std::optional<Expr> IndexChecker::extremeOfGroup(const Expr &e, bool greatest) {
  for (auto method : {&IndexChecker::atCorners, &IndexChecker::ofMod,
                      &IndexChecker::byEnumeration})
    if (std::optional<Expr> result = (this->*method)(e, greatest))
      return result;
  return std::nullopt;
}

std::optional<Expr> IndexChecker::extreme(const Expr &e, bool greatest) {
  // Groups of terms without common dims have independent extremes.
  struct Group {
    std::vector<bool> dims;
    std::vector<Term> terms;
  };
  std::vector<Group> groups;
  for (Term &term : ExprBuilder::terms(e)) {
    Group joined{std::vector<bool>(space.size()), {}};
    for (unsigned i = 0; i < space.size(); ++i)
      joined.dims[i] = std::any_of(term.factors.begin(), term.factors.end(),
                                   [&](const Expr &f) { return f.usesDim(i); });
    joined.terms.push_back(std::move(term));
    for (size_t k = groups.size(); k-- > 0;) {
      bool shared = false;
      for (unsigned i = 0; i < space.size(); ++i)
        shared |= joined.dims[i] && groups[k].dims[i];
      if (!shared)
        continue;
      for (unsigned i = 0; i < space.size(); ++i)
        joined.dims[i] = joined.dims[i] || groups[k].dims[i];
      std::move(groups[k].terms.begin(), groups[k].terms.end(),
                std::back_inserter(joined.terms));
      groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(k));
    }
    groups.push_back(std::move(joined));
  }
  Expr result;
  for (Group &group : groups) {
    std::optional<Expr> part =
        extremeOfGroup(ExprBuilder::sum(std::move(group.terms)), greatest);
    if (!part)
      return std::nullopt;
    result = result + *part;
  }
  return sizes.simplify(result);
}

//===----------------------------------------------------------------------===//
// Decisions
//===----------------------------------------------------------------------===//

std::optional<std::string> IndexChecker::require(const Expr &lesser,
                                                 const Expr &greater,
                                                 const std::string &problem) {
  if (lesser.isUndefined() || greater.isUndefined())
    return problem;
  if (sizes.provablyLessEqual(lesser, greater))
    return std::nullopt;
  if (mayBeZero.empty() && sizes.provablyLess(greater, lesser))
    return problem;
  Requirement requirement{lesser, greater, mayBeZero, ""};
  for (const Requirement &known : requirements)
    if (known.isSameCondition(requirement))
      return std::nullopt;
  requirements.push_back(std::move(requirement));
  return std::nullopt;
}

std::optional<std::string> IndexChecker::checkFits(const Expr &e) {
  if (e.operands().empty())
    return std::nullopt;
  std::optional<int64_t> low = points.lowerBound(e),
                         high = points.upperBound(e);
  if (low && high && *low > INT64_MIN)
    return std::nullopt;
  std::string problem = "'" + e.str() + "' overflows 64 bits";
  std::optional<Expr> least = extreme(e, false), greatest = extreme(e, true);
  if (!least || !greatest)
    return "cannot prove that '" + e.str() + "' fits into 64 bits";
  if (auto error = require(Expr(-INT64_MAX), *least, problem))
    return error;
  return require(*greatest, Expr(INT64_MAX), problem);
}

std::optional<std::string> IndexChecker::checkDivisor(const Expr &e) {
  const Expr &c = e.operands()[1];
  if (points.provablyLess(0, c) || points.provablyLess(c, 0))
    return std::nullopt;
  std::string problem = "'" + e.str() + "' divides by 0";
  if (!c.hasDims())
    return require(1, points.provablyNonNegative(c) ? c : c * c, problem);
  std::optional<Expr> least = extreme(c, false), greatest = extreme(c, true);
  if (least && greatest && sizes.provablyLessEqual(*greatest, 0))
    return require(*greatest, -1, problem);
  if (least && greatest && sizes.provablyNonNegative(*least))
    return require(1, *least, problem);
  // If the divisor may have either sign, check its square.
  if (std::optional<Expr> square = extreme(c * c, false))
    return require(1, *square, problem);
  return "cannot prove that the divisor of '" + e.str() + "' is not 0";
}

std::optional<std::string> IndexChecker::checkOperands(const Expr &e) {
  if (isEmpty || ExprBuilder::compounds(e) == 0 || !checked.insert(e).second)
    return std::nullopt;
  for (const Expr &operand : e.operands())
    if (auto error = checkOperands(operand))
      return error;
  if (e.kind() < Expr::Kind::FloorDiv)
    return std::nullopt;
  if (e.kind() == Expr::Kind::FloorDiv || e.kind() == Expr::Kind::Mod)
    if (auto error = checkDivisor(e))
      return error;
  for (const Expr &operand : e.operands())
    if (auto error = checkFits(operand))
      return error;
  return std::nullopt;
}

std::optional<std::string> IndexChecker::checkValue(const Expr &e) {
  if (isEmpty)
    return std::nullopt;
  if (auto error = checkOperands(e))
    return error;
  return checkFits(e);
}

/// The error text for an index over symbols.
static std::string describeOutside(const Expr &index, const Expr &limit) {
  std::string range = "[0, " + limit.str() + ")";
  return index.isUndefined()
             ? "an index overflows 64 bits, expected one in " + range
             : "expected an index in " + range + ", found " + index.str();
}

std::optional<std::string> IndexChecker::checkAtLeast(const Expr &e,
                                                      const Expr &least) {
  if (auto error = checkValue(e))
    return error;
  if (isEmpty || points.provablyLessEqual(least, e))
    return std::nullopt;
  std::optional<Expr> value = extreme(e, false);
  if (!value)
    return "cannot prove that '" + e.str() + "' is at least " + least.str();
  return require(least, *value,
                 "'" + e.str() + "' is at most " + value->str() +
                     ", less than " + least.str());
}

std::optional<std::string> IndexChecker::checkInside(const Expr &e,
                                                     const Expr &limit) {
  if (isEmpty)
    return std::nullopt;
  std::optional<unsigned> dim = e.asDim();
  if (dim && *dim < space.size() && space[*dim] == limit)
    return std::nullopt;
  if (auto error = checkOperands(e))
    return error;
  std::string range = "[0, " + limit.str() + ")";
  if (!points.provablyNonNegative(e)) {
    std::optional<Expr> least = extreme(e, false);
    if (!least)
      return "cannot prove that '" + e.str() + "' stays in " + range;
    if (auto error = require(0, *least, describeOutside(*least, limit)))
      return error;
  }
  if (!points.provablyLess(e, limit)) {
    std::optional<Expr> greatest = extreme(e, true);
    if (!greatest)
      return "cannot prove that '" + e.str() + "' stays in " + range;
    if (auto error = require(*greatest + Expr(1), limit,
                             describeOutside(*greatest, limit)))
      return error;
  }
  return std::nullopt;
}

std::optional<std::string> IndexChecker::refuteInside(const Expr &e,
                                                      const Expr &limit) {
  std::optional<unsigned> dim = e.asDim();
  if (isEmpty || !mayBeZero.empty() ||
      (dim && *dim < space.size() && space[*dim] == limit))
    return std::nullopt;
  for (bool last : {false, true}) {
    std::optional<Expr> at = atCorners(e, last);
    if (!at)
      at = sizes.simplify(
          e.substitute([&](const Expr &leaf) -> std::optional<Expr> {
            if (!leaf.asDim())
              return std::nullopt;
            return last ? space[*leaf.asDim()] - Expr(1) : Expr(0);
          }));
    // checkInside reports an expression without a value.
    if (!at->isUndefined() &&
        (sizes.provablyLess(*at, 0) || sizes.provablyLessEqual(limit, *at)))
      return describeOutside(*at, limit);
  }
  return std::nullopt;
}
