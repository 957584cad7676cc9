//===- IndexMapsTest.cpp - Index maps against enumeration -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Composed and inverted maps are checked at every index of every size that the
// symbols allow.
//
//===----------------------------------------------------------------------===//

#include "luminal/Dialect/LLIR/Utils/IndexMaps.h"
#include "Points.h"
#include "PrintExpr.h"
#include "luminal/Dialect/LLIR/IR/LLIR.h"
#include "gtest/gtest.h"
#include <numeric>
#include <random>

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;
using namespace luminal::test;
using luminal::hlir::MapAttr;

namespace {

using Extents = std::vector<Expr>;

Expr d(unsigned i) { return Expr::dim(i); }
Expr s() { return Expr::symbol("s"); }
Expr t() { return Expr::symbol("t"); }

class IndexMaps : public testing::Test {
protected:
  IndexMaps() { context.loadDialect<hlir::HLIRDialect, LLIRDialect>(); }

  MapAttr map(unsigned rank, std::vector<Expr> results) {
    return MapAttr::get(&context, rank, results);
  }

  static std::vector<int64_t> apply(MapAttr map, const Values &values,
                                    const std::vector<int64_t> &index) {
    std::vector<int64_t> result;
    for (const Expr &e : map.getResults()) {
      std::optional<int64_t> value = e.evaluate(lookUp(values), index);
      EXPECT_TRUE(value) << e.str();
      result.push_back(value.value_or(-1));
    }
    return result;
  }

  static std::string text(MapAttr map) {
    std::string text;
    for (const Expr &e : map.getResults())
      text += (text.empty() ? "" : ", ") + e.str();
    return text;
  }

  /// `inverse` inverts `map` at every index of the domain, and its results are
  /// in range.
  void expectInverse(MapAttr map, MapAttr inverse, const Extents &domain) {
    bool ok = true;
    forEachPoint(withExtents(symbols, domain),
                 [&](const Values &values, const std::vector<int64_t> &index) {
                   if (ok && apply(inverse, values,
                                   apply(map, values, index)) != index) {
                     ok = false;
                     ADD_FAILURE() << "(" << text(inverse)
                                   << ") does not invert (" << text(map) << ")";
                   }
                 });
  }

