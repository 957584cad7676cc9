//===- Runner.cpp - The saturation loop -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RunnerImpl.h"
#include "luminal/EqSat/Core/Snapshot.h"

#include <algorithm>

using namespace luminal::eqsat;

const char *luminal::eqsat::stopReasonName(StopReason r) {
  constexpr const char *kNames[] = {
      "saturated",  "iteration-limit", "node-limit", "byte-limit",
      "time-limit", "conflict",        "unfinished"};
  return kNames[unsigned(r)];
}

//===----------------------------------------------------------------------===//
// Matches
//===----------------------------------------------------------------------===//

/// Matches of a rule with a limit are collected and counted first; matches of
/// other rules are applied at once, which does not change the frozen part of
/// the graph.
void Runner::full(RuleId id) {
  MatchBuffer &batch = batches[id];
  report.rules[id].matches += batch.size;
  if (states[id].overflow || halted())
    batch.size = 0;
  else if (limitOf(id))
    examine(id);
  else
    apply(id);
  checkTime();
}

bool Runner::between() {
  checkTime();
  return !halted();
}

//===----------------------------------------------------------------------===//
// Rounds
//===----------------------------------------------------------------------===//

/// Matches the active rules and applies their matches.
void Runner::matchRound() {
  double applied = report.applySeconds;
  auto begin = Clock::now();
  usefulInRound = 0;
  firstOfRound = graph.numClassIds();
  for (RuleId id = 0; id != rules.size(); ++id) {
    states[id].resumed = queries[id].active && !states[id].again.empty();
    if (states[id].resumed)
      resume(id);
  }
  matcher->run(graph, queries, batches, *this);
  for (RuleId id = 0; id != rules.size(); ++id)
    full(id);
  for (RuleId id = 0; id != rules.size(); ++id)
    flush(id);
  double matching = secondsSince(begin) - (report.applySeconds - applied);
  report.matchSeconds += matching;
  std::vector<double> shares = matcher->workShares();
  for (RuleId id = 0; id != rules.size(); ++id)
    report.rules[id].matchSeconds += matching * shares[id];
}

/// Undoes a round that reached a limit, and suspends the rules that added most
/// nodes in it. `counts` are the rule reports from before the round.
void Runner::undoRound(Snapshot &before, std::vector<RuleReport> counts) {
  constexpr uint32_t kMaxUndone = 32;
  const char hit = graph.limitHit();
  const RuleId current = graph.currentRule;
  before.restore();
  for (Native &n : natives)
    n.forget();
  revisited.clear();
  for (RuleId id = 0; id != rules.size(); ++id) {
    RuleReport &was = counts[id], &is = report.rules[id];
    was.matchSeconds = is.matchSeconds;
    was.applySeconds = is.applySeconds;
    std::swap(was, is);
    if (!queries[id].active)
      continue;
    State &s = states[id];
    s.added = was.newNodes - is.newNodes;
    s.overflow = false;
    // The unfinished matches were resumed in the undone round: find all matches
    // of the rule again.
    s.again.clear();
    if (s.resumed)
      s.since = 0;
  }
  if (!hit) {
    report.stop = StopReason::Time;
    stopped = true;
    return;
  }
  limit = hit == 'n' ? StopReason::Nodes : StopReason::Bytes;
  ++report.undone;
  // Suspend rules for alternatives; others only if no such rule added anything.
  std::vector<RuleId> byAdded;
  for (bool all : {false, true}) {
    if (!byAdded.empty())
      break;
    for (RuleId id = 0; id != rules.size(); ++id)
      if (queries[id].active && (states[id].added != 0 || id == current) &&
          (all || rules[id].stratum == Stratum::Alternatives))
        byAdded.push_back(id);
  }
  uint64_t total = 0;
  for (RuleId id : byAdded)
    total += states[id].added;
  std::sort(byAdded.begin(), byAdded.end(), [&](RuleId a, RuleId b) {
    uint64_t x = states[a].added, y = states[b].added;
    return x != y ? x > y : a < b;
  });
  // Suspend the rules that together added half of the nodes: one rule if one
  // explodes, many if each adds a little.
  uint64_t sum = 0;
  for (RuleId id : byAdded) {
    states[id].suspended = true;
    if (states[id].added == total)
      states[id].triedAt = graph.round();
    ++report.rules[id].undone;
    sum += states[id].added;
    if (sum * 2 >= total)
      break;
  }
  if (isRequired || ++numUndone == kMaxUndone) {
    report.stop = limit;
    stopped = true;
  }
}

