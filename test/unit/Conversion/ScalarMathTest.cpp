//===- ScalarMathTest.cpp - Scalar functions against the C library --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each function is compiled twice, on a vector of 16 and on a scalar, and run
// on every float32 whose bits are a multiple of a stride, on special values,
// and (two operands) on pairs of them. The references are the C library's f64
// functions: their own error, about 1 ulp of f64, is 2^-29 ulp of f32. The
// allowed error is in Functions.def; ScalarAccuracyTest.cpp has the other
// types. LUMINAL_MATH_STRIDE=1 tries all 2^32 inputs. LUMINAL_MATH_PEER names a
// file with another implementation's results for the same inputs, in the same
// order, which are judged the same way: utils/testing/check_scalar_math.py
// passes PyTorch's through a pipe.
//
//===----------------------------------------------------------------------===//

#include "ScalarCode.h"
#include "luminal/Dialect/LLIR/IR/Functions.h"
#include "gtest/gtest.h"

#include <bit>
#include <cmath>
#include <cstdlib>
#include <vector>

using namespace luminal;
using namespace mlir;
using llir::Fn;

namespace {

Type f32Type(Builder &b) { return b.getF32Type(); }

/// Distance of `got` from the exact value in units of the last place of f32 at
/// the exact value; infinite where one of them is NaN or infinite and the other
/// is not the same.
double ulps(float got, double exact) {
  float rounded = float(exact);
  if (std::isnan(exact) || std::isnan(got))
    return std::isnan(exact) && std::isnan(got) ? 0 : INFINITY;
  if (std::isinf(rounded) || std::isinf(got))
    return got == rounded ? 0 : INFINITY;
  uint64_t exponent = std::bit_cast<uint64_t>(exact) >> 52 & 0x7FF;
  exponent = std::max<uint64_t>(exponent, 1023 - 126);
  double unit = std::bit_cast<double>((exponent - 23) << 52);
  return std::fabs(got - exact) / unit;
}

/// Statistics of one implementation.
struct Score {
  double worst = 0;
  float at = 0;
  /// Results that are NaN, infinite or a zero of one sign where the exact one
  /// is not.
  uint64_t classes = 0;
  /// Denormal inputs or results with an error above `allowed`.
  uint64_t denormals = 0;
  double allowed;

