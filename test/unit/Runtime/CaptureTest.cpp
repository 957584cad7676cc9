//===- CaptureTest.cpp - Calls inside captures of the caller's ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "OnStream.h"
#include "luminal/Runtime/CudaFeatures.h"

using namespace luminal;
using namespace luminal::runtime;
using namespace luminal::runtime::testing;

namespace {
/// What a stream is given while this object exists becomes a graph.
class Capture {
public:
  /// In the mode that forbids all threads to allocate.
  Capture() {
    driver<int(cuda::StreamHandle, int)>("cuStreamBeginCapture_v2")(
        stream.handle, 0);
  }
  ~Capture() {
    end();
    destroyGraph();
    destroyExec();
  }
  /// Whether the capture was not ended by something that it forbids.
  bool end() {
    if (graph)
      return true;
    const int code = driver<int(cuda::StreamHandle, cuda::GraphHandle *)>(
        "cuStreamEndCapture")(stream.handle, &graph);
    driver<int(cuda::ExecHandle *, cuda::GraphHandle, unsigned long long)>(
        "cuGraphInstantiateWithFlags")(&exec, graph, 0);
    return code == 0;
  }
  void launch() {
    driver<int(cuda::ExecHandle, cuda::StreamHandle)>("cuGraphLaunch")(
        exec, stream.handle);
    stream.wait();
  }
  void destroyGraph() {
    if (!isGraphGone)
      driver<int(cuda::GraphHandle)>("cuGraphDestroy")(graph);
    isGraphGone = true;
  }
  void destroyExec() {
    if (exec)
      driver<int(cuda::ExecHandle)>("cuGraphExecDestroy")(exec);
    exec = nullptr;
  }

  Stream stream;

private:
  cuda::GraphHandle graph = nullptr;
  cuda::ExecHandle exec = nullptr;
  bool isGraphGone = false;
};

FakeCounts &counts() { return *driver<FakeCounts *()>("luminalFakeCounts")(); }

void write(const OnDevice &to, Values values) {
  EXPECT_OK((*openDevice("cuda"))
                ->copy({values.data(), to.data(), 4 * values.size(),
                        Copy::Kind::In}));
}
} // namespace

TEST(Capture, EachLaunchIsACall) {
  OnDevice x({1, 2}), w({10, 20}), y({0, 0});
  Capture capture;
  auto c = chain(s("n")).context();
  bind(*c, x, w, y, 2);
  EXPECT_OK(c->capture(capture.stream.handle));
  ASSERT_TRUE(capture.end());
  EXPECT_EQ(y.read(), (Values{0, 0}));
  capture.launch();
  EXPECT_EQ(y.read(), (Values{12, 23}));
  write(x, {5, 6});
  capture.launch();
  EXPECT_EQ(y.read(), (Values{16, 27}));
}

TEST(Capture, CallsFollowEachOther) {
  OnDevice x({1, 2}), w({10, 20}), y({0, 0}), z({0, 0});
  auto first = chain(s("n")).context(), second = chain(s("n")).context();
  Capture capture;
  bind(*first, x, w, y, 2);
  bind(*second, y, w, z, 2);
  EXPECT_OK(first->capture(capture.stream.handle));
  EXPECT_OK(second->capture(capture.stream.handle));
  ASSERT_TRUE(capture.end());
  EXPECT_EQ(counts().edges,
            (std::vector<std::pair<int, int>>{{0, 1}, {1, 2}, {2, 3}}));
  EXPECT_TRUE(counts().programmatic.empty());
  capture.launch();
  EXPECT_EQ(z.read(), (Values{23, 44}));
}

TEST(Capture, KernelsThatWaitStartEarly) {
  OnDevice x({1, 2}), w({10, 20}), y({0, 0}), z({0, 0});
  Builder b = chain(s("n"));
  b.m.target.features.push_back(std::string(kWaitsForSteps));
  auto first = b.context(), second = b.context();
  Capture capture;
  bind(*first, x, w, y, 2);
  bind(*second, y, w, z, 2);
  EXPECT_OK(first->capture(capture.stream.handle));
  EXPECT_OK(second->capture(capture.stream.handle));
  ASSERT_TRUE(capture.end());
  EXPECT_EQ(counts().programmatic,
            (std::vector<std::pair<int, int>>{{0, 1}, {1, 2}, {2, 3}}));
  capture.launch();
  EXPECT_EQ(z.read(), (Values{23, 44}));
}

