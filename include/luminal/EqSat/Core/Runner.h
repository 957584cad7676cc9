//===- Runner.h - Rounds of matching and adding until nothing is new ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A round matches all active rules on the graph as it stands, drops what the
// graph already says, adds the rest and rebuilds once. Rules enter stratum by
// stratum. A rule that finds too much in one round is sent away for a while and
// comes back with twice the allowance.
//
// A round that runs into a limit of nodes, bytes or time is undone: the graph
// is always one after whole rounds. Where it was nodes or bytes, the rules that
// added most in it are sent away and the others go on; once those have nothing
// more to say, who was sent away is tried again, one at a time.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_EQSAT_CORE_RUNNER_H
#define LUMINAL_EQSAT_CORE_RUNNER_H

#include "luminal/EqSat/Core/EGraph.h"
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
  Conflict, ///< a rule made different things equal: an error
};
/// "saturated", "iteration-limit", ...
const char *stopReasonName(StopReason r);

struct RunnerOptions {
  uint32_t maxIterations = 1000;
  uint64_t maxNodes = 200000;
  uint64_t maxBytes = uint64_t(1) << 30;
  double maxSeconds = 60;
  /// Useful matches of one rule in one round before it is sent away, for rules
  /// that state no limit of their own; 0 for none.
  uint64_t matchLimit = 0;
  /// Rounds that a rule stays away the first time.
  uint32_t banLength = 5;
  /// Look only where something is new. Off, every round matches everything:
  /// the same graph, slower.
  bool incremental = true;
  /// Make only those nodes in a round whose children were there before it, and
  /// come back to the match in the next round. Equal intermediate terms are
  /// then found equal before anything is built on them: the same graph in the
  /// end, with far fewer nodes on the way. Off, a round does all that it finds.
  bool staged = false;
  /// The widest promise that is admitted: rounding rules above this many ulps
  /// are left out (negative: every one).
  double maxUlps = 1e300;
  bool admitFinite = true;
};

struct RuleReport {
  uint64_t matches = 0; ///< matches found, useful or not
  uint64_t useful = 0;  ///< matches that added a node or made a union
  uint64_t newNodes = 0;
  uint64_t unions = 0;
  uint64_t refused = 0; ///< unions of types not provably equal
  uint32_t bans = 0;
  /// Rounds that were undone because the rule added too much in them. What they
  /// found and added is not counted above.
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
  uint32_t undone = 0; ///< rounds that ran into a limit of nodes or bytes
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
