//===- SequenceMemory.h - Where values of a sequence lie ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is yielded is in the results of the kernel; all else shares the memory
// of a block, in which a value may lie where an earlier one was that nothing
// reads any more. What is yielded and read by a later kernel lies there too,
// where there is room, and is copied to its result: that kernel waits for no
// other memory.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_DIALECT_LLIR_UTILS_SEQUENCEMEMORY_H
#define LUMINAL_DIALECT_LLIR_UTILS_SEQUENCEMEMORY_H

#include "luminal/Dialect/LLIR/IR/LLIR.h"

namespace luminal::llir {

class SequenceMemory {
public:
  explicit SequenceMemory(SequenceOp sequence);

  /// Memory that a value has: of an operand, a result, or of the block from
  /// byte `number` on; and how many bytes further it begins.
  struct Place {
    enum class Kind { Operand, Result, Shared } kind;
    int64_t number;
    int64_t offset;
  };
  Place getPlace(mlir::Value v) const { return places.at(v); }

  /// A result whose value lies in the block's memory from byte `begin` on.
  struct Copy {
    unsigned result;
    int64_t begin;
  };
  /// Those that are last written by `op`, a kernel; a later one follows it.
  llvm::ArrayRef<Copy> getCopiesAfter(mlir::Operation *op) const {
    auto it = copies.find(op);
    return it == copies.end() ? llvm::ArrayRef<Copy>() : it->second;
  }

  /// Bytes that values take of the block's memory.
  int64_t getBytes() const { return bytes; }
  /// Why the values cannot have memory; empty where they can.
  llvm::StringRef getProblem() const { return problem; }

private:
  llvm::DenseMap<mlir::Value, Place> places;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<Copy, 2>> copies;
  int64_t bytes = 0;
  llvm::StringRef problem;
};

} // namespace luminal::llir

#endif // LUMINAL_DIALECT_LLIR_UTILS_SEQUENCEMEMORY_H
