//===- Runner.cpp - Rounds of matching and adding until nothing is new ----===//

#include "luminal/EqSat/Runner.h"
#include "luminal/EqSat/Matcher.h"
#include "luminal/EqSat/Proof.h"
#include "luminal/EqSat/Snapshot.h"

#include <algorithm>

using namespace luminal::eqsat;
using Clock = std::chrono::steady_clock;

const char *luminal::eqsat::stopReasonName(StopReason r) {
  constexpr const char *kNames[] = {"saturated",  "iteration-limit",
                                    "node-limit", "byte-limit",
                                    "time-limit", "conflict"};
  return kNames[unsigned(r)];
}

static double secondsSince(Clock::time_point t) {
  return std::chrono::duration<double>(Clock::now() - t).count();
}

namespace {

class Runner final : public MatchSink {
public:
  Runner(EGraph &graph, RuleSource &source, const RunnerOptions &options)
      : graph(graph), source(source), options(options) {}

  RunReport run();

  void full(RuleId id) override;
  bool between() override;

private:
  struct State {
    std::vector<uint32_t> pending; ///< stored registers of useful matches
    uint64_t count = 0;            ///< of them
    std::vector<uint32_t> again;   ///< of matches that are not finished
    uint32_t since = 0;            ///< round up to which it has matched
    uint32_t bannedUntil = 0;
    bool overflow = false;
    bool tookUp = false;  ///< matches that were not finished, in this round
    bool undone = false;  ///< sent away because of a limit
    uint64_t added = 0;   ///< nodes, when that happened
    uint32_t triedAt = 0; ///< state of the graph where it alone is too much
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

  /// Matches of one rule are looked up together, so that they wait for memory
  /// together. Behind the stored registers stand the constants, which never
  /// change, and what the right side computes.
  static constexpr uint32_t kBatch = MatchBuffer::kCapacity;
  /// Matches of a batch that are still looked at.
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
  void comeBackTo(RuleId id, uint32_t m);
  void takeUp(RuleId id);
  void flush(RuleId id);
  void updateRules();
  bool runRound(Stratum stratum);
  void matchRound();
  void undoRound(Snapshot &before, std::vector<RuleReport> counts);
  bool tryAgain(Stratum stratum);
  bool isHeard(RuleId id, Stratum stratum) const {
    return report.rules[id].admitted && (alone ? rules[id].stratum == stratum
                                               : rules[id].stratum <= stratum);
  }
  bool checkTime() {
    overTime |= Clock::now() > deadline;
    return overTime;
  }
  /// Whether nothing may be added to the graph any more.
  bool halted() const {
    return overTime || graph.limitHit() || graph.conflict();
  }
  void setDeadline(double seconds) {
    constexpr double kForever = 1e9;
    deadline = Clock::now() +
               std::chrono::duration_cast<Clock::duration>(
                   std::chrono::duration<double>(std::min(seconds, kForever)));
    overTime = false;
  }

