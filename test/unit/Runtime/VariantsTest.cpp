//===- VariantsTest.cpp - Programs for narrower ranges of symbols ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ArtifactBuilder.h"
#include <random>

using namespace luminal;
using namespace luminal::runtime;
using namespace luminal::runtime::testing;

namespace {
using Shape = std::vector<int64_t>;

/// A program of the same tensors, whose buffers are another list.
struct Other {
  Builder b;
  uint32_t x, w, d, count, y;

  explicit Other(const Builder &program) {
    b.m = program.m;
    b.m.variants.clear();
    b.m.buffers.clear();
    b.m.steps.clear();
    y = b.buffer(Kind::Output);
    count = b.buffer(Kind::Input);
    d = b.buffer(Kind::Input);
    w = b.buffer(Kind::Input);
    x = b.buffer(Kind::Input);
    b.m.inputs[0].buffer = x;
    b.m.inputs[1].buffer = w;
    b.m.inputs[2].buffer = d;
    b.m.inputs[3].buffer = count;
    b.m.outputs[0].buffer = y;
    b.m.outputs[1].buffer = b.m.outputs[2].buffer = count;
  }
  void within(Builder &program, SymbolRange range) {
    b.m.symbols[0].range = range;
    // Kernels for a GPU are named by their place.
    if (!isOnCPU())
      for (StepSpec &step : b.m.steps)
        step.kernel += "$" + std::to_string(program.m.variants.size()) + "v";
    program.m.variants.push_back(std::make_shared<Manifest>(b.m));
  }
};

/// y = (x + w) + 1 over [n], where n is 1: x + w, where it is at most 3:
/// ((x + w) + 1) + 1; and a state of four that each call adds d to.
Builder variants() {
  Builder b = chain(s("n"));
  b.m.symbols[0].range.hi = 64;
  uint32_t d = b.input("d", DType::F32, {4});
  b.weight("start", {1, 2, 3, 4}, /*hasBuffer=*/false);
  uint32_t count = b.input("count", DType::F32, {4});
  b.m.inputs.back().state = true;
  b.m.inputs.back().initial = 0;
  b.outputOf("new count", DType::F32, {4}, count, 3);
  b.outputOf("counted", DType::F32, {4}, count);
  b.step("accumulate_f32", {d, count}, 4);

  Other one(b);
  one.b.step("accumulate_f32", {one.d, one.count}, 4);
  one.b.step("add_f32", {one.x, one.w, one.y}, s("n"));
  one.b.m.arenaBytes = 0;
  one.within(b, {1, 1});

  Other few(b);
  uint32_t t = few.b.buffer(Kind::Arena, 0, s("4*n"));
  uint32_t u = few.b.buffer(Kind::Arena, 64, s("4*n"));
  few.b.m.arenaBytes = s("4*n + 64");
  few.b.step("add_f32", {few.x, few.w, t}, s("n"));
  few.b.step("increment_f32", {t, u}, s("n"));
  few.b.step("increment_f32", {u, few.y}, s("n"));
  few.b.step("accumulate_f32", {few.d, few.count}, 4);
  if (isOnCPU())
    for (StepSpec &step : few.b.m.steps)
      launchOf(step).scratch = 4;
  few.within(b, {1, 3});
  return b;
}

struct Call {
  Floats x, w, d;
  std::unique_ptr<Context> c;

