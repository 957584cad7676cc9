//===- InterpreterTest.cpp - Symbols, arguments and run-time errors -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Reference/Interpreter.h"
#include "luminal/InitAll.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace luminal;
using namespace luminal::reference;
using namespace mlir;

namespace {
Tensor zeros(std::vector<int64_t> shape, DType dtype = DType::F32) {
  return *Tensor::allocate(dtype, shape);
}

Tensor iota(std::vector<int64_t> shape, DType dtype = DType::F32) {
  Tensor tensor = zeros(shape, dtype);
  for (int64_t i = 0; i < tensor.getNumElements(); ++i) {
    if (dtype == DType::I64)
      reinterpret_cast<int64_t *>(tensor.mutableData())[i] = i;
    else
      reinterpret_cast<float *>(tensor.mutableData())[i] =
          static_cast<float>(i);
  }
  return tensor;
}

struct Outcome {
  std::vector<Tensor> results;
  std::string error;
};

class Interpreter : public testing::Test {
protected:
  Interpreter() {
    DialectRegistry registry;
    registerAllDialects(registry);
    context.appendDialectRegistry(registry);
  }

  /// The first function of `text` on `arguments`: results, or the one error.
  Outcome run(const std::string &text, std::vector<Tensor> arguments,
              const Options &options = {}) {
    Outcome outcome;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      EXPECT_EQ(outcome.error, "") << "more than one error";
      outcome.error = diagnostic.str();
      return success();
    });
    auto module = parseSourceString<ModuleOp>(text, &context);
    if (!module)
      return outcome;
    auto function = *module->getOps<func::FuncOp>().begin();
    FailureOr<SmallVector<Tensor>> results =
        evaluate(function, arguments, options);
    EXPECT_EQ(failed(results), outcome.error != "");
    if (succeeded(results))
      outcome.results.assign(results->begin(), results->end());
    return outcome;
  }

  MLIRContext context;
};

std::string identity(const std::string &arguments, const std::string &symbols) {
  return "func.func @f(" + arguments +
         ") attributes {hlir.symbols = #hlir.symbols<" + symbols +
         ">} { return }";
}
} // namespace

TEST_F(Interpreter, BindsSymbolsByAnyDeterminedExtent) {
  std::string text =
      identity("%a: tensor<?x?xf32, #hlir.dims<s * t, 2 * s + 1>>, "
               "%b: tensor<?xf32, #hlir.dims<(t + u) floordiv 2>>, "
               "%c: tensor<?xf32, #hlir.dims<u - 3>>",
               "s in [1, 9], t in [0, ], u in [3, ]");
  EXPECT_EQ(run(text, {zeros({12, 7}), zeros({5}), zeros({3})}).error, "");
  EXPECT_EQ(run(text, {zeros({12, 7}), zeros({6}), zeros({3})}).error,
            "argument 1: expected (t + u) floordiv 2 = 5 as dim 0, found 6");
  EXPECT_EQ(run(text, {zeros({12, 8}), zeros({5}), zeros({3})}).error,
            "argument 0: dim 1 is 8, which is not a value of 2 * s + 1");
  EXPECT_EQ(run(text, {zeros({11, 7}), zeros({5}), zeros({3})}).error,
            "argument 0: dim 0 is 11, which is not a value of s * t");
}

TEST_F(Interpreter, RefusesArguments) {
  std::string text =
      identity("%x: tensor<?x4xf32, #hlir.dims<s>> {hlir.name = \"x\"}, "
               "%y: tensor<?xf32, #hlir.dims<s>> {hlir.name = \"y\"}",
               "s in [2, 4]");
  EXPECT_EQ(run(text, {zeros({3, 4})}).error, "expected 2 arguments, found 1");
  EXPECT_EQ(run(text, {zeros({3, 4}, DType::F64), zeros({3})}).error,
            "argument 0 ('x'): expected f32, found f64");
  EXPECT_EQ(run(text, {zeros({3}), zeros({3})}).error,
            "argument 0 ('x'): expected rank 2, found 1");
  EXPECT_EQ(run(text, {zeros({3, 5}), zeros({3})}).error,
            "argument 0 ('x'): expected 4 as dim 1, found 5");
  EXPECT_EQ(run(text, {zeros({3, 4}), zeros({4})}).error,
            "argument 1 ('y'): expected s = 3 as dim 0, found 4");
  EXPECT_EQ(run(text, {zeros({5, 4}), zeros({5})}).error,
            "argument 0 ('x'): dim 0 is 5, outside the range [2, 4] of s");
  EXPECT_EQ(run(text, {zeros({1, 4}), zeros({1})}).error,
            "argument 0 ('x'): dim 0 is 1, outside the range [2, 4] of s");
}

