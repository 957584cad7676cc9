//===- ScoredBound.h - Whether scores stay finite ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A stream whose mask is added to scores leaves out chunks where no element
// that makes them is larger than 2^kLogOfLargestScored (MaskAnalysis.h).
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_LIB_CONVERSION_EMITTER_SCOREDBOUND_H
#define LUMINAL_LIB_CONVERSION_EMITTER_SCOREDBOUND_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace luminal {

/// Magnitudes of floats, which may be vectors, as integers of as many bits and
/// in the same order: NaN is larger than all numbers.
mlir::Value emitMagnitude(mlir::ImplicitLocOpBuilder &b, mlir::Value v);
/// Whether (i1, one a lane) magnitudes of floats of type `element` are larger
/// than the bound.
mlir::Value emitExceedsBound(mlir::ImplicitLocOpBuilder &b,
                             mlir::Value magnitude, mlir::FloatType element);

} // namespace luminal

#endif // LUMINAL_LIB_CONVERSION_EMITTER_SCOREDBOUND_H
