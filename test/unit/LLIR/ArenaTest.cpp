//===- ArenaTest.cpp - No two live values share memory --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Arena.h"
#include "Points.h"
#include "PrintExpr.h"
#include "gtest/gtest.h"
#include <chrono>
#include <random>

using namespace luminal;
using namespace luminal::llir;
using namespace luminal::test;

namespace {

using Requests = std::vector<ArenaRequest>;
using Offsets = llvm::SmallVector<Expr>;

Assumptions symbols() { return Assumptions({{"m", {1, 5}}, {"n", {1, 70}}}); }

/// For all values of symbols: offsets are aligned, all requests are inside, and
/// those with overlapping live ranges are disjoint. Returns the size of the
/// arena where m = 3 and n = 64.
int64_t check(const Requests &requests) {
  Offsets offsets;
  Expr total = packArena(requests, symbols(), offsets);
  EXPECT_EQ(offsets.size(), requests.size());
  int64_t typical = -1;
  forEachPoint(symbols(), [&](const Values &values,
                              const std::vector<int64_t> &) {
    auto valueOf = [&](const Expr &e) {
      std::optional<int64_t> value = e.evaluate(lookUp(values));
      EXPECT_TRUE(value) << e.str();
      return value.value_or(-1);
    };
    int64_t end = valueOf(total);
    if (values.at("m") == 3 && values.at("n") == 64)
      typical = end;
    std::vector<int64_t> begins, ends;
    for (size_t i = 0; i < requests.size(); ++i) {
      begins.push_back(valueOf(offsets[i]));
      ends.push_back(begins[i] + valueOf(requests[i].bytes));
      ASSERT_GE(begins[i], 0);
      ASSERT_EQ(begins[i] % 64, 0) << offsets[i].str();
      ASSERT_LE(ends[i], end) << "request " << i << " at " << offsets[i].str();
      for (size_t k = 0; k < i; ++k) {
        bool together = requests[i].first <= requests[k].last &&
                        requests[k].first <= requests[i].last;
        ASSERT_FALSE(together && begins[i] < ends[k] && begins[k] < ends[i])
            << "requests " << k << " and " << i << " at " << offsets[k].str()
            << " and " << offsets[i].str();
      }
    }
  });
  // Planning again gives the same plan.
  Offsets again;
  EXPECT_EQ(packArena(requests, symbols(), again), total);
  EXPECT_EQ(again, offsets);
  return typical;
}

Expr m() { return Expr::symbol("m"); }
Expr n() { return Expr::symbol("n"); }

TEST(Arena, NothingNeedsNothing) {
  EXPECT_EQ(check({}), 0);
  EXPECT_EQ(check({{0, 0, 3}, {0, 1, 2}}), 0);
}

TEST(Arena, AChainTakesTurns) {
  // Each value is live until the next is computed.
  EXPECT_EQ(check({{64, 0, 1}, {64, 1, 2}, {64, 2, 3}, {64, 3, 4}}), 128);
  EXPECT_EQ(check({{1, 0, 1}, {65, 1, 2}, {1, 2, 3}}), 64 + 128);
  Expr row = n() * 4;
  EXPECT_EQ(check({{row, 0, 1}, {row, 1, 2}, {row, 2, 3}, {row, 3, 4}}), 512);
}

TEST(Arena, AGapIsFilled) {
  // The third reuses the first's memory, beside the second, which is still
  // live.
  EXPECT_EQ(check({{128, 0, 1}, {64, 0, 9}, {64, 2, 3}, {64, 2, 3}}), 192);
}

TEST(Arena, NoSingleOrderIsTheBest) {
  // Two layers of a vision transformer: by decreasing size alone, its many
  // equal values leave gaps beside the two large ones.
  int64_t row = 4352, wide = 10880;
  Requests layers = {
      {4096, 0, 6},  {row, 1, 4},   {row, 2, 5},   {row, 3, 5},
      {row, 4, 5},   {row, 5, 6},   {row, 6, 9},   {row, 7, 8},
      {wide, 8, 9},  {row, 9, 15},  {row, 10, 13}, {row, 10, 10},
      {row, 11, 14}, {row, 12, 14}, {row, 13, 14}, {row, 14, 15},
      {row, 15, 18}, {row, 16, 17}, {row, 16, 16}, {wide, 17, 18},
      {row, 18, 19}, {row, 19, 19}};
  EXPECT_EQ(check(layers), 5 * row);
}

TEST(Arena, AtTheSameTimeMeansApart) {
  EXPECT_EQ(check({{64, 0, 2}, {64, 2, 3}}), 128);
  EXPECT_EQ(check({{64, 0, 1}, {64, 2, 3}}), 64);
  EXPECT_EQ(check({{64, 5, 5}, {64, 5, 5}, {64, 5, 5}}), 192);
}

TEST(Arena, SizesOfOtherSymbolsShareASlot) {
  // Which is larger is known only at run time: the slot fits either.
  EXPECT_EQ(check({{n() * 4, 0, 1}, {m() * 64, 2, 3}}), 256);
  EXPECT_EQ(check({{n() * m() * 4, 0, 1}, {n() * 4, 2, 3}, {100, 4, 5}}), 768);
}

/// Compares of two requests grow with what is live at once, not with the length
/// of the program: 200,000 take a fraction of a second, pairs of them minutes.
TEST(Arena, LongChainsOfKnownAndUnknownSizes) {
  for (Expr bytes : {Expr(64), n() * 4}) {
    Requests requests;
    // A value beside them is live throughout.
    requests.push_back({bytes, 0, 200000});
    for (unsigned i = 0; i < 200000; ++i)
      requests.push_back({bytes, i, i + 1});
    Offsets offsets;
    auto begin = std::chrono::steady_clock::now();
    Expr total = packArena(requests, symbols(), offsets);
    std::chrono::duration<double> took =
        std::chrono::steady_clock::now() - begin;
    EXPECT_LT(took.count(), 20);
    EXPECT_EQ(total.evaluate(lookUp({{"n", 16}})), 3 * 64);
    ASSERT_EQ(offsets.size(), requests.size());
    for (size_t i = 2; i < requests.size(); ++i)
      ASSERT_NE(offsets[i], offsets[i - 1]) << i;
  }
}

TEST(Arena, RandomPlans) {
  std::mt19937 rng(11);
  // Of all plans for known sizes.
  int64_t sumOfTotals = 0, sumOfBounds = 0;
  auto pick = [&](int64_t lo, int64_t hi) {
    return std::uniform_int_distribution<int64_t>(lo, hi)(rng);
  };
  for (int round = 0; round < 60; ++round) {
    bool isStatic = round % 2 == 0;
    Requests requests;
    int64_t most = 0;
    std::vector<int64_t> live(40, 0);
    for (int64_t i = 0, count = pick(1, 14); i < count; ++i) {
      Expr bytes = pick(0, 300);
      if (!isStatic && pick(0, 2) > 0)
        bytes = bytes + (pick(0, 1) ? n() : m() * n()) * pick(1, 16);
      unsigned first = pick(0, 30), last = first + pick(0, 8);
      requests.push_back({bytes, first, last});
      if (isStatic)
        for (unsigned t = first; t <= last; ++t)
          most =
              std::max(most, live[t] += (*bytes.asConstant() + 63) / 64 * 64);
    }
    int64_t total = check(requests);
    // Not below the peak of live bytes, and for known sizes not far above it.
    if (isStatic) {
      EXPECT_EQ(findPeak(requests, symbols()).bytes, most);
      EXPECT_GE(total, most);
      EXPECT_LE(total, 1.1 * most);
      sumOfTotals += total;
      sumOfBounds += most;
    }
    if (testing::Test::HasFailure())
      break;
  }
  EXPECT_LE(sumOfTotals, 1.002 * sumOfBounds);
}

} // namespace
