//===- ExprTest.cpp - Normal forms, text form, evaluation -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Support/Expr.h"
#include "luminal/Support/DType.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <atomic>
#include <random>
#include <thread>

using namespace luminal;

static Expr d(unsigned i) { return Expr::dim(i); }
static Expr s(const char *name) { return Expr::symbol(name); }

static std::string reparse(const char *text) {
  std::string error;
  std::optional<Expr> e = Expr::parse(text, &error);
  return e ? e->str() : "error: " + error;
}

TEST(Expr, EqualPolynomialsAreOneExpression) {
  Expr a = s("a"), b = s("b");
  EXPECT_EQ((a + b) * (a - b), a * a - b * b);
  EXPECT_EQ(a + b - a, b);
  EXPECT_EQ(Expr(2) * a - a - a, Expr(0));
  EXPECT_EQ((a + Expr(1)) * b, b * a + b);
  EXPECT_NE(a, b);
  EXPECT_EQ(Expr::max(a, Expr::max(b, a)), Expr::max(b, a));
  EXPECT_EQ(Expr::floorDiv(Expr(4) * a + Expr(2), 2), Expr(2) * a + Expr(1));
  EXPECT_EQ(Expr::mod(Expr(4) * a, 2), Expr(0));
  EXPECT_EQ(Expr::floorDiv(Expr(-7), 2), Expr(-4));
  EXPECT_EQ(Expr::mod(Expr(-7), 2), Expr(1));
  EXPECT_EQ(Expr::mod(Expr(7), -2), Expr(-1));
  EXPECT_EQ(Expr::ceilDiv(Expr(7), 2), Expr(4));
}

TEST(Expr, TextHasOneForm) {
  EXPECT_EQ(reparse("d1 + d0*s"), "d0 * s + d1");
  EXPECT_EQ(reparse("1 + s0 * 2"), "2 * s0 + 1");
  EXPECT_EQ(reparse("- 2 * a + b"), "-2 * a + b");
  EXPECT_EQ(reparse("b - a"), "-a + b");
  EXPECT_EQ(reparse("a - (b - c)"), "a - b + c");
  EXPECT_EQ(reparse("(d0 floordiv 2) floordiv 3"),
            "(d0 floordiv 2) floordiv 3");
  EXPECT_EQ(reparse("-(s floordiv 3)"), "-(s floordiv 3)");
  EXPECT_EQ(reparse("-s floordiv 3"), "(-s) floordiv 3");
  EXPECT_EQ(reparse("s ceildiv 3"), "-((-s) floordiv 3)");
  EXPECT_EQ(reparse("s mod 3 * 2"), "2 * (s mod 3)");
  EXPECT_EQ(reparse("max(3, max(s, 2))"), "max(s, 3)");
  EXPECT_EQ(reparse("min(a, -1)"), "min(a, -1)");
  EXPECT_EQ(reparse("-9223372036854775808 + a * -9223372036854775808"),
            "-9223372036854775808 * a + -9223372036854775808");
}

TEST(Expr, RefusesBadText) {
  EXPECT_EQ(reparse(""), "error: expected an integer, a name or '(', found the "
                         "end");
  EXPECT_EQ(reparse("1 2"),
            "error: expected an operator or the end of the expression, found "
            "'2'");
  EXPECT_EQ(reparse("(a"), "error: expected ')', found the end");
  EXPECT_EQ(reparse("a floordiv"),
            "error: expected an integer, a name or '(', found the end");
  EXPECT_EQ(reparse("a + floordiv"),
            "error: expected an integer, a name or '(', found 'floordiv'");
  EXPECT_EQ(reparse("max(a)"), "error: expected ',', found ')'");
  EXPECT_EQ(reparse("max + 1"), "error: expected '(', found '+ 1'");
  EXPECT_EQ(reparse("9223372036854775808"),
            "error: an integer of the expression overflows 64 bits");
  EXPECT_EQ(reparse("d99999999999"), "error: the index of a dim is out of "
                                     "range");
  EXPECT_EQ(reparse("9223372036854775807 + 1"),
            "error: the expression overflows 64 bits");
  EXPECT_EQ(reparse("d0 * 4611686018427387904 * 2"),
            "error: the expression overflows 64 bits");
  for (const char *text : {"1 floordiv 0", "d0 floordiv 0", "d0 mod (a - a)",
                           "(d0 ceildiv 0) * 0"})
    EXPECT_EQ(reparse(text), "error: a divisor of the expression is 0");
  EXPECT_EQ(reparse("\xff"),
            "error: expected an integer, a name or '(', found '\xff'");
}

