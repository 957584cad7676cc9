//===- AssumptionsTest.cpp - Simplification and bounds, enumerated --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random expressions, reshapes and views over small extents and symbols are
// evaluated at every point of their assumptions, before and after
// simplification.
//
//===----------------------------------------------------------------------===//

#include "Points.h"
#include "PrintExpr.h"
#include "Rounds.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <random>

using namespace luminal;
using namespace luminal::test;

namespace {

Expr d(unsigned i) { return Expr::dim(i); }
Expr s(const char *name) { return Expr::symbol(name); }

/// Checks that `simplified` is equal to `e` wherever e has a value.
void expectEqualEverywhere(const Assumptions &assumptions, const Expr &e,
                           const Expr &simplified) {
  bool ok = true;
  forEachPoint(assumptions, [&](const Values &values,
                                const std::vector<int64_t> &dims) {
    if (!ok)
      return;
    // No value where there was none: a division by zero must not be hidden.
    std::optional<int64_t> expected = e.evaluate(lookUp(values), dims);
    std::optional<int64_t> found = simplified.evaluate(lookUp(values), dims);
    if (found == expected)
      return;
    ok = false;
    std::string where;
    for (const auto &[name, value] : values)
      where += name + " = " + std::to_string(value) + " ";
    for (int64_t dim : dims)
      where += std::to_string(dim) + " ";
    std::string space;
    for (const Expr &extent : assumptions.getExtents())
      space += extent.str() + ", ";
    ADD_FAILURE() << e.str() << " became " << simplified.str() << " over ["
                  << space << "] at " << where << ": expected "
                  << (expected ? std::to_string(*expected) : "nothing")
                  << ", found " << (found ? std::to_string(*found) : "nothing");
  });
}

Assumptions assumptions(std::vector<Expr> extents = {}) {
  return Assumptions({{"a", {1, 4}}, {"b", {0, 3}}, {"n", {2, std::nullopt}}},
                     std::move(extents));
}

/// Ranges of symbols that are values, as an integer argument is.
Assumptions signedAssumptions(std::vector<Expr> extents = {}) {
  return Assumptions({{"a", {-3, 2}}, {"b", {-4, -1}}, {"n", {-2, 3}}},
                     std::move(extents));
}

std::string simplified(const Assumptions &assumptions, const char *text) {
  std::optional<Expr> e = Expr::parse(text);
  if (!e)
    return "does not parse";
  Expr result = assumptions.simplify(*e);
  expectEqualEverywhere(assumptions, *e, result);
  EXPECT_EQ(assumptions.simplify(result), result) << "not idempotent: " << text;
  return result.str();
}

} // namespace

TEST(Assumptions, FloorDivAndMod) {
  Assumptions sc({{"b", {0, {}}}, {"s", {0, {}}}}, {s("b"), s("s"), Expr(12)});
  EXPECT_EQ(simplified(sc, "(d0 * s + d1) floordiv s"), "d0");
  EXPECT_EQ(simplified(sc, "(d0 * s + d1) mod s"), "d1");
  EXPECT_EQ(simplified(sc, "(d2 floordiv 4) * 4 + d2 mod 4"), "d2");
  EXPECT_EQ(simplified(sc, "(d0 floordiv 7) * 7 + d0 mod 7"), "d0");
  EXPECT_EQ(simplified(sc, "(d0 floordiv s) * s + d0 mod s"), "d0");
  EXPECT_EQ(simplified(sc, "d0 - 7 * (d0 floordiv 7)"), "d0 mod 7");
  EXPECT_EQ(simplified(sc, "(d0 floordiv 3) floordiv 4"), "d0 floordiv 12");
  EXPECT_EQ(simplified(sc, "(d0 mod 12) floordiv 4"), "(d0 floordiv 4) mod 3");
  EXPECT_EQ(simplified(sc, "(d0 mod 12) mod 4"), "d0 mod 4");
  EXPECT_EQ(simplified(sc, "(d0 * 12 + d2) mod 4"), "d2 mod 4");
  EXPECT_EQ(simplified(sc, "(2 * d0 + d2 floordiv 6) mod 8"),
            "d2 floordiv 6 + 2 * (d0 mod 4)");
  EXPECT_EQ(simplified(sc, "((d0 floordiv 3) mod 4) * 3 + d0 mod 3"),
            "d0 mod 12");
  EXPECT_EQ(simplified(sc, "(d0 floordiv 12) * 12 + ((d0 floordiv 3) mod 4) * "
                           "3 + d0 mod 3"),
            "d0");
  EXPECT_EQ(simplified(sc, "d0 floordiv 4 - 3 * (d0 floordiv 12)"),
            "(d0 floordiv 4) mod 3");
  EXPECT_EQ(simplified(sc, "(d2 + 12 * d1 + 12 * s * d0) floordiv (12 * s)"),
            "d0");
  EXPECT_EQ(simplified(sc, "(d2 + 12 * d1 + 12 * s * d0) floordiv 12 mod s"),
            "d1");
  EXPECT_EQ(simplified(sc, "max(d2, 20)"), "20");
  EXPECT_EQ(simplified(sc, "min(max(d2, 0), 11)"), "d2");
  EXPECT_EQ(simplified(sc, "min(d1, s - 1)"), "d1");
  EXPECT_EQ(simplified(sc, "max(d1 - s, -1)"), "-1");
}