TEST(Capture, WorkOfTheCallerIsBeforeAndAfter) {
  OnDevice x({0, 0}), from({1, 2}), w({10, 20}), y({0, 0}), to({0, 0});
  auto copy = driver<int(cuda::DevicePointer, cuda::DevicePointer, size_t,
                         cuda::StreamHandle)>("cuMemcpyDtoDAsync_v2");
  auto at = [](const OnDevice &memory) {
    return reinterpret_cast<uintptr_t>(memory.data());
  };
  Builder b = chain(s("n"));
  b.m.target.features.push_back(std::string(kWaitsForSteps));
  auto c = b.context();
  Capture capture;
  copy(at(x), at(from), 8, capture.stream.handle);
  bind(*c, x, w, y, 2);
  EXPECT_OK(c->capture(capture.stream.handle));
  copy(at(to), at(y), 8, capture.stream.handle);
  ASSERT_TRUE(capture.end());
  // A kernel does not start early after a copy.
  EXPECT_EQ(counts().programmatic, (std::vector<std::pair<int, int>>{{1, 2}}));
  capture.launch();
  EXPECT_EQ(to.read(), (Values{12, 23}));
}

TEST(Capture, OtherCallsGoOnMeanwhile) {
  OnDevice x({1, 2}), w({10, 20}), y({0, 0}), z({0, 0});
  Stream running;
  auto other = chain(s("n")).context();
  Capture capture;
  // It allocates, and frees what another used.
  {
    auto gone = chain(s("n")).context();
  }
  bind(*other, x, w, z, 2);
  EXPECT_OK(other->setStream(running.handle));
  EXPECT_OK(other->run());
  EXPECT_OK(other->synchronize());
  EXPECT_EQ(z.read(), (Values{12, 23}));
  auto c = chain(s("n")).context();
  bind(*c, x, w, y, 2);
  EXPECT_OK(c->capture(capture.stream.handle));
  ASSERT_TRUE(capture.end());
  capture.launch();
  EXPECT_EQ(y.read(), (Values{12, 23}));
}

TEST(Capture, TheGraphKeepsWhatItNeeds) {
  OnDevice x({1, 2}), w({10, 20}), y({0, 0});
  Device &device = **openDevice("cuda");
  Capture capture;
  std::weak_ptr<Context> known;
  {
    std::shared_ptr<Context> c = chain(s("n")).context();
    known = c;
    bind(*c, x, w, y, 2);
    EXPECT_OK(device.keepWithCapture(capture.stream.handle, c));
    EXPECT_OK(c->capture(capture.stream.handle));
  }
  ASSERT_TRUE(capture.end());
  capture.destroyGraph();
  capture.launch();
  EXPECT_EQ(y.read(), (Values{12, 23}));
  capture.destroyExec();
  // It is destroyed by a later use of the device.
  EXPECT_FALSE(known.expired());
  Result<bool> isCapturing = device.isCapturing(capture.stream.handle);
  EXPECT_TRUE(isCapturing && !*isCapturing);
  EXPECT_TRUE(known.expired());
}

TEST(Capture, TheArenaMayBeTheCallers) {
  OnDevice x({1, 2}), w({10, 20}), y({0, 0}), arena({0, 0});
  auto c = chain(s("n")).context();
  uint64_t asked = 0;
  c->setArenaAllocator([&](uint64_t bytes) {
    asked = bytes;
    return arena.data();
  });
  Capture capture;
  bind(*c, x, w, y, 2);
  EXPECT_OK(c->capture(capture.stream.handle));
  EXPECT_EQ(asked, 8u);
  ASSERT_TRUE(capture.end());
  capture.launch();
  EXPECT_EQ(arena.read(), (Values{11, 22}));
  EXPECT_EQ(y.read(), (Values{12, 23}));
}

TEST(Capture, NoMemoryForTheArena) {
  OnDevice x({1, 2}), w({10, 20}), y({0, 0});
  auto c = chain(s("n")).context();
  c->setArenaAllocator([](uint64_t) -> void * { return nullptr; });
  Capture capture;
  bind(*c, x, w, y, 2);
  EXPECT_FAILS(c->capture(capture.stream.handle),
               "out of memory: the arena needs 8 bytes");
}

