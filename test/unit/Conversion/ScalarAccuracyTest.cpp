//===- ScalarAccuracyTest.cpp - Every function is as accurate as stated ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The code of each function of floats, on a vector and on a scalar, in f64,
// f32, f16 and bf16, is held to Functions.def: on all 2^16 inputs where there
// are no more, else on random ones of every magnitude. The references are the C
// library's functions of long double, whose error is about 2^-11 ulp of f64.
//
//===----------------------------------------------------------------------===//

#include "ScalarCode.h"
#include "luminal/Dialect/LLIR/IR/Functions.h"

#include <bit>
#include <cmath>
#include <random>
#include <vector>

using namespace luminal;
using namespace mlir;
using llir::Fn;

namespace {

/// The allowed error of the references.
constexpr double kSlack = 0.001;

struct Format {
  const char *name;
  unsigned bits, mantissa;
  Type (*type)(MLIRContext *);

  unsigned exponentBits() const { return bits - 1 - mantissa; }
  int bias() const { return (1 << (exponentBits() - 1)) - 1; }
  double largest() const {
    return std::ldexp(2 - std::ldexp(1.0, -int(mantissa)), bias());
  }

  double decode(uint64_t code) const {
    uint64_t digits = code & ((uint64_t(1) << mantissa) - 1);
    int exponent = code >> mantissa & ((1u << exponentBits()) - 1);
    double sign = code >> (bits - 1) ? -1 : 1;
    if (exponent == (1 << exponentBits()) - 1)
      return digits ? NAN : sign * INFINITY;
    if (exponent == 0)
      return sign * std::ldexp(double(digits), 1 - bias() - int(mantissa));
    return sign * std::ldexp(double(digits | uint64_t(1) << mantissa),
                             exponent - bias() - int(mantissa));
  }
  /// Of a number of the format, or the nearest one below it.
  uint64_t encode(double x) const {
    uint64_t wide = std::bit_cast<uint64_t>(x);
    int exponent = int(wide >> 52 & 0x7FF) - 1023 + bias();
    uint64_t sign = wide >> 63 << (bits - 1);
    if (exponent <= 0)
      return sign;
    if (exponent >= (1 << exponentBits()) - 1)
      return sign | ((uint64_t(1) << exponentBits()) - 1) << mantissa;
    return sign | uint64_t(exponent) << mantissa |
           (wide & ((uint64_t(1) << 52) - 1)) >> (52 - mantissa);
  }

  /// Distance from the exact value in units of the last place there; infinite
  /// where one is NaN or infinite and the other is not.
  double ulps(double got, long double exact) const {
    if (std::isnan(exact) || std::isnan(got))
      return std::isnan(exact) && std::isnan(got) ? 0 : INFINITY;
    if (exact == 0 || std::isinf(exact))
      return got == exact ? 0 : INFINITY;
    int exponent = std::clamp(std::ilogb(exact), 1 - bias(), bias());
    long double unit = std::ldexp(1.0L, exponent - int(mantissa));
    // More than half an ulp above the largest number everything is infinite.
    if (std::isinf(got))
      return std::signbit(got) == std::signbit(exact)
                 ? std::max(0.0L, (largest() - std::fabs(exact)) / unit + 1)
                 : INFINITY;
    return std::fabs(got - exact) / unit;
  }
};

const Format kFormats[] = {
    {"f64", 64, 52, [](MLIRContext *c) -> Type { return Float64Type::get(c); }},
    {"f32", 32, 23, [](MLIRContext *c) -> Type { return Float32Type::get(c); }},
    {"f16", 16, 10, [](MLIRContext *c) -> Type { return Float16Type::get(c); }},
    {"bf16", 16, 7,
     [](MLIRContext *c) -> Type { return BFloat16Type::get(c); }}};

/// Codes of every magnitude, many near where functions change.
std::vector<uint64_t> inputs(const Format &f, unsigned count) {
  std::vector<uint64_t> codes;
  if (f.bits == 16 && count >= 1 << 16) {
    for (uint64_t code = 0; code != 1 << 16; ++code)
      codes.push_back(code);
    return codes;
  }
  for (double x : {0.0, 1.0, 2.0, 0.5, 3.0, 7.5, 1e-3, 126.0, 128.0, 149.0,
                   708.5, 745.5, 1e30, 1e300, double(INFINITY)})
    for (double sign : {1.0, -1.0})
      codes.push_back(f.encode(sign * x));
  codes.push_back(f.encode(INFINITY) | 1); // NaN
  std::mt19937_64 random(1);
  auto uniform = [&](double range) {
    return std::uniform_real_distribution<double>(-range, range)(random);
  };
  while (codes.size() < count) {
    codes.push_back(random() >> (64 - f.bits));
    codes.push_back(f.encode(uniform(1)));
    codes.push_back(f.encode(uniform(10)));
    codes.push_back(f.encode(uniform(760)));
    codes.push_back(f.encode(uniform(1) * std::exp2(uniform(40))));
  }
  codes.resize(count & ~size_t(kLanes - 1));
  return codes;
}

/// Runs both forms of a function on pairs of codes and compares.
class Measure {
public:
  Measure(Fn fn, const Format &f) : fn(fn), f(f) {}

