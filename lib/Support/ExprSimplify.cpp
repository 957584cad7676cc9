//===- ExprSimplify.cpp - Simplification of expressions over ranges -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bottom up, each floordiv and mod is normalized: multiples of the divisor are
// extracted, common factors are cancelled, nested ones are merged, and those
// that the ranges decide are removed. Then the terms of each sum are joined: c
// * (x floordiv c) + x mod c is x, and x - c * (x floordiv c) is x mod c.
//
//===----------------------------------------------------------------------===//

#include "ExprSolver.h"
#include "SimplifyQuery.h"
#include <algorithm>
#include <numeric>

using namespace luminal;

/// Orders by number of compound nodes, then tree size, then Expr::compare. Each
/// join strictly decreases in this order, so joining terminates.
static bool smaller(const Expr &a, const Expr &b) {
  if (a.isUndefined())
    return false;
  if (ExprBuilder::compounds(a) != ExprBuilder::compounds(b))
    return ExprBuilder::compounds(a) < ExprBuilder::compounds(b);
  if (ExprBuilder::weight(a) != ExprBuilder::weight(b))
    return ExprBuilder::weight(a) < ExprBuilder::weight(b);
  return Expr::compare(a, b) < 0;
}

//===----------------------------------------------------------------------===//
// Division
//===----------------------------------------------------------------------===//

ExprSolver::Division ExprSolver::divide(const Expr &x, const Expr &c) {
  std::vector<Term> by = ExprBuilder::terms(c);
  if (by.size() == 1) {
    std::vector<Term> quotient, rest;
    for (Term &term : ExprBuilder::terms(x)) {
      // Extract the multiple of c nearest to zero; of a constant, round down,
      // so that its remainder is in [0, c).
      bool constant = term.factors.empty() && by[0].factors.empty();
      int64_t divisor = by[0].coefficient;
      std::optional<Term> unit =
          divideTerm({term.factors, 1}, {by[0].factors, 1});
      if (!unit || divisor == 0 || divisor == -1 || divisor == INT64_MIN) {
        rest.push_back(std::move(term));
        continue;
      }
      int64_t q = constant ? *checkedFloorDiv(term.coefficient, divisor)
                           : term.coefficient / divisor;
      if (q != 0)
        quotient.push_back({unit->factors, q});
      if (int64_t left = term.coefficient - q * divisor)
        rest.push_back({std::move(term.factors), left});
    }
    return {ExprBuilder::sum(std::move(quotient)),
            ExprBuilder::sum(std::move(rest))};
  }
  // A divisor with several terms is subtracted as long as that makes the
  // remainder shorter.
  Expr quotient, rest = x;
  for (bool changed = true; changed && step();) {
    changed = false;
    for (const Term &term : ExprBuilder::terms(rest)) {
      for (const Term &lead : by) {
        std::optional<Term> q = divideTerm(term, lead);
        if (!q)
          continue;
        Expr qe = ExprBuilder::fromTerm(std::move(*q));
        Expr shorter = rest - qe * c;
        if (shorter.isUndefined() ||
            ExprBuilder::numTerms(shorter) >= ExprBuilder::numTerms(rest))
          continue;
        quotient = quotient + qe;
        rest = shorter;
        changed = true;
        break;
      }
      if (changed)
        break;
    }
  }
  return {quotient, rest};
}

std::optional<ExprSolver::Division> ExprSolver::divideIntoRange(const Expr &x,
                                                                const Expr &c) {
  std::vector<Term> by = ExprBuilder::terms(c);
  if (by.size() < 2)
    return std::nullopt;
  for (const Term &lead : by) {
    if (lead.factors.empty())
      continue;
    Expr quotient, rest = x;
    for (unsigned i = 0; i < 16 && step(); ++i) {
      std::optional<Term> q;
      for (const Term &term : ExprBuilder::terms(rest))
        if ((q = divideTerm(term, lead)))
          break;
      if (!q)
        break;
      Expr qe = ExprBuilder::fromTerm(std::move(*q));
      quotient = quotient + qe;
      rest = rest - qe * c;
    }
    if (!rest.isUndefined() && !quotient.isConstant(0) && inRange(rest, c))
      return Division{quotient, rest};
  }
  return std::nullopt;
}