TEST(Capture, WhatCannotBeCaptured) {
  OnDevice x({1, 2}), w({10, 20}), y({0, 0});
  Floats host;
  auto c = chain(s("n")).context();
  {
    Capture capture;
    EXPECT_FAILS(c->setStream(capture.stream.handle),
                 "the stream is being captured");
    bind(*c, x, w, y, 2);
    EXPECT_OK(c->bindInput(0, host.v, DType::F32, Shape{2}));
    EXPECT_FAILS(c->capture(capture.stream.handle),
                 "a tensor of the call is in host memory");
    bind(*c, x, w, y, 2);
    EXPECT_OK(c->capture(capture.stream.handle));
    EXPECT_FAILS(c->run(), "the context belongs to a captured graph");
    EXPECT_FAILS(c->capture(capture.stream.handle), "can make no other calls");
  }
  auto other = chain(s("n")).context();
  Stream free;
  bind(*other, x, w, y, 2);
  EXPECT_FAILS(other->capture(free.handle), "the stream is not captured");
}

TEST(Capture, ACaptureThatHasFailed) {
  Capture capture;
  // What the mode of the capture forbids to all threads.
  cuda::DevicePointer memory = 0;
  EXPECT_NE(
      driver<int(cuda::DevicePointer *, size_t)>("cuMemAlloc_v2")(&memory, 8),
      0);
  auto c = chain(s("n")).context();
  EXPECT_FAILS(c->setStream(capture.stream.handle),
               "the capture of the stream has failed before this call");
}

TEST(Capture, WhatLaunchesFindIsTold) {
  Builder b = counter();
  uint32_t v = b.input("v", DType::F32, {1});
  uint32_t holds = b.output("holds", DType::I1, {});
  b.m.outputs.back().assertion = "v is not positive";
  b.step("is_positive_f32", {v, holds}, 1);
  auto c = b.context();
  OnDevice x({1, 0, 0, 0}), value({1}), y({0, 0, 0, 0}), state({1, 2, 3, 4});
  EXPECT_OK(c->bindInput(0, x.data(), DType::F32, Shape{4}));
  EXPECT_OK(c->bindInput(1, state.data(), DType::F32, Shape{4}));
  EXPECT_OK(c->bindInput(2, value.data(), DType::F32, Shape{1}));
  EXPECT_OK(c->bindOutput(1, y.data(), DType::F32, Shape{4}));
  Capture capture;
  EXPECT_OK(c->capture(capture.stream.handle));
  ASSERT_TRUE(capture.end());
  // Nothing has run.
  EXPECT_OK(c->synchronize());
  capture.launch();
  capture.launch();
  EXPECT_OK(c->synchronize());
  EXPECT_EQ(state.read(), (Values{3, 2, 3, 4}));
  write(value, {-1});
  capture.launch();
  EXPECT_FAILS(c->synchronize(), "v is not positive");
  EXPECT_TRUE(c->failedAssertion());
  // It is told once.
  EXPECT_OK(c->synchronize());
}

TEST(Capture, AnIndexOutOfRangeIsTold) {
  Builder b;
  b.symbol("n", 1, 100);
  uint32_t i = b.input("i", DType::I64, {1});
  uint32_t table = b.input("table", DType::F32, {s("n")});
  uint32_t z = b.output("z", DType::F32, {1});
  b.step("gather_f32", {table, i, z}, 1);
  auto c = b.context();
  OnDevice index({0, 0}), of({1, 2, 3}), to({0});
  EXPECT_OK(c->bindInput(0, index.data(), DType::I64, Shape{1}));
  EXPECT_OK(c->bindInput(1, of.data(), DType::F32, Shape{3}));
  EXPECT_OK(c->bindOutput(0, to.data(), DType::F32, Shape{1}));
  Capture capture;
  EXPECT_OK(c->capture(capture.stream.handle));
  ASSERT_TRUE(capture.end());
  capture.launch();
  EXPECT_OK(c->synchronize());
  EXPECT_EQ(to.read(), Values{1});
  // 1.0f in the lower half: a large index.
  write(index, {1, 0});
  capture.launch();
  EXPECT_FAILS(c->synchronize(), "index is out of range");
  EXPECT_OK(c->synchronize());
}
