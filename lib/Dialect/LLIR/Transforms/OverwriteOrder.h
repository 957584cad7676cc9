//===- OverwriteOrder.h - Readers before what overwrites them ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_DIALECT_LLIR_TRANSFORMS_OVERWRITEORDER_H
#define LUMINAL_LIB_DIALECT_LLIR_TRANSFORMS_OVERWRITEORDER_H

#include "luminal/Dialect/LLIR/IR/LLIR.h"
#include "luminal/Dialect/LLIR/Utils/Remarks.h"
#include "llvm/ADT/DenseMap.h"

namespace luminal::llir {

/// The value whose memory an alias shares.
mlir::Value getStorage(mlir::Value value);

/// The ops that use the memory of `value`, under whatever name.
llvm::SmallVector<mlir::Operation *> getReaders(mlir::Value value);

/// Which ops of a function write memory that holds another value, and so come
/// after all that reads that value.
class OverwriteOrder {
public:
  /// Whether an op does something; a refusal may name the op that prevents it.
  using Decision = DecisionAbout<mlir::Operation *>;

  /// Notes that `writer` writes the memory of `old`, beside what `in_place`
  /// says.
  void add(mlir::Operation *writer, mlir::Value old) {
    overwritten[writer].push_back(old);
  }
  /// Makes every other reader of `old` run before `writer`, which is to write
  /// its memory; refused where one of them needs what `writer` computes, or has
  /// to come after another one that does.
  Decision moveReadersBefore(mlir::Operation *writer, mlir::Value old) const;

private:
  llvm::SmallVector<mlir::Value> getOverwritten(mlir::Operation *op) const;

  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Value, 1>>
      overwritten;
};

} // namespace luminal::llir

#endif // LUMINAL_LIB_DIALECT_LLIR_TRANSFORMS_OVERWRITEORDER_H