/// Resumes a suspended rule, the one that added least first, unless it alone is
/// known to exceed the limit on the graph as it is.
bool Runner::retrySuspended(Stratum stratum) {
  State *best = nullptr;
  for (RuleId id = 0; id != rules.size(); ++id) {
    State &s = states[id];
    if (s.suspended && isActive(id, stratum) && s.triedAt != graph.round() &&
        (!best || s.added < best->added))
      best = &s;
  }
  if (best)
    best->suspended = false;
  return best;
}

/// Stops the rules with a growth bound once they have reached it together.
void Runner::checkGrowth() {
  // Gives small programs room for all groupings of a few products.
  constexpr uint64_t kLeast = 256;
  double growth = 0;
  uint64_t added = 0;
  for (RuleId id = 0; id != rules.size(); ++id) {
    if (rules[id].growth <= 0)
      continue;
    growth = growth ? std::min(growth, rules[id].growth) : rules[id].growth;
    added += report.rules[id].newNodes;
  }
  uint64_t bound =
      std::max(kLeast, static_cast<uint64_t>(growth * double(requiredNodes)));
  if (growth > 0 && !isRequired && added >= bound)
    report.growthSpent = bound;
}

/// Adds the rules that the source added since the last round.
void Runner::updateRules() {
  if (!source.update() && matcher)
    return;
  rules = source.rules;
  natives = source.natives;
  for (const Rule &r : rules.subspan(batches.size())) {
    uint32_t *columns =
        batches.emplace_back(r.stored, r.numRegs).columns.data();
    for (uint32_t c = 0; c != r.constants.size(); ++c)
      std::fill_n(columns + (r.numStored() + c) * kBatch, kBatch,
                  r.constants[c]);
    report.rules.emplace_back().admitted = r.admitted;
  }
  states.resize(rules.size());
  queries.resize(rules.size());
  matcher = std::make_unique<Matcher>(rules, natives);
}

/// Runs one round. False if no rule finds anything new, or the run is over.
bool Runner::runRound(Stratum stratum) {
  assert(!graph.isDirty() && "rebuild first");
  updateRules();
  uint32_t round = report.iterations.size();
  uint32_t visible = graph.round() - 1;
  bool banned = false;
  for (RuleId id = 0; id != rules.size(); ++id) {
    const State &s = states[id];
    bool isBanned = s.bannedUntil > round;
    queries[id].active = isActive(id, stratum) && !isBanned && !s.suspended;
    queries[id].since = options.incremental ? s.since : 0;
    banned |= isBanned;
  }
  {
    Snapshot before(graph);
    std::vector<RuleReport> counts = report.rules;
    matchRound();
    if (halted() && !graph.conflict()) {
      undoRound(before, std::move(counts));
      return !stopped;
    }
  }
  for (RuleId id = 0; id != rules.size(); ++id) {
    State &s = states[id];
    if (s.overflow) {
      s.overflow = false;
      s.bannedUntil =
          round + 1 +
          (options.banLength << std::min(report.rules[id].bans, 16u));
      ++report.rules[id].bans;
      banned = true;
    } else if (queries[id].active) {
      s.since = visible;
    }
  }
  if (!report.growthSpent)
    checkGrowth();
  for (NodeRef root : revisited)
    graph.touch(root);
  revisited.clear();
  bool changed = graph.isDirty();
  uint64_t waiting = 0;
  for (RuleId id = 0; id != rules.size(); ++id) {
    waiting += states[id].again.capacity() * sizeof(uint32_t);
    changed |= queries[id].active && !states[id].again.empty();
  }
  auto begin = Clock::now();
  bool consistent = graph.rebuild();
  report.peakBytes = std::max(report.peakBytes, graph.peakBytes() + waiting);
  report.rebuildSeconds += secondsSince(begin);
  report.iterations.push_back(
      {graph.numNodes(), graph.numClasses(), usefulInRound, stratum});
  stopped = true;
  if (!consistent)
    report.stop = StopReason::Conflict;
  else if (checkTime())
    report.stop = StopReason::Time;
  else if (!isRequired && changed &&
           report.iterations.size() - requiredRounds >= options.maxIterations)
    report.stop = StopReason::Iterations;
  else
    stopped = false;
  if (stopped)
    return false;
  if (!changed && banned) {
    // Only banned rules can find more: end the bans that expire first.
    uint32_t first = kNone;
    for (State &s : states)
      if (s.bannedUntil > round + 1)
        first = std::min(first, s.bannedUntil);
    for (State &s : states)
      if (s.bannedUntil == first)
        s.bannedUntil = 0;
    return true;
  }
  return changed || retrySuspended(stratum);
}

