//===- StreamReference.h - The reference of an online softmax -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The online softmax subtracts a reference, a function of the row's running
// maximum, from its terms. When the maximum grows, the states accumulated so
// far are multiplied by a rescale factor. While the maximum is -inf, all terms
// are zero, the reference is 0 and the factor is 1. A row that stays -inf is
// handled at the end, as the body defines.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_LIB_CONVERSION_EMITTER_STREAMREFERENCE_H
#define LUMINAL_LIB_CONVERSION_EMITTER_STREAMREFERENCE_H

#include "luminal/Conversion/Emitter.h"
#include "luminal/Dialect/LLIR/Analysis/StreamedStages.h"

namespace luminal {

/// The reference of a row: a function of its running maximum.
struct StreamReference {
  mlir::Value value;
  llir::RowReductionOpInterface maximum;
  llir::Fn base;
  /// The type in which rescale factors are computed.
  mlir::Type type;

  /// The reference of the terms of `anchor`, which must have one.
  static StreamReference get(StreamedStages &t,
                             const StreamedSpace::Anchor &anchor);

  mlir::Value getConstant(Emitter &e, double v) const;
  /// Whether `op` subtracts the reference of their row from `terms`.
  bool isDifference(mlir::Operation *op, mlir::Value terms) const;

  /// The reference of the row `index` for the running maximum `maximum`, in
  /// `type`. It is remembered as the reference's element there.
  mlir::Value emitUsed(Emitter &e, const Index &index,
                       mlir::Value maximum) const;
  /// The rescale factor of states that were relative to `used` and become
  /// relative to `now`; `before` is the maximum of `used`.
  mlir::Value emitFactor(Emitter &e, mlir::Value used, mlir::Value now,
                         mlir::Value before) const;
  /// The factor of a state at the end of a row of `extent` elements. It is 1,
  /// except where the maximum is -inf: then the term that the body computes for
  /// every element, which is 0 or NaN, is added to it.
  mlir::Value emitEndFactor(Emitter &e, const Index &index, mlir::Value maximum,
                            const Expr &extent) const;

private:
  mlir::Value emit(Emitter &e, const Index &index, mlir::Value maximum) const;
};

} // namespace luminal

#endif // LUMINAL_LIB_CONVERSION_EMITTER_STREAMREFERENCE_H
