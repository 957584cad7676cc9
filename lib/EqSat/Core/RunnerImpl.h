//===- RunnerImpl.h - One saturation --------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runner.cpp implements the rounds, RightSides.cpp applies the matches.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_LIB_EQSAT_CORE_RUNNERIMPL_H
#define LUMINAL_LIB_EQSAT_CORE_RUNNERIMPL_H

#include "luminal/EqSat/Core/Matcher.h"
#include "luminal/EqSat/Core/Runner.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <span>
#include <vector>

namespace luminal::eqsat {

class Snapshot;

class Runner final : public MatchSink {
public:
  Runner(EGraph &graph, RuleSource &source, const RunnerOptions &options)
      : graph(graph), source(source), options(options) {}

  RunReport run();

  void full(RuleId id) override;
  bool between() override;

private:
  using Clock = std::chrono::steady_clock;
  static double secondsSince(Clock::time_point t) {
    return std::chrono::duration<double>(Clock::now() - t).count();
  }

  struct State {
    std::vector<uint32_t> pending; ///< stored registers of kept matches
    uint64_t count = 0;            ///< number of kept matches
    std::vector<uint32_t> again;   ///< stored registers of unfinished matches
    uint32_t since = 0;            ///< round up to which it has matched
    uint32_t bannedUntil = 0;
    bool overflow = false;
    bool resumed = false;   ///< had unfinished matches in this round
    bool suspended = false; ///< because a round reached a limit
    uint64_t added = 0;     ///< nodes that it added in the undone round
    uint32_t triedAt =
        0; ///< round of the graph on which it alone exceeds the limit
  };

  uint64_t limitOf(RuleId id) const {
    uint64_t limit =
        rules[id].matchLimit ? rules[id].matchLimit : options.matchLimit;
    return limit << std::min(report.rules[id].bans, 32u);
  }
  /// Whether the rule makes nodes level by level (`RunnerOptions::staged`). Not
  /// possible if natives add nodes, because these are unknown before they run.
  bool isStaged(const Rule &r) const { return options.staged && !r.creates; }

  /// Matches of one rule are looked up in batches, so that their memory
  /// accesses overlap. The columns after the stored registers hold the
  /// constants, which are filled in once, and the values that the right side
  /// computes.
  static constexpr uint32_t kBatch = MatchBuffer::kCapacity;
  /// The matches of a batch that are still in progress.
  struct List {
    uint32_t size = 0;
    uint16_t items[kBatch];
    void push(uint32_t m) { items[size++] = m; }
    const uint16_t *begin() const { return items; }
    const uint16_t *end() const { return items + size; }
  };

  bool evaluate(const Instruction &i, uint32_t *columns, uint32_t m);
  void evaluate(const Instruction &i, uint32_t *columns, const List &list,
                List &holds);
  void lookUp(const Instruction &i, const uint32_t *columns, const List &list);
  template <uint32_t K>
  void lookUp(const Table &t, const Instruction &i, const uint32_t *columns,
              const List &list);
  void examine(RuleId id);
  void apply(RuleId id);
  void applyNode(RuleId id, const Instruction &i, List &list, uint8_t *useful);
  void keep(RuleId id, uint32_t m);
  void log(RuleId id, uint32_t part, uint32_t m);
  void revisit(RuleId id, uint32_t m);
  void resume(RuleId id);
  void flush(RuleId id);
  void updateRules();
  bool runRound(Stratum stratum);
  void matchRound();
  void undoRound(Snapshot &before, std::vector<RuleReport> counts);
  void checkGrowth();
  bool retrySuspended(Stratum stratum);
  void runStratum(Stratum stratum);
  bool isActive(RuleId id, Stratum stratum) const {
    return report.rules[id].admitted && rules[id].stratum <= stratum &&
           !(rules[id].growth > 0 && report.growthSpent);
  }
  bool checkTime() {
    overTime |= options.maxSeconds > 0 && Clock::now() > deadline;
    return overTime;
  }
  /// Whether nothing more may be added to the graph.
  bool halted() const {
    return overTime || graph.limitHit() || graph.conflict();
  }
  static Clock::time_point after(double seconds) {
    constexpr double kForever = 1e9;
    return Clock::now() +
           std::chrono::duration_cast<Clock::duration>(
               std::chrono::duration<double>(std::min(seconds, kForever)));
  }

  EGraph &graph;
  RuleSource &source;
  std::span<const Rule> rules;
  std::span<Native> natives;
  const RunnerOptions &options;
  std::unique_ptr<Matcher> matcher;
  std::vector<State> states;
  std::vector<MatchBuffer> batches;
  /// Keys (contiguous), hashes and rows (or kNone) of the nodes of the last
  /// lookup.
  std::vector<uint32_t> keys;
  uint64_t hashes[kBatch];
  uint32_t rows[kBatch];
  /// Root rows of unfinished matches.
  std::vector<NodeRef> revisited;
  /// The first class id of the current round.
  ClassId firstOfRound = 0;
  std::vector<Matcher::Query> queries;
  std::vector<uint32_t> scratch, results;
  std::vector<Field> fields;
  RunReport report;
  Clock::time_point start = Clock::now(), deadline = after(options.maxSeconds);
  uint64_t usefulInRound = 0;
  uint32_t numUndone = 0;
  StopReason limit = StopReason::Nodes; ///< that was reached last
  bool overTime = false;
  bool stopped = false;
  /// Number of rounds of the strata that must run to their end.
  uint32_t requiredRounds = 0;
  /// Number of nodes that these strata left.
  uint64_t requiredNodes = 0;
  bool isRequired = true;
};

} // namespace luminal::eqsat

#endif // LUMINAL_LIB_EQSAT_CORE_RUNNERIMPL_H
