//===- CompositesTest.cpp - What composites spell is what they mean -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each spelling is run by the interpreter and compared with the C library in
// extended precision: scalar functions of f16, bf16 and f32 are within 0.51
// ulp, exact functions have the same bits.
//
//===----------------------------------------------------------------------===//

#include "luminal/Dialect/HLIR/Utils/Composites.h"
#include "luminal/Reference/Interpreter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

using namespace mlir;
using namespace luminal;
using hlir::Composer;
using reference::Tensor;
using Build = llvm::function_ref<Value(Composer &, ArrayRef<Value>)>;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const double kNan = std::numeric_limits<double>::quiet_NaN();

class Composites : public testing::Test {
protected:
  Composites() { context.loadDialect<func::FuncDialect, hlir::HLIRDialect>(); }

  /// The result on arguments of these extents; the symbols are in [1, 16].
  Tensor run(ArrayRef<SmallVector<Expr>> extents, ArrayRef<Tensor> arguments,
             Build build) {
    Location loc = UnknownLoc::get(&context);
    OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
    OpBuilder builder(&context);
    builder.setInsertionPointToEnd(module->getBody());
    SmallVector<Type> types;
    for (auto [e, t] : llvm::zip_equal(extents, arguments))
      types.push_back(
          hlir::getTensorType(e, hlir::getElementType(&context, t.getDType())));
    auto function = func::FuncOp::create(builder, loc, "f",
                                         builder.getFunctionType(types, {}));
    hlir::SymbolEntry symbols[] = {{"s0", {1, 16}}, {"s1", {1, 16}}};
    function->setAttr(hlir::kSymbolsAttr,
                      hlir::SymbolsAttr::get(&context, symbols));
    Block *body = function.addEntryBlock();
    builder.setInsertionPointToEnd(body);
    Assumptions assumptions = hlir::getAssumptions(function);
    Composer composer(builder, loc, assumptions);
    SmallVector<Value> values(body->args_begin(), body->args_end());
    Value result = build(composer, values);
    func::ReturnOp::create(builder, loc, result);
    function.setFunctionType(builder.getFunctionType(types, result.getType()));
    EXPECT_TRUE(succeeded(verify(*module)));
    auto results = reference::evaluate(function, arguments);
    EXPECT_TRUE(succeeded(results));
    return succeeded(results) ? (*results)[0] : Tensor();
  }

  /// Elementwise, over vectors.
  Tensor run(ArrayRef<Tensor> arguments, Build build) {
    SmallVector<SmallVector<Expr>> extents;
    for (const Tensor &t : arguments)
      extents.push_back({Expr(t.getShape()[0])});
    return run(extents, arguments, build);
  }

  MLIRContext context;
  std::mt19937 rng{3};
};

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

const llvm::fltSemantics &semantics(DType type) {
  return type == DType::F16    ? APFloat::IEEEhalf()
         : type == DType::BF16 ? APFloat::BFloat()
         : type == DType::F32  ? APFloat::IEEEsingle()
                               : APFloat::IEEEdouble();
}

Tensor fromDoubles(DType type, ArrayRef<double> values) {
  Tensor t = *Tensor::allocate(type, {static_cast<int64_t>(values.size())});
  unsigned size = dtypeSize(type);
  for (size_t i = 0; i != values.size(); ++i) {
    APFloat x(values[i]);
    bool loses;
    x.convert(semantics(type), APFloat::rmNearestTiesToEven, &loses);
    uint64_t bits = x.bitcastToAPInt().getZExtValue();
    std::memcpy(t.mutableData() + i * size, &bits, size);
  }
  return t;
}

double at(const Tensor &t, int64_t i) {
  unsigned size = dtypeSize(t.getDType());
  uint64_t bits = 0;
  std::memcpy(&bits, t.data() + i * size, size);
  APFloat x(semantics(t.getDType()), APInt(size * 8, bits));
  bool loses;
  x.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &loses);
  return x.convertToDouble();
}

template <typename T>
Tensor fromIntegers(DType type, ArrayRef<T> values) {
  Tensor t = *Tensor::allocate(type, {static_cast<int64_t>(values.size())});
  std::memcpy(t.mutableData(), values.data(), t.getNumBytes());
  return t;
}

template <typename T>
T integerAt(const Tensor &t, int64_t i) {
  T x;
  std::memcpy(&x, t.data() + i * sizeof(T), sizeof(T));
  return x;
}

