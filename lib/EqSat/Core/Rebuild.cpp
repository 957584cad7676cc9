//===- Rebuild.cpp - Restores congruence and facts ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/EqSat/Core/EGraph.h"

#include <algorithm>

using namespace luminal::eqsat;

/// Number of sweeps over all rows after which the remaining work follows uses.
static constexpr unsigned kMaxSweeps = 8;

/// Points every class id directly at its representative. A parent is always
/// lower than its child, so one ascending pass is enough.
void EGraph::flatten() {
  ClassId *p = parent.data();
  for (size_t i = 0, e = parent.size(); i != e; ++i)
    p[i] = p[p[i]];
}

/// One sweep over all rows: replaces children whose class was merged, and
/// merges the classes of rows that now have equal keys.
void EGraph::canonicaliseRows() {
  const ClassId *p = parent.data();
  for (auto &table : tables) {
    Table &t = *table;
    t.sized([&](auto number) {
      constexpr uint32_t K = decltype(number)::value;
      const uint32_t n = K ? K - 1 : t.arity();
      // Changed rows are looked up in batches, so that their memory accesses
      // overlap.
      constexpr uint32_t kBatch = 64;
      uint32_t changed[kBatch], size = 0;
      uint64_t hashes[kBatch];
      auto compare = [&] {
        RowSlots slots = t.slots();
        for (uint32_t i = 0; i != size; ++i)
          if (uint32_t row = slots.candidate(hashes[i]); row != kNone)
            __builtin_prefetch(t.key(row));
        for (uint32_t i = 0; i != size; ++i)
          mergeRow<K>(t, changed[i], hashes[i]);
        size = 0;
      };
      for (uint32_t row = 0, e = t.numRows(); row != e; ++row) {
        uint32_t *key = t.mutableKey(row);
        bool moved = false;
        for (uint32_t i = 0; i != n; ++i)
          moved |= p[key[i]] != key[i];
        if (!moved || t.isDead(row))
          continue;
        // Reserve before any key changes: rebuilding the index must not enter a
        // row that was not compared yet.
        if (size == 0)
          t.reserveSlots(kBatch);
        for (uint32_t i = 0; i != n; ++i)
          key[i] = p[key[i]];
        if (t.isCommutative() && key[0] > key[1])
          std::swap(key[0], key[1]);
        t.stale = true;
        t.setStamp(row, now, /*onlyMoved=*/false);
        hashes[size] = t.hash<K>(key);
        t.slots().prefetch(hashes[size]);
        changed[size++] = row;
        if (size == kBatch)
          compare();
      }
      compare();
    });
  }
}

/// Enters a row whose key changed in the index. If another row has this key
/// already, merges their classes and drops the row.
template <uint32_t K>
void EGraph::mergeRow(Table &t, uint32_t row, uint64_t hash) {
  uint32_t *key = t.mutableKey(row);
  uint32_t same = t.find<K>(key, hash);
  if (same == kNone) {
    t.index.place(row, hash);
    return;
  }
  if (same == row)
    return;
  // The older row stays. It counts as a row of the given program if either
  // does.
  unite(t.classOf(row), t.classOf(same), kCongruence);
  if (t.rules[row] == kGiven)
    t.rules[same] = kGiven;
  t.setClass(row, kNone);
  key[t.arity()] = kNone; // never found by a search again
  --liveRows;
}

namespace {
/// One child of one row, in the linked list of the uses of a class.
struct Use {
  OpId op;
  uint32_t row;
  uint32_t next;
};

/// The uses of each class, by ascending operator, row and child.
class UseLists {
public:
  UseLists(const EGraph &graph, ByteCounter &counter)
      : uses(counter), lists(counter) {
    lists.resize(graph.numClassIds(), {kNone, kNone});
    for (OpId op = 0; op != graph.numOps(); ++op) {
      const Table &t = graph.table(op);
      for (uint32_t row = 0, e = t.numRows(); row != e; ++row)
        for (uint32_t i = 0; i != t.arity() && !t.isDead(row); ++i) {
          uint32_t use = uses.size();
          uses.push({op, row, kNone});
          append(t.key(row)[i], {use, use});
        }
    }
  }

  /// Appends the uses of `from` to those of `to`.
  void hand(ClassId from, ClassId to) {
    if (lists[from].first != kNone)
      append(to, lists[from]);
  }
  /// Calls `f(op, row)` for each use that the class had at the time of the
  /// call.
  template <typename F>
  void forEach(ClassId c, F &&f) const {
    const List list = lists[c];
    if (list.first == kNone)
      return;
    for (uint32_t use = list.first;; use = uses[use].next) {
      f(uses[use].op, uses[use].row);
      if (use == list.last)
        return;
    }
  }

private:
  struct List {
    uint32_t first, last;
  };
  void append(ClassId c, List list) {
    if (lists[c].first == kNone)
      lists[c] = list;
    else
      uses[lists[c].last].next = list.first;
    lists[c].last = list.last;
  }

  Buffer<Use> uses;
  Buffer<List> lists;
};
} // namespace

