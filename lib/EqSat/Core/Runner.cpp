//===- Runner.cpp - Rounds of matching and adding until nothing is new ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RunnerImpl.h"
#include "luminal/EqSat/Core/Snapshot.h"

#include <algorithm>

using namespace luminal::eqsat;

const char *luminal::eqsat::stopReasonName(StopReason r) {
  constexpr const char *kNames[] = {"saturated",  "iteration-limit",
                                    "node-limit", "byte-limit",
                                    "time-limit", "conflict"};
  return kNames[unsigned(r)];
}

//===----------------------------------------------------------------------===//
// Matches
//===----------------------------------------------------------------------===//

/// A rule whose matches are counted first keeps them; others are applied at
/// once, which the frozen part of the graph does not show.
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

/// Matches the active rules and adds what they say.
void Runner::matchRound() {
  double applied = report.applySeconds;
  auto begin = Clock::now();
  usefulInRound = 0;
  firstOfRound = graph.numClassIds();
  for (RuleId id = 0; id != rules.size(); ++id) {
    states[id].tookUp = queries[id].active && !states[id].again.empty();
    if (states[id].tookUp)
      takeUp(id);
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

/// Takes back a round that ran into a limit, and sends away the rules that
/// added most in it. `counts` is what the report said before.
void Runner::undoRound(Snapshot &before, std::vector<RuleReport> counts) {
  constexpr uint32_t kMaxUndone = 32;
  const char hit = graph.limitHit();
  const RuleId current = graph.currentRule;
  before.restore();
  for (Native &n : natives)
    n.forget();
  comeBack.clear();
  uint64_t total = 0;
  for (RuleId id = 0; id != rules.size(); ++id) {
    RuleReport &was = counts[id], &is = report.rules[id];
    was.matchSeconds = is.matchSeconds;
    was.applySeconds = is.applySeconds;
    std::swap(was, is);
    if (!queries[id].active)
      continue;
    State &s = states[id];
    s.added = was.newNodes - is.newNodes;
    total += s.added;
    s.overflow = false;
    // What was waiting was taken up: all of it must be found again.
    s.again.clear();
    if (s.tookUp)
      s.since = 0;
  }
  if (!hit) {
    report.stop = StopReason::Time;
    stopped = true;
    return;
  }
  limit = hit == 'n' ? StopReason::Nodes : StopReason::Bytes;
  ++report.undone;
  std::vector<RuleId> byAdded;
  for (RuleId id = 0; id != rules.size(); ++id)
    if (queries[id].active && (states[id].added != 0 || id == current))
      byAdded.push_back(id);
  std::sort(byAdded.begin(), byAdded.end(), [&](RuleId a, RuleId b) {
    uint64_t x = states[a].added, y = states[b].added;
    return x != y ? x > y : a < b;
  });
  // Those that together made half of it: one, where one explodes; many, where
  // many do a little.
  uint64_t sum = 0;
  for (RuleId id : byAdded) {
    states[id].undone = true;
    if (states[id].added == total)
      states[id].triedAt = graph.round();
    ++report.rules[id].undone;
    sum += states[id].added;
    if (sum * 2 >= total)
      break;
  }
  if (++numUndone == kMaxUndone) {
    report.stop = limit;
    stopped = true;
  }
}

/// Calls back a rule that an undone round sent away, unless it is known to be
/// too much for the graph as it is: what added least comes first.
bool Runner::tryAgain(Stratum stratum) {
  State *best = nullptr;
  for (RuleId id = 0; id != rules.size(); ++id) {
    State &s = states[id];
    if (s.undone && isHeard(id, stratum) && s.triedAt != graph.round() &&
        (!best || s.added < best->added))
      best = &s;
  }
  if (best)
    best->undone = false;
  return best;
}

/// Takes up the rules that have come since the last round.
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
    report.rules.emplace_back().admitted = admitted(r);
  }
  states.resize(rules.size());
  queries.resize(rules.size());
  matcher = std::make_unique<Matcher>(rules, natives);
}

/// False when there is nothing more to be said, or the run is over.
bool Runner::runRound(Stratum stratum) {
  assert(!graph.isDirty() && "rebuild first");
  updateRules();
  uint32_t round = report.iterations.size();
  uint32_t visible = graph.round() - 1;
  bool banned = false;
  for (RuleId id = 0; id != rules.size(); ++id) {
    const State &s = states[id];
    bool away = s.bannedUntil > round;
    queries[id].active = isHeard(id, stratum) && !away && !s.undone;
    queries[id].since = options.incremental ? s.since : 0;
    banned |= away;
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
  for (NodeRef root : comeBack)
    graph.touch(root);
  comeBack.clear();
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
  else if (!alone && changed &&
           report.iterations.size() >= options.maxIterations)
    report.stop = StopReason::Iterations;
  else
    stopped = false;
  if (stopped)
    return false;
  if (!changed && banned) {
    // Only rules that were sent away may have more to say: call back whoever
    // is due first.
    uint32_t first = kNone;
    for (State &s : states)
      if (s.bannedUntil > round + 1)
        first = std::min(first, s.bannedUntil);
    for (State &s : states)
      if (s.bannedUntil == first)
        s.bannedUntil = 0;
    return true;
  }
  return changed || tryAgain(stratum);
}

RunReport Runner::run() {
  graph.setLimits({options.maxNodes, options.maxBytes});
  setDeadline(options.maxSeconds);
  bool consistent = graph.rebuild();
  updateRules();
  if (!consistent)
    report.stop = StopReason::Conflict;
  for (unsigned s = 0; s != kNumStrata && consistent && !stopped; ++s) {
    bool any = false;
    for (const Rule &r : rules)
      any |= unsigned(r.stratum) == s;
    if (!any)
      continue;
    if (report.iterations.size() >= options.maxIterations) {
      report.stop = StopReason::Iterations;
      stopped = true;
      break;
    }
    while (runRound(Stratum(s)))
      ;
  }
  // Who is still away has more to say than there is room for.
  bool lowers = false, lowered = !stopped;
  for (RuleId id = 0; id != rules.size(); ++id) {
    bool lowering =
        report.rules[id].admitted && rules[id].stratum == Stratum::Lowering;
    lowers |= lowering;
    lowered &= !(lowering && states[id].undone);
    if (states[id].undone && !stopped)
      report.stop = limit;
  }
  // A limit that stopped the search must not leave the program without code:
  // the lowering rules alone then say what they have to say about what is
  // there. They build nothing on each other, so a few rounds do.
  if (report.stop != StopReason::Conflict && lowers && !lowered) {
    constexpr uint32_t kRounds = 4, kRoom = 4;
    constexpr double kSeconds = 10;
    StopReason why = report.stop;
    stopped = false;
    alone = true;
    numUndone = 0;
    // A table takes a few kilobytes, however small the program.
    constexpr uint64_t kLeastNodes = 1024, kLeastBytes = 1 << 20;
    graph.setLimits({std::max(graph.numNodes() * kRoom, kLeastNodes),
                     std::max(graph.bytes() * kRoom, kLeastBytes)});
    setDeadline(std::max(options.maxSeconds, kSeconds));
    for (State &s : states) {
      s.bannedUntil = 0;
      s.undone = false;
    }
    const size_t last = report.iterations.size() + kRounds;
    while (report.iterations.size() != last && runRound(Stratum::Lowering))
      ;
    if (report.stop != StopReason::Conflict)
      report.stop = why;
  }
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
