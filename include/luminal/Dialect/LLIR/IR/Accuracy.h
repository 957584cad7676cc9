//===- Accuracy.h - How far each scalar function may be off ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_DIALECT_LLIR_IR_ACCURACY_H
#define LUMINAL_DIALECT_LLIR_IR_ACCURACY_H

#include "luminal/Dialect/LLIR/IR/LLIR.h"

namespace luminal::llir {

/// The maximum error of the code of `fn`, in units of the last place of
/// `element`, the element type of the result (Accuracy.def). 0 for i1 and
/// integers.
double getUlps(Fn fn, mlir::Type element);

/// Whether the code of `fn` gives the same numbers with its two operands
/// exchanged. Not max and min, which may return either zero.
bool isCommutative(Fn fn);

} // namespace luminal::llir

#endif // LUMINAL_DIALECT_LLIR_IR_ACCURACY_H
