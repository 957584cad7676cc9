//===- ExprBounds.cpp - Bounds of expressions over ranges -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The lower bound of an expression is the better of two. Interval arithmetic
// (ExprIntervals.cpp) handles every kind of node, but ignores correlations
// between operands. Elimination keeps them: a factor in which the expression is
// linear is replaced by its minimum or maximum, depending on the sign of its
// coefficient (if the sign is unknown, both are tried and the lower result
// counts); the remaining expression has one factor fewer. Compound factors are
// eliminated first, then dims, whose extents are expressions over symbols, then
// symbols, whose bounds are integers.
//
//===----------------------------------------------------------------------===//

#include "ExprSolver.h"
#include <algorithm>

using namespace luminal;

ExprSolver::ExprSolver(const std::map<std::string, SymbolRange> &symbols,
                       const std::vector<Expr> &extents)
    : symbols(symbols.begin(), symbols.end()), extents(extents) {
  for (const Expr &extent : extents)
    learn(extent);
}

SymbolRange ExprSolver::rangeOf(const Expr &symbol) const {
  auto it = symbols.find(*symbol.asSymbol());
  return it == symbols.end() ? SymbolRange() : it->second;
}

/// Learns that an extent is at least 1: an iteration space is only read if it
/// is not empty.
void ExprSolver::learn(const Expr &extent) {
  if (extent.asConstant() || extent.isUndefined())
    return;
  std::vector<Term> terms = ExprBuilder::terms(extent);
  auto raise = [&](const Expr &symbol, int64_t lo) {
    SymbolRange range = rangeOf(symbol);
    range.lo = std::max(range.lo, lo);
    symbols[std::string(*symbol.asSymbol())] = range;
  };
  // A factor of the extent is not zero, so it is positive if it is
  // non-negative.
  std::vector<Expr> common = terms.front().factors;
  for (const Term &term : terms) {
    std::vector<Expr> both;
    std::set_intersection(common.begin(), common.end(), term.factors.begin(),
                          term.factors.end(), std::back_inserter(both));
    common = std::move(both);
  }
  for (const Expr &factor : common) {
    if (factor.asSymbol() ? rangeOf(factor).lo < 0 : !nonNegative(factor))
      continue;
    if (factor.asSymbol())
      raise(factor, 1);
    else
      positiveAtoms.push_back(factor);
  }
  if (terms.size() == 2 && terms[0].factors.size() == 1 &&
      terms[0].factors[0].asSymbol() && terms[1].factors.empty()) {
    // a * s + b >= 1.
    int64_t a = terms[0].coefficient, b = terms[1].coefficient;
    const Expr &symbol = terms[0].factors[0];
    std::optional<int64_t> rest = checkedAdd(b, -1);
    if (rest && a > 0 && *rest != INT64_MIN) {
      // s >= ceil(-rest / a) = -floor(rest / a).
      raise(symbol, -*checkedFloorDiv(*rest, a));
    } else if (rest && a < 0 && a != INT64_MIN) {
      SymbolRange range = rangeOf(symbol);
      int64_t hi = *checkedFloorDiv(*rest, -a);
      range.hi = range.hi ? std::min(*range.hi, hi) : hi;
      symbols[std::string(*symbol.asSymbol())] = range;
    }
    forget();
    return;
  }
  bool product = terms.size() == 1 && terms[0].coefficient > 0 &&
                 std::all_of(common.begin(), common.end(), [&](const Expr &e) {
                   return e.asSymbol() && rangeOf(e).lo > 0;
                 });
  if (!product)
    facts.push_back(extent - Expr(1));
  forget();
}

/// Drops cached results: they were found with fewer facts and may be too weak.
void ExprSolver::forget() {
  lowers.clear();
  intervals.clear();
  simplified.clear();
}

//===----------------------------------------------------------------------===//
// Intervals
//===----------------------------------------------------------------------===//

Interval ExprSolver::interval(const Expr &e) {
  if (std::optional<int64_t> value = e.asConstant())
    return Interval::point(*value);
  if (auto it = intervals.find(e); it != intervals.end())
    return it->second;
  Interval result = computeInterval(e);
  intervals.emplace(e, result);
  return result;
}

