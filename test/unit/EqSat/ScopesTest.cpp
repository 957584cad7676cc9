//===- ScopesTest.cpp - What a scope sees and pays for --------------------===//

#include "luminal/EqSat/Extraction.h"
#include "gtest/gtest.h"

#include <random>
#include <set>

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
  /// All classes that a scope can compute, by going over all rows again and
  /// again.
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
  // All of it was tried.
  EXPECT_GT(inner, 1000u);
  EXPECT_GT(shared, 100u);
}

} // namespace
