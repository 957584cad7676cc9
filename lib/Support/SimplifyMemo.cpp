//===- SimplifyMemo.cpp - Cache of simplified expressions -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Support/SimplifyMemo.h"
#include "SimplifyQuery.h"
#include <atomic>
#include <mutex>
#include <unordered_map>

using namespace luminal;

/// The extents that the simplification of `e` depends on. A constant extent is
/// a fact about its own dim only, an extent over symbols also about these
/// (ExprSolver::learn).
static std::vector<Expr> findRead(const Expr &e,
                                  const std::vector<Expr> &extents) {
  std::vector<Expr> read;
  for (unsigned i = 0; i < extents.size(); ++i) {
    if (extents[i].asConstant() && !e.usesDim(i))
      continue;
    read.resize(i);
    read.push_back(extents[i]);
  }
  return read;
}

SimplifyQuery::SimplifyQuery(const Expr &e, const std::vector<Expr> &extents,
                             const std::map<std::string, SymbolRange> &symbols)
    : e(e), extents(findRead(e, extents)), symbols(symbols), hash(e.hash()) {
  for (const Expr &extent : this->extents)
    hash = (hash ^ extent.hash()) * 0x9e3779b97f4a7c15ull;
  for (const auto &[name, range] : symbols)
    hash = (hash ^ std::hash<int64_t>()(range.lo) ^
            std::hash<int64_t>()(range.hi.value_or(-1))) *
           0x9e3779b97f4a7c15ull;
  hash ^= hash >> 32;
}

namespace {
struct QueryHash {
  size_t operator()(const SimplifyQuery &query) const { return query.hash; }
};

class Table {
public:
  std::atomic<unsigned> numScopes{0};

  std::optional<Expr> find(const SimplifyQuery &query) {
    Shard &shard = shardOf(query);
    std::lock_guard<std::mutex> lock(shard.mutex);
    auto it = shard.answers.find(query);
    return it == shard.answers.end() ? std::nullopt
                                     : std::optional<Expr>(it->second);
  }

  void keep(SimplifyQuery query, const Expr &answer) {
    Shard &shard = shardOf(query);
    // Destroyed after the lock is released.
    Answers old;
    std::lock_guard<std::mutex> lock(shard.mutex);
    // The destructor of the last scope clears each shard after setting this to
    // 0.
    if (numScopes == 0)
      return;
    if (shard.answers.size() == kMaxAnswers)
      old.swap(shard.answers);
    shard.answers.emplace(std::move(query), answer);
  }

  void clear() {
    for (Shard &shard : shards) {
      Answers old;
      std::lock_guard<std::mutex> lock(shard.mutex);
      old.swap(shard.answers);
    }
  }

private:
  using Answers = std::unordered_map<SimplifyQuery, Expr, QueryHash>;
  // Shards reduce lock contention.
  static constexpr size_t kShards = 16, kMaxAnswers = 4096;
  struct Shard {
    std::mutex mutex;
    Answers answers;
  };
  Shard &shardOf(const SimplifyQuery &query) {
    return shards[query.hash % kShards];
  }
  Shard shards[kShards];
};
} // namespace

/// Never destroyed, like the table of nodes.
static Table &getTable() {
  static auto *table = new Table;
  return *table;
}

SimplifyMemo::SimplifyMemo() { ++getTable().numScopes; }

SimplifyMemo::~SimplifyMemo() {
  Table &table = getTable();
  if (--table.numScopes == 0)
    table.clear();
}

bool luminal::keepsSimplified() { return getTable().numScopes != 0; }

std::optional<Expr> luminal::findSimplified(const SimplifyQuery &query) {
  return getTable().find(query);
}

void luminal::keepSimplified(SimplifyQuery query, const Expr &answer) {
  getTable().keep(std::move(query), answer);
}