Interval ExprSolver::computeInterval(const Expr &e) {
  if (e.asSymbol())
    return Interval::of(rangeOf(e));
  if (std::optional<unsigned> dim = e.asDim()) {
    Interval result;
    if (*dim < extents.size() && !extents[*dim].isUndefined()) {
      result.lo = 0;
      Interval extent = interval(extents[*dim]);
      if (extent.upper())
        result.hi = std::max<Interval::Int>(extent.hi - 1, 0);
    }
    return result;
  }
  std::vector<Interval> values;
  values.reserve(e.operands().size());
  for (const Expr &operand : e.operands())
    values.push_back(interval(operand));
  Interval result = intervalOf(e.kind(), e.operands(), values);
  if (std::find(positiveAtoms.begin(), positiveAtoms.end(), e) !=
      positiveAtoms.end())
    result.lo = std::max<Interval::Int>(result.lo, 1);
  return result;
}

//===----------------------------------------------------------------------===//
// Polynomials
//===----------------------------------------------------------------------===//

std::optional<Term> luminal::divideTerm(const Term &numerator,
                                        const Term &denominator) {
  if (checkedFloorMod(numerator.coefficient, denominator.coefficient) != 0)
    return std::nullopt;
  std::optional<int64_t> coefficient =
      checkedFloorDiv(numerator.coefficient, denominator.coefficient);
  if (!coefficient)
    return std::nullopt;
  Term result{{}, *coefficient};
  size_t j = 0;
  for (const Expr &factor : numerator.factors) {
    if (j < denominator.factors.size() && denominator.factors[j] == factor)
      ++j;
    else
      result.factors.push_back(factor);
  }
  if (j != denominator.factors.size())
    return std::nullopt;
  return result;
}

std::optional<Expr> luminal::divideExactly(const Expr &e, const Expr &divisor) {
  std::vector<Term> by = ExprBuilder::terms(divisor);
  if (by.empty())
    return std::nullopt;
  Expr rest = e;
  std::vector<Term> quotient;
  // Terms are in a monomial order, so at each step the leading term of the
  // remainder must be divisible.
  for (unsigned i = 0; !rest.isConstant(0); ++i) {
    if (i == 64 || rest.isUndefined())
      return std::nullopt;
    std::optional<Term> q =
        divideTerm(ExprBuilder::terms(rest).front(), by.front());
    if (!q)
      return std::nullopt;
    if (by.size() > 1)
      rest = rest - ExprBuilder::fromTerm(*q) * divisor;
    else {
      std::vector<Term> terms = ExprBuilder::terms(rest);
      terms.erase(terms.begin());
      rest = ExprBuilder::sum(std::move(terms));
    }
    quotient.push_back(std::move(*q));
  }
  return ExprBuilder::sum(std::move(quotient));
}

std::optional<Expr::Linear> luminal::linearInAtom(const Expr &e,
                                                  const Expr &atom) {
  std::vector<Term> stride, rest;
  for (Term &term : ExprBuilder::terms(e)) {
    auto it = std::find(term.factors.begin(), term.factors.end(), atom);
    if (it == term.factors.end()) {
      rest.push_back(std::move(term));
      continue;
    }
    term.factors.erase(it);
    if (std::find(term.factors.begin(), term.factors.end(), atom) !=
        term.factors.end())
      return std::nullopt;
    stride.push_back(std::move(term));
  }
  return Expr::Linear{ExprBuilder::sum(std::move(stride)),
                      ExprBuilder::sum(std::move(rest))};
}

std::vector<Expr> luminal::atomsOf(const Expr &e) {
  std::vector<Expr> atoms;
  for (const Term &term : ExprBuilder::terms(e))
    atoms.insert(atoms.end(), term.factors.begin(), term.factors.end());
  std::sort(atoms.begin(), atoms.end());
  atoms.erase(std::unique(atoms.begin(), atoms.end()), atoms.end());
  return atoms;
}

//===----------------------------------------------------------------------===//
// Bounds of one factor
//===----------------------------------------------------------------------===//

