//===- Recurrence.h - Repeated subgraphs as loops -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A recurrence is a list of *trips*: disjoint sets of ops that are equal,
// position by position, except for the values that they read. Repetitions in
// the order of Dataflow only propose candidates; the reads of the ops decide
// whether a candidate is a recurrence. Ops may be of any dialect.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_DIALECT_HLIR_TRANSFORMS_RECURRENCE_H
#define LUMINAL_DIALECT_HLIR_TRANSFORMS_RECURRENCE_H

#include "luminal/Dialect/HLIR/Transforms/Dataflow.h"

#include <string>

namespace luminal::hlir {

/// A result of the op at a position of the body.
struct BodyValue {
  unsigned position = 0, result = 0;
  bool operator==(const BodyValue &) const = default;
};

/// Repeated subgraphs that can become a loop.
struct Recurrence {
  /// The ops of each trip, by position. Each op follows the ops of its trip
  /// that it reads.
  std::vector<std::vector<mlir::Operation *>> trips;

  /// How an op of the body reads a value.
  struct Read {
    enum Kind {
      Inner,    ///< a value of the same trip: `value`
      Carried,  ///< the carried value `index`
      Captured, ///< one value for all trips
      Each,     ///< the list `index`
    } kind;
    BodyValue value = {};
    unsigned index = 0;
  };
  /// The reads, by position and operand.
  std::vector<llvm::SmallVector<Read, 3>> reads;

  struct CarriedValue {
    mlir::Value initial; ///< what the first trip reads
    BodyValue next;      ///< what other trips read, of the one before
  };
  llvm::SmallVector<CarriedValue> carried;
  /// Lists of values, one for each trip.
  std::vector<llvm::SmallVector<mlir::Value>> each;

  unsigned getNumOps() const { return reads.size(); }
  /// Returns the number of ops that a loop saves.
  uint64_t getSaving() const {
    return uint64_t(reads.size()) * (trips.size() - 1);
  }
  mlir::Value get(unsigned trip, BodyValue value) const {
    return trips[trip][value.position]->getResult(value.result);
  }
};

struct RecurrenceLimits {
  unsigned minTrips = 3, minOps = 16;
  /// A body with fewer ops counts if the loop saves at least that many.
  unsigned minSaved = 256;
};

/// Returns the recurrence of a block that saves the most ops; std::nullopt if
/// there is none. Calls `missed` for runs of equal ops that are no recurrence,
/// with the first op of the run, its length in ops, and the reason.
std::optional<Recurrence> findRecurrence(
    const Dataflow &flow, const RecurrenceLimits &limits,
    llvm::function_ref<void(mlir::Operation *, unsigned, llvm::StringRef)>
        missed);

} // namespace luminal::hlir

#endif // LUMINAL_DIALECT_HLIR_TRANSFORMS_RECURRENCE_H