  explicit Call(Builder b) : c(b.context()) {
    for (int i = 0; i < 64; ++i)
      x[i] = static_cast<float>(i), w[i] = 10;
    d[0] = 1;
  }
  Status bind(int64_t n) {
    LUMINAL_CHECK(c->bindInput(0, x.v, DType::F32, Shape{n}));
    LUMINAL_CHECK(c->bindInput(1, w.v, DType::F32, Shape{n}));
    return c->bindInput(2, d.v, DType::F32, Shape{4});
  }
  /// The last element of y less x + w: what the program adds.
  float added(int64_t n) {
    Status status = bind(n);
    if (status)
      status = c->run();
    EXPECT_TRUE(status) << status.error().message;
    if (!status)
      return -1;
    auto *y = static_cast<const float *>(*c->getOutputData(0));
    return y[n - 1] - x[n - 1] - w[n - 1];
  }
  float counted() { return *static_cast<const float *>(*c->getOutputData(2)); }
};

TEST(Variants, TheFirstWhoseRangesHoldRuns) {
  Call call(variants());
  ASSERT_TRUE(call.c);
  const std::pair<int64_t, float> sizes[] = {{5, 1}, {1, 0},  {2, 2}, {3, 2},
                                             {4, 1}, {64, 1}, {1, 0}, {64, 1},
                                             {2, 2}, {1, 0},  {1, 0}};
  float count = 1;
  for (auto [n, added] : sizes) {
    EXPECT_EQ(call.added(n), added) << n;
    EXPECT_EQ(call.c->getProgram(), n == 1 ? 1u : n <= 3 ? 2u : 0u) << n;
    // A state is one state, whatever the program.
    EXPECT_EQ(call.counted(), ++count);
  }
}

TEST(Variants, AreToldToListeners) {
  struct Listener : StepListener {
    void before(const StepReport &report) override {
      programs.push_back(report.program);
      EXPECT_EQ(report.buffers.size(),
                manifest->steps[report.step].buffers.size());
    }
    Status after(const StepReport &) override { return {}; }
    std::vector<uint32_t> programs;
    const Manifest *manifest = nullptr;
  } listener;
  Call call(variants());
  ASSERT_TRUE(call.c);
  const auto &programs = call.c->getArtifact().getPrograms();
  ASSERT_EQ(programs.size(), 3u);
  for (auto [n, program] : {std::pair(1, 1u), {3, 2u}, {9, 0u}}) {
    listener.programs.clear();
    listener.manifest = programs[program].manifest;
    EXPECT_OK(call.bind(n));
    EXPECT_OK(call.c->run(&listener));
    EXPECT_EQ(listener.programs,
              std::vector<uint32_t>(listener.manifest->steps.size(), program));
  }
}

TEST(Variants, BothSizesAreReadyAfterTheFirstCalls) {
  Call call(variants());
  ASSERT_TRUE(call.c);
  for (int64_t n : {1, 40})
    (void)call.added(n);
  const uint64_t bytes = call.c->getMemoryBytes(),
                 captures = call.c->getNumCaptures();
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(call.added(1), 0);
    EXPECT_EQ(call.added(40), 1);
  }
  EXPECT_EQ(call.c->getMemoryBytes(), bytes);
  EXPECT_EQ(call.c->getNumCaptures(), captures);
}

TEST(Variants, RequirementsAreThoseOfTheProgramThatRuns) {
  Builder b = variants();
  b.m.requirements.push_back({9, s("n"), {}, "needs nine"});
  Manifest few = *b.m.variants[1];
  few.requirements.push_back({s("n"), 2, {}, "at most two"});
  b.m.variants[1] = std::make_shared<Manifest>(few);
  Call call(std::move(b));
  ASSERT_TRUE(call.c);
  EXPECT_EQ(call.added(1), 0);
  EXPECT_EQ(call.added(2), 2);
  EXPECT_EQ(call.added(9), 1);
  EXPECT_OK(call.bind(3));
  EXPECT_FAILS(call.c->run(), "at most two");
  EXPECT_OK(call.bind(8));
  EXPECT_FAILS(call.c->run(), "needs nine");
  EXPECT_EQ(call.added(1), 0);
}

TEST(Variants, ReadBackAsWritten) {
  Builder b = variants();
  std::string text = b.m.str();
  EXPECT_NE(text.find(R"("ranges":[{"name":"n","min":1,"max":1}])"),
            std::string::npos)
      << text;
  auto parsed = Manifest::parse(text, "m");
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(parsed->str(), text);
  ASSERT_EQ(parsed->variants.size(), 2u);
  EXPECT_EQ(parsed->variants[0]->getGuardText(*parsed), "n in [1, 1]");
  EXPECT_EQ(parsed->variants[1]->outputs[0].buffer, 0u);
}

