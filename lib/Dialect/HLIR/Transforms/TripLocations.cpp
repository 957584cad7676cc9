//===- TripLocations.cpp - Locations of the trips of a loop ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "TripLocations.h"
#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;

static constexpr llvm::StringLiteral kTrips = "hlir.trips";

Location luminal::hlir::joinTripLocations(ArrayRef<Location> locations) {
  Location first = locations.front();
  if (llvm::all_equal(locations))
    return first;
  MLIRContext *context = first.getContext();
  SmallVector<Attribute> list;
  for (Location location : locations)
    list.push_back(LocationAttr(location));
  NamedAttribute trips(StringAttr::get(context, kTrips),
                       ArrayAttr::get(context, list));
  return FusedLoc::get(context, {first}, DictionaryAttr::get(context, trips));
}

Location luminal::hlir::getTripLocation(Location location, unsigned trip) {
  auto fused = dyn_cast<FusedLoc>(location);
  if (!fused)
    return location;
  if (auto data = dyn_cast_or_null<DictionaryAttr>(fused.getMetadata()))
    if (auto trips = data.getAs<ArrayAttr>(kTrips);
        trips && trip < trips.size())
      if (auto own = dyn_cast<LocationAttr>(trips[trip]))
        return own;
  SmallVector<Location> parts;
  for (Location part : fused.getLocations())
    parts.push_back(getTripLocation(part, trip));
  return FusedLoc::get(location.getContext(), parts, fused.getMetadata());
}
