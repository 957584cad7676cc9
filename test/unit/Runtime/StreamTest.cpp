//===- StreamTest.cpp - Calls on streams of the caller's ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The fake driver does nothing until a stream is waited for.
//
//===----------------------------------------------------------------------===//

#include "OnStream.h"

using namespace luminal;
using namespace luminal::runtime;
using namespace luminal::runtime::testing;

TEST(Stream, ACallDoesNotWait) {
  Stream stream;
  auto c = chain(s("n")).context();
  OnDevice x({1, 2}), w({10, 20}), y({0, 0});
  bind(*c, x, w, y, 2);
  EXPECT_OK(c->setStream(stream.handle));
  EXPECT_OK(c->run());
  EXPECT_EQ(y.read(), (Values{0, 0}));
  stream.wait();
  EXPECT_EQ(y.read(), (Values{12, 23}));
}

TEST(Stream, CallsFollowEachOtherWithOtherSizesAndMemory) {
  Stream stream;
  auto c = chain(s("n")).context();
  EXPECT_OK(c->setStream(stream.handle));
  // More calls than tables that can be in flight.
  std::vector<OnDevice> x, w, y;
  for (int i = 0; i < 11; ++i) {
    const int64_t n = 1 + 500 * (i % 3);
    x.emplace_back(Values(n, i));
    w.emplace_back(Values(n, 100));
    y.emplace_back(Values(n, 0));
    bind(*c, x[i], w[i], y[i], n);
    EXPECT_OK(c->run());
  }
  EXPECT_OK(c->synchronize());
  for (int i = 0; i < 11; ++i)
    EXPECT_EQ(y[i].read(), Values(1 + 500 * (i % 3), i + 101)) << i;
}

TEST(Stream, AnotherStreamComesLater) {
  Stream first, second;
  auto c = chain(2).context();
  OnDevice x({1, 2}), w({10, 20}), y({0, 0}), z({0, 0});
  bind(*c, x, w, y, 2);
  EXPECT_OK(c->setStream(first.handle));
  EXPECT_OK(c->run());
  // Reads what the first call made, in the same memory of the context.
  bind(*c, y, w, z, 2);
  EXPECT_OK(c->setStream(second.handle));
  EXPECT_OK(c->run());
  second.wait();
  EXPECT_EQ(z.read(), (Values{23, 44}));
  // The context's own stream, on which a call waits.
  bind(*c, z, w, y, 2);
  EXPECT_OK(c->setStream(first.handle));
  EXPECT_OK(c->run());
  EXPECT_OK(c->setStream(std::nullopt));
  bind(*c, y, w, z, 2);
  EXPECT_OK(c->run());
  EXPECT_EQ(z.read(), (Values{45, 86}));
}

TEST(Stream, TheDefaultStreamIsAStream) {
  auto c = chain(1).context();
  OnDevice x({1}), w({10}), y({0});
  bind(*c, x, w, y, 1);
  EXPECT_OK(c->setStream(nullptr));
  EXPECT_OK(c->run());
  EXPECT_EQ(y.read(), Values{0});
  EXPECT_OK(c->synchronize());
  EXPECT_EQ(y.read(), Values{12});
}

/// Its end is recorded only where another stream has to wait for it.
TEST(Stream, AnotherStreamComesAfterTheDefaultStream) {
  Stream second;
  auto *counts = driver<FakeCounts *()>("luminalFakeCounts")();
  for (cuda::StreamHandle first : {cuda::StreamHandle(), cuda::kLegacyStream}) {
    auto c = chain(2).context();
    OnDevice x({1, 2}), w({10, 20}), y({0, 0}), z({0, 0});
    bind(*c, x, w, y, 2);
    EXPECT_OK(c->setStream(first));
    EXPECT_OK(c->run());
    const int before = counts->events;
    EXPECT_OK(c->run());
    EXPECT_EQ(counts->events, before);
    EXPECT_EQ(y.read(), (Values{0, 0}));
    bind(*c, y, w, z, 2);
    EXPECT_OK(c->setStream(second.handle));
    EXPECT_OK(c->run());
    EXPECT_GT(counts->events, before);
    second.wait();
    EXPECT_EQ(z.read(), (Values{23, 44}));
  }
}

