//===- Matcher.cpp - Matching of all rules --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/EqSat/Core/Matcher.h"

#include <algorithm>

using namespace luminal::eqsat;

MatchSink::~MatchSink() = default;

/// Number of levels below a class that are checked for new rows; patterns that
/// reach deeper are always entered.
static constexpr uint32_t kMaxLevels = 4;

/// Number of rows between two checks of the clock, and the number of rows that
/// a call of a native function counts as.
static constexpr uint32_t kWorkBetween = 4096, kNativeWork = 64;

//===----------------------------------------------------------------------===//
// The trie
//===----------------------------------------------------------------------===//

Matcher::Matcher(std::span<const Rule> rules, std::span<Native> natives)
    : natives(natives), numRules(rules.size()) {
  uint32_t numRegs = 0;
  size_t numArgs = 0;
  for (RuleId id = 0; id != rules.size(); ++id) {
    insert(id, rules[id]);
    numRegs = std::max(numRegs, rules[id].numMatchRegs);
    for (const Atom &a : rules[id].lhs)
      numArgs = std::max(numArgs, a.args.size());
  }
  regs.resize(numRegs);
  nativeArgs.resize(numArgs);
  for (Node &n : nodes)
    findTail(n, rules);
}

/// For each register, the atom that writes it.
static std::vector<uint32_t> bindersOf(const Rule &rule) {
  std::vector<uint32_t> binder(rule.numMatchRegs, 0);
  for (uint32_t i = 0; i != rule.lhs.size(); ++i) {
    const Atom &a = rule.lhs[i];
    uint32_t n = 0;
    switch (a.kind) {
    case Atom::Enter:
      n = a.count + 1;
      break;
    case Atom::Native:
      n = a.count;
      break;
    case Atom::Field:
    case Atom::NodeType:
    case Atom::ClassType:
      n = 1;
      break;
    case Atom::Equal:
    case Atom::Is:
      break;
    }
    for (uint32_t k = 0; k != n; ++k)
      binder[a.dst + k] = i;
  }
  return binder;
}

void Matcher::insert(RuleId id, const Rule &rule) {
  const std::vector<Atom> &atoms = rule.lhs;
  assert(!atoms.empty() && atoms[0].kind == Atom::Enter);
  // Compute how many levels the pattern reaches below each class register.
  // Children are entered after their parents, so iterate backwards.
  std::vector<uint32_t> height(rule.numMatchRegs, 0);
  std::vector<uint32_t> binder = bindersOf(rule);
  for (size_t i = atoms.size(); i-- != 0;) {
    const Atom &a = atoms[i];
    if (a.kind == Atom::Enter) {
      uint32_t below = 0;
      for (uint32_t k = 0; k != a.count; ++k)
        below = std::max(below, height[a.dst + k]);
      height[a.a] = std::max(height[a.a], below + 1);
    }
    for (Reg r : a.classArgs)
      height[r] = std::max(height[r], 1u);
  }

  uint32_t parent = kNone;
  for (size_t i = 0; i != atoms.size(); ++i) {
    uint32_t at = kNone;
    for (uint32_t n : parent == kNone ? roots : nodes[parent].next)
      if (nodes[n].atom == atoms[i])
        at = n;
    if (at == kNone) {
      at = nodes.size();
      nodes.emplace_back();
      nodes[at].atom = atoms[i];
      (parent == kNone ? roots : nodes[parent].next).push_back(at);
    }
    Node &node = nodes[at];
    node.rules.push_back(id);
    auto wait = [&](Reg r) {
      if (i == 0 || binder[r] >= i)
        return;
      maxHeight = std::max(maxHeight, height[r]);
      for (Pending &p : node.pending)
        if (p.reg == r) {
          p.height = std::max(p.height, height[r]);
          return;
        }
      node.pending.push_back({r, height[r]});
    };
    for (size_t j = i; j != atoms.size(); ++j) {
      if (atoms[j].kind == Atom::Enter)
        wait(atoms[j].a);
      for (Reg r : atoms[j].classArgs)
        wait(r);
    }
    parent = at;
  }
  nodes[parent].accepts.push_back(id);
}

/// Maximum number of words of a row, and of tests, that a batch handles.
static constexpr uint32_t kMaxColumns = 8;

