//===- Variants.h - Programs for narrower ranges of symbols ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program may have variants: the same program with the same arguments and
// results, compiled for narrower ranges of its symbols (each variant states its
// ranges). A call runs the first variant whose ranges hold, otherwise the
// program itself. All of them share one set of prepared weights.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_DIALECT_LLIR_UTILS_VARIANTS_H
#define LUMINAL_DIALECT_LLIR_UTILS_VARIANTS_H

#include "luminal/Dialect/LLIR/IR/LLIR.h"

namespace luminal::llir {

/// An attribute of the function or schedule of a program: its variants, an
/// array of symbol references, in order.
constexpr llvm::StringLiteral kVariantsAttr = "llir.variants";

/// Returns the ops that `kVariantsAttr` of `program` names; none if the program
/// has no variants. Emits an error at `program` if a name is not another op of
/// its kind with a body, or names an op that has variants itself.
mlir::FailureOr<llvm::SmallVector<mlir::Operation *>>
getVariants(mlir::Operation *program);

} // namespace luminal::llir

#endif // LUMINAL_DIALECT_LLIR_UTILS_VARIANTS_H
