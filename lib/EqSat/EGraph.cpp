//===- EGraph.cpp - Operators, payloads, nodes and unions -----------------===//

#include "luminal/EqSat/EGraph.h"

#include <algorithm>

using namespace luminal::eqsat;

Analysis::~Analysis() = default;

EGraph::EGraph()
    : parent(counter), type(counter), stamp(counter), runOffset(counter),
      runPool(counter) {}
EGraph::~EGraph() = default;

OpId EGraph::addOp(std::string name, uint32_t arity, bool commutative) {
  ops.push_back({std::move(name), commutative && arity == 2});
  tables.push_back(std::make_unique<Table>(arity, counter));
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

PayloadId EGraph::getPayload(TypeId t, std::span<const Field> fields) {
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
/// A key on the stack where it is short.
struct Key {
  Key(std::span<const ClassId> children, PayloadId payload, bool sorted) {
    uint32_t n = children.size();
    uint32_t *k = small;
    if (n + 1 > std::size(small)) {
      large.resize(n + 1);
      k = large.data();
    }
    for (uint32_t i = 0; i != n; ++i)
      k[i] = children[i];
    if (sorted && k[0] > k[1])
      std::swap(k[0], k[1]);
    k[n] = payload;
    data = k;
  }
  const uint32_t *data;
  uint32_t small[8];
  std::vector<uint32_t> large;
};
} // namespace

ClassId EGraph::lookup(OpId op, PayloadId payload,
                       std::span<const ClassId> children) const {
  Key key(children, payload, ops[op].commutative);
  uint32_t row = tables[op]->find(key.data);
  return row == kNone ? kNone : tables[op]->classOf(row);
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

ClassId EGraph::add(OpId op, PayloadId payload,
                    std::span<const ClassId> children, RuleId rule) {
  assert(children.size() == arity(op));
  Key key(children, payload, ops[op].commutative);
  Table &t = *tables[op];
  uint32_t row = t.find(key.data);
  if (row != kNone)
    return t.classOf(row);
  if (!checkLimits())
    return kNone;
  ClassId c = newClass(payloads[payload].type);
  t.insert(key.data, c, now, rule);
  ++liveRows;
  dirty = true;
  std::span<const ClassId> kids(key.data, children.size());
  for (size_t a = 0; a != analyses.size(); ++a)
    facts[a].push(analyses[a]->make(*this, op, payload, kids));
  return c;
}

Merge EGraph::addInto(ClassId c, OpId op, PayloadId payload,
                      std::span<const ClassId> children, RuleId rule) {
  assert(children.size() == arity(op));
  Key key(children, payload, ops[op].commutative);
  Table &t = *tables[op];
  uint32_t row = t.find(key.data);
  if (row != kNone)
    return unite(c, t.classOf(row), rule);
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
  t.insert(key.data, c, now, rule);
  ++liveRows;
  dirty = true;
  std::span<const ClassId> kids(key.data, children.size());
  for (size_t a = 0; a != analyses.size(); ++a) {
    uint32_t made = analyses[a]->make(*this, op, payload, kids);
    uint32_t &fact = facts[a][c];
    if (made == fact)
      continue;
    std::optional<uint32_t> joined = analyses[a]->join(fact, made);
    if (!joined) {
      failure = Conflict{rule, c, kNone, type[c], nodeType, uint32_t(a)};
      return Merge::Conflict;
    }
    if (*joined != fact) {
      fact = *joined;
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
  a = find(a);
  b = find(b);
  if (a == b)
    return Merge::Same;
  if (b < a)
    std::swap(a, b);
  // Equal keys are equal values, whatever can be proved about their types.
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
    facts[i][a] = *joined;
    // The parents of whichever side learned something must look again.
    if (*joined != fa || *joined != fb)
      changedFacts.push_back(a);
  }
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
      if (t->classOf(row) != kNone && find(t->classOf(row)) == find(c) &&
          t->rule(row) != kGiven)
        return t->rule(row);
  return kGiven;
}
