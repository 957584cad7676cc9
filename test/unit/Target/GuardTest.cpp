//===- GuardTest.cpp - Guards of a trace against their meaning ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Archive/Guard.h"
#include "gtest/gtest.h"

using namespace luminal;
using namespace luminal::pt2;

namespace {

/// Sizes are symbols named after the input and the dim: x_0 is a, all others b.
Result<Expr> parse(std::string_view text) {
  return parseGuard(text, [](const GuardSource &source) -> Result<Expr> {
    if (source.property == "stride")
      return Expr(source.dim + 7);
    return Expr::symbol(source.name == "x" && source.dim == 0 ? "a" : "b");
  });
}

/// The text holds at exactly the same a and b as `holds`. A and B are sizes.
void expectMeans(std::string_view text, bool (*holds)(int64_t, int64_t)) {
  std::string guard;
  for (char c : text)
    if (c == 'A' || c == 'B')
      guard += c == 'A' ? "L['x'].size()[0]" : "L['y'][0]['Key 2'].size()[1]";
    else
      guard += c;
  Result<Expr> condition = parse(guard);
  ASSERT_TRUE(bool(condition)) << guard << ' ' << condition.error().message;
  for (int64_t a = 1; a <= 12; ++a)
    for (int64_t b = 1; b <= 12; ++b) {
      auto value = condition->evaluate([&](std::string_view name) {
        return std::optional(name == "a" ? a : b);
      });
      ASSERT_TRUE(value.has_value()) << guard << ' ' << a << ' ' << b;
      EXPECT_EQ(*value >= 0, holds(a, b)) << guard << ' ' << a << ' ' << b;
    }
}

} // namespace

TEST(Guard, Means) {
  using N = int64_t;
  expectMeans("A == B", [](N a, N b) { return a == b; });
  expectMeans("(A % 2) == 0", [](N a, N) { return a % 2 == 0; });
  expectMeans("A*B != 12", [](N a, N b) { return a * b != 12; });
  expectMeans("(-1) + (A // 2) >= 3", [](N a, N) { return a / 2 - 1 >= 3; });
  expectMeans("-A - -B < 2*(B - 1)",
              [](N a, N b) { return b - a < 2 * (b - 1); });
  expectMeans("A - B - 1 > 0", [](N a, N b) { return a - b - 1 > 0; });
  expectMeans("A // B * B == A", [](N a, N b) { return a / b * b == a; });
  expectMeans("-A**2 < -50", [](N a, N) { return a * a > 50; });
  expectMeans("min(A, B) < 5 and max(A, B, 3) <= 7", [](N a, N b) {
    return std::min(a, b) < 5 && std::max({a, b, N(3)}) <= 7;
  });
  expectMeans("A > 5 or B > 5 and A > 2",
              [](N a, N b) { return a > 5 || (b > 5 && a > 2); });
  expectMeans("(A > 5 or B > 5) and A > 2",
              [](N a, N b) { return (a > 5 || b > 5) && a > 2; });
  expectMeans("not A > 5 and not (B > 5)",
              [](N a, N b) { return a <= 5 && b <= 5; });
  expectMeans("(A / 4) > 1.2", [](N a, N) { return 10 * a > 48; });
  expectMeans("A / 4 >= 0.50*B", [](N a, N b) { return a >= 2 * b; });
  expectMeans("math.ceil(A / 2) == 1.0 * math.floor(B / 3)",
              [](N a, N b) { return (a + 1) / 2 == b / 3; });
  expectMeans("float(A) <= 1.05", [](N a, N) { return a == 1; });
  expectMeans("int(A - 5.5) == -2 or math.trunc((B - 9) / 2) == -3",
              [](N a, N b) { return a == 3 || (b - 9) / 2 == -3; });
  expectMeans("A == L['n']", [](N a, N b) { return a == b; });
  expectMeans("A == L['z'].stride()[1]", [](N a, N) { return a == 8; });
  expectMeans("True", [](N, N) { return true; });
  expectMeans("A == 1 and False", [](N, N) { return false; });
}

TEST(Guard, NamesInputsAsTorchDoes) {
  std::string name, path;
  auto condition = parseGuard("L['Args'][0]['a.b'].cache[12].size()[3] == 1",
                              [&](const GuardSource &source) -> Result<Expr> {
                                name = source.name;
                                path = source.path;
                                EXPECT_EQ(source.property, "size");
                                EXPECT_EQ(source.dim, 3);
                                return Expr(1);
                              });
  ASSERT_TRUE(bool(condition));
  EXPECT_EQ(name, "args_0_a_b_cache_12");
  EXPECT_EQ(path, "L['Args'][0]['a.b'].cache[12]");
}

TEST(Guard, Refuses) {
  auto refuse = [](const std::string &text, const std::string &why) {
    Result<Expr> condition = parse(text);
    ASSERT_FALSE(bool(condition)) << text;
    EXPECT_NE(condition.error().message.find(why), std::string::npos)
        << text << ' ' << condition.error().message;
  };
  refuse("", "expected '('");
  refuse("L['x'].size()[0]", "expected a condition");
  refuse("L['x'].size()[0] == 1 1", "expected the end");
  refuse("(L['x'].size()[0] == 1) + 1 == 2", "expected a number");
  refuse("1 < L['x'].size()[0] < 3", "expected the end");
  refuse("(1 / 2) % 2 == 0", "expected integers only");
  refuse("min(1 / 2, 1) == 0", "expected integers only");
  refuse("1 / L['x'].size()[0] == 1 / L['y'].size()[0]", "denominator");
  refuse("abs(1) == 1", "'abs' of 1 operands");
  refuse("2 ** 9 == 1", "power");
  refuse("L == 1", "expected the key of an argument");
  refuse("L['x'].dtype() == 1", "'dtype()'");
  refuse("L['x", "a quoted key");
  refuse("L[99999999999999999999].size()[0] == 1", "64-bit");
  refuse("1.1234567890123456 == 1", "15 decimals");
  refuse(std::string(100000, '(') + "1", "longer than 65536");
  refuse(std::string(60000, '('), "nested deeper");
  refuse("not " + std::string(60000, '-') + "1", "expected a condition");
}