// A dim of extent 1 is its only index.
TEST(Assumptions, DimsOfExtentOne) {
  Assumptions sc({}, {Expr(1), s("a"), Expr(1)});
  EXPECT_EQ(simplified(sc, "d0"), "0");
  EXPECT_EQ(simplified(sc, "3 * d2 + d1"), "d1");
  EXPECT_EQ(simplified(sc, "(d0 + d1) floordiv a"), "0");
}

TEST(Assumptions, SumsAsDivisors) {
  Assumptions sc({{"s", {0, {}}}, {"t", {0, {}}}}, {s("t"), s("s") + Expr(1)});
  EXPECT_EQ(simplified(sc, "(d0 * (s + 1) + d1) floordiv (s + 1)"), "d0");
  EXPECT_EQ(simplified(sc, "(d0 * (s + 1) + d1) mod (s + 1)"), "d1");
  EXPECT_EQ(simplified(sc, "s floordiv (s + 1)"), "0");
  EXPECT_EQ(simplified(sc, "((s + 1) * 6) floordiv (2 * s + 2)"), "3");
  EXPECT_EQ(simplified(sc, "d0 mod (s + 1) + (d0 floordiv (s + 1)) * (s + 1)"),
            "d0");
}

TEST(Assumptions, SizesWithoutDims) {
  Assumptions sc({{"s", {1, 4096}}, {"b", {0, {}}}});
  EXPECT_EQ(simplified(sc, "(b * s * 64) floordiv s"), "64 * b");
  // The two spellings of a rounded-up quotient.
  EXPECT_EQ(simplified(sc, "s ceildiv 4"), "(s + 3) floordiv 4");
  EXPECT_EQ(simplified(sc, "(s - 1) floordiv 4 + 1"), "(s + 3) floordiv 4");
  EXPECT_EQ(simplified(sc, "s floordiv 5000"), "0");
  EXPECT_EQ(sc.equal(s("s"), s("b")), std::nullopt);
  EXPECT_EQ(sc.equal(s("s"), Expr(0)), false);
  EXPECT_EQ(sc.equal(s("s"), Expr(4097)), false);
  EXPECT_EQ(sc.equal(s("s") * Expr(2), s("s") + s("s")), true);
  EXPECT_EQ(sc.lowerBound(s("s")), 1);
  EXPECT_EQ(sc.upperBound(s("s")), 4096);
  EXPECT_EQ(sc.upperBound(s("b")), std::nullopt);
  // s * b - s - b + 1 = (s - 1) * (b - 1), negative at b = 0.
  EXPECT_FALSE(sc.provablyNonNegative(s("s") * s("b") - s("s") - s("b") + 1));
  Assumptions both({{"s", {1, {}}}, {"b", {1, {}}}});
  EXPECT_TRUE(both.provablyNonNegative(s("s") * s("b") - s("s") - s("b") + 1));
  EXPECT_TRUE(both.provablyNonNegative(s("s") * s("s") - s("s")));
  EXPECT_TRUE(sc.provablyLess(Expr::mod(s("b"), 7), 7));
  EXPECT_TRUE(
      sc.provablyLessEqual(Expr(2) * Expr::floorDiv(s("b"), 2), s("b")));
  EXPECT_TRUE(sc.provablyLessEqual(Expr::floorDiv(s("b"), 2),
                                   Expr::floorDiv(s("b") + 1, 2)));
}

