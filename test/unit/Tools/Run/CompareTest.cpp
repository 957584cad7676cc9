//===- CompareTest.cpp - How far two tensors are apart --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Tools/Run/Compare.h"
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>

using namespace luminal;
using namespace luminal::tools;

namespace {
template <typename T>
HostTensor tensor(DType dtype, std::vector<T> values) {
  HostTensor result{"", dtype, {static_cast<int64_t>(values.size())}, {}};
  std::memcpy(allocateTensor(result), values.data(), values.size() * sizeof(T));
  return result;
}

TEST(Compare, FindsTheElementFurthestBeyondItsTolerance) {
  HostTensor expected = tensor<float>(DType::F32, {1, 10, 100});
  Comparison c = compareTensors(tensor<float>(DType::F32, {1.5, 10, 101}),
                                expected, 0.01, 0.25);
  EXPECT_FALSE(c.isGood());
  EXPECT_EQ(c.bad, 1);
  EXPECT_EQ(c.worst, 0);
  EXPECT_EQ(c.maxAbsolute, 1);
  EXPECT_EQ(c.maxRelative, 0.5);
  EXPECT_TRUE(compareTensors(expected, expected, 0, 0).isGood());
}

TEST(Compare, MatchesAnInfinityAndNaNByThemselvesOnly) {
  const float inf = std::numeric_limits<float>::infinity();
  HostTensor expected = tensor<float>(DType::F32, {inf, -inf, NAN});
  EXPECT_TRUE(compareTensors(expected, expected, 0, 0).isGood());
  EXPECT_EQ(
      compareTensors(tensor<float>(DType::F32, {1, inf, 0}), expected, 1, 1)
          .bad,
      3);
}

TEST(Compare, TellsIntegersApartThatAreOneDouble) {
  const int64_t big = int64_t(1) << 53;
  EXPECT_EQ(compareTensors(tensor<int64_t>(DType::I64, {big + 1, 5}),
                           tensor<int64_t>(DType::I64, {big, 5}), 0, 0)
                .bad,
            1);
}

TEST(Compare, RefusesOtherShapesAndKinds) {
  EXPECT_EQ(compareTensors(tensor<float>(DType::F32, {1, 2}),
                           tensor<float>(DType::F32, {1}), 1, 1)
                .mismatch,
            "is f32[2], expected f32[1]");
  EXPECT_EQ(compareTensors(tensor<float>(DType::F32, {1}),
                           tensor<int32_t>(DType::I32, {1}), 1, 1)
                .mismatch,
            "is f32[1], expected i32[1]");
}
} // namespace
