//===- Runner.h - The saturation loop -------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A round matches all active rules on the graph as it is, drops the matches
// whose right side the graph already contains, adds the others and rebuilds
// once. Rules enter stratum by stratum. A rule that finds too many matches in
// one round is banned for some rounds; its limit is doubled when it returns.
//
// The limits bound the search for alternatives. Recovery and lowering are
// required, so they run first and to their end; their own bound follows from
// the size of the program, and exceeding it is an error.
//
// A round that reaches a limit of nodes, bytes or time is undone, so the graph
// is always the result of whole rounds. If the limit was nodes or bytes, the
// rules that added most in that round are suspended and the others continue.
// Once those find nothing new, suspended rules are retried one at a time.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_EQSAT_CORE_RUNNER_H
#define LUMINAL_EQSAT_CORE_RUNNER_H

#include "luminal/EqSat/Core/EGraph.h"
#include "luminal/EqSat/Core/Limits.h"
#include "luminal/EqSat/Core/Rule.h"

#include <chrono>
#include <string>
#include <vector>

namespace luminal::eqsat {

enum class StopReason : uint8_t {
  Saturated, ///< no rule finds anything new
  Iterations,
  Nodes,
  Bytes,
  Time,
  Conflict,   ///< a rule merged classes with different types or facts: an error
  Unfinished, ///< recovery and lowering exceed their bound: an error
};
/// "saturated", "iteration-limit", ...
const char *stopReasonName(StopReason r);

struct RunnerOptions : Limits {
  /// Rounds for which a rule is banned the first time.
  uint32_t banLength = 5;
  /// Match only what is new. If false, every round matches everything, with the
  /// same result but slower.
  bool incremental = true;
  /// If set, a round adds only nodes whose children existed before the round,
  /// and continues the match in the next round. Equal intermediate terms are
  /// then merged before anything is built on them: the final graph is the same,
  /// but far fewer nodes are created on the way. If false, a round applies each
  /// match completely.
  bool staged = false;
};

struct RuleReport {
  uint64_t matches = 0; ///< matches found, useful or not
  uint64_t useful = 0;  ///< matches that added a node or made a union
  uint64_t newNodes = 0;
  uint64_t unions = 0;
  uint64_t refused = 0; ///< unions of types not provably equal
  uint32_t bans = 0;
  /// Undone rounds after which the rule was suspended. Its matches and nodes in
  /// those rounds are not counted above.
  uint32_t undone = 0;
  double matchSeconds = 0; ///< share of the common matching time
  double applySeconds = 0;
  bool admitted = true; ///< whether the precision policy admits it
};

struct IterationReport {
  uint64_t nodes = 0;   ///< after the round
  uint64_t classes = 0; ///< after the round
  uint64_t useful = 0;
  Stratum stratum = Stratum::Canonical;
};

struct RunReport {
  StopReason stop = StopReason::Saturated;
  std::vector<IterationReport> iterations;
  std::vector<RuleReport> rules;
  uint64_t nodes = 0;
  uint64_t classes = 0;
  uint64_t bytes = 0;
  uint64_t peakBytes = 0;
  uint32_t undone = 0; ///< rounds that reached a limit of nodes or bytes
  /// If the run is unfinished: the most nodes that recovery and lowering may
  /// make.
  uint64_t bound = 0;
  /// If the rules with `Rule::growth` stopped because they reached their common
  /// bound, that bound in nodes; otherwise 0. The run goes on without these
  /// rules.
  uint64_t growthSpent = 0;
  double seconds = 0, matchSeconds = 0, applySeconds = 0, rebuildSeconds = 0;
};

/// A list of rules that may grow while the graph grows.
class RuleSource {
public:
  RuleSource(std::span<const Rule> rules = {}, std::span<Native> natives = {})
      : rules(rules), natives(natives) {}
  virtual ~RuleSource();
  /// Called before each round. Appends the rules that the current graph can
  /// use; returns whether anything was added.
  virtual bool update() { return false; }

  std::span<const Rule> rules;
  std::span<Native> natives;
};

/// Runs the rules on the graph and leaves it rebuilt.
RunReport saturate(EGraph &graph, RuleSource &source,
                   const RunnerOptions &options);
RunReport saturate(EGraph &graph, std::span<const Rule> rules,
                   std::span<Native> natives, const RunnerOptions &options);

} // namespace luminal::eqsat

#endif // LUMINAL_EQSAT_CORE_RUNNER_H
