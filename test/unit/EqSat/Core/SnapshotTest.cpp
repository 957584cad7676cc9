//===- SnapshotTest.cpp - Snapshots ---------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/EqSat/Core/Snapshot.h"
#include "luminal/EqSat/Core/Serialize.h"
#include "gtest/gtest.h"

#include <random>
#include <sstream>

using namespace luminal::eqsat;

namespace {

/// An upper bound of the leaves below a class: the minimum over its nodes, so
/// that unions change facts.
class LeafBound final : public Analysis {
public:
  uint32_t make(const EGraph &graph, OpId, PayloadId payload,
                std::span<const ClassId> children) override {
    if (children.empty())
      return 1 + payload;
    uint32_t sum = 0;
    for (ClassId c : children)
      sum += graph.fact(0, graph.find(c));
    return std::min(sum, 1000u);
  }
  std::optional<uint32_t> join(uint32_t a, uint32_t b) override {
    return std::min(a, b);
  }
};

/// A graph in which everything can be undone.
struct Graph {
  EGraph graph;
  ProofLog log;
  std::vector<OpId> leaves, ops;
  std::vector<PayloadId> payloads;

  Graph() {
    graph.proofs = &log;
    graph.addAnalysis(std::make_unique<LeafBound>());
    for (unsigned i = 0; i != 4; ++i)
      leaves.push_back(graph.addOp("leaf" + std::to_string(i), 0));
    ops = {graph.addOp("n", 1), graph.addOp("f", 2), graph.addOp("+", 2, true),
           graph.addOp("t", 3)};
    for (AttrId i = 0; i != 3; ++i) {
      Field field{0, i};
      payloads.push_back(graph.getPayload(0, {&field, 1}));
    }
  }

  /// Random additions and unions. `wild`: also new payloads and operators, and
  /// nodes of natives without a rule.
  void change(uint64_t seed, unsigned count, bool wild) {
    std::mt19937_64 rng(seed);
    auto below = [&](uint32_t n) { return uint32_t(rng() % n); };
    for (unsigned i = 0; i != count; ++i) {
      uint32_t classes = graph.numClassIds();
      RuleId rule = below(4) ? RuleId(below(5)) : kGiven;
      uint32_t regs[] = {below(9), below(9)};
      log.applying(below(3), regs);
      if (classes > 2 && below(3) == 0) {
        graph.unite(below(classes), below(classes), rule);
        continue;
      }
      PayloadId payload = payloads[below(payloads.size())];
      OpId op = leaves[below(leaves.size())];
      if (classes > 2 && below(5) != 0)
        op = ops[below(ops.size())];
      if (wild && below(10) == 0) {
        Field field{1, below(1000)};
        payload = graph.getPayload(0, {&field, 1});
      }
      if (wild && below(20) == 0)
        op = graph.addOp("wild", below(classes ? 4 : 1));
      std::vector<ClassId> kids;
      for (uint32_t k = 0; k != graph.arity(op); ++k)
        kids.push_back(below(classes));
      if (classes > 2 && below(3) == 0)
        graph.addInto(below(classes), op, payload, kids, rule);
      else
        graph.add(op, payload, kids, rule);
    }
  }