// Queries of convolutions, pools and slices after strided ops.
TEST(Assumptions, ExtentsAfterStrides) {
  Assumptions sc({{"s", {8, 64}}, {"t", {20, {}}}, {"u", {0, 300}}});
  auto proves = [&](const char *low, const char *high) {
    std::optional<Expr> a = Expr::parse(low), b = Expr::parse(high);
    EXPECT_TRUE(a && b && sc.provablyLessEqual(*a, *b))
        << low << " <= " << high;
  };
  proves("1", "s floordiv 2");
  proves("4", "s floordiv 2");
  proves("2", "((s + 1) floordiv 2 + 1) floordiv 2");
  proves("1", "((s - 3) floordiv 2 - 1) floordiv 2 + 1");
  proves("0", "s floordiv 2 - 1");
  proves("s floordiv 4", "s floordiv 2");
  proves("2 * (s floordiv 3)", "s");
  proves("s floordiv 3 + s floordiv 5", "s floordiv 2 + 4");
  // Without an upper end of the range.
  proves("1", "t floordiv 20");
  proves("t floordiv 4", "t floordiv 2");
  proves("t floordiv 3 + t floordiv 7", "t floordiv 2 + 1");
  proves("t floordiv 20 - 1", "max(t floordiv 20 - 1, 0)");
  proves("max(t floordiv 20 - 1, 0)", "t floordiv 20 - 1");
  proves("t mod 7", "6");
  proves("t mod 7", "t floordiv 3");
  // Where only a search over cases decides.
  proves("u mod 5 + 5 * (u floordiv 5)", "u");
  proves("(s mod 4) * (s mod 4)", "3 * (s mod 4)");
  proves("min(s, 20) floordiv 3", "(s + 4) floordiv 3");
  proves("max(s - 30, 0) * min(s - 30, 0)", "0");
  EXPECT_EQ(simplified(sc, "max(t floordiv 20 - 1, 0)"), "t floordiv 20 - 1");
  EXPECT_EQ(simplified(sc, "min((s + 1) floordiv 2, 80)"),
            "(s + 1) floordiv 2");
  EXPECT_EQ(sc.lowerBound(Expr::floorDiv(s("s"), 3)), 2);
  EXPECT_EQ(sc.upperBound(Expr::floorDiv(s("s"), 3)), 21);
  EXPECT_EQ(sc.equal(Expr::floorDiv(s("s"), 2), Expr(3)), false);
  // False at one point only, and so not proved.
  EXPECT_FALSE(sc.provablyLess(Expr::floorDiv(s("s"), 2), 32));
  EXPECT_FALSE(sc.provablyLess(Expr::mod(s("u"), 299), 298));
}

// Digits of a number in another order, of which simplification keeps quotients
// with coefficients of either sign: 48 * (d0 floordiv 1024) - 575 * (d0
// floordiv 12288) + ... .
TEST(Assumptions, DigitsInAnotherOrderStayInRange) {
  for (const Expr &outer : {Expr(2), s("b")}) {
    const std::vector<Expr> extents = {outer, 48, 12, 1024};
    std::map<std::string, SymbolRange> symbols = {{"b", {1, {}}}};
    Assumptions sc(symbols, {product(extents)});
    const std::vector<Expr> digits = delinearize(d(0), extents);
    std::vector<unsigned> order = {0, 1, 2, 3};
    do {
      for (size_t begin = 0; begin < 4; ++begin) {
        std::vector<Expr> index, range;
        for (size_t i = begin; i < 4; ++i) {
          index.push_back(digits[order[i]]);
          range.push_back(extents[order[i]]);
        }
        Expr e = sc.simplify(linearize(index, range));
        EXPECT_TRUE(sc.provablyNonNegative(e)) << e.str();
        EXPECT_TRUE(sc.provablyLess(e, product(range))) << e.str();
        // One less, and it is not proved.
        EXPECT_FALSE(sc.provablyLess(e, product(range) - Expr(1))) << e.str();
        EXPECT_FALSE(sc.provablyLess(Expr(0), e)) << e.str();
      }
    } while (std::next_permutation(order.begin(), order.end()));
  }
}

