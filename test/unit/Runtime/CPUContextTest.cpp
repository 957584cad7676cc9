//===- CPUContextTest.cpp - Calls that only the CPU makes -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ArtifactBuilder.h"
#include <chrono>

using namespace luminal;
using namespace luminal::runtime;
using namespace luminal::runtime::testing;

namespace {
using Shape = std::vector<int64_t>;

TEST(CPUContext, ChecksLaunches) {
  auto expect = [](int64_t n, auto change, const char *text) {
    std::string message = runWith(n, change);
    EXPECT_NE(message.find(text), std::string::npos) << message;
  };
  expect(
      8, [](Builder &b) { launchOf(b.m.steps[0]).work = s("n - 9"); },
      "step 0 (add_f32): has no valid work");
  expect(
      8, [](Builder &b) { launchOf(b.m.steps[0]).grain = s("n - 8"); },
      "step 0 (add_f32): has no valid grain");
  expect(
      8,
      [](Builder &b) {
        launchOf(b.m.steps[1]).scratch = s("n*9007199254740992*n");
      },
      "step 1 (increment_f32): has no valid");
}

// Whichever worker arrives last finds what all others left.
TEST(CPUContext, HasNoStreams) {
  auto c = chain(4).context();
  EXPECT_FAILS(c->setStream(nullptr), "this device has no streams");
  EXPECT_OK(c->setStream(std::nullopt));
}

TEST(CPUContext, PartsArriveInAnyOrder) {
  auto c = sumInParts().context(8);
  Floats x;
  EXPECT_OK(c->bindInput(0, x.v, DType::F32, Shape{64}));
  for (int call = 0; call < 2000; ++call) {
    float sum = 0;
    for (int i = 0; i < 64; ++i)
      sum += x[i] = static_cast<float>((call * 31 + i) % 17);
    EXPECT_OK(c->run());
    ASSERT_EQ(*static_cast<const float *>(*c->getOutputData(0)), sum)
        << "call " << call;
  }
}

TEST(CPUContext, ARepeatedCallCostsLittle) {
  auto c = chain(4).context(2);
  Floats x, w, y;
  auto bind = [&] {
    return bool(c->bindInput(0, x.v, DType::F32, Shape{4})) &&
           bool(c->bindInput(1, w.v, DType::F32, Shape{4})) &&
           bool(c->bindOutput(0, y.v, DType::F32, Shape{4}));
  };
  ASSERT_TRUE(bind());
  EXPECT_OK(c->run());
  // About 500 ns alone on a core; a call that plans again takes ten times that.
  // The limit leaves room for slow machines that are busy with other tests.
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer) ||       \
    __has_feature(thread_sanitizer)
  constexpr double kLimit = 50000;
#else
  constexpr double kLimit = 3000;
#endif
  const int64_t shape[] = {4};
  double best = 1e9;
  // Other load slows calls down for a while: retry that long for the best time.
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  for (int round = 0; round < 50 || best >= kLimit; ++round) {
    auto start = std::chrono::steady_clock::now();
    if (start > end)
      break;
    for (int i = 0; i < 1000; ++i) {
      // As callers do: the same pointers bound again.
      (void)bool(c->bindInput(0, x.v, DType::F32, shape));
      (void)bool(c->bindInput(1, w.v, DType::F32, shape));
      (void)bool(c->bindOutput(0, y.v, DType::F32, shape));
      (void)bool(c->run());
    }
    std::chrono::duration<double, std::nano> time =
        std::chrono::steady_clock::now() - start;
    best = std::min(best, time.count() / 1000);
  }
  RecordProperty("ns_a_call", static_cast<int>(best));
  EXPECT_LT(best, kLimit);
}
} // namespace
