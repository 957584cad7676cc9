//===- ManifestTest.cpp - Manifests from hostile hands --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ArtifactBuilder.h"
#include <random>

using namespace luminal;
using namespace luminal::runtime;
using namespace luminal::runtime::testing;

namespace {
Builder full() {
  Builder b = chain(s("n"));
  b.weight("v", {1, 2});
  b.weight("start", {1, 2, 3}, /*hasBuffer=*/false);
  b.input("state", DType::F32, {3});
  b.m.inputs.back().state = true;
  b.m.inputs.back().initial = 1;
  b.outputOf("next", DType::F32, {3}, b.m.inputs.back().buffer, 2);
  b.buffer(Kind::Constant, 0, 8);
  b.buffer(Kind::Alias, s("4*n - 4"), 4, 2);
  b.m.target.features = {};
  b.m.target.cpu = "some \"cpu\"";
  b.m.weightsDigest = "abc";
  b.m.weightsFile = "models/a b.pt2";
  b.m.requirements.push_back({s("2*n"), 9, {s("n")}, "m.py:7: \"view\""});
  return b;
}

TEST(Manifest, RoundTrips) {
  std::string text = full().m.str();
  auto parsed = Manifest::parse(text, "m");
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(parsed->str(), text);
  EXPECT_EQ(parsed->inputs[2].initial, 1u);
  EXPECT_EQ(parsed->outputs[1].updates, 2u);
  EXPECT_EQ(parsed->buffers[2].bytes, s("4*n"));
  EXPECT_FALSE(parsed->weights[1].buffer);
  EXPECT_EQ(parsed->requirements[0].lesser, s("2*n"));
  EXPECT_EQ(parsed->requirements[0].space[0], s("n"));
  EXPECT_EQ(parsed->rootBuffer(7), 2u);
  EXPECT_TRUE(parsed->weightsEmbedded);
  EXPECT_EQ(parsed->weightsFile, "models/a b.pt2");
}

TEST(Manifest, StatesLaunchesInTermsOfTheTarget) {
  Builder b = full();
  b.m.target = {"cuda", "sm_90a", "", {}, true};
  for (StepSpec &step : b.m.steps)
    step.launch = CUDALaunch{s("n"), s("n floordiv 128 + 1"), s("4*n"), 128};
  std::string text = b.m.str();
  EXPECT_NE(
      text.find(R"("target":{"kind":"cuda","arch":"sm_90a","cubin":true})"),
      std::string::npos)
      << text;
  EXPECT_NE(
      text.find(
          R"("launch":{"work":"n","grid":"n floordiv 128 + 1","block":128,"shared":"4 * n"})"),
      std::string::npos)
      << text;
  auto parsed = Manifest::parse(text, "m");
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(parsed->str(), text);
  EXPECT_EQ(std::get<CUDALaunch>(parsed->steps[0].launch).block, 128);
  std::get<CUDALaunch>(b.m.steps[0].launch).shared = s("q");
  EXPECT_FAILS(b.m.verify(),
               "steps[0].launch.shared: 'q' is not a symbol of the program");
}

TEST(Manifest, RefusesWhatDoesNotHold) {
  auto expect = [](auto change, const char *text) {
    Builder b = full();
    change(b.m);
    std::string message = failure(b.m.verify());
    EXPECT_NE(message.find(text), std::string::npos) << message;
    // A written manifest reads back equal.
    auto parsed = Manifest::parse(b.m.str(), "m");
    EXPECT_FALSE(parsed) << text;
  };
  for (std::string path :
       {"/model.pt2", "../model.pt2", "a/../model.pt2", "a/..", "..", ".",
        "./model.pt2", "a//b", "a/", "/"}) {
    Builder b = full();
    b.m.weightsFile = path;
    EXPECT_NE(failure(b.m.verify()).find("weights_file: is not a path"),
              std::string::npos)
        << path;
    EXPECT_FALSE(Manifest::parse(b.m.str(), "m")) << path;
  }
  expect([](Manifest &m) { m.weightsFile = std::string("a\0b", 3); },
         "weights_file: is not a path");
  expect([](Manifest &m) { m.weightsFile = std::string(5000, 'a'); },
         "weights_file: is not a path");
  expect([](Manifest &m) { m.symbols[0].name = "max"; },
         "cannot name a symbol");
  expect([](Manifest &m) { m.symbols.push_back({"a", {0, 1}}); },
         "symbols[1]: 'a' is out of order");
  expect([](Manifest &m) { m.symbols[0].range = {5, 4}; },
         "symbols[0]: the range of 'n' is empty");
  expect([](Manifest &m) { m.integers = {{"k", s("q")}}; },
         "integers[0].value: 'q' is not a symbol of the program");
  expect([](Manifest &m) { m.integers = {{"k", s("n")}, {"k", s("n")}}; },
         "integers[1].name: 'k' appears twice");
  expect([](Manifest &m) { m.outputs[0].assertion = "text"; },
         "outputs[0].assertion: must be text, of an i1[]");
  expect([](Manifest &m) { m.requirements[0].lesser = s("q"); },
         "requirements[0].lesser: 'q' is not a symbol of the program");
  expect([](Manifest &m) { m.requirements[0].space[0] = s("d0"); },
         "requirements[0].space[0]: 'd0' has an index");
  expect([](Manifest &m) { m.buffers[2].bytes = s("q"); },
         "buffers[2].bytes: 'q' is not a symbol of the program");
  expect([](Manifest &m) { m.buffers[2].offset = s("d0"); },
         "buffers[2].offset: 'd0' has an index");
  expect([](Manifest &m) { m.buffers[7].of = 7; }, "buffers[7].of");
  expect([](Manifest &m) { m.buffers[7].of = 1000; }, "buffers[7].of");
  expect([](Manifest &m) { m.buffers[6].offset = s("n"); },
         "a constant's offset depends on a symbol");
  expect([](Manifest &m) { m.inputs[0].buffer = 99; },
         "inputs[0].buffer: there is no buffer 99");
  expect([](Manifest &m) { m.inputs[0].buffer = 2; },
         "of kind arena, not input");
  expect([](Manifest &m) { m.inputs[0].buffer = m.inputs[1].buffer; },
         "has two owners");
  expect([](Manifest &m) { m.inputs[1].name = "x"; }, "'x' appears twice");
  expect([](Manifest &m) { m.inputs[2].initial = 2; }, "there is no weight 2");
  expect([](Manifest &m) { m.inputs[2].initial = 0; },
         "'v' is f32[2], the state is f32[3]");
  expect([](Manifest &m) { m.inputs[2].state = false; },
         "only a state has one");
  expect([](Manifest &m) { m.outputs[0].buffer = 99; },
         "there is no buffer 99");
  expect([](Manifest &m) { m.outputs[1].updates = 0; }, "there is no state 0");
  expect([](Manifest &m) { m.outputs[1].updates = 9; }, "there is no state 9");
  expect([](Manifest &m) { m.outputs[1].dtype = DType::I32; },
         "its new value i32[3]");
  expect([](Manifest &m) { m.outputs.push_back(m.outputs[1]); },
         "is updated twice");
  expect([](Manifest &m) { m.outputs.erase(m.outputs.begin()); },
         "no output is bound to it");
  expect([](Manifest &m) { m.weights[0].bytes = 7; },
         "weights[0].bytes: f32[2] has 8 bytes, not 7");
  expect([](Manifest &m) { m.weights[0].shape = {s("n")}; },
         "must be constant");
  expect([](Manifest &m) { m.weights[0].shape = {-2}; }, "must be constant");
  expect(
      [](Manifest &m) {
        m.weights[0].offset = INT64_MAX;
        m.weights[0].shape = {int64_t(1) << 62};
      },
      "must be constant");
  expect([](Manifest &m) { m.steps[0].buffers[0] = 99; },
         "there is no buffer 99");
  expect([](Manifest &m) { m.steps[0].results = 4; },
         "more results than buffers");
  expect([](Manifest &m) { m.steps[0].buffers[2] = 0; },
         "steps[0].buffers[2]: buffer 0 may not be written");
  expect([](Manifest &m) { m.steps[0].buffers[2] = *m.weights[0].buffer; },
         "may not be written");
  expect([](Manifest &m) { m.steps[0].buffers[2] = 6; }, "may not be written");
  expect([](Manifest &m) { m.steps[0].kernel = ""; }, "is not a symbol name");
  expect([](Manifest &m) { launchOf(m.steps[0]).work = Expr::floorDiv(1, 0); },
         "steps[0].launch.work: has no value");
  expect([](Manifest &m) { launchOf(m.steps[1]).scratch = s("q"); },
         "steps[1].launch.scratch: 'q' is not a symbol of the program");
  expect(
      [](Manifest &m) { m.steps[1].launch = CUDALaunch(); },
      "steps[1].launch: is for target 'cuda', but the artifact is for 'cpu'");
  expect([](Manifest &m) { m.target.kind = "abacus"; },
         "target.kind: there is no target 'abacus'");
}

TEST(Manifest, StatesWorkspaces) {
  std::string text = sumInParts().m.str();
  EXPECT_NE(text.find(R"({"kind":"counters","bytes":"4 * n"})"),
            std::string::npos)
      << text;
  auto parsed = Manifest::parse(text, "m");
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(parsed->str(), text);
  EXPECT_EQ(parsed->steps[0].workspace, 2u);
  auto expect = [](auto change, const char *text) {
    Builder b = sumInParts();
    change(b.m);
    EXPECT_FAILS(b.m.verify(), text);
    EXPECT_FALSE(Manifest::parse(b.m.str(), "m")) << text;
  };
  // Buffers: x, y, states, counters.
  expect([](Manifest &m) { m.steps[0].workspace = 5; },
         "more results than buffers");
  expect([](Manifest &m) { m.steps[0].workspace = 4; },
         "more results than buffers");
  expect([](Manifest &m) { m.steps[0].buffers[2] = 0; },
         "steps[0].buffers[2]: buffer 0 is not memory for a workspace");
  expect([](Manifest &m) { m.steps[0].buffers[2] = 1; },
         "buffer 1 is not memory for a workspace");
  expect(
      [](Manifest &m) {
        m.steps[0].workspace = 0;
        m.steps[0].results = 3;
      },
      "buffer 3 holds counters, which only a workspace may be");
  expect([](Manifest &m) { m.steps.push_back(m.steps[0]); },
         "steps[1].buffers[3]: buffer 3 holds counters of another step");
  expect([](Manifest &m) { m.steps[0].buffers[2] = 3; },
         "buffer 3 holds counters of another step");
  expect(
      [](Manifest &m) {
        m.buffers.push_back({Kind::Alias, 0, 4, 3});
        m.steps[0].buffers[3] = 4;
      },
      "buffer 4 is not memory for a workspace");
  expect([](Manifest &m) { m.outputs[0].buffer = 3; },
         "outputs[0].buffer: buffer 3 holds counters");
  expect([](Manifest &m) { m.buffers[3].bytes = s("q"); },
         "buffers[3].bytes: 'q' is not a symbol of the program");
}

TEST(Manifest, RefusesBadJson) {
  std::string good = full().m.str();
  auto expect = [&](const std::string &from, const std::string &to,
                    const char *text) {
    std::string changed = good;
    size_t at = changed.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    changed.replace(at, from.size(), to);
    EXPECT_FAILS(Manifest::parse(changed, "a.lum: manifest.json"), text);
  };
  expect("\"luminal\"", "\"other\"",
         "is not the manifest of a Luminal artifact");
  expect("\"version\":3", "\"version\":1",
         "a.lum: manifest.json.version: this runtime reads version 3 of the "
         "format, the artifact has version 1");
  expect("\"version\":3", "\"version\":\"2\"", "expected");
  expect("\"kind\":\"cpu\"", "\"kind\":\"abacus\"",
         "manifest.json.target: there is no target 'abacus'");
  // Launches are read as those of the artifact's target.
  expect("\"kind\":\"cpu\"", "\"kind\":\"cuda\"", "steps[0].launch");
  expect("\"grain\":", "\"grein\":", "steps[0].launch");
  expect("\"dtype\":\"f32\"", "\"dtype\":\"f31\"",
         "inputs[0].dtype: is not an element type: 'f31'");
  expect("\"kind\":\"arena\"", "\"kind\":\"arenas\"",
         "is not a kind of buffer");
  expect("\"buffer\":0", "\"buffer\":-1", "is not an index");
  expect("\"buffer\":0", "\"buffer\":4294967296", "is not an index");
  expect("\"buffer\":0", "\"buffer\":1.5", "manifest.json.inputs[0].buffer");
  expect("\"work\":\"n\"", "\"work\":\"n +\"",
         "steps[0].launch.work: is not an expression");
  expect("\"work\":\"n\"", "\"work\":[]", "steps[0].launch.work");
  expect("\"offset\":0", "\"offset\":-8", "is negative");
  expect("\"symbols\":[", "\"symbols\":7,\"x\":[", "symbols");
  expect("\"steps\":", "\"stepz\":", "steps");
  expect("{", "[", "");
  std::string deep = good;
  deep.insert(1, "\"x\":" + std::string(100000, '[') +
                     std::string(100000, ']') + ",");
  EXPECT_FALSE(Manifest::parse(deep, "m"));
  std::string deepExpr = good;
  deepExpr.replace(deepExpr.find("\"work\":\"n\""), 10,
                   "\"work\":\"" + std::string(100000, '(') + "n" +
                       std::string(100000, ')') + "\"");
  EXPECT_FAILS(Manifest::parse(deepExpr, "m"), "steps[0].launch.work");
}

TEST(Manifest, SurvivesRandomDamage) {
  const std::string good = full().m.str();
  std::mt19937 random(7);
  int refused = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string text = good;
    for (int k = random() % 4 + 1; k > 0 && !text.empty(); --k) {
      size_t at = random() % text.size();
      switch (random() % 4) {
      case 0:
        text[at] = "0123456789nd,:\"[]{}-"[random() % 20];
        break;
      case 1:
        text.erase(at, random() % 20 + 1);
        break;
      case 2:
        text.insert(at, text.substr(random() % text.size(), random() % 30));
        break;
      case 3:
        text.resize(at);
        text += 'x';
        break;
      }
    }
    auto parsed = Manifest::parse(text, "m");
    refused += !parsed;
    // Every accepted manifest verifies, and its text is accepted again.
    if (parsed) {
      EXPECT_OK(parsed->verify());
      EXPECT_TRUE(Manifest::parse(parsed->str(), "m"));
    }
  }
  EXPECT_GT(refused, 2000);
}
} // namespace
