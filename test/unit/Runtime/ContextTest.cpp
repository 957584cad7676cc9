//===- ContextTest.cpp - Binding, shapes, states, running -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What every kind of device must do: each binary of tests that has this file
// runs it on its own (deviceKind).
//
//===----------------------------------------------------------------------===//

#include "ArtifactBuilder.h"
#include <cstring>
#include <thread>

using namespace luminal;
using namespace luminal::runtime;
using namespace luminal::runtime::testing;

namespace {
using Shape = std::vector<int64_t>;

const float *outputOf(Context &c, uint32_t i = 0) {
  return static_cast<const float *>(*c.getOutputData(i));
}

TEST(Context, RunsStepsOverTheArena) {
  auto c = chain(4).context();
  Floats x, w, y;
  for (int i = 0; i < 4; ++i)
    x[i] = i, w[i] = 10 * i;
  EXPECT_OK(c->bindInput(0, x.v, DType::F32, Shape{4}));
  EXPECT_OK(c->bindInput(1, w.v, DType::F32, Shape{4}));
  EXPECT_OK(c->bindOutput(0, y.v, DType::F32, Shape{4}));
  EXPECT_OK(c->run());
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(y[i], 11 * i + 1);
  // Unbound outputs lie in memory of the context.
  c->unbindOutput(0);
  x[2] = 5;
  EXPECT_OK(c->run());
  EXPECT_EQ(outputOf(*c)[2], 26);
  EXPECT_EQ(y[2], 23);
}

TEST(Context, BindsSymbolsFromShapes) {
  auto c = chain(s("n")).context(2);
  for (int64_t n : {3, 50, 7}) {
    Floats x, w;
    for (int i = 0; i < n; ++i)
      x[i] = i, w[i] = n;
    EXPECT_OK(c->bindInput(0, x.v, DType::F32, Shape{n}));
    EXPECT_OK(c->bindInput(1, w.v, DType::F32, Shape{n}));
    EXPECT_OK(c->prepare());
    ASSERT_EQ(c->getOutputShape(0).size(), 1u);
    EXPECT_EQ(c->getOutputShape(0)[0], n);
    EXPECT_OK(c->run());
    for (int i = 0; i < n; ++i)
      EXPECT_EQ(outputOf(*c)[i], i + n + 1);
  }
}

/// Inputs of the given shapes whose extents are over n and k, no steps.
std::unique_ptr<Context> shapesOnly(std::vector<std::vector<Expr>> shapes,
                                    std::vector<Expr> output) {
  Builder b;
  b.symbol("k", 1, 100);
  b.symbol("n", 2, 64);
  const char *names[] = {"a", "b", "c"};
  for (size_t i = 0; i < shapes.size(); ++i)
    b.input(names[i], DType::F32, shapes[i]);
  b.output("y", DType::F32, output);
  return b.context();
}

TEST(Context, SolvesLinearExtents) {
  // k follows from 2*k + n once n is known, though it comes before it.
  auto c = shapesOnly({{s("2*k + n")}, {s("n")}}, {s("k"), s("n")});
  Floats x;
  EXPECT_OK(c->bindInput(0, x.v, DType::F32, Shape{11}));
  EXPECT_OK(c->bindInput(1, x.v, DType::F32, Shape{5}));
  EXPECT_OK(c->prepare());
  EXPECT_EQ(c->getOutputShape(0)[0], 3);
  EXPECT_EQ(c->getOutputShape(0)[1], 5);
  EXPECT_OK(c->bindInput(1, x.v, DType::F32, Shape{4}));
  EXPECT_FAILS(c->run(), "dim 0 of input 'a' is 11, which is not a value of");
  EXPECT_OK(c->bindInput(0, x.v, DType::F32, Shape{4}));
  EXPECT_FAILS(c->run(), "so k is 0, outside the range [1, 100] of k");
}

TEST(Context, SolvesRisingExtents) {
  auto c = shapesOnly({{s("n*n + k")}, {s("k")}}, {s("n")});
  Floats x;
  EXPECT_OK(c->bindInput(0, x.v, DType::F32, Shape{12}));
  EXPECT_OK(c->bindInput(1, x.v, DType::F32, Shape{3}));
  EXPECT_OK(c->prepare());
  EXPECT_EQ(c->getOutputShape(0)[0], 3);
  EXPECT_OK(c->bindInput(0, x.v, DType::F32, Shape{13}));
  EXPECT_FAILS(c->run(), "dim 0 of input 'a' is 13, which is not a value of "
                         "k + n * n with n in [2, 64]");
}

TEST(Context, ChecksRequirements) {
  Builder b;
  b.symbol("m", 0, 64);
  b.symbol("n", 0, 64);
  b.input("a", DType::F32, {s("n")});
  b.input("b", DType::F32, {s("m")});
  b.output("y", DType::F32, {s("m")});
  b.m.requirements.push_back(
      {s("m + 2"), s("n"), {s("m")}, "f.mlir:3:1: view of n"});
  auto c = b.context();
  Floats x;
  EXPECT_OK(c->bindInput(0, x.v, DType::F32, Shape{5}));
  EXPECT_OK(c->bindInput(1, x.v, DType::F32, Shape{3}));
  EXPECT_OK(c->prepare());
  EXPECT_OK(c->bindInput(1, x.v, DType::F32, Shape{4}));
  EXPECT_FAILS(c->run(),
               "f.mlir:3:1: view of n: expected m + 2 <= n, found 6 and 5, m "
               "is 4 by dim 0 of input 'b', n is 5 by dim 0 of input 'a'");
  // Where nothing is read, nothing is required.
  EXPECT_OK(c->bindInput(0, x.v, DType::F32, Shape{1}));
  EXPECT_OK(c->bindInput(1, x.v, DType::F32, Shape{0}));
  EXPECT_OK(c->prepare());
}

TEST(Context, ChecksEveryExtent) {
  auto c = shapesOnly({{s("n"), s("k")}, {s("n*k")}, {s("k")}}, {s("n")});
  Floats x;
  EXPECT_OK(c->bindInput(0, x.v, DType::F32, Shape{3, 4}));
  EXPECT_FAILS(c->run(), "input 'b' is not bound");
  EXPECT_OK(c->bindInput(1, x.v, DType::F32, Shape{12}));
  EXPECT_OK(c->bindInput(2, x.v, DType::F32, Shape{4}));
  EXPECT_OK(c->run());
  EXPECT_OK(c->bindInput(1, x.v, DType::F32, Shape{13}));
  EXPECT_FAILS(c->run(), "dim 0 of input 'b' is 13, expected 12");
  EXPECT_OK(c->bindInput(1, x.v, DType::F32, Shape{12}));
  EXPECT_OK(c->bindInput(2, x.v, DType::F32, Shape{5}));
  EXPECT_FAILS(c->run(),
               "dim 0 of input 'c' is 5, expected 4 (k, k is 4 by dim 1 of "
               "input 'a')");
  EXPECT_OK(c->bindInput(0, x.v, DType::F32, Shape{1, 4}));
  EXPECT_FAILS(c->run(),
               "dim 0 of input 'a' is 1, outside the range [2, 64] of n");
}

TEST(Context, ChecksBindings) {
  auto c = chain(4).context();
  Floats x;
  EXPECT_FAILS(c->bindInput(0, x.v, DType::F64, Shape{4}),
               "input 'x': has element type f64, expected f32");
  EXPECT_FAILS(c->bindInput(0, x.v, DType::F32, Shape{4, 1}),
               "input 'x': has rank 2, expected f32[4]");
  EXPECT_FAILS(c->bindInput(0, x.v, DType::F32, Shape{5}),
               "input 'x': dim 0 is 5, expected f32[4]");
  EXPECT_FAILS(c->bindInput(0, nullptr, DType::F32, Shape{4}),
               "input 'x': has no memory");
  EXPECT_FAILS(c->bindInput(2, x.v, DType::F32, Shape{4}),
               "there is no input 2");
  EXPECT_FAILS(c->bindOutput(0, x.v, DType::F32, Shape{3}),
               "output 'y': dim 0 is 3");
  EXPECT_FAILS(c->bindOutput(1, x.v, DType::F32, Shape{3}),
               "there is no output 1");
  EXPECT_FAILS(c->bindWeight(0, x.v, DType::F32, Shape{3}),
               "there is no weight 0");
  auto d = chain(s("n")).context();
  EXPECT_FAILS(d->bindInput(0, x.v, DType::F32, Shape{-1}), "dim 0 is -1");
  EXPECT_FAILS(d->bindInput(0, x.v, DType::F32, Shape{INT64_MAX}),
               "is too large");
  // A symbolic extent of an output is checked when the inputs are known.
  EXPECT_OK(d->bindInput(0, x.v, DType::F32, Shape{4}));
  EXPECT_OK(d->bindInput(1, x.v, DType::F32, Shape{4}));
  EXPECT_OK(d->bindOutput(0, x.v + 8, DType::F32, Shape{5}));
  EXPECT_FAILS(d->run(), "output 'y': dim 0 is 5, expected 4 (n)");
}

TEST(Context, AnUnboundInputIsMissed) {
  auto c = chain(4).context();
  Floats x;
  for (uint32_t i : {0, 1})
    EXPECT_OK(c->bindInput(i, x.v, DType::F32, Shape{4}));
  EXPECT_OK(c->run());
  c->unbindInput(1);
  EXPECT_FAILS(c->run(), "input 'w' is not bound");
  EXPECT_OK(c->bindInput(1, x.v, DType::F32, Shape{4}));
  EXPECT_OK(c->run());
}

TEST(Context, RefusesSharedMemory) {
  auto c = chain(4).context();
  Floats x;
  EXPECT_OK(c->bindInput(0, x.v, DType::F32, Shape{4}));
  EXPECT_OK(c->bindInput(1, x.v, DType::F32, Shape{4})); // both only read
  EXPECT_OK(c->bindOutput(0, x.v + 3, DType::F32, Shape{4}));
  EXPECT_FAILS(c->run(), "output 'y' shares memory with input 'x'");
  EXPECT_OK(c->bindOutput(0, x.v + 4, DType::F32, Shape{4}));
  EXPECT_OK(c->run());
  EXPECT_EQ(x[4], 1);

  Builder b;
  uint32_t in = b.input("x", DType::F32, {4}), w = b.weight("w", {1, 2, 3, 4});
  uint32_t y = b.output("y", DType::F32, {4}),
           z = b.output("z", DType::F32, {4});
  b.step("add_f32", {in, w, y}, 4);
  b.step("copy_f32", {in, z}, 4);
  auto d = b.context();
  Floats f;
  EXPECT_OK(d->bindWeight(0, f.v, DType::F32, Shape{4}));
  EXPECT_OK(d->bindInput(0, f.v + 4, DType::F32, Shape{4}));
  EXPECT_OK(d->bindOutput(0, f.v + 8, DType::F32, Shape{4}));
  EXPECT_OK(d->bindOutput(1, f.v + 8, DType::F32, Shape{4}));
  EXPECT_FAILS(d->run(), "output 'y' shares memory with output 'z'");
  EXPECT_OK(d->bindOutput(1, f.v, DType::F32, Shape{4}));
  EXPECT_FAILS(d->run(), "output 'z' shares memory with weight 'w'");
}

TEST(Context, RefusesSharedMemoryOfManyOutputs) {
  Builder b;
  uint32_t in = b.input("x", DType::F32, {4});
  const char *const names[] = {"a", "b", "c", "d", "e", "f"};
  for (const char *name : names)
    b.step("copy_f32", {in, b.output(name, DType::F32, {4})}, 4);
  auto c = b.context();
  Floats x, y;
  EXPECT_OK(c->bindInput(0, x.v, DType::F32, Shape{4}));
  for (uint32_t i = 0; i < 6; ++i)
    EXPECT_OK(c->bindOutput(i, y.v + 4 * i, DType::F32, Shape{4}));
  EXPECT_OK(c->run());
  EXPECT_OK(c->bindOutput(4, y.v + 3, DType::F32, Shape{4}));
  EXPECT_FAILS(c->run(), "output 'a' shares memory with output 'e'");
  EXPECT_OK(c->bindOutput(4, x.v + 1, DType::F32, Shape{4}));
  EXPECT_FAILS(c->run(), "output 'e' shares memory with input 'x'");
}

TEST(Context, PlacesOnlyWhatMoved) {
  // One state is changed in place and one by a copy; an output is an input, one
  // is a part of another, and one a new value of a state.
  Builder b;
  uint32_t x = b.input("x", DType::F32, {4}), w = b.weight("w", {1, 2, 3, 4});
  uint32_t changed = b.input("changed", DType::F32, {4}),
           copied = b.input("copied", DType::F32, {4});
  b.m.inputs[1].state = b.m.inputs[2].state = true;
  uint32_t sum = b.output("sum", DType::F32, {4});
  b.step("add_f32", {copied, w, sum}, 4);
  b.step("accumulate_f32", {x, changed}, 4);
  b.outputOf("new changed", DType::F32, {4}, changed, 1);
  b.outputOf("new copied", DType::F32, {4}, sum, 2);
  b.outputOf("x2", DType::F32, {4}, x);
  b.outputOf("tail", DType::F32, {2}, b.buffer(Kind::Alias, 8, 8, sum));
  auto c = b.context();
  Floats memory[2][6];
  uint64_t placings = 0;
  float expected[] = {0, 0, 0, 0};
  for (int call = 0; call < 8; ++call) {
    // In some calls the inputs move, in some the states, in some all.
    auto &[in, state, other, y, x2, tail] = memory[call & 1];
    Floats &inNow = call & 2 ? in : memory[0][0];
    Floats &stateNow = call & 4 ? state : memory[0][1];
    Floats &otherNow = call & 4 ? other : memory[0][2];
    for (int i = 0; i < 4; ++i) {
      inNow[i] = 10 * call + i;
      stateNow[i] = call;
      otherNow[i] = expected[i];
    }
    EXPECT_OK(c->bindInput(0, inNow.v, DType::F32, Shape{4}));
    EXPECT_OK(c->bindInput(1, stateNow.v, DType::F32, Shape{4}));
    EXPECT_OK(c->bindInput(2, otherNow.v, DType::F32, Shape{4}));
    EXPECT_OK(c->bindOutput(0, y.v, DType::F32, Shape{4}));
    EXPECT_OK(c->bindOutput(3, x2.v, DType::F32, Shape{4}));
    EXPECT_OK(c->bindOutput(4, tail.v, DType::F32, Shape{2}));
    EXPECT_OK(c->run());
    for (int i = 0; i < 4; ++i) {
      expected[i] += i + 1;
      EXPECT_EQ(y[i], expected[i]);
      EXPECT_EQ(otherNow[i], expected[i]);
      EXPECT_EQ(x2[i], inNow[i]);
      EXPECT_EQ(stateNow[i], inNow[i] + call);
    }
    EXPECT_EQ(tail[0], expected[2]);
    EXPECT_EQ(tail[1], expected[3]);
    if (call == 0)
      placings = c->getNumPlacings();
  }
  // On a device, memory of the host is copied, and a copy placed again.
  if (isOnCPU())
    EXPECT_EQ(c->getNumPlacings(), placings);
}

TEST(Context, RefusesSharedMemoryOfWhatMoved) {
  auto c = counter().context();
  Floats x, state, y, other;
  auto bind = [&](float *in, float *states, float *out) {
    EXPECT_OK(c->bindInput(0, in, DType::F32, Shape{4}));
    EXPECT_OK(c->bindInput(1, states, DType::F32, Shape{4}));
    EXPECT_OK(c->bindOutput(1, out, DType::F32, Shape{4}));
    return c->run();
  };
  EXPECT_OK(bind(x.v, state.v, y.v));
  EXPECT_FAILS(bind(x.v, state.v, state.v), "shares memory with state 'state'");
  EXPECT_FAILS(bind(x.v, state.v, x.v), "output 'y' shares memory with input");
  EXPECT_FAILS(bind(y.v, state.v, y.v), "output 'y' shares memory with input");
  EXPECT_FAILS(bind(x.v, x.v, y.v), "input 'x' shares memory with state");
  EXPECT_FAILS(bind(x.v, y.v, y.v), "output 'y' shares memory with state");
  other[0] = 5;
  state[0] = 2;
  EXPECT_OK(bind(other.v, state.v, x.v));
  EXPECT_EQ(x[0], 7);
  // What is misaligned is copied from then on, and no more when it is not.
  other[1] = 8;
  EXPECT_OK(bind(other.v + 1, state.v, x.v));
  EXPECT_EQ(x[0], 15);
  EXPECT_OK(bind(other.v, state.v, y.v + 1));
  EXPECT_EQ(y[1], 20);
  EXPECT_OK(bind(other.v, state.v, x.v));
  EXPECT_EQ(x[0], 25);
}

TEST(Context, CopiesWhatIsMisaligned) {
  auto c = chain(4).context();
  Floats x, w, y;
  for (int i = 0; i < 4; ++i)
    x[i + 1] = i, w[i + 2] = 2 * i;
  y[3] = y[8] = -7;
  EXPECT_OK(c->bindInput(0, x.v + 1, DType::F32, Shape{4}));
  EXPECT_OK(c->bindInput(1, w.v + 2, DType::F32, Shape{4}));
  EXPECT_OK(c->bindOutput(0, y.v + 3 + 1, DType::F32, Shape{4}));
  EXPECT_OK(c->bindOutput(0, y.v + 5, DType::F32, Shape{4}));
  for (int round = 0; round < 2; ++round) {
    x[1] = round; // copied at each call
    EXPECT_OK(c->run());
    EXPECT_EQ(y[5], round + 1);
    for (int i = 1; i < 4; ++i)
      EXPECT_EQ(y[5 + i], 3 * i + 1);
  }
  EXPECT_EQ(y[3], -7);
  EXPECT_EQ(y[9], 0);
}

TEST(Context, EmptyTensors) {
  Builder b = chain(s("n"));
  b.m.symbols[0].range.lo = 0;
  auto c = b.context();
  EXPECT_OK(c->bindInput(0, nullptr, DType::F32, Shape{0}));
  EXPECT_OK(c->bindInput(1, nullptr, DType::F32, Shape{0}));
  EXPECT_OK(c->bindOutput(0, nullptr, DType::F32, Shape{0}));
  EXPECT_OK(c->run());
  EXPECT_EQ(c->getOutputShape(0)[0], 0);
}

TEST(Context, OutputsThatAreOtherBuffers) {
  // Two outputs with one value, an input and a weight as outputs, a slice.
  Builder b;
  uint32_t x = b.input("x", DType::F32, {4}), w = b.weight("w", {1, 2, 3, 4});
  uint32_t y = b.output("y", DType::F32, {4});
  b.step("add_f32", {x, w, y}, 4);
  b.outputOf("y2", DType::F32, {4}, y);
  b.outputOf("x2", DType::F32, {4}, x);
  b.outputOf("w2", DType::F32, {4}, w);
  b.outputOf("tail", DType::F32, {2}, b.buffer(Kind::Alias, 8, 8, y));
  b.constants = std::string("\0\0\x80\x3f\0\0\0\x40", 8);
  b.outputOf("c", DType::F32, {2}, b.buffer(Kind::Constant, 0, 8));
  auto c = b.context();
  Floats in, w2;
  for (int i = 0; i < 4; ++i)
    in[i] = 10 * i;
  EXPECT_OK(c->bindInput(0, in.v, DType::F32, Shape{4}));
  EXPECT_OK(c->bindOutput(3, w2.v, DType::F32, Shape{4}));
  EXPECT_OK(c->run());
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(outputOf(*c, 0)[i], 11 * i + 1);
    EXPECT_EQ(outputOf(*c, 1)[i], 11 * i + 1);
    EXPECT_EQ(outputOf(*c, 2)[i], 10 * i);
    EXPECT_EQ(w2[i], i + 1);
  }
  EXPECT_EQ(outputOf(*c, 4)[0], 23);
  EXPECT_EQ(outputOf(*c, 5)[1], 2);
}

