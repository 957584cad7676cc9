//===- OverwriteOrder.h - Orders readers before overwrites ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_DIALECT_LLIR_TRANSFORMS_OVERWRITEORDER_H
#define LUMINAL_LIB_DIALECT_LLIR_TRANSFORMS_OVERWRITEORDER_H

#include "luminal/Dialect/LLIR/IR/LLIR.h"
#include "luminal/Dialect/LLIR/Utils/Remarks.h"
#include "llvm/ADT/DenseMap.h"

namespace luminal::llir {

/// Returns the value whose memory an alias shares.
mlir::Value getStorage(mlir::Value value);

/// Returns the ops that use the memory of `value`, through any alias.
llvm::SmallVector<mlir::Operation *> getReaders(mlir::Value value);

/// Knows which ops of a function overwrite the memory of another value, and
/// must follow all readers of that value.
class OverwriteOrder {
public:
  /// Whether something is possible; a refusal may name the op that prevents it.
  using Decision = DecisionAbout<mlir::Operation *>;

  /// Records that `writer` overwrites the memory of `old`, in addition to the
  /// kernels with `in_place`.
  void add(mlir::Operation *writer, mlir::Value old) {
    overwritten[writer].push_back(old);
  }
  /// Moves every other reader of `old` before `writer`, which will overwrite
  /// its memory. Refuses if a reader depends on `writer`, or has to follow an
  /// op that depends on it.
  Decision moveReadersBefore(mlir::Operation *writer, mlir::Value old) const;

private:
  llvm::SmallVector<mlir::Value> getOverwritten(mlir::Operation *op) const;

  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Value, 1>>
      overwritten;
};

} // namespace luminal::llir

#endif // LUMINAL_LIB_DIALECT_LLIR_TRANSFORMS_OVERWRITEORDER_H
