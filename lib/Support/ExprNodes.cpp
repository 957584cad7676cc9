//===- ExprNodes.cpp - Interning and lifetime of nodes --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ExprDetail.h"
#include <algorithm>
#include <mutex>

using namespace luminal;

static size_t combineHash(size_t seed, size_t value) {
  seed ^= value + 0x9e3779b97f4a7c15ull + (seed << 6) + (seed >> 2);
  return seed * 0xff51afd7ed558ccdull;
}

static size_t hashNode(Expr::Kind kind, int64_t value, std::string_view name,
                       const std::vector<Expr> &operands) {
  size_t h = combineHash(static_cast<size_t>(kind), static_cast<size_t>(value));
  for (char c : name)
    h = combineHash(h, static_cast<unsigned char>(c));
  for (const Expr &operand : operands)
    h = combineHash(h, operand.hash());
  return h ^ (h >> 32);
}

namespace {
/// All nodes, each once. A reference count drops to zero only under the mutex
/// of the node's shard, and the node leaves its bucket under the same lock, so
/// a lookup never finds a node that is about to be freed.
class InternTable {
public:
  /// Returns the node for which `same` holds, with one more reference, or else
  /// a new one created by `make`.
  template <typename Same, typename Make>
  Expr::Node *get(size_t hash, Same same, Make make) {
    Shard &shard = shardOf(hash);
    std::lock_guard<std::mutex> lock(shard.mutex);
    for (Expr::Node *node = shard.bucket(hash); node; node = node->next) {
      if (node->hash == hash && same(*node)) {
        retain(*node);
        return node;
      }
    }
    Expr::Node *node = make();
    retain(*node);
    shard.insert(node);
    return node;
  }

  /// Drops a reference that may be the last one; returns whether it was.
  bool dropLast(Expr::Node *node) {
    Shard &shard = shardOf(node->hash);
    std::lock_guard<std::mutex> lock(shard.mutex);
    if (node->references.fetch_sub(1, std::memory_order_acq_rel) != 1)
      return false;
    shard.erase(node);
    return true;
  }

  size_t count() {
    size_t count = 0;
    for (Shard &shard : shards) {
      std::lock_guard<std::mutex> lock(shard.mutex);
      count += shard.count;
    }
    return count;
  }

private:
  static void retain(Expr::Node &node) {
    node.references.fetch_add(1, std::memory_order_relaxed);
  }

  // Shards reduce lock contention.
  static constexpr unsigned kShards = 16;
  struct Shard {
    std::mutex mutex;
    std::vector<Expr::Node *> buckets = std::vector<Expr::Node *>(64);
    size_t count = 0;

    Expr::Node *&bucket(size_t hash) {
      return buckets[hash / kShards % buckets.size()];
    }
    void insert(Expr::Node *node) {
      if (++count > buckets.size())
        grow();
      link(node);
    }
    void link(Expr::Node *node) {
      Expr::Node *&first = bucket(node->hash);
      node->next = first;
      first = node;
    }
    void grow() {
      std::vector<Expr::Node *> old(2 * buckets.size());
      old.swap(buckets);
      for (Expr::Node *node : old)
        while (node)
          link(std::exchange(node, node->next));
    }
    void erase(Expr::Node *node) {
      Expr::Node **place = &bucket(node->hash);
      while (*place != node)
        place = &(*place)->next;
      *place = node->next;
      --count;
    }
  };
  Shard &shardOf(size_t hash) { return shards[hash % kShards]; }
  Shard shards[kShards];
};
} // namespace

/// Never destroyed: Exprs with static lifetime may outlive it.
static InternTable &internTable() {
  static auto *table = new InternTable;
  return *table;
}

/// Creates a node and computes its derived fields.
static Expr::Node *makeNode(size_t hash, Expr::Kind kind, int64_t value,
                            std::string_view name, std::vector<Expr> operands) {
  auto *node = new Expr::Node;
  node->kind = kind;
  node->value = value;
  node->name = name;
  node->operands = std::move(operands);
  node->hash = hash;
  uint64_t weight = node->operands.empty() ? 1 : 0;
  uint64_t compounds = kind >= Expr::Kind::FloorDiv ? 1 : 0;
  node->hasDims = kind == Expr::Kind::Dim;
  for (const Expr &e : node->operands) {
    const Expr::Node &operand = ExprBuilder::get(e);
    weight += operand.weight;
    compounds += operand.compounds;
    node->depth = std::max(node->depth, operand.depth + 1);
    node->hasDims |= operand.hasDims;
    if (kind == Expr::Kind::Mul)
      node->opaque |= operand.kind == Expr::Kind::Add;
    else if (kind == Expr::Kind::Add)
      node->opaque |= operand.opaque && operand.kind == Expr::Kind::Mul;
  }
  node->weight = static_cast<uint32_t>(std::min<uint64_t>(weight, UINT32_MAX));
  node->compounds =
      static_cast<uint32_t>(std::min<uint64_t>(compounds, UINT32_MAX));
  return node;
}

Expr ExprBuilder::intern(Expr::Kind kind, int64_t value, std::string_view name,
                         std::vector<Expr> operands) {
  size_t hash = hashNode(kind, value, name, operands);
  return Expr(Expr::Interned{internTable().get(
      hash,
      [&](const Expr::Node &node) {
        return node.kind == kind && node.value == value && node.name == name &&
               node.operands == operands;
      },
      [&] { return makeNode(hash, kind, value, name, std::move(operands)); })});
}

/// Number of nodes that are never freed.
static std::atomic<size_t> numKept{0};

Expr ExprBuilder::keepForever(Expr e) {
  if (e.node->references.fetch_or(Expr::Counted::kForever,
                                  std::memory_order_relaxed) <
      Expr::Counted::kForever)
    ++numKept;
  return e;
}

void Expr::release(Counted *node) {
  uint32_t count = node->references.load(std::memory_order_relaxed);
  while (count > 1) {
    if (count >= Counted::kForever ||
        node->references.compare_exchange_weak(count, count - 1,
                                               std::memory_order_release,
                                               std::memory_order_relaxed))
      return;
  }
  auto *last = static_cast<Node *>(node);
  if (internTable().dropLast(last))
    // Delete outside the lock: this may free operands recursively.
    delete last;
}

size_t Expr::countNodes() { return internTable().count() - numKept; }