TEST(Context, AFailedStepIsNamed) {
  Builder b;
  b.symbol("n", 1, 100);
  uint32_t a = b.input("a", DType::F32, {s("n")}),
           i = b.input("i", DType::I64, {3});
  uint32_t y = b.output("y", DType::F32, {3});
  b.step("gather_f32", {a, i, y}, 3).name = "model.py:12 embedding";
  auto c = b.context(2);
  Floats data;
  alignas(64) int64_t index[3] = {0, 4, 9};
  EXPECT_OK(c->bindInput(0, data.v, DType::F32, Shape{10}));
  EXPECT_OK(c->bindInput(1, index, DType::I64, Shape{3}));
  EXPECT_OK(c->run());
  index[1] = 10;
  EXPECT_FAILS(c->run(), "step 0 (model.py:12 embedding, kernel gather_f32): "
                         "an index is out of range");
  index[1] = 3;
  EXPECT_OK(c->run());
}

// The result is there only if the counter was zero.
TEST(Context, CountersAreZeroBeforeEachCall) {
  auto c = sumInParts().context(2);
  Floats x;
  auto expect = [&](int64_t n, float sum) {
    EXPECT_OK(c->bindInput(0, x.v, DType::F32, Shape{n}));
    EXPECT_OK(c->run());
    EXPECT_EQ(*outputOf(*c), sum);
  };
  for (int i = 0; i < 64; ++i)
    x[i] = i;
  expect(5, 10);
  x[0] = 7;
  expect(5, 17);
  // More counters than there was memory for, then fewer.
  expect(40, 787);
  expect(3, 10);
  // A call that failed half-way leaves them as they are.
  x[2] = -1;
  EXPECT_OK(c->bindInput(0, x.v, DType::F32, Shape{5}));
  EXPECT_FAILS(c->run(), "step 0 (sum_parts_f32");
  EXPECT_FAILS(c->run(), "step 0 (sum_parts_f32");
  x[2] = 0;
  expect(5, 15);
  EXPECT_OK(c->timeSteps(3));
  expect(5, 15);
}

