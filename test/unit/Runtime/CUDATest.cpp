//===- CUDATest.cpp - What the CUDA device asks of the driver -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "../../lib/CUDA/FakeDriver.h"
#include "ArtifactBuilder.h"
#include "luminal/Runtime/Profile.h"
#include <cstring>
#include <dlfcn.h>

using namespace luminal;
using namespace luminal::runtime;
using namespace luminal::runtime::testing;

namespace {
using Shape = std::vector<int64_t>;
using Edges = std::vector<std::pair<int, int>>;

FakeCounts &counts() {
  static auto *get = reinterpret_cast<FakeCounts *(*)()>(::dlsym(
      ::dlopen(LUMINAL_FAKE_CUDA_DRIVER, RTLD_NOW), "luminalFakeCounts"));
  return *get();
}

const float *outputOf(Context &c, uint32_t i = 0) {
  return static_cast<const float *>(*c.getOutputData(i));
}

TEST(CUDA, OneGraphServesAllSizesAndPointers) {
  auto c = chain(s("n")).context();
  const int before = counts().graphs, launched = counts().graphLaunches;
  Floats x[2], w;
  int calls = 0;
  for (int64_t n : {3, 50, 7, 3}) {
    for (Floats &in : x) {
      for (int i = 0; i < n; ++i)
        in[i] = i, w[i] = n;
      EXPECT_OK(c->bindInput(0, in.v, DType::F32, Shape{n}));
      EXPECT_OK(c->bindInput(1, w.v, DType::F32, Shape{n}));
      EXPECT_OK(c->run());
      ++calls;
      for (int i = 0; i < n; ++i)
        EXPECT_EQ(outputOf(*c)[i], i + n + 1);
    }
  }
  EXPECT_EQ(counts().graphs - before, 1);
  EXPECT_EQ(c->getNumCaptures(), 1u);
  EXPECT_EQ(counts().graphLaunches - launched, calls);
}

/// Steps t[k] = x + x, in slots of the arena of so many bytes.
Builder maps(Expr bytes, std::vector<std::vector<int>> steps) {
  Builder b;
  b.symbol("n", 1, 16);
  uint32_t x = b.input("x", DType::F32, {s("n")});
  std::vector<uint32_t> slots;
  b.m.arenaBytes = 0;
  for (size_t k = 0; k < steps.size(); ++k) {
    slots.push_back(b.buffer(Kind::Arena, b.m.arenaBytes, bytes));
    b.m.arenaBytes = b.m.arenaBytes + bytes;
    auto read = [&](int i) { return i < 0 ? x : slots[i]; };
    b.step("add_f32", {read(steps[k][0]), read(steps[k][1]), slots[k]}, s("n"));
  }
  b.outputOf("y", DType::F32, {s("n")}, slots.back());
  return b;
}

/// The edges of the graph that a call makes.
Edges edgesOf(const Builder &b) {
  auto c = Builder(b).context();
  Floats x;
  for (int i = 0; i < 4; ++i)
    x[i] = 1;
  EXPECT_OK(c->bindInput(0, x.v, DType::F32, Shape{4}));
  EXPECT_OK(c->run());
  return counts().edges;
}

TEST(CUDA, StepsWaitOnlyWhereNoPathOrdersThem) {
  // 0 and 1 are independent; 3 reads 0 and 2, and 2 has waited for 0.
  const std::vector<std::vector<int>> steps = {
      {-1, -1}, {-1, -1}, {0, 1}, {2, 0}};
  const Edges expected = {{0, 2}, {1, 2}, {2, 3}};
  EXPECT_EQ(edgesOf(maps(64, steps)), expected);
  // Also where slots lie at multiples of a symbol.
  EXPECT_EQ(edgesOf(maps(s("64*n"), steps)), expected);
}

TEST(CUDA, CodeOfUsersHasFullEdges) {
  Builder b;
  uint32_t x = b.input("x", DType::F32, {4});
  uint32_t t = b.buffer(Kind::Arena, 0, 16), u = b.buffer(Kind::Arena, 64, 16);
  b.m.arenaBytes = 80;
  uint32_t y = b.output("y", DType::F32, {4});
  b.step("increment_f32", {x, t}, 4);
  CUDACustomLaunch launch;
  launch.parameters = "b0 b1 i64 i32";
  launch.values = {4, 3};
  launch.code = "custom/a.ptx";
  launch.entry = "scale";
  StepSpec step;
  step.name = "scale";
  step.buffers = {t, u};
  step.launch = launch;
  b.m.steps.push_back(step);
  b.step("increment_f32", {u, y}, 4);
  b.custom = {{"custom/a.ptx", "// luminal-user scale\n"}};
  b.m.target.features = {"griddepcontrol"};
  EXPECT_EQ(edgesOf(b), (Edges{{0, 1}, {1, 2}}));
  EXPECT_EQ(counts().programmatic, Edges());
}

TEST(CUDA, KernelsThatWaitThemselvesStartEarly) {
  // 2 waits for two others, which the graph has to do.
  const std::vector<std::vector<int>> steps = {
      {-1, -1}, {-1, -1}, {0, 1}, {2, 0}, {3, 2}};
  const Edges all = {{0, 2}, {1, 2}, {2, 3}, {3, 4}};
  Builder b = maps(64, steps);
  EXPECT_EQ(edgesOf(b), all);
  EXPECT_EQ(counts().programmatic, Edges());
  b.m.target.features = {"griddepcontrol"};
  EXPECT_EQ(edgesOf(b), all);
  EXPECT_EQ(counts().programmatic, (Edges{{2, 3}, {3, 4}}));
}

TEST(CUDA, StepsWaitForReadersOfMemoryThatTheyReuse) {
  // Step 2 writes where step 0 wrote, and step 1 read.
  Builder b = maps(64, {{-1, -1}, {0, 0}, {-1, -1}});
  b.m.buffers[b.m.steps[2].buffers[2]].offset = 0;
  EXPECT_EQ(edgesOf(b), (Edges{{0, 1}, {1, 2}}));
  // A part of it is enough.
  Builder part = maps(128, {{-1, -1}, {0, 0}, {-1, -1}});
  part.m.buffers[part.m.steps[2].buffers[2]].offset = 64;
  EXPECT_EQ(edgesOf(part), (Edges{{0, 1}, {1, 2}}));
  // What cannot be told apart for all sizes may overlap.
  Builder unknown = maps(s("64*n"), {{-1, -1}, {-1, -1}});
  unknown.m.buffers[unknown.m.steps[1].buffers[2]].offset = s("64*n*n - 64*n");
  unknown.m.arenaBytes = s("64*n*n + 64*n");
  EXPECT_EQ(edgesOf(unknown), (Edges{{0, 1}}));
}

TEST(CUDA, GridsServeAllSizes) {
  // 4 multiprocessors of 2 blocks fill the device.
  auto gridOf = [](Expr grid) {
    Builder b = maps(64, {{-1, -1}, {-1, -1}});
    std::get<CUDALaunch>(b.m.steps[0].launch).grid = grid;
    edgesOf(b);
    return counts().grids.at(0);
  };
  EXPECT_EQ(gridOf(3), 3u);
  EXPECT_EQ(gridOf(0), 1u);
  EXPECT_EQ(gridOf(s("n")), 8u);
  EXPECT_EQ(gridOf(s("3*n")), 12u);
  EXPECT_EQ(gridOf(s("n floordiv 4")), 4u);
}

TEST(CUDA, WeightsAreBroughtToTheDeviceOnce) {
  Builder b;
  uint32_t x = b.input("x", DType::F32, {4}), w = b.weight("w", {1, 2, 3, 4});
  uint32_t y = b.output("y", DType::F32, {4});
  b.step("add_f32", {x, w, y}, 4);
  auto artifact = b.load();
  ASSERT_TRUE(artifact) << artifact.error().message;
  Floats in;
  auto call = [&] {
    auto c = Context::create(*artifact, {1});
    EXPECT_OK((*c)->bindInput(0, in.v, DType::F32, Shape{4}));
    const int before = counts().copies;
    EXPECT_OK((*c)->run());
    EXPECT_EQ(outputOf(**c)[3], 4);
    return counts().copies - before;
  };
  // The input, the tables, the output; and the weight.
  EXPECT_EQ(call(), 4);
  EXPECT_EQ(call(), 3);
  // Weights of the caller: when bound.
  auto c = Context::create(*artifact, {1});
  Floats mine;
  mine[3] = 70;
  EXPECT_OK((*c)->bindWeight(0, mine.v, DType::F32, Shape{4}));
  EXPECT_OK((*c)->bindInput(0, in.v, DType::F32, Shape{4}));
  EXPECT_OK((*c)->run());
  EXPECT_EQ(outputOf(**c)[3], 70);
  const int before = counts().copies;
  EXPECT_OK((*c)->run());
  // The input and the output.
  EXPECT_EQ(counts().copies - before, 2);
}

TEST(CUDA, DeviceMemoryIsBoundWithoutCopies) {
  Device *device = *openDevice("cuda");
  Memory memory;
  ASSERT_TRUE(memory.reserve(*device, 512));
  float x[4] = {1, 2, 3, 4}, y[4];
  EXPECT_OK(device->copy({x, memory.data(), sizeof x, Copy::Kind::In}));
  auto c = chain(4).context();
  Floats w;
  EXPECT_OK(c->bindInput(0, memory.data(), DType::F32, Shape{4}));
  EXPECT_OK(c->bindInput(1, w.v, DType::F32, Shape{4}));
  EXPECT_OK(c->bindOutput(0, memory.data() + 256, DType::F32, Shape{4}));
  EXPECT_OK(c->run());
  const int before = counts().copies;
  EXPECT_OK(c->run());
  EXPECT_EQ(counts().copies - before, 1);
  EXPECT_EQ(*c->getOutputData(0), memory.data() + 256);
  EXPECT_OK(device->copy({memory.data() + 256, y, sizeof y, Copy::Kind::Out}));
  EXPECT_EQ(y[3], 5);
}

TEST(CUDA, MemoryIsAskedForOnce) {
  Device *device = *openDevice("cuda");
  Memory memory;
  ASSERT_TRUE(memory.reserve(*device, 1024));
  auto c = chain(4).context();
  auto run = [&](unsigned output) {
    for (uint32_t i : {0, 1})
      EXPECT_OK(c->bindInput(i, memory.data() + 256 * i, DType::F32, Shape{4}));
    EXPECT_OK(
        c->bindOutput(0, memory.data() + 256 * output, DType::F32, Shape{4}));
    EXPECT_OK(c->run());
  };
  run(2);
  const int before = counts().pointerQueries;
  // That of the new output, not those of the inputs.
  run(3);
  EXPECT_EQ(counts().pointerQueries - before, 1);
}

TEST(CUDA, CopiesOfACallAreJoined) {
  Builder b;
  uint32_t x = b.input("x", DType::F32, {3}), w = b.input("w", DType::F32, {3}),
           v = b.input("v", DType::F32, {3});
  uint32_t y = b.output("y", DType::F32, {3}),
           z = b.output("z", DType::F32, {3});
  b.step("add_f32", {x, w, y}, 3);
  b.step("add_f32", {w, v, z}, 3);
  auto c = b.context();
  Floats in[3], out[2];
  for (uint32_t i : {0, 1, 2}) {
    for (int k : {0, 1, 2})
      in[i][k] = 10 * i + k;
    EXPECT_OK(c->bindInput(i, in[i].v, DType::F32, Shape{3}));
  }
  for (uint32_t i : {0, 1})
    EXPECT_OK(c->bindOutput(i, out[i].v, DType::F32, Shape{3}));
  for (int call : {0, 1, 2}) {
    in[0][0] = call;
    const int before = counts().copies;
    EXPECT_OK(c->run());
    // At first there is pinned memory for one input only.
    if (call > 0)
      EXPECT_EQ(counts().copies - before, 2);
    EXPECT_EQ(out[0][0], 10 + call);
    EXPECT_EQ(out[0][2], 14);
    EXPECT_EQ(out[1][2], 34);
    EXPECT_EQ(out[1][3], 0);
  }
}

TEST(CUDA, NothingIsLeaked) {
  const int before = counts().allocations;
  {
    auto c = chain(s("n")).context();
    std::vector<float> x(100000, 1), w(100000, 2);
    for (int64_t n : {100000, 3, 100000}) {
      EXPECT_OK(c->bindInput(0, x.data(), DType::F32, Shape{n}));
      EXPECT_OK(c->bindInput(1, w.data(), DType::F32, Shape{n}));
      EXPECT_OK(c->run());
      EXPECT_EQ(outputOf(*c)[n - 1], 4);
    }
    const int during = counts().allocations;
    const uint64_t bytes = c->getMemoryBytes();
    for (int i = 0; i < 100; ++i)
      EXPECT_OK(c->run());
    EXPECT_EQ(counts().allocations, during);
    EXPECT_EQ(c->getMemoryBytes(), bytes);
  }
  EXPECT_EQ(counts().allocations, before);
}

TEST(CUDA, TimesSteps) {
  auto c = chain(4).context();
  Floats x;
  for (uint32_t i : {0, 1})
    EXPECT_OK(c->bindInput(i, x.v, DType::F32, Shape{4}));
  const int before = counts().graphLaunches;
  auto time = c->timeSteps(10);
  ASSERT_TRUE(time) << time.error().message;
  EXPECT_GT(*time, 0);
  EXPECT_EQ(counts().graphLaunches - before, 11);
}

/// Remembers what it is told.
class Recorder : public StepListener {
public:
  explicit Recorder(Context &context) : context(context) {}
  void before(const StepReport &report) override {
    EXPECT_FALSE(report.microseconds);
    text += "step " + std::to_string(report.step) + ": ";
  }
  Status after(const StepReport &report) override {
    EXPECT_TRUE(report.microseconds);
    float value = 0;
    LUMINAL_CHECK(context.readMemory(report.buffers.back(), &value, 4));
    text += std::to_string(int(value)) + "\n";
    return {};
  }
  Context &context;
  std::string text;
};

TEST(CUDA, ListenersSeeOneStepAfterTheOther) {
  auto c = chain(4).context();
  Floats x;
  x[0] = 20;
  for (uint32_t i : {0, 1})
    EXPECT_OK(c->bindInput(i, x.v, DType::F32, Shape{4}));
  Recorder recorder(*c);
  const int graphs = counts().graphs, launches = counts().launches;
  EXPECT_OK(c->run(&recorder));
  EXPECT_EQ(recorder.text, "step 0: 40\nstep 1: 41\n");
  // A graph each, with an event before the kernel and one behind: what the host
  // does meanwhile is not in the step's time.
  EXPECT_EQ(counts().graphs - graphs, 2);
  EXPECT_EQ(counts().launches, launches);
  EXPECT_EQ(counts().edges, (std::vector<std::pair<int, int>>{{0, 1}, {1, 2}}));
  EXPECT_EQ(outputOf(*c)[0], 41);
}

TEST(CUDA, ProfilesByTheDevicesClock) {
  auto c = chain(4).context();
  Floats x;
  for (uint32_t i : {0, 1})
    EXPECT_OK(c->bindInput(i, x.v, DType::F32, Shape{4}));
  Profiler profiler(c->getArtifact().getManifest());
  for (int call = 0; call < 3; ++call)
    EXPECT_OK(c->run(&profiler));
  ASSERT_EQ(profiler.getTotals().size(), 2u);
  for (const Profiler::Total &total : profiler.getTotals()) {
    EXPECT_EQ(total.calls, 3u);
    EXPECT_GT(total.us, 0);
  }
}

TEST(CUDA, AStepWithoutWorkIsNotLaunched) {
  Builder b = maps(64, {{-1, -1}, {-1, -1}, {-1, -1}});
  std::get<CUDALaunch>(b.m.steps[1].launch).work = 0;
  edgesOf(b);
  EXPECT_EQ(counts().grids.size(), 2u);
}

/// What a block may have without asking is less what the function has itself.
TEST(CUDA, AsksForSharedMemory) {
  for (int64_t bytes : {16, 48 << 10, 96 << 10}) {
    Builder b = chain(4);
    for (StepSpec &step : b.m.steps)
      std::get<CUDALaunch>(step.launch).shared = bytes;
    auto c = b.context();
    Floats x;
    x[0] = 20;
    for (uint32_t i : {0, 1})
      EXPECT_OK(c->bindInput(i, x.v, DType::F32, Shape{4}));
    EXPECT_OK(c->run());
    EXPECT_EQ(outputOf(*c)[0], 41);
  }
}

TEST(CUDA, RefusesWhatItCannotRun) {
  auto expect = [](auto change, const char *text) {
    Builder b = chain(4);
    change(b.m);
    auto artifact = b.load();
    std::string message = failure(artifact);
    if (artifact) {
      auto c = Context::create(*artifact, {1});
      message = failure(c);
      Floats x;
      if (c) {
        for (uint32_t i : {0, 1})
          EXPECT_OK((*c)->bindInput(i, x.v, DType::F32, Shape{4}));
        message = failure((*c)->run());
      }
    }
    EXPECT_NE(message.find(text), std::string::npos) << message;
  };
  auto launchOf = [](Manifest &m) -> CUDALaunch & {
    return std::get<CUDALaunch>(m.steps[0].launch);
  };
  expect([](Manifest &m) { m.target.arch = "sm_100"; },
         "is compiled for 'sm_100', this device (Fake GPU) is 'sm_90'");
  expect([](Manifest &m) { m.target.arch = "sm_80a"; },
         "is compiled for 'sm_80a', this device");
  expect([](Manifest &m) { m.target.arch = "gfx90"; }, "compiled for 'gfx90'");
  expect([](Manifest &m) { m.target.arch = "sm_90a", m.target.cubin = true; },
         "it has no member 'device.cubin'");
  expect([&](Manifest &m) { launchOf(m).block = 0; },
         "step 0 (add_f32, kernel add_f32): has blocks of 0 threads");
  expect([&](Manifest &m) { launchOf(m).block = 2048; },
         "has blocks of 2048 threads");
  expect([&](Manifest &m) { launchOf(m).shared = 1 << 20; },
         "needs 1048576 bytes of shared memory, the device has 232448");
  expect([&](Manifest &m) { launchOf(m).grid = -1; },
         "step 0 (add_f32): has no valid grid: '-1' is -1");
  expect([&](Manifest &m) { launchOf(m).work = 100; },
         "CUDA_ERROR_ILLEGAL_ADDRESS");
}

TEST(CUDA, TellsOfBadCode) {
  auto load = [](std::vector<CodePart> code) {
    Builder b = chain(4);
    b.m.target.cubin = code[0].name == "device.cubin";
    TemporaryPath file(".lum");
    EXPECT_OK(writeArtifact({b.m, std::move(code), "", {}}, file.path));
    return failure(Artifact::load(file.path));
  };
  auto has = [](const std::string &message, const char *text) {
    EXPECT_NE(message.find(text), std::string::npos) << message;
  };
  has(load({{"device.ptx", "bad"}}),
      "device.ptx: cannot be loaded: line 1: bad");
  has(load({{"device.ptx", "// nothing"}}),
      "steps[0].kernel: device.ptx has no symbol 'add_f32'");
  // A cubin of another generation is passed over for PTX.
  has(load({{"device.cubin", "bad"}, {"device.ptx", "// nothing"}}),
      "device.ptx has no symbol 'add_f32'");
}
} // namespace