void ExprSolver::bounds(const Expr &atom, std::vector<Expr> &lows,
                        std::vector<Expr> &highs) {
  switch (atom.kind()) {
  case Expr::Kind::Symbol: {
    SymbolRange range = rangeOf(atom);
    lows.push_back(Expr(range.lo));
    if (range.hi)
      highs.push_back(Expr(*range.hi));
    return;
  }
  case Expr::Kind::Dim:
    if (*atom.asDim() < extents.size() &&
        !extents[*atom.asDim()].isUndefined()) {
      lows.push_back(Expr());
      highs.push_back(simplify(extents[*atom.asDim()]) - Expr(1));
    }
    return;
  case Expr::Kind::FloorDiv: {
    const Expr &x = atom.operands()[0], &c = atom.operands()[1];
    if (!positive(c))
      return;
    // floordiv by a positive divisor is monotone: bounds of x give bounds of
    // the quotient.
    auto push = [&](std::vector<Expr> &list, const std::optional<Expr> &bound) {
      if (!bound || *bound == x)
        return;
      Expr e = floorDiv(*bound, c);
      if (!e.isUndefined() && !e.hasDims() && e != atom)
        list.push_back(e);
    };
    std::optional<int64_t> low = lower(x), high = upper(x);
    if (std::optional<int64_t> constant = interval(atom).lower())
      lows.push_back(Expr(*constant));
    if (low)
      push(lows, Expr(*low));
    push(lows, withoutDims(x, /*wantUpper=*/false));
    push(highs, withoutDims(x, /*wantUpper=*/true));
    if (high)
      push(highs, Expr(*high));
    bool nonNegativeX = nonNegative(x);
    if (nonNegativeX)
      highs.push_back(x);
    return;
  }
  case Expr::Kind::Mod: {
    const Expr &x = atom.operands()[0], &c = atom.operands()[1];
    if (!positive(c))
      return;
    Interval range = interval(atom);
    lows.push_back(Expr(std::max<int64_t>(range.lower().value_or(0), 0)));
    highs.push_back(c - Expr(1));
    if (std::optional<int64_t> high = range.upper())
      highs.push_back(Expr(*high));
    if (nonNegative(x))
      highs.push_back(x);
    return;
  }
  default:
    // An unexpanded sum. (max and min are split by case.)
    if (std::optional<int64_t> low = lower(atom))
      lows.push_back(Expr(*low));
    return;
  }
}

std::optional<Expr> ExprSolver::withoutDims(const Expr &e, bool wantUpper) {
  Expr current = e;
  for (unsigned i = 0; current.hasDims(); ++i) {
    if (i == 32 || !step())
      return std::nullopt;
    // The last atom that has dims: compound atoms come before the dims
    // themselves.
    std::vector<Expr> atoms = atomsOf(current);
    auto it = std::find_if(atoms.rbegin(), atoms.rend(),
                           [](const Expr &atom) { return atom.hasDims(); });
    std::optional<Expr::Linear> linear = linearInAtom(current, *it);
    if (!linear || linear->stride.hasDims())
      return std::nullopt;
    bool rising = nonNegative(linear->stride);
    if (!rising && !nonNegative(-linear->stride))
      return std::nullopt;
    std::vector<Expr> lows, highs;
    bounds(*it, lows, highs);
    const std::vector<Expr> &ends = rising == wantUpper ? highs : lows;
    if (ends.empty())
      return std::nullopt;
    current = linear->stride * ends.front() + linear->rest;
  }
  return current.isUndefined() ? std::nullopt : std::optional<Expr>(current);
}

//===----------------------------------------------------------------------===//
// Elimination
//===----------------------------------------------------------------------===//

/// The greater of two optional bounds.
static void raise(std::optional<int64_t> &best,
                  std::optional<int64_t> candidate) {
  if (candidate && (!best || *candidate > *best))
    best = candidate;
}

std::optional<int64_t> ExprSolver::upper(const Expr &e) {
  std::optional<int64_t> low = lower(-e);
  return low && *low != INT64_MIN ? std::optional<int64_t>(-*low)
                                  : std::nullopt;
}

std::optional<int64_t> ExprSolver::lower(const Expr &e) {
  if (std::optional<int64_t> value = e.asConstant())
    return value;
  if (e.isUndefined())
    return std::nullopt;
  if (auto it = lowers.find(e); it != lowers.end())
    return it->second;
  std::optional<int64_t> result = interval(e).lower();
  if (!step())
    return result;
  // While the bound is being computed, recursive queries get the interval's.
  lowers.emplace(e, result);
  Nested nested(depth);
  raise(result, computeLower(e));
  lowers[e] = result;
  return result;
}

