//===- Snapshot.h - Undo of what came since -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Between two rebuilds a graph is a frozen part and a tail: rows, class ids and
// terms of proofs are only ever appended, and what a union changes is known. So
// a snapshot is a set of counts, and restoring it truncates the tails.
//
// Nothing here includes LLVM or MLIR.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_EQSAT_CORE_SNAPSHOT_H
#define LUMINAL_EQSAT_CORE_SNAPSHOT_H

#include "luminal/EqSat/Core/EGraph.h"
#include "luminal/EqSat/Core/Proof.h"

namespace luminal::eqsat {

/// The state of a graph, to return to. A graph has at most one at a time.
class Snapshot {
public:
  explicit Snapshot(EGraph &graph);
  ~Snapshot();
  Snapshot(const Snapshot &) = delete;
  Snapshot &operator=(const Snapshot &) = delete;

  /// Restores the graph: rows, classes, facts, proofs, no more bytes than it
  /// held, and no limit hit. Payloads and operators that were made since stay
  /// known and unused. Only before the next `rebuild`; `touch` is not undone.
  /// Class ids made since are reused for other classes, so remembered ones must
  /// be forgotten (`Native::forget`).
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
  /// Capacities of what there is one of for each class id.
  std::vector<size_t> perClass;
  [[maybe_unused]] uint32_t round;
  RuleId currentRule;
  bool dirty;
  char hit;
};

} // namespace luminal::eqsat

#endif // LUMINAL_EQSAT_CORE_SNAPSHOT_H
