//===- EGraphTest.cpp - Unions that hold, that wait and that contradict ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/EqSat/Core/EGraph.h"
#include "Terms.h"
#include "luminal/EqSat/Core/Runner.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <chrono>
#include <random>
#include <set>

using namespace luminal::eqsat;
using namespace luminal::eqsat::test;

namespace {

/// Types 0 and 1 are equal, 0 and 2 unknown, 0 and 3 unequal.
class Types : public testing::Test {
protected:
  Types() {
    graph.compareTypes = [](TypeId a, TypeId b) {
      TypeId high = std::max(a, b);
      return high == 1   ? Equality::Yes
             : high == 2 ? Equality::Unknown
                         : Equality::No;
    };
  }
  ClassId leaf(const char *name, TypeId type) {
    return graph.add(graph.addOp(name, 0), graph.getPayload(type, {}), {});
  }
  /// f(x) of type 0 and g(x) of type `type`, and a rule that makes them equal:
  /// by a new node, or with a class that exists already.
  RunReport saturate(TypeId type, bool given, bool incremental, bool staged) {
    ClassId x[] = {leaf("x", 0)};
    OpId f = graph.addOp("f", 1), g = graph.addOp("g", 1);
    fx = graph.add(f, graph.getPayload(0, {}), x);
    PayloadId payload = graph.getPayload(type, {});
    gx = given ? graph.add(g, payload, x) : kNone;
    RuleBuilder b("r");
    RuleBuilder::Op root = b.root(f, 1);
    b.unite(b.use(root.cls),
            b.node(g, b.constant(payload), {b.use(root.child(0))}));
    Rule rules[] = {b.finish()};
    RunnerOptions options;
    options.incremental = incremental;
    options.staged = staged;
    return luminal::eqsat::saturate(graph, rules, {}, options);
  }

