//===- Compare.cpp - Compares two tensors ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Tools/Run/Compare.h"
#include "luminal/Support/Scalar.h"
#include <algorithm>
#include <cmath>
#include <limits>

using namespace luminal;
using namespace luminal::tools;

Tolerance tools::defaultTolerance(DType dtype) {
  switch (dtype) {
  case DType::F32:
    return {1.3e-6, 1e-5};
  case DType::F16:
    return {1e-3, 1e-5};
  case DType::BF16:
    return {1.6e-2, 1e-5};
  case DType::F64:
    return {1e-7, 1e-7};
  case DType::F8E4M3:
  case DType::F8E5M2:
    return {0.25, 1e-3};
  default:
    return {0, 0};
  }
}

Comparison tools::compareTensors(const HostTensor &got,
                                 const HostTensor &expected, double rtol,
                                 double atol) {
  Comparison c;
  c.rtol = rtol;
  c.atol = atol;
  if (got.shape != expected.shape ||
      isFloatDType(got.dtype) != isFloatDType(expected.dtype)) {
    c.mismatch = "is " + typeText(got) + ", expected " + typeText(expected);
    return c;
  }
  c.elements = got.numElements();
  const bool isFloat = isFloatDType(got.dtype);
  const unsigned gotSize = dtypeSize(got.dtype),
                 expectedSize = dtypeSize(expected.dtype);
  double worstExcess = -std::numeric_limits<double>::infinity();
  for (int64_t i = 0; i < c.elements; ++i) {
    const uint8_t *a = got.bytes.data + i * gotSize,
                  *b = expected.bytes.data + i * expectedSize;
    double x, y, distance, allowed = 0;
    if (isFloat) {
      x = loadFloat(got.dtype, a);
      y = loadFloat(expected.dtype, b);
      bool same = x == y || (std::isnan(x) && std::isnan(y));
      distance = same ? 0 : std::abs(x - y);
      if (std::isnan(distance))
        distance = std::numeric_limits<double>::infinity();
      allowed = atol + rtol * std::abs(y);
      // An infinity matches only itself.
      if (!std::isfinite(allowed))
        allowed = 0;
    } else {
      int64_t p = loadInt(got.dtype, a), q = loadInt(expected.dtype, b);
      x = static_cast<double>(p);
      y = static_cast<double>(q);
      // Two different integers beyond 2^53 may be the same double.
      distance = p == q ? 0 : std::max(std::abs(x - y), 1.0);
    }
    c.maxAbsolute = std::max(c.maxAbsolute, distance);
    if (distance > 0)
      c.maxRelative = std::max(
          c.maxRelative, y != 0 ? distance / std::abs(y)
                                : std::numeric_limits<double>::infinity());
    c.bad += distance > allowed;
    if (distance - allowed > worstExcess) {
      worstExcess = distance - allowed;
      c.worst = i;
      c.got = x;
      c.expected = y;
    }
  }
  return c;
}