// No part of one context counts for another.
TEST(Context, CountersAreOfOneContext) {
  auto artifact = sumInParts().load();
  ASSERT_TRUE(artifact);
  auto broken = Context::create(*artifact, {}),
       good = Context::create(*artifact, {});
  Floats x, y;
  y[3] = -1;
  EXPECT_OK((*broken)->bindInput(0, y.v, DType::F32, Shape{9}));
  EXPECT_OK((*good)->bindInput(0, x.v, DType::F32, Shape{9}));
  for (int call = 1; call < 4; ++call) {
    x[4] = call;
    EXPECT_FAILS((*broken)->run(), "step 0");
    EXPECT_OK((*good)->run());
    EXPECT_EQ(*outputOf(**good), call);
  }
}

//===----------------------------------------------------------------------===//
// States
//===----------------------------------------------------------------------===//

TEST(Context, StatesAreCarriedAndReset) {
  auto artifact = counter().load();
  ASSERT_TRUE(artifact) << artifact.error().message;
  EXPECT_EQ((*artifact)->getUserInputs(), std::vector<uint32_t>{0});
  EXPECT_EQ((*artifact)->getStates(), std::vector<uint32_t>{1});
  EXPECT_EQ((*artifact)->getUserOutputs(), std::vector<uint32_t>{1});
  auto created = Context::create(*artifact, {1});
  auto &c = *created;
  Floats x;
  x[0] = 10;
  EXPECT_OK(c->bindInput(0, x.v, DType::F32, Shape{4}));
  for (int call = 1; call <= 3; ++call) {
    EXPECT_OK(c->run());
    EXPECT_EQ(outputOf(*c, 1)[0], 1 + 10 * call);
    EXPECT_EQ(outputOf(*c, 1)[3], 4);
  }
  EXPECT_EQ(static_cast<const float *>(*c->getStateData(1))[0], 31);
  // Another context has separate states.
  auto other = Context::create(*artifact, {1});
  EXPECT_OK((*other)->bindInput(0, x.v, DType::F32, Shape{4}));
  EXPECT_OK((*other)->run());
  EXPECT_EQ(outputOf(**other, 1)[0], 11);
  c->resetStates();
  EXPECT_OK(c->run());
  EXPECT_EQ(outputOf(*c, 1)[0], 11);
  // Memory of the caller is the state as it is, also where it is misaligned.
  for (size_t offset : {0, 1}) {
    Floats mine;
    mine[offset] = 100;
    EXPECT_OK(c->bindInput(1, mine.v + offset, DType::F32, Shape{4}));
    EXPECT_OK(c->run());
    EXPECT_OK(c->run());
    EXPECT_EQ(mine[offset], 120);
    EXPECT_EQ(outputOf(*c, 1)[0], 120);
  }
  Floats shared;
  EXPECT_OK(c->bindInput(1, shared.v, DType::F32, Shape{4}));
  EXPECT_OK(c->bindInput(0, shared.v, DType::F32, Shape{4}));
  EXPECT_FAILS(c->run(), "input 'x' shares memory with state 'state'");
  EXPECT_OK(c->bindInput(0, x.v, DType::F32, Shape{4}));
  c->unbindInput(1);
  EXPECT_OK(c->run());
  EXPECT_EQ(outputOf(*c, 1)[0], 11);
}

