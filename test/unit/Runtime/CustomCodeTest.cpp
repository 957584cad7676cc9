//===- CustomCodeTest.cpp - Steps that run code of a user -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What every kind of device must do with them, as ContextTest.
//
//===----------------------------------------------------------------------===//

#include "ArtifactBuilder.h"

using namespace luminal;
using namespace luminal::runtime;
using namespace luminal::runtime::testing;

namespace {
using Shape = std::vector<int64_t>;

constexpr char kMember[] = "custom/0123abcd.bin";

/// y = 3 * x of [n], by a function of a user between two kernels that add 1.
Builder scaled() {
  Builder b;
  b.symbol("n", 0, 1 << 20);
  uint32_t x = b.input("x", DType::F32, {s("n")});
  uint32_t t = b.buffer(Kind::Arena, 0, s("4*n"));
  uint32_t u = b.buffer(Kind::Arena, s("64*n"), s("4*n"));
  b.m.arenaBytes = s("68*n");
  uint32_t y = b.output("y", DType::F32, {s("n")});
  b.step("increment_f32", {x, t}, s("n"));
  StepSpec step;
  step.name = "scale";
  step.buffers = {t, u};
  if (isOnCPU()) {
    CPUCustomLaunch launch;
    launch.work = s("n");
    launch.values = {s("n"), 3};
    launch.code = kMember;
    launch.entry = "scale_f32";
    step.launch = launch;
    launchOf(b.m.steps[0]).scratch = 4;
    b.custom = {{kMember, kernelObject()}};
  } else {
    CUDACustomLaunch launch;
    launch.work = launch.gridX = Expr::ceilDiv(s("n"), 64);
    launch.blockX = 64;
    launch.values = {s("n"), 3};
    launch.parameters = "b0 b1 i64 i32";
    launch.code = kMember;
    launch.entry = "scale_f32";
    step.launch = launch;
    b.custom = {{kMember, "// luminal-user scale_f32\n"}};
  }
  b.m.steps.push_back(step);
  b.step("increment_f32", {u, y}, s("n"));
  if (isOnCPU())
    launchOf(b.m.steps[2]).scratch = 4;
  return b;
}

CustomCode &codeOf(Builder &b) {
  LaunchSpec &launch = b.m.steps[1].launch;
  if (isOnCPU())
    return std::get<CPUCustomLaunch>(launch);
  return std::get<CUDACustomLaunch>(launch);
}

std::string whyNot(const Builder &b) {
  auto artifact = Builder(b).load();
  return artifact ? "" : artifact.error().message;
}

TEST(CustomCode, RunsAmongKernels) {
  auto c = scaled().context(2);
  for (int64_t n : {3, 0, 50, 7}) {
    Floats x, y;
    for (int i = 0; i < n; ++i)
      x[i] = i;
    EXPECT_OK(c->bindInput(0, x.v, DType::F32, Shape{n}));
    EXPECT_OK(c->bindOutput(0, y.v, DType::F32, Shape{n}));
    EXPECT_OK(c->run());
    for (int i = 0; i < n; ++i)
      EXPECT_EQ(y[i], 3 * (i + 1) + 1);
  }
}

TEST(CustomCode, IsReadBackAsItWasWritten) {
  Builder b = scaled();
  auto parsed = Manifest::parse(b.m.str(), "m");
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(parsed->str(), b.m.str());
  const CustomCode *code = getCustomCode(parsed->steps[1].launch);
  ASSERT_NE(code, nullptr);
  EXPECT_EQ(code->values, codeOf(b).values);
  EXPECT_EQ(parsed->steps[1].getCodeName(), "scale_f32");
}

TEST(CustomCode, RefusesWhatIsNotThere) {
  Builder b = scaled();
  codeOf(b).entry = "none";
  EXPECT_NE(whyNot(b).find("steps[1].launch.entry: custom/0123abcd.bin has no "
                           "symbol 'none'"),
            std::string::npos)
      << whyNot(b);
  b = scaled();
  b.custom.clear();
  EXPECT_NE(whyNot(b).find("it has no member 'custom/0123abcd.bin'"),
            std::string::npos)
      << whyNot(b);
  b = scaled();
  b.custom[0].second = "bad";
  EXPECT_NE(whyNot(b).find("custom/0123abcd.bin: cannot be loaded"),
            std::string::npos)
      << whyNot(b);
}

TEST(CustomCode, RefusesMembersOfOtherNames) {
  for (const char *name : {"", "host.so", "custom/", "custom/../x",
                           "custom/A.so", "/custom/a.so", "manifest.json"}) {
    Builder b = scaled();
    codeOf(b).code = name;
    EXPECT_NE(whyNot(b).find("is not a valid name of a member with user code"),
              std::string::npos)
        << whyNot(b);
  }
  Builder b = scaled();
  codeOf(b).entry = "";
  EXPECT_NE(whyNot(b).find("'' is not a valid function name"),
            std::string::npos);
  b = scaled();
  b.m.steps[1].kernel = "scale_f32";
  EXPECT_NE(whyNot(b).find("steps[1].kernel"), std::string::npos);
  b = scaled();
  b.m.steps[1].results = 0;
  EXPECT_NE(whyNot(b).find("expected results and no workspace"),
            std::string::npos);
  b = scaled();
  codeOf(b).values.push_back(s("k"));
  EXPECT_NE(whyNot(b).find("'k' is not a symbol"), std::string::npos);
}

TEST(CustomCode, RefusesNegativeValues) {
  Builder b = scaled();
  codeOf(b).values[1] = s("n - 5");
  auto c = b.context();
  Floats x;
  EXPECT_OK(c->bindInput(0, x.v, DType::F32, Shape{3}));
  Status status = c->prepare();
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().message.find("has no valid values"),
            std::string::npos)
      << status.error().message;
}

TEST(CustomCode, ParametersAreWordsOfKnownKinds) {
  auto why = [](std::string_view text) {
    auto parsed = parseParameters(text, 2, 1);
    return parsed ? std::string() : parsed.error().message;
  };
  EXPECT_EQ(why("b1 i32 b0"), "");
  EXPECT_EQ(why("b0 b1"), "has 1 values, but 0 parameters for them");
  EXPECT_EQ(why("b2 i64"), "has a parameter 'b2', but only 2 buffers");
  for (const char *text : {"b", "b-1", "f32", "b0  i32", "b99999999999", "b0x"})
    EXPECT_NE(why(text).find("has no parameter"), std::string::npos) << text;
  std::string many;
  for (int i = 0; i < 5000; ++i)
    many += "b0 ";
  EXPECT_EQ(why(many), "has too many parameters");
}
} // namespace
