//===- Runner.cpp - Rounds of matching and adding until nothing is new ----===//

#include "luminal/EqSat/Runner.h"
#include "luminal/EqSat/Matcher.h"

#include <algorithm>

using namespace luminal::eqsat;
using Clock = std::chrono::steady_clock;

const char *luminal::eqsat::stopReasonName(StopReason r) {
  switch (r) {
  case StopReason::Saturated:
    return "saturated";
  case StopReason::Iterations:
    return "iteration limit";
  case StopReason::Nodes:
    return "node limit";
  case StopReason::Bytes:
    return "byte limit";
  case StopReason::Time:
    return "time limit";
  case StopReason::Conflict:
    return "conflict";
  }
  return "";
}

static double secondsSince(Clock::time_point t) {
  return std::chrono::duration<double>(Clock::now() - t).count();
}

namespace {

class Runner final : public MatchSink {
public:
  Runner(EGraph &graph, std::span<const Rule> rules,
         std::span<const NativeFn> natives, const RunnerOptions &options)
      : graph(graph), rules(rules), natives(natives), options(options),
        states(rules.size()), queries(rules.size()) {
    report.rules.resize(rules.size());
    uint32_t numRegs = 0;
    for (const Rule &r : rules)
      numRegs = std::max(numRegs, r.numRegs);
    frame.resize(numRegs);
  }

  RunReport run();

  void match(RuleId id, const uint32_t *regs) override;
  bool between() override;

private:
  struct State {
    std::vector<uint32_t> pending; ///< stored registers of useful matches
    uint64_t count = 0;            ///< of them
    uint32_t since = 0;            ///< round up to which it has matched
    uint32_t bannedUntil = 0;
    bool overflow = false;
  };

  uint64_t limitOf(RuleId id) const {
    uint64_t limit =
        rules[id].matchLimit ? rules[id].matchLimit : options.matchLimit;
    return limit << std::min(report.rules[id].bans, 32u);
  }
  bool admitted(const Rule &r) const {
    switch (r.promise.kind) {
    case Promise::Exact:
      return true;
    case Promise::Finite:
      return options.admitFinite;
    case Promise::Rounding:
      return r.promise.ulps <= options.maxUlps;
    }
    return false;
  }

  void load(const Rule &rule, const uint32_t *stored);
  bool evaluate(const Instruction &i);
  bool alreadyThere(const Rule &rule);
  void apply(RuleId id, const uint32_t *stored);
  void flush(RuleId id);
  bool runRound(Matcher &matcher, Stratum stratum);
  bool overTime() const { return secondsSince(start) > options.maxSeconds; }

  EGraph &graph;
  std::span<const Rule> rules;
  std::span<const NativeFn> natives;
  const RunnerOptions &options;
  std::vector<State> states;
  std::vector<Matcher::Query> queries;
  std::vector<uint32_t> frame;
  std::vector<uint32_t> scratch;
  std::vector<Field> fields;
  RunReport report;
  Clock::time_point start = Clock::now();
  uint64_t pendingWords = 0;
  uint64_t useful = 0;
  uint32_t ticks = 0;
  bool stopped = false;
};

} // namespace

//===----------------------------------------------------------------------===//
// Right sides
//===----------------------------------------------------------------------===//

void Runner::load(const Rule &rule, const uint32_t *stored) {
  uint32_t n = rule.numStored();
  std::copy(stored, stored + n, frame.begin());
  std::copy(rule.constants.begin(), rule.constants.end(), frame.begin() + n);
}

/// Payload and Native instructions, which say the same whenever they run.
bool Runner::evaluate(const Instruction &i) {
  if (i.kind == Instruction::Payload) {
    fields.clear();
    for (size_t k = 0; k != i.args.size(); ++k)
      fields.push_back({i.names[k], frame[i.args[k]]});
    frame[i.dst] = graph.getPayload(frame[i.b], fields);
    return true;
  }
  scratch.clear();
  for (Reg r : i.args)
    scratch.push_back(frame[r]);
  return natives[i.a](scratch, frame.data() + i.dst);
}

/// Whether the graph already says what the match in `frame` would add.
bool Runner::alreadyThere(const Rule &rule) {
  for (const Instruction &i : rule.rhs) {
    if (i.kind != Instruction::Node) {
      if (i.creates)
        return false;
      if (!evaluate(i))
        return true; // the right side does not exist: nothing to add
      continue;
    }
    scratch.clear();
    for (Reg r : i.args)
      scratch.push_back(frame[r]);
    ClassId c = graph.lookup(i.a, frame[i.b], scratch);
    if (c == kNone)
      return false;
    frame[i.dst] = c;
    if (i.into != kNone && graph.find(c) != graph.find(frame[i.into]))
      return false;
  }
  for (auto [a, b] : rule.unions)
    if (graph.find(frame[a]) != graph.find(frame[b]))
      return false;
  return true;
}

void Runner::apply(RuleId id, const uint32_t *stored) {
  const Rule &rule = rules[id];
  RuleReport &r = report.rules[id];
  load(rule, stored);
  graph.currentRule = id;
  uint64_t before = graph.numNodes();
  bool merged = false;
  auto note = [&](Merge m) {
    merged |= m == Merge::Merged;
    r.refused += m == Merge::Refused;
  };
  for (const Instruction &i : rule.rhs) {
    if (i.kind != Instruction::Node) {
      if (!evaluate(i))
        return;
      continue;
    }
    scratch.clear();
    for (Reg reg : i.args)
      scratch.push_back(frame[reg]);
    if (i.into != kNone) {
      note(graph.addInto(frame[i.into], i.a, frame[i.b], scratch, id));
    } else {
      frame[i.dst] = graph.add(i.a, frame[i.b], scratch, id);
    }
    if (graph.limitHit() || graph.conflict())
      break;
  }
  if (!graph.limitHit())
    for (auto [a, b] : rule.unions)
      if (!graph.conflict())
        note(graph.unite(frame[a], frame[b], id));
  uint64_t added = graph.numNodes() - before;
  r.newNodes += added;
  r.unions += merged;
  if (added || merged) {
    ++r.useful;
    ++useful;
  }
}

