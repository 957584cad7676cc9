//===- Compare.h - Compares two tensors -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_TOOLS_RUN_COMPARE_H
#define LUMINAL_TOOLS_RUN_COMPARE_H

#include "luminal/Support/Tensor.h"
#include <string>

namespace luminal::tools {

/// The result of comparing two tensors.
struct Comparison {
  /// Why the tensors cannot be compared (shapes, kinds of numbers); else empty.
  std::string mismatch;
  double maxAbsolute = 0, maxRelative = 0;
  int64_t elements = 0, bad = 0;
  /// Row-major position of the element that exceeds its tolerance the most.
  int64_t worst = 0;
  double got = 0, expected = 0;
  double rtol = 0, atol = 0;
  bool isGood() const { return mismatch.empty() && bad == 0; }
};

/// Compares elements. An element passes if |got - expected| <= atol + rtol *
/// xpected|, if both are NaN, or if both are the same infinity. Integers and
/// booleans are compared exactly. Floats of different widths may be compared.
Comparison compareTensors(const HostTensor &got, const HostTensor &expected,
                          double rtol, double atol);

/// The default tolerances that PyTorch's tests use for a type.
struct Tolerance {
  double rtol, atol;
};
Tolerance defaultTolerance(DType dtype);

} // namespace luminal::tools

#endif // LUMINAL_TOOLS_RUN_COMPARE_H