TEST_F(Interpreter, RefusesSymbolsThatNothingDetermines) {
  EXPECT_EQ(run("func.func @f() -> tensor<i64> { "
                "%0 = hlir.iota <() -> (s)> : tensor<i64> "
                "return %0 : tensor<i64> }",
                {})
                .error,
            "no extent of an argument determines 's'");
  // A range of one value determines the symbol.
  Outcome one = run("func.func @f() -> tensor<i64> attributes {hlir.symbols = "
                    "#hlir.symbols<s in [5, 5]>} { "
                    "%0 = hlir.iota <() -> (s)> : tensor<i64> "
                    "return %0 : tensor<i64> }",
                    {});
  ASSERT_EQ(one.results.size(), 1u);
  EXPECT_EQ(*reinterpret_cast<const int64_t *>(one.results[0].data()), 5);
}

TEST_F(Interpreter, DynamicShapes) {
  std::string text = R"(
    func.func @f(%x: tensor<?x?xf32, #hlir.dims<b, s>>)
        -> tensor<?xf32, #hlir.dims<b * s>> {
      %0 = hlir.view %x <(d0) -> (d0 floordiv s, d0 mod s)>
          : tensor<?x?xf32, #hlir.dims<b, s>> -> tensor<?xf32, #hlir.dims<b * s>>
      return %0 : tensor<?xf32, #hlir.dims<b * s>>
    })";
  for (std::vector<int64_t> shape :
       {std::vector<int64_t>{3, 5}, {1, 1}, {0, 5}, {5, 0}, {2000, 3}}) {
    Outcome outcome = run(text, {iota(shape)});
    ASSERT_EQ(outcome.results.size(), 1u) << outcome.error;
    int64_t n = shape[0] * shape[1];
    EXPECT_EQ(outcome.results[0].getShape(), ArrayRef<int64_t>(n));
    for (int64_t i = 0; i < n; ++i)
      ASSERT_EQ(reinterpret_cast<const float *>(outcome.results[0].data())[i],
                static_cast<float>(i));
  }
}

TEST_F(Interpreter, IndicesOutOfRangeAreErrors) {
  std::string gather = R"(
    func.func @f(%x: tensor<3x2xf32>, %i: tensor<4xi64>) -> tensor<4x2xf32> {
      %0 = hlir.gather %x, %i : tensor<3x2xf32>, tensor<4xi64> -> tensor<4x2xf32>
      return %0 : tensor<4x2xf32>
    })";
  EXPECT_EQ(run(gather, {zeros({3, 2}), iota({4}, DType::I64)}).error,
            "index 3 at position 3 is outside [0, 3)");
  std::string scatter = R"(
    func.func @f(%x: tensor<3xf32>, %i: tensor<4xi64>, %u: tensor<4xf32>) -> tensor<3xf32> {
      %0 = hlir.scatter add %x, %i, %u : tensor<3xf32>, tensor<4xi64>, tensor<4xf32>
      return %0 : tensor<3xf32>
    })";
  Tensor negative = zeros({4}, DType::I64);
  reinterpret_cast<int64_t *>(negative.mutableData())[1] = -1;
  EXPECT_EQ(run(scatter, {zeros({3}), negative, zeros({4})}).error,
            "index -1 at position 1 is outside [0, 3)");
  // Views whose map leaves the operand for some value of a symbol.
  std::string view = R"(
    func.func @f(%x: tensor<?xf32, #hlir.dims<s>>) -> tensor<4xf32> {
      %0 = hlir.view %x <(d0) -> (d0 + 2)> : tensor<?xf32, #hlir.dims<s>> -> tensor<4xf32>
      return %0 : tensor<4xf32>
    })";
  EXPECT_EQ(run(view, {iota({6})}).error, "");
  EXPECT_NE(run(view, {iota({5})})
                .error.find("'hlir.view' op its map, dim 0 of extent s: "
                            "expected 6 <= s, found 6 and 5"),
            std::string::npos);
  std::string notAffine = R"(
    func.func @f(%x: tensor<?xf32, #hlir.dims<s>>) -> tensor<9xf32> {
      %0 = hlir.view %x <(d0) -> (d0 * d0 - 1)> : tensor<?xf32, #hlir.dims<s>> -> tensor<9xf32>
      return %0 : tensor<9xf32>
    })";
  EXPECT_EQ(run(notAffine, {iota({100})}).error,
            "'hlir.view' op its map, dim 0 of extent s: expected an index in "
            "[0, s), found -1");
  std::string divides = R"(
    func.func @f(%x: tensor<?xf32, #hlir.dims<s>>) -> tensor<9xf32> {
      %0 = hlir.view %x <(d0) -> (d0 floordiv (s - 5))> : tensor<?xf32, #hlir.dims<s>> -> tensor<9xf32>
      return %0 : tensor<9xf32>
    })";
  EXPECT_EQ(run(divides, {iota({9})}).error, "");
  EXPECT_NE(run(divides, {iota({5})})
                .error.find("expected 1 <= s * s - 10 * s + 25, found 1 and 0"),
            std::string::npos);
}

