//===- Runner.h - Rounds of matching and adding until nothing is new ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A round matches all active rules on the graph as it stands, drops what the
// graph already says, adds the rest and rebuilds once. Rules enter stratum by
// stratum. A rule that finds too many matches in one round is banned for some
// rounds and comes back with twice the allowance.
//
// The limits are those of the search for alternatives. What must be reached,
// recovery and lowering, runs before it and to its end; its own bound follows
// from the size of the program, and to exceed that is an error.
//
// A round that reaches a limit of nodes, bytes or time is undone: the graph is
// always one after whole rounds. Where it was nodes or bytes, the rules that
// added most in that round are suspended and the others continue; once those
// find nothing new, suspended rules are tried again, one at a time.
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
  Saturated, ///< no rule says anything new
  Iterations,
  Nodes,
  Bytes,
  Time,
  Conflict,   ///< a rule made different things equal: an error
  Unfinished, ///< recovery and lowering exceed their bound: an error
};
/// "saturated", "iteration-limit", ...
const char *stopReasonName(StopReason r);

struct RunnerOptions : Limits {
  /// Rounds for which a rule is banned the first time.
  uint32_t banLength = 5;
  /// Look only where something is new. Off, every round matches everything:
  /// the same graph, slower.
  bool incremental = true;
  /// Make only those nodes in a round whose children were there before it, and
  /// come back to the match in the next round. Equal intermediate terms are
  /// then found equal before anything is built on them: the same graph in the
  /// end, with far fewer nodes on the way. Off, a round does all that it finds.
  bool staged = false;
};

struct RuleReport {
  uint64_t matches = 0; ///< matches found, useful or not
  uint64_t useful = 0;  ///< matches that added a node or made a union
  uint64_t newNodes = 0;
  uint64_t unions = 0;
  uint64_t refused = 0; ///< unions of types not provably equal
  uint32_t bans = 0;
  /// Undone rounds after which the rule was suspended. What it found and added
  /// in them is not counted above.
  uint32_t undone = 0;
  double matchSeconds = 0; ///< share of the common matching
  double applySeconds = 0;
  bool admitted = true; ///< by the precision policy
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
  /// Of an unfinished run: the nodes that recovery and lowering may make.
  uint64_t bound = 0;
  /// Nodes that rules with a bound of their own (`Rule::growth`) may add, where
  /// they rest because they did; else 0. The run goes on without them.
  uint64_t growthSpent = 0;
  double seconds = 0, matchSeconds = 0, applySeconds = 0, rebuildSeconds = 0;
};

/// Rules of which there may be more as the graph grows.
class RuleSource {
public:
  RuleSource(std::span<const Rule> rules = {}, std::span<Native> natives = {})
      : rules(rules), natives(natives) {}
  virtual ~RuleSource();
  /// Called before each round. Adds the rules that the graph as it stands has a
  /// use for behind those that there are; true where anything changed.
  virtual bool update() { return false; }

  std::span<const Rule> rules;
  std::span<Native> natives;
};

/// Runs the rules on the graph, which is left rebuilt.
RunReport saturate(EGraph &graph, RuleSource &source,
                   const RunnerOptions &options);
RunReport saturate(EGraph &graph, std::span<const Rule> rules,
                   std::span<Native> natives, const RunnerOptions &options);

} // namespace luminal::eqsat

#endif // LUMINAL_EQSAT_CORE_RUNNER_H