/// Ulps between a number of a type and an exact value.
double ulps(double found, long double exact, DType type) {
  if (std::isnan(found) || std::isnan(exact))
    return std::isnan(found) && std::isnan(exact) ? 0 : kInfinity;
  const llvm::fltSemantics &s = semantics(type);
  int exponent = APFloat::semanticsMinExponent(s);
  if (exact != 0 && std::isfinite(exact)) {
    std::frexp(exact, &exponent);
    exponent = std::max(exponent - 1, APFloat::semanticsMinExponent(s));
  }
  long double ulp =
      std::ldexp(1.0L, exponent - int(APFloat::semanticsPrecision(s)) + 1);
  long double largest =
      std::ldexp(1.0L, APFloat::semanticsMaxExponent(s) + 1) - ulp / 2;
  if (std::isinf(found))
    return std::fabs(exact) >= largest && (found > 0) == (exact > 0)
               ? 0
               : kInfinity;
  return static_cast<double>(std::fabs(found - exact) / ulp);
}

//===----------------------------------------------------------------------===//
// Scalar functions
//===----------------------------------------------------------------------===//

struct Function {
  const char *name;
  Value (Composer::*method)(Value);
  long double (*exact)(long double);
};

const Function kFunctions[] = {
    {"exp", &Composer::exp, [](long double x) { return std::exp(x); }},
    {"expm1", &Composer::expm1, [](long double x) { return std::expm1(x); }},
    {"log", &Composer::log, [](long double x) { return std::log(x); }},
    {"log1p", &Composer::log1p, [](long double x) { return std::log1p(x); }},
    {"cos", &Composer::cos, [](long double x) { return std::cos(x); }},
    {"tanh", &Composer::tanh, [](long double x) { return std::tanh(x); }},
    {"erf", &Composer::erf, [](long double x) { return std::erf(x); }},
    {"rsqrt", &Composer::rsqrt, [](long double x) { return 1 / std::sqrt(x); }},
    {"sigmoid", &Composer::sigmoid,
     [](long double x) { return 1 / (1 + std::exp(-x)); }},
    {"silu", &Composer::silu,
     [](long double x) { return x / (1 + std::exp(-x)); }}};

TEST_F(Composites, ScalarFunctionsRoundOnce) {
  std::vector<double> values = {0.0,   -0.0,   1.0,  -1.0,      0.1,
                                -0.1,  6.0,    -6.0, 88.0,      100.0,
                                1e-30, -1e-42, kNan, kInfinity, -kInfinity};
  std::uniform_real_distribution<double> wide(-20, 20), exponent(-30, 4);
  for (int i = 0; i != 3000; ++i) {
    values.push_back(wide(rng));
    values.push_back(std::copysign(std::exp2(exponent(rng)), wide(rng)));
  }
  for (DType type : {DType::F16, DType::BF16, DType::F32}) {
    Tensor x = fromDoubles(type, values);
    for (const Function &f : kFunctions) {
      Tensor y = run({x}, [&](Composer &c, ArrayRef<Value> v) {
        return (c.*f.method)(v[0]);
      });
      double worst = 0, where = 0;
      for (int64_t i = 0; i != x.getNumElements(); ++i) {
        double error = ulps(at(y, i), f.exact(at(x, i)), type);
        if (!(error <= worst)) {
          worst = error;
          where = at(x, i);
        }
      }
      EXPECT_LE(worst, 0.51)
          << f.name << " of " << dtypeName(type) << " at " << where;
    }
  }
}

TEST_F(Composites, DivisionRoundsOnceForEverySize) {
  std::uniform_real_distribution<double> exponent(-1, 1);
  for (DType type : {DType::F16, DType::BF16, DType::F32, DType::F64}) {
    const llvm::fltSemantics &s = semantics(type);
    double range = APFloat::semanticsMaxExponent(s);
    std::vector<double> a = {0, 1, kInfinity, kInfinity, -1, 3, kNan};
    std::vector<double> b = {0, 0, kInfinity, 2, kInfinity, -0.0, 1};
    for (int i = 0; i != 4000; ++i) {
      a.push_back(std::exp2(exponent(rng) * range));
      b.push_back(-std::exp2(exponent(rng) * range));
    }
    Tensor x = fromDoubles(type, a), y = fromDoubles(type, b);
    Tensor q = run({x, y}, [](Composer &c, ArrayRef<Value> v) {
      return c.div(v[0], v[1]);
    });
    // There is no wider type than f64 to round from.
    double bound = type == DType::F64 ? 2 : 0.51;
    for (int64_t i = 0; i != x.getNumElements(); ++i)
      ASSERT_LE(ulps(at(q, i), (long double)at(x, i) / at(y, i), type), bound)
          << at(x, i) << " / " << at(y, i) << " of " << dtypeName(type);
  }
}

