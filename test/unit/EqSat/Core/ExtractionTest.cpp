//===- ExtractionTest.cpp - Extraction ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/EqSat/Core/Extraction.h"
#include "IlpOracle.h"
#include "Terms.h"
#include "luminal/EqSat/Core/Runner.h"
#include "gtest/gtest.h"

#include <cmath>
#include <random>
#include <set>

using namespace luminal::eqsat;
using namespace luminal::eqsat::test;

namespace {

/// A cost by symbol; 1 by default.
struct Prices {
  const EGraph &graph;
  std::map<std::string, double> of;
  double operator()(OpId op, PayloadId, std::span<const ClassId>) const {
    auto it = of.find(graph.opName(op));
    return it == of.end() ? 1 : it->second;
  }
};

TEST(Extraction, sharedTermsArePaidForOnce) {
  EGraph graph;
  Terms t(graph);
  // As a tree f costs more than g; with its operands shared it costs less.
  ClassId f = t.add("(f (big x) (big x))");
  ClassId g = t.add("(g x)");
  graph.unite(f, g);
  ASSERT_TRUE(graph.rebuild());
  Prices prices{graph, {{"big", 10}, {"g", 15}, {"x", 0}, {"f", 1}}};
  Extractor e(graph, prices);
  ClassId roots[] = {f};
  EXPECT_EQ(t.read(f, e.bottomUp(roots).chosen).str(), "(g x)");
  EXPECT_EQ(e.bottomUp(roots).dagCost, 15);
  EXPECT_EQ(t.read(f, e.greedyDag(roots).chosen).str(), "(f (big x) (big x))");
  EXPECT_EQ(e.greedyDag(roots).dagCost, 11);
}

TEST(Extraction, sharingAcrossRootsIsSeen) {
  EGraph graph;
  Terms t(graph);
  // Each root alone is cheapest with a separate term; together they share.
  ClassId a = t.add("(fa (s x))");
  graph.unite(a, t.add("(ga (pa x))"));
  ClassId b = t.add("(fb (s x))");
  graph.unite(b, t.add("(gb (pb x))"));
  ASSERT_TRUE(graph.rebuild());
  Prices prices{graph, {{"s", 10}, {"pa", 8}, {"pb", 8}, {"x", 0}}};
  Extractor e(graph, prices);
  ClassId roots[] = {a, b};
  EXPECT_EQ(e.greedyDag(roots).dagCost, 12);
}

TEST(Extraction, cyclesAreNeverChosen) {
  EGraph graph;
  Terms t(graph);
  // x = id(id(x)) costs nothing, and x itself is expensive.
  ClassId x = t.add("x");
  ClassId y = t.add("(id x)");
  graph.unite(x, t.add("(id (id x))"));
  ASSERT_TRUE(graph.rebuild());
  Prices prices{graph, {{"x", 100}, {"id", 0}}};
  Extractor e(graph, prices);
  ClassId roots[] = {x, y};
  for (const Selection &s : {e.bottomUp(roots), e.greedyDag(roots)}) {
    EXPECT_EQ(s.dagCost, 100);
    EXPECT_EQ(t.read(x, s.chosen).str(), "x");
    EXPECT_EQ(t.read(y, s.chosen).str(), "(id x)");
  }
}

TEST(Extraction, whatNothingLowersIsNamed) {
  EGraph graph;
  Terms t(graph);
  ClassId root = t.add("(ok (bad (ok x)))");
  ASSERT_TRUE(graph.rebuild());
  Prices prices{graph, {{"bad", kInfiniteCost}}};
  Extractor e(graph, prices);
  ClassId roots[] = {root};
  Selection s = e.greedyDag(roots);
  EXPECT_EQ(s.dagCost, kInfiniteCost);
  EXPECT_EQ(e.blocker(s, root), t.find("(bad (ok x))"));
}

TEST(Extraction, deepSharingDoesNotOverflow) {
  // As a tree, it has 2^5000 nodes.
  EGraph graph;
  Terms t(graph);
  ClassId c = t.add("x");
  OpId f = t.op("f", 2);
  for (unsigned i = 0; i != 5000; ++i) {
    ClassId kids[] = {c, c};
    c = graph.add(f, t.payload(), kids);
  }
  ASSERT_TRUE(graph.rebuild());
  Extractor e(graph, Prices{graph, {}});
  ClassId roots[] = {c};
  EXPECT_EQ(e.bottomUp(roots).dagCost, 5001);
  EXPECT_EQ(e.greedyDag(roots).dagCost, 5001);
}

//===----------------------------------------------------------------------===//
// Random graphs against the optimum
//===----------------------------------------------------------------------===//

struct RandomGraph {
  struct Node {
    std::vector<unsigned> children;
    double cost;
  };
  std::vector<std::vector<Node>> classes;
  std::vector<unsigned> roots;
};

RandomGraph makeGraph(std::mt19937 &rng, unsigned numClasses) {
  RandomGraph g;
  g.classes.resize(numClasses);
  for (unsigned c = 0; c != numClasses; ++c) {
    unsigned n = 1 + rng() % 3;
    for (unsigned i = 0; i != n; ++i) {
      RandomGraph::Node node;
      unsigned kids = rng() % 4;
      // Mostly downward, so that something can be computed; sometimes not, so
      // that there are cycles.
      for (unsigned k = 0; k != kids; ++k) {
        unsigned child = rng() % 8 ? (c ? rng() % c : 0) : rng() % numClasses;
        if (c != 0 || rng() % 8 == 0)
          node.children.push_back(child);
      }
      node.cost = 1 + rng() % 20;
      g.classes[c].push_back(node);
    }
  }
  g.roots = {numClasses - 1, numClasses - 2};
  return g;
}

/// The optimum by trying every choice for needed classes, with branch and
/// bound.
struct Optimum {
  const RandomGraph &g;
  double best = kInfiniteCost;
  std::vector<int> choice;

