//===- ProductWeights.h - Prepared weights of products ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_CONVERSION_PRODUCTWEIGHTS_H
#define LUMINAL_LIB_CONVERSION_PRODUCTWEIGHTS_H

#include "luminal/Dialect/LLIR/IR/LLIR.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"

#include <array>

namespace luminal {

/// The values of a program that depend only on weights, constants and indices,
/// and the memory that further prepared values may use.
class WeightValues {
public:
  /// If `prepareBytes` is negative, the limit is `share` times the weights'
  /// bytes.
  WeightValues(mlir::func::FuncOp func, int64_t prepareBytes, double share);

  bool contains(mlir::Value v) const { return values.contains(v); }
  /// Additional bytes for a copy of `v` in another order for `op`. If nothing
  /// else reads `v`, the copy replaces it and counts 0, unless `prepareBytes`
  /// bounds all prepared values.
  int64_t countMore(mlir::Value v, mlir::Operation *op) const;

  /// Bytes that are left for prepared values.
  int64_t room;

private:
  llvm::DenseSet<mlir::Value> values;
  /// Whether copies that replace a weight count as well (`--prepare-bytes`).
  bool isBounded;
};

/// The value at the end of the pointwise ops and bijective views that follow
/// the product, and the map from its index to the product's index.
std::pair<mlir::Value, hlir::MapAttr> followProduct(llir::ProductOpInterface op,
                                                    const Assumptions &symbols);

/// The memory that a product reads for a side, and how.
struct StoredSide {
  mlir::RankedTensorType memory;
  /// Maps [the product's dims..., the contracted dim] to the index in that
  /// memory.
  hlir::MapAttr map;
  /// Whether elements are widened to f32 before they are multiplied.
  bool isWidened;
};

/// Builds a kernel of only the product at the end of `scratch`, which holds its
/// operands. `toProduct` maps an index of the result, of `type`, to one of the
/// product.
llir::KernelOp buildProductKernel(llir::ProductOpInterface op,
                                  const std::array<StoredSide, 2> &sides,
                                  mlir::RankedTensorType type,
                                  hlir::MapAttr toProduct,
                                  mlir::Block &scratch);

/// The structure of such a kernel: kernels with equal keys have equal prices.
std::vector<const void *> getKernelKey(llir::KernelOp kernel);

} // namespace luminal

#endif // LUMINAL_LIB_CONVERSION_PRODUCTWEIGHTS_H
