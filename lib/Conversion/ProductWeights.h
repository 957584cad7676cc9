//===- ProductWeights.h - Weights in the order of products ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_CONVERSION_PRODUCTWEIGHTS_H
#define LUMINAL_LIB_CONVERSION_PRODUCTWEIGHTS_H

#include "luminal/Dialect/LLIR/IR/LLIR.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"

#include <array>

namespace luminal {

/// Values of a program that are of weights, constants and indices alone, and
/// the memory that preparing more of them may take.
class WeightValues {
public:
  /// `share` is of the weights' bytes, where `prepareBytes` is negative.
  WeightValues(mlir::func::FuncOp func, int64_t prepareBytes, double share);

  bool contains(mlir::Value v) const { return values.contains(v); }
  /// Bytes that `v` in another order takes besides, for `op`. Where nothing
  /// else reads it, it is in memory in that order only, which is no more where
  /// just the sum of what is prepared beside weights is bounded.
  int64_t countMore(mlir::Value v, mlir::Operation *op) const;

  /// Bytes that prepared values may still take.
  int64_t room;

private:
  llvm::DenseSet<mlir::Value> values;
  /// Whether those in the place of a weight count (`--prepare-bytes`).
  bool isBounded;
};

/// Where a product ends: pointwise ops and views follow it that move each
/// element to a place of its own. And from the index there to the product's.
std::pair<mlir::Value, hlir::MapAttr> followProduct(llir::ProductOpInterface op,
                                                    const Assumptions &symbols);

/// The memory that a product reads for a side, and how.
struct StoredSide {
  mlir::RankedTensorType memory;
  /// From [the product's dims..., the contracted one] to the index there.
  hlir::MapAttr map;
  /// Whether it is widened to the f32 that is multiplied.
  bool isWidened;
};

/// A kernel of the product alone, at the end of `scratch`, which holds its
/// operands; `toProduct` is from the index of its result, of `type`, to the
/// product's.
llir::KernelOp buildProductKernel(llir::ProductOpInterface op,
                                  const std::array<StoredSide, 2> &sides,
                                  mlir::RankedTensorType type,
                                  hlir::MapAttr toProduct,
                                  mlir::Block &scratch);

/// What such a kernel is made of: those with the same key have the same price.
std::vector<const void *> getKernelKey(llir::KernelOp kernel);

} // namespace luminal

#endif // LUMINAL_LIB_CONVERSION_PRODUCTWEIGHTS_H
