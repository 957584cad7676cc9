//===- ScoredBound.h - Bounds on the operands of scores ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A stream with an additive mask may skip masked chunks only if no element that
// contributes to their scores exceeds 2^kLogOfLargestScored (MaskAnalysis.h).
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_LIB_CONVERSION_EMITTER_SCOREDBOUND_H
#define LUMINAL_LIB_CONVERSION_EMITTER_SCOREDBOUND_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace luminal {

/// The magnitudes of floats (scalar or vector) as integers of the same width,
/// which order alike; NaN compares larger than all numbers.
mlir::Value emitMagnitude(mlir::ImplicitLocOpBuilder &b, mlir::Value v);
/// Whether (i1 per lane) magnitudes of floats of type `element` exceed the
/// bound.
mlir::Value emitExceedsBound(mlir::ImplicitLocOpBuilder &b,
                             mlir::Value magnitude, mlir::FloatType element);

} // namespace luminal

#endif // LUMINAL_LIB_CONVERSION_EMITTER_SCOREDBOUND_H