TEST(Variants, RefuseWhatDoesNotHold) {
  auto expect = [](auto change, const char *text) {
    Builder b = variants();
    auto variant = std::make_shared<Manifest>(*b.m.variants[1]);
    change(*variant);
    b.m.variants[1] = variant;
    EXPECT_FAILS(b.m.verify(), text);
  };
  /// The text is refused too.
  auto expectAlso = [&](auto change, const char *text) {
    expect(change, text);
    Builder b = variants();
    auto variant = std::make_shared<Manifest>(*b.m.variants[1]);
    change(*variant);
    b.m.variants[1] = variant;
    EXPECT_FAILS(Manifest::parse(b.m.str(), "m"), text);
  };
  expectAlso([](Manifest &m) { m.symbols[0].range = {0, 3}; },
             "variants[1]: ranges: the range of 'n' is not inside that of the "
             "program");
  expectAlso([](Manifest &m) { m.symbols[0].range = {1, 65}; },
             "is not inside that of the program");
  expectAlso([](Manifest &m) { m.symbols[0].range.hi.reset(); },
             "is not inside that of the program");
  expectAlso([](Manifest &m) { m.symbols[0].range = {3, 2}; },
             "the range of 'n' is empty");
  expectAlso([](Manifest &m) { m.inputs[0].buffer = 99; },
             "variants[1]: inputs[0].buffer: there is no buffer 99");
  expectAlso([](Manifest &m) { m.outputs[0].buffer = 99; },
             "variants[1]: outputs[0].buffer: there is no buffer 99");
  expectAlso([](Manifest &m) { m.steps[0].buffers[0] = 99; },
             "variants[1]: steps[0].buffers: there is no buffer 99");
  expectAlso([](Manifest &m) { m.steps[0].buffers[2] = m.inputs[0].buffer; },
             "may not be written");
  expectAlso([](Manifest &m) { m.arenaBytes = s("q"); },
             "variants[1]: arena_bytes: 'q' is not a symbol of the program");
  expectAlso([](Manifest &m) { m.buffers[5].kind = Kind::Prepared; },
             "'prepare' has no output 0");
  expect([](Manifest &m) { m.inputs.pop_back(); },
         "inputs: differ from those of the program");
  expect([](Manifest &m) { m.inputs[0].dtype = DType::F64; },
         "inputs: differ from those of the program");
  expect([](Manifest &m) { m.outputs[0].shape = {1}; },
         "outputs: differ from those of the program");
  expect([](Manifest &m) { m.weights[0].name = "other"; },
         "weights: differ from those of the program");
  expect([](Manifest &m) { m.symbols[0].name = "m"; },
         "symbols: differ from those of the program");
  expect([](Manifest &m) { m.variants.push_back(nullptr); },
         "variants: a variant cannot have variants");
  expect([](Manifest &m) { m.prepare = std::make_shared<Manifest>(); },
         "another 'prepare' than the program");

  Builder many = variants();
  many.m.variants.resize(kMaxVariants + 1, many.m.variants[0]);
  EXPECT_FAILS(many.m.verify(), "variants: are more than 64");
  EXPECT_FAILS(Manifest::parse(many.m.str(), "m"),
               "has 65 variants, more than 64");
  std::string text = variants().m.str();
  auto replaced = [&](const std::string &from, const std::string &to) {
    std::string changed = text;
    changed.replace(changed.find(from), from.size(), to);
    return Manifest::parse(changed, "m");
  };
  EXPECT_FAILS(replaced(R"("ranges":[{"name":"n")", R"("ranges":[{"name":"q")"),
               "there is no symbol 'q'");
  EXPECT_FAILS(replaced(R"("inputs":[4,3,2,1])", R"("inputs":[4,3,2])"),
               "has 3 buffers, expected 4");
}

TEST(Variants, SurviveRandomDamage) {
  const std::string good = variants().m.str();
  std::mt19937 random(7);
  int refused = 0;
  for (int i = 0; i < 2000; ++i) {
    std::string text = good;
    const size_t first = text.find("\"variants\"");
    for (int k = random() % 3 + 1; k > 0; --k) {
      size_t at = first + random() % (text.size() - first);
      if (random() % 2)
        text[at] = "0123456789nd,:\"[]{}-"[random() % 20];
      else
        text.erase(at, random() % 12 + 1);
      if (text.size() <= first)
        break;
    }
    auto parsed = Manifest::parse(text, "m");
    refused += !parsed;
    if (parsed)
      EXPECT_TRUE(Manifest::parse(parsed->str(), "m"));
  }
  EXPECT_GT(refused, 1000);
}
} // namespace