bool ExprSolver::nonNegative(const Expr &e) {
  if (e.isUndefined())
    return false;
  if (interval(e).lo >= 0)
    return true;
  std::optional<int64_t> low = lower(e);
  if (low && *low >= 0)
    return true;
  // e - q * fact >= 0 with q >= 0 also proves it.
  for (const Expr &fact : facts) {
    for (const Term &factTerm : ExprBuilder::terms(fact)) {
      for (const Term &term : ExprBuilder::terms(e)) {
        if (term.factors.empty() || factTerm.factors.empty() || !step())
          continue;
        std::optional<Term> q = divideTerm(term, factTerm);
        if (!q)
          continue;
        Expr quotient = ExprBuilder::fromTerm(*q);
        std::optional<int64_t> least = lower(quotient);
        if (!least || *least < 0)
          continue;
        std::optional<int64_t> rest = lower(e - quotient * fact);
        if (rest && *rest >= 0)
          return true;
      }
    }
  }
  return false;
}

/// Without compound nodes, elimination proves as much as the search over cases,
/// and is cheaper.
static bool mayNeedCases(const Expr &e) {
  return ExprBuilder::compounds(e) != 0;
}

bool ExprSolver::atLeastByCases(const Expr &e, int64_t limit) {
  Expr rest = limit == 0 ? e : e - Expr(limit);
  if (rest.isUndefined())
    return false;
  if (nonNegative(rest))
    return true;
  if (!mayNeedCases(rest))
    return false;
  auto range = [this](const Expr &symbol) { return rangeOf(symbol); };
  std::optional<int64_t> low = luminal::lowerByCases(rest, range, extents, 0);
  return low && *low >= 0;
}

std::optional<int64_t> ExprSolver::lowerByCases(const Expr &e) {
  std::optional<int64_t> result = lower(e);
  if (!mayNeedCases(e))
    return result;
  auto range = [this](const Expr &symbol) { return rangeOf(symbol); };
  raise(result, luminal::lowerByCases(e, range, extents, std::nullopt));
  return result;
}

/// Bounds the difference of two quotients whose operands are unbounded:
/// floordiv(a, c) - floordiv(b, c) >= floordiv(a - b, c).
std::optional<int64_t> ExprSolver::lowerOfPair(const Expr &e) {
  std::vector<Term> terms = ExprBuilder::terms(e);
  auto single = [](const Term &term) {
    return term.factors.size() == 1 &&
           term.factors[0].kind() == Expr::Kind::FloorDiv;
  };
  for (Term &plus : terms) {
    for (Term &minus : terms) {
      if (!single(plus) || !single(minus) || plus.coefficient <= 0 ||
          minus.coefficient >= 0 || minus.coefficient == INT64_MIN)
        continue;
      const Expr &c = plus.factors[0].operands()[1];
      if (c != minus.factors[0].operands()[1] || !positive(c))
        continue;
      int64_t times = std::min(plus.coefficient, -minus.coefficient);
      Expr difference = floorDiv(simplify(plus.factors[0].operands()[0] -
                                          minus.factors[0].operands()[0]),
                                 c);
      std::optional<int64_t> least = lower(difference);
      if (!least)
        continue;
      Expr rest = e - Expr(times) * (plus.factors[0] - minus.factors[0]) +
                  Expr(times) * Expr(*least);
      if (std::optional<int64_t> low = lower(rest))
        return low;
    }
  }
  return std::nullopt;
}

bool ExprSolver::sortByDivisors(std::vector<Quotient> &quotients) {
  for (auto next = quotients.begin(); next != quotients.end(); ++next) {
    auto least = std::find_if(next, quotients.end(), [&](const Quotient &q) {
      return std::all_of(next, quotients.end(), [&](const Quotient &other) {
        return luminal::divideExactly(other.divisor, q.divisor).has_value();
      });
    });
    if (least == quotients.end())
      return false;
    std::iter_swap(next, least);
  }
  return true;
}