  /// Everything that can be queried from the graph.
  std::string dump() const {
    std::ostringstream os;
    os << graph.numNodes() << " nodes, " << graph.numClasses()
       << " classes, round " << graph.round() << ", dirty " << graph.isDirty()
       << ", limit " << int(graph.limitHit()) << ", conflict "
       << graph.conflict().has_value() << "\n";
    for (ClassId c = 0; c != graph.numClassIds(); ++c)
      os << c << ": " << graph.find(c) << " " << graph.classType(c) << " "
         << graph.classStamp(c) << " " << graph.fact(0, c) << " "
         << log.termOf(c) << "\n";
    for (OpId op = 0; op != graph.numOps(); ++op) {
      const Table &t = graph.table(op);
      if (t.numRows() != 0)
        os << graph.opName(op) << " " << t.numFrozen() << "\n";
      for (uint32_t row = 0; row != t.numRows(); ++row) {
        for (uint32_t i = 0; i != t.keySize() + 1; ++i)
          os << " " << t.key(row)[i];
        os << " : " << t.stamp(row) << " " << t.rootStamp(row) << " "
           << t.rule(row) << " " << (t.isDead(row) || t.find(t.key(row)) == row)
           << "\n";
      }
    }
    for (uint32_t t = 0; t != log.numTerms(); ++t) {
      os << "term " << log.term(t).op << " " << log.term(t).cls << " "
         << log.term(t).begin << "\n";
      for (uint32_t u = 0; u != t; ++u)
        if (graph.find(log.term(t).cls) == graph.find(log.term(u).cls))
          os << " " << log.youngest(u, t);
    }
    for (uint32_t e = 0; e != log.numEdges(); ++e)
      os << "edge " << log.edge(e).a << " " << log.edge(e).b << " "
         << log.edge(e).rule << " " << log.edge(e).frame << "\n";
    return os.str();
  }
  std::string serialised() const {
    GraphSerializer to;
    GraphSerializer::Labels labels;
    labels.node = [&](OpId op, PayloadId p) {
      return graph.opName(op) + std::to_string(p);
    };
    labels.type = [](TypeId) { return std::string(); };
    ScopedClass root = {graph.find(0)};
    to.add(
        graph, {&root, 1},
        [](OpId, PayloadId, std::span<const ClassId>) { return 1.0; }, labels,
        "");
    return to.str();
  }
};

TEST(Snapshot, whatCameSinceIsGone) {
  uint64_t unions = 0, facts = 0;
  for (uint64_t seed = 0; seed != 300; ++seed) {
    SCOPED_TRACE(seed);
    Graph undone, never;
    unsigned size = 5 + seed % 60, more = seed % 7 ? size : 20 * size;
    for (Graph *g : {&undone, &never}) {
      g->change(seed, size, false);
      ASSERT_TRUE(g->graph.rebuild());
      g->change(seed + 1000, size, false);
      ASSERT_TRUE(g->graph.rebuild());
      // A separate tail, or none.
      g->change(seed + 2000, seed % 3 ? 0 : size, false);
    }
    ASSERT_EQ(undone.dump(), never.dump());
    {
      Snapshot before(undone.graph);
      // More than once.
      for (unsigned i = 0; i != 1 + seed % 3; ++i) {
        undone.graph.setLimits({undone.graph.numNodes() + seed % 100});
        undone.change(seed + 3000 + i, more, true);
        for (ClassId c = 0; c != never.graph.numClassIds(); ++c) {
          unions += undone.graph.find(c) != never.graph.find(c);
          facts += undone.graph.fact(0, c) != never.graph.fact(0, c);
        }
        before.restore();
        ASSERT_LE(undone.graph.bytes(), never.graph.bytes());
        ASSERT_EQ(undone.dump(), never.dump());
      }
    }
    undone.graph.setLimits({});
    // It goes on as if nothing had been added.
    for (Graph *g : {&undone, &never})
      for (unsigned i = 0; i != 3; ++i) {
        g->change(seed + 4000 + i, size, false);
        ASSERT_TRUE(g->graph.rebuild());
      }
    ASSERT_EQ(undone.dump(), never.dump());
    ASSERT_EQ(undone.serialised(), never.serialised());
  }
  // The test did undo something.
  EXPECT_GT(unions, 1000u);
  EXPECT_GT(facts, 100u);
}

/// Facts that contradict each other.
class Number final : public Analysis {
public:
  uint32_t make(const EGraph &, OpId op, PayloadId,
                std::span<const ClassId>) override {
    return op + 1;
  }
  std::optional<uint32_t> join(uint32_t a, uint32_t b) override {
    return a == b ? std::optional(a) : std::nullopt;
  }
};

TEST(Snapshot, conflictIsForgotten) {
  EGraph graph;
  graph.addAnalysis(std::make_unique<Number>());
  OpId a = graph.addOp("a", 0), b = graph.addOp("b", 0);
  PayloadId p = graph.getPayload(0, {});
  ClassId ca = graph.add(a, p, {}), cb = graph.add(b, p, {});
  ASSERT_TRUE(graph.rebuild());
  Snapshot before(graph);
  EXPECT_EQ(graph.unite(ca, cb, 3), Merge::Conflict);
  EXPECT_TRUE(graph.conflict());
  before.restore();
  EXPECT_FALSE(graph.conflict());
  EXPECT_NE(graph.find(ca), graph.find(cb));
  EXPECT_TRUE(graph.rebuild());
}

} // namespace
