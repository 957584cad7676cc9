//===- ArgsortTest.cpp - Steps that order rows ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Short and long rows, all of them and the first few, by any number of threads,
// against std::stable_sort.
//
//===----------------------------------------------------------------------===//

#include "ArtifactBuilder.h"
#include "Rounds.h"
#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

using namespace luminal;
using namespace luminal::runtime;
using namespace luminal::runtime::testing;
using luminal::test::kIsSanitized;

namespace {
using Shape = std::vector<int64_t>;

/// The positions of the first `count` of `n` elements of m rows, in order.
Builder ordered(DType type, bool descending, bool nanFirst) {
  Builder b;
  for (const char *name : {"begin", "count", "m", "n"})
    b.symbol(name, 0, std::nullopt);
  uint32_t x = b.input("x", type, {s("m"), s("n")});
  // They give the count, and where it begins.
  b.input("few", DType::F32, {s("count")});
  b.input("before", DType::F32, {s("begin")});
  uint32_t y = b.output("y", DType::I64, {s("m"), s("count")});
  CPUArgsortLaunch launch;
  launch.work = s("m*count");
  launch.rows = s("m");
  launch.length = s("n");
  launch.begin = s("begin");
  launch.count = s("count");
  launch.type = type;
  launch.descending = descending;
  launch.nanFirst = nanFirst;
  StepSpec step;
  step.name = "order";
  step.buffers = {x, y};
  step.launch = launch;
  b.m.steps.push_back(step);
  return b;
}

template <typename T>
std::vector<T> draw(size_t size, unsigned kind) {
  std::mt19937_64 rng(size + kind);
  std::vector<T> values(size);
  for (T &value : values) {
    const auto bits = static_cast<int64_t>(rng());
    if (kind == 0) // few ones
      value = static_cast<T>(bits % 5);
    else if (kind == 3) // on both sides of 0, and close to it
      value = static_cast<T>(bits % 4001);
    else if constexpr (std::is_floating_point_v<T>)
      value = static_cast<T>(std::ldexp(double(bits), -60 + int(bits % 40)));
    else
      value = static_cast<T>(bits);
    if constexpr (std::is_floating_point_v<T>) {
      const T special[] = {-T(0), T(NAN), -T(NAN), T(INFINITY), -T(INFINITY)};
      if (bits % 11 == 0)
        value = special[(bits >> 8 & 0xFF) % 5];
    }
  }
  // Each later one is taken: what was kept is dropped most often.
  if (kind == 2)
    std::sort(values.begin(), values.end(), [](T a, T b) { return b < a; });
  return values;
}

template <typename T>
std::vector<int64_t> expected(const std::vector<T> &x, const Shape &shape,
                              int64_t begin, int64_t count, bool descending,
                              bool nanFirst) {
  std::vector<int64_t> result, order(shape[1]);
  for (int64_t row = 0; row < shape[0]; ++row) {
    const T *from = x.data() + row * shape[1];
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int64_t i, int64_t j) {
      const T a = from[i], b = from[j];
      if (a != a || b != b)
        return nanFirst ? a != a && b == b : a == a && b != b;
      return descending ? b < a : a < b;
    });
    result.insert(result.end(), order.begin() + begin,
                  order.begin() + begin + count);
  }
  return result;
}