/// If the divisors of quotients of one numerator divide each other, writes the
/// quotients as sums of digits: x floordiv m = r * (x floordiv (m * r)) +
/// digit, 0 <= digit < r. Digits have independent bounds, while quotients with
/// coefficients of different signs are correlated.
std::optional<int64_t> ExprSolver::lowerOfDigits(const Expr &e) {
  std::vector<Expr> numerators;
  for (const Expr &atom : atomsOf(e)) {
    if (atom.kind() != Expr::Kind::FloorDiv || !step())
      continue;
    const Expr &x = atom.operands()[0];
    if (std::find(numerators.begin(), numerators.end(), x) != numerators.end())
      continue;
    numerators.push_back(x);
    if (std::optional<int64_t> low = lowerOfDigits(e, x))
      return low;
  }
  return std::nullopt;
}

Expr ExprSolver::expandMods(const Expr &e, const Expr &x) {
  Expr result = e;
  for (const Expr &atom : atomsOf(e)) {
    if (atom.kind() != Expr::Kind::Mod)
      continue;
    const Expr &y = atom.operands()[0], &b = atom.operands()[1];
    if (y != x && (y.kind() != Expr::Kind::FloorDiv || y.operands()[0] != x))
      continue;
    if (std::optional<Expr::Linear> linear = linearInAtom(result, atom))
      result = linear->rest + linear->stride * (y - b * floorDiv(y, b));
  }
  return result;
}

std::optional<int64_t> ExprSolver::lowerOfDigits(const Expr &e, const Expr &x) {
  Expr rest = expandMods(e, x);
  if (rest.isUndefined())
    return std::nullopt;
  std::vector<Quotient> chain;
  for (const Expr &atom : atomsOf(rest))
    if (atom == x)
      chain.push_back({atom, Expr(1)});
    else if (atom.kind() == Expr::Kind::FloorDiv && atom.operands()[0] == x)
      chain.push_back({atom, atom.operands()[1]});
  if (chain.size() < 2 || !sortByDivisors(chain))
    return std::nullopt;
  Expr weight;
  for (size_t i = 0;; ++i) {
    std::optional<Expr::Linear> linear = linearInAtom(rest, chain[i].atom);
    if (!linear)
      return std::nullopt;
    rest = linear->rest;
    weight = weight + linear->stride;
    if (i + 1 == chain.size())
      return lower(rest + weight * chain[i].atom);
    const Expr radix =
        *luminal::divideExactly(chain[i + 1].divisor, chain[i].divisor);
    if (!positive(radix))
      return std::nullopt;
    if (!nonNegative(weight)) {
      if (!nonNegative(-weight))
        return std::nullopt;
      rest = rest + weight * (radix - Expr(1));
    }
    weight = weight * radix;
  }
}

std::optional<int64_t> ExprSolver::computeLower(const Expr &e) {
  if (std::optional<int64_t> low = lowerOfPair(e))
    return low;
  std::optional<int64_t> best = lowerOfDigits(e);
  // Compound factors sort after symbols and dims, so iterating from last to
  // first eliminates them before the atoms that they depend on. Dims come
  // before symbols, since extents are expressions over symbols.
  std::vector<Expr> atoms = atomsOf(e);
  auto priority = [](const Expr &atom) {
    return atom.asSymbol() ? 2u : atom.asDim() ? 1u : 0u;
  };
  std::sort(atoms.begin(), atoms.end(), [&](const Expr &a, const Expr &b) {
    if (priority(a) != priority(b))
      return priority(a) < priority(b);
    if (priority(a) == 0 && ExprBuilder::weight(a) != ExprBuilder::weight(b))
      return ExprBuilder::weight(a) > ExprBuilder::weight(b);
    return Expr::compare(b, a) < 0;
  });
  for (const Expr &atom : atoms)
    if (std::optional<int64_t> low = eliminate(e, atom)) {
      raise(best, low);
      return best;
    }
  return best;
}