TEST_F(Interpreter, ExtentsThatCannotBe) {
  std::string text = R"(
    func.func @f(%x: tensor<?xf32, #hlir.dims<s>>) -> tensor<?xf32, #hlir.dims<s - 3>> {
      %0 = hlir.view %x <(d0) -> (d0)> : tensor<?xf32, #hlir.dims<s>> -> tensor<?xf32, #hlir.dims<s - 3>>
      return %0 : tensor<?xf32, #hlir.dims<s - 3>>
    })";
  EXPECT_EQ(run(text, {iota({3})}).error, "");
  EXPECT_EQ(run(text, {iota({2})}).error, "extent s - 3 is -1");
  std::string huge = R"(
    func.func @f(%x: tensor<1xf32>) -> tensor<1099511627776x1099511627776xf32> {
      %0 = hlir.view %x <(d0, d1) -> (0)> : tensor<1xf32> -> tensor<1099511627776x1099511627776xf32>
      return %0 : tensor<1099511627776x1099511627776xf32>
    })";
  EXPECT_EQ(run(huge, {iota({1})}).error,
            "not enough memory for "
            "'tensor<1099511627776x1099511627776xf32>'");
}

TEST_F(Interpreter, CustomKernels) {
  std::string text = R"(
    func.func @f(%x: tensor<3xf32>) -> tensor<3xf32> {
      %0 = hlir.custom "double"(%x) {times = 2 : i64} : (tensor<3xf32>) -> tensor<3xf32>
      return %0 : tensor<3xf32>
    })";
  EXPECT_EQ(run(text, {iota({3})}).error, "no kernel 'double' is registered");
  Options options;
  options.custom =
      [](StringRef name, ArrayRef<Tensor> inputs,
         DictionaryAttr attributes) -> std::optional<SmallVector<Tensor>> {
    if (name != "double")
      return std::nullopt;
    Tensor result = zeros({3});
    auto times =
        static_cast<float>(attributes.getAs<IntegerAttr>("times").getInt());
    for (int i = 0; i < 3; ++i)
      reinterpret_cast<float *>(result.mutableData())[i] =
          times * reinterpret_cast<const float *>(inputs[0].data())[i];
    return SmallVector<Tensor>{result};
  };
  Outcome outcome = run(text, {iota({3})}, options);
  ASSERT_EQ(outcome.results.size(), 1u);
  EXPECT_EQ(reinterpret_cast<const float *>(outcome.results[0].data())[2], 4);
  options.custom = [](StringRef, ArrayRef<Tensor>, DictionaryAttr) {
    return std::optional(SmallVector<Tensor>{zeros({4})});
  };
  EXPECT_EQ(run(text, {iota({3})}, options).error,
            "expected a result of type 'tensor<3xf32>' of kernel 'double'");
}

// The rank of each element among all: comparisons of all pairs that several ops
// share. Each is computed once, and they are never in memory together.
TEST_F(Interpreter, AllPairsAreComputedOnceAndNotKept) {
  constexpr int64_t n = 700;
  std::string pairs = "tensor<700x700x", text = R"(
    func.func @f(%x: tensor<700xf32>) -> tensor<700xi64> {
      %a = hlir.view %x <(d0, d1) -> (d0)> : tensor<700xf32> -> PAIRSf32>
      %b = hlir.view %x <(d0, d1) -> (d1)> : tensor<700xf32> -> PAIRSf32>
      %less = hlir.less_than %b, %a : PAIRSf32> -> PAIRSi1>
      %more = hlir.less_than %a, %b : PAIRSf32> -> PAIRSi1>
      %i = hlir.iota <(d0, d1) -> (d0)> : PAIRSi64>
      %j = hlir.iota <(d0, d1) -> (d1)> : PAIRSi64>
      %first = hlir.less_than %j, %i : PAIRSi64> -> PAIRSi1>
      %either = hlir.select %less, %less, %more : PAIRSi1>, PAIRSi1>
      %decided = hlir.select %more, %less, %first : PAIRSi1>, PAIRSi1>
      %before = hlir.select %either, %less, %decided : PAIRSi1>, PAIRSi1>
      %ones = hlir.cast %before : PAIRSi1> -> PAIRSi64>
      %rank = hlir.reduce_sum %ones : PAIRSi64> -> tensor<700xi64>
      return %rank : tensor<700xi64>
    })";
  for (size_t at; (at = text.find("PAIRS")) != std::string::npos;)
    text.replace(at, 5, pairs);
  Tensor x = zeros({n});
  auto *values = reinterpret_cast<float *>(x.mutableData());
  for (int64_t i = 0; i < n; ++i)
    values[i] = static_cast<float>(i * 389 % 350);
  Options options;
  Work work;
  options.work = &work;
  Outcome outcome = run(text, {x}, options);
  ASSERT_EQ(outcome.results.size(), 1u) << outcome.error;
  const auto *ranks =
      reinterpret_cast<const int64_t *>(outcome.results[0].data());
  for (int64_t i = 0; i < n; ++i) {
    int64_t expected = 0;
    for (int64_t j = 0; j < n; ++j)
      expected += values[j] < values[i] || (values[j] == values[i] && j < i);
    EXPECT_EQ(ranks[i], expected) << i;
  }
  // Eleven ops over the pairs; one tensor, the result.
  EXPECT_EQ(work.elements, 11 * n * n);
  EXPECT_LE(work.bytes, 8 * n);
}

