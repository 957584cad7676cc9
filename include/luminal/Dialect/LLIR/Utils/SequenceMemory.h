//===- SequenceMemory.h - Memory of a sequence's values -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Yielded values are in the results of the kernel. All other values share the
// block's shared memory; a value may reuse the place of an earlier value after
// the last read of that. A yielded value that a later kernel reads is also in
// shared memory if there is room, and is copied to its result: so the later
// kernel does not wait for global memory.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_DIALECT_LLIR_UTILS_SEQUENCEMEMORY_H
#define LUMINAL_DIALECT_LLIR_UTILS_SEQUENCEMEMORY_H

#include "luminal/Dialect/LLIR/IR/LLIR.h"

namespace luminal::llir {

/// Assigns memory to all values of a sequence.
class SequenceMemory {
public:
  explicit SequenceMemory(SequenceOp sequence);

  /// The memory of a value: an operand, a result, or shared memory from byte
  /// `number` on. The value begins `offset` bytes further.
  struct Place {
    enum class Kind { Operand, Result, Shared } kind;
    int64_t number;
    int64_t offset;
  };
  Place getPlace(mlir::Value v) const { return places.at(v); }

  /// A result whose value is in shared memory from byte `begin` on.
  struct Copy {
    unsigned result;
    int64_t begin;
  };
  /// Returns the results to copy after `op`, the last kernel that writes them;
  /// another kernel follows `op`.
  llvm::ArrayRef<Copy> getCopiesAfter(mlir::Operation *op) const {
    auto it = copies.find(op);
    return it == copies.end() ? llvm::ArrayRef<Copy>() : it->second;
  }

  /// Returns the bytes of shared memory that values take.
  int64_t getBytes() const { return bytes; }
  /// Returns why memory cannot be assigned; empty if it was.
  llvm::StringRef getProblem() const { return problem; }

private:
  llvm::DenseMap<mlir::Value, Place> places;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<Copy, 2>> copies;
  int64_t bytes = 0;
  llvm::StringRef problem;
};

} // namespace luminal::llir

#endif // LUMINAL_DIALECT_LLIR_UTILS_SEQUENCEMEMORY_H
