//===- RoundingTest.cpp - What rounding by chance does --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/InitAll.h"
#include "luminal/Reference/Interpreter.h"
#include "luminal/Support/Scalar.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <cmath>
#include <set>

using namespace luminal;
using namespace luminal::reference;
using namespace mlir;

namespace {
class Rounding : public testing::Test {
protected:
  Rounding() {
    DialectRegistry registry;
    registerAllDialects(registry);
    context.appendDialectRegistry(registry);
    context.disableMultithreading();
  }

  /// The elements of the one result of @f on no arguments.
  std::vector<double> evaluate(const std::string &text,
                               std::optional<uint64_t> seed,
                               const SymbolValues *symbols = nullptr) {
    auto module = parseSourceString<ModuleOp>(text, &context);
    Options options;
    options.roundingSeed = seed;
    options.symbols = symbols;
    auto results = reference::evaluate(*module->getOps<func::FuncOp>().begin(),
                                       {}, options);
    std::vector<double> values;
    if (failed(results))
      return values;
    const Tensor &tensor = results->front();
    DType t = tensor.getDType();
    for (int64_t i = 0; i < tensor.getNumElements(); ++i)
      values.push_back(loadFloat(t, tensor.data() + size_t(i) * dtypeSize(t)));
    return values;
  }

  /// x / y in a type, over all seeds.
  std::set<double> divide(const std::string &type, int x, int y) {
    auto constant = [&](const char *name, int value) {
      return "  " + std::string(name) + " = llir.constant dense<" +
             std::to_string(value) + ".0> : tensor<1x" + type + ">\n";
    };
    const std::string t = "tensor<1x" + type + ">";
    std::string text = "func.func @f() -> " + t + " {\n" + constant("%x", x) +
                       constant("%y", y) +
                       "  %0 = llir.elementwise div(%x, %y) : (" + t + ", " +
                       t + ") -> " + t + "\n  return %0 : " + t + "\n}";
    std::set<double> values;
    for (uint64_t seed = 0; seed < 40; ++seed)
      values.insert(evaluate(text, seed).front());
    return values;
  }

  MLIRContext context;
};
} // namespace

TEST_F(Rounding, GivesBothNeighboursOfWhatIsNotExact) {
  for (auto [type, unit] : {std::pair<const char *, double>{"f32", 0x1p-25},
                            {"f16", 0x1p-12},
                            {"bf16", 0x1p-9}}) {
    std::set<double> thirds = divide(type, 1, 3);
    ASSERT_EQ(thirds.size(), 2u) << type;
    EXPECT_EQ(*thirds.rbegin() - *thirds.begin(), unit) << type;
    EXPECT_LT(*thirds.begin(), 1.0 / 3) << type;
    EXPECT_GT(*thirds.rbegin(), 1.0 / 3) << type;
    // Away from zero is the other way there.
    thirds = divide(type, -1, 3);
    ASSERT_EQ(thirds.size(), 2u) << type;
    EXPECT_LT(*thirds.begin(), -1.0 / 3) << type;
  }
}

TEST_F(Rounding, LeavesWhatIsExact) {
  for (const char *type : {"f32", "f16", "bf16", "f64"})
    EXPECT_EQ(divide(type, 3, 4), std::set<double>{0.75}) << type;
}

/// The sum of 1000 elements, each `value`.
static std::string sumOf(const std::string &value, const std::string &type) {
  return "func.func @f() -> tensor<" + type +
         "> {\n  %x = llir.constant dense<" + value + "> : tensor<1000x" +
         type + ">\n  %0 = llir.reduce sum %x : " + "tensor<1000x" + type +
         "> -> tensor<" + type + ">\n  return %0 : tensor<" + type + ">\n}";
}

TEST_F(Rounding, RoundsPartialSums) {
  double nearest = evaluate(sumOf("0.1", "f32"), {}).front(), most = 0;
  for (uint64_t seed = 0; seed < 5; ++seed)
    most = std::max(
        most, std::abs(evaluate(sumOf("0.1", "f32"), seed).front() - nearest));
  // More than one rounding of 100, and no more than one for each term.
  EXPECT_GT(most, 0x1p-17);
  EXPECT_LT(most, 1000 * 0x1p-17);
  for (uint64_t seed = 0; seed < 5; ++seed)
    EXPECT_EQ(evaluate(sumOf("3.0", "f32"), seed).front(), 3000);
}

TEST_F(Rounding, RoundsSumsInDoubleToo) {
  double nearest = evaluate(sumOf("0.1", "f64"), {}).front();
  std::set<double> values;
  for (uint64_t seed = 0; seed < 5; ++seed)
    values.insert(evaluate(sumOf("0.1", "f64"), seed).front());
  EXPECT_GT(values.size(), 1u);
  for (double value : values)
    EXPECT_NEAR(value, nearest, 1e-11);
  EXPECT_EQ(evaluate(sumOf("3.0", "f64"), 1).front(), 3000);
}

TEST_F(Rounding, FollowsTheSeed) {
  std::string text = sumOf("0.1", "f32");
  EXPECT_EQ(evaluate(text, 7), evaluate(text, 7));
  EXPECT_NE(evaluate(text, 7), evaluate(text, 8));
  // And it ends with the evaluation.
  double nearest = evaluate(text, {}).front();
  evaluate(text, 7);
  EXPECT_EQ(evaluate(text, {}).front(), nearest);
}

TEST_F(Rounding, SymbolsMayBeGiven) {
  SymbolValues symbols = {{"s", 3}};
  std::string text = R"(func.func @f() -> tensor<?xf32, #hlir.dims<s>>
    attributes {hlir.symbols = #hlir.symbols<s in [1, 9]>} {
  %0 = llir.iota <(d0) -> (d0 * s)> : tensor<?xi32, #hlir.dims<s>>
  %1 = llir.elementwise cast(%0) : (tensor<?xi32, #hlir.dims<s>>) -> tensor<?xf32, #hlir.dims<s>>
  return %1 : tensor<?xf32, #hlir.dims<s>>
})";
  EXPECT_EQ(evaluate(text, {}, &symbols), (std::vector<double>{0, 3, 6}));
}