template <typename T>
void check(DType type) {
  // The last rows are cut into parts where there are several threads.
  const Shape shapes[] = {{3, 1},  {5, 7}, {4, 193},   {2, 1000}, {130, 64},
                          {0, 10}, {3, 0}, {40, 2000}, {1, 9000}, {2, 7001}};
  for (bool descending : {false, true})
    for (bool nanFirst : {false, true}) {
      // Neither changes which memory is read, or by whom.
      if (kIsSanitized && descending != nanFirst)
        continue;
      for (unsigned threads : {1u, 3u}) {
        auto c = ordered(type, descending, nanFirst).context(threads);
        unsigned kind = 0;
        for (const Shape &shape : shapes)
          for (auto [begin, count] :
               std::initializer_list<std::pair<int64_t, int64_t>>{
                   {0, shape[1]},
                   {0, shape[1] / 2},
                   {0, 2},
                   {shape[1] / 2, 1},
                   {shape[1] / 9, 3},
                   {shape[1] / 3, shape[1] / 3}}) {
            begin = std::min(begin, std::max<int64_t>(shape[1] - 1, 0));
            count = std::min(count, shape[1]);
            std::vector<T> x = draw<T>(shape[0] * shape[1], kind++ % 4);
            std::vector<int64_t> y(shape[0] * count + 1, -7);
            EXPECT_OK(c->bindInput(0, x.data(), type, shape));
            std::vector<float> few(count + 1);
            EXPECT_OK(c->bindInput(1, few.data(), DType::F32, Shape{count}));
            std::vector<float> before(begin + 1);
            EXPECT_OK(c->bindInput(2, before.data(), DType::F32, Shape{begin}));
            EXPECT_OK(
                c->bindOutput(0, y.data(), DType::I64, Shape{shape[0], count}));
            EXPECT_OK(c->run());
            EXPECT_EQ(y.back(), -7);
            y.pop_back();
            EXPECT_TRUE(y ==
                        expected(x, shape, begin, count, descending, nanFirst))
                << shape[0] << " x " << shape[1] << ", " << count << " from "
                << begin;
          }
      }
    }
}

TEST(Argsort, OfF32) { check<float>(DType::F32); }
TEST(Argsort, OfF64) { check<double>(DType::F64); }
TEST(Argsort, OfI32) { check<int32_t>(DType::I32); }
TEST(Argsort, OfI64) { check<int64_t>(DType::I64); }

TEST(Argsort, IsReadBackAsItWasWritten) {
  Builder b = ordered(DType::F32, true, false);
  auto parsed = Manifest::parse(b.m.str(), "m");
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(parsed->str(), b.m.str());
}

TEST(Argsort, RefusesWhatItDoesNotDo) {
  auto whyNot = [](auto change) {
    Builder b = ordered(DType::F32, false, false);
    change(b.m.steps[0], std::get<CPUArgsortLaunch>(b.m.steps[0].launch));
    auto artifact = b.load();
    if (!artifact)
      return artifact.error().message;
    auto c = Context::create(*artifact, {1});
    std::vector<float> x(20);
    std::vector<int64_t> y(20);
    EXPECT_OK((*c)->bindInput(0, x.data(), DType::F32, Shape{2, 5}));
    EXPECT_OK((*c)->bindInput(1, x.data(), DType::F32, Shape{5}));
    EXPECT_OK((*c)->bindInput(2, x.data(), DType::F32, Shape{0}));
    EXPECT_OK((*c)->bindOutput(0, y.data(), DType::I64, Shape{2, 5}));
    Status status = (*c)->run();
    return status ? std::string() : status.error().message;
  };
  using Launch = CPUArgsortLaunch;
  auto has = [](const std::string &text, const char *part) {
    EXPECT_NE(text.find(part), text.npos) << text;
  };
  EXPECT_EQ(whyNot([](StepSpec &, Launch &) {}), "");
  has(whyNot([](StepSpec &, Launch &l) { l.type = DType::I8; }),
      "argsort does not support i8");
  has(whyNot([](StepSpec &s, Launch &) { s.results = 0; }),
      "expected rows and positions");
  has(whyNot([](StepSpec &, Launch &l) { l.work = s("m*n + 1"); }),
      "its work is not rows * count");
  has(whyNot([](StepSpec &, Launch &l) {
        l.count = s("n + 1");
        l.work = s("m*(n + 1)");
      }),
      "cannot give 6 positions from 0 on, of rows of 5 elements");
  has(whyNot([](StepSpec &, Launch &l) { l.length = s("2*n"); }),
      "do not end in their buffers");
}
} // namespace
