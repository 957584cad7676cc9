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
  /// The value of the other side; for `ulps` of no less than 0 in f64.
  const reference::Tensor *expected = nullptr;
  /// Negative: the same bits (any NaN is NaN). Else by how many units in the
  /// last place of the value's type it may be off.
  double ulps = -1;
  /// `expected` computed in f32: how far the f64 may itself be off.
  const reference::Tensor *rough = nullptr;
  /// The sum of absolute terms, where `value` is a product: units are its.
  const reference::Tensor *terms = nullptr;
  /// The operand whose precision limits a spelling, if there is one.
  const reference::Tensor *kept = nullptr;
};

/// The errors of `value`, one entry per element.
std::vector<std::string> judge(mlir::MLIRContext *context,
                               const reference::Tensor &value,
                               const Standard &standard);

} // namespace luminal::test

#endif // LUMINAL_TEST_UNIT_EQSAT_JUDGEMENT_H
