//===- StreamAnalysis.h - Anchors walked jointly over one dim -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Anchors over the same rows and one further dim, the *streamed* one, may be
// walked jointly, chunk by chunk: products that make the elements of a row
// (scores), reductions of the row, and products that sum over it. A maximum
// that is not complete serves as the *reference* of the terms after it, where
// ops say how a term changes with it (RescaleOpInterface): then what was taken
// so far is scaled whenever the maximum grows.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_DIALECT_LLIR_ANALYSIS_STREAMANALYSIS_H
#define LUMINAL_DIALECT_LLIR_ANALYSIS_STREAMANALYSIS_H

#include "luminal/Dialect/LLIR/IR/LLIR.h"
#include "luminal/Dialect/LLIR/Utils/Remarks.h"

namespace luminal {

/// How the elements of a value change with the reference of their row.
struct Dependence {
  llir::Rescaling rescaling;
  /// The value of the row that they are relative to, and what it is subtracted
  /// from; null where they are fixed.
  mlir::Value reference, minuend;
};

/// Values and anchors over [rows..., extent], in a kernel or in a program.
class StreamedSpace {
public:
  StreamedSpace(llvm::ArrayRef<Expr> rows, const Expr &extent);

  /// What an anchor is in the streamed space.
  enum class Role {
    /// A product with the streamed dim as its columns.
    Scores,
    /// A reduction of the streamed dim.
    Reduction,
    /// A product that sums over the streamed dim.
    Sum,
    /// None of them.
    None
  };
  Role getRole(mlir::Operation *op);

  /// Adds an anchor; those whose results it reads were added before. Refused
  /// where it has no role or needs one of them complete.
  DecisionAbout<mlir::Operation *> add(mlir::Operation *op);

  struct Anchor {
    mlir::Operation *op;
    Role role;
    /// What its terms are relative to; null where they are fixed. Scaled by
    /// `base`.
    mlir::Value reference;
    llir::Fn base = llir::Fn(0);
  };
  llvm::ArrayRef<Anchor> getAnchors() const { return anchors; }
  /// Whether an anchor has that role.
  bool hasRole(Role role) const {
    return llvm::any_of(
        anchors, [&](const Anchor &anchor) { return anchor.role == role; });
  }
  /// How elements of a value over the streamed space change.
  Dependence getDependence(mlir::Value v);
  /// Whether a value reads no anchor.
  bool isIndependent(mlir::Value v) { return trace(v).isFree(); }
  /// The maximum that a reference is a function of.
  llir::RowReductionOpInterface getMaximum(mlir::Value reference) {
    return mlir::cast<llir::RowReductionOpInterface>(trace(reference).maximum);
  }
  /// The terms of a product that sums over the streamed dim.
  static mlir::Value getTerms(llir::ProductOpInterface op) {
    return op.getLhs();
  }

private:
  /// What a value reads of the anchors: nothing, one maximum alone, or else.
  struct Trace {
    mlir::Operation *maximum = nullptr;
    bool isOther = false;
    bool isFree() const { return !maximum && !isOther; }
  };
  Trace trace(mlir::Value v);
  Trace findTrace(mlir::Value v);
  Dependence findDependence(mlir::Value v);
  bool isOverRows(mlir::Value v) const;
  bool isOverDomain(mlir::Value v) const;
  /// Whether `map` is (d0, ..., dn-1), dims of extent 1 aside.
  bool isLeading(hlir::MapAttr map, unsigned count) const;

  llvm::SmallVector<Expr> rows, domain;
  llvm::SmallVector<Anchor> anchors;
  llvm::DenseMap<mlir::Operation *, unsigned> numbers;
  llvm::DenseMap<mlir::Value, Trace> traces;
  llvm::DenseMap<mlir::Value, Dependence> dependences;
  unsigned depth = 0;
};

/// The anchors that `last`, a product that sums over one dim, may be walked
/// with over that dim, in the order of the program and with itself; none where
/// it is alone, or one needs another complete. Ops without loops between them
/// are found through their operands.
llvm::SmallVector<mlir::Operation *>
findStreamedAnchors(llir::ProductOpInterface last);

} // namespace luminal

#endif // LUMINAL_DIALECT_LLIR_ANALYSIS_STREAMANALYSIS_H