/// Values that the C standard states.
TEST_F(Composites, PowHasEverySpecialCase) {
  const double list[] = {0.0,  -0.0, 1.0,  -1.0, 2.0,       -2.0,       0.5,
                         -0.5, 3.0,  -3.0, 2.5,  kInfinity, -kInfinity, kNan,
                         7.0,  -8.0, 1e-3, 1e10, -1e10};
  std::vector<double> a, b;
  for (double p : list)
    for (double q : list) {
      a.push_back(p);
      b.push_back(q);
    }
  for (DType type : {DType::BF16, DType::F32}) {
    Tensor x = fromDoubles(type, a), y = fromDoubles(type, b);
    Tensor z = run({x, y}, [](Composer &c, ArrayRef<Value> v) {
      return c.pow(v[0], v[1]);
    });
    for (int64_t i = 0; i != x.getNumElements(); ++i) {
      long double exact =
          std::pow((long double)at(x, i), (long double)at(y, i));
      EXPECT_LE(ulps(at(z, i), exact, type), 0.51)
          << "pow(" << at(x, i) << ", " << at(y, i) << ")";
      if (exact == 0)
        EXPECT_EQ(std::signbit(at(z, i)), std::signbit(exact))
            << "pow(" << at(x, i) << ", " << at(y, i) << ")";
    }
  }
}

