//===- Snapshot.cpp - Snapshots -------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/EqSat/Core/Snapshot.h"

using namespace luminal::eqsat;

Snapshot::Snapshot(EGraph &graph)
    : graph(graph), failure(graph.failure), liveRows(graph.liveRows),
      numClassIds(graph.parent.size()), numLosers(graph.losers.size()),
      numChangedFacts(graph.changedFacts.size()), round(graph.now),
      currentRule(graph.currentRule), dirty(graph.dirty), hit(graph.hit) {
  assert(!graph.factLog && "one snapshot at a time");
  graph.factLog = &facts;
  for (const auto &t : graph.tables)
    tables.push_back({t->count, t->rows.capacity(), t->stamps.capacity(),
                      t->rules.capacity(), t->stale, t->index.isReady()});
  perClass = {graph.parent.capacity(), graph.type.capacity(),
              graph.stamp.capacity()};
  for (const Buffer<uint32_t> &f : graph.facts)
    perClass.push_back(f.capacity());
  if (graph.proofs)
    proofs = graph.proofs->mark();
}

Snapshot::~Snapshot() { graph.factLog = nullptr; }

void Snapshot::restore(Table &t, const Rows &saved) const {
  if (!saved.indexed)
    t.index.drop();
  if (t.count == saved.count)
    return;
  t.count = saved.count;
  t.stale = saved.stale;
  t.rows.truncate(saved.count * size_t(t.rowSize()));
  t.stamps.truncate(saved.count);
  t.rules.truncate(saved.count);
  t.rows.reserveExactly(saved.rows);
  t.stamps.reserveExactly(saved.stamps);
  t.rules.reserveExactly(saved.rules);
  t.index.drop();
}

void Snapshot::restore() {
  assert(graph.now == round && "rebuilt since");
  for (size_t i = 0; i != graph.tables.size(); ++i)
    restore(*graph.tables[i], i < tables.size() ? tables[i] : Rows{});
  for (size_t i = graph.losers.size(); i-- != numLosers;)
    graph.parent[graph.losers[i]] = graph.losers[i];
  graph.losers.resize(numLosers);
  graph.changedFacts.resize(numChangedFacts);
  for (; !facts.empty(); facts.pop_back())
    graph.facts[facts.back().analysis][facts.back().cls] = facts.back().fact;
  size_t next = 0;
  auto cut = [&](Buffer<uint32_t> &buffer) {
    buffer.truncate(numClassIds);
    buffer.reserveExactly(perClass[next++]);
  };
  cut(graph.parent);
  cut(graph.type);
  cut(graph.stamp);
  for (Buffer<uint32_t> &f : graph.facts)
    cut(f);
  if (graph.proofs)
    graph.proofs->cut(proofs);
  graph.failure = failure;
  graph.liveRows = liveRows;
  graph.currentRule = currentRule;
  graph.dirty = dirty;
  graph.hit = hit;
}
