//===- Dataflow.h - Data dependences of a block's ops ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_DIALECT_HLIR_TRANSFORMS_DATAFLOW_H
#define LUMINAL_DIALECT_HLIR_TRANSFORMS_DATAFLOW_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <vector>

namespace luminal::hlir {

/// The ops of a block that its terminator, or an op with effects, needs, in the
/// order in which they are needed: each after its operands, the first operand's
/// first. Two blocks that differ in the order of their pure ops have the same.
class Dataflow {
public:
  explicit Dataflow(mlir::Block &block);

  llvm::ArrayRef<mlir::Operation *> getOps() const { return ops; }
  /// std::nullopt for an op of another block, and for one that nothing needs.
  std::optional<unsigned> getIndex(mlir::Operation *op) const;
  /// The same of the op of the block that defines `value`, where one does.
  std::optional<unsigned> getIndex(mlir::Value value) const;

private:
  std::vector<mlir::Operation *> ops;
  llvm::DenseMap<mlir::Operation *, unsigned> indices;
};

/// Calls fn for each value of the block around `op` that the op reads, itself
/// or in its regions.
void forEachRead(mlir::Operation *op, llvm::function_ref<void(mlir::Value)> fn);

/// Puts the ops of a block into the order of Dataflow, and erases those that
/// are not needed.
void sortByDataflow(mlir::Block &block);

} // namespace luminal::hlir

#endif // LUMINAL_DIALECT_HLIR_TRANSFORMS_DATAFLOW_H
