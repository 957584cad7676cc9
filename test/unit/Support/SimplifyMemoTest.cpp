//===- SimplifyMemoTest.cpp - Simplifications that are kept ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Support/SimplifyMemo.h"
#include "PrintExpr.h"
#include "gtest/gtest.h"
#include <thread>

using namespace luminal;

static Expr d(unsigned i) { return Expr::dim(i); }
static Expr s(const char *name) { return Expr::symbol(name); }

/// d1 where d1 < 7000 is known, itself elsewhere.
static Expr remainder() { return Expr::mod(d(0) * 7000 + d(1), 7000); }

TEST(SimplifyMemo, AnswersAreThoseOfTheirFacts) {
  SimplifyMemo memo;
  Expr open = Expr::mod(d(1), 7000), quotient = Expr::floorDiv(s("n"), 9000);
  for (unsigned round = 0; round < 2; ++round) {
    EXPECT_EQ(Assumptions({}, {3, 7000}).simplify(remainder()), d(1));
    EXPECT_EQ(Assumptions({}, {3, 7001}).simplify(remainder()), open);
    EXPECT_EQ(Assumptions().simplify(remainder()), open);
    EXPECT_EQ(Assumptions({}, {3, s("n")}).simplify(remainder()), open);
    EXPECT_EQ(
        Assumptions({{"n", {1, 7000}}}, {3, s("n")}).simplify(remainder()),
        d(1));
    // What the extent of another dim tells of a symbol.
    Assumptions positive({{"n", {0, 9000}}}, {s("n")});
    EXPECT_EQ(positive.simplify(Expr::floorDiv(s("n") - 1, 9000)), 0);
    Assumptions any({{"n", {0, 9000}}}, {2});
    EXPECT_NE(any.simplify(Expr::floorDiv(s("n") - 1, 9000)), 0);
    EXPECT_EQ(Assumptions({{"n", {0, 8999}}}).simplify(quotient), 0);
    EXPECT_EQ(Assumptions({{"n", {0, 9000}}}).simplify(quotient), quotient);
    EXPECT_EQ(Assumptions({{"n", {0, std::nullopt}}}).simplify(quotient),
              quotient);
  }
}

TEST(SimplifyMemo, TheLastScopeFreesWhatWasKept) {
  auto ask = [](int64_t unread) {
    Assumptions({}, {3, 7000, unread}).simplify(remainder());
  };
  ask(5);
  size_t before = Expr::countNodes();
  {
    SimplifyMemo memo;
    std::thread([&] { ask(5); }).join();
    size_t kept = Expr::countNodes();
    EXPECT_GT(kept, before);
    // The extent of a dim that does not occur is no other question.
    ask(9876);
    EXPECT_EQ(Expr::countNodes(), kept);
    {
      SimplifyMemo inner;
    }
    EXPECT_EQ(Expr::countNodes(), kept);
  }
  EXPECT_EQ(Expr::countNodes(), before);
  ask(5);
  EXPECT_EQ(Expr::countNodes(), before);
}
