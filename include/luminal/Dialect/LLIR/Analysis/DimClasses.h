//===- DimClasses.h - Classes of dims shared by values ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// If an op reads element i of one dim to compute element i of another one (up
// to a shift, a stride or a bound), both dims are in one class. For example,
// the channels of an image, of its padding, of slices and window sums of it,
// and of all values computed from it element by element are one class. If a
// value is stored with the dim of a class innermost, its readers are best
// stored the same way.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_DIALECT_LLIR_ANALYSIS_DIMCLASSES_H
#define LUMINAL_DIALECT_LLIR_ANALYSIS_DIMCLASSES_H

#include "luminal/Dialect/LLIR/IR/LLIR.h"
#include "llvm/ADT/IntEqClasses.h"

namespace luminal {

/// Computes the classes of dims in a block.
class DimClasses {
public:
  /// Finds the classes of the values of a block of flat ops. Dims of values
  /// that are `apart`, such as masks that several images share, are not joined
  /// with those of other values. With `joinsChannels`, a product with such a
  /// value is joined with the dims that both its operands index, such as the
  /// channels of a depthwise convolution.
  DimClasses(mlir::Block &block, llvm::function_ref<bool(mlir::Value)> isApart,
             bool joinsChannels = false);

  /// Returns the number of the class of a dim.
  unsigned getClass(mlir::Value v, unsigned dim) const;
  /// Returns the dim of `v` in that class; std::nullopt if there is none or
  /// more than one.
  std::optional<unsigned> getDim(mlir::Value v, unsigned number) const;
  /// Returns the values that have a dim in that class, in block order.
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