void Matcher::findTail(Node &n, std::span<const Rule> rules) {
  if (n.atom.kind != Atom::Enter)
    return;
  Tail tail;
  std::vector<Reg> written;
  auto source = [&](Reg r) -> Source {
    if (r >= n.atom.dst && r - n.atom.dst <= n.atom.count) {
      uint32_t word = r - n.atom.dst;
      if (std::find(tail.words.begin(), tail.words.end(), word) ==
          tail.words.end())
        tail.words.push_back(word);
      return {Source::Word, word};
    }
    for (uint32_t i = 0; i != written.size(); ++i)
      if (written[i] == r)
        return {Source::Column, i};
    return {Source::Register, r};
  };
  const Node *at = &n;
  while (at->accepts.empty()) {
    if (at->next.size() != 1)
      return;
    at = &nodes[at->next[0]];
    const Atom &a = at->atom;
    if (a.kind == Atom::Enter || a.kind == Atom::Native)
      return;
    Tail::Test test{a.kind, source(a.a), {}, a.b};
    if (a.kind == Atom::Equal)
      test.b = source(a.b);
    tail.tests.push_back(test);
    written.push_back(a.kind == Atom::Equal || a.kind == Atom::Is ? kNone
                                                                  : a.dst);
  }
  if (at->accepts.size() != 1 || !at->next.empty())
    return;
  tail.rule = at->accepts[0];
  for (Reg r : rules[tail.rule].stored)
    tail.stored.push_back(source(r));
  if (n.atom.count >= kMaxColumns || tail.tests.size() > kMaxColumns)
    return;
  n.tail = tails.size();
  tails.push_back(std::move(tail));
}

//===----------------------------------------------------------------------===//
// One run
//===----------------------------------------------------------------------===//

void Matcher::prepare(const EGraph &g, std::span<const Query> q) {
  graph = &g;
  queries = q;
  bool incremental = false;
  for (Node &n : nodes) {
    n.live = false;
    n.since = kNone;
    n.work = 0;
    for (RuleId r : n.rules)
      if (q[r].active) {
        n.live = true;
        n.since = std::min(n.since, q[r].since);
      }
    incremental |= n.live && n.since != 0;
  }
  levels.clear();
  if (!incremental)
    return;
  uint32_t numLevels = std::min(maxHeight, kMaxLevels);
  levels.resize(numLevels);
  for (uint32_t h = 0; h != numLevels; ++h) {
    std::vector<uint32_t> &level = levels[h];
    level.resize(g.numClassIds());
    for (ClassId c = 0; c != level.size(); ++c)
      level[c] = g.classStamp(c);
    if (h == 0)
      continue;
    const std::vector<uint32_t> &below = levels[h - 1];
    for (OpId op = 0; op != g.numOps(); ++op) {
      const Table &t = g.table(op);
      for (uint32_t row = 0, e = t.numFrozen(); row != e; ++row) {
        const uint32_t *key = t.key(row);
        uint32_t &mine = level[t.classOf(row)];
        for (uint32_t i = 0; i != t.arity(); ++i)
          mine = std::max(mine, below[key[i]]);
      }
    }
  }
}

/// Counts the work of matching in rows visited, and asks the sink at intervals
/// whether to continue. A stop leaves the trie from every depth.
inline void Matcher::spend(uint32_t work) {
  spent += work;
  if (spent < kWorkBetween)
    return;
  spent = 0;
  if (!sink->between())
    for (Node &n : nodes)
      n.live = false;
}

/// Whether a branch that has bound only old rows can still reach a new row.
bool Matcher::young(const Node &n) const {
  for (const Pending &p : n.pending)
    if (p.height > kMaxLevels || levels[p.height - 1][regs[p.reg]] > n.since)
      return true;
  return false;
}

inline void Matcher::accept(RuleId rule) {
  MatchBuffer &buffer = buffers[rule];
  uint32_t *to = buffer.columns.data() + buffer.size;
  for (Reg r : buffer.stored) {
    *to = regs[r];
    to += MatchBuffer::kCapacity;
  }
  buffer.roots[buffer.size] = root;
  if (++buffer.size == MatchBuffer::kCapacity)
    sink->full(rule);
}