TEST_F(Composites, RoundingAndOrderAreExact) {
  std::vector<double> values = {
      0.0,  -0.0, 0.5,       -0.5,       1.5,       2.5,        -2.5, 0.3,
      -0.3, 1e9,  kInfinity, -kInfinity, 8388607.5, 0.49999997, kNan};
  std::normal_distribution<double> normal(0, 100);
  for (int i = 0; i != 2000; ++i)
    values.push_back(normal(rng));
  Tensor x = fromDoubles(DType::F32, values);
  const Function exact[] = {
      {"floor", &Composer::floor, [](long double x) { return std::floor(x); }},
      {"ceil", &Composer::ceil, [](long double x) { return std::ceil(x); }},
      {"trunc", &Composer::trunc, [](long double x) { return std::trunc(x); }},
      {"round", &Composer::round,
       [](long double x) { return std::nearbyint(x); }},
      {"abs", &Composer::abs, [](long double x) { return std::fabs(x); }}};
  for (const Function &f : exact) {
    Tensor y = run({x}, [&](Composer &c, ArrayRef<Value> v) {
      return (c.*f.method)(v[0]);
    });
    for (int64_t i = 0; i != x.getNumElements(); ++i) {
      double expected = static_cast<double>(f.exact(at(x, i)));
      if (std::isnan(expected))
        EXPECT_TRUE(std::isnan(at(y, i))) << f.name;
      else
        EXPECT_TRUE(at(y, i) == expected &&
                    std::signbit(at(y, i)) == std::signbit(expected))
            << f.name << "(" << at(x, i) << ") is " << at(y, i);
    }
  }
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

template <typename T>
void checkDivision(DType type, std::mt19937 &rng,
                   llvm::function_ref<Tensor(Tensor, Tensor, bool floor)> run) {
  const T low = std::numeric_limits<T>::min(),
          high = std::numeric_limits<T>::max();
  std::vector<T> edges = {low, T(low + 1), high, T(high - 1), 0,
                          1,   -1,         2,    -2,          3,
                          7,   -7,         1000, T(high / 2), T(low / 2)};
  std::vector<T> a, b;
  for (T p : edges)
    for (T q : edges) {
      a.push_back(p);
      b.push_back(q);
    }
  std::uniform_int_distribution<T> any(low, high);
  std::uniform_int_distribution<int> shift(0, sizeof(T) * 8 - 1);
  for (int i = 0; i != 5000; ++i) {
    a.push_back(any(rng) >> shift(rng));
    b.push_back(any(rng) >> shift(rng));
  }
  Tensor x = fromIntegers<T>(type, a), y = fromIntegers<T>(type, b);
  Tensor down = run(x, y, true), toZero = run(x, y, false);
  for (size_t i = 0; i != a.size(); ++i) {
    __int128 p = a[i], q = b[i];
    __int128 quotient = q == 0 ? 0 : p / q;
    bool adjust = q != 0 && p % q != 0 && (p < 0) != (q < 0);
    ASSERT_EQ(integerAt<T>(toZero, i), static_cast<T>(quotient))
        << a[i] << " / " << b[i];
    ASSERT_EQ(integerAt<T>(down, i), static_cast<T>(quotient - adjust))
        << a[i] << " // " << b[i];
  }
}

TEST_F(Composites, IntegerDivisionIsExact) {
  auto divide = [&](Tensor x, Tensor y, bool floor) {
    return run({x, y}, [&](Composer &c, ArrayRef<Value> v) {
      return floor ? c.floorDiv(v[0], v[1]) : c.truncDiv(v[0], v[1]);
    });
  };
  checkDivision<int32_t>(DType::I32, rng, divide);
  checkDivision<int64_t>(DType::I64, rng, divide);
}

TEST_F(Composites, MinimumOfIntegersDoesNotOverflow) {
  int64_t values[] = {3, INT64_MIN, INT64_MAX, -1};
  Tensor y = run({fromIntegers<int64_t>(DType::I64, values)},
                 [](Composer &c, ArrayRef<Value> v) {
                   return c.reduceMin(v[0], {0}, /*keepDim=*/true);
                 });
  EXPECT_EQ(integerAt<int64_t>(y, 0), INT64_MIN);
}

TEST_F(Composites, NumbersOfIntegerTypesAreTheirWholeParts) {
  int64_t values[] = {3, -4};
  Tensor y = run({fromIntegers<int64_t>(DType::I64, values)},
                 [](Composer &c, ArrayRef<Value> v) {
                   return c.add(v[0], c.splat(v[0], 7.0));
                 });
  EXPECT_EQ(integerAt<int64_t>(y, 0), 10);
  EXPECT_EQ(integerAt<int64_t>(y, 1), 3);
}

//===----------------------------------------------------------------------===//
// Movement
//===----------------------------------------------------------------------===//

/// A row-major reshape does not change the order of elements.
TEST_F(Composites, ReshapeKeepsTheOrder) {
  Expr s = Expr::symbol("s0"), t = Expr::symbol("s1");
  const std::pair<std::vector<Expr>, std::vector<Expr>> cases[] = {
      {{s, 6}, {s, 2, 3}},
      {{s, 6}, {6 * s}},
      {{6 * s}, {s, 6}},
      {{s, t, 4}, {s * t, 4}},
      {{s * t, 4}, {s, t, 2, 2}},
      {{s, t, 4}, {s, 4 * t}},
      {{s, 1, t}, {1, s, t, 1}},
      {{2, s, 6}, {2 * s, 3, 2}},
      {{s, 4, 6}, {s, 8, 3}},
      {{3, 4 * s}, {12, s}},
      {{4, 6}, {3, 8}}};
  for (const auto &[from, to] : cases)
    for (int64_t n : {1, 2, 5})
      for (int64_t m : {1, 3}) {
        auto value = [&](std::string_view name) -> std::optional<int64_t> {
          return name == "s0" ? n : m;
        };
        SmallVector<int64_t> shape, witness{n, m};
        int64_t count = 1;
        for (const Expr &e : from) {
          shape.push_back(*e.evaluate(value));
          count *= shape.back();
        }
        Tensor x = *Tensor::allocate(DType::I64, shape);
        for (int64_t i = 0; i != count; ++i)
          std::memcpy(x.mutableData() + i * 8, &i, 8);
        // Gives the symbols their values.
        Tensor w = *Tensor::allocate(DType::I64, witness);
        Tensor y = run({SmallVector<Expr>(from.begin(), from.end()),
                        SmallVector<Expr>{s, t}},
                       {x, w}, [&](Composer &c, ArrayRef<Value> v) {
                         return c.reshape(v[0], to);
                       });
        ASSERT_EQ(y.getNumElements(), count);
        for (int64_t i = 0; i != count; ++i)
          ASSERT_EQ(integerAt<int64_t>(y, i), i);
      }
}

} // namespace