TEST(Context, StatesMayTradeValues) {
  // a, b = b, a + x: each new value depends on the other's old one.
  Builder b;
  uint32_t x = b.input("x", DType::F32, {1});
  b.weight("a0", {1}, false);
  b.weight("b0", {2}, false);
  uint32_t sa = b.input("a", DType::F32, {1}),
           sb = b.input("b", DType::F32, {1});
  for (uint32_t i : {1, 2}) {
    b.m.inputs[i].state = true;
    b.m.inputs[i].initial = i - 1;
  }
  uint32_t sum = b.buffer(Kind::Arena, 0, 4);
  b.m.arenaBytes = 4;
  b.step("add_f32", {sa, x, sum}, 1);
  b.outputOf("old a", DType::F32, {1}, sa);
  b.outputOf("new b", DType::F32, {1}, sum, 2);
  b.outputOf("new a", DType::F32, {1}, sb, 1);
  auto c = b.context();
  Floats in;
  in[0] = 10;
  EXPECT_OK(c->bindInput(0, in.v, DType::F32, Shape{1}));
  float expected[] = {1, 2, 11, 12, 21};
  for (float value : expected) {
    EXPECT_OK(c->run());
    EXPECT_EQ(outputOf(*c, 0)[0], value);
  }
}

TEST(Context, ABrokenStateMustBeReset) {
  Builder b = counter();
  uint32_t i = b.input("i", DType::I64, {1});
  b.symbol("n", 1, 100);
  uint32_t table = b.input("table", DType::F32, {s("n")});
  uint32_t z = b.output("z", DType::F32, {1});
  b.step("gather_f32", {table, i, z}, 1);
  auto c = b.context();
  Floats x;
  x[0] = 10;
  alignas(64) int64_t index[1] = {50};
  EXPECT_OK(c->bindInput(0, x.v, DType::F32, Shape{4}));
  EXPECT_OK(c->bindInput(2, index, DType::I64, Shape{1}));
  EXPECT_OK(c->bindInput(3, x.v, DType::F32, Shape{8}));
  EXPECT_FAILS(c->run(), "index is out of range");
  index[0] = 0;
  EXPECT_FAILS(c->run(), "changed the state 'state' in place: reset it");
  EXPECT_FAILS(c->getStateData(1), "changed the state 'state' in place");
  EXPECT_FAILS(c->getOutputData(2), "output 'z' has no value");
  c->resetStates();
  EXPECT_EQ(static_cast<const float *>(*c->getStateData(1))[0], 1);
  EXPECT_OK(c->run());
  EXPECT_EQ(outputOf(*c, 1)[0], 11);
}