  EGraph graph;
  ClassId fx = kNone, gx = kNone;
};

TEST_F(Types, equalOnesMerge) {
  ClassId a = leaf("a", 0), b = leaf("b", 1);
  EXPECT_EQ(graph.unite(b, a), Merge::Merged);
  EXPECT_EQ(graph.unite(a, b), Merge::Same);
  ASSERT_TRUE(graph.rebuild());
  EXPECT_EQ(graph.numClasses(), 1u);
  EXPECT_EQ(graph.find(b), a);
}

TEST_F(Types, unknownOnesStayApart) {
  ClassId a = leaf("a", 0), b = leaf("b", 2);
  ASSERT_TRUE(graph.rebuild());
  EXPECT_EQ(graph.unite(a, b), Merge::Refused);
  EXPECT_EQ(graph.addInto(a, graph.addOp("c", 0), graph.getPayload(2, {}), {},
                          kGiven),
            Merge::Refused);
  // The graph is as if the union had not been tried.
  EXPECT_FALSE(graph.isDirty());
  EXPECT_FALSE(graph.conflict());
  EXPECT_FALSE(graph.limitHit());
  EXPECT_NE(graph.find(a), graph.find(b));
  EXPECT_EQ(graph.numNodes(), 2u);
  EXPECT_EQ(graph.numClassIds(), 2u);
}

TEST_F(Types, congruenceAsksNobody) {
  // The types of f(a) and f(b) are not comparable. Equal keys are equal.
  ClassId a[] = {leaf("a", 0)}, b[] = {leaf("b", 1)};
  OpId f = graph.addOp("f", 1);
  ClassId fa = graph.add(f, graph.getPayload(2, {}), a);
  ClassId fb = graph.add(f, graph.getPayload(2, {}), b);
  EXPECT_EQ(graph.unite(a[0], b[0]), Merge::Merged);
  ASSERT_TRUE(graph.rebuild());
  EXPECT_EQ(graph.find(fa), graph.find(fb));
}

TEST_F(Types, unequalOnesAreAConflict) {
  ClassId a = leaf("a", 0), b = leaf("b", 3);
  EXPECT_EQ(graph.unite(b, a, /*rule=*/7), Merge::Conflict);
  ASSERT_TRUE(graph.conflict());
  EXPECT_EQ(graph.conflict()->rule, 7u);
  EXPECT_EQ(graph.conflict()->a, a);
  EXPECT_EQ(graph.conflict()->b, b);
  EXPECT_EQ(graph.conflict()->typeA, 0u);
  EXPECT_EQ(graph.conflict()->typeB, 3u);
  EXPECT_EQ(graph.conflict()->analysis, kNone);
  EXPECT_FALSE(graph.rebuild());
}

TEST_F(Types, aNodeOfAnUnequalTypeIsAConflict) {
  ClassId a = leaf("a", 0);
  OpId b = graph.addOp("b", 0);
  EXPECT_EQ(graph.addInto(a, b, graph.getPayload(3, {}), {}, /*rule=*/7),
            Merge::Conflict);
  ASSERT_TRUE(graph.conflict());
  EXPECT_EQ(graph.conflict()->rule, 7u);
  EXPECT_EQ(graph.conflict()->a, a);
  EXPECT_EQ(graph.conflict()->b, kNone);
  EXPECT_EQ(graph.conflict()->typeB, 3u);
  EXPECT_EQ(graph.numNodes(), 1u);
}

TEST_F(Types, whoMadeAClassIsKnown) {
  ClassId a = leaf("a", 0);
  EXPECT_EQ(graph.makerOf(a), kGiven);
  graph.addInto(a, graph.addOp("b", 0), graph.getPayload(1, {}), {},
                /*rule=*/7);
  ASSERT_TRUE(graph.rebuild());
  EXPECT_EQ(graph.makerOf(a), 7u);
}

/// Every mode of the runner gives the same graph, and terminates.
class TypesRun
    : public Types,
      public testing::WithParamInterface<std::tuple<bool, bool, bool>> {
protected:
  RunReport run(TypeId type) {
    auto [given, incremental, staged] = GetParam();
    return saturate(type, given, incremental, staged);
  }
};
INSTANTIATE_TEST_SUITE_P(Ways, TypesRun,
                         testing::Combine(testing::Bool(), testing::Bool(),
                                          testing::Bool()));

TEST_P(TypesRun, equalOnesMerge) {
  RunReport report = run(1);
  EXPECT_EQ(report.stop, StopReason::Saturated);
  EXPECT_EQ(report.rules[0].unions, 1u);
  EXPECT_EQ(report.rules[0].refused, 0u);
  EXPECT_EQ(graph.numNodes(), 3u);
  EXPECT_EQ(graph.numClasses(), 2u);
}

TEST_P(TypesRun, unknownOnesAreRefused) {
  RunReport report = run(2);
  EXPECT_EQ(report.stop, StopReason::Saturated);
  EXPECT_EQ(report.iterations.size(), 1u);
  EXPECT_EQ(report.rules[0].matches, 1u);
  EXPECT_EQ(report.rules[0].useful, 0u);
  EXPECT_EQ(report.rules[0].newNodes, 0u);
  EXPECT_EQ(report.rules[0].unions, 0u);
  EXPECT_EQ(report.rules[0].refused, 1u);
  bool given = gx != kNone;
  EXPECT_EQ(graph.numNodes(), given ? 3u : 2u);
  EXPECT_EQ(graph.numClasses(), given ? 3u : 2u);
}

TEST_P(TypesRun, unequalOnesEndTheRun) {
  RunReport report = run(3);
  EXPECT_EQ(report.stop, StopReason::Conflict);
  EXPECT_EQ(report.rules[0].refused, 0u);
  ASSERT_TRUE(graph.conflict());
  EXPECT_EQ(graph.conflict()->rule, 0u);
  EXPECT_EQ(graph.conflict()->a, fx);
  EXPECT_EQ(graph.conflict()->b, gx);
}

/// Facts: any two different ones contradict each other.
class Contradicts : public Analysis {
public:
  uint32_t make(const EGraph &graph, OpId op, PayloadId,
                std::span<const ClassId> kids) override {
    return graph.opName(op)[0] == 'f' ? graph.fact(0, graph.find(kids[0]))
                                      : graph.opName(op)[0];
  }
  std::optional<uint32_t> join(uint32_t a, uint32_t b) override {
    return a == b ? std::optional(a) : std::nullopt;
  }
};

TEST(Facts, contradictionsNameRuleAndAnalysis) {
  EGraph graph;
  graph.addAnalysis(std::make_unique<Contradicts>());
  Terms t(graph);
  ClassId one = t.add("(f a1)"), same = t.add("(f a2)"), other = t.add("b");
  EXPECT_EQ(graph.unite(one, same, 5), Merge::Merged);
  EXPECT_EQ(graph.unite(same, other, 6), Merge::Conflict);
  ASSERT_TRUE(graph.conflict());
  EXPECT_EQ(graph.conflict()->rule, 6u);
  EXPECT_EQ(graph.conflict()->analysis, 0u);
  EXPECT_FALSE(graph.rebuild());
}

/// Which of the leaves k0, k1, ... a value has below it.
class Below : public Analysis {
public:
  uint32_t make(const EGraph &graph, OpId op, PayloadId,
                std::span<const ClassId> kids) override {
    const std::string &name = graph.opName(op);
    uint32_t all = name[0] == 'k' ? 1u << (name[1] - '0') : 0;
    for (ClassId kid : kids)
      all |= graph.fact(0, graph.find(kid));
    return all;
  }
  std::optional<uint32_t> join(uint32_t a, uint32_t b) override {
    return a | b;
  }
};

/// Facts of leaves reach everything above them, however deep the terms are,
/// even several facts at a time.
TEST(Facts, deepTerms) {
  for (unsigned seed = 0; seed != 200; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 rng(seed);
    EGraph graph;
    graph.addAnalysis(std::make_unique<Below>());
    PayloadId p = graph.getPayload(0, {});
    const OpId ops[] = {graph.addOp("n", 1), graph.addOp("f", 2),
                        graph.addOp("+", 2, true)};
    std::vector<ClassId> values, leaves;
    const unsigned width = 1 + seed % 5, depth = 10 + rng() % 300;
    for (unsigned i = 0; i != width; ++i)
      leaves.push_back(graph.add(graph.addOp("x", 0), p, {}));
    values = leaves;
    for (unsigned i = 0; i != depth; ++i) {
      OpId op = ops[rng() % std::size(ops)];
      ClassId kids[2];
      for (ClassId &kid : kids)
        kid = values[values.size() - 1 - rng() % width];
      values.push_back(graph.add(op, p, {kids, graph.arity(op)}));
    }
    ASSERT_TRUE(graph.rebuild());
    const uint32_t before = graph.round();
    for (unsigned i = 0; i != width; ++i)
      graph.unite(leaves[i],
                  graph.add(graph.addOp("k" + std::to_string(i), 0), p, {}));
    // A cycle, along which facts propagate.
    graph.unite(values.back(), values[values.size() / 2]);
    ASSERT_TRUE(graph.rebuild());
    // The facts are exactly those that follow from the rows.
    std::vector<uint32_t> least(graph.numClassIds());
    for (bool more = true; more;) {
      more = false;
      for (OpId op = 0; op != graph.numOps(); ++op)
        for (uint32_t row = 0; row != graph.table(op).numRows(); ++row) {
          const uint32_t *key = graph.table(op).key(row);
          const std::string &name = graph.opName(op);
          uint32_t all = name[0] == 'k' ? 1u << (name[1] - '0') : 0;
          for (uint32_t k = 0; k != graph.arity(op); ++k)
            all |= least[key[k]];
          uint32_t &fact = least[graph.table(op).classOf(row)];
          more |= (fact | all) != fact;
          fact |= all;
        }
    }
    for (ClassId c = 0; c != graph.numClassIds(); ++c)
      if (graph.find(c) == c) {
        EXPECT_EQ(graph.fact(0, c), least[c]) << c;
        if (least[c])
          EXPECT_GE(graph.classStamp(c), before) << c;
      }
  }
}

/// A sweep over all rows for each level would take minutes.
TEST(Facts, veryDeepTerms) {
  EGraph graph;
  graph.addAnalysis(std::make_unique<Below>());
  PayloadId p = graph.getPayload(0, {});
  OpId n = graph.addOp("n", 1);
  ClassId leaf = graph.add(graph.addOp("x", 0), p, {}), top = leaf;
  for (unsigned i = 0; i != 300000; ++i)
    top = graph.add(n, p, {&top, 1});
  ASSERT_TRUE(graph.rebuild());
  graph.unite(leaf, graph.add(graph.addOp("k3", 0), p, {}));
  auto begin = std::chrono::steady_clock::now();
  ASSERT_TRUE(graph.rebuild());
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
  EXPECT_EQ(graph.fact(0, graph.find(top)), 8u);
}

/// Terms so deep that one union causes the next over a hundred times: three
/// copies of a random graph over separate leaves become one copy when the
/// leaves are united. Two are united early, and the third, which wins, late:
/// its leaves are themselves the tops of deep terms.
TEST(Congruence, deepTerms) {
  for (unsigned seed = 0; seed != 200; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 rng(seed);
    EGraph graph;
    std::vector<OpId> ops = {graph.addOp("n", 1), graph.addOp("m", 1),
                             graph.addOp("f", 2), graph.addOp("+", 2, true),
                             graph.addOp("t", 3)};
    PayloadId p = graph.getPayload(0, {});
    const unsigned width = 1 + seed % 4, depth = 20 + rng() % 200;
    constexpr unsigned kLate = 40;
    OpId d = graph.addOp("d", 1);
    std::vector<ClassId> copies[3], low[3];
    for (unsigned k = 0; k != 3; ++k) {
      for (unsigned i = 0; i != width; ++i) {
        ClassId c = graph.add(graph.addOp("x", 0), p, {});
        low[k].push_back(c);
        for (unsigned j = 0; j != kLate; ++j)
          c = graph.add(d, p, {&c, 1});
        copies[k].push_back(c);
      }
      // The operands of + are in another order.
      if (k == 1)
        for (auto *list : {&copies[k], &low[k]})
          std::reverse(list->begin(), list->end());
    }
    for (unsigned i = 0; i != depth; ++i) {
      OpId op = ops[rng() % ops.size()];
      uint32_t at[3];
      for (uint32_t &k : at)
        k = copies[0].size() - 1 - rng() % width;
      for (auto &copy : copies) {
        ClassId kids[] = {copy[at[0]], copy[at[1]], copy[at[2]]};
        copy.push_back(graph.add(op, p, {kids, graph.arity(op)}));
      }
    }
    ASSERT_TRUE(graph.rebuild());
    uint64_t nodes = graph.numNodes() / 3, classes = graph.numClasses() / 3;
    // Count what only one copy has: nodes in its classes and nodes that use
    // them.
    uint64_t own = 0, uses = 0;
    for (auto &copy : copies) {
      OpId use = graph.addOp("use", 1);
      for (size_t i = 0; i < copy.size(); i += 1 + rng() % 5) {
        uses += graph.lookup(use, p, {&copy[i], 1}) == kNone;
        graph.add(use, p, {&copy[i], 1});
        graph.addInto(copy[i], graph.addOp("own", 0), p, {}, kGiven);
        ++own;
      }
    }
    ASSERT_TRUE(graph.rebuild());
    for (unsigned i = 0; i != width; ++i) {
      graph.unite(copies[1][i], copies[2][i]);
      graph.unite(low[0][i], low[1][i]);
      graph.unite(low[1][i], low[2][i]);
    }
    ASSERT_TRUE(graph.rebuild());
    for (size_t i = 0; i != copies[0].size(); ++i)
      for (unsigned k : {1u, 2u})
        ASSERT_EQ(graph.find(copies[0][i]), graph.find(copies[k][i]));
    EXPECT_EQ(graph.numClasses(), classes + uses);
    // Leaves stay three nodes.
    EXPECT_EQ(graph.numNodes(), nodes + 2 * width + uses + own);
    for (ClassId c = 0; c != graph.numClassIds(); ++c)
      EXPECT_EQ(graph.runs(c).empty(), graph.find(c) != c);
    for (OpId op = 0; op != graph.numOps(); ++op) {
      const Table &t = graph.table(op);
      for (uint32_t row = 0; row != t.numRows(); ++row) {
        EXPECT_EQ(t.find(t.key(row)), row);
        for (uint32_t k = 0; k != t.arity(); ++k)
          EXPECT_EQ(graph.find(t.key(row)[k]), t.key(row)[k]);
        if (t.isCommutative())
          EXPECT_LE(t.key(row)[0], t.key(row)[1]);
      }
    }
  }
}

} // namespace