TEST(Stream, ACallerThatHasAskedIsNotAskedFor) {
  Stream stream;
  auto *counts = driver<FakeCounts *()>("luminalFakeCounts")();
  auto c = chain(1).context();
  const int before = counts->captureQueries;
  EXPECT_OK(c->setStream(stream.handle, true));
  EXPECT_EQ(counts->captureQueries, before);
  EXPECT_OK(c->setStream(stream.handle));
  EXPECT_EQ(counts->captureQueries, before + 1);
}

TEST(Stream, AContextOfTheDefaultStreamEndsAfterItsCall) {
  OnDevice x({1}), w({10}), y({0});
  auto c = chain(1).context();
  bind(*c, x, w, y, 1);
  EXPECT_OK(c->setStream(nullptr));
  EXPECT_OK(c->run());
  c.reset();
  EXPECT_EQ(y.read(), Values{12});
}

TEST(Stream, CopiesToTheHostAreWaitedFor) {
  Stream stream;
  auto c = chain(2).context();
  OnDevice x({1, 2}), w({10, 20});
  Floats out;
  EXPECT_OK(c->bindInput(0, x.data(), DType::F32, Shape{2}));
  EXPECT_OK(c->bindInput(1, w.data(), DType::F32, Shape{2}));
  EXPECT_OK(c->bindOutput(0, out.v, DType::F32, Shape{2}));
  EXPECT_OK(c->setStream(stream.handle));
  EXPECT_OK(c->run());
  EXPECT_EQ(out[1], 23);
}

TEST(Stream, MemoryGrowsOnlyWhenACallIsDone) {
  Stream stream;
  auto c = chain(s("n")).context();
  EXPECT_OK(c->setStream(stream.handle));
  OnDevice x({1}), w({10}), y({0});
  bind(*c, x, w, y, 1);
  EXPECT_OK(c->run());
  constexpr int64_t n = 5000;
  OnDevice large(Values(n, 1)), out(Values(n, 0));
  bind(*c, large, large, out, n);
  EXPECT_OK(c->run());
  EXPECT_OK(c->synchronize());
  EXPECT_EQ(y.read(), Values{12});
  EXPECT_EQ(out.read(), Values(n, 3));
}

/// z = table[i], and a state that each call changes in place.
Builder lookup() {
  Builder b = counter();
  b.symbol("n", 1, 100);
  uint32_t i = b.input("i", DType::I64, {1});
  uint32_t table = b.input("table", DType::F32, {s("n")});
  uint32_t z = b.output("z", DType::F32, {1});
  b.step("gather_f32", {table, i, z}, 1);
  return b;
}

TEST(Stream, AnIndexOutOfRangeIsToldLater) {
  Stream stream;
  auto c = lookup().context();
  OnDevice x({10, 0, 0, 0}), table({1, 2, 3}), y({0, 0, 0, 0}), z({0});
  // 64-bit indices: 1 and 50.
  const int64_t good = 1, bad = 50;
  OnDevice index({0, 0});
  auto setIndex = [&](const int64_t &value) {
    EXPECT_OK(
        (*openDevice("cuda"))->copy({&value, index.data(), 8, Copy::Kind::In}));
  };
  setIndex(bad);
  EXPECT_OK(c->bindInput(0, x.data(), DType::F32, Shape{4}));
  EXPECT_OK(c->bindInput(2, index.data(), DType::I64, Shape{1}));
  EXPECT_OK(c->bindInput(3, table.data(), DType::F32, Shape{3}));
  EXPECT_OK(c->bindOutput(1, y.data(), DType::F32, Shape{4}));
  EXPECT_OK(c->bindOutput(2, z.data(), DType::F32, Shape{1}));
  EXPECT_OK(c->setStream(stream.handle));
  EXPECT_OK(c->run());
  stream.wait();
  EXPECT_FAILS(c->run(), "index is out of range");
  setIndex(good);
  EXPECT_FAILS(c->run(), "changed the state 'state' in place: reset it");
  c->resetStates();
  EXPECT_OK(c->run());
  EXPECT_OK(c->synchronize());
  EXPECT_EQ(z.read(), Values{2});
  setIndex(bad);
  EXPECT_OK(c->run());
  EXPECT_FAILS(c->synchronize(), "index is out of range");
  // It is told once.
  EXPECT_OK(c->synchronize());
}