// A query without an answer costs no more than the limits: counted in
// expressions, each of which takes a bounded number of steps.
TEST(Assumptions, HardQuestionsEnd) {
  Assumptions sc({{"a", {1, {}}}, {"b", {1, {}}}, {"c", {1, 1 << 20}}});
  Expr e;
  for (unsigned i = 2; i < 40; ++i)
    e = Expr::floorDiv(Expr::max(e * s("a") - s("b"), s("c") * Expr(i)),
                       Expr::mod(s("c"), i) + Expr(1)) -
        Expr::min(e, s("b") * s("c"));
  sc.provablyNonNegative(e);
  sc.lowerBound(e);
  sc.equal(e, s("a"));
}

// An extent that only a relation of symbols keeps positive.
TEST(Assumptions, RelationsFromExtents) {
  Assumptions sc({{"s", {0, 5}}, {"t", {0, 5}}}, {s("s") - s("t"), Expr(3)});
  EXPECT_TRUE(sc.provablyLess(s("t"), s("s")));
  EXPECT_EQ(simplified(sc, "(d1 * (s - t) + d0) floordiv (s - t)"), "d1");
}

TEST(Assumptions, LinearizeAndDelinearizeAreInverse) {
  std::vector<Expr> extents = {s("b"), s("s"), s("h"), Expr(64)};
  Assumptions sc({{"b", {0, {}}}, {"s", {0, {}}}, {"h", {0, {}}}}, extents);
  std::vector<Expr> index = {d(0), d(1), d(2), d(3)};
  std::vector<Expr> back = delinearize(linearize(index, extents), extents);
  for (unsigned i = 0; i < 4; ++i)
    EXPECT_EQ(sc.simplify(back[i]), d(i));
  Assumptions flat(sc.getSymbols(), {product(extents)});
  EXPECT_EQ(flat.simplify(linearize(delinearize(d(0), extents), extents)),
            d(0));
}

/// The map of a row-major reshape: an index of `to` to one of `from`.
static std::vector<Expr>
reshape(const std::vector<Expr> &from, const std::vector<Expr> &to,
        const std::map<std::string, SymbolRange> &symbols) {
  std::vector<Expr> index;
  for (unsigned i = 0; i < to.size(); ++i)
    index.push_back(d(i));
  std::vector<Expr> result = delinearize(linearize(index, to), from);
  for (Expr &e : result)
    e = Assumptions(symbols, to).simplify(e);
  return result;
}

static std::vector<Expr> compose(const std::vector<Expr> &outer,
                                 const std::vector<Expr> &inner,
                                 const Assumptions &sc) {
  std::vector<Expr> result;
  for (const Expr &e : inner)
    result.push_back(sc.simplify(e.substituteDims(outer)));
  return result;
}

