//===- Values.h - Properties of values ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_DIALECT_LLIR_UTILS_VALUES_H
#define LUMINAL_DIALECT_LLIR_UTILS_VALUES_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/SetVector.h"

#include <optional>

namespace luminal::llir {

/// Returns whether the type is f16 or bf16; f32 represents every value of both.
bool isNarrowFloat(mlir::Type type);

/// Returns the f16 or bf16 value that `value` widens to f32, which holds the
/// same numbers; otherwise `value` itself.
mlir::Value skipWidening(mlir::Value value);

/// Returns the number that all elements of a float constant are; std::nullopt
/// for any other value, including a view of such a constant.
std::optional<double> getFloatSplat(mlir::Value value);

/// Returns the same for an integer constant; for i1, 0 or 1.
std::optional<int64_t> getIntegerSplat(mlir::Value value);

/// Appends the ops that `v` is computed from, its defining op first.
void findBefore(mlir::Value v, llvm::SetVector<mlir::Operation *> &before);

/// Returns the position of `op` in the body of its kernel; schedules name ops
/// by it.
unsigned getPosition(mlir::Operation *op);

} // namespace luminal::llir

#endif // LUMINAL_DIALECT_LLIR_UTILS_VALUES_H
