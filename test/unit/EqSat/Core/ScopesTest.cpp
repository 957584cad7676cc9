//===- ScopesTest.cpp - What a scope sees and pays for --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/EqSat/Core/Serialize.h"
#include "luminal/Support/Json.h"
#include "gtest/gtest.h"

#include <map>
#include <random>
#include <set>

using namespace luminal;
using namespace luminal::eqsat;

namespace {

/// A random graph whose leaves exist in random scopes.
struct Program {
  EGraph graph;
  Scopes scopes;
  std::vector<double> costs;      ///< by operator
  std::vector<ScopeId> leafScope; ///< by operator, of leaves
  std::vector<ClassId> classes;

  explicit Program(std::mt19937 &rng) {
    unsigned numScopes = 2 + rng() % 4, numClasses = 3 + rng() % 12;
    for (ScopeId s = 1; s < numScopes; ++s)
      scopes.list.push_back({ScopeId(rng() % s), double(1 + rng() % 4)});
    scopes.scopeOf = [this](OpId op, PayloadId) { return leafScope[op]; };
    PayloadId payload = graph.getPayload(0, {});
    auto add = [&](std::vector<ClassId> kids, double cost, ScopeId scope) {
      OpId op = graph.addOp("op", kids.size());
      costs.push_back(cost);
      leafScope.push_back(scope);
      return graph.add(op, payload, kids);
    };
    // Classes begin as leaves that may not be taken.
    for (unsigned c = 0; c != numClasses; ++c)
      classes.push_back(add({}, kInfiniteCost, 0));
    for (unsigned c = 0; c != numClasses; ++c)
      for (unsigned n = rng() % 4; n-- != 0;) {
        std::vector<ClassId> kids;
        for (unsigned k = c == 0 ? 0 : rng() % 3; k-- != 0;)
          kids.push_back(classes[rng() % 6 ? rng() % c : rng() % numClasses]);
        graph.unite(classes[c],
                    add(kids, double(rng() % 10), rng() % numScopes));
      }
    EXPECT_TRUE(graph.rebuild());
  }