TEST(Context, EachBrokenStateMustBeMended) {
  // Two states in memory of the caller, and one of the context.
  Builder b = counter();
  b.symbol("n", 1, 100);
  uint32_t v = b.input("v", DType::F32, {4});
  uint32_t mine[2];
  for (uint32_t k : {0, 1}) {
    mine[k] = b.input(k ? "second" : "first", DType::F32, {4});
    b.m.inputs.back().state = true;
    b.outputOf(k ? "new second" : "new first", DType::F32, {4}, mine[k], 3 + k);
    b.step("accumulate_f32", {v, mine[k]}, 4);
  }
  uint32_t i = b.input("i", DType::I64, {1});
  uint32_t table = b.input("table", DType::F32, {s("n")});
  uint32_t z = b.output("z", DType::F32, {1});
  b.step("gather_f32", {table, i, z}, 1);
  auto c = b.context();
  Floats x, first, second;
  alignas(64) int64_t index[1] = {50};
  EXPECT_OK(c->bindInput(0, x.v, DType::F32, Shape{4}));
  EXPECT_OK(c->bindInput(2, x.v, DType::F32, Shape{4}));
  EXPECT_OK(c->bindInput(3, first.v, DType::F32, Shape{4}));
  EXPECT_OK(c->bindInput(4, second.v, DType::F32, Shape{4}));
  EXPECT_OK(c->bindInput(5, index, DType::I64, Shape{1}));
  EXPECT_OK(c->bindInput(6, x.v, DType::F32, Shape{8}));
  EXPECT_FAILS(c->run(), "index is out of range");
  index[0] = 0;
  // Rebinding one state at the same address does not repair another, and a
  // reset does not repair memory of the caller.
  EXPECT_OK(c->bindInput(3, first.v, DType::F32, Shape{4}));
  c->resetStates();
  EXPECT_FAILS(c->run(), "changed the state 'second' in place");
  EXPECT_OK(c->bindInput(4, second.v, DType::F32, Shape{4}));
  EXPECT_OK(c->run());
}