  EGraph &graph;
  RuleSource &source;
  std::span<const Rule> rules;
  std::span<Native> natives;
  const RunnerOptions &options;
  std::unique_ptr<Matcher> matcher;
  std::vector<State> states;
  std::vector<MatchBuffer> batches;
  /// Of the nodes that were looked up: keys, one behind the other, their
  /// hashes, and their rows, or kNone.
  std::vector<uint32_t> keys;
  uint64_t hashes[kBatch];
  uint32_t rows[kBatch];
  /// Root rows of matches that are not finished.
  std::vector<NodeRef> comeBack;
  /// Classes from here on are of this round.
  ClassId firstOfRound = 0;
  std::vector<Matcher::Query> queries;
  std::vector<uint32_t> scratch, results;
  std::vector<Field> fields;
  RunReport report;
  Clock::time_point start = Clock::now(), deadline;
  uint64_t usefulInRound = 0;
  uint32_t numUndone = 0;
  StopReason limit = StopReason::Nodes; ///< that was hit last
  bool overTime = false;
  bool stopped = false;
  /// Only the rules of the stratum itself run.
  bool alone = false;
};

} // namespace

//===----------------------------------------------------------------------===//
// Right sides
//===----------------------------------------------------------------------===//

/// Payload and Native instructions, which say the same whenever they run.
bool Runner::evaluate(const Instruction &i, uint32_t *columns, uint32_t m) {
  auto reg = [&](Reg r) -> uint32_t & { return columns[r * kBatch + m]; };
  if (i.kind == Instruction::Payload) {
    fields.clear();
    for (size_t k = 0; k != i.args.size(); ++k)
      fields.push_back({i.names[k], reg(i.args[k])});
    reg(i.dst) = graph.getPayload(reg(i.b), fields);
    return true;
  }
  scratch.clear();
  for (Reg r : i.args)
    scratch.push_back(reg(r));
  results.resize(i.b);
  if (!natives[i.a].call(scratch, results.data(), graph.round()))
    return false;
  for (uint32_t k = 0; k != i.b; ++k)
    reg(i.dst + k) = results[k];
  return true;
}

/// The same for all matches of a list.
void Runner::evaluate(const Instruction &i, uint32_t *columns, const List &list,
                      List &holds) {
  if (i.kind == Instruction::Native) {
    holds.size =
        natives[i.a].call(columns, kBatch, i.args, i.dst,
                          {list.items, list.size}, holds.items, graph.round());
    return;
  }
  holds = list;
  if (i.args.empty()) {
    for (uint32_t m : list)
      columns[i.dst * kBatch + m] =
          graph.getPayload(columns[i.b * kBatch + m], {});
    return;
  }
  for (uint32_t m : list)
    evaluate(i, columns, m);
}

/// Looks up the node that the instruction names for each match of the list.
void Runner::lookUp(const Instruction &i, const uint32_t *columns,
                    const List &list) {
  const Table &t = graph.table(i.a);
  if (keys.size() < t.keySize() * kBatch)
    keys.resize(t.keySize() * kBatch);
  t.sized([&](auto K) { lookUp<K>(t, i, columns, list); });
}

template <uint32_t K>
void Runner::lookUp(const Table &t, const Instruction &i,
                    const uint32_t *columns, const List &list) {
  const uint32_t size = K ? K : t.keySize();
  const uint32_t *payloads = columns + i.b * kBatch;
  const RowSlots slots = t.slots();
  const bool commutative = t.isCommutative();
  uint32_t *k = keys.data();
  if constexpr (K != 0) {
    const uint32_t *from[K];
    for (uint32_t a = 0; a != K - 1; ++a)
      from[a] = columns + i.args[a] * kBatch;
    from[K - 1] = payloads;
    for (uint32_t l = 0; l != list.size; ++l, k += K) {
      // In registers: memory written in parts is slow to read as a whole.
      uint32_t key[K];
      for (uint32_t a = 0; a != K; ++a)
        key[a] = from[a][list.items[l]];
      if (commutative && key[0] > key[1])
        std::swap(key[0], key[1]);
      hashes[l] = t.template hash<K>(key);
      slots.prefetch(hashes[l]);
      std::copy(key, key + K, k);
    }
  } else {
    for (uint32_t l = 0; l != list.size; ++l, k += size) {
      for (uint32_t a = 0; a != size - 1; ++a)
        k[a] = columns[i.args[a] * kBatch + list.items[l]];
      k[size - 1] = payloads[list.items[l]];
      hashes[l] = t.template hash<K>(k);
      slots.prefetch(hashes[l]);
    }
  }
  for (uint32_t l = 0; l != list.size; ++l) {
    rows[l] = slots.candidate(hashes[l]);
    if (rows[l] != kNone)
      __builtin_prefetch(t.key(rows[l]));
  }
  k = keys.data();
  for (uint32_t l = 0; l != list.size; ++l, k += size)
    if (rows[l] != kNone && !t.template hasKey<K>(rows[l], k)) [[unlikely]]
      rows[l] = t.template find<K>(k, hashes[l]);
}

/// Keeps those matches of the batch that say something which the graph does
/// not have.
void Runner::examine(RuleId id) {
  const Rule &rule = rules[id];
  MatchBuffer &batch = batches[id];
  uint32_t *columns = batch.columns.data();
  List list;
  bool missing[kBatch] = {}, unripe[kBatch] = {}, absent[kBatch] = {};
  for (uint32_t m = 0; m != batch.size; ++m)
    list.push(m);
  for (const Instruction &i : rule.rhs) {
    List rest;
    if (i.kind == Instruction::Node) {
      lookUp(i, columns, list);
      for (uint32_t l = 0; l != list.size; ++l) {
        uint32_t m = list.items[l];
        if (rows[l] == kNone) {
          missing[m] = true;
          absent[m] = i.into == kNone;
          continue;
        }
        ClassId c = graph.table(i.a).classOf(rows[l]);
        unripe[m] |= c >= firstOfRound;
        if (i.into == kNone) {
          columns[i.dst * kBatch + m] = c;
        } else if (ClassId into = columns[i.into * kBatch + m];
                   c != into && graph.find(c) != graph.find(into)) {
          missing[m] = true;
          continue;
        }
        rest.push(m);
      }
    } else {
      if (!i.creates)
        evaluate(i, columns, list, rest); // else there is nothing to add
      else
        for (uint32_t m : list)
          missing[m] = absent[m] = true;
    }
    list = rest;
  }
  for (uint32_t m : list)
    for (auto [a, b] : rule.unions)
      missing[m] |= graph.find(columns[a * kBatch + m]) !=
                    graph.find(columns[b * kBatch + m]);
  for (uint32_t m = 0; m != batch.size; ++m) {
    if (!missing[m] || states[id].overflow)
      continue;
    // What stands on nodes of this round waits until those are compared.
    if (isStaged(rule) && (absent[m] || unripe[m]))
      comeBackTo(id, m);
    if (!isStaged(rule) || absent[m] || !unripe[m])
      keep(id, m);
  }
  batch.size = 0;
}

/// Sees to it that the next round looks at the match again: by itself where
/// that is known to be enough, else with all that its root row matches.
void Runner::comeBackTo(RuleId id, uint32_t m) {
  constexpr size_t kMaxWords = size_t(1) << 22;
  const Rule &rule = rules[id];
  const MatchBuffer &batch = batches[id];
  std::vector<uint32_t> &again = states[id].again;
  if (!batch.roots[m] || (options.incremental && rule.lasting && !limitOf(id) &&
                          again.size() < kMaxWords)) {
    for (uint32_t r = 0; r != rule.numStored(); ++r)
      again.push_back(batch.columns[r * kBatch + m]);
    return;
  }
  if (comeBack.empty() || comeBack.back() != batch.roots[m])
    comeBack.push_back(batch.roots[m]);
}

/// Looks again at the matches that the last round did not finish.
void Runner::takeUp(RuleId id) {
  const Rule &rule = rules[id];
  MatchBuffer &batch = batches[id];
  std::vector<uint32_t> list;
  list.swap(states[id].again);
  for (auto it = list.begin(); it != list.end();) {
    for (uint32_t r = 0; r != rule.numStored(); ++r, ++it)
      batch.columns[r * kBatch + batch.size] =
          r < rule.numStoredClasses ? graph.find(*it) : *it;
    batch.roots[batch.size] = NodeRef();
    if (++batch.size == kBatch)
      full(id);
  }
}

/// Keeps a match until the end of the round.
void Runner::keep(RuleId id, uint32_t m) {
  State &s = states[id];
  if (s.count == limitOf(id)) {
    // Too much at once: none of it is added.
    s.overflow = true;
    s.pending.clear();
    s.count = 0;
    return;
  }
  for (uint32_t r = 0; r != rules[id].numStored(); ++r)
    s.pending.push_back(batches[id].columns[r * kBatch + m]);
  ++s.count;
}

/// Tells the log of proofs by which match the next union is made.
void Runner::log(RuleId id, uint32_t part, uint32_t m) {
  if (!graph.proofs)
    return;
  scratch.clear();
  for (uint32_t r = 0; r != rules[id].numRegs; ++r)
    scratch.push_back(batches[id].columns[r * kBatch + m]);
  graph.proofs->applying(part, scratch);
}

/// One node of the right side for each match of the list, which keeps those
/// that go on.
void Runner::applyNode(RuleId id, const Instruction &i, List &list,
                       uint8_t *useful) {
  RuleReport &r = report.rules[id];
  uint32_t *columns = batches[id].columns.data();
  const Table &t = graph.table(i.a);
  const ClassId late = isStaged(rules[id]) ? firstOfRound : kNone;
  lookUp(i, columns, list);
  List rest;
  // Hashes of what this call inserts, as far as their highest bits tell.
  uint64_t inserted[8] = {};
  auto bit = [&](uint32_t l) { return uint64_t(1) << (hashes[l] >> 58); };
  auto word = [&](uint32_t l) -> uint64_t & {
    return inserted[hashes[l] >> 55 & 7];
  };
  for (uint32_t l = 0; l != list.size; ++l) {
    uint32_t m = list.items[l], row = rows[l];
    if (row == kNone && (word(l) & bit(l)))
      row = t.find(keys.data() + l * t.keySize(), hashes[l]);
    ClassId c = row == kNone ? kNone : t.classOf(row);
    if (i.into == kNone) {
      if (row == kNone) {
        c = graph.insert(i.a, keys.data() + l * t.keySize(), hashes[l], id);
        if (c == kNone) // a limit
          break;
        word(l) |= bit(l);
        useful[m] = true;
        ++r.newNodes;
      }
      columns[i.dst * kBatch + m] = c;
      if (c >= late)
        comeBackTo(id, m);
      else
        rest.push(m);
      continue;
    }
    rest.push(m);
    ClassId into = columns[i.into * kBatch + m];
    if (c == into)
      continue;
    if (graph.limitHit() || graph.conflict())
      break;
    log(id, &i - rules[id].rhs.data(), m);
    Merge merge = row == kNone ? graph.insertInto(into, i.a,
                                                  keys.data() + l * t.keySize(),
                                                  hashes[l], id)
                               : graph.unite(into, c, id);
    if (merge == Merge::Merged) {
      useful[m] = true;
      ++r.unions;
      r.newNodes += row == kNone;
    }
    if (row == kNone)
      word(l) |= bit(l);
    r.refused += merge == Merge::Refused;
  }
  list = rest;
}

/// Adds what the matches of the batch say.
void Runner::apply(RuleId id) {
  const Rule &rule = rules[id];
  RuleReport &r = report.rules[id];
  MatchBuffer &batch = batches[id];
  uint32_t *columns = batch.columns.data();
  auto begin = Clock::now();
  graph.currentRule = id;
  uint8_t useful[kBatch] = {};
  List list;
  for (uint32_t m = 0; m != batch.size; ++m)
    list.push(m);
  batch.size = 0;
  for (const Instruction &i : rule.rhs) {
    if (i.kind == Instruction::Node) {
      applyNode(id, i, list, useful);
      continue;
    }
    List rest;
    if (!i.creates) {
      evaluate(i, columns, list, rest);
      list = rest;
      continue;
    }
    for (uint32_t m : list) {
      if (checkTime() || halted())
        break;
      uint64_t before = graph.numNodes();
      if (evaluate(i, columns, m))
        rest.push(m);
      useful[m] |= graph.numNodes() != before;
      r.newNodes += graph.numNodes() - before;
    }
    list = rest;
  }
  for (uint32_t m : list)
    for (size_t u = 0; u != rule.unions.size(); ++u) {
      if (graph.limitHit() || graph.conflict())
        break;
      auto [a, b] = rule.unions[u];
      log(id, rule.rhs.size() + u, m);
      Merge merge =
          graph.unite(columns[a * kBatch + m], columns[b * kBatch + m], id);
      useful[m] |= merge == Merge::Merged;
      r.unions += merge == Merge::Merged;
      r.refused += merge == Merge::Refused;
    }
  uint64_t count = std::count(useful, useful + kBatch, 1);
  r.useful += count;
  usefulInRound += count;
  double spent = secondsSince(begin);
  r.applySeconds += spent;
  report.applySeconds += spent;
}

/// Applies what was kept.
void Runner::flush(RuleId id) {
  State &s = states[id];
  MatchBuffer &batch = batches[id];
  uint32_t n = rules[id].numStored();
  for (uint64_t i = 0; i != s.count && !checkTime() && !halted();) {
    for (; i != s.count && batch.size != kBatch; ++i, ++batch.size)
      for (uint32_t r = 0; r != n; ++r)
        batch.columns[r * kBatch + batch.size] = s.pending[i * n + r];
    apply(id);
  }
  s.pending.clear();
  s.count = 0;
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