  bool cyclic() const {
    std::vector<int> state(g.classes.size());
    auto visit = [&](auto &&self, unsigned c) -> bool {
      if (state[c] == 1)
        return true;
      if (state[c] == 2 || choice[c] < 0)
        return false;
      state[c] = 1;
      for (unsigned k : g.classes[c][choice[c]].children)
        if (self(self, k))
          return true;
      state[c] = 2;
      return false;
    };
    for (unsigned r : g.roots)
      if (visit(visit, r))
        return true;
    return false;
  }
  void search(std::vector<unsigned> needed, double cost) {
    if (cost >= best)
      return;
    while (!needed.empty() && choice[needed.back()] >= 0)
      needed.pop_back();
    if (needed.empty()) {
      if (!cyclic())
        best = cost;
      return;
    }
    unsigned c = needed.back();
    needed.pop_back();
    for (unsigned i = 0; i != g.classes[c].size(); ++i) {
      const RandomGraph::Node &n = g.classes[c][i];
      choice[c] = i;
      std::vector<unsigned> more = needed;
      more.insert(more.end(), n.children.begin(), n.children.end());
      search(std::move(more), cost + n.cost);
      choice[c] = -1;
    }
  }
};

/// The same problem as an e-graph. Each class also has a leaf of its own, which
/// must not be chosen.
struct Built {
  EGraph graph;
  std::vector<double> costs; ///< by operator
  std::vector<ClassId> roots;
  NodeCostFn cost = [this](OpId op, PayloadId, std::span<const ClassId>) {
    return costs[op];
  };