TEST(Stream, AFalseAssertionIsToldLater) {
  Builder b = counter();
  uint32_t v = b.input("v", DType::F32, {1});
  uint32_t holds = b.output("holds", DType::I1, {});
  b.m.outputs.back().assertion = "v is not positive";
  b.step("is_positive_f32", {v, holds}, 1);
  Stream stream;
  auto c = b.context();
  OnDevice x({1, 0, 0, 0}), good({1}), bad({-1}), y({0, 0, 0, 0});
  EXPECT_OK(c->bindInput(0, x.data(), DType::F32, Shape{4}));
  EXPECT_OK(c->bindOutput(1, y.data(), DType::F32, Shape{4}));
  auto run = [&](const OnDevice &value) {
    EXPECT_OK(c->bindInput(2, value.data(), DType::F32, Shape{1}));
    return c->run();
  };
  EXPECT_OK(c->setStream(stream.handle));
  EXPECT_OK(run(bad));
  EXPECT_FALSE(c->failedAssertion());
  // The next call is not made; what the one before wrote stays.
  EXPECT_FAILS(run(good), "v is not positive");
  EXPECT_TRUE(c->failedAssertion());
  EXPECT_OK(run(good));
  EXPECT_OK(c->synchronize());
  EXPECT_EQ(y.read(), (Values{3, 2, 3, 4}));
  EXPECT_OK(run(bad));
  EXPECT_FAILS(c->synchronize(), "v is not positive");
  EXPECT_TRUE(c->failedAssertion());
  // It is told once.
  EXPECT_OK(c->synchronize());
  // A call that waits tells itself.
  EXPECT_OK(c->setStream({}));
  EXPECT_FAILS(run(bad), "v is not positive");
  EXPECT_EQ(y.read(), (Values{5, 2, 3, 4}));
}

TEST(Stream, AnAssertionOfAnInputIsCopiedAndTold) {
  Builder b = chain(2);
  uint32_t flag = b.input("flag", DType::I1, {});
  b.outputOf("holds", DType::I1, {}, flag);
  b.m.outputs.back().assertion = "the flag is off";
  Stream stream;
  auto c = b.context();
  OnDevice x({1, 2}), w({10, 20}), y({0, 0}), on({1}), off({0});
  bind(*c, x, w, y, 2);
  EXPECT_OK(c->setStream(stream.handle));
  // The last byte of 1.0 is a bool that is true.
  EXPECT_OK(c->bindInput(2, on.data() + 3, DType::I1, Shape{}));
  EXPECT_OK(c->run());
  EXPECT_OK(c->bindInput(2, off.data() + 3, DType::I1, Shape{}));
  EXPECT_FAILS(c->run(), "the flag is off");
  EXPECT_TRUE(c->failedAssertion());
  EXPECT_EQ(y.read(), (Values{12, 23}));
}