// Merge, split and both, with symbolic extents: there and back is the identity.
TEST(Assumptions, ReshapesOfSymbolicDimsAreExact) {
  Expr b = s("b"), q = s("q"), h = s("h"), n = s("q") + Expr(1);
  std::map<std::string, SymbolRange> symbols = {
      {"b", {0, 3}}, {"q", {0, 3}}, {"h", {0, 3}}};
  struct Case {
    std::vector<Expr> from, to;
  };
  std::vector<Case> cases = {
      {{b, q, h * 6}, {b * q, h, 6}},
      {{b, q, h * 6}, {b, q, h, 6}},
      {{b, q, h}, {b * q * h}},
      {{b, q, h}, {b, q * h}},
      {{b, q, h}, {b * q, h}},
      {{b * q, h}, {b, q * h}},
      {{b, h, q, 4}, {b * h, q, 4}},
      {{b, n, 6}, {b * n, 2, 3}},
      {{b, n, 6}, {b, n * 6}},
      {{b, n * 2, 3}, {b, n, 6}},
      {{n, n}, {n * n}},
      {{b, q}, {b, 1, q, 1}},
      {{Expr(6), q, 4}, {Expr(2), 3, q, 2, 2}},
      {{Expr(12)}, {Expr(3), 4}},
      {{Expr(6), 4}, {Expr(4), 6}},
      {{b, 6, 4}, {b, 4, 6}},
      {{b * 6, q}, {b * 2, 3 * q}},
      {{q * 4, 3}, {q, 12}},
      {{q * 4, 3}, {q * 2, 6}},
  };
  for (const Case &c : cases) {
    std::vector<Expr> forth = reshape(c.from, c.to, symbols);
    std::vector<Expr> back = reshape(c.to, c.from, symbols);
    std::vector<Expr> there =
        compose(back, forth, Assumptions(symbols, c.from));
    for (unsigned i = 0; i < there.size(); ++i)
      EXPECT_EQ(there[i], Assumptions(symbols, c.from).simplify(d(i)));
    std::vector<Expr> again = compose(forth, back, Assumptions(symbols, c.to));
    for (unsigned i = 0; i < again.size(); ++i)
      EXPECT_EQ(again[i], Assumptions(symbols, c.to).simplify(d(i)));
    // And the map is right: checked point by point.
    std::vector<Expr> index;
    for (unsigned i = 0; i < c.to.size(); ++i)
      index.push_back(d(i));
    std::vector<Expr> plain = delinearize(linearize(index, c.to), c.from);
    for (unsigned i = 0; i < plain.size(); ++i)
      expectEqualEverywhere(Assumptions(symbols, c.to), plain[i], forth[i]);
    // It stays inside, as the verifier of a view requires.
    for (unsigned i = 0; i < forth.size(); ++i) {
      EXPECT_TRUE(Assumptions(symbols, c.to).provablyNonNegative(forth[i]));
      EXPECT_TRUE(Assumptions(symbols, c.to).provablyLess(forth[i], c.from[i]))
          << forth[i].str() << " < " << c.from[i].str();
    }
  }
}

//===----------------------------------------------------------------------===//
// Random
//===----------------------------------------------------------------------===//

namespace {
struct Generator {
  std::mt19937 random;
  explicit Generator(unsigned seed) : random(seed) {}

  int64_t pick(int64_t lo, int64_t hi) {
    return lo + int64_t(random() % uint64_t(hi - lo + 1));
  }

  Expr extent() {
    switch (pick(0, 5)) {
    case 0:
      return s("a");
    case 1:
      return s("b");
    case 2:
      return s("a") * Expr(pick(1, 3));
    case 3:
      return s("b") + Expr(pick(1, 2));
    default:
      return Expr(pick(1, 6));
    }
  }

  Expr divisor() {
    switch (pick(0, 7)) {
    case 0:
      return s("a");
    case 1:
      return s("a") * s("n");
    case 2:
      return s("b") + Expr(1);
    case 3:
      return s("n");
    case 4:
      return s("a") * Expr(pick(2, 4));
    default:
      return Expr(pick(1, 8));
    }
  }

  Expr expression(unsigned depth, unsigned rank) {
    if (depth == 0 || pick(0, 7) == 0) {
      switch (pick(0, 3)) {
      case 0:
        return Expr(pick(-6, 12));
      case 1:
        return s(std::vector<const char *>{"a", "b", "n"}[size_t(pick(0, 2))]);
      default:
        return rank ? d(unsigned(pick(0, rank - 1))) : s("a");
      }
    }
    auto sub = [&] { return expression(depth - 1, rank); };
    switch (pick(0, 11)) {
    case 0:
    case 1:
    case 2:
      return sub() + sub();
    case 3:
      return sub() - sub();
    case 4:
      return sub() * Expr(pick(-4, 6));
    case 5:
      return sub() * divisor();
    case 6:
    case 7:
      return Expr::floorDiv(sub(), divisor());
    case 8:
    case 9:
      return Expr::mod(sub(), divisor());
    case 10:
      return Expr::max(sub(), sub());
    default:
      return pick(0, 3) ? Expr::min(sub(), sub())
                        : Expr::floorDiv(sub(), sub());
    }
  }

