//===- TripLocations.h - Locations of the trips of a loop -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An op of a loop body stands for one op per trip. Its location keeps the
// locations of all of them, so that errors and reports of unrolled programs
// name the right layer.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_LIB_DIALECT_HLIR_TRANSFORMS_TRIPLOCATIONS_H
#define LUMINAL_LIB_DIALECT_HLIR_TRANSFORMS_TRIPLOCATIONS_H

#include "mlir/IR/Location.h"

namespace luminal::hlir {

/// The joined location of an op that stands for one op per trip.
mlir::Location joinTripLocations(llvm::ArrayRef<mlir::Location> locations);

/// The part of `location`, and of locations in it, that belongs to a trip.
mlir::Location getTripLocation(mlir::Location location, unsigned trip);

} // namespace luminal::hlir

#endif // LUMINAL_LIB_DIALECT_HLIR_TRANSFORMS_TRIPLOCATIONS_H
