//===- CutsTest.cpp - Cuts from recorded answers --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Search/Cuts.h"
#include <gtest/gtest.h>

using namespace luminal;
using namespace luminal::search;

namespace {
std::string str(const std::vector<SymbolRange> &ranges) {
  std::string text;
  for (const SymbolRange &range : ranges)
    text += (text.empty() ? "" : " ") + std::to_string(range.lo) + ".." +
            (range.hi ? std::to_string(*range.hi) : "");
  return text;
}

/// A program for small sizes is worth it up to `low`, one for great sizes from
/// `high` on, one for the least size where `one`.
std::string find(SymbolRange range, bool one, int64_t low, int64_t high) {
  int asked = 0;
  auto found = findCuts(range, [&](const SymbolRange &of, int64_t at) {
    ++asked;
    EXPECT_TRUE(of.lo <= at && (!of.hi || at <= *of.hi));
    if (at == range.lo)
      return Result<bool>(one);
    return Result<bool>(of.lo == range.lo + 1 ? at <= low : at >= high);
  });
  EXPECT_LE(asked, 14);
  return found ? str(*found) : found.error().message;
}

TEST(Cuts, PointsAreDoubles) {
  EXPECT_EQ(
      getCutPoints({1, 1024}),
      (std::vector<int64_t>{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024}));
  EXPECT_EQ(getCutPoints({3, 20}), (std::vector<int64_t>{3, 4, 8, 16, 20}));
  EXPECT_EQ(getCutPoints({0, 2}), (std::vector<int64_t>{0, 1, 2}));
  EXPECT_EQ(getCutPoints({7, 7}), (std::vector<int64_t>{7}));
  EXPECT_EQ(getCutPoints({1000, {}}),
            (std::vector<int64_t>{1000, 1024, 2048, 4096}));
  EXPECT_EQ(getCutPoints({5000, {}}), (std::vector<int64_t>{5000}));
  EXPECT_EQ(getCutPoints({INT64_MAX - 1, INT64_MAX}).size(), 2u);
}

TEST(Cuts, AreWithinOneStepOfWhereTheAnswerChanges) {
  EXPECT_EQ(find({1, 1024}, true, 20, 300), "1..1 2..16 512..1024");
  EXPECT_EQ(find({1, 1024}, true, 0, 5000), "1..1");
  EXPECT_EQ(find({1, 1024}, false, 2, 1024), "2..2 1024..1024");
  // From the second point on is the range that was asked about first.
  EXPECT_EQ(find({1, 1024}, false, 0, 1), "4..1024");
  EXPECT_EQ(find({1, 1024}, true, 1024, 1), "1..1 2..1024");
  EXPECT_EQ(find({1, {}}, true, 9, 1000), "1..1 2..8 1024..");
  EXPECT_EQ(find({1, {}}, false, 1 << 20, 1 << 20), "2..");
  EXPECT_EQ(find({7, 7}, true, 9, 1), "");
  for (int64_t low = 1; low <= 64; ++low) {
    std::string text = find({1, 64}, false, low, 100);
    int64_t cut = 1;
    while (cut * 2 <= low)
      cut *= 2;
    EXPECT_EQ(text, low < 2 ? "" : "2.." + std::to_string(cut)) << low;
  }
}

TEST(Cuts, AnErrorEndsIt) {
  auto found = findCuts({1, 64}, [](const SymbolRange &, int64_t) {
    return Result<bool>(Error("no clock"));
  });
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().message, "no clock");
}
} // namespace
