//===- Layouts.h - The memory order of dims ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stores a value between kernels with one of its dims innermost, and lets a
// product iterate over its contracted index in another order:
//
//   %y = relu(%x) : NxCxHxW          %v = view %x : NxHxWxC
//                               -->  %u = relu(%v) : NxHxWxC
//                                    %y = view %u : NxCxHxW
//
// Readers see the value as before, through a view, which fusion composes with
// their own maps.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_DIALECT_LLIR_TRANSFORMS_LAYOUTS_H
#define LUMINAL_DIALECT_LLIR_TRANSFORMS_LAYOUTS_H

#include "luminal/Dialect/LLIR/Analysis/ProductReads.h"
#include "llvm/ADT/MapVector.h"

namespace luminal::llir {

/// The order of dims in memory, outermost first.
using DimOrder = llvm::SmallVector<unsigned>;

/// Returns `extents` in that order.
llvm::SmallVector<Expr> applyOrder(llvm::ArrayRef<Expr> extents,
                                   const DimOrder &order);
/// Return the map from an index in that order to the value's own index, and the
/// inverse.
hlir::MapAttr getFromOrder(mlir::MLIRContext *context, const DimOrder &order);
hlir::MapAttr getToOrder(mlir::MLIRContext *context, const DimOrder &order);

/// A weight operand as a tensor of its own, in the order in which a product
/// reads it: the product dims that the operand depends on, with the contracted
/// dim after or before them.
struct PackedOperand {
  mlir::RankedTensorType type;
  /// From the packed tensor's index to the index of the original operand.
  hlir::MapAttr toBase;
  /// From [the product's dims..., the contracted dim] to the packed tensor's
  /// index.
  hlir::MapAttr map;
};

/// A new order for a product's contracted index.
struct Reordering {
  /// The digit of the contracted index that becomes innermost.
  ContractedDigit digit;
  /// The number of the operand that holds weights.
  unsigned weights;
  /// Whether the contracted index is outermost in the packed weights, so that
  /// each lane accumulates its own sum.
  bool isOutermost = false;
};

/// Returns std::nullopt if the packed tensor would not have as many elements as
/// the original operand.
std::optional<PackedOperand> packOperand(ProductOpInterface op,
                                         const ProductRead &read,
                                         const Reordering &reordering,
                                         const Assumptions &symbols);

/// Packs a weight operand as panels (ProductAnalysis::Panels): the dims that
/// only this operand has are joined and cut into panels of `getWidth(bits,
/// columns)` indices; the matrices of a batch follow each other. Returns
/// std::nullopt if a size is not known, if elements are converted before they
/// are multiplied, or if the width is 0.
std::optional<PackedOperand>
packPanels(ProductOpInterface op, const ProductRead &read,
           const ProductRead &other,
           llvm::function_ref<int64_t(unsigned, int64_t)> getWidth,
           const Assumptions &symbols);

/// Returns whether the op can be rewritten over dims in another order, with its
/// operands read accordingly: pointwise ops, row reductions (whose last dim
/// stays last) and products.
bool canReorder(mlir::Operation *op);

/// The layout decisions for a block.
class Layouts {
public:
  /// Stores `v`, the result of an op that canReorder, with `dim` innermost.
  void moveLast(mlir::Value v, unsigned dim) { innermost[v] = dim; }
  void moveBack(mlir::Value v) { innermost.erase(v); }
  bool isMoved(mlir::Value v) const { return innermost.contains(v); }
  DimOrder getOrder(mlir::Value v) const;

  void reorder(ProductOpInterface op, const Reordering &reordering) {
    reordered[op] = reordering;
  }

  /// Rewrites the ops of the block.
  void apply(mlir::Block &block, const Assumptions &symbols) const;

private:
  void reorderProduct(ProductOpInterface op, const Reordering &reordering,
                      const Assumptions &symbols) const;
  void moveResults(mlir::Operation *op, const Assumptions &symbols) const;

  llvm::DenseMap<mlir::Value, unsigned> innermost;
  llvm::MapVector<mlir::Operation *, Reordering> reordered;
};

} // namespace luminal::llir

#endif // LUMINAL_DIALECT_LLIR_TRANSFORMS_LAYOUTS_H
