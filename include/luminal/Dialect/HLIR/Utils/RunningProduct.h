//===- RunningProduct.h - Cumulative products -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// HLIR has no product reduction. A running product is computed by doubling:
// each element is multiplied by the elements 1, 2, 4, ... places before. Front
// ends spell it with this function, and rules (Scan.pdll) recognise the same
// spelling.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_DIALECT_HLIR_UTILS_RUNNINGPRODUCT_H
#define LUMINAL_DIALECT_HLIR_UTILS_RUNNINGPRODUCT_H

#include "luminal/Dialect/HLIR/Utils/Composites.h"

namespace luminal::hlir {

/// Returns the elements at index + offset along `axis`, and `fill` where there
/// is none.
mlir::Value shifted(Composer &c, mlir::Value x, unsigned axis,
                    const Expr &offset, const Expr &extent, mlir::Value fill);

/// Returns each element multiplied by all elements before it, in `steps`
/// doublings.
mlir::Value doubledProduct(Composer &c, mlir::Value x, unsigned axis,
                           unsigned steps);

/// The same for f64, with the overflow behaviour of a product from the left
/// that is rounded to `type` at each step: a product that became infinite stays
/// infinite until an element is zero, one that became zero stays zero until an
/// element is infinite; from then on it is NaN.
mlir::Value runningProduct(Composer &c, mlir::Value v, unsigned axis,
                           unsigned steps, mlir::Type type);

} // namespace luminal::hlir

#endif // LUMINAL_DIALECT_HLIR_UTILS_RUNNINGPRODUCT_H
