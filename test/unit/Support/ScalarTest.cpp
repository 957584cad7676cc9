//===- ScalarTest.cpp - Encoding and conversion of elements ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Support/Scalar.h"
#include "gtest/gtest.h"
#include <vector>

using namespace luminal;

// Every code decodes and encodes back; halfway between neighbours goes to the
// even one, and a little beside the middle to the nearer one.
TEST(Scalar, SmallFloatsRoundToNearestEven) {
  struct Case {
    FloatFormat format;
    uint32_t largest;
  };
  for (auto [format, largest] :
       {Case{kF16Format, 0x7BFF}, Case{kBF16Format, 0x7F7F},
        Case{kF8E4M3Format, 0x7E}, Case{kF8E5M2Format, 0x7B}}) {
    uint32_t sign = 1u << (format.exponentBits + format.mantissaBits);
    for (uint32_t code = 0; code <= largest; ++code) {
      double value = decodeSmallFloat(format, code);
      ASSERT_TRUE(std::isfinite(value));
      ASSERT_EQ(encodeSmallFloat(format, value), code);
      ASSERT_EQ(encodeSmallFloat(format, -value), code | sign);
      ASSERT_EQ(decodeSmallFloat(format, code | sign), -value);
      if (code == largest)
        continue;
      double next = decodeSmallFloat(format, code + 1);
      ASSERT_LT(value, next);
      double middle = value + (next - value) / 2;
      ASSERT_EQ(encodeSmallFloat(format, middle), code + (code & 1));
      ASSERT_EQ(encodeSmallFloat(format, std::nextafter(middle, 0.0)), code);
      ASSERT_EQ(encodeSmallFloat(format, std::nextafter(middle, next)),
                code + 1);
    }
    uint32_t beyond = format.ieee ? largest + 1 : largest;
    for (double huge : {1e300, std::numeric_limits<double>::infinity()})
      EXPECT_EQ(encodeSmallFloat(format, huge), beyond);
    uint32_t nan =
        encodeSmallFloat(format, std::numeric_limits<double>::quiet_NaN());
    EXPECT_TRUE(std::isnan(decodeSmallFloat(format, nan)));
    EXPECT_EQ(encodeSmallFloat(format, 5e-324), 0u);
  }
}

TEST(Scalar, IntegersToFloatsRoundOnce) {
  // Just above a tie of f32: rounding to double first would round it down.
  int64_t value = (int64_t(1) << 60) + (int64_t(1) << 36) + 1;
  float result;
  castElement(DType::I64, &value, DType::F32, &result);
  EXPECT_EQ(result, std::ldexp(1.0f, 60) + std::ldexp(1.0f, 37));
  for (int64_t v :
       {INT64_MIN, INT64_MIN + 1, int64_t(-1), int64_t(0), int64_t(1) << 53,
        (int64_t(1) << 53) + 1, INT64_MAX - 511, INT64_MAX}) {
    castElement(DType::I64, &v, DType::F32, &result);
    EXPECT_EQ(result, static_cast<float>(v)) << v;
    double wide;
    castElement(DType::I64, &v, DType::F64, &wide);
    EXPECT_EQ(wide, static_cast<double>(v)) << v;
  }
}

TEST(Scalar, FloatsToIntegersSaturate) {
  double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(saturatingTruncate<int64_t>(0x1p63), INT64_MAX);
  EXPECT_EQ(saturatingTruncate<int64_t>(-0x1p63), INT64_MIN);
  EXPECT_EQ(saturatingTruncate<int64_t>(-inf), INT64_MIN);
  EXPECT_EQ(saturatingTruncate<int32_t>(2147483647.5), INT32_MAX);
  EXPECT_EQ(saturatingTruncate<int32_t>(-2147483648.9), INT32_MIN);
  EXPECT_EQ(saturatingTruncate<int32_t>(-1.9), -1);
  EXPECT_EQ(saturatingTruncate<int32_t>(NAN), 0);
}

TEST(Scalar, RemaindersNeverTrap) {
  EXPECT_EQ(remainderOf(INT64_MIN, -1), 0);
  EXPECT_EQ(remainderOf(7, 0), 0);
  EXPECT_EQ(remainderOf(-7, 3), -1);
}
