//===- EGraph.cpp - Operators, payloads, nodes and unions -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/EqSat/Core/Proof.h"

#include <algorithm>

using namespace luminal::eqsat;

Analysis::~Analysis() = default;

EGraph::EGraph()
    : parent(counter), type(counter), stamp(counter), runOffset(counter),
      runPool(counter) {}
EGraph::~EGraph() = default;

OpId EGraph::addOp(std::string name, uint32_t arity, bool commutative) {
  ops.push_back(std::move(name));
  tables.push_back(
      std::make_unique<Table>(arity, commutative && arity == 2, counter));
  return ops.size() - 1;
}

//===----------------------------------------------------------------------===//
// Payloads
//===----------------------------------------------------------------------===//

static uint64_t hashPayload(TypeId type, std::span<const Field> fields) {
  uint64_t h = 0x9e3779b97f4a7c15u ^ type;
  for (const Field &f : fields) {
    h = (h ^ f.name) * 0xbf58476d1ce4e5b9u;
    h ^= h >> 29;
    h = (h ^ f.attr) * 0xbf58476d1ce4e5b9u;
    h ^= h >> 29;
  }
  return h * 0x94d049bb133111ebu >> 16;
}

PayloadId EGraph::findPayload(TypeId t, std::span<const Field> fields) {
  assert(std::is_sorted(fields.begin(), fields.end(),
                        [](auto &a, auto &b) { return a.name < b.name; }));
  if (payloads.size() * 2 >= payloadSlots.size()) {
    payloadSlots.assign(std::max<size_t>(64, payloadSlots.size() * 2), kNone);
    for (PayloadId p = 0; p != payloads.size(); ++p) {
      size_t i = hashPayload(payloads[p].type, payloadFields(p));
      while (payloadSlots[i & (payloadSlots.size() - 1)] != kNone)
        ++i;
      payloadSlots[i & (payloadSlots.size() - 1)] = p;
    }
  }
  size_t i = hashPayload(t, fields);
  for (;; ++i) {
    uint32_t &slot = payloadSlots[i & (payloadSlots.size() - 1)];
    if (slot == kNone) {
      slot = payloads.size();
      payloads.push_back(
          {t, uint32_t(fieldPool.size()), uint32_t(fields.size())});
      fieldPool.insert(fieldPool.end(), fields.begin(), fields.end());
      if (fields.empty() && t < payloadSlots.size()) {
        if (t >= plainPayloads.size())
          plainPayloads.resize(t + 1, kNone);
        plainPayloads[t] = slot;
      }
      return slot;
    }
    auto there = payloadFields(slot);
    if (payloads[slot].type == t &&
        std::equal(there.begin(), there.end(), fields.begin(), fields.end()))
      return slot;
  }
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

namespace {
/// A key, on the stack if it is short.
struct Key {
  Key(std::span<const ClassId> children, PayloadId payload) {
    size_t n = children.size();
    data = small;
    if (n + 1 > std::size(small)) {
      large.resize(n + 1);
      data = large.data();
    }
    for (size_t i = 0; i != n; ++i)
      data[i] = children[i];
    data[n] = payload;
  }
  uint32_t *data;
  uint32_t small[8];
  std::vector<uint32_t> large;
};
} // namespace

ClassId EGraph::lookup(OpId op, PayloadId payload,
                       std::span<const ClassId> children) const {
  Key key(children, payload);
  return lookupKey(op, key.data);
}
ClassId EGraph::add(OpId op, PayloadId payload,
                    std::span<const ClassId> children, RuleId rule) {
  Key key(children, payload);
  return addKey(op, key.data, rule);
}
Merge EGraph::addInto(ClassId c, OpId op, PayloadId payload,
                      std::span<const ClassId> children, RuleId rule) {
  Key key(children, payload);
  return addKeyInto(c, op, key.data, rule);
}

ClassId EGraph::newClass(TypeId t) {
  ClassId c = parent.size();
  parent.push(c);
  type.push(t);
  stamp.push(now);
  return c;
}

bool EGraph::checkLimits() {
  if (liveRows >= limits.maxNodes)
    hit = 'n';
  else if (counter.bytes >= limits.maxBytes)
    hit = 'b';
  return !hit;
}

ClassId EGraph::addKey(OpId op, uint32_t *key, RuleId rule) {
  const Table &t = *tables[op];
  sortChildren(t, key);
  uint64_t h = t.hash(key);
  uint32_t row = t.find(key, h);
  return row == kNone ? insert(op, key, h, rule) : t.classOf(row);
}

ClassId EGraph::insert(OpId op, const uint32_t *key, uint64_t h, RuleId rule) {
  if (!checkLimits())
    return kNone;
  Table &t = *tables[op];
  PayloadId payload = key[t.arity()];
  ClassId c = newClass(payloads[payload].type);
  t.insert(key, h, c, now, rule);
  ++liveRows;
  dirty = true;
  std::span<const ClassId> kids(key, t.arity());
  if (proofs)
    proofs->made(op, kids, payload);
  for (size_t a = 0; a != analyses.size(); ++a)
    facts[a].push(analyses[a]->make(*this, op, payload, kids));
  return c;
}

Merge EGraph::addKeyInto(ClassId c, OpId op, uint32_t *key, RuleId rule) {
  const Table &t = *tables[op];
  sortChildren(t, key);
  uint64_t h = t.hash(key);
  uint32_t row = t.find(key, h);
  return row == kNone ? insertInto(c, op, key, h, rule)
                      : unite(c, t.classOf(row), rule);
}

Merge EGraph::insertInto(ClassId c, OpId op, const uint32_t *key, uint64_t h,
                         RuleId rule) {
  Table &t = *tables[op];
  PayloadId payload = key[t.arity()];
  TypeId nodeType = payloads[payload].type;
  c = find(c);
  switch (typesEqual(type[c], nodeType)) {
  case Equality::Unknown:
    return Merge::Refused;
  case Equality::No:
    failure = Conflict{rule, c, kNone, type[c], nodeType, kNone};
    return Merge::Conflict;
  case Equality::Yes:
    break;
  }
  if (!checkLimits())
    return Merge::Same;
  t.insert(key, h, c, now, rule);
  ++liveRows;
  dirty = true;
  std::span<const ClassId> kids(key, t.arity());
  if (proofs)
    proofs->joined(c, op, kids, payload, rule);
  for (size_t a = 0; a != analyses.size(); ++a) {
    uint32_t made = analyses[a]->make(*this, op, payload, kids);
    uint32_t fact = facts[a][c];
    if (made == fact)
      continue;
    std::optional<uint32_t> joined = analyses[a]->join(fact, made);
    if (!joined) {
      failure = Conflict{rule, c, kNone, type[c], nodeType, uint32_t(a)};
      return Merge::Conflict;
    }
    if (*joined != fact) {
      setFact(a, c, *joined);
      changedFacts.push_back(c);
    }
  }
  return Merge::Merged;
}

//===----------------------------------------------------------------------===//
// Unions
//===----------------------------------------------------------------------===//

Equality EGraph::typesEqual(TypeId a, TypeId b) const {
  if (a == b)
    return Equality::Yes;
  return compareTypes ? compareTypes(a, b) : Equality::No;
}

Merge EGraph::unite(ClassId a, ClassId b, RuleId rule) {
  const ClassId givenA = a, givenB = b;
  a = find(a);
  b = find(b);
  if (a == b)
    return Merge::Same;
  if (b < a)
    std::swap(a, b);
  // Congruence proves the values equal even if their types are not provably
  // equal.
  switch (rule == kCongruence ? Equality::Yes : typesEqual(type[a], type[b])) {
  case Equality::Unknown:
    return Merge::Refused;
  case Equality::No:
    failure = Conflict{rule, a, b, type[a], type[b], kNone};
    return Merge::Conflict;
  case Equality::Yes:
    break;
  }
  for (size_t i = 0; i != analyses.size(); ++i) {
    uint32_t fa = facts[i][a], fb = facts[i][b];
    if (fa == fb)
      continue;
    std::optional<uint32_t> joined = analyses[i]->join(fa, fb);
    if (!joined) {
      failure = Conflict{rule, a, b, type[a], type[b], uint32_t(i)};
      return Merge::Conflict;
    }
    if (*joined != fa)
      setFact(i, a, *joined);
    // The facts of the parents of each side that changed must be recomputed.
    if (*joined != fa || *joined != fb)
      changedFacts.push_back(a);
  }
  if (proofs)
    proofs->united(givenA, givenB, rule);
  parent[b] = a;
  losers.push_back(b);
  dirty = true;
  if (onMerge)
    onMerge(a, b, rule);
  return Merge::Merged;
}

uint32_t EGraph::addAnalysis(std::unique_ptr<Analysis> analysis) {
  assert(parent.empty() && "analyses come before nodes");
  analyses.push_back(std::move(analysis));
  facts.emplace_back(counter);
  return analyses.size() - 1;
}

RuleId EGraph::makerOf(ClassId c) const {
  for (const auto &t : tables)
    for (uint32_t row = 0, e = t->numRows(); row != e; ++row)
      if (!t->isDead(row) && find(t->classOf(row)) == find(c) &&
          t->rule(row) != kGiven)
        return t->rule(row);
  return kGiven;
}