// Text from a file must not exhaust the stack, the time or the memory.
TEST(Expr, RefusesHostileText) {
  auto repeat = [](const std::string &text, unsigned n) {
    std::string result;
    for (unsigned i = 0; i < n; ++i)
      result += text;
    return result;
  };
  auto errorOf = [](const std::string &text) {
    std::string error;
    EXPECT_FALSE(Expr::parse(text, &error));
    return error;
  };
  EXPECT_EQ(errorOf(repeat("(", 100000)),
            "expression is longer than 65536 characters");
  EXPECT_EQ(errorOf(repeat("(", 60000)), "expression is nested too deeply");
  EXPECT_EQ(errorOf(repeat("max(1,", 10000)),
            "expression is nested too deeply");
  EXPECT_EQ(errorOf("a" + repeat(" mod 7 floordiv 3", 3000)),
            "expression is nested too deeply");
  EXPECT_EQ(errorOf("a" + repeat("*a", 30000)), "expression is too large");
  std::string product = "1", sum = "0";
  for (unsigned i = 0; i < 1000; ++i)
    product += "*(a" + std::to_string(i) + "+b)";
  EXPECT_EQ(errorOf(product), "expression is too large");
  // Length alone is not an error.
  for (unsigned i = 0; i < 5000; ++i)
    sum += "+a" + std::to_string(i);
  EXPECT_TRUE(Expr::parse(sum));
  EXPECT_TRUE(Expr::parse(repeat("-", 60000) + "a"));
}

TEST(Expr, OverflowIsUndefinedAndStaysSo) {
  Expr big(INT64_MAX), a = s("a");
  Expr overflow = big + Expr(1);
  EXPECT_TRUE(overflow.isUndefined());
  EXPECT_EQ(overflow.str(), "1 floordiv 0");
  EXPECT_TRUE((overflow - overflow).isUndefined());
  EXPECT_TRUE((overflow * Expr(0)).isUndefined());
  EXPECT_TRUE((big * a * Expr(2)).isUndefined());
  EXPECT_TRUE((-Expr(INT64_MIN)).isUndefined());
  EXPECT_TRUE(Expr::floorDiv(INT64_MIN, -1).isUndefined());
  EXPECT_EQ(Expr::mod(INT64_MIN, -1), Expr(0));
  EXPECT_TRUE(Expr::max(a, overflow).isUndefined());
  EXPECT_FALSE(overflow.evaluate({}));
  EXPECT_EQ(Assumptions().lowerBound(overflow), std::nullopt);
  EXPECT_EQ(Assumptions().equal(overflow, overflow), std::nullopt);
  // Partial sums may exceed the range where the total does not.
  EXPECT_EQ(big + a - big, a);
}

TEST(Expr, DeepAndWideTreesEnd) {
  Expr deep = s("a");
  for (unsigned i = 0; i < 5000 && !deep.isUndefined(); ++i)
    deep = Expr::floorDiv(deep + Expr(1), 3);
  EXPECT_TRUE(deep.isUndefined());
  Expr wide = s("a");
  for (unsigned i = 0; i < 64 && !wide.isUndefined(); ++i)
    wide = Expr::max(Expr::mod(wide, 3), Expr::floorDiv(wide, 5));
  EXPECT_TRUE(wide.isUndefined());
}

