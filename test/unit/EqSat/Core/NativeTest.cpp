//===- NativeTest.cpp - What native functions remember --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/EqSat/Core/Rule.h"

#include "gtest/gtest.h"
#include <random>

using namespace luminal::eqsat;

namespace {

/// Adds its arguments and, for some sums, a fact; for some sums it does not
/// hold.
struct Sum {
  uint32_t fact = 0;
  uint64_t calls = 0, looks = 0;

  Native native(uint32_t numArgs, Native::Memory memory, bool counted = false) {
    auto fn = [this](std::span<const uint32_t> args, uint32_t *results) {
      ++calls;
      uint32_t sum = 0;
      for (uint32_t a : args)
        sum = sum * 3 + a;
      if (args[0] % 4 == 0) {
        ++looks;
        sum += fact;
      }
      if (sum % 7 == 3)
        return false;
      results[0] = sum;
      results[1] = ~sum;
      return true;
    };
    return Native(fn, numArgs, 2, memory, counted ? &looks : nullptr);
  }
};

TEST(Native, asksAgainWhenMoreMayBeKnown) {
  Sum sum;
  uint32_t results[2];
  auto timesAsked = [&](Native &n, uint32_t arg, uint32_t round) {
    uint64_t before = sum.calls;
    EXPECT_TRUE(n.call({&arg, 1}, results, round));
    EXPECT_EQ(results[0], ~results[1]);
    return sum.calls - before;
  };
  Native none = sum.native(1, Native::None);
  EXPECT_EQ(timesAsked(none, 4, 1) + timesAsked(none, 4, 1), 2u);
  Native always = sum.native(1, Native::Always);
  EXPECT_EQ(timesAsked(always, 5, 1) + timesAsked(always, 5, 2), 1u);
  Native round = sum.native(1, Native::Round);
  EXPECT_EQ(timesAsked(round, 5, 1) + timesAsked(round, 5, 1), 1u);
  EXPECT_EQ(timesAsked(round, 5, 2), 1u);
  // Only answers that read the fact are computed again.
  Native counted = sum.native(1, Native::Round, /*counted=*/true);
  EXPECT_EQ(timesAsked(counted, 4, 1) + timesAsked(counted, 5, 1), 2u);
  sum.fact = 1;
  EXPECT_EQ(timesAsked(counted, 5, 2), 0u);
  EXPECT_EQ(timesAsked(counted, 4, 2), 1u);
  EXPECT_EQ(results[0], 5u);
  EXPECT_EQ(timesAsked(counted, 4, 2), 0u);
  EXPECT_EQ(results[0], 5u);
}

/// Compares cached answers with the function itself, with facts that change
/// from round to round.
class Memory : public testing::TestWithParam<uint32_t> {};
INSTANTIATE_TEST_SUITE_P(Arguments, Memory, testing::Values(0, 1, 2, 3, 5));

TEST_P(Memory, answersAsTheFunctionDoes) {
  const uint32_t numArgs = GetParam();
  constexpr uint32_t kStride = 64;
  std::mt19937 random(numArgs);
  for (Native::Memory memory : {Native::None, Native::Round}) {
    Sum sum;
    std::vector<uint32_t> zero(1);
    auto exact = [&](std::span<const uint32_t> args, uint32_t *results) {
      return sum.native(std::max(numArgs, 1u), Native::None)
          .call(numArgs ? args : zero, results, 0);
    };
    Native one([&](std::span<const uint32_t> args,
                   uint32_t *results) { return exact(args, results); },
               numArgs, 2, memory, &sum.looks);
    std::vector<uint32_t> columns((numArgs + 2) * kStride);
    std::vector<Reg> args;
    for (uint32_t k = 0; k != numArgs; ++k)
      args.push_back(numArgs - 1 - k);
    for (uint32_t round = 1; round != 40; ++round) {
      sum.fact = round / 3;
      for (unsigned batch = 0; batch != 60; ++batch) {
        uint32_t range = random() % 2 ? 9 : 60;
        std::vector<uint16_t> calls;
        for (uint16_t c = 0; c != kStride; ++c) {
          if (random() % 4)
            calls.push_back(c);
          for (uint32_t k = 0; k != numArgs; ++k)
            columns[k * kStride + c] = random() % range;
        }
        uint16_t holds[kStride];
        std::vector<uint16_t> held(
            holds, holds + one.call(columns.data(), kStride, args, numArgs,
                                    calls, holds, round));
        std::vector<uint16_t> expected;
        for (uint16_t c : calls) {
          std::vector<uint32_t> words;
          for (Reg r : args)
            words.push_back(columns[r * kStride + c]);
          uint32_t results[2] = {0, 0}, again[2] = {0, 0};
          bool yes = exact(words, results);
          ASSERT_EQ(one.call(words, again, round), yes);
          if (!yes)
            continue;
          expected.push_back(c);
          for (uint32_t k = 0; k != 2; ++k) {
            ASSERT_EQ(columns[(numArgs + k) * kStride + c], results[k]);
            ASSERT_EQ(again[k], results[k]);
          }
        }
        ASSERT_EQ(held, expected);
      }
    }
  }
}

} // namespace
