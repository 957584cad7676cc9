//===- Variants.h - Programs for narrower ranges of symbols ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program may have variants: the same program with the same arguments and
// results, for narrower ranges of its symbols (those that each states). A call
// runs the first one whose ranges hold, else the program itself. What is
// prepared from weights is one for all of them.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_DIALECT_LLIR_UTILS_VARIANTS_H
#define LUMINAL_DIALECT_LLIR_UTILS_VARIANTS_H

#include "luminal/Dialect/LLIR/IR/LLIR.h"

namespace luminal::llir {

/// On the function or schedule of a program: its variants, an array of symbol
/// references, in order.
constexpr llvm::StringLiteral kVariantsAttr = "llir.variants";

/// The ops of the names in `kVariantsAttr`; none where it has no variants. An
/// error is at `program`: a name that is no other op of its kind with a body,
/// or one that has variants of its own.
mlir::FailureOr<llvm::SmallVector<mlir::Operation *>>
getVariants(mlir::Operation *program);

} // namespace luminal::llir

#endif // LUMINAL_DIALECT_LLIR_UTILS_VARIANTS_H