  /// Floordiv, mod, max and min in each other and in sums and products, most of
  /// them of one symbol that enters several times.
  Expr composition(unsigned depth, unsigned rank) {
    if (depth == 0) {
      Expr leaf = rank && pick(0, 2) == 0 ? d(unsigned(pick(0, rank - 1)))
                  : pick(0, 2)            ? s("a")
                                          : s("b");
      return pick(0, 1) ? leaf : leaf + Expr(pick(-2, 4));
    }
    auto sub = [&] { return composition(depth - 1, rank); };
    auto by = [&] { return pick(0, 3) ? Expr(pick(2, 5)) : s("n"); };
    switch (pick(0, 9)) {
    case 0:
    case 1:
    case 2:
      return Expr::floorDiv(sub(), by());
    case 3:
      return Expr::mod(sub(), by());
    case 4:
      return Expr::max(sub(), sub());
    case 5:
      return Expr::min(sub(), sub());
    case 6:
      return sub() + sub();
    case 7:
      return sub() - sub();
    case 8:
      return sub() * Expr(pick(-2, 3));
    default:
      return sub() * composition(0, rank);
    }
  }
};
} // namespace

/// What a sanitized build simplifies expressions to, the release build checks.
static unsigned getSeeds(unsigned all) {
  return unsigned(countRounds(all / 2, all / 5));
}

TEST(AssumptionsRandom, SimplifyIsEqualIdempotentAndReparses) {
  for (unsigned seed = 0; seed < getSeeds(4500) && !HasFailure(); ++seed) {
    const bool isSigned = seed % 3 == 2;
    Generator g(seed);
    std::vector<Expr> extents;
    unsigned rank = unsigned(g.pick(0, 3));
    for (unsigned i = 0; i < rank; ++i)
      extents.push_back(g.extent());
    Assumptions sc =
        isSigned ? signedAssumptions(extents) : assumptions(extents);
    Expr e = g.expression(unsigned(g.pick(1, 5)), rank);
    if (e.isUndefined())
      continue;
    Expr result = sc.simplify(e);
    expectEqualEverywhere(sc, e, result);
    EXPECT_EQ(sc.simplify(result), result)
        << "not idempotent, seed " << seed << ": " << e.str() << " -> "
        << result.str();
    for (const Expr &printed : {e, result}) {
      std::string error;
      std::optional<Expr> again = Expr::parse(printed.str(), &error);
      ASSERT_TRUE(again) << printed.str() << ": " << error;
      EXPECT_EQ(*again, printed) << printed.str();
    }
  }
}

// A bound below int64_t is no bound, and adding to it does not make it one.
TEST(Assumptions, WhatOverflowsHasNoBound) {
  Assumptions sc({{"n", {0, 6}}}, {s("n") * 3});
  Expr low = d(0) * Expr(-(int64_t(1) << 60));
  EXPECT_FALSE(sc.lowerBound(low));
  EXPECT_FALSE(sc.lowerBound(low + d(0) * d(0)));
  EXPECT_FALSE(sc.upperBound(-low));
  EXPECT_EQ(sc.upperBound(low), 0);
}

TEST(AssumptionsRandom, BoundsHold) {
  for (unsigned seed = 0; seed < getSeeds(2250) && !HasFailure(); ++seed) {
    const bool isSigned = seed % 3 == 2;
    Generator g(seed + 1000000);
    std::vector<Expr> extents;
    unsigned rank = unsigned(g.pick(0, 3));
    for (unsigned i = 0; i < rank; ++i)
      extents.push_back(g.extent());
    Assumptions sc =
        isSigned ? signedAssumptions(extents) : assumptions(extents);
    Expr e = g.expression(unsigned(g.pick(1, 4)), rank);
    Expr other = g.expression(2, rank);
    std::optional<int64_t> low = sc.lowerBound(e), high = sc.upperBound(e);
    std::optional<bool> equal = sc.equal(e, other);
    bool less = sc.provablyLess(e, other);
    forEachPoint(sc, [&](const Values &values,
                         const std::vector<int64_t> &dims) {
      std::optional<int64_t> value = e.evaluate(lookUp(values), dims);
      std::optional<int64_t> otherValue = other.evaluate(lookUp(values), dims);
      if (!value || !otherValue || testing::Test::HasFailure())
        return;
      if (low)
        EXPECT_LE(*low, *value) << e.str() << " seed " << seed;
      if (high)
        EXPECT_GE(*high, *value) << e.str() << " seed " << seed;
      if (equal)
        EXPECT_EQ(*equal, *value == *otherValue)
            << e.str() << " against " << other.str();
      if (less)
        EXPECT_LT(*value, *otherValue) << e.str() << " < " << other.str();
    });
  }
}