void Runner::flush(RuleId id) {
  State &s = states[id];
  if (!s.count)
    return;
  auto begin = Clock::now();
  uint32_t n = rules[id].numStored();
  for (uint64_t i = 0; i != s.count; ++i) {
    if (graph.limitHit() || graph.conflict())
      break;
    apply(id, s.pending.data() + i * n);
  }
  pendingWords -= s.pending.size();
  s.pending.clear();
  s.count = 0;
  double spent = secondsSince(begin);
  report.rules[id].applySeconds += spent;
  report.applySeconds += spent;
}

//===----------------------------------------------------------------------===//
// Matches
//===----------------------------------------------------------------------===//

void Runner::match(RuleId id, const uint32_t *regs) {
  const Rule &rule = rules[id];
  State &s = states[id];
  ++report.rules[id].matches;
  if (s.overflow)
    return;
  uint32_t n = rule.numStored();
  for (uint32_t i = 0; i != n; ++i)
    frame[i] = regs[rule.stored[i]];
  std::copy(rule.constants.begin(), rule.constants.end(), frame.begin() + n);
  if (alreadyThere(rule))
    return;
  if (uint64_t limit = limitOf(id); limit && s.count == limit) {
    // Too much at once: none of it is added.
    s.overflow = true;
    pendingWords -= s.pending.size();
    s.pending.clear();
    s.count = 0;
    return;
  }
  for (uint32_t i = 0; i != n; ++i)
    s.pending.push_back(regs[rule.stored[i]]);
  ++s.count;
  pendingWords += n;
}

bool Runner::between() {
  if ((++ticks & 255) == 0 && overTime()) {
    report.stop = StopReason::Time;
    stopped = true;
    return false;
  }
  if (pendingWords < 32768)
    return true;
  // What has no limit need not wait for the end of the round.
  for (RuleId id = 0; id != rules.size(); ++id)
    if (!limitOf(id))
      flush(id);
  return !graph.limitHit() && !graph.conflict();
}

//===----------------------------------------------------------------------===//
// Rounds
//===----------------------------------------------------------------------===//

/// False when the run is over.
bool Runner::runRound(Matcher &matcher, Stratum stratum) {
  uint32_t round = report.iterations.size();
  uint32_t visible = graph.round() - 1;
  bool banned = false;
  for (RuleId id = 0; id != rules.size(); ++id) {
    bool away = states[id].bannedUntil > round;
    queries[id].active =
        report.rules[id].admitted && rules[id].stratum <= stratum && !away;
    queries[id].since = options.incremental ? states[id].since : 0;
    banned |= away;
  }
  useful = 0;
  double applied = report.applySeconds;
  auto begin = Clock::now();
  matcher.run(graph, queries, *this);
  for (RuleId id = 0; id != rules.size(); ++id) {
    State &s = states[id];
    if (s.overflow) {
      s.overflow = false;
      s.bannedUntil =
          round + 1 +
          (options.banLength << std::min(report.rules[id].bans, 16u));
      ++report.rules[id].bans;
      banned = true;
    } else if (queries[id].active && !stopped) {
      s.since = visible;
    }
    flush(id);
  }
  double matching = secondsSince(begin) - (report.applySeconds - applied);
  report.matchSeconds += matching;
  std::vector<double> shares = matcher.workShares();
  for (RuleId id = 0; id != rules.size(); ++id)
    report.rules[id].matchSeconds += matching * shares[id];

  bool changed = graph.isDirty();
  report.peakBytes = std::max(report.peakBytes, graph.bytes());
  begin = Clock::now();
  bool consistent = graph.rebuild();
  report.rebuildSeconds += secondsSince(begin);
  report.iterations.push_back(
      {graph.numNodes(), graph.numClasses(), useful, stratum});
  if (!consistent) {
    report.stop = StopReason::Conflict;
    stopped = true;
  } else if (graph.limitHit()) {
    report.stop =
        graph.limitHit() == 'n' ? StopReason::Nodes : StopReason::Bytes;
    stopped = true;
  } else if (!stopped && overTime()) {
    report.stop = StopReason::Time;
    stopped = true;
  } else if (!stopped && changed &&
             report.iterations.size() >= options.maxIterations) {
    report.stop = StopReason::Iterations;
    stopped = true;
  }
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
  return changed;
}

RunReport Runner::run() {
  for (RuleId id = 0; id != rules.size(); ++id)
    report.rules[id].admitted = admitted(rules[id]);
  graph.setLimits({options.maxNodes, options.maxBytes});
  Matcher matcher(rules, natives);
  bool consistent = graph.rebuild();
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
      break;
    }
    while (runRound(matcher, Stratum(s)))
      ;
  }
  graph.setLimits({});
  report.nodes = graph.numNodes();
  report.classes = graph.numClasses();
  report.bytes = graph.bytes();
  report.seconds = secondsSince(start);
  return std::move(report);
}

RunReport luminal::eqsat::saturate(EGraph &graph, std::span<const Rule> rules,
                                   std::span<const NativeFn> natives,
                                   const RunnerOptions &options) {
  return Runner(graph, rules, natives, options).run();
}
