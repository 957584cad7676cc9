//===- MatmulLayout.h - A product as strided matrices ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A product reads its operands through maps and views. Where their elements are
// at positions that are linear in the product's dims, these dims are joined to
// batch, rows, columns and inner: a batch of strided matrices, as libraries
// take them. What follows the product element by element and lies in memory in
// its own order is found as well.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_LIB_DIALECT_LLIR_LIBRARIES_MATMULLAYOUT_H
#define LUMINAL_LIB_DIALECT_LLIR_LIBRARIES_MATMULLAYOUT_H

#include "luminal/Dialect/LLIR/IR/LLIR.h"
#include "luminal/Dialect/LLIR/Utils/Remarks.h"

namespace luminal::llir {

/// A tensor, and the positions in its memory at the product's dims.
struct Strided {
  mlir::Value value;
  Expr offset;
  /// By dim of the product, the contracted one last.
  llvm::SmallVector<Expr> strides;
};

/// A tensor that is added, read through a map from the product's index.
struct Added {
  mlir::Value value;
  hlir::MapAttr map;
};

/// A product with some of what follows it: epilogue(alpha * product + addend +
/// bias).
struct FollowedProduct {
  /// The last value, and from the product's index to its own.
  mlir::Value value;
  hlir::MapAttr toIndex;
  double alpha = 1;
  std::optional<Added> addend, bias;
  Epilogue epilogue = Epilogue::None;
};

/// The product alone, then with one op more each. `isExact`: only where every
/// rounding stays as it is.
llvm::SmallVector<FollowedProduct>
follow(ProductOpInterface op, const Assumptions &symbols, bool isExact);

/// A matrix by its map from (batch, row, column).
struct Matrix {
  mlir::Value value;
  hlir::MapAttr map;
  /// Where set, `value` is to be read through it first, as a tensor of this
  /// type: its elements are not at linear positions.
  hlir::MapAttr copy = {};
  mlir::RankedTensorType copyType = {};

  /// The type of the tensor that the map is for.
  mlir::RankedTensorType getType() const {
    return copy ? copyType
                : mlir::cast<mlir::RankedTensorType>(value.getType());
  }
};

struct MatmulLayout {
  Expr batch = 1, rows = 1, columns = 1, inner = 1;
  Matrix lhs, rhs, addend, result;
  /// One row.
  mlir::Value bias;
};

using LayoutDecision = DecisionAbout<mlir::Operation *>;

/// The matrices of a product whose result is row-major; refused where they are
/// none that a BLAS takes. Operands that were widened for it are taken as they
/// were: their products are the same.
LayoutDecision findLayout(ProductOpInterface op, const FollowedProduct &end,
                          const Assumptions &symbols, MatmulLayout &layout);

} // namespace luminal::llir

#endif // LUMINAL_LIB_DIALECT_LLIR_LIBRARIES_MATMULLAYOUT_H
