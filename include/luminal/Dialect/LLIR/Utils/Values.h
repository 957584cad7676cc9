//===- Values.h - What the op that defines a value tells of it ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_DIALECT_LLIR_UTILS_VALUES_H
#define LUMINAL_DIALECT_LLIR_UTILS_VALUES_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/SetVector.h"

#include <optional>

namespace luminal::llir {

/// Whether the type is f16 or bf16: f32 holds every number of it.
bool isNarrowFloat(mlir::Type type);

/// The f16 or bf16 value that an f32 one widens, which is the same numbers; any
/// other value itself.
mlir::Value skipWidening(mlir::Value value);

/// The number that all elements of a constant of floats are; std::nullopt for
/// any other value, a view of such a constant too.
std::optional<double> getFloatSplat(mlir::Value value);

/// The same of a constant of integers; of i1, 0 or 1.
std::optional<int64_t> getIntegerSplat(mlir::Value value);

/// Adds the ops that `v` is computed from, the one that defines it first.
void findBefore(mlir::Value v, llvm::SetVector<mlir::Operation *> &before);

/// The position of `op` in the body of its kernel, by which schedules name it.
unsigned getPosition(mlir::Operation *op);

} // namespace luminal::llir

#endif // LUMINAL_DIALECT_LLIR_UTILS_VALUES_H
