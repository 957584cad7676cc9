//===- PiecewiseAffine.h - Integers as functions of their index -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Masks and positions consist of integers that depend only on their index and
// the program's symbols: `iota`, comparisons, selections, slices, and lookups
// in such values. Each is a linear function on each of a few sets of indices,
// which are polyhedra. Whether a set contains an integer point is decided
// exactly (mlir/Analysis/Presburger). So, for example, a shifted arange minus
// the arange is known to be 1 everywhere, for every extent.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_LIB_DIALECT_HLIR_TRANSFORMS_PIECEWISEAFFINE_H
#define LUMINAL_LIB_DIALECT_HLIR_TRANSFORMS_PIECEWISEAFFINE_H

#include "luminal/Dialect/HLIR/IR/HLIR.h"
#include "mlir/Analysis/Presburger/IntegerRelation.h"

namespace luminal::hlir {

/// A linear function of the variables of a set: one coefficient per variable
/// and a constant. Missing coefficients are 0.
struct Linear {
  llvm::SmallVector<int64_t> coefficients;
  int64_t constant = 0;

  std::optional<int64_t> asConstant() const;
  bool operator==(const Linear &) const = default;
};

/// A function on a set of indices. The variables are the dims of the index, the
/// program's symbols, and quotients of these that the set defines (its local
/// variables).
struct Piece {
  mlir::presburger::IntegerPolyhedron domain;
  Linear function;
};

/// Functions on disjoint sets that make up the whole index space.
using Pieces = llvm::SmallVector<Piece, 2>;

/// The pieces of a function's integer values, as far as they are known. Ops
/// must be added in an order in which operands come first.
class PiecewiseAffine {
public:
  explicit PiecewiseAffine(mlir::func::FuncOp func);

  /// Adds the result of an op whose operands were added. An unsupported op, or
  /// one with too many pieces, is unknown.
  void add(mlir::Operation *op);

  /// The single function, over dims and symbols, that a value equals at all of
  /// its indices; std::nullopt if there is none or it is unknown.
  std::optional<Expr> getExpr(mlir::Value value) const;

  /// Whether the limit on tests was reached; ops added afterwards are unknown.
  bool isExhausted() const { return tests == 0; }

private:
  using Polyhedron = mlir::presburger::IntegerPolyhedron;
  /// A set and functions on it.
  struct Tuple {
    Polyhedron domain;
    llvm::SmallVector<Linear> functions;
  };
  using Tuples = llvm::SmallVector<Tuple, 2>;

  std::optional<Polyhedron> getIndexSpace(llvm::ArrayRef<Expr> extents);
  const Pieces *get(mlir::Value value) const;
  bool isEmpty(const Polyhedron &domain);
  bool fits(const Linear &function, mlir::RankedTensorType type) const;

  // These return std::nullopt if the result is unknown.
  std::optional<Pieces> compute(mlir::Operation *op);
  std::optional<Pieces> evaluate(const Expr &e, const Polyhedron &domain);
  std::optional<Pieces> divide(const Expr &e, const Polyhedron &domain);
  std::optional<Pieces> choose(const Expr &e, const Polyhedron &domain);
  std::optional<Tuples> evaluate(llvm::ArrayRef<Expr> exprs,
                                 const Polyhedron &domain);
  std::optional<Pieces> readThrough(const Pieces &pieces, const Tuples &index);
  std::optional<Pieces> readView(ViewOp op);
  std::optional<Pieces> readGather(GatherOp op);
  std::optional<Pieces> selectPieces(SelectOp op);
  std::optional<Pieces> comparePieces(LessThanOp op);
  std::optional<Pieces> reduce(mlir::Operation *op, bool isSum);
  /// Combines the functions of two values on each set on which both are
  /// defined.
  std::optional<Pieces> combine(
      mlir::Value a, mlir::Value b,
      llvm::function_ref<std::optional<Linear>(const Linear &, const Linear &)>
          function);
  /// Adds a piece unless its set is empty; false if there are too many.
  bool addPiece(Pieces &pieces, Polyhedron domain, Linear function);

  mlir::func::FuncOp func;
  Assumptions symbols;
  /// Names of symbols, in the order of the variables.
  std::vector<std::string> names;
  llvm::DenseMap<mlir::Value, Pieces> known;
  /// The number of further tests for emptiness.
  unsigned tests;
};

} // namespace luminal::hlir

#endif // LUMINAL_LIB_DIALECT_HLIR_TRANSFORMS_PIECEWISEAFFINE_H
