//===- JsonTest.cpp - Tests of the checked JSON accessors -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Support/Json.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace luminal;

TEST(Json, ErrorsNameThePath) {
  auto document = JsonDocument::parse(
      R"({"a": [{"b": "x"}, 3], "n": null, "big": 18446744073709551615})",
      "f.json");
  ASSERT_TRUE(document);
  JsonRef root = document->root();
  auto a = root.at("a");
  ASSERT_TRUE(a);
  auto elements = a->asArray();
  ASSERT_TRUE(elements);
  EXPECT_EQ((*elements)[1].asString().error().message,
            "f.json.a[1]: expected a string, found number");
  EXPECT_EQ((*elements)[0].at("c").error().message, "f.json.a[0]: has no 'c'");
  EXPECT_EQ(*(*elements)[0].at("b")->asString(), "x");
  EXPECT_EQ((*elements)[1].at("b").error().message,
            "f.json.a[1]: expected an object, found number");
  EXPECT_EQ(root.at("big")->asInt().error().message,
            "f.json.big: is out of the range of 64-bit integers");
  auto absent = root.find("n");
  ASSERT_TRUE(absent);
  EXPECT_FALSE(absent->has_value());
  EXPECT_EQ(root.asUnion().error().message,
            "f.json: expected an object with one member, found 3");
  EXPECT_EQ((*elements)[0].asUnion()->first, "b");
}

TEST(Json, Numbers) {
  auto document =
      JsonDocument::parse(R"([1, -1, 1.5, "Infinity", "NaN", true])", "f");
  ASSERT_TRUE(document);
  auto e = *document->root().asArray();
  EXPECT_EQ(*e[1].asInt(), -1);
  EXPECT_FALSE(e[2].asInt());
  EXPECT_FALSE(e[5].asInt());
  EXPECT_EQ(*e[0].asDouble(), 1.0);
  EXPECT_TRUE(std::isinf(*e[3].asDouble()));
  EXPECT_TRUE(std::isnan(*e[4].asDouble()));
  EXPECT_FALSE(e[0].asBool());
}

TEST(Json, PythonsFloatWords) {
  auto document = JsonDocument::parse(
      R"({"a": [-Infinity, NaN, "x\"NaN", Infinity]})", "f");
  ASSERT_TRUE(document);
  auto a = document->root().at("a");
  ASSERT_TRUE(a);
  auto e = *a->asArray();
  EXPECT_LT(*e[0].asDouble(), 0);
  EXPECT_TRUE(std::isinf(*e[0].asDouble()));
  EXPECT_TRUE(std::isnan(*e[1].asDouble()));
  EXPECT_EQ(*e[2].asString(), "x\"NaN");
  EXPECT_GT(*e[3].asDouble(), 0);
}

TEST(Json, BadTextIsAnError) {
  EXPECT_EQ(JsonDocument::parse(R"({"a": )", "f").error().message,
            "f: is not valid JSON at byte 7");
  EXPECT_FALSE(JsonDocument::parse("", "f"));
  EXPECT_FALSE(JsonDocument::parse("{} x", "f"));
  EXPECT_EQ(JsonDocument::parse(std::string(100000, '['), "f").error().message,
            "f: is nested deeper than 512");
  // Brackets inside strings do not count.
  EXPECT_TRUE(
      JsonDocument::parse("\"" + std::string(1000, '[') + "\\\"[\"", "f"));
}
