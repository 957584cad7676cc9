//===- TripLocations.h - Where the trips of a loop come from --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An op of a body stands for one op of each trip. Its location keeps theirs, so
// that errors and reports of unrolled programs name the right layer.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_LIB_DIALECT_HLIR_TRANSFORMS_TRIPLOCATIONS_H
#define LUMINAL_LIB_DIALECT_HLIR_TRANSFORMS_TRIPLOCATIONS_H

#include "mlir/IR/Location.h"

namespace luminal::hlir {

/// The location of an op that stands for one op in each trip.
mlir::Location joinTripLocations(llvm::ArrayRef<mlir::Location> locations);

/// `location`, and those in it, as they are in a trip.
mlir::Location getTripLocation(mlir::Location location, unsigned trip);

} // namespace luminal::hlir

#endif // LUMINAL_LIB_DIALECT_HLIR_TRANSFORMS_TRIPLOCATIONS_H