namespace {
/// How often an answer was optimal.
struct Strength {
  unsigned bounds = 0, tight = 0, claims = 0, proved = 0;
};
} // namespace

/// Asks for bounds of random compositions under `known`, and compares with all
/// points in `sampled`, whose ranges are part of those of `known`.
static Strength
judgeCompositions(unsigned seeds, unsigned maxRank,
                  const std::map<std::string, SymbolRange> &known,
                  const std::map<std::string, SymbolRange> &sampled) {
  Strength strength;
  for (unsigned seed = 0; seed < seeds && !testing::Test::HasFailure();
       ++seed) {
    Generator g(seed + 3000000);
    unsigned rank = g.pick(0, 1) ? unsigned(g.pick(0, maxRank)) : 0;
    std::vector<Expr> extents;
    for (unsigned i = 0; i < rank; ++i)
      extents.push_back(g.composition(1, 0));
    Assumptions sc(known, extents);
    Expr e = g.composition(unsigned(g.pick(1, 3)), rank);
    Expr other = g.composition(unsigned(g.pick(1, 2)), rank);
    Expr difference = other - e;
    std::optional<int64_t> least, most, margin;
    forEachPoint(Assumptions(sampled, extents),
                 [&](const Values &values, const std::vector<int64_t> &dims) {
                   auto value = e.evaluate(lookUp(values), dims);
                   auto rest = difference.evaluate(lookUp(values), dims);
                   if (!value || !rest)
                     return;
                   least = std::min(least.value_or(*value), *value);
                   most = std::max(most.value_or(*value), *value);
                   margin = std::min(margin.value_or(*rest), *rest);
                 });
    if (!least)
      continue;
    std::optional<int64_t> low = sc.lowerBound(e), high = sc.upperBound(e);
    EXPECT_LE(low.value_or(*least), *least) << e.str() << " seed " << seed;
    EXPECT_GE(high.value_or(*most), *most) << e.str() << " seed " << seed;
    // The tightest claim that is true at all points, and the first that is not.
    Expr close = other - Expr(*margin);
    EXPECT_FALSE(sc.provablyLess(e, close))
        << e.str() << " < " << close.str() << " seed " << seed;
    strength.bounds += 2;
    strength.tight += (low == least) + (high == most);
    strength.claims += 1;
    strength.proved += sc.provablyLessEqual(e, close);
  }
  return strength;
}

// Floordiv, mod, max and min in each other: no bound is false, and nearly all
// are optimal. The shares are the current ones; less is a regression.
TEST(AssumptionsRandom, BoundsOfCompositionsAreTight) {
  Strength s = judgeCompositions(getSeeds(1000), 2,
                                 {{"a", {1, 9}}, {"b", {0, 4}}, {"n", {2, 4}}},
                                 {{"a", {1, 9}}, {"b", {0, 4}}, {"n", {2, 4}}});
  EXPECT_GE(s.tight * 100, s.bounds * 97);
  EXPECT_GE(s.proved * 100, s.claims * 96);
}

// Ranges too large for a search over cases. (A claim may be true at all sampled
// points, and false further out.)
TEST(AssumptionsRandom, BoundsOverUnboundedRanges) {
  Strength s = judgeCompositions(
      600, 0, {{"a", {8, {}}}, {"b", {2, 100000}}, {"n", {2, 4}}},
      {{"a", {8, 30}}, {"b", {2, 12}}, {"n", {2, 4}}});
  EXPECT_GE(s.tight * 100, s.bounds * 55);
  EXPECT_GE(s.proved * 100, s.claims * 34);
}