/// Whether anything new can be found below this trie node.
inline bool Matcher::worth(const Node &n, uint32_t stamp) const {
  return n.live && (stamp > n.since || young(n));
}

/// Continues after an atom that holds. Most rules are a sequence of tests,
/// which this loop runs without recursion.
void Matcher::after(const Node &first, uint32_t stamp) {
  for (const Node *n = &first;;) {
    for (RuleId r : n->accepts)
      if (queries[r].active && stamp > queries[r].since)
        accept(r);
    if (n->next.empty())
      return;
    for (size_t i = 0; i + 1 != n->next.size(); ++i)
      if (const Node &next = nodes[n->next[i]]; worth(next, stamp))
        step(next, stamp);
    n = &nodes[n->next.back()];
    if (!worth(*n, stamp))
      return;
    if (n->atom.kind == Atom::Enter)
      return enter(*n, stamp);
    if (!holds(*n, stamp))
      return;
  }
}

void Matcher::step(const Node &n, uint32_t stamp) {
  if (n.atom.kind == Atom::Enter)
    enter(n, stamp);
  else if (holds(n, stamp))
    after(n, stamp);
}

/// `K` is the number that `Table::sized` passes.
template <uint32_t K>
inline void Matcher::enterRow(const Node &n, const Table &t, uint32_t row,
                              uint32_t stamp) {
  const uint32_t *key = t.key(row);
  uint32_t *to = regs.data() + n.atom.dst;
  for (uint32_t i = 0, e = K ? K : t.keySize(); i != e; ++i)
    to[i] = key[i];
  after(n, stamp);
  if (t.isCommutative() && to[0] != to[1]) {
    std::swap(to[0], to[1]);
    after(n, stamp);
  }
}

void Matcher::enter(const Node &n, uint32_t stamp) {
  for (const Run &run : graph->runs(regs[n.atom.a])) {
    if (run.op != n.atom.b)
      continue;
    n.work += run.end - run.begin;
    spend(run.end - run.begin);
    const Table &t = graph->table(run.op);
    constexpr uint32_t kFew = 4;
    if (n.tail != kNone && run.end - run.begin >= kFew && !t.isCommutative())
      return enterTogether(tails[n.tail], t, run.begin, run.end, stamp);
    t.sized([&](auto K) {
      for (uint32_t row = run.begin; row != run.end; ++row)
        enterRow<K>(n, t, row, std::max(stamp, t.stamp(row)));
    });
    return;
  }
}

/// Matches a run of rows against the tail of a rule, in batches.
void Matcher::enterTogether(const Tail &tail, const Table &t, uint32_t begin,
                            uint32_t end, uint32_t stamp) {
  constexpr uint32_t kTogether = MatchBuffer::kCapacity;
  const uint32_t since = queries[tail.rule].since;
  MatchBuffer &buffer = buffers[tail.rule];
  uint32_t words[kMaxColumns][kTogether], columns[kMaxColumns][kTogether];
  uint16_t list[kTogether];
  for (; begin != end; begin += std::min(kTogether, end - begin)) {
    const uint32_t count = std::min(kTogether, end - begin);
    uint32_t size = 0;
    if (stamp > since)
      for (; size != count; ++size)
        list[size] = size;
    else
      for (uint32_t i = 0; i != count; ++i) {
        list[size] = i;
        size += t.stamp(begin + i) > since;
      }
    if (size == 0)
      continue;
    for (uint32_t w : tail.words) {
      const uint32_t *from = t.key(begin) + w;
      for (uint32_t i = 0; i != count; ++i, from += t.rowSize())
        words[w][i] = *from;
    }
    auto value = [&](Source s, uint32_t i) {
      switch (s.kind) {
      case Source::Register:
        return regs[s.index];
      case Source::Word:
        return words[s.index][i];
      case Source::Column:
        return columns[s.index][i];
      }
      return kNone;
    };
    for (uint32_t k = 0; k != tail.tests.size(); ++k) {
      const Tail::Test &test = tail.tests[k];
      uint32_t kept = 0;
      auto filter = [&](auto &&holds) {
        for (uint32_t l = 0; l != size; ++l) {
          uint32_t i = list[l];
          list[kept] = i;
          kept += holds(i, value(test.a, i));
        }
      };
      switch (test.kind) {
      case Atom::Equal:
        filter([&](uint32_t i, uint32_t v) { return v == value(test.b, i); });
        break;
      case Atom::Is:
        filter([&](uint32_t, uint32_t v) { return v == test.constant; });
        break;
      case Atom::Field:
        filter([&](uint32_t i, uint32_t v) {
          columns[k][i] = graph->payloadField(v, test.constant);
          return columns[k][i] != kNone;
        });
        break;
      case Atom::NodeType:
        filter([&](uint32_t i, uint32_t v) {
          columns[k][i] = graph->payloadType(v);
          return true;
        });
        break;
      case Atom::ClassType:
        filter([&](uint32_t i, uint32_t v) {
          columns[k][i] = graph->classType(v);
          return true;
        });
        break;
      case Atom::Enter:
      case Atom::Native:
        break;
      }
      size = kept;
    }
    for (uint32_t done = 0; done != size;) {
      uint32_t n = std::min(size - done, MatchBuffer::kCapacity - buffer.size);
      uint32_t *to = buffer.columns.data() + buffer.size;
      for (Source s : tail.stored) {
        for (uint32_t l = 0; l != n; ++l)
          to[l] = value(s, list[done + l]);
        to += MatchBuffer::kCapacity;
      }
      std::fill_n(buffer.roots + buffer.size, n, root);
      done += n;
      buffer.size += n;
      if (buffer.size == MatchBuffer::kCapacity)
        sink->full(tail.rule);
    }
  }
}