/// Runs the rules of a stratum and of the strata before it until they find
/// nothing new.
void Runner::runStratum(Stratum stratum) {
  bool any = false;
  for (const Rule &r : rules)
    any |= r.stratum == stratum;
  if (!any || stopped)
    return;
  if (!isRequired && options.maxIterations == 0) {
    report.stop = StopReason::Iterations;
    stopped = true;
  }
  while (!stopped && runRound(stratum))
    ;
}

RunReport Runner::run() {
  // Bound on the size of the graph after recovery and lowering. Their rules
  // only rename and recombine existing terms, so they make a few nodes of each
  // node. A table takes some kilobytes, however small the program is.
  constexpr uint64_t kRoom = 64, kLeastNodes = 4096, kLeastBytes = 1 << 24;
  bool consistent = graph.rebuild();
  updateRules();
  if (!consistent) {
    report.stop = StopReason::Conflict;
    stopped = true;
  }
  GraphLimits bound{
      std::max(options.maxNodes, graph.numNodes() * kRoom + kLeastNodes),
      std::max(options.maxBytes, graph.bytes() * kRoom + kLeastBytes)};
  graph.setLimits(bound);
  for (Stratum s : {Stratum::Canonical, Stratum::Recovery, Stratum::Lowering})
    runStratum(s);
  if (stopped && report.stop != StopReason::Conflict) {
    report.stop = StopReason::Unfinished;
    report.bound = bound.maxNodes;
  }
  // The lowered graph stays; alternatives are added only up to the limits.
  isRequired = false;
  requiredRounds = report.iterations.size();
  requiredNodes = graph.numNodes();
  graph.setLimits({options.maxNodes, options.maxBytes});
  runStratum(Stratum::Alternatives);
  // A rule that is still suspended would find more with higher limits.
  for (const State &s : states)
    if (s.suspended && !stopped)
      report.stop = limit;
  graph.setLimits({});
  report.nodes = graph.numNodes();
  report.classes = graph.numClasses();
  report.bytes = graph.bytes();
  report.peakBytes = std::max(report.peakBytes, graph.peakBytes());
  report.seconds = secondsSince(start);
  return std::move(report);
}

RuleSource::~RuleSource() = default;

RunReport luminal::eqsat::saturate(EGraph &graph, RuleSource &source,
                                   const RunnerOptions &options) {
  return Runner(graph, source, options).run();
}

RunReport luminal::eqsat::saturate(EGraph &graph, std::span<const Rule> rules,
                                   std::span<Native> natives,
                                   const RunnerOptions &options) {
  RuleSource fixed(rules, natives);
  return saturate(graph, fixed, options);
}