std::optional<int64_t> ExprSolver::eliminate(const Expr &e, const Expr &atom) {
  if (!step())
    return std::nullopt;
  // e = sum of coefficients[j] * atom^j.
  std::vector<std::vector<Term>> powers;
  for (Term &term : ExprBuilder::terms(e)) {
    size_t power = static_cast<size_t>(
        std::count(term.factors.begin(), term.factors.end(), atom));
    term.factors.erase(
        std::remove(term.factors.begin(), term.factors.end(), atom),
        term.factors.end());
    if (powers.size() <= power)
      powers.resize(power + 1);
    powers[power].push_back(std::move(term));
  }
  std::vector<Expr> coefficients;
  for (std::vector<Term> &terms : powers)
    coefficients.push_back(ExprBuilder::sum(std::move(terms)));
  auto at = [&](const Expr &value) {
    Expr result;
    for (size_t j = coefficients.size(); j-- > 0;)
      result = result * value + coefficients[j];
    return result;
  };

  std::optional<int64_t> best;
  if (atom.kind() == Expr::Kind::Max || atom.kind() == Expr::Kind::Min) {
    // A max or min equals one of its operands, and bounds both from one side.
    std::optional<int64_t> a = lower(at(atom.operands()[0])),
                           b = lower(at(atom.operands()[1]));
    if (a && b)
      best = std::min(*a, *b);
    if (coefficients.size() == 2) {
      Expr sign =
          atom.kind() == Expr::Kind::Max ? coefficients[1] : -coefficients[1];
      if (nonNegative(sign)) {
        raise(best, a);
        raise(best, b);
        // It also bounds their mean, in which correlated terms cancel: min(x, c
        // - x) <= c / 2, as for a reflected index.
        Expr twice =
            2 * coefficients[0] +
            coefficients[1] * (atom.operands()[0] + atom.operands()[1]);
        if (std::optional<int64_t> low = lower(twice))
          raise(best, *low / 2 + (*low % 2 > 0));
      }
    }
    return best;
  }

  std::vector<Expr> lows, highs;
  bounds(atom, lows, highs);

  if (coefficients.size() == 2) {
    const Expr &k = coefficients[1], &rest = coefficients[0];
    bool rising = nonNegative(k), falling = !rising && nonNegative(-k);
    for (const Expr &end : rising    ? lows
                           : falling ? highs
                                     : std::vector<Expr>())
      raise(best, lower(at(end)));
    // x - c + 1 <= c * floordiv(x, c) <= x.
    if (atom.kind() == Expr::Kind::FloorDiv && (rising || falling)) {
      const Expr &x = atom.operands()[0], &c = atom.operands()[1];
      std::optional<Expr> q = divideExactly(k, c);
      if (q && positive(c))
        raise(best, lower(rest + *q * (rising ? x - c + Expr(1) : x)));
      // If c does not divide k, bound a multiple of the whole expression this
      // way.
      std::optional<int64_t> divisor = c.asConstant();
      if (!q && divisor && *divisor > 0 && !rest.asConstant()) {
        std::optional<int64_t> multiple =
            lower(c * rest + k * (rising ? x - c + Expr(1) : x));
        if (multiple)
          raise(best, static_cast<int64_t>(*checkedFloorDiv<Interval::Int>(
                          Interval::Int(*multiple) + *divisor - 1, *divisor)));
      }
    }
    if (!rising && !falling && !lows.empty() && !highs.empty()) {
      // Linear in the atom: the minimum is at one of the ends.
      std::optional<int64_t> a = lower(at(lows.front())),
                             b = lower(at(highs.front()));
      if (a && b)
        best = std::min(*a, *b);
    }
    return best;
  }

  // A higher power: with atom = low + t, each power t^j is between 0 and (high
  // - low)^j.
  if (lows.empty())
    return std::nullopt;
  const Expr &low = lows.front();
  std::vector<Expr> shifted(coefficients.size());
  for (size_t j = coefficients.size(); j-- > 0;) {
    // Horner's scheme on polynomials in t: shifted = shifted * (low + t) +
    // coefficients[j].
    for (size_t i = shifted.size(); i-- > 0;)
      shifted[i] = shifted[i] * low + (i ? shifted[i - 1] : coefficients[j]);
  }
  Expr bound = shifted[0], power(1);
  for (size_t j = 1; j < shifted.size(); ++j) {
    if (!highs.empty())
      power = power * (highs.front() - low);
    if (nonNegative(shifted[j]))
      continue;
    if (highs.empty() || !nonNegative(-shifted[j]))
      return std::nullopt;
    bound = bound + shifted[j] * power;
  }
  return lower(bound);
}