TEST(Expr, EvaluatesInWideIntegers) {
  auto values = [](std::string_view name) -> std::optional<int64_t> {
    if (name == "a")
      return int64_t(1) << 40;
    if (name == "z")
      return 0;
    return std::nullopt;
  };
  Expr a = s("a"), z = s("z");
  EXPECT_EQ(Expr::floorDiv(a * a, a).evaluate(values), int64_t(1) << 40);
  EXPECT_EQ((a * a).evaluate(values), std::nullopt);
  EXPECT_EQ((a * a * a * a).evaluate(values), std::nullopt);
  EXPECT_EQ(Expr::mod(a, z).evaluate(values), std::nullopt);
  EXPECT_EQ(s("b").evaluate(values), std::nullopt);
  EXPECT_EQ(d(1).evaluate(values, {5}), std::nullopt);
  EXPECT_EQ((d(0) * Expr(3)).evaluate(values, {5}), 15);
}

TEST(Expr, LargeProductsKeepOneForm) {
  // 40 * 40 terms are not multiplied out.
  Expr x, y, w;
  for (unsigned i = 0; i < 40; ++i) {
    x = x + s(("x" + std::to_string(i)).c_str());
    y = y + s(("y" + std::to_string(i)).c_str());
    w = w + s(("w" + std::to_string(i)).c_str()) * Expr(3);
  }
  for (const Expr &e : {x * y, x * y * w, x * (y * w), Expr(-3) * x * y,
                        s("a") * (x * y) + d(0), (x * y + d(0)) * (w + d(1)),
                        (x * y) * (s("a") + s("b"))}) {
    std::string error;
    std::optional<Expr> again = Expr::parse(e.str(), &error);
    ASSERT_TRUE(again) << error;
    EXPECT_EQ(*again, e) << e.str();
  }
  EXPECT_EQ(x * y * w, x * (y * w));
  auto ones = [](std::string_view) { return std::optional<int64_t>(1); };
  EXPECT_EQ((x * y * w).evaluate(ones), 40 * 40 * 120);
}

TEST(Expr, Queries) {
  Expr e = d(0) * s("a") + Expr::mod(d(1), s("b"));
  EXPECT_TRUE(e.hasDims());
  EXPECT_TRUE(e.usesDim(1));
  EXPECT_FALSE(e.usesDim(2));
  EXPECT_TRUE(e.usesSymbol("b"));
  EXPECT_FALSE(e.usesSymbol("c"));
  std::vector<std::string> symbols;
  e.collectSymbols(symbols);
  EXPECT_EQ(symbols, (std::vector<std::string>{"a", "b"}));
  std::optional<Expr::Linear> linear = e.linearIn(0);
  ASSERT_TRUE(linear);
  EXPECT_EQ(linear->stride, s("a"));
  EXPECT_EQ(linear->rest, Expr::mod(d(1), s("b")));
  EXPECT_FALSE(e.linearIn(1));
  EXPECT_FALSE((d(0) * d(0)).linearIn(0));
  EXPECT_EQ(e.substituteDims({d(1), d(0)}),
            d(1) * s("a") + Expr::mod(d(0), s("b")));
  Expr a = s("a");
  EXPECT_EQ(a.asSymbol(), "a");
  EXPECT_EQ(d(3).asDim(), 3u);
  EXPECT_TRUE(Expr::isSymbolName("s77"));
  EXPECT_FALSE(Expr::isSymbolName("d7"));
  EXPECT_FALSE(Expr::isSymbolName("mod"));
  EXPECT_FALSE(Expr::isSymbolName(" a"));
  EXPECT_FALSE(Expr::isSymbolName(""));
}

TEST(Expr, OrderIsTotalAndByContent) {
  std::vector<Expr> all = {Expr(-1),
                           Expr(3),
                           d(0),
                           d(1),
                           s("a"),
                           s("b"),
                           d(0) + s("a"),
                           d(0) * s("a"),
                           Expr::floorDiv(d(0), 2),
                           Expr::mod(d(0), 2),
                           Expr::max(d(0), 2),
                           Expr::min(d(0), 2)};
  for (const Expr &a : all)
    for (const Expr &b : all) {
      EXPECT_EQ(Expr::compare(a, b), -Expr::compare(b, a));
      EXPECT_EQ(Expr::compare(a, b) == 0, a == b);
      for (const Expr &c : all)
        if (a < b && b < c)
          EXPECT_TRUE(a < c);
    }
}

