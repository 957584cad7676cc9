//===- Judgement.h - Whether values are what a rule promises --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_TEST_UNIT_EQSAT_JUDGEMENT_H
#define LUMINAL_TEST_UNIT_EQSAT_JUDGEMENT_H

#include "luminal/Reference/Interpreter.h"
#include "mlir/IR/MLIRContext.h"

#include <string>
#include <vector>

namespace luminal::test {

/// The expectation for a value.
struct Standard {
  /// The value of the other side; in f64 if `ulps` is not negative.
  const reference::Tensor *expected = nullptr;
  /// Negative: the same bits (any NaN equals any NaN). Otherwise the permitted
  /// error in units in the last place of the value's type.
  double ulps = -1;
  /// `expected` computed in f32, which shows how inaccurate the f64 value may
  /// be.
  const reference::Tensor *rough = nullptr;
  /// The sum of absolute terms, if `value` is a product; `ulps` is then in its
  /// units.
  const reference::Tensor *terms = nullptr;
  /// The operand whose precision limits a spelling, or null.
  const reference::Tensor *kept = nullptr;
};

/// The errors of `value`, one entry per element.
std::vector<std::string> judge(mlir::MLIRContext *context,
                               const reference::Tensor &value,
                               const Standard &standard);

} // namespace luminal::test

#endif // LUMINAL_TEST_UNIT_EQSAT_JUDGEMENT_H
