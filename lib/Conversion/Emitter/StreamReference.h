//===- StreamReference.h - What streamed terms are relative to ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Terms are relative to a reference, a function of the row's maximum so far;
// where the maximum grows, the states that followed it are scaled by a factor.
// While the maximum is -inf, all terms are zero: the reference is 0 then, and
// the factor 1. A row that is all -inf is settled at the end, as the body says.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_LIB_CONVERSION_EMITTER_STREAMREFERENCE_H
#define LUMINAL_LIB_CONVERSION_EMITTER_STREAMREFERENCE_H

#include "luminal/Conversion/Emitter.h"
#include "luminal/Dialect/LLIR/Analysis/StreamedStages.h"

namespace luminal {

/// A function of a row's maximum, to which terms are relative.
struct StreamReference {
  mlir::Value value;
  llir::RowReductionOpInterface maximum;
  llir::Fn base;
  /// The type in which factors are computed.
  mlir::Type type;

  /// The reference of an anchor's terms, which has one.
  static StreamReference get(StreamedStages &t,
                             const StreamedSpace::Anchor &anchor);

  mlir::Value getConstant(Emitter &e, double v) const;
  /// Whether `op` computes `terms` less the reference of their row.
  bool isDifference(mlir::Operation *op, mlir::Value terms) const;

  /// What terms at the row `index` are relative to once its maximum is
  /// `maximum`, in `type`; it is remembered as the reference's element there.
  mlir::Value emitUsed(Emitter &e, const Index &index,
                       mlir::Value maximum) const;
  /// By what states are scaled that were relative to `used` and are now
  /// relative to `now`; their maximum was `before`.
  mlir::Value emitFactor(Emitter &e, mlir::Value used, mlir::Value now,
                         mlir::Value before) const;
  /// By what a state is multiplied at the end that followed a maximum over
  /// `extent` elements: 1, but where that is -inf, the term that the body has
  /// for all elements of the row added, which is 0 or NaN.
  mlir::Value emitEndFactor(Emitter &e, const Index &index, mlir::Value maximum,
                            const Expr &extent) const;

private:
  mlir::Value emit(Emitter &e, const Index &index, mlir::Value maximum) const;
};

} // namespace luminal

#endif // LUMINAL_LIB_CONVERSION_EMITTER_STREAMREFERENCE_H