// A value that two ops read is computed only once.
TEST_F(Interpreter, ValuesOfTwoReadersAreComputedOnce) {
  std::string text = R"(
    func.func @f(%x: tensor<50x40xf32>) -> (tensor<50xf32>, tensor<50xf32>) {
      %y = hlir.add %x, %x : tensor<50x40xf32>
      %z = hlir.mul %y, %y : tensor<50x40xf32>
      %0 = hlir.reduce_sum %y : tensor<50x40xf32> -> tensor<50xf32>
      %1 = hlir.reduce_max %z : tensor<50x40xf32> -> tensor<50xf32>
      return %0, %1 : tensor<50xf32>, tensor<50xf32>
    })";
  Options options;
  Work work;
  options.work = &work;
  Outcome outcome = run(text, {iota({50, 40})}, options);
  ASSERT_EQ(outcome.results.size(), 2u) << outcome.error;
  const auto *sums = reinterpret_cast<const float *>(outcome.results[0].data());
  const auto *most = reinterpret_cast<const float *>(outcome.results[1].data());
  EXPECT_EQ(sums[1], 2 * (40 + 79) * 20);
  EXPECT_EQ(most[1], 4 * 79 * 79);
  EXPECT_EQ(work.elements, 2 * 50 * 40);
}

// Chains of recipes are limited, so that the stack does not overflow.
TEST_F(Interpreter, LongChains) {
  std::string text = "func.func @f(%v0: tensor<3xf32>) -> tensor<3xf32> {\n";
  constexpr int length = 5000;
  for (int i = 0; i < length; ++i)
    text += "%v" + std::to_string(i + 1) + " = hlir.add %v" +
            std::to_string(i) + ", %v0 : tensor<3xf32>\n";
  text += "return %v" + std::to_string(length) + " : tensor<3xf32> }";
  Options options;
  Work work;
  options.work = &work;
  Outcome outcome = run(text, {iota({3})}, options);
  ASSERT_EQ(outcome.results.size(), 1u) << outcome.error;
  EXPECT_EQ(reinterpret_cast<const float *>(outcome.results[0].data())[2],
            2.f * (length + 1));
  EXPECT_EQ(work.elements, 3 * length);
}

// All arguments are read to the end, so that the table of values grows while
// each is prepared.
TEST_F(Interpreter, PreparedValuesAreTheirOperands) {
  constexpr int count = 200;
  std::string arguments, body, values, types;
  std::vector<Tensor> inputs;
  for (int i = 0; i < count; ++i) {
    std::string n = std::to_string(i), comma = i ? ", " : "";
    arguments += comma + "%a" + n + ": tensor<3xf32>";
    body += "%p" + n + " = llir.prepare %a" + n + " : tensor<3xf32>\n";
    values += comma + "%p" + n + ", %a" + n;
    types += comma + "tensor<3xf32>, tensor<3xf32>";
    inputs.push_back(iota({3}));
  }
  Outcome outcome =
      run("func.func @f(" + arguments + ") -> (" + types + ") {\n" + body +
              "return " + values + " : " + types + " }",
          inputs, {});
  ASSERT_EQ(outcome.results.size(), 2u * count) << outcome.error;
  for (const Tensor &result : outcome.results)
    EXPECT_EQ(reinterpret_cast<const float *>(result.data())[2], 2.f);
}

TEST_F(Interpreter, RefusesWhatItCannotRead) {
  EXPECT_EQ(run("func.func private @f()", {}).error,
            "expected a function of one block to evaluate");
  EXPECT_EQ(run("func.func @f() { %0 = func.call @g() : () -> tensor<f32> "
                "return } func.func private @g() -> tensor<f32>",
                {})
                .error,
            "expected an op of hlir or llir, found func.call");
}