  using Exact = std::function<long double(long double, long double)>;
  void run(const std::vector<uint64_t> &x, const std::vector<uint64_t> &y,
           const Exact &exact) {
    Compiled code(
        stringifyFn(fn), [&](Builder &b) { return f.type(b.getContext()); },
        [&](ImplicitLocOpBuilder &b, Value x, Value y) {
          SmallVector<Value> args{x};
          if (llir::getArity(fn) == 2)
            args.push_back(y);
          return emitFn(b, fn, args, f.type(b.getContext()));
        });
    ASSERT_TRUE(code.vector && code.scalar);
    MLIRContext context;
    const double allowed = llir::getUlps(fn, f.type(&context));
    double worst = 0, worstX = 0, worstY = 0;
    unsigned bytes = f.bits / 8;
    for (size_t i = 0; i != x.size(); i += kLanes) {
      alignas(64) char in[2][kLanes * 8], out[kLanes * 8], one[8];
      for (int k = 0; k != kLanes; ++k) {
        memcpy(in[0] + k * bytes, &x[i + k], bytes);
        memcpy(in[1] + k * bytes, &y[i + k], bytes);
      }
      code.vector(out, in[0], in[1]);
      for (int k = 0; k != kLanes; ++k) {
        code.scalar(one, in[0] + k * bytes, in[1] + k * bytes);
        uint64_t vector = 0, scalar = 0;
        memcpy(&vector, out + k * bytes, bytes);
        memcpy(&scalar, one, bytes);
        double a = f.decode(x[i + k]), b = f.decode(y[i + k]);
        double got = f.decode(vector);
        ASSERT_TRUE(vector == scalar ||
                    (std::isnan(got) && std::isnan(f.decode(scalar))))
            << "of " << a << ", " << b << ": vector " << got << ", scalar "
            << f.decode(scalar);
        double error = f.ulps(got, exact(a, b));
        if (error > worst)
          worst = error, worstX = a, worstY = b;
      }
    }
    printf("%-10s %-5s worst %.4f of %g ulp\n", stringifyFn(fn).data(), f.name,
           worst, allowed);
    EXPECT_LE(worst, allowed + kSlack)
        << stringifyFn(fn).str() << " in " << f.name << " of " << worstX << ", "
        << worstY;
  }

private:
  Fn fn;
  const Format &f;
};

long double sigmoid(long double x) { return 1 / (1 + expl(-x)); }
long double geluTanhArgument(long double x) {
  return (long double)0.7978845608028654 *
         (x + (long double)0.044715 * x * x * x);
}

struct Unary {
  Fn fn;
  long double (*exact)(long double);
};
const Unary kUnary[] = {
    {Fn::Neg, [](long double x) { return -x; }},
    {Fn::Abs, fabsl},
    {Fn::Floor, floorl},
    {Fn::Ceil, ceill},
    {Fn::Round, rintl},
    {Fn::Trunc, truncl},
    {Fn::Exp, expl},
    {Fn::ExpFast, expl},
    {Fn::ExpApprox, expl},
    {Fn::Exp2, exp2l},
    {Fn::Exp2Fast, exp2l},
    {Fn::Expm1, expm1l},
    {Fn::Log, logl},
    {Fn::Log2, log2l},
    {Fn::Log1p, log1pl},
    {Fn::Sin, sinl},
    {Fn::Cos, cosl},
    {Fn::Tanh, tanhl},
    {Fn::Erf, erfl},
    {Fn::Atan, atanl},
    {Fn::Asin, asinl},
    {Fn::Acos, acosl},
    {Fn::Sqrt, sqrtl},
    {Fn::Rsqrt, [](long double x) { return 1 / sqrtl(x); }},
    {Fn::Recip, [](long double x) { return 1 / x; }},
    {Fn::Sigmoid, sigmoid},
    {Fn::Silu, [](long double x) { return x / (1 + expl(-x)); }},
    {Fn::Gelu,
     [](long double x) {
       return x / 2 * erfcl(-x * 0.707106781186547524400844362104849039L);
     }},
    {Fn::GeluTanh,
     [](long double x) { return x / (1 + expl(-2 * geluTanhArgument(x))); }}};

class ScalarAccuracy : public testing::TestWithParam<Format> {};
INSTANTIATE_TEST_SUITE_P(All, ScalarAccuracy, testing::ValuesIn(kFormats),
                         [](const auto &info) {
                           return std::string(info.param.name);
                         });

TEST_P(ScalarAccuracy, Unary) {
  const Format &f = GetParam();
  std::vector<uint64_t> x = inputs(f, 1 << 16);
  for (const struct Unary &u : kUnary)
    ASSERT_NO_FATAL_FAILURE(Measure(u.fn, f).run(
        x, x, [&](long double a, long double) { return u.exact(a); }));
}

long double floorMod(long double x, long double y) {
  long double r = fmodl(x, y);
  return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}

struct Binary {
  Fn fn;
  long double (*exact)(long double, long double);
};
const Binary kBinary[] = {
    {Fn::Add, [](long double x, long double y) { return x + y; }},
    {Fn::Sub, [](long double x, long double y) { return x - y; }},
    {Fn::Mul, [](long double x, long double y) { return x * y; }},
    {Fn::Div, [](long double x, long double y) { return x / y; }},
    {Fn::Max, [](long double x,
                 long double y) { return x < y || std::isnan(y) ? y : x; }},
    {Fn::Min, [](long double x,
                 long double y) { return y < x || std::isnan(y) ? y : x; }},
    {Fn::Mod, fmodl},
    {Fn::FloorMod, floorMod},
    {Fn::Pow, powl}};

TEST_P(ScalarAccuracy, Binary) {
  const Format &f = GetParam();
  std::vector<uint64_t> x = inputs(f, 1 << 15), y = x;
  std::shuffle(y.begin(), y.end(), std::mt19937_64(2));
  for (const struct Binary &b : kBinary)
    ASSERT_NO_FATAL_FAILURE(Measure(b.fn, f).run(x, y, b.exact));
}

/// Finite quotients of finite nonzero divisors.
TEST_P(ScalarAccuracy, FloorDiv) {
  const Format &f = GetParam();
  std::vector<uint64_t> codes = inputs(f, 1 << 15), others = codes, x, y;
  std::shuffle(others.begin(), others.end(), std::mt19937_64(3));
  for (size_t i = 0; i != codes.size(); ++i) {
    double a = f.decode(codes[i]), b = f.decode(others[i]);
    if (std::isfinite(a) && std::isfinite(b) && b != 0 &&
        std::fabs(a / b) < f.largest() / 2)
      x.push_back(codes[i]), y.push_back(others[i]);
  }
  x.resize(x.size() & ~size_t(kLanes - 1));
  y.resize(x.size());
  ASSERT_GT(x.size(), 1000u);
  ASSERT_NO_FATAL_FAILURE(
      Measure(Fn::FloorDiv, f).run(x, y, [](long double a, long double b) {
        return a == 0 ? a / b : (a - floorMod(a, b)) / b;
      }));
}

/// A function without a row would not compile; one without a test fails here.
TEST(ScalarAccuracyTable, EveryFunctionIsMeasured) {
  for (unsigned i = 0; i <= llir::getMaxEnumValForFn(); ++i) {
    std::optional<Fn> fn = llir::symbolizeFn(i);
    if (!fn)
      continue;
    bool measured = *fn == Fn::FloorDiv;
    for (const struct Unary &u : kUnary)
      measured |= u.fn == *fn;
    for (const struct Binary &b : kBinary)
      measured |= b.fn == *fn;
    // These select or compare, or the tests of casts check every rounding.
    bool isOther = llvm::is_contained(
        {Fn::Cast, Fn::Bitcast, Fn::Not, Fn::IsNan, Fn::LessThan, Fn::LessEqual,
         Fn::Equal, Fn::Or, Fn::BitAnd, Fn::BitOr, Fn::BitXor, Fn::ShiftLeft,
         Fn::ShiftRight, Fn::Select},
        *fn);
    EXPECT_TRUE(measured != isOther) << stringifyFn(*fn).str();
  }
}

} // namespace
