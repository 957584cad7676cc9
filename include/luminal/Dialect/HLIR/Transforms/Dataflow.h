//===- Dataflow.h - Data dependences of a block's ops ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_DIALECT_HLIR_TRANSFORMS_DATAFLOW_H
#define LUMINAL_DIALECT_HLIR_TRANSFORMS_DATAFLOW_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <vector>

namespace luminal::hlir {

/// The ops of a block that its terminator, or an op with effects, depends on,
/// in the order in which they are needed: each op follows its operands, and the
/// first operand comes first. Two blocks that differ only in the order of their
/// pure ops have the same order.
class Dataflow {
public:
  explicit Dataflow(mlir::Block &block);

  llvm::ArrayRef<mlir::Operation *> getOps() const { return ops; }
  /// Returns the position of `op`; std::nullopt for an op of another block, and
  /// for one that nothing needs.
  std::optional<unsigned> getIndex(mlir::Operation *op) const;
  /// Returns the position of the op of the block that defines `value`, if there
  /// is one.
  std::optional<unsigned> getIndex(mlir::Value value) const;

private:
  std::vector<mlir::Operation *> ops;
  llvm::DenseMap<mlir::Operation *, unsigned> indices;
};

/// Calls fn for each value of the block around `op` that `op`, or an op in its
/// regions, reads.
void forEachRead(mlir::Operation *op, llvm::function_ref<void(mlir::Value)> fn);

/// Sorts the ops of a block in the order of Dataflow, and erases those that
/// nothing needs.
void sortByDataflow(mlir::Block &block);

} // namespace luminal::hlir

#endif // LUMINAL_DIALECT_HLIR_TRANSFORMS_DATAFLOW_H