/// The greatest common divisor of two products.
static Term commonTerm(const Term &a, const Term &b) {
  Term result;
  std::set_intersection(a.factors.begin(), a.factors.end(), b.factors.begin(),
                        b.factors.end(), std::back_inserter(result.factors));
  // The magnitude of INT64_MIN is not an int64_t. Its divisors are powers of
  // two.
  auto magnitude = [](int64_t v) {
    return v == INT64_MIN ? int64_t(1) << 62 : std::abs(v);
  };
  result.coefficient =
      std::gcd(magnitude(a.coefficient), magnitude(b.coefficient));
  return result;
}

std::optional<ExprSolver::Common> ExprSolver::commonFactor(const Expr &x,
                                                           const Expr &c) {
  std::vector<Term> by = ExprBuilder::terms(c);
  Term content = by.front();
  if (content.coefficient == INT64_MIN)
    return std::nullopt;
  content.coefficient = std::abs(content.coefficient);
  for (const Term &term : by)
    content = commonTerm(content, term);
  // Candidates for g: common divisors of c and each term of x, and extents that
  // divide c; larger ones first.
  std::vector<Expr> candidates;
  for (const Term &term : ExprBuilder::terms(x))
    if (!term.factors.empty() || content.factors.empty())
      candidates.push_back(ExprBuilder::fromTerm(commonTerm(content, term)));
  for (size_t i = 0, n = candidates.size(); i < n; ++i)
    for (size_t j = i + 1; j < n && n <= 8; ++j)
      candidates.push_back(ExprBuilder::fromTerm(
          commonTerm(ExprBuilder::terms(candidates[i]).front(),
                     ExprBuilder::terms(candidates[j]).front())));
  if (by.size() > 1)
    for (const Expr &extent : extents)
      if (ExprBuilder::numTerms(extent) > 1 &&
          luminal::divideExactly(c, extent))
        candidates.push_back(extent);
  std::sort(candidates.begin(), candidates.end(),
            [](const Expr &a, const Expr &b) {
              if (ExprBuilder::weight(a) != ExprBuilder::weight(b))
                return ExprBuilder::weight(a) > ExprBuilder::weight(b);
              return Expr::compare(b, a) < 0;
            });
  candidates.erase(std::unique(candidates.begin(), candidates.end()),
                   candidates.end());
  for (const Expr &g : candidates) {
    if (g.isConstant(1) || !step())
      continue;
    std::optional<Expr> rest = luminal::divideExactly(c, g);
    if (!rest || !positive(g))
      continue;
    Division division{Expr(), Expr()};
    if (ExprBuilder::numTerms(g) > 1) {
      division = divide(x, g);
    } else {
      // Extract only terms that divide as a whole (3 * d0 by 2 stays 3 * d0);
      // constants are divided with a remainder.
      Term unit = ExprBuilder::terms(g).front();
      for (Term &term : ExprBuilder::terms(x)) {
        std::optional<Term> q = divideTerm(term, unit);
        if (q) {
          division.quotient =
              division.quotient + ExprBuilder::fromTerm(std::move(*q));
        } else if (term.factors.empty() && unit.factors.empty()) {
          division.quotient =
              division.quotient +
              Expr(*checkedFloorDiv(term.coefficient, unit.coefficient));
          division.rest =
              division.rest +
              Expr(*checkedFloorMod(term.coefficient, unit.coefficient));
        } else {
          division.rest =
              division.rest + ExprBuilder::fromTerm(std::move(term));
        }
      }
    }
    if (!division.quotient.isConstant(0) && inRange(division.rest, g))
      return Common{division.quotient, division.rest, g, *rest};
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// floordiv and mod
//===----------------------------------------------------------------------===//

/// Whether the first non-constant term has a negative coefficient.
static bool leadsNegative(const Expr &x) {
  std::vector<Term> terms = ExprBuilder::terms(x);
  return !terms.empty() && !terms.front().factors.empty() &&
         terms.front().coefficient < 0;
}

Expr ExprSolver::floorDiv(const Expr &x, const Expr &c) {
  Expr plain = Expr::floorDiv(x, c);
  if (plain.kind() != Expr::Kind::FloorDiv || plain.isUndefined() ||
      c.isConstant(0) || !step())
    return plain;
  Nested nested(depth);
  auto orPlain = [&](const Expr &e) { return e.isUndefined() ? plain : e; };

  Division division = divide(x, c);
  if (!division.quotient.isConstant(0))
    return orPlain(division.quotient + floorDiv(division.rest, c));
  if (!positive(c))
    return positive(-c) ? orPlain(floorDiv(-x, -c)) : plain;
  if (x.isConstant(0))
    return Expr();

  if (nonNegative(x) && nonNegative(c - x - Expr(1)))
    return Expr();
  if (nonNegative(x + c) && nonNegative(-x - Expr(1)))
    return Expr(-1);
  if (std::optional<int64_t> divisor = c.asConstant()) {
    std::optional<int64_t> low = lower(x), high = upper(x);
    if (low && high &&
        checkedFloorDiv(*low, *divisor) == checkedFloorDiv(*high, *divisor))
      return Expr(*checkedFloorDiv(*low, *divisor));
  }
  if (std::optional<Division> exact = divideIntoRange(x, c))
    return exact->quotient;
  if (leadsNegative(x))
    return orPlain(Expr(-1) - floorDiv(-x - Expr(1), c));
  if (std::optional<Common> common = commonFactor(x, c))
    return orPlain(floorDiv(common->a, common->c));

  std::vector<Term> terms = ExprBuilder::terms(x);
  for (const Term &term : terms) {
    if (term.coefficient != 1 || term.factors.size() != 1)
      continue;
    const Expr &factor = term.factors.front();
    if (factor.kind() == Expr::Kind::FloorDiv &&
        positive(factor.operands()[1])) {
      // floor((floor(y / a) + z) / c) = floor((y + a * z) / (a * c)).
      const Expr &y = factor.operands()[0], &a = factor.operands()[1];
      Expr numerator = y + a * (x - factor), divisor = a * c;
      if (!numerator.isUndefined() && !divisor.isUndefined())
        return orPlain(floorDiv(numerator, divisor));
    }
    if (factor.kind() == Expr::Kind::Mod && terms.size() == 1) {
      // (y mod (b * c)) floordiv c = (y floordiv c) mod b.
      std::optional<Expr> b = luminal::divideExactly(factor.operands()[1], c);
      if (b && positive(*b))
        return orPlain(mod(floorDiv(factor.operands()[0], c), *b));
    }
  }
  return plain;
}

Expr ExprSolver::dropInnerMods(const Expr &x, const Expr &c) {
  for (const Expr &atom : atomsOf(x)) {
    if (atom.kind() != Expr::Kind::Mod && atom.kind() != Expr::Kind::FloorDiv)
      continue;
    std::optional<Expr::Linear> linear = linearInAtom(x, atom);
    if (!linear)
      continue;
    const Expr &inner = atom.operands()[0], &divisor = atom.operands()[1];
    if (atom.kind() == Expr::Kind::Mod) {
      // k * (y mod m) equals k * y modulo c if c divides k * m.
      if (!luminal::divideExactly(linear->stride * divisor, c))
        continue;
      Expr result = linear->stride * inner + linear->rest;
      if (!result.isUndefined())
        return result;
      continue;
    }
    // floor(y / a) modulo c depends only on y modulo a * c.
    if (!linear->stride.isConstant(1) || !positive(divisor) || !step())
      continue;
    Expr modulus = divisor * c;
    if (modulus.isUndefined())
      continue;
    Expr reduced = dropInnerMods(inner, modulus);
    if (reduced == inner)
      continue;
    Expr result = floorDiv(reduced, divisor) + linear->rest;
    if (!result.isUndefined())
      return result;
  }
  return x;
}

Expr ExprSolver::mod(const Expr &x, const Expr &c) {
  Expr plain = Expr::mod(x, c);
  if (plain.kind() != Expr::Kind::Mod || c.isConstant(0) || !step())
    return plain;
  Nested nested(depth);
  auto orPlain = [&](const Expr &e) { return e.isUndefined() ? plain : e; };

  Division division = divide(x, c);
  if (!division.quotient.isConstant(0))
    return orPlain(mod(division.rest, c));
  if (x.isConstant(0))
    return Expr();
  if (!positive(c))
    return positive(-c) ? orPlain(-mod(-x, -c)) : plain;

  if (nonNegative(x) && nonNegative(c - x - Expr(1)))
    return x;
  if (nonNegative(x + c) && nonNegative(-x - Expr(1)))
    return orPlain(x + c);
  if (std::optional<int64_t> divisor = c.asConstant()) {
    std::optional<int64_t> low = lower(x), high = upper(x);
    if (low && high &&
        checkedFloorDiv(*low, *divisor) == checkedFloorDiv(*high, *divisor))
      return orPlain(x - c * Expr(*checkedFloorDiv(*low, *divisor)));
  }
  if (std::optional<Division> exact = divideIntoRange(x, c))
    return exact->rest;
  if (leadsNegative(x))
    return orPlain(c - Expr(1) - mod(-x - Expr(1), c));
  Expr outer = dropInnerMods(x, c);
  if (outer != x)
    return orPlain(mod(outer, c));
  if (std::optional<Common> common = commonFactor(x, c))
    return orPlain(common->g * mod(common->a, common->c) + common->b);
  return plain;
}

Expr ExprSolver::extremum(Expr::Kind kind, const Expr &a, const Expr &b) {
  Expr plain = ExprBuilder::rebuild(kind, a, b);
  if (plain.kind() != kind)
    return plain;
  // Collect the operands of the nested extrema and remove dominated ones.
  std::vector<Expr> operands;
  for (Expr e = plain;; e = e.operands()[0]) {
    if (e.kind() != kind) {
      operands.push_back(e);
      break;
    }
    operands.push_back(e.operands()[1]);
  }
  for (size_t i = 0; i < operands.size(); ++i) {
    for (size_t j = 0; j < operands.size(); ++j) {
      if (i == j)
        continue;
      Expr difference =
          simplify(kind == Expr::Kind::Max ? operands[j] - operands[i]
                                           : operands[i] - operands[j]);
      if (!nonNegative(difference))
        continue;
      operands.erase(operands.begin() + static_cast<std::ptrdiff_t>(i));
      --i;
      break;
    }
  }
  Expr result = operands.front();
  for (size_t i = 1; i < operands.size(); ++i)
    result = ExprBuilder::rebuild(kind, result, operands[i]);
  return result;
}

//===----------------------------------------------------------------------===//
// Joining terms
//===----------------------------------------------------------------------===//

std::optional<Expr> ExprSolver::joinOnce(const Expr &e) {
  std::vector<Expr> atoms = atomsOf(e);
  struct Part {
    Expr atom, stride;
  };
  std::vector<Part> mods, divs;
  for (const Expr &atom : atoms)
    if (atom.kind() == Expr::Kind::Mod || atom.kind() == Expr::Kind::FloorDiv)
      if (std::optional<Expr::Linear> linear = linearInAtom(e, atom))
        (atom.kind() == Expr::Kind::Mod ? mods : divs)
            .push_back({atom, linear->stride});

  // k * (y mod b) + k * b * (y floordiv b) = k * y.
  for (const Part &m : mods) {
    if (divs.empty() || !step())
      break;
    const Expr &y = m.atom.operands()[0], &b = m.atom.operands()[1];
    Expr result = e + m.stride * (y - m.atom - b * floorDiv(y, b));
    if (smaller(result, e))
      return result;
  }
  // k * a * (y mod b) + k * (r mod a) = k * ((a * q + r) mod (a * b)), where y
  // = q + r floordiv a.
  for (const Part &high : mods) {
    for (const Part &low : mods) {
      if (high.atom == low.atom || !step())
        continue;
      const Expr &y = high.atom.operands()[0], &b = high.atom.operands()[1];
      const Expr &r = low.atom.operands()[0], &a = low.atom.operands()[1];
      if (high.stride != low.stride * a)
        continue;
      Expr whole = a * (y - floorDiv(r, a)) + r;
      if (whole.isUndefined() || (a * b).isUndefined())
        continue;
      Expr result =
          e + low.stride * (mod(whole, a * b) - a * high.atom - low.atom);
      if (smaller(result, e))
        return result;
    }
  }
  // k * x - k * c * (x floordiv c) = k * (x mod c). If b divides c, k * b * (x
  // floordiv c) is the part above the digit (x floordiv (c / b)) mod b.
  for (const Part &d : divs) {
    const Expr &x = d.atom.operands()[0], &c = d.atom.operands()[1];
    if (!step())
      break;
    if (std::optional<Expr> k = luminal::divideExactly(d.stride, c)) {
      Expr result = e - *k * (c * d.atom + mod(x, c) - x);
      if (smaller(result, e))
        return result;
    }
    if (ExprBuilder::numTerms(c) != 1)
      continue;
    Term divisor = ExprBuilder::terms(c).front();
    for (const Term &term : ExprBuilder::terms(d.stride)) {
      Term common = commonTerm(term, divisor);
      Expr b = ExprBuilder::fromTerm(common);
      if (b.isConstant(1) || b == c)
        continue;
      std::optional<Term> k = divideTerm(term, common);
      std::optional<Expr> inner = luminal::divideExactly(c, b);
      if (!k || !inner || !positive(b) || !positive(*inner))
        continue;
      Expr y = floorDiv(x, *inner);
      Expr result =
          e - ExprBuilder::fromTerm(*k) * (b * d.atom + mod(y, b) - y);
      if (smaller(result, e))
        return result;
    }
  }
  return std::nullopt;
}

Expr ExprSolver::join(const Expr &e) {
  Expr current = e;
  while (ExprBuilder::compounds(current) != 0 && step()) {
    std::optional<Expr> next = joinOnce(current);
    if (!next)
      break;
    current = *next;
  }
  return current;
}

//===----------------------------------------------------------------------===//
// The simplifier
//===----------------------------------------------------------------------===//

Expr ExprSolver::simplifyOnce(const Expr &e) {
  if (ExprBuilder::compounds(e) == 0 || !step())
    return e;
  auto it = simplified.find(e);
  if (it != simplified.end())
    return it->second;
  // While it is being computed, recursive queries get `e` itself.
  simplified.emplace(e, e);
  Nested nested(depth);
  Expr result = e;
  switch (e.kind()) {
  case Expr::Kind::Add:
    result = Expr();
    for (const Expr &term : e.operands())
      result = result + simplifyOnce(term);
    result = join(result);
    break;
  case Expr::Kind::Mul:
    result = Expr(1);
    for (const Expr &factor : e.operands())
      result = result * simplifyOnce(factor);
    result = join(result);
    break;
  default: {
    Expr a = simplifyOnce(e.operands()[0]), b = simplifyOnce(e.operands()[1]);
    if (a.isUndefined() || b.isUndefined())
      break;
    if (e.kind() == Expr::Kind::FloorDiv)
      result = join(floorDiv(a, b));
    else if (e.kind() == Expr::Kind::Mod)
      result = join(mod(a, b));
    else
      result = extremum(e.kind(), a, b);
    break;
  }
  }
  if (result.isUndefined())
    result = e;
  simplified[e] = result;
  return result;
}

/// Replaces dims of extent 1 by 0, their only index.
static Expr dropUnitDims(const Expr &e, const std::vector<Expr> &extents) {
  auto isUnit = [&](const Expr &leaf) {
    return leaf.asDim() && *leaf.asDim() < extents.size() &&
           extents[*leaf.asDim()].isConstant(1);
  };
  if (!e.hasDims() ||
      std::none_of(extents.begin(), extents.end(),
                   [](const Expr &x) { return x.isConstant(1); }))
    return e;
  Expr result = e.substitute([&](const Expr &leaf) {
    return isUnit(leaf) ? std::optional<Expr>(Expr()) : std::nullopt;
  });
  return result.isUndefined() ? e : result;
}

bool ExprSolver::hasValue(const Expr &e) {
  if (ExprBuilder::compounds(e) == 0)
    return true;
  if (!step())
    return false;
  if (e.kind() == Expr::Kind::FloorDiv || e.kind() == Expr::Kind::Mod) {
    const Expr &divisor = e.operands()[1];
    if (!positive(divisor) && !positive(-divisor))
      return false;
  }
  return std::all_of(e.operands().begin(), e.operands().end(),
                     [&](const Expr &operand) { return hasValue(operand); });
}

Expr ExprSolver::simplify(const Expr &e) {
  Expr current = dropUnitDims(e, extents);
  // One pass is nearly always enough, but a rewrite near the root can enable
  // another one further down.
  for (unsigned i = 0; i < 8; ++i) {
    Expr next = simplifyOnce(current);
    if (next == current)
      break;
    current = next;
  }
  return current;
}

Expr Assumptions::simplify(const Expr &e) const {
  if (ExprBuilder::compounds(e) == 0 || e.isUndefined())
    return dropUnitDims(e, extents);
  std::optional<SimplifyQuery> query;
  if (keepsSimplified()) {
    query.emplace(e, extents, symbols);
    if (std::optional<Expr> known = findSimplified(*query))
      return *known;
  }
  ExprSolver solver(symbols, extents);
  Expr result = solver.hasValue(e) ? solver.simplify(e) : e;
  if (query)
    keepSimplified(std::move(*query), result);
  return result;
}

std::optional<bool> Assumptions::equal(const Expr &a, const Expr &b) const {
  if (a.isUndefined() || b.isUndefined())
    return std::nullopt;
  if (a == b)
    return true;
  ExprSolver solver(symbols, extents);
  Expr difference = solver.simplify(a - b);
  if (std::optional<int64_t> value = difference.asConstant())
    return *value == 0;
  if (solver.simplify(a) == solver.simplify(b))
    return true;
  if (solver.atLeastByCases(difference, 1) ||
      solver.atLeastByCases(-difference, 1))
    return false;
  return std::nullopt;
}

bool Assumptions::provablyNonNegative(const Expr &e) const {
  if (e.isUndefined())
    return false;
  ExprSolver solver(symbols, extents);
  // Most queries are decided by the interval alone.
  return solver.interval(e).lo >= 0 ||
         solver.atLeastByCases(solver.simplify(e), 0);
}

std::optional<int64_t> Assumptions::lowerBound(const Expr &e) const {
  if (e.isUndefined())
    return std::nullopt;
  ExprSolver solver(symbols, extents);
  return solver.lowerByCases(solver.simplify(e));
}

std::optional<int64_t> Assumptions::upperBound(const Expr &e) const {
  if (e.isUndefined())
    return std::nullopt;
  ExprSolver solver(symbols, extents);
  std::optional<int64_t> low = solver.lowerByCases(-solver.simplify(e));
  return low && *low != INT64_MIN ? std::optional<int64_t>(-*low)
                                  : std::nullopt;
}