  MLIRContext context;
  Assumptions symbols{{{"s", {1, 4}}, {"t", {1, 3}}}};
};

TEST_F(IndexMaps, Compose) {
  std::mt19937 rng(3);
  auto pick = [&](int lo, int hi) {
    return std::uniform_int_distribution<int>(lo, hi)(rng);
  };
  for (int round = 0; round < 80; ++round) {
    Extents domain = {s(), 2 + round % 3, t() * 2};
    auto random = [&](unsigned rank) {
      std::vector<Expr> results;
      for (int i = 0, count = pick(1, 3); i < count; ++i) {
        Expr e = d(pick(0, rank - 1)) * pick(1, 3) + d(pick(0, rank - 1));
        if (pick(0, 1))
          e = Expr::floorDiv(e, pick(0, 1) ? Expr(pick(1, 3)) : s());
        else if (pick(0, 1))
          e = Expr::mod(e, pick(0, 1) ? Expr(pick(1, 3)) : t());
        results.push_back(e);
      }
      return map(rank, results);
    };
    MapAttr first = random(3);
    MapAttr next = random(first.getResults().size());
    MapAttr both = compose(first, next, domain, symbols);
    forEachPoint(withExtents(symbols, domain),
                 [&](const Values &values, const std::vector<int64_t> &index) {
                   ASSERT_EQ(apply(both, values, index),
                             apply(next, values, apply(first, values, index)))
                       << text(first) << " then " << text(next) << " is "
                       << text(both);
                 });
  }
}

TEST_F(IndexMaps, ReshapesAndPermutationsInvert) {
  struct Shape {
    Extents domain, range;
  };
  const Shape reshapes[] = {
      {{6}, {2, 3}},
      {{2, 3, 4}, {6, 4}},
      {{4, 6}, {3, 8}},
      {{s(), 6}, {s(), 2, 3}},
      {{s() * 4}, {s(), 4}},
      {{s() * t(), 2}, {s(), t(), 2}},
      {{2, s(), 3}, {2 * s(), 3}},
      {{1, s()}, {s(), 1}},
      {{2, 3, s()}, {6 * s()}},
  };
  for (const Shape &shape : reshapes)
    for (bool turned : {false, true}) {
      const Extents &from = turned ? shape.range : shape.domain;
      const Extents &to = turned ? shape.domain : shape.range;
      MapAttr reshape = getReshape(&context, from, to, symbols);
      std::optional<MapAttr> inverse = invert(reshape, from, to, symbols);
      ASSERT_TRUE(inverse) << text(reshape);
      expectInverse(reshape, *inverse, from);
      std::optional<Expr> offset =
          getContiguousOffset(reshape, from, to, symbols);
      ASSERT_TRUE(offset) << text(reshape);
      EXPECT_EQ(*offset, Expr(0));
    }

  // Every order of three dims, alone and before a merge of the last two.
  std::vector<unsigned> order = {0, 1, 2};
  Extents domain = {s(), 3, t()};
  do {
    std::vector<Expr> results;
    Extents range;
    for (unsigned i : order) {
      results.push_back(d(i));
      range.push_back(domain[i]);
    }
    MapAttr turn = map(3, results);
    std::optional<MapAttr> inverse = invert(turn, domain, range, symbols);
    ASSERT_TRUE(inverse) << text(turn);
    expectInverse(turn, *inverse, domain);
    Extents merged = {range[0], range[1] * range[2]};
    MapAttr both = compose(turn, getReshape(&context, range, merged, symbols),
                           domain, symbols);
    inverse = invert(both, domain, merged, symbols);
    ASSERT_TRUE(inverse) << text(both);
    expectInverse(both, *inverse, domain);
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_F(IndexMaps, WhatIsNoBijectionDoesNotInvert) {
  auto fails = [&](MapAttr map, Extents domain, Extents range) {
    EXPECT_FALSE(invert(map, domain, range, symbols)) << text(map);
  };
  fails(map(2, {d(0)}), {2, 3}, {2});                  // repeats
  fails(map(1, {d(0)}), {2}, {3});                     // a part
  fails(map(1, {d(0) + 1}), {2}, {2});                 // shifted out
  fails(map(2, {d(0), d(0)}), {3, 3}, {3, 3});         // a diagonal
  fails(map(1, {d(0) * 2}), {3}, {6});                 // every other one
  fails(map(1, {Expr::mod(d(0), 2)}), {4}, {4});       // wraps
  fails(map(2, {d(0) + d(1)}), {2, 2}, {4});           // overlaps
  fails(map(1, {d(0)}), {s()}, {t()});                 // of other sizes
  fails(map(2, {d(1), d(0)}), {s(), t()}, {s(), t()}); // extents swapped
  fails(map(1, {Expr::floorDiv(d(0), s()), Expr::mod(d(0), s())}), {s() * t()},
        {s(), t()}); // the digits are of the other radix
}

TEST_F(IndexMaps, ContiguousOffset) {
  auto offset = [&](MapAttr map, Extents domain, Extents range) {
    std::optional<Expr> found =
        getContiguousOffset(map, domain, range, symbols);
    if (!found)
      return std::string("none");
    // Checked point by point: neighbours stay neighbours.
    forEachPoint(
        withExtents(symbols, domain),
        [&](const Values &values, const std::vector<int64_t> &index) {
          auto linear = [&](const std::vector<int64_t> &at, const Extents &of) {
            int64_t position = 0;
            for (size_t i = 0; i < at.size(); ++i)
              position = position * *of[i].evaluate(lookUp(values)) + at[i];
            return position;
          };
          EXPECT_EQ(linear(apply(map, values, index), range),
                    linear(index, domain) + *found->evaluate(lookUp(values)));
        });
    return found->str();
  };
  EXPECT_EQ(offset(map(2, {d(0), d(1)}), {s(), 4}, {s(), 4}), "0");
  EXPECT_EQ(offset(map(2, {d(0) + 2, d(1)}), {1, 4}, {3, 4}), "8");
  EXPECT_EQ(offset(map(1, {2, d(0)}), {s()}, {3, s()}), "2 * s");
  EXPECT_EQ(offset(map(2, {d(0), d(1)}), {3, 2}, {3, 4}), "none");
  EXPECT_EQ(offset(map(2, {d(1), d(0)}), {3, 2}, {2, 3}), "none");
  EXPECT_EQ(offset(map(2, {d(0) + 1, d(1)}), {s(), 4}, {s() + 1, 4}), "4");
  EXPECT_EQ(offset(map(2, {d(0)}), {2, 1}, {2}), "0");
}

TEST_F(IndexMaps, Sizes) {
  EXPECT_TRUE(haveSameSize({s(), 6}, {2, s() * 3}, symbols));
  EXPECT_FALSE(haveSameSize({s(), 6}, {t(), 6}, symbols));
  EXPECT_TRUE(areEqual({s() + s()}, {2 * s()}, symbols));
  EXPECT_FALSE(areEqual({s()}, {s(), 1}, symbols));
  EXPECT_FALSE(areEqual({s()}, {t()}, symbols));
}

} // namespace
