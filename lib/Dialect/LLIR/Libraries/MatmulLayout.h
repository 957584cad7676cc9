//===- MatmulLayout.h - A product as strided matrices ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A product reads its operands through maps and views. If all elements are at
// positions that are linear in the product's dims, these dims are joined to
// batch, rows, columns and inner: a batch of strided matrices, as libraries
// take them. Elementwise ops after the product are found as well, if their
// results are in memory in their own order.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_LIB_DIALECT_LLIR_LIBRARIES_MATMULLAYOUT_H
#define LUMINAL_LIB_DIALECT_LLIR_LIBRARIES_MATMULLAYOUT_H

#include "luminal/Dialect/LLIR/IR/LLIR.h"
#include "luminal/Dialect/LLIR/Utils/Remarks.h"

namespace luminal::llir {

/// A tensor, and the positions in its memory as a function of the product's
/// dims.
struct Strided {
  mlir::Value value;
  Expr offset;
  /// One for each dim of the product, the contracted one last.
  llvm::SmallVector<Expr> strides;
};

/// A tensor that is added, read through a map from the product's index.
struct Added {
  mlir::Value value;
  hlir::MapAttr map;
};

/// A product with an epilogue: epilogue(alpha * product + addend + bias).
struct FollowedProduct {
  /// The last value, and the map from the product's index to its index.
  mlir::Value value;
  hlir::MapAttr toIndex;
  double alpha = 1;
  std::optional<Added> addend, bias;
  Epilogue epilogue = Epilogue::None;
};

/// Returns the product alone, then with one more op of its epilogue each. With
/// `isExact` only as far as every rounding of the program stays.
llvm::SmallVector<FollowedProduct>
follow(ProductOpInterface op, const Assumptions &symbols, bool isExact);

/// A matrix as a tensor and its map from (batch, row, column).
struct Matrix {
  mlir::Value value;
  hlir::MapAttr map;
  /// If set, `value` is first copied through this map to a tensor of
  /// `copyType`, because its elements are not at linear positions.
  hlir::MapAttr copy = {};
  mlir::RankedTensorType copyType = {};

  /// Returns the type of the tensor that `map` refers to.
  mlir::RankedTensorType getType() const {
    return copy ? copyType
                : mlir::cast<mlir::RankedTensorType>(value.getType());
  }
};

struct MatmulLayout {
  Expr batch = 1, rows = 1, columns = 1, inner = 1;
  Matrix lhs, rhs, addend, result;
  /// The bias: one row.
  mlir::Value bias;
};

using LayoutDecision = DecisionAbout<mlir::Operation *>;

/// Finds the matrices of a product with a row-major result; refuses if they are
/// not in a form that BLAS accepts. Operands that the program widens are passed
/// in their narrow type, which gives the same products.
LayoutDecision findLayout(ProductOpInterface op, const FollowedProduct &end,
                          const Assumptions &symbols, MatmulLayout &layout);

} // namespace luminal::llir

#endif // LUMINAL_LIB_DIALECT_LLIR_LIBRARIES_MATMULLAYOUT_H
