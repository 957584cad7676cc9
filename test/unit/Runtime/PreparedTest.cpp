//===- PreparedTest.cpp - Values computed when weights are bound ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ArtifactBuilder.h"
#include <cstring>
#include <thread>

using namespace luminal;
using namespace luminal::runtime;
using namespace luminal::runtime::testing;

namespace {
using Shape = std::vector<int64_t>;

/// y = x + p, where p = w + 1 + 1 is prepared; `isReadTwice`: y = (x + p) + w.
Builder prepared(bool isReadTwice = false) {
  Builder b;
  uint32_t x = b.input("x", DType::F32, {4});
  uint32_t w = b.weight("w", {1, 2, 3, 4}, isReadTwice);
  uint32_t p = b.buffer(Kind::Prepared, 0, 0, 0);
  uint32_t y = b.output("y", DType::F32, {4});
  if (isReadTwice) {
    uint32_t t = b.buffer(Kind::Arena, 0, 16);
    b.m.arenaBytes = 16;
    b.step("add_f32", {x, p, t}, 4);
    b.step("add_f32", {t, w, y}, 4);
  } else {
    b.step("add_f32", {x, p, y}, 4);
  }

  Builder q;
  q.weight("w", {0, 0, 0, 0});
  uint32_t t = q.buffer(Kind::Arena, 0, 16);
  q.m.arenaBytes = 16;
  uint32_t out = q.output("p0", DType::F32, {4});
  q.step("increment_f32", {0, t}, 4);
  q.step("increment_f32", {t, out}, 4);
  if (isOnCPU())
    for (StepSpec &step : q.m.steps)
      launchOf(step).scratch = 4;
  q.m.weightsEmbedded = false;
  b.m.prepare = std::make_shared<Manifest>(q.m);
  return b;
}

Status bind(Context &c, const Floats &x) {
  return c.bindInput(0, x.v, DType::F32, Shape{4});
}

float firstOutput(Context &c) {
  Status status = c.run();
  EXPECT_TRUE(status) << status.error().message;
  return status ? *static_cast<const float *>(*c.getOutputData(0)) : 0;
}

TEST(Prepared, IsComputedFromTheArtifactsWeights) {
  for (bool isReadTwice : {false, true}) {
    auto c = prepared(isReadTwice).context();
    ASSERT_TRUE(c);
    Floats x;
    x[0] = 10;
    EXPECT_OK(bind(*c, x));
    EXPECT_EQ(firstOutput(*c), isReadTwice ? 14 : 13);
    x[0] = 20;
    EXPECT_EQ(firstOutput(*c), isReadTwice ? 24 : 23);
  }
}

TEST(Prepared, IsComputedAnewWhenAWeightIsBoundAnew) {
  for (bool isReadTwice : {false, true}) {
    auto c = prepared(isReadTwice).context();
    ASSERT_TRUE(c);
    Floats x, w, other;
    w[0] = 100, other[0] = 1000;
    const float factor = isReadTwice ? 2 : 1;
    EXPECT_OK(bind(*c, x));
    EXPECT_EQ(firstOutput(*c), 2 + factor);
    EXPECT_OK(c->bindWeight(0, w.v, DType::F32, Shape{4}));
    EXPECT_EQ(firstOutput(*c), 2 + 100 * factor);
    EXPECT_OK(c->bindWeight(0, other.v, DType::F32, Shape{4}));
    EXPECT_EQ(firstOutput(*c), 2 + 1000 * factor);
    // Changed in place: told by binding the same memory again.
    other[0] = 2000;
    EXPECT_OK(c->bindWeight(0, other.v, DType::F32, Shape{4}));
    EXPECT_EQ(firstOutput(*c), 2 + 2000 * factor);
    c->unbindWeight(0);
    EXPECT_EQ(firstOutput(*c), 2 + factor);
  }
}

TEST(Prepared, IsKeptWhileTheNumberOfItsWeightsIs) {
  auto artifact = prepared().load();
  ASSERT_TRUE(artifact) << artifact.error().message;
  auto c = Context::create(*artifact, {1}), d = Context::create(*artifact, {1});
  ASSERT_TRUE(c && d);
  Floats x, w, other;
  w[0] = 100, other[0] = 1000;
  auto call = [&](Context &context, Floats &weight, uint64_t version) {
    EXPECT_OK(bind(context, x));
    context.setWeightsVersion(version);
    EXPECT_OK(context.bindWeight(0, weight.v, DType::F32, Shape{4}));
    return firstOutput(context);
  };
  EXPECT_EQ(call(**c, w, 1), 102);
  // What is kept is seen by a change that is not told, to other contexts too.
  w[0] = 200;
  EXPECT_EQ(call(**c, w, 1), 102);
  EXPECT_EQ(call(**d, w, 1), 102);
  EXPECT_EQ(call(**c, w, 2), 202);
  EXPECT_EQ(call(**d, other, 3), 1002);
  // An address that another number had.
  w[0] = 300;
  EXPECT_EQ(call(**c, w, 4), 302);
  w[0] = 400;
  for (int i = 0; i < 2; ++i, ++w[0])
    EXPECT_EQ(call(**c, w, 0), 402 + i) << "nothing is known";
}

TEST(Prepared, IsCountedOnceWhereContextsShareIt) {
  auto artifact = prepared().load();
  ASSERT_TRUE(artifact) << artifact.error().message;
  auto c = Context::create(*artifact, {1}), d = Context::create(*artifact, {1});
  ASSERT_TRUE(c && d);
  Floats x, w;
  auto call = [&](Context &context, uint64_t version) {
    EXPECT_OK(bind(context, x));
    context.setWeightsVersion(version);
    EXPECT_OK(context.bindWeight(0, w.v, DType::F32, Shape{4}));
    EXPECT_EQ(firstOutput(context), w[0] + 2);
    return context.getMemoryBytes();
  };
  const uint64_t alone = call(**c, 1);
  const uint64_t bytes = (*artifact)->getPreparedBytes();
  EXPECT_GE(bytes, 16u);
  EXPECT_EQ(call(**d, 1), alone);
  EXPECT_EQ((*artifact)->getPreparedBytes(), bytes);
  // The first context still uses the values of the first number.
  w[0] = 5;
  EXPECT_EQ(call(**d, 2), alone);
  EXPECT_EQ((*artifact)->getPreparedBytes(), 2 * bytes);
  EXPECT_EQ(call(**c, 2), alone);
  EXPECT_EQ((*artifact)->getPreparedBytes(), bytes);
  // Where nothing is known of the weights, each context has its own.
  EXPECT_EQ(call(**d, 0), alone + bytes);
  EXPECT_EQ((*artifact)->getPreparedBytes(), bytes);
}

TEST(Prepared, IsSharedByContextsWithTheArtifactsWeights) {
  auto artifact = prepared().load();
  ASSERT_TRUE(artifact) << artifact.error().message;
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      auto c = Context::create(*artifact, {2});
      Floats x, w;
      x[0] = t, w[0] = 50;
      const bool isOwn = t % 2;
      if (!c || !bind(**c, x) ||
          (isOwn && !(*c)->bindWeight(0, w.v, DType::F32, Shape{4}))) {
        ++wrong;
        return;
      }
      for (int call = 0; call < 20; ++call)
        if (!(*c)->run() || *static_cast<const float *>(*(*c)->getOutputData(
                                0)) != t + (isOwn ? 52 : 3))
          ++wrong;
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Prepared, NeedsItsWeights) {
  Builder b = prepared();
  b.m.weightsEmbedded = false;
  b.weightData.clear();
  auto c = b.context();
  ASSERT_TRUE(c);
  Floats x, w;
  w[0] = 7;
  EXPECT_OK(bind(*c, x));
  EXPECT_FAILS(c->run(), "weight 'w' is not bound");
  EXPECT_OK(c->bindWeight(0, w.v, DType::F32, Shape{4}));
  EXPECT_EQ(firstOutput(*c), 9);
  c->unbindWeight(0);
  EXPECT_FAILS(c->run(), "weight 'w' is not bound");
}

TEST(Prepared, ReadsBackAsWritten) {
  Builder b = prepared(true);
  std::string text = b.m.str();
  auto parsed = Manifest::parse(text, "m");
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(parsed->str(), text);
  ASSERT_TRUE(parsed->prepare);
  EXPECT_EQ(parsed->prepare->steps.size(), 2u);
  EXPECT_EQ(parsed->prepare->weights[0].buffer, 0u);
  EXPECT_EQ(parsed->prepare->weights[0].bytes, 16u);
}

TEST(Prepared, RefusesHostileManifests) {
  auto expect = [](auto change, const char *text) {
    Builder b = prepared();
    auto p = std::make_shared<Manifest>(*b.m.prepare);
    change(b.m, *p);
    if (b.m.prepare)
      b.m.prepare = p;
    EXPECT_FAILS(b.m.verify(), text);
  };
  expect([](Manifest &m, Manifest &) { m.buffers[1].of = 1; },
         "buffers[1].of: 'prepare' has no output 1");
  expect([](Manifest &m, Manifest &) { m.prepare = nullptr; },
         "buffers[1].of: 'prepare' has no output 0");
  expect([](Manifest &m, Manifest &) { m.steps[0].buffers[2] = 1; },
         "buffer 1 may not be written");
  expect([](Manifest &, Manifest &p) { p.symbols.push_back({"n", {0, 1}}); },
         "prepare: must have weights and outputs only");
  expect([](Manifest &m, Manifest &p) { p.inputs = m.inputs; },
         "prepare: must have weights and outputs only");
  expect([](Manifest &m, Manifest &p) { p.prepare = m.prepare; },
         "prepare: must have weights and outputs only");
  expect([](Manifest &, Manifest &p) { p.target.kind = "other"; },
         "prepare: is for another target");
  expect([](Manifest &, Manifest &p) { p.weights.clear(); },
         "prepare: weights: differ from those of the program");
  expect([](Manifest &, Manifest &p) { p.weights[0].shape = {3}; },
         "prepare: weights[0]: differs from that of the program");
  expect([](Manifest &, Manifest &p) { p.outputs[0].shape = {s("n")}; },
         "prepare: outputs[0].shape: must be constant");
  expect([](Manifest &, Manifest &p) { p.outputs[0].buffer = 1; },
         "prepare: outputs[0].buffer: buffer 1 is not an output buffer of its "
         "own");
  expect([](Manifest &, Manifest &p) { p.outputs[0].buffer = 99; },
         "prepare: outputs[0].buffer: buffer 99 is not an output buffer of its "
         "own");
  expect([](Manifest &, Manifest &p) { p.outputs.push_back(p.outputs[0]); },
         "prepare: outputs[1].buffer: buffer 2 is not an output buffer of its "
         "own");
  expect([](Manifest &, Manifest &p) { p.outputs[0].updates = 0; },
         "prepare: outputs[0]: must be neither a state nor an assertion");
  expect([](Manifest &, Manifest &p) { p.arenaBytes = s("n"); },
         "prepare: arena_bytes: 'n' is not a symbol of the program");
  expect([](Manifest &, Manifest &p) { p.steps[0].buffers[1] = 0; },
         "prepare: steps[0].buffers[1]: buffer 0 may not be written");

  std::string good = prepared().m.str();
  auto parse = [&](const std::string &from, const std::string &to,
                   const char *text) {
    std::string changed = good;
    size_t at = changed.rfind(from);
    ASSERT_NE(at, std::string::npos) << from;
    changed.replace(at, from.size(), to);
    EXPECT_FAILS(Manifest::parse(changed, "m"), text);
  };
  parse(R"({"weight":0,"buffer":0})", R"({"weight":1,"buffer":0})",
        "there is no weight 1");
  parse(R"({"weight":0,"buffer":0})",
        R"({"weight":0,"buffer":0},{"weight":0,"buffer":0})",
        "weight 0 is listed twice");
}
} // namespace
