//===- RunningProduct.h - Cumulative products -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// HLIR has no reduction by products. A running product doubles: each element is
// multiplied by the one 1, 2, 4, ... places before. What front ends spell and
// what rules recover (Scan.pdll) is the same function.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_DIALECT_HLIR_UTILS_RUNNINGPRODUCT_H
#define LUMINAL_DIALECT_HLIR_UTILS_RUNNINGPRODUCT_H

#include "luminal/Dialect/HLIR/Utils/Composites.h"

namespace luminal::hlir {

/// Elements at index + offset along `axis`, `fill` where there is none.
mlir::Value shifted(Composer &c, mlir::Value x, unsigned axis,
                    const Expr &offset, const Expr &extent, mlir::Value fill);

/// Each element multiplied by those before it: `steps` doublings.
mlir::Value doubledProduct(Composer &c, mlir::Value x, unsigned axis,
                           unsigned steps);

/// The same of f64, as from the left, rounded to `type` at each step as far as
/// overflow is concerned: a product that became infinite stays so until an
/// element is zero, one that became zero until an element is infinite, and then
/// it is NaN.
mlir::Value runningProduct(Composer &c, mlir::Value v, unsigned axis,
                           unsigned steps, mlir::Type type);

} // namespace luminal::hlir

#endif // LUMINAL_DIALECT_HLIR_UTILS_RUNNINGPRODUCT_H
