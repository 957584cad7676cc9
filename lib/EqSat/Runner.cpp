//===- Runner.cpp - Rounds of matching and adding until nothing is new ----===//

#include "luminal/EqSat/Runner.h"
#include "luminal/EqSat/Matcher.h"
#include "luminal/EqSat/Proof.h"

#include <algorithm>

using namespace luminal::eqsat;
using Clock = std::chrono::steady_clock;

const char *luminal::eqsat::stopReasonName(StopReason r) {
  switch (r) {
  case StopReason::Saturated:
    return "saturated";
  case StopReason::Iterations:
    return "iteration-limit";
  case StopReason::Nodes:
    return "node-limit";
  case StopReason::Bytes:
    return "byte-limit";
  case StopReason::Time:
    return "time-limit";
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
  Runner(EGraph &graph, std::span<const Rule> rules, std::span<Native> natives,
         const RunnerOptions &options)
      : graph(graph), rules(rules), natives(natives), options(options),
        states(rules.size()), queries(rules.size()) {
    report.rules.resize(rules.size());
    uint32_t numRegs = 0;
    for (const Rule &r : rules)
      numRegs = std::max(numRegs, r.numRegs);
    frame.resize(numRegs);
    size_t longest = 0;
    for (const Rule &r : rules)
      for (const Instruction &i : r.rhs)
        longest = std::max(longest, i.args.size() + 1);
    key.resize(longest);
    frameSize = numRegs;
    frames.resize(size_t(frameSize) * kBatch);
    batches.resize(rules.size());
    for (const Rule &r : rules) {
      batchBegin.push_back(batchRegs.size());
      batchRegs.resize(batchRegs.size() + r.numStored() * kBatch);
    }
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

  /// What natives make is seen only after it is made, so it is made at once.
  bool isStaged(const Rule &r) const { return options.staged && !r.creates; }

  void load(const Rule &rule, const uint32_t *stored);
  bool evaluate(const Instruction &i, uint32_t *frame);
  /// Children and payload of the node that the instruction names.
  uint32_t *keyOf(const Instruction &i) {
    uint32_t *k = key.data();
    for (Reg r : i.args)
      *k++ = frame[r];
    *k = frame[i.b];
    return key.data();
  }
  /// How much of what a match says the graph has already.
  enum class Presence : uint8_t {
    All,     ///< everything, or the right side does not exist
    Ripe,    ///< what is missing stands on what was there before the round
    Unripe,  ///< it stands on nodes that this round made
    Absent,  ///< intermediate nodes are missing
    Unknown, ///< still looking
  };
  /// Matches of one rule that are looked up together, so that they wait for
  /// memory together.
  static constexpr uint32_t kBatch = 32;
  struct Batch {
    uint32_t size = 0;
    NodeRef roots[kBatch];
  };
  void examine(RuleId id);
  void lookUp(const Rule &rule, const Instruction &i, uint32_t n);
  void take(RuleId id, Presence p, const uint32_t *regs, NodeRef root);
  void apply(RuleId id, const uint32_t *stored);
  void flush(RuleId id);
  bool runRound(Stratum stratum);
  bool overTime() const {
    return !alone && secondsSince(start) > options.maxSeconds;
  }

  EGraph &graph;
  std::span<const Rule> rules;
  std::span<Native> natives;
  const RunnerOptions &options;
  std::unique_ptr<Matcher> matcher;
  std::vector<State> states;
  std::vector<Batch> batches;
  /// Stored registers of the batches, and where those of a rule begin.
  std::vector<uint32_t> batchRegs;
  std::vector<uint32_t> batchBegin;
  /// Of the batch that is being examined.
  std::vector<uint32_t> frames, keys;
  uint32_t frameSize = 0;
  Presence presence[kBatch];
  bool unripe[kBatch];
  /// Root rows of matches that are not finished.
  std::vector<NodeRef> comeBack;
  /// Classes from here on are of this round.
  ClassId firstOfRound = 0;
  std::vector<Matcher::Query> queries;
  std::vector<uint32_t> frame;
  std::vector<uint32_t> scratch, key;
  std::vector<Field> fields;
  RunReport report;
  Clock::time_point start = Clock::now();
  uint64_t pendingWords = 0;
  uint64_t useful = 0;
  uint32_t ticks = 0;
  bool stopped = false;
  /// Only the rules of the stratum itself run.
  bool alone = false;
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
bool Runner::evaluate(const Instruction &i, uint32_t *frame) {
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
  return natives[i.a].call(scratch, frame + i.dst, graph.round());
}

/// One node of the right side, for all matches of the batch that are undecided.
void Runner::lookUp(const Rule &rule, const Instruction &i, uint32_t n) {
  const Table &t = graph.table(i.a);
  const uint32_t size = t.keySize();
  if (keys.size() < size * kBatch)
    keys.resize(size * kBatch);
  uint64_t hashes[kBatch];
  uint8_t list[kBatch];
  uint32_t count = 0;
  for (uint32_t m = 0; m != n; ++m) {
    if (presence[m] != Presence::Unknown)
      continue;
    const uint32_t *frame = frames.data() + m * frameSize;
    uint32_t *k = keys.data() + count * size;
    for (uint32_t a = 0; a != size - 1; ++a)
      k[a] = frame[i.args[a]];
    k[size - 1] = frame[i.b];
    if (t.isCommutative() && k[0] > k[1])
      std::swap(k[0], k[1]);
    hashes[count] = t.hash(k);
    t.prefetchSlot(hashes[count]);
    list[count++] = m;
  }
  for (uint32_t l = 0; l != count; ++l)
    t.prefetchRow(hashes[l]);
  for (uint32_t l = 0; l != count; ++l) {
    uint32_t m = list[l];
    uint32_t *frame = frames.data() + m * frameSize;
    uint32_t row = t.find(keys.data() + l * size, hashes[l]);
    if (row == kNone) {
      presence[m] = i.into == kNone ? Presence::Absent
                    : unripe[m]     ? Presence::Unripe
                                    : Presence::Ripe;
      continue;
    }
    ClassId c = t.classOf(row);
    frame[i.dst] = c;
    unripe[m] |= c >= firstOfRound;
    if (i.into != kNone && c != frame[i.into] &&
        graph.find(c) != graph.find(frame[i.into]))
      presence[m] = Presence::Ripe;
  }
}

/// Decides about the batch of a rule.
void Runner::examine(RuleId id) {
  const Rule &rule = rules[id];
  Batch &batch = batches[id];
  const uint32_t n = batch.size, stored = rule.numStored();
  const uint32_t *in = batchRegs.data() + batchBegin[id];
  for (uint32_t m = 0; m != n; ++m) {
    uint32_t *frame = frames.data() + m * frameSize;
    for (uint32_t i = 0; i != stored; ++i)
      frame[i] = in[m * stored + i];
    for (uint32_t i = 0; i != rule.constants.size(); ++i)
      frame[stored + i] = rule.constants[i];
    presence[m] = Presence::Unknown;
    unripe[m] = false;
  }
  for (const Instruction &i : rule.rhs) {
    if (i.kind == Instruction::Node) {
      lookUp(rule, i, n);
      continue;
    }
    for (uint32_t m = 0; m != n; ++m)
      if (presence[m] == Presence::Unknown) {
        if (i.creates)
          presence[m] = Presence::Absent;
        else if (!evaluate(i, frames.data() + m * frameSize))
          presence[m] = Presence::All; // there is nothing to add
      }
  }
  for (uint32_t m = 0; m != n; ++m) {
    const uint32_t *frame = frames.data() + m * frameSize;
    if (presence[m] == Presence::Unknown) {
      presence[m] = Presence::All;
      for (auto [a, b] : rule.unions)
        if (graph.find(frame[a]) != graph.find(frame[b]))
          presence[m] = Presence::Ripe;
    }
    if (presence[m] != Presence::All)
      take(id, presence[m], in + m * stored, batch.roots[m]);
  }
  batch.size = 0;
}

void Runner::apply(RuleId id, const uint32_t *stored) {
  const Rule &rule = rules[id];
  RuleReport &r = report.rules[id];
  load(rule, stored);
  graph.currentRule = id;
  uint64_t before = graph.numNodes();
  bool merged = false, finished = true;
  auto note = [&](Merge m) {
    merged |= m == Merge::Merged;
    r.refused += m == Merge::Refused;
  };
  for (const Instruction &i : rule.rhs) {
    if (i.kind != Instruction::Node) {
      if (!evaluate(i, frame.data()))
        return;
      continue;
    }
    if (i.into != kNone) {
      if (graph.proofs)
        graph.proofs->applying(&i - rule.rhs.data(), frame);
      note(graph.addKeyInto(frame[i.into], i.a, keyOf(i), id));
    } else {
      frame[i.dst] = graph.addKey(i.a, keyOf(i), id);
      if (isStaged(rule) && frame[i.dst] >= firstOfRound) {
        finished = false;
        break;
      }
    }
    if (graph.limitHit() || graph.conflict())
      break;
  }
  if (finished && !graph.limitHit())
    for (auto &pair : rule.unions)
      if (!graph.conflict()) {
        if (graph.proofs)
          graph.proofs->applying(rule.rhs.size() + (&pair - &rule.unions[0]),
                                 frame);
        note(graph.unite(frame[pair.first], frame[pair.second], id));
      }
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
  ++report.rules[id].matches;
  if (states[id].overflow)
    return;
  Batch &batch = batches[id];
  uint32_t n = rule.numStored();
  uint32_t *to = batchRegs.data() + batchBegin[id] + batch.size * n;
  for (uint32_t i = 0; i != n; ++i)
    to[i] = regs[rule.stored[i]];
  batch.roots[batch.size] = matcher->currentRoot();
  if (++batch.size == kBatch)
    examine(id);
}

/// Keeps a match that says something new.
void Runner::take(RuleId id, Presence p, const uint32_t *regs, NodeRef root) {
  const Rule &rule = rules[id];
  State &s = states[id];
  if (s.overflow)
    return;
  if (isStaged(rule) && p > Presence::Ripe) {
    // Come back when what the round makes has been compared.
    if (comeBack.empty() || comeBack.back() != root)
      comeBack.push_back(root);
    if (p == Presence::Unripe)
      return;
  }
  if (uint64_t limit = limitOf(id); limit && s.count == limit) {
    // Too much at once: none of it is added.
    s.overflow = true;
    pendingWords -= s.pending.size();
    s.pending.clear();
    s.count = 0;
    return;
  }
  uint32_t n = rule.numStored();
  s.pending.insert(s.pending.end(), regs, regs + n);
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
bool Runner::runRound(Stratum stratum) {
  uint32_t round = report.iterations.size();
  uint32_t visible = graph.round() - 1;
  bool banned = false;
  for (RuleId id = 0; id != rules.size(); ++id) {
    bool away = states[id].bannedUntil > round;
    bool heard =
        alone ? rules[id].stratum == stratum : rules[id].stratum <= stratum;
    queries[id].active = report.rules[id].admitted && heard && !away;
    queries[id].since = options.incremental ? states[id].since : 0;
    banned |= away;
  }
  useful = 0;
  double applied = report.applySeconds;
  auto begin = Clock::now();
  firstOfRound = graph.numClassIds();
  matcher->run(graph, queries, *this);
  for (RuleId id = 0; id != rules.size(); ++id)
    examine(id);
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
  std::vector<double> shares = matcher->workShares();
  for (RuleId id = 0; id != rules.size(); ++id)
    report.rules[id].matchSeconds += matching * shares[id];

  for (NodeRef root : comeBack)
    graph.touch(root);
  comeBack.clear();
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
  } else if (!stopped && !alone && changed &&
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
  matcher = std::make_unique<Matcher>(rules, natives);
  bool consistent = graph.rebuild();
  if (!consistent)
    report.stop = StopReason::Conflict;
  unsigned reached = 0;
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
    reached = s;
    while (runRound(Stratum(s)))
      ;
  }
  // A limit that stopped the search must not leave the program without code:
  // the lowering rules alone then say what they have to say about what is
  // there. They build nothing on each other, so a few rounds do.
  bool lowers = std::any_of(rules.begin(), rules.end(), [](const Rule &r) {
    return r.stratum == Stratum::Lowering;
  });
  if (stopped && report.stop != StopReason::Conflict && lowers &&
      reached < unsigned(Stratum::Lowering)) {
    constexpr unsigned kRounds = 4, kRoom = 4;
    StopReason why = report.stop;
    stopped = false;
    alone = true;
    graph.setLimits({graph.numNodes() * kRoom, graph.bytes() * kRoom});
    for (State &s : states)
      s.bannedUntil = 0;
    for (unsigned i = 0; i != kRounds && runRound(Stratum::Lowering); ++i)
      ;
    if (report.stop != StopReason::Conflict)
      report.stop = why;
  }
  graph.setLimits({});
  report.nodes = graph.numNodes();
  report.classes = graph.numClasses();
  report.bytes = graph.bytes();
  report.seconds = secondsSince(start);
  return std::move(report);
}

RunReport luminal::eqsat::saturate(EGraph &graph, std::span<const Rule> rules,
                                   std::span<Native> natives,
                                   const RunnerOptions &options) {
  return Runner(graph, rules, natives, options).run();
}
