//===- SymExprTest.cpp - SymPy's srepr against enumeration ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Archive/SymExpr.h"
#include "gtest/gtest.h"
#include <cctype>

using namespace luminal;
using namespace luminal::pt2;

namespace {

constexpr const char *kA = "Symbol('a', integer=True)";
constexpr const char *kB = "Symbol('b', positive=True, integer=True)";

/// Replaces A and B by symbols, and digits by Integer(digit), except those
/// after a #.
std::string spell(std::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    char next = i + 1 < text.size() ? text[i + 1] : ' ';
    bool isWord = std::isalpha(static_cast<unsigned char>(next));
    if (text[i] == '#')
      result += text[++i];
    else if (std::isdigit(static_cast<unsigned char>(text[i])))
      result += std::string("Integer(") + text[i] + ")";
    else if ((text[i] == 'A' || text[i] == 'B') && !isWord)
      result += text[i] == 'A' ? kA : kB;
    else
      result += text[i];
  }
  return result;
}

template <typename Fn>
void forAll(const Expr &expr, Fn &&check) {
  for (int64_t a = -4; a <= 4; ++a)
    for (int64_t b = 1; b <= 5; ++b) {
      auto value = expr.evaluate([&](std::string_view name) {
        return std::optional(name == "a" ? a : b);
      });
      ASSERT_TRUE(value.has_value()) << expr.str();
      check(*value, a, b);
    }
}

void expectCondition(std::string_view text, bool (*holds)(int64_t, int64_t)) {
  SCOPED_TRACE(std::string(text));
  Result<Expr> expr = parseSymCondition(spell(text));
  ASSERT_TRUE(expr) << expr.error().message;
  forAll(*expr, [&](int64_t value, int64_t a, int64_t b) {
    EXPECT_EQ(value >= 0, holds(a, b)) << "a=" << a << " b=" << b;
  });
}

void expectInteger(std::string_view text, int64_t (*read)(int64_t, int64_t)) {
  SCOPED_TRACE(std::string(text));
  Result<Expr> expr = parseSymExpr(spell(text));
  ASSERT_TRUE(expr) << expr.error().message;
  forAll(*expr, [&](int64_t value, int64_t a, int64_t b) {
    EXPECT_EQ(value, read(a, b)) << "a=" << a << " b=" << b;
  });
}

using I = int64_t;

TEST(SymExpr, ComparesIntegers) {
  expectCondition("Equality(A, B)", [](I a, I b) { return a == b; });
  expectCondition("Unequality(A, B)", [](I a, I b) { return a != b; });
  expectCondition("LessThan(A, B)", [](I a, I b) { return a <= b; });
  expectCondition("GreaterThan(A, B)", [](I a, I b) { return a >= b; });
  expectCondition("StrictLessThan(A, B)", [](I a, I b) { return a < b; });
  expectCondition("StrictGreaterThan(A, B)", [](I a, I b) { return a > b; });
}

TEST(SymExpr, ComparesFractionsExactly) {
  expectCondition(
      "StrictGreaterThan(Mul(Rational(#1, #2), A), Rational(#1, #3))",
      [](I a, I) { return 3 * a > 2; });
  expectCondition("Equality(Mul(Rational(#1, #2), A), 1)",
                  [](I a, I) { return a == 2; });
  Result<Expr> symbolic =
      parseSymCondition(spell("LessThan(IntTrueDiv(A, B), 1)"));
  EXPECT_FALSE(symbolic);
}

TEST(SymExpr, CombinesConditions) {
  expectCondition("true", [](I, I) { return true; });
  expectCondition("false", [](I, I) { return false; });
  expectCondition("Not(Equality(A, B))", [](I a, I b) { return a != b; });
  expectCondition("And(LessThan(A, 2), Equality(B, 3), true)",
                  [](I a, I b) { return a <= 2 && b == 3; });
  expectCondition("Or(LessThan(A, 2), Not(Or(Equality(B, 3), false)))",
                  [](I a, I b) { return a <= 2 || b != 3; });
}

TEST(SymExpr, ChoosesAmongCases) {
  expectInteger("Piecewise(ExprCondPair(1, Equality(A, 1)), ExprCondPair(0, "
                "true))",
                [](I a, I) { return I(a == 1); });
  expectInteger("Piecewise(ExprCondPair(A, StrictLessThan(A, 0)), "
                "ExprCondPair(Mul(A, B), Equality(B, 2)), ExprCondPair(7, "
                "true))",
                [](I a, I b) { return a < 0    ? a
                                      : b == 2 ? a * b
                                               : 7; });
  expectCondition("GreaterThan(Piecewise(ExprCondPair(1, Equality(A, 1)), "
                  "ExprCondPair(0, true)), 1)",
                  [](I a, I) { return a == 1; });
}

TEST(SymExpr, RoundsTowardZero) {
  expectInteger("TruncToInt(IntTrueDiv(A, 2))", [](I a, I) { return a / 2; });
  expectInteger("TruncToInt(IntTrueDiv(Add(B, Integer(#-#9)), 2))",
                [](I, I b) { return (b - 9) / 2; });
  // A size has no sign.
  Result<Expr> size = parseSymExpr(spell("TruncToInt(IntTrueDiv(B, 2))"));
  ASSERT_TRUE(size);
  EXPECT_EQ(*size, Expr::floorDiv(Expr::symbol("b"), Expr(2)));
}

TEST(SymExpr, RefusesWhatIsIncomplete) {
  for (std::string_view text :
       {"", "Equality", "Equality(", "Equality(A", "Equality(A)",
        "Equality(A, B", "Equality(A, B) B", "And()", "Not(A)", "A", "True",
        "Not(true, true)"})
    EXPECT_FALSE(parseSymCondition(spell(text))) << text;
  for (std::string_view text :
       {"Piecewise()", "Piecewise(1)", "Piecewise(ExprCondPair(1))",
        "Piecewise(ExprCondPair(1, 1))", "Piecewise(ExprCondPair(1, true)",
        "Piecewise(ExprCondPair(1, Equality(A, B)))", "true"})
    EXPECT_FALSE(parseSymExpr(spell(text))) << text;
}

} // namespace