  bool isWithin(ScopeId inner, ScopeId outer) const {
    for (;; inner = scopes.list[inner].parent) {
      if (inner == outer)
        return true;
      if (inner == 0)
        return false;
    }
  }
  double trips(ScopeId s) const {
    return s == 0 ? 1 : scopes.list[s].trips * trips(scopes.list[s].parent);
  }
  template <typename F>
  void forEachRow(F &&f) const {
    for (OpId op = 0; op != graph.numOps(); ++op)
      for (uint32_t row = 0; row != graph.table(op).numRows(); ++row)
        if (costs[op] < kInfiniteCost)
          f(op, graph.table(op), row);
  }
  /// All classes that a scope can compute, found by iterating over all rows to
  /// a fixed point.
  std::set<ClassId> computable(ScopeId s) const {
    std::set<ClassId> done;
    for (size_t before = ~size_t(0); before != done.size();) {
      before = done.size();
      forEachRow([&](OpId op, const Table &t, uint32_t row) {
        bool ready = t.arity() != 0 || isWithin(s, leafScope[op]);
        for (uint32_t k = 0; k != t.arity(); ++k)
          ready &= done.count(t.key(row)[k]) != 0;
        if (ready)
          done.insert(t.classOf(row));
      });
    }
    return done;
  }
};

TEST(Scopes, randomProgramsSeeOnlyWhatIsAround) {
  std::mt19937 rng(7);
  unsigned inner = 0, shared = 0;
  for (unsigned run = 0; run != 2000; ++run) {
    Program p(rng);
    auto cost = [&](OpId op, PayloadId, std::span<const ClassId>) {
      return p.costs[op];
    };
    Extractor e(p.graph, cost, p.scopes);
    std::vector<std::set<ClassId>> computable;
    for (ScopeId s = 0; s != p.scopes.list.size(); ++s)
      computable.push_back(p.computable(s));
    std::vector<ClassId> roots;
    for (ClassId c : p.classes)
      for (ScopeId s = 0; s != p.scopes.list.size(); ++s) {
        ClassId root = p.graph.find(c), name = e.in(c, s);
        ASSERT_EQ(name != kNone, computable[s].count(root) != 0);
        if (name == kNone) {
          EXPECT_NE(e.blocker(e.greedyDag({}), c, s), kNone);
          continue;
        }
        // The outermost scope that can.
        ScopeId home = e.scopeOf(name);
        EXPECT_EQ(e.classOf(name), root);
        EXPECT_TRUE(p.isWithin(s, home));
        EXPECT_TRUE(home == 0 ||
                    !computable[p.scopes.list[home].parent].count(root));
        roots.push_back(name);
      }
    for (const Selection &s : {e.greedyDag(roots), e.bottomUp(roots)}) {
      std::set<ClassId> done;
      double total = 0;
      for (ClassId name : e.order(s, roots)) {
        NodeRef ref = s.chosen[name];
        const Table &t = p.graph.table(ref.op);
        ScopeId home = e.scopeOf(name);
        EXPECT_EQ(t.classOf(ref.row), e.classOf(name));
        EXPECT_TRUE(t.arity() != 0 || p.isWithin(home, p.leafScope[ref.op]));
        for (uint32_t k = 0; k != t.arity(); ++k) {
          ClassId child = e.child(s, name, k);
          EXPECT_EQ(e.classOf(child), t.key(ref.row)[k]);
          EXPECT_TRUE(p.isWithin(home, e.scopeOf(child)));
          EXPECT_TRUE(done.count(child));
        }
        done.insert(name);
        total += p.costs[ref.op] * p.trips(home);
        inner += home != 0;
      }
      EXPECT_NEAR(s.dagCost, total, 1e-9 * total);
      std::set<ClassId> classes;
      for (ClassId name : done)
        shared += !classes.insert(e.classOf(name)).second;
    }
  }
  // Every case occurred.
  EXPECT_GT(inner, 1000u);
  EXPECT_GT(shared, 100u);
}

/// Price of everything that the names need, with every use counted.
double treeCost(const Program &p, const Extractor &e, const Selection &s,
                std::span<const ClassId> names) {
  std::map<ClassId, double> tree;
  for (ClassId name : e.order(s, names)) {
    NodeRef ref = s.chosen[name];
    double &sum = tree[name] = p.costs[ref.op] * p.trips(e.scopeOf(name));
    for (uint32_t k = 0; k != p.graph.table(ref.op).arity(); ++k)
      sum += tree[e.child(s, name, k)];
  }
  double total = 0;
  for (ClassId name : std::set<ClassId>(names.begin(), names.end()))
    total += tree[name];
  return total;
}

TEST(Scopes, anyExtractorMayChooseFromTheJson) {
  std::mt19937 rng(11);
  unsigned inner = 0, refused = 0;
  for (unsigned run = 0; run != 500; ++run) {
    SCOPED_TRACE(run);
    Program p(rng);
    auto cost = [&](OpId op, PayloadId, std::span<const ClassId>) {
      return p.costs[op];
    };
    Extractor e(p.graph, cost, p.scopes);
    std::vector<ScopedClass> uses;
    std::vector<ClassId> roots;
    for (ClassId c : p.classes)
      for (ScopeId s = 0; s != p.scopes.list.size(); ++s)
        if (ClassId name = e.in(c, s); name != kNone && rng() % 3 == 0) {
          uses.push_back({c, s});
          roots.push_back(name);
        }
    GraphSerializer::Labels labels;
    labels.node = [](OpId op, PayloadId) { return std::to_string(op); };
    labels.type = [](TypeId) { return std::string("f32"); };
    std::map<std::string, std::pair<NodeRef, ScopedClass>> byName;
    GraphSerializer to;
    to.add(p.graph, uses, cost, labels, "f:", p.scopes,
           [&](const std::string &name, NodeRef ref, ScopedClass place) {
             byName[name] = {ref, place};
             inner += place.scope != 0;
           });
    auto graph = SerializedGraph::parse(to.str(), "graph");
    ASSERT_TRUE(graph) << graph.error().message;
    EXPECT_EQ((*graph)->numNodes(), byName.size());
    for (auto method : {SerializedGraph::Method::BottomUp,
                        SerializedGraph::Method::GreedyDag}) {
      auto choices = (*graph)->extract(method);
      ASSERT_TRUE(choices) << choices.error().message;
      auto taken = (*graph)->check(*choices, "choices");
      ASSERT_TRUE(taken) << taken.error().message;
      Selection s = e.bottomUp({});
      for (const std::string &name : *taken) {
        auto &[ref, place] = byName[name];
        ClassId own = e.in(place.cls, place.scope);
        ASSERT_EQ(e.scopeOf(own), place.scope);
        s.chosen[own] = ref;
      }
      auto document = JsonDocument::parse(*choices, "choices");
      ASSERT_TRUE(document);
      EXPECT_NEAR(e.dagCost(s, roots),
                  *document->root().at("dag_cost")->asDouble(), 1e-6);
      double best = treeCost(p, e, e.bottomUp(roots), roots);
      double tree = *document->root().at("tree_cost")->asDouble();
      EXPECT_NEAR(treeCost(p, e, s, roots), tree, 1e-9 * tree);
      // Without sharing, the best choice read from the file must be equally
      // good.
      if (method == SerializedGraph::Method::BottomUp)
        EXPECT_NEAR(tree, best, 1e-9 * best);
      // A node of another class in place of a chosen one is an error.
      if (taken->empty())
        continue;
      auto other = std::next(byName.begin(), rng() % byName.size());
      const std::string &name = (*taken)[rng() % taken->size()];
      if (name.substr(0, name.rfind('.')) ==
          other->first.substr(0, other->first.rfind('.')))
        continue;
      std::string wrong = *choices;
      std::string value = ": \"" + name + "\"";
      wrong.replace(wrong.find(value), value.size(),
                    ": \"" + other->first + "\"");
      EXPECT_FALSE((*graph)->check(wrong, "wrong"));
      ++refused;
    }
  }
  EXPECT_GT(inner, 1000u);
  EXPECT_GT(refused, 300u);
}

} // namespace