/// Tests an atom other than `Enter`. Raises `stamp` if the atom reads classes
/// that changed later.
inline bool Matcher::holds(const Node &n, uint32_t &stamp) {
  const Atom &a = n.atom;
  uint32_t *r = regs.data();
  switch (a.kind) {
  case Atom::Enter:
    break;
  case Atom::Equal:
    return r[a.a] == r[a.b];
  case Atom::Is:
    return r[a.a] == a.b;
  case Atom::Field:
    r[a.dst] = graph->payloadField(r[a.a], a.b);
    return r[a.dst] != kNone;
  case Atom::NodeType:
    r[a.dst] = graph->payloadType(r[a.a]);
    break;
  case Atom::ClassType:
    r[a.dst] = graph->classType(r[a.a]);
    break;
  case Atom::Native: {
    ++n.work;
    spend(kNativeWork);
    uint32_t *args = nativeArgs.data();
    for (size_t i = 0; i != a.args.size(); ++i)
      args[i] = r[a.args[i]];
    for (Reg c : a.classArgs)
      stamp = std::max(stamp, graph->classStamp(r[c]));
    return natives[a.a].call({args, a.args.size()}, r + a.dst, graph->round());
  }
  }
  return true;
}

void Matcher::run(const EGraph &g, std::span<const Query> q,
                  std::span<MatchBuffer> b, MatchSink &s) {
  assert(q.size() == numRules && b.size() == numRules);
  prepare(g, q);
  buffers = b;
  sink = &s;
  spent = 0;
  for (uint32_t i : roots) {
    const Node &n = nodes[i];
    if (!n.live)
      continue;
    OpId op = n.atom.b;
    const Table &t = g.table(op);
    // Adding rows appends behind the frozen part and may reallocate the table.
    bool on = t.sized([&](auto K) {
      for (uint32_t row = 0, e = t.numFrozen(); row != e; ++row) {
        regs[n.atom.a] = t.classOf(row);
        root = {op, row};
        ++n.work;
        enterRow<K>(n, t, row, t.rootStamp(row));
        spend(1);
        if (!n.live)
          return false;
      }
      return true;
    });
    if (!on)
      return;
  }
}

std::vector<double> Matcher::workShares() const {
  std::vector<double> shares(numRules);
  double total = 0;
  for (const Node &n : nodes) {
    if (!n.work)
      continue;
    total += n.work;
    uint32_t active = 0;
    for (RuleId r : n.rules)
      active += queries[r].active;
    for (RuleId r : n.rules)
      if (queries[r].active)
        shares[r] += double(n.work) / active;
  }
  if (total != 0)
    for (double &s : shares)
      s /= total;
  return shares;
}