//===----------------------------------------------------------------------===//
// Lifetime
//===----------------------------------------------------------------------===//

/// Arithmetic of every kind that leaves many nodes behind.
static Expr arithmetic(unsigned seed) {
  Expr e = s(("lifetime" + std::to_string(seed % 7)).c_str());
  for (unsigned i = 0; i < 6; ++i) {
    e = Expr::floorDiv(e * d(i) + Expr(1000 + seed), e + Expr(2));
    e = Expr::max(Expr::mod(e, s("lifetime")), -e);
  }
  return e;
}

TEST(ExprLifetime, NodesGoWithTheLastExpr) {
  size_t before = Expr::countNodes();
  {
    Expr e = arithmetic(0);
    size_t held = Expr::countNodes();
    EXPECT_GT(held, before);
    // Equal expressions are the same node, however they are built.
    Expr copy = arithmetic(0), other = e, moved = std::move(copy);
    EXPECT_EQ(moved, e);
    EXPECT_EQ(Expr::countNodes(), held);
    // Assignment from an operand: the operand outlives what it was part of.
    while (!other.operands().empty())
      other = other.operands().front();
    const Expr &self = e;
    e = self;
    EXPECT_EQ(moved, e);
    EXPECT_EQ(Expr::countNodes(), held);
  }
  EXPECT_EQ(Expr::countNodes(), before);
  for (unsigned i = 0; i < 2000; ++i)
    arithmetic(i);
  EXPECT_EQ(Expr::countNodes(), before);
}

TEST(ExprLifetime, ParsedTextIsFreed) {
  size_t before = Expr::countNodes();
  for (const char *text : {"a * (b + 70000) floordiv (c - 65000)", "a +", "((",
                           "min(max(a, 99999), b mod 77777) * 88888"})
    Expr::parse(text);
  EXPECT_EQ(Expr::countNodes(), before);
}

TEST(ExprLifetime, OperandsOfATemporaryMayBeKept) {
  std::vector<Expr> operands = (s("p") + s("q") * d(70)).operands();
  ASSERT_EQ(operands.size(), 2u);
  EXPECT_EQ(operands[0] + operands[1], s("p") + s("q") * d(70));
  for (const Expr &operand : (s("p") + s("q") * d(70)).operands())
    EXPECT_FALSE(operand.str().empty());
}

// Threads make, share and drop the same nodes at the same time.
TEST(ExprLifetime, ThreadsShareNodes) {
  size_t before = Expr::countNodes();
  {
    Expr expected[4] = {arithmetic(0), arithmetic(1), arithmetic(2),
                        arithmetic(3)};
    size_t held = Expr::countNodes();
    std::atomic<unsigned> wrong{0};
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 8; ++t)
      threads.emplace_back([&, t] {
        std::mt19937 random(t);
        for (unsigned i = 0; i < 3000; ++i) {
          // Some of these are shared by all threads, some are created and
          // dropped.
          unsigned seed = random() % 8;
          Expr e = arithmetic(seed), copy = e;
          if (seed < 4 ? copy != expected[seed] : copy != arithmetic(seed))
            ++wrong;
        }
      });
    for (std::thread &thread : threads)
      thread.join();
    EXPECT_EQ(wrong, 0u);
    EXPECT_EQ(Expr::countNodes(), held);
  }
  EXPECT_EQ(Expr::countNodes(), before);
}

TEST(DType, NamesRoundTrip) {
  for (unsigned i = 0; i < kNumDTypes; ++i)
    EXPECT_EQ(dtypeFromName(dtypeName(DType(i))), DType(i));
  EXPECT_EQ(dtypeName(DType::U8), "ui8");
  EXPECT_FALSE(dtypeFromName("float32"));
}
