//===- StreamAnalysis.h - Anchors computed jointly over one dim -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Anchors over the same rows and one further dim, the *streamed* dim, may run
// in one joint loop, chunk by chunk: products that compute the elements of a
// row (scores), reductions of the row, and products that sum over it. This is
// the online softmax in general form: the running maximum serves as the
// *reference* of the terms after it, if ops say how a term changes with it
// (RescaleOpInterface). When the maximum grows, everything accumulated so far
// is multiplied by the rescale factor.
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
  /// The value of the row that the elements are relative to, and the value from
  /// which it is subtracted; null if the elements are fixed.
  mlir::Value reference, minuend;
};

/// The values and anchors over [rows..., extent], in a kernel or in a program.
class StreamedSpace {
public:
  StreamedSpace(llvm::ArrayRef<Expr> rows, const Expr &extent);

  /// The role of an anchor in the streamed space.
  enum class Role {
    /// A product whose columns are the streamed dim.
    Scores,
    /// A reduction over the streamed dim.
    Reduction,
    /// A product that sums over the streamed dim.
    Sum,
    /// None of these.
    None
  };
  Role getRole(mlir::Operation *op);

  /// Adds an anchor; the anchors whose results it reads must have been added
  /// before. Refuses if it has no role, or needs the final result of another
  /// anchor.
  DecisionAbout<mlir::Operation *> add(mlir::Operation *op);

  /// An anchor with its role.
  struct Anchor {
    mlir::Operation *op;
    Role role;
    /// The reference that the anchor's terms are relative to (rescaled by
    /// `base`); null if the terms are fixed.
    mlir::Value reference;
    llir::Fn base = llir::Fn(0);
  };
  llvm::ArrayRef<Anchor> getAnchors() const { return anchors; }
  /// Returns whether some anchor has that role.
  bool hasRole(Role role) const {
    return llvm::any_of(
        anchors, [&](const Anchor &anchor) { return anchor.role == role; });
  }
  /// Returns how the elements of a value over the streamed space change.
  Dependence getDependence(mlir::Value v);
  /// Returns whether a value depends on no anchor.
  bool isIndependent(mlir::Value v) { return trace(v).isFree(); }
  /// Returns the maximum that a reference is a function of.
  llir::RowReductionOpInterface getMaximum(mlir::Value reference) {
    return mlir::cast<llir::RowReductionOpInterface>(trace(reference).maximum);
  }
  /// Returns the terms of a product that sums over the streamed dim.
  static mlir::Value getTerms(llir::ProductOpInterface op) {
    return op.getLhs();
  }

private:
  /// Which anchors a value depends on: none, a single maximum, or others.
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
  /// Returns whether `map` is (d0, ..., dn-1), apart from dims of extent 1.
  bool isLeading(hlir::MapAttr map, unsigned count) const;

  llvm::SmallVector<Expr> rows, domain;
  llvm::SmallVector<Anchor> anchors;
  llvm::DenseMap<mlir::Operation *, unsigned> numbers;
  llvm::DenseMap<mlir::Value, Trace> traces;
  llvm::DenseMap<mlir::Value, Dependence> dependences;
  unsigned depth = 0;
};

/// Returns the anchors that can run in one loop with `last`, a product that
/// sums over a dim, over that dim: in program order, including `last`. Empty if
/// there is no other anchor, or if one of them needs the final result of
/// another. Ops without loops between the anchors are found through their
/// operands.
llvm::SmallVector<mlir::Operation *>
findStreamedAnchors(llir::ProductOpInterface last);

} // namespace luminal

#endif // LUMINAL_DIALECT_LLIR_ANALYSIS_STREAMANALYSIS_H