  void add(float x, float got, double exact) {
    double error = ulps(got, exact);
    if (std::isinf(error) ||
        (exact == 0 && got == 0 && std::signbit(exact) != std::signbit(got)))
      ++classes;
    if (error > worst && !std::isinf(error))
      worst = error, at = x;
    auto isDenormal = [](double v) { return v != 0 && fabs(v) < 0x1p-126; };
    if (error > allowed && (isDenormal(x) || isDenormal(exact)))
      ++denormals;
  }
  void print(const char *who) const {
    printf("  %-8s worst %.5f ulp at %a, %llu of another class, %llu denormals "
           "off\n",
           who, worst, at, (unsigned long long)classes,
           (unsigned long long)denormals);
  }
};

uint32_t stride() {
  if (const char *text = std::getenv("LUMINAL_MATH_STRIDE"))
    return std::max(1, atoi(text));
  return 16411; // a prime: 262,000 inputs over every exponent
}

struct Unary {
  const char *name;
  Fn fn;
  double (*exact)(double);
};

double exactSigmoid(double x) { return 1 / (1 + exp(-x)); }
double exactSilu(double x) { return x / (1 + exp(-x)); }
double exactGelu(double x) { return x / 2 * erfc(-x * 0.70710678118654752440); }
double exactGeluTanh(double x) {
  return x /
         (1 + exp(-2 * 0.79788456080286535588 * (x + 0.044715 * x * x * x)));
}
double exactRecip(double x) { return 1 / x; }
double exactRsqrt(double x) { return 1 / sqrt(x); }

class ScalarMathUnary : public testing::TestWithParam<Unary> {};

TEST_P(ScalarMathUnary, WithinUlps) {
  const Unary &p = GetParam();
  MLIRContext context;
  const double worst = llir::getUlps(p.fn, Float32Type::get(&context));
  Compiled f(p.name, f32Type, [&](ImplicitLocOpBuilder &b, Value x, Value) {
    return emitFn(b, p.fn, {x}, b.getF32Type());
  });
  ASSERT_TRUE(f.vector && f.scalar);
  FILE *peerFile = nullptr;
  if (const char *path = std::getenv("LUMINAL_MATH_PEER"))
    ASSERT_TRUE((peerFile = fopen(path, "rb"))) << path;
  Score ours, peer;
  ours.allowed = peer.allowed = std::max(1.0, worst);
  uint64_t count = 0;
  std::vector<float> x(4096), y(4096), theirs(4096);
  auto flush = [&](size_t n, bool hasPeer) {
    if (hasPeer) {
      ASSERT_EQ(fread(theirs.data(), sizeof(float), n, peerFile), n);
    }
    for (size_t i = 0; i < n; i += kLanes)
      f.vector(&y[i], &x[i], &x[i]);
    for (size_t i = 0; i < n; ++i) {
      float one;
      f.scalar(&one, &x[i], &x[i]);
      ASSERT_TRUE(std::bit_cast<uint32_t>(one) ==
                      std::bit_cast<uint32_t>(y[i]) ||
                  (std::isnan(one) && std::isnan(y[i])))
          << p.name << "(" << x[i] << "): vector " << y[i] << ", scalar "
          << one;
      double exact = p.exact(x[i]);
      ours.add(x[i], y[i], exact);
      if (hasPeer)
        peer.add(x[i], theirs[i], exact);
    }
    count += n;
  };
  uint64_t step = stride();
  size_t n = 0;
  for (uint64_t bits = 0; bits < (uint64_t(1) << 32); bits += step) {
    x[n++] = std::bit_cast<float>(uint32_t(bits));
    if (n == x.size())
      ASSERT_NO_FATAL_FAILURE(flush(std::exchange(n, 0), peerFile));
  }
  ASSERT_NO_FATAL_FAILURE(flush(n, peerFile));
  // These include the ends of ranges that the code distinguishes.
  const float specials[] = {
      0.0f,        -0.0f,     1.0f,          -1.0f,          INFINITY,
      -INFINITY,   NAN,       1e-45f,        -1e-45f,        1.17549435e-38f,
      88.72283f,   88.72284f, -87.33f,       87.33f,         -87.32f,
      -103.97208f, -104.0f,   3.4028235e38f, -3.4028235e38f, 0.5f,
      1.5707964f,  -12.9f,    12.9f,         0.7f,           -0.7f,
      4.0f,        -4.0f,     126.0f,        -126.0f,        128.0f,
      -149.0f,     -150.0f,   -152.0f,       130.0f,         131072.0f,
      -131072.0f};
  std::copy(std::begin(specials), std::end(specials), x.begin());
  ASSERT_NO_FATAL_FAILURE(flush(std::size(specials), false));
  printf("%s: %llu inputs, against the C library's f64\n", p.name,
         (unsigned long long)count);
  ours.print("luminal");
  EXPECT_LE(ours.worst, worst) << p.name << " at " << ours.at;
  EXPECT_EQ(ours.classes, 0u) << p.name;
  EXPECT_EQ(ours.denormals, 0u) << p.name;
  if (peerFile) {
    peer.print("peer");
    EXPECT_LE(ours.worst, peer.worst) << p.name;
    fclose(peerFile);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, ScalarMathUnary,
    testing::Values(
        Unary{"exp", Fn::Exp, exp}, Unary{"exp_fast", Fn::ExpFast, exp},
        Unary{"exp_approx", Fn::ExpApprox, exp}, Unary{"exp2", Fn::Exp2, exp2},
        Unary{"exp2_fast", Fn::Exp2Fast, exp2},
        Unary{"expm1", Fn::Expm1, expm1}, Unary{"log", Fn::Log, log},
        Unary{"log2", Fn::Log2, log2}, Unary{"log1p", Fn::Log1p, log1p},
        Unary{"sin", Fn::Sin, sin}, Unary{"cos", Fn::Cos, cos},
        Unary{"tanh", Fn::Tanh, tanh}, Unary{"erf", Fn::Erf, erf},
        Unary{"atan", Fn::Atan, atan}, Unary{"asin", Fn::Asin, asin},
        Unary{"acos", Fn::Acos, acos},
        Unary{"sigmoid", Fn::Sigmoid, exactSigmoid},
        Unary{"silu", Fn::Silu, exactSilu}, Unary{"gelu", Fn::Gelu, exactGelu},
        Unary{"gelu_tanh", Fn::GeluTanh, exactGeluTanh},
        Unary{"sqrt", Fn::Sqrt, sqrt}, Unary{"rsqrt", Fn::Rsqrt, exactRsqrt},
        Unary{"recip", Fn::Recip, exactRecip}),
    [](const auto &info) { return std::string(info.param.name); });

/// Zeros have the sign that the function gives them.
TEST(ScalarMath, SignedZero) {
  for (Fn fn : {Fn::Sin, Fn::Tanh, Fn::Erf, Fn::Atan, Fn::Asin, Fn::Expm1,
                Fn::Log1p, Fn::Sqrt, Fn::Gelu, Fn::Silu}) {
    Compiled f("zero", f32Type, [&](ImplicitLocOpBuilder &b, Value x, Value) {
      return emitFn(b, fn, {x}, b.getF32Type());
    });
    float x = -0.0f, y = 1;
    f.scalar(&y, &x, &x);
    EXPECT_TRUE(y == 0 && std::signbit(y)) << int(fn) << ": " << y;
  }
}

const float kPairs[] = {
    0.0f,  -0.0f,       1.0f,       -1.0f,  2.0f,     -2.0f,
    0.5f,  -0.5f,       3.0f,       -3.0f,  7.5f,     -7.5f,
    1e-3f, 1e30f,       -1e30f,     1e-40f, INFINITY, -INFINITY,
    NAN,   0.99999994f, 1.0000001f, 127.3f, -1023.0f, 16777216.0f};

TEST(ScalarMath, PowAndRemainders) {
  struct {
    Fn fn;
    double (*exact)(double, double);
  } cases[] = {{Fn::Pow, pow}, {Fn::Mod, fmod}};
  for (auto &c : cases) {
    Compiled f("pair", f32Type, [&](ImplicitLocOpBuilder &b, Value x, Value y) {
      return emitFn(b, c.fn, {x, y}, b.getF32Type());
    });
    auto check = [&](float x, float y) {
      float got;
      f.scalar(&got, &x, &y);
      EXPECT_LE(ulps(got, c.exact(x, y)), 0.51)
          << int(c.fn) << " of " << x << ", " << y << " is " << got;
    };
    for (float x : kPairs)
      for (float y : kPairs)
        check(x, y);
    uint32_t state = 1;
    for (int i = 0; i < 20000; ++i) {
      auto next = [&] {
        return float(int32_t(state = state * 1664525u + 1013904223u)) /
               float(1 << 27);
      };
      float x = next(), y = next();
      check(x, y);
    }
  }
}

/// Remainders of multiples, and of the numbers beside them, bit for bit.
template <typename T>
static void checkRemainders(mlir::Type (*type)(Builder &b)) {
  Compiled f("rem", type, [&](ImplicitLocOpBuilder &b, Value x, Value y) {
    return emitFn(b, Fn::Mod, {x, y}, type(b));
  });
  auto check = [&](T x, T y) {
    T got, exact = std::fmod(x, y);
    f.scalar(&got, &x, &y);
    EXPECT_TRUE(std::isnan(exact)
                    ? std::isnan(got)
                    : got == exact && std::signbit(got) == std::signbit(exact))
        << x << " mod " << y << " is " << got << ", not " << exact;
  };
  for (float x : kPairs)
    for (float y : kPairs)
      check(x, y);
  uint64_t state = 1;
  auto next = [&] {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return T(int64_t(state)) / T(int64_t(1) << 60);
  };
  for (int i = 0; i < 20000; ++i) {
    T y = next();
    // Quotients of up to 64 bits, so some are beyond those of any type.
    T x = y * std::floor(std::ldexp(next(), i % 60));
    for (T beside : {x, std::nextafter(x, T(0)), std::nextafter(x, 2 * x)})
      check(beside, y);
  }
}

TEST(ScalarMath, RemaindersAreExact) {
  checkRemainders<float>([](Builder &b) -> Type { return b.getF32Type(); });
  checkRemainders<double>([](Builder &b) -> Type { return b.getF64Type(); });
}

TEST(ScalarMath, IntegerDivisionNeverTraps) {
  auto i64 = [](Builder &b) -> Type { return b.getI64Type(); };
  struct {
    Fn fn;
    int64_t (*exact)(int64_t, int64_t);
  } cases[] = {
      {Fn::Div,
       [](int64_t x, int64_t y) {
         return y == 0 ? 0 : y == -1 ? int64_t(0 - uint64_t(x)) : x / y;
       }},
      {Fn::Mod,
       [](int64_t x, int64_t y) {
         return y == 0 || y == -1 ? (y == 0 ? int64_t(0) : 0) : x % y;
       }},
      {Fn::FloorDiv,
       [](int64_t x, int64_t y) {
         if (y == 0)
           return int64_t(0);
         if (y == -1)
           return int64_t(0 - uint64_t(x));
         return x / y - (x % y != 0 && (x % y < 0) != (y < 0));
       }},
      {Fn::FloorMod,
       [](int64_t x, int64_t y) {
         if (y == 0 || y == -1)
           return int64_t(0);
         int64_t r = x % y;
         return r != 0 && (r < 0) != (y < 0) ? r + y : r;
       }},
      {Fn::BitAnd, [](int64_t x, int64_t y) { return x & y; }},
      {Fn::BitOr, [](int64_t x, int64_t y) { return x | y; }},
      {Fn::BitXor, [](int64_t x, int64_t y) { return x ^ y; }},
      {Fn::ShiftLeft,
       [](int64_t x, int64_t y) {
         return y < 0 || y > 63 ? 0 : int64_t(uint64_t(x) << y);
       }},
      {Fn::ShiftRight,
       [](int64_t x, int64_t y) { return x >> (y < 0 || y > 63 ? 63 : y); }}};
  int64_t values[] = {0,
                      1,
                      -1,
                      2,
                      -2,
                      7,
                      -7,
                      63,
                      64,
                      100,
                      -100,
                      INT64_MAX,
                      INT64_MIN,
                      INT64_MIN + 1,
                      int64_t(1) << 53};
  for (auto &c : cases) {
    Compiled f("int", i64, [&](ImplicitLocOpBuilder &b, Value x, Value y) {
      return emitFn(b, c.fn, {x, y}, b.getI64Type());
    });
    for (int64_t x : values)
      for (int64_t y : values) {
        int64_t got;
        f.scalar(&got, &x, &y);
        EXPECT_EQ(got, c.exact(x, y)) << int(c.fn) << " of " << x << ", " << y;
      }
  }
}

/// f32 -> T -> f32 for every T of at most 16 bits: all 2^16 codes decode and
/// encode back, and midpoints go to even.
TEST(ScalarMath, NarrowFloatsRoundTrip) {
  auto i16 = [](Builder &b) -> Type { return b.getIntegerType(16); };
  auto i8 = [](Builder &b) -> Type { return b.getI8Type(); };
  for (int which = 0; which < 4; ++which) {
    auto narrow = [&](Builder &b) -> Type {
      switch (which) {
      case 0:
        return b.getF16Type();
      case 1:
        return b.getBF16Type();
      case 2:
        return Float8E4M3FNType::get(b.getContext());
      default:
        return Float8E5M2Type::get(b.getContext());
      }
    };
    bool is8 = which >= 2;
    std::function<Type(Builder &)> bits =
        is8 ? std::function<Type(Builder &)>(i8) : i16;
    Compiled decode("decode", bits,
                    [&](ImplicitLocOpBuilder &b, Value x, Value) {
                      Type t = narrow(b);
                      if (!is8)
                        x = arith::BitcastOp::create(
                            b,
                            isa<VectorType>(x.getType())
                                ? cast<VectorType>(x.getType()).clone(t)
                                : t,
                            x);
                      return emitCast(b, x, t, b.getF32Type());
                    });
    Compiled encode("encode", f32Type,
                    [&](ImplicitLocOpBuilder &b, Value x, Value) {
                      Value y = emitCast(b, x, b.getF32Type(), narrow(b));
                      Type i = bits(b);
                      if (!is8)
                        y = arith::BitcastOp::create(
                            b,
                            isa<VectorType>(y.getType())
                                ? cast<VectorType>(y.getType()).clone(i)
                                : i,
                            y);
                      return y;
                    });
    float previous = NAN;
    for (uint32_t code = 0; code < (is8 ? 128u : 32768u); ++code) {
      uint16_t raw = uint16_t(code);
      float value;
      decode.scalar(&value, &raw, &raw);
      if (std::isnan(value)) {
        previous = NAN;
        continue;
      }
      uint16_t back = 0;
      encode.scalar(&back, &value, &value);
      ASSERT_EQ(back, raw) << which << " decodes to " << value;
      if (std::isfinite(previous) && std::isfinite(value)) {
        float middle = previous + (value - previous) / 2;
        encode.scalar(&back, &middle, &middle);
        ASSERT_EQ(back, raw - (raw & 1)) << which << ": midpoint " << middle;
      }
      previous = value;
    }
  }
}

TEST(ScalarMath, FloatToIntSaturates) {
  Compiled to64("f32 to i64", f32Type,
                [](ImplicitLocOpBuilder &b, Value x, Value) {
                  return emitCast(b, x, b.getF32Type(), b.getI64Type());
                });
  Compiled to32("f32 to i32", f32Type,
                [](ImplicitLocOpBuilder &b, Value x, Value) {
                  return emitCast(b, x, b.getF32Type(), b.getI32Type());
                });
  struct {
    float x;
    int64_t to64;
    int32_t to32;
  } cases[] = {{NAN, 0, 0},
               {INFINITY, INT64_MAX, INT32_MAX},
               {-INFINITY, INT64_MIN, INT32_MIN},
               {1.9f, 1, 1},
               {-1.9f, -1, -1},
               {3e9f, 3000000000, INT32_MAX},
               {-3e9f, -3000000000, INT32_MIN},
               {1e30f, INT64_MAX, INT32_MAX},
               {-0.0f, 0, 0},
               {0x1p62f, int64_t(1) << 62, INT32_MAX}};
  for (auto &c : cases) {
    int64_t a;
    int32_t b;
    to64.scalar(&a, &c.x, &c.x);
    to32.scalar(&b, &c.x, &c.x);
    EXPECT_EQ(a, c.to64) << c.x;
    EXPECT_EQ(b, c.to32) << c.x;
  }
}

} // namespace
