//===- DimClasses.h - Dims that values have in common -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where an op reads element i of a dim for element i of another (up to a shift,
// a stride or a bound), both are one class: the channels of an image and of all
// that is computed from it element by element, of its padding, of parts and of
// sums of its windows. What is stored with the dim of a class innermost is read
// best by what is stored so as well.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_DIALECT_LLIR_ANALYSIS_DIMCLASSES_H
#define LUMINAL_DIALECT_LLIR_ANALYSIS_DIMCLASSES_H

#include "luminal/Dialect/LLIR/IR/LLIR.h"
#include "llvm/ADT/IntEqClasses.h"

namespace luminal {

class DimClasses {
public:
  /// Of the values of a block of flat ops. Those that are `apart`, as masks
  /// that several images share, have classes of their own. With `joinsChannels`
  /// a product with what is apart has the dims that its operands have an index
  /// of each, as the channels of a depthwise convolution.
  DimClasses(mlir::Block &block, llvm::function_ref<bool(mlir::Value)> isApart,
             bool joinsChannels = false);

  unsigned getClass(mlir::Value v, unsigned dim) const;
  /// The dim of `v` of that class; nothing where none or several are.
  std::optional<unsigned> getDim(mlir::Value v, unsigned number) const;
  /// The values that have a dim of it, in the order of the block.
  llvm::ArrayRef<mlir::Value> getValues(unsigned number) const {
    return members[number];
  }

private:
  void add(mlir::Value v);
  void join(mlir::Value a, unsigned dimOfA, mlir::Value b, unsigned dimOfB);
  void visit(mlir::Operation &op,
             llvm::function_ref<bool(mlir::Value)> isApart);

  bool joinsChannels;
  llvm::SmallVector<mlir::Value> values;
  llvm::DenseMap<mlir::Value, unsigned> firstDim;
  unsigned count = 0;
  llvm::IntEqClasses classes;
  llvm::SmallVector<llvm::SmallVector<mlir::Value, 0>> members;
};

} // namespace luminal

#endif // LUMINAL_DIALECT_LLIR_ANALYSIS_DIMCLASSES_H
