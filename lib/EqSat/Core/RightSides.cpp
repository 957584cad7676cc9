//===- RightSides.cpp - Applying the matches of a rule --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Handles the matches of one rule in batches, whose lookups overlap.
//
//===----------------------------------------------------------------------===//

#include "RunnerImpl.h"
#include "luminal/EqSat/Core/Proof.h"

using namespace luminal::eqsat;

/// Evaluates Payload and Native instructions, whose results do not depend on
/// when they run.
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

/// Evaluates the instruction for all matches of a list.
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

/// Looks up the node that the instruction describes, for each match of the
/// list.
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
      // Build the key in registers: reading words back from just written memory
      // would stall on store forwarding.
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

/// Keeps those matches of the batch whose right side the graph does not contain
/// yet.
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
      // A native that adds nodes runs only when the match is applied.
      if (!i.creates)
        evaluate(i, columns, list, rest);
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
    // A match built on nodes of this round waits until these are canonicalised.
    if (isStaged(rule) && (absent[m] || unripe[m]))
      revisit(id, m);
    if (!isStaged(rule) || absent[m] || !unripe[m])
      keep(id, m);
  }
  batch.size = 0;
}

/// Makes the next round examine the match again: the match alone if it is
/// lasting, otherwise all matches of its root row.
void Runner::revisit(RuleId id, uint32_t m) {
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
  if (revisited.empty() || revisited.back() != batch.roots[m])
    revisited.push_back(batch.roots[m]);
}

/// Examines the matches that the last round left unfinished.
void Runner::resume(RuleId id) {
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

/// Stores a match until the end of the round.
void Runner::keep(RuleId id, uint32_t m) {
  State &s = states[id];
  if (s.count == limitOf(id)) {
    // The rule exceeds its limit: drop all its matches of the round.
    s.overflow = true;
    s.pending.clear();
    s.count = 0;
    return;
  }
  for (uint32_t r = 0; r != rules[id].numStored(); ++r)
    s.pending.push_back(batches[id].columns[r * kBatch + m]);
  ++s.count;
}

/// Tells the proof log which match makes the next union.
void Runner::log(RuleId id, uint32_t part, uint32_t m) {
  if (!graph.proofs)
    return;
  scratch.clear();
  for (uint32_t r = 0; r != rules[id].numRegs; ++r)
    scratch.push_back(batches[id].columns[r * kBatch + m]);
  graph.proofs->applying(part, scratch);
}

/// Makes one node of the right side for each match of the list, and leaves in
/// the list the matches that continue.
void Runner::applyNode(RuleId id, const Instruction &i, List &list,
                       uint8_t *useful) {
  RuleReport &r = report.rules[id];
  uint32_t *columns = batches[id].columns.data();
  const Table &t = graph.table(i.a);
  const ClassId late = isStaged(rules[id]) ? firstOfRound : kNone;
  lookUp(i, columns, list);
  List rest;
  // A small Bloom filter of the hashes that this call inserted, by their top
  // bits.
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
        if (c == kNone) // a limit is reached
          break;
        word(l) |= bit(l);
        useful[m] = true;
        ++r.newNodes;
      }
      columns[i.dst * kBatch + m] = c;
      if (c >= late)
        revisit(id, m);
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

/// Adds the right sides of the matches of the batch to the graph.
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

/// Applies the matches that were kept.
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