TEST(Stream, OneKernelThatComesAgainIsAGraph) {
  Stream stream;
  Builder b;
  b.symbol("n", 1, 10000);
  uint32_t x = b.input("x", DType::F32, {s("n")});
  uint32_t y = b.output("y", DType::F32, {s("n")});
  b.step("increment_f32", {x, y}, s("n"));
  std::get<CUDALaunch>(b.m.steps[0].launch).grid = s("n");
  auto c = b.context();
  FakeCounts &counts = *driver<FakeCounts *()>("luminalFakeCounts")();
  EXPECT_OK(c->setStream(stream.handle));
  std::vector<OnDevice> from, to;
  for (int i = 0; i < 3; ++i) {
    from.emplace_back(Values(4, i));
    to.emplace_back(Values(4, 0));
  }
  auto run = [&](int i, int64_t n) {
    EXPECT_OK(c->bindInput(0, from[i].data(), DType::F32, Shape{n}));
    EXPECT_OK(c->bindOutput(0, to[i].data(), DType::F32, Shape{n}));
    EXPECT_OK(c->run());
  };
  const FakeCounts before = counts;
  // Sizes and memory take turns: each is copied once.
  for (int turn = 0; turn < 5; ++turn)
    for (int i = 0; i < 3; ++i)
      run(i, 4 - i);
  EXPECT_OK(c->synchronize());
  EXPECT_EQ(counts.graphs, before.graphs + 3);
  EXPECT_EQ(counts.launches, before.launches + 3);
  EXPECT_EQ(counts.graphLaunches, before.graphLaunches + 12);
  EXPECT_EQ(counts.copies, before.copies + 3);
  for (int i = 0; i < 3; ++i) {
    Values expected(4, 0);
    std::fill_n(expected.begin(), 4 - i, i + 1);
    EXPECT_EQ(to[i].read(), expected);
  }

  // Sizes that do not come again make none, in tables that have graphs too.
  from.emplace_back(Values(500, 7));
  to.emplace_back(Values(500, 0));
  const FakeCounts steady = counts;
  for (int64_t n = 10; n < 60; ++n)
    run(3, n);
  EXPECT_OK(c->synchronize());
  EXPECT_EQ(counts.graphs, steady.graphs);
  EXPECT_EQ(counts.launches, steady.launches + 50);
  EXPECT_EQ(to[3].read()[58], 8);
  EXPECT_EQ(to[3].read()[59], 0);
  // One that comes often takes the place of a graph.
  for (int64_t n = 100; n < 116; ++n)
    for (int k = 0; k < 40; ++k)
      run(3, n);
  EXPECT_OK(c->synchronize());
  EXPECT_EQ(counts.graphs, steady.graphs + 16);
  EXPECT_EQ(counts.launches, steady.launches + 50 + 13 + 3 * 31);
  EXPECT_EQ(to[3].read()[114], 8);
  EXPECT_EQ(to[3].read()[115], 0);
}

TEST(Stream, OnlyWhatChangedIsCopied) {
  Stream stream;
  auto c = chain(s("n")).context();
  FakeCounts &counts = *driver<FakeCounts *()>("luminalFakeCounts")();
  EXPECT_OK(c->setStream(stream.handle));
  OnDevice x({1, 2}), w({10, 20}), y({0, 0}), z({0, 0});
  bind(*c, x, w, y, 2);
  EXPECT_OK(c->run());
  const size_t all = counts.bytesIn;
  const int copies = counts.copies;
  bind(*c, x, w, z, 2);
  EXPECT_OK(c->run());
  EXPECT_EQ(counts.copies, copies + 1);
  EXPECT_EQ(counts.bytesIn, 8u);
  // The size is the first word, the output's address the last.
  bind(*c, x, w, y, 1);
  EXPECT_OK(c->run());
  EXPECT_EQ(counts.bytesIn, all);
  EXPECT_OK(c->synchronize());
  EXPECT_EQ(z.read(), (Values{12, 23}));
  EXPECT_EQ(y.read(), (Values{12, 23}));
  EXPECT_GT(all, 16u);
}

TEST(Stream, ManyCallsMayBeOnTheirWay) {
  Stream stream;
  auto c = chain(s("n")).context();
  EXPECT_OK(c->setStream(stream.handle));
  OnDevice x(Values(4, 1)), w(Values(4, 2)), y(Values(4, 0)), z(Values(4, 0));
  // Each with another size or memory than the one before; none is waited for.
  for (int i = 0; i < 1024; ++i) {
    bind(*c, x, w, i % 2 ? y : z, 1 + i % 4);
    EXPECT_OK(c->run());
  }
  EXPECT_EQ(y.read(), Values(4, 0));
  EXPECT_OK(c->synchronize());
  EXPECT_EQ(y.read(), Values(4, 4));
}
