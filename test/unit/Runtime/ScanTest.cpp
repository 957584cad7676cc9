//===- ScanTest.cpp - Steps that scan rows --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Short and long rows, along any dim, in both directions, by any number of
// threads, against one loop from the left.
//
//===----------------------------------------------------------------------===//

#include "ArtifactBuilder.h"
#include "Rounds.h"
#include "luminal/Support/Scalar.h"
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

using namespace luminal;
using namespace luminal::runtime;
using namespace luminal::runtime::testing;

namespace {
using Shape = std::vector<int64_t>;
constexpr double kInf = std::numeric_limits<double>::infinity();

Builder scanned(const CPUScanLaunch &how) {
  Builder b;
  for (const char *name : {"i", "m", "n"})
    b.symbol(name, 0, std::nullopt);
  uint32_t x = b.input("x", how.type, {s("m"), s("n"), s("i")});
  uint32_t y = b.output("y", how.resultType, {s("m"), s("n"), s("i")});
  CPUScanLaunch launch = how;
  launch.work = s("m*n*i");
  launch.outer = s("m");
  launch.length = s("n");
  launch.inner = s("i");
  StepSpec step;
  step.name = "scan";
  step.buffers = {x, y};
  step.launch = launch;
  b.m.steps.push_back(step);
  return b;
}

/// One element of the state: its value, or the place of the extremum.
struct State {
  double value;
  int64_t integer, place = 0;
};

State start(const CPUScanLaunch &how) {
  const bool isMax = how.kind == "max";
  if (how.kind == "sum" || how.kind == "product")
    return {double(how.kind == "product"), how.kind == "product"};
  const bool isNarrow = how.type == DType::I32;
  return {isMax || how.kind == "log_sum_exp" ? -kInf : kInf,
          isMax ? (isNarrow ? INT32_MIN : INT64_MIN)
                : (isNarrow ? INT32_MAX : INT64_MAX)};
}

void step(const CPUScanLaunch &how, State &s, double x, int64_t n,
          int64_t place) {
  if (how.kind == "sum") {
    s.value += x;
    s.integer = int64_t(uint64_t(s.integer) + uint64_t(n));
  } else if (how.kind == "product") {
    s.value *= x;
    // Of halves in f32, which ends earlier.
    if (how.type == DType::F16 || how.type == DType::BF16)
      s.value = static_cast<float>(s.value);
    s.integer = int64_t(uint64_t(s.integer) * uint64_t(n));
  } else if (how.kind == "log_sum_exp") {
    if (std::isinf(s.value) || std::isinf(x))
      s.value = std::isnan(s.value + x) && !(s.value == -x)
                    ? s.value + x
                    : std::max(s.value, x);
    else
      s.value =
          std::max(s.value, x) + std::log1p(std::exp(-std::abs(s.value - x)));
  } else {
    const bool isMax = how.kind == "max";
    if (std::isnan(x) ||
        (!std::isnan(s.value) && (isMax ? s.value <= x : x <= s.value))) {
      s.value = x;
      if (isFloatDType(how.type))
        s.place = place;
    }
    if (isMax ? s.integer <= n : n <= s.integer) {
      s.integer = n;
      if (!isFloatDType(how.type))
        s.place = place;
    }
  }
}

void check(CPUScanLaunch how) {
  const bool isInteger = !isFloatDType(how.type);
  // The last ones are cut into parts.
  const Shape shapes[] = {{3, 1, 1},    {9, 7, 1},    {17, 200, 1},
                          {2, 130, 3},  {0, 10, 1},   {3, 0, 2},
                          {1, 33, 100}, {1, 9000, 1}, {3, 5000, 1},
                          {2, 4500, 2}, {16, 128, 1}};
  const size_t size = dtypeSize(how.type), toSize = dtypeSize(how.resultType);
  std::vector<uint8_t> once;
  for (unsigned threads : {1u, 3u}) {
    auto c = scanned(how).context(threads);
    std::vector<uint8_t> all;
    for (const Shape &shape : shapes)
      // Values do not change which memory is read, or by whom.
      for (unsigned kind = 0; kind < (test::kIsSanitized ? 1 : 3); ++kind) {
        const int64_t count = shape[0] * shape[1] * shape[2];
        std::mt19937_64 rng(unsigned(count) + kind);
        std::vector<uint8_t> x(count * size + 8), y(count * toSize + 8, 0x5A);
        for (int64_t i = 0; i < count; ++i) {
          // Few ones with many ties; all kinds; numbers near one.
          double v = kind == 0   ? double(int64_t(rng() % 7)) - 3
                     : kind == 1 ? std::ldexp(double(int64_t(rng())), -62)
                                 : 1 + std::ldexp(double(rng() % 64), -9);
          if (kind == 1 && rng() % 701 == 0)
            v = std::initializer_list<double>{NAN, kInf, -kInf, -0.0}
                    .begin()[rng() % 4];
          if (isInteger)
            storeInt(how.type, kind ? int64_t(rng()) : int64_t(v),
                     &x[i * size]);
          else
            storeFloat(how.type, v, &x[i * size]);
        }
        EXPECT_OK(c->bindInput(0, x.data(), how.type, shape));
        EXPECT_OK(c->bindOutput(0, y.data(), how.resultType, shape));
        EXPECT_OK(c->run());
        EXPECT_EQ(y.back(), 0x5A);
        all.insert(all.end(), y.begin(), y.end());
        if (threads > 1)
          continue;
        int wrong = 0;
        for (int64_t row = 0; row < shape[0]; ++row)
          for (int64_t k = 0; k < shape[2]; ++k) {
            State state = start(how);
            double terms = 0;
            for (int64_t n = 0; n < shape[1]; ++n) {
              const int64_t j = how.reverse ? shape[1] - 1 - n : n;
              const int64_t i = (row * shape[1] + j) * shape[2] + k;
              const double v =
                  isInteger ? 0 : loadFloat(how.type, &x[i * size]);
              const int64_t integer =
                  isInteger ? loadInt(how.type, &x[i * size]) : 0;
              auto expect = [&] {
                if (isInteger || how.positions) {
                  const int64_t found = loadInt(how.resultType, &y[i * toSize]);
                  uint8_t narrow[8];
                  storeInt(how.resultType,
                           how.positions ? state.place : state.integer, narrow);
                  wrong += found != loadInt(how.resultType, narrow);
                  return;
                }
                const double found = loadFloat(how.resultType, &y[i * toSize]);
                const double epsilon = how.resultType == DType::F64   ? 1e-12
                                       : how.resultType == DType::F32 ? 1e-7
                                       : how.resultType == DType::F16 ? 5e-4
                                                                      : 4e-3;
                uint8_t rounded[8];
                storeFloat(how.resultType, state.value, rounded);
                const double expected = loadFloat(how.resultType, rounded);
                const bool isSame =
                    std::isnan(expected)
                        ? std::isnan(found)
                        : expected == found ||
                              std::abs(found - expected) <=
                                  epsilon * std::max(std::abs(expected),
                                                     how.kind == "sum" ? terms
                                                                       : 1e-6);
                wrong += !isSame;
              };
              if (how.exclusive)
                expect();
              step(how, state, v, integer, j);
              terms += std::isfinite(v) ? std::abs(v) : 0;
              if (!how.exclusive)
                expect();
            }
          }
        EXPECT_EQ(wrong, 0)
            << how.kind << " of " << dtypeName(how.type)
            << (how.reverse ? ", reversed" : "")
            << (how.exclusive ? ", exclusive" : "")
            << (how.positions ? ", positions" : "") << ": " << shape[0] << " x "
            << shape[1] << " x " << shape[2] << ", kind " << kind;
      }
    if (threads == 1)
      once = all;
    else
      EXPECT_TRUE(all == once) << how.kind << " depends on threads";
  }
}

void checkAll(CPUScanLaunch how) {
  for (bool reverse : {false, true})
    for (bool exclusive : {false, true}) {
      how.reverse = reverse;
      how.exclusive = exclusive;
      check(how);
    }
}

TEST(Scan, OfFloats) {
  for (const char *kind : {"sum", "product", "max", "min", "log_sum_exp"})
    for (DType type : {DType::F16, DType::BF16, DType::F32, DType::F64}) {
      CPUScanLaunch how;
      how.kind = kind;
      how.type = how.resultType = type;
      checkAll(how);
    }
}

TEST(Scan, OfIntegers) {
  for (const char *kind : {"sum", "product", "max", "min"})
    for (DType type : {DType::I32, DType::I64}) {
      CPUScanLaunch how;
      how.kind = kind;
      how.type = how.resultType = type;
      checkAll(how);
    }
}

TEST(Scan, OfPositions) {
  for (const char *kind : {"max", "min"})
    for (DType type :
         {DType::F16, DType::BF16, DType::F32, DType::F64, DType::I64}) {
      CPUScanLaunch how;
      how.kind = kind;
      how.type = type;
      how.resultType = DType::I64;
      how.positions = true;
      check(how);
    }
}

TEST(Scan, WidensAndNarrows) {
  for (auto [from, to] :
       {std::pair(DType::BF16, DType::F32), std::pair(DType::F32, DType::F16),
        std::pair(DType::F32, DType::F64)}) {
    CPUScanLaunch how;
    how.type = from;
    how.resultType = to;
    check(how);
  }
}

TEST(Scan, IsReadBackAsItWasWritten) {
  CPUScanLaunch how;
  how.kind = "max";
  how.reverse = true;
  Builder b = scanned(how);
  auto parsed = Manifest::parse(b.m.str(), "m");
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(parsed->str(), b.m.str());
}

TEST(Scan, RefusesWhatItDoesNotDo) {
  auto whyNot = [](auto change) {
    Builder b = scanned({});
    change(b.m.steps[0], std::get<CPUScanLaunch>(b.m.steps[0].launch));
    auto artifact = b.load();
    if (!artifact)
      return artifact.error().message;
    auto c = Context::create(*artifact, {1});
    std::vector<float> x(20), y(20);
    EXPECT_OK((*c)->bindInput(0, x.data(), DType::F32, Shape{2, 5, 2}));
    EXPECT_OK((*c)->bindOutput(0, y.data(), DType::F32, Shape{2, 5, 2}));
    Status status = (*c)->run();
    return status ? std::string() : status.error().message;
  };
  using Launch = CPUScanLaunch;
  auto has = [](const std::string &text, const char *part) {
    EXPECT_NE(text.find(part), text.npos) << text;
  };
  EXPECT_EQ(whyNot([](StepSpec &, Launch &) {}), "");
  has(whyNot([](StepSpec &, Launch &l) { l.kind = "median"; }),
      "no scan 'median'");
  has(whyNot([](StepSpec &, Launch &l) { l.type = DType::I8; }),
      "no scan 'sum' of i8 with a result of f32");
  has(whyNot(
          [](StepSpec &, Launch &l) { l.kind = "max", l.type = DType::F64; }),
      "no scan 'max' of f64 with a result of f32");
  has(whyNot([](StepSpec &, Launch &l) {
        l.resultType = DType::I64;
        l.positions = true;
      }),
      "this scan cannot give positions");
  has(whyNot([](StepSpec &s, Launch &) { s.results = 0; }),
      "expected elements and a result");
  has(whyNot([](StepSpec &, Launch &l) { l.work = s("m*n*i + 1"); }),
      "its work is not outer * length * inner");
  has(whyNot([](StepSpec &, Launch &l) {
        l.length = s("2*n");
        l.work = s("2*m*n*i");
      }),
      "do not end in their buffers");
}
} // namespace
