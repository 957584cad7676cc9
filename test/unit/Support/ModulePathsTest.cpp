//===- ModulePathsTest.cpp - Names of steps -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Support/ModulePaths.h"
#include <gtest/gtest.h>

using namespace luminal;

TEST(ModulePaths, JoinsWhatTheyBeginWith) {
  using Paths = std::vector<std::string_view>;
  auto join = [](const Paths &paths) { return joinModulePaths(paths); };
  EXPECT_EQ(join({}), "");
  EXPECT_EQ(join({"layers.3.attn.q_proj"}), "layers.3.attn.q_proj");
  EXPECT_EQ(join({"norm", "norm"}), "norm");
  EXPECT_EQ(join({"layers.3.mlp.gate", "layers.3.mlp.up", "layers.3.mlp"}),
            "layers.3.mlp: gate, up");
  EXPECT_EQ(join({"layers.0.mlp.gate", "layers.1.mlp.gate", "layers.0.mlp.up",
                  "layers.1.mlp.up", "layers.1.mlp.silu"}),
            "layers.*.mlp: gate, up, silu");
  EXPECT_EQ(join({"layers.0.norm", "layers.12.norm"}), "layers.*.norm");
  // What has no number in one of them is no index.
  EXPECT_EQ(join({"a.0.x", "a.b.x"}), "a: 0.x, b.x");
  EXPECT_EQ(
      join({"layers.1.attn.o", "layers.1.norm", "head", "layers.1.attn.o"}),
      "layers.1: attn.o, norm; head");
  EXPECT_EQ(join({"0", "1", "2.x"}), "*: x");
  // Few that stand side by side are named.
  EXPECT_EQ(join({"0", "2", "10", "1", "2"}), "0, 1, 2, 10");
  EXPECT_EQ(join({"head", "mlp.0", "mlp.2"}), "head; mlp: 0, 2");
  EXPECT_EQ(join({"m.0", "m.1", "m.2", "m.3", "m.4", "m.5", "m.6"}), "m.*");
  EXPECT_EQ(join({"a.b", "a.c", "a.d", "a.e", "a.f", "a.g", "a.h"}),
            "a: b, c, d, e, f, g, ...");
}

TEST(ModulePaths, TableIsJson) {
  ModuleTable table{{"linear", "layers.0.fc"}, {"add\n\"1\"", "Model"}};
  auto parsed = parseModuleTable(printModuleTable(table), "m");
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(*parsed, table);
  EXPECT_EQ(joinModulePaths({"linear", "unknown"}, table), "layers.0.fc");
  EXPECT_EQ(joinModulePaths({"unknown"}, table), "");
  auto wrong = parseModuleTable(R"({"linear": 3})", "m");
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().message.find("linear"), std::string::npos);
}