  explicit Built(const RandomGraph &g)
      : costs(g.classes.size(), kInfiniteCost) {
    PayloadId payload = graph.getPayload(0, {});
    std::vector<ClassId> ids;
    for (unsigned c = 0; c != g.classes.size(); ++c)
      ids.push_back(
          graph.add(graph.addOp("class" + std::to_string(c), 0), payload, {}));
    for (unsigned c = 0; c != g.classes.size(); ++c)
      for (const RandomGraph::Node &n : g.classes[c]) {
        std::vector<ClassId> kids;
        for (unsigned k : n.children)
          kids.push_back(ids[k]);
        OpId op = graph.addOp("node", kids.size());
        costs.push_back(n.cost);
        graph.unite(ids[c], graph.add(op, payload, kids));
      }
    EXPECT_TRUE(graph.rebuild());
    for (unsigned r : g.roots)
      roots.push_back(ids[r]);
  }
};

/// Every needed class has one node, children come before parents (so there is
/// no cycle), and the cost is that of the nodes.
void expectValid(const Built &b, const Extractor &e, const Selection &s) {
  std::vector<bool> done(b.graph.numClassIds());
  double total = 0;
  for (ClassId c : e.order(s, b.roots)) {
    ASSERT_TRUE(s.chosen[c]);
    const Table &t = b.graph.table(s.chosen[c].op);
    uint32_t row = s.chosen[c].row;
    ASSERT_EQ(t.classOf(row), c);
    for (unsigned k = 0; k != t.arity(); ++k)
      ASSERT_TRUE(done[t.key(row)[k]]);
    total += b.costs[s.chosen[c].op];
    done[c] = true;
  }
  for (ClassId root : b.roots)
    ASSERT_TRUE(done[b.graph.find(root)]);
  ASSERT_DOUBLE_EQ(s.dagCost, total);
}

/// Compares with the optimum, or checks that nothing can be computed. Returns
/// the ratio of greedy DAG to the optimum, or 0 where there is none.
double compareWithOptimum(const Built &b, double optimum, uint64_t seed) {
  Extractor e(b.graph, b.cost);
  Selection s = e.greedyDag(b.roots), tree = e.bottomUp(b.roots);
  Candidates candidates(e, b.roots);
  EXPECT_EQ(candidates.best().chosen, s.chosen);
  if (optimum == kInfiniteCost) {
    EXPECT_EQ(s.dagCost, kInfiniteCost);
    EXPECT_EQ(candidates.draw({seed, 0.5}).dagCost, kInfiniteCost);
    return 0;
  }
  EXPECT_LE(s.dagCost, tree.dagCost);
  auto check = [&](const Selection &selection) {
    EXPECT_GE(selection.dagCost, optimum);
    expectValid(b, e, selection);
  };
  check(s);
  check(tree);
  for (double strength : {0.1, 0.5, 10.0}) {
    // The same seed gives the same choice.
    Perturbation p{seed, strength};
    Selection perturbed = e.greedyDag(b.roots, p), drawn = candidates.draw(p);
    EXPECT_EQ(perturbed.chosen, e.greedyDag(b.roots, p).chosen);
    EXPECT_EQ(drawn.chosen, candidates.draw(p).chosen);
    check(perturbed);
    check(drawn);
  }
  // With the true costs, no change may make it worse.
  EXPECT_LE(candidates.draw({}).dagCost, s.dagCost);
  return s.dagCost / optimum;
}

TEST(Extraction, randomGraphsAgainstTheOptimum) {
  std::mt19937 rng(7);
  double ratios = 0;
  unsigned compared = 0;
  for (unsigned trial = 0; compared != 200; ++trial) {
    ASSERT_LT(trial, 1000u);
    RandomGraph g = makeGraph(rng, 8 + rng() % 8);
    Optimum optimum{g, kInfiniteCost, std::vector<int>(g.classes.size(), -1)};
    optimum.search(g.roots, 0);
    double ratio = compareWithOptimum(Built(g), optimum.best, trial);
    ratios += ratio;
    compared += ratio != 0;
  }
  EXPECT_LE(ratios / compared, 1.05);
  RecordProperty("averageRatio", std::to_string(ratios / compared));
  printf("greedy DAG is %.4f of the optimum on average\n", ratios / compared);
}

TEST(Extraction, integerProgramsAgreeWithTheSearch) {
  if (!hasIlpSolver())
    GTEST_SKIP() << "cbc is not installed";
  std::mt19937 rng(11);
  unsigned impossible = 0;
  for (unsigned trial = 0; trial != 100; ++trial) {
    RandomGraph g = makeGraph(rng, 4 + rng() % 12);
    Optimum optimum{g, kInfiniteCost, std::vector<int>(g.classes.size(), -1)};
    optimum.search(g.roots, 0);
    Built b(g);
    EXPECT_EQ(solveByIlp(b.graph, b.roots, b.cost), optimum.best)
        << "graph " << trial;
    impossible += optimum.best == kInfiniteCost;
  }
  EXPECT_GT(impossible, 0u);
  EXPECT_LT(impossible, 50u);
}

TEST(Extraction, largeGraphsAgainstIntegerPrograms) {
  if (!hasIlpSolver())
    GTEST_SKIP() << "cbc is not installed";
  std::mt19937 rng(13);
  double ratios = 0, worst = 1;
  unsigned compared = 0;
  for (unsigned trial = 0; compared != 200; ++trial) {
    ASSERT_LT(trial, 1000u);
    Built b(makeGraph(rng, 30 + rng() % 50));
    std::optional<double> optimum = solveByIlp(b.graph, b.roots, b.cost);
    ASSERT_TRUE(optimum) << "graph " << trial;
    double ratio = compareWithOptimum(b, *optimum, trial);
    ratios += ratio;
    worst = std::max(worst, ratio);
    compared += ratio != 0;
  }
  EXPECT_LE(ratios / compared, 1.05);
  RecordProperty("averageRatio", std::to_string(ratios / compared));
  printf("greedy DAG is %.4f of the optimum on average, %.4f at worst\n",
         ratios / compared, worst);
}

TEST(Extraction, perturbationChangesChoices) {
  EGraph graph;
  Terms t(graph);
  std::vector<ClassId> roots;
  for (unsigned i = 0; i != 64; ++i) {
    std::string n = std::to_string(i);
    ClassId c = t.add("(f x" + n + ")");
    graph.unite(c, t.add("(g x" + n + ")"));
    roots.push_back(c);
  }
  ASSERT_TRUE(graph.rebuild());
  Extractor e(graph, Prices{graph, {}});
  Selection plain = e.greedyDag(roots);
  Candidates candidates(e, roots);
  std::set<std::vector<OpId>> greedy, drawn;
  auto opsOf = [&](const Selection &s) {
    EXPECT_EQ(s.dagCost, plain.dagCost); // all choices cost the same
    std::vector<OpId> ops;
    for (ClassId root : roots)
      ops.push_back(s.chosen[root].op);
    return ops;
  };
  greedy.insert(opsOf(plain));
  drawn.insert(opsOf(plain));
  for (uint64_t seed = 1; seed != 21; ++seed) {
    greedy.insert(opsOf(e.greedyDag(roots, {seed, 0.5})));
    drawn.insert(opsOf(candidates.draw({seed, 0.5})));
  }
  EXPECT_EQ(greedy.size(), 21u);
  EXPECT_EQ(drawn.size(), 21u);
}

TEST(Extraction, bestChainOfProducts) {
  // Dims of eleven matrices; the optimum by dynamic programming.
  const std::vector<double> dims = {30, 35, 15, 5,  10, 20,
                                    25, 40, 8,  12, 50, 6};
  unsigned n = dims.size() - 1;
  std::vector<std::vector<double>> dp(n, std::vector<double>(n));
  for (unsigned len = 2; len <= n; ++len)
    for (unsigned i = 0; i + len <= n; ++i) {
      unsigned j = i + len - 1;
      dp[i][j] = kInfiniteCost;
      for (unsigned k = i; k != j; ++k)
        dp[i][j] = std::min(dp[i][j], dp[i][k] + dp[k + 1][j] +
                                          dims[i] * dims[k + 1] * dims[j + 1]);
    }

  EGraph graph;
  // The type of a class is where its product begins and ends.
  std::vector<OpId> leaves;
  OpId mul = graph.addOp("*", 2);
  std::vector<ClassId> m;
  for (unsigned i = 0; i != n; ++i) {
    OpId leaf = graph.addOp("m" + std::to_string(i), 0);
    m.push_back(graph.add(leaf, graph.getPayload(i * 100 + i + 1, {}), {}));
  }
  ClassId root = m[n - 1];
  for (unsigned i = n - 1; i-- != 0;) {
    ClassId kids[] = {m[i], root};
    root = graph.add(mul, graph.getPayload(i * 100 + n, {}), kids);
  }
  // Right sides need new types: a native computes them from the operands'.
  std::vector<Native> natives;
  natives.emplace_back(
      [&](std::span<const uint32_t> args, uint32_t *out) {
        out[0] = args[0] / 100 * 100 + args[1] % 100;
        return true;
      },
      2, 1, Native::Always);
  std::vector<Rule> rules;
  {
    RuleBuilder b("Left");
    auto outer = b.root(mul, 2);
    auto inner = b.enter(outer.child(1), mul, 2);
    Reg t0 = b.classType(outer.child(0)), t1 = b.classType(inner.child(0));
    Reg t = b.nodeType(outer.payload);
    Reg pair = b.rewrite(0, {b.use(t0), b.use(t1)}, 1);
    Reg ab = b.node(mul, b.payload(pair, {}),
                    {b.use(outer.child(0)), b.use(inner.child(0))});
    Reg abc = b.node(mul, b.payload(b.use(t), {}), {ab, b.use(inner.child(1))});
    b.unite(b.use(outer.cls), abc);
    rules.push_back(b.finish());
  }
  RunnerOptions options;
  options.staged = true;
  RunReport report = saturate(graph, rules, natives, options);
  EXPECT_EQ(report.stop, StopReason::Saturated);
  EXPECT_EQ(graph.numClasses(), n * (n + 1) / 2);
  Extractor e(graph, [&](OpId op, PayloadId, std::span<const ClassId> kids) {
    if (op != mul)
      return 0.0;
    TypeId a = graph.classType(kids[0]), b = graph.classType(kids[1]);
    return dims[a / 100] * dims[a % 100] * dims[b % 100];
  });
  ClassId roots[] = {root};
  EXPECT_EQ(e.bottomUp(roots).dagCost, dp[0][n - 1]);
  EXPECT_EQ(e.greedyDag(roots).dagCost, dp[0][n - 1]);
}

} // namespace
