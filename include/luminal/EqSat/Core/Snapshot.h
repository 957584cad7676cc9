//===- Snapshot.h - Snapshots ---------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Between two rebuilds a graph is a frozen part and a tail: rows, class ids and
// proof terms are only appended, and the changes of a union are logged. So a
// snapshot is a set of counts, and restoring it truncates the tails.
//
// Nothing here includes LLVM or MLIR.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_EQSAT_CORE_SNAPSHOT_H
#define LUMINAL_EQSAT_CORE_SNAPSHOT_H

#include "luminal/EqSat/Core/EGraph.h"
#include "luminal/EqSat/Core/Proof.h"

namespace luminal::eqsat {

/// A state of a graph to which it can return. A graph has at most one snapshot
/// at a time.
class Snapshot {
public:
  explicit Snapshot(EGraph &graph);
  ~Snapshot();
  Snapshot(const Snapshot &) = delete;
  Snapshot &operator=(const Snapshot &) = delete;

  /// Restores rows, classes, facts and proofs, shrinks the buffers to their old
  /// capacity, and clears the limit that was hit. Payloads and operators made
  /// since stay interned but unused. Allowed only before the next `rebuild`;
  /// `touch` is not undone. Class ids made since will be reused for other
  /// classes, so caches must drop them (`Native::forget`).
  void restore();

private:
  struct Rows {
    uint32_t count;
    size_t rows, stamps, rules; ///< capacities
    bool stale, indexed;
  };

  void restore(Table &t, const Rows &rows) const;

  EGraph &graph;
  std::vector<Rows> tables;
  ProofLog::Mark proofs;
  FactLog facts;
  std::optional<Conflict> failure;
  uint64_t liveRows;
  size_t numClassIds, numLosers, numChangedFacts;
  /// Capacities of the buffers that have one entry for each class id.
  std::vector<size_t> perClass;
  [[maybe_unused]] uint32_t round;
  RuleId currentRule;
  bool dirty;
  char hit;
};

} // namespace luminal::eqsat

#endif // LUMINAL_EQSAT_CORE_SNAPSHOT_H