// Symbols that are values: negative ones, and any 64 bits hold.
TEST(AssumptionsRandom, BoundsOverNegativeRanges) {
  Strength s = judgeCompositions(
      getSeeds(1000), 2, {{"a", {-5, 3}}, {"b", {-4, 0}}, {"n", {-3, 4}}},
      {{"a", {-5, 3}}, {"b", {-4, 0}}, {"n", {-3, 4}}});
  EXPECT_GE(s.tight * 100, s.bounds * 80);
  for (int64_t near : {INT64_MIN, int64_t(-9), INT64_MAX - 9})
    judgeCompositions(
        getSeeds(400), 0,
        {{"a", {INT64_MIN, INT64_MAX}}, {"b", {INT64_MIN, {}}}, {"n", {-3, 4}}},
        {{"a", {near, near + 8}}, {"b", {near, near + 8}}, {"n", {-3, 4}}});
}

// Chains of reshapes, permutations and slices: the composed and simplified map
// finds the element that the chain finds, and a chain of reshapes that ends
// where it began is the identity.
TEST(AssumptionsRandom, ChainsOfViews) {
  std::map<std::string, SymbolRange> symbols = {
      {"a", {1, 3}}, {"b", {0, 2}}, {"n", {2, 3}}};
  for (unsigned seed = 0; seed < getSeeds(1000) && !HasFailure(); ++seed) {
    Generator g(seed + 2000000);
    // Factors that reshapes group in different ways.
    std::vector<Expr> factors;
    for (unsigned i = 0, n = unsigned(g.pick(2, 4)); i < n; ++i)
      factors.push_back(
          g.pick(0, 2) ? Expr(g.pick(1, 4))
                       : std::vector<Expr>{s("a"), s("b"), s("n"),
                                           s("b") + 1}[size_t(g.pick(0, 3))]);
    auto group = [&] {
      std::vector<Expr> shape;
      for (const Expr &factor : factors) {
        if (shape.empty() || g.pick(0, 1))
          shape.push_back(factor);
        else
          shape.back() = shape.back() * factor;
      }
      return shape;
    };
    std::vector<Expr> first = group(), shape = first, map, plain;
    for (unsigned i = 0; i < first.size(); ++i)
      map.push_back(d(i));
    plain = map;
    auto apply = [&](const std::vector<Expr> &to,
                     const std::vector<Expr> &step) {
      // `step` maps an index of `to` to one of `shape`.
      map = compose(step, map, Assumptions(symbols, to));
      for (Expr &e : plain)
        e = e.substituteDims(step);
      shape = to;
    };
    auto reshapeTo = [&](const std::vector<Expr> &to) {
      std::vector<Expr> index;
      for (unsigned i = 0; i < to.size(); ++i)
        index.push_back(d(i));
      apply(to, delinearize(linearize(index, to), shape));
    };
    bool reshapesOnly = g.pick(0, 1);
    for (unsigned i = 0, n = unsigned(g.pick(1, 3)); i < n; ++i) {
      if (reshapesOnly || g.pick(0, 1)) {
        reshapeTo(reshapesOnly || i == 0 ? group() : shape);
        continue;
      }
      std::vector<Expr> to = shape, step;
      for (unsigned j = 0; j < to.size(); ++j)
        step.push_back(d(j));
      unsigned x = unsigned(g.pick(0, int64_t(to.size()) - 1));
      if (g.pick(0, 1)) {
        unsigned y = unsigned(g.pick(0, int64_t(to.size()) - 1));
        std::swap(to[x], to[y]);
        std::swap(step[x], step[y]);
      } else {
        // Reversed: the last element first.
        step[x] = to[x] - Expr(1) - d(x);
      }
      apply(to, step);
    }
    if (reshapesOnly) {
      reshapeTo(first);
      for (unsigned i = 0; i < map.size(); ++i)
        EXPECT_EQ(map[i], Assumptions(symbols, first).simplify(d(i)))
            << "seed " << seed;
    }
    for (unsigned i = 0; i < map.size(); ++i)
      expectEqualEverywhere(Assumptions(symbols, shape), plain[i], map[i]);
  }
}
