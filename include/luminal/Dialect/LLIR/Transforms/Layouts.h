//===- Layouts.h - In which order dims are stored ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A value between kernels may be stored with one of its dims innermost, and a
// product may take its contracted index in another order:
//
//   %y = relu(%x) : NxCxHxW          %v = view %x : NxHxWxC
//                               -->  %u = relu(%v) : NxHxWxC
//                                    %y = view %u : NxCxHxW
//
// Readers see the value as before, through a view, which fusion composes with
// what they read.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_DIALECT_LLIR_TRANSFORMS_LAYOUTS_H
#define LUMINAL_DIALECT_LLIR_TRANSFORMS_LAYOUTS_H

#include "luminal/Dialect/LLIR/Analysis/ProductReads.h"
#include "llvm/ADT/MapVector.h"

namespace luminal::llir {

/// The order of dims in memory, outermost first.
using DimOrder = llvm::SmallVector<unsigned>;

/// `extents` in that order.
llvm::SmallVector<Expr> applyOrder(llvm::ArrayRef<Expr> extents,
                                   const DimOrder &order);
/// From an index in that order to the value's own, and back.
hlir::MapAttr getFromOrder(mlir::MLIRContext *context, const DimOrder &order);
hlir::MapAttr getToOrder(mlir::MLIRContext *context, const DimOrder &order);

/// An operand of weights as a tensor of its own, in the order in which a
/// product reads it: the dims of the product that it depends on, and behind or
/// before them the contracted one.
struct PackedOperand {
  mlir::RankedTensorType type;
  /// From its index to that of what was read.
  hlir::MapAttr toBase;
  /// From [the product's dims..., the contracted one] to its index.
  hlir::MapAttr map;
};

struct Reordering {
  /// Which part of the contracted index is innermost.
  ContractedDigit digit;
  /// The operand that is of weights.
  unsigned weights;
  /// Whether the contracted index comes first in these: lanes have sums of
  /// their own.
  bool isOutermost = false;
};

/// Nothing where it would not have as many elements as what was read.
std::optional<PackedOperand> packOperand(ProductOpInterface op,
                                         const ProductRead &read,
                                         const Reordering &reordering,
                                         const Assumptions &symbols);

/// An operand of weights as panels (ProductAnalysis::Panels): of the dims that
/// this side alone has, as one, `getWidth(bits, columns)` indices each; the
/// matrices of a batch follow each other. Nothing where a size is not known,
/// elements are not multiplied as they are, or the width is 0.
std::optional<PackedOperand>
packPanels(ProductOpInterface op, const ProductRead &read,
           const ProductRead &other,
           llvm::function_ref<int64_t(unsigned, int64_t)> getWidth,
           const Assumptions &symbols);

/// The op over dims in another order, with operands read so; reductions keep
/// their last dim. It is pointwise, a row reduction or a product.
bool canReorder(mlir::Operation *op);

/// What is decided of a block.
class Layouts {
public:
  /// Stores `v`, of an op that canReorder, with `dim` innermost.
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