//===----------------------------------------------------------------------===//
// Sizes that are wrong for some values of the symbols
//===----------------------------------------------------------------------===//

TEST(Context, ChecksSizes) {
  auto expect = [](int64_t n, auto change, const char *text) {
    std::string message = runWith(n, change);
    EXPECT_NE(message.find(text), std::string::npos) << message;
  };
  EXPECT_EQ(runWith(8, [](Builder &) {}), "");
  expect(
      8, [](Builder &b) { b.m.buffers[2].offset = s("n"); },
      "buffers[2]: lies outside the arena or is misaligned");
  expect(
      8,
      [](Builder &b) {
        b.m.buffers[2].offset = s("64*n - 512"),
        b.m.buffers[2].bytes = s("4*n + 1");
      },
      "buffers[2]: lies outside the arena");
  expect(
      8, [](Builder &b) { b.m.buffers[2].offset = s("-64"); },
      "buffers[2]: has no valid offset");
  expect(
      8, [](Builder &b) { b.m.buffers[2].bytes = s("n floordiv (n - 8)"); },
      "buffers[2]: has no valid offset");
  expect(8, [](Builder &b) { b.m.arenaBytes = s("n - 9"); }, "arena_bytes");
  expect(
      8, [](Builder &b) { b.m.arenaBytes = s("n*4611686018427387904"); },
      "arena_bytes: has no valid size: '4611686018427387904 * n' overflows 64 "
      "bits");
  expect(
      8, [](Builder &b) { b.m.arenaBytes = s("n*4503599627370496"); },
      "out of memory: the arena needs");
  expect(
      8, [](Builder &b) { b.m.outputs[0].shape = {s("n - 9")}; },
      "output 'y': dim 0 (n - 9) has no valid size: 'n - 9' is -1");
  expect(
      8,
      [](Builder &b) { b.m.buffers.push_back({Kind::Alias, s("n*4"), 1, 2}); },
      "buffers[4]: lies outside buffer 2");
  expect(
      8,
      [](Builder &b) {
        b.m.buffers.push_back({Kind::Alias, s("n"), s("n*3 + 1"), 3});
      },
      "buffers[4]: lies outside buffer 3");
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

TEST(Context, EightThreadsRunOneArtifact) {
  auto artifact = chain(s("n"), /*grain=*/16).load();
  ASSERT_TRUE(artifact);
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      auto c = Context::create(*artifact, {3});
      const int64_t n = 500 + 100 * t;
      auto x = std::make_unique<std::vector<float>>(n),
           w = std::make_unique<std::vector<float>>(n);
      for (int64_t i = 0; i < n; ++i)
        (*x)[i] = i, (*w)[i] = t;
      if (!(*c)->bindInput(0, x->data(), DType::F32, Shape{n}) ||
          !(*c)->bindInput(1, w->data(), DType::F32, Shape{n}))
        ++wrong;
      for (int call = 0; call < 50; ++call) {
        (*x)[0] = call;
        if (!(*c)->run())
          ++wrong;
        const float *y = outputOf(**c);
        for (int64_t i = 0; i < n; ++i)
          wrong += y[i] != (i ? i : call) + t + 1;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
}
} // namespace