/// Closes congruence by following the uses of merged classes. Where each union
/// only leads to the next one, as from the bottom of a deep term to its top, a
/// sweep over all rows would find just one union.
void EGraph::closeByUses() {
  UseLists uses(*this, counter);
  auto shortFind = [&](ClassId c) {
    while (parent[c] != c)
      c = parent[c] = parent[parent[c]];
    return c;
  };
  auto renew = [&](OpId op, uint32_t row) {
    Table &t = *tables[op];
    uint32_t *key = t.mutableKey(row);
    bool moved = false;
    for (uint32_t i = 0; i != t.arity(); ++i)
      moved |= shortFind(key[i]) != key[i];
    if (!moved || t.isDead(row))
      return;
    t.reserveSlots(1); // before the key changes
    for (uint32_t i = 0; i != t.arity(); ++i)
      key[i] = shortFind(key[i]);
    sortChildren(t, key);
    t.stale = true;
    t.setStamp(row, now, /*onlyMoved=*/false);
    t.sized([&](auto K) { mergeRow<K>(t, row, t.hash<K>(key)); });
  };
  for (size_t i = 0; i != losers.size() && !failure; ++i) {
    // Add the loser's uses to the winner's, so that they are visited again if
    // the winner is merged into another class in turn.
    const ClassId loser = losers[i];
    uses.hand(loser, shortFind(loser));
    uses.forEach(loser, renew);
  }
  losers.clear();
  flatten();
}

/// Joins the facts of one row into the facts of its class.
bool EGraph::readFacts(OpId op, uint32_t row) {
  const Table &t = *tables[op];
  const ClassId c = find(t.classOf(row));
  for (size_t a = 0; a != analyses.size(); ++a) {
    uint32_t made = analyses[a]->make(*this, op, t.payload(row),
                                      {t.key(row), size_t(t.arity())});
    uint32_t &fact = facts[a][c];
    std::optional<uint32_t> joined = analyses[a]->join(fact, made);
    if (!joined) {
      failure = Conflict{t.rule(row), c, kNone, type[c], type[c], uint32_t(a)};
      return false;
    }
    if (*joined == fact)
      continue;
    fact = *joined;
    changedFacts.push_back(c);
  }
  return true;
}

/// Recomputes the facts of the parents of changed classes until nothing
/// changes: first by sweeps over all rows, which are fast when much changes at
/// once, then by following uses.
bool EGraph::recomputeFacts() {
  if (analyses.empty()) {
    changedFacts.clear();
    return true;
  }
  std::vector<uint8_t> changed(parent.size());
  for (unsigned sweep = 0; sweep != kMaxSweeps && !changedFacts.empty();
       ++sweep) {
    std::fill(changed.begin(), changed.end(), 0);
    for (ClassId c : changedFacts) {
      changed[find(c)] = 1;
      stamp[find(c)] = now;
    }
    changedFacts.clear();
    for (OpId op = 0; op != ops.size(); ++op) {
      const Table &t = *tables[op];
      for (uint32_t row = 0, e = t.numRows(); row != e; ++row) {
        if (t.isDead(row))
          continue;
        bool look = false;
        for (uint32_t i = 0; i != t.arity(); ++i)
          look |= changed[t.key(row)[i]];
        if (look && !readFacts(op, row))
          return false;
      }
    }
  }
  if (changedFacts.empty())
    return true;
  UseLists uses(*this, counter);
  for (size_t i = 0; i != changedFacts.size(); ++i) {
    const ClassId c = find(changedFacts[i]);
    stamp[c] = now;
    uses.forEach(c, [&](OpId op, uint32_t row) {
      if (!failure)
        readFacts(op, row);
    });
    if (failure)
      return false;
  }
  changedFacts.clear();
  return true;
}

void EGraph::sortTables() {
  for (auto &t : tables) {
    const ClassId *p = parent.data();
    for (uint32_t row = 0, e = t->numRows(); row != e; ++row) {
      ClassId c = t->classOf(row);
      if (c == kNone)
        continue;
      if (p[c] != c) {
        t->setClass(row, p[c]);
        if (t->stamp(row) != now)
          t->setStamp(row, now, /*onlyMoved=*/true);
        t->stale = true;
      }
      if (t->stamp(row) == now)
        stamp[p[c]] = now;
    }
    // Free all indexes before the first sort, which needs memory itself.
    if (t->stale)
      t->index.drop();
  }
  for (auto &t : tables)
    t->sort(runOffset.empty() ? 0 : runOffset.size() - 1);
}

void EGraph::indexRuns() {
  runOffset.truncate(0);
  runOffset.resize(parent.size() + 1, 0);
  auto forEachRun = [&](auto &&f) {
    for (OpId op = 0; op != ops.size(); ++op) {
      const Table &t = *tables[op];
      for (uint32_t row = 0, e = t.numRows(); row != e;) {
        ClassId c = t.classOf(row);
        uint32_t begin = row;
        do
          ++row;
        while (row != e && t.classOf(row) == c);
        f(c, Run{op, begin, row});
      }
    }
  };
  forEachRun([&](ClassId c, Run) { ++runOffset[c + 1]; });
  liveClasses = 0;
  for (size_t i = 1, e = runOffset.size(); i != e; ++i) {
    liveClasses += runOffset[i] != 0;
    runOffset[i] += runOffset[i - 1];
  }
  size_t total = runOffset[parent.size()];
  runPool.truncate(0);
  runPool.resize(total, Run{0, 0, 0});
  runPool.shrink();
  // Filling advances each class's offset to its end; shift the offsets back
  // afterwards.
  forEachRun([&](ClassId c, Run r) { runPool[runOffset[c]++] = r; });
  for (size_t i = parent.size(); i != 0; --i)
    runOffset[i] = runOffset[i - 1];
  runOffset[0] = 0;
}

bool EGraph::rebuild() {
  if (failure)
    return false;
  if (!dirty)
    return true;
  for (unsigned sweep = 0; !losers.empty(); ++sweep) {
    if (sweep == kMaxSweeps) {
      closeByUses();
      if (failure)
        return false;
      break;
    }
    losers.clear();
    flatten();
    canonicaliseRows();
    if (failure)
      return false;
  }
  if (!recomputeFacts())
    return false;
  sortTables();
  indexRuns();
  dirty = false;
  ++now;
  return true;
}
