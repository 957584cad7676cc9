//===- LimitsTest.cpp - Why a run stops, and what it leaves ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Terms.h"
#include "luminal/EqSat/Core/Runner.h"
#include "gtest/gtest.h"

#include <chrono>
#include <ctime>
#include <thread>

using namespace luminal::eqsat;
using namespace luminal::eqsat::test;

namespace {

class Limits : public testing::TestWithParam<bool> {
protected:
  Limits() {
    options.staged = GetParam();
    options.matchLimit = 0;
  }
  RunReport run(uint64_t maxNodes) {
    options.maxNodes = maxNodes;
    return saturate(graph, rules, natives, options);
  }
  /// A native that calls `f` at every call, and always holds.
  uint32_t native(NativeFn f, uint32_t args, uint32_t results) {
    natives.emplace_back(std::move(f), args, results, Native::None);
    return natives.size() - 1;
  }
  bool equal(std::string_view a, std::string_view b) {
    ClassId ca = terms.find(a), cb = terms.find(b);
    return ca != kNone && cb != kNone && graph.find(ca) == graph.find(cb);
  }

  EGraph graph;
  Terms terms{graph};
  std::vector<Rule> rules;
  std::vector<Native> natives;
  RunnerOptions options;
};
INSTANTIATE_TEST_SUITE_P(Modes, Limits, testing::Bool(), [](auto &info) {
  return info.param ? "staged" : "batch";
});

/// Associativity over ten leaves: 57,012 nodes.
constexpr unsigned kLeaves = 10;

/// (s<i> (v (v ... z))): rules that build it step by step, in several rounds.
constexpr unsigned kSteps = 10;
std::string step(unsigned i) {
  std::string inner = "z";
  for (unsigned k = 0; k != 2 * i; ++k)
    inner = "(v " + inner + ")";
  return "(s" + std::to_string(i) + " " + inner + ")";
}

TEST_P(Limits, aUsefulRuleRunsBesideAnExplodingOne) {
  // Test every point of the useful rules at which a round may be undone.
  unsigned compared = 0;
  for (uint64_t matchLimit : {0, 10})
    for (uint64_t maxNodes = 110; maxNodes < 5000; maxNodes += maxNodes / 8) {
      SCOPED_TRACE(testing::Message() << maxNodes << " nodes, " << matchLimit);
      options.maxNodes = maxNodes;
      options.matchLimit = matchLimit;
      {
        // The last whole round must leave room for them.
        EGraph g;
        Terms t(g);
        addSum(t, kLeaves);
        saturate(g, sumRules(t), {}, options);
        if (g.numNodes() + 2 + 3 * kSteps > maxNodes)
          continue;
      }
      ++compared;
      EGraph g;
      Terms t(g);
      addSum(t, kLeaves);
      ClassId first = t.add(step(0));
      std::vector<Rule> all = sumRules(t);
      size_t exploding = all.size();
      for (unsigned i = 0; i != kSteps; ++i)
        all.push_back(t.rule("Step" + std::to_string(i),
                             "(s" + std::to_string(i) + " ?x)",
                             "(s" + std::to_string(i + 1) + " (v (v ?x)))"));
      RunReport report = saturate(g, all, {}, options);
      EXPECT_EQ(report.stop, StopReason::Nodes);
      EXPECT_LE(g.numNodes(), maxNodes);
      EXPECT_EQ(g.numNodes(), report.nodes);
      ClassId last = t.find(step(kSteps));
      ASSERT_NE(last, kNone);
      EXPECT_EQ(g.find(first), g.find(last));
      EXPECT_GT(report.undone, 0u);
      uint32_t undone = 0;
      for (size_t i = 0; i != exploding; ++i)
        undone += report.rules[i].undone;
      EXPECT_GT(undone, 0u);
    }
  EXPECT_GT(compared, 20u);
}

TEST_P(Limits, aRuleThatFitsAfterAllComesBack) {
  // The rule that adds most before the limit is not the one that exceeds it: it
  // is resumed once that one is suspended too.
  options.staged = false;
  for (unsigned i = 0; i != 30; ++i)
    terms.add("(a x" + std::to_string(i) + ")");
  for (unsigned i = 0; i != 20; ++i)
    terms.add("(b y" + std::to_string(i) + ")");
  rules.push_back(terms.rule("A", "(a ?x)", "(c ?x)"));
  rules.push_back(terms.rule("Never", "(b ?x)", "(d (d (d ?x)))"));
  // The program has 100 nodes; A makes 30 more and Never 60.
  RunReport report = run(145);
  EXPECT_EQ(report.stop, StopReason::Nodes);
  EXPECT_TRUE(equal("(a x0)", "(c x0)"));
  EXPECT_EQ(report.rules[0].useful, 30u);
  EXPECT_EQ(report.rules[0].undone, 1u);
  EXPECT_EQ(report.rules[1].undone, 2u);
  EXPECT_EQ(report.rules[1].newNodes, 0u);
  EXPECT_EQ(report.undone, 3u);
}

/// Undone rounds leave nothing: the graph equals that of a run with fewer
/// rounds.
TEST_P(Limits, theGraphIsOneAfterWholeRounds) {
  for (uint64_t maxNodes : {70, 120, 400, 1000, 3000, 8000, 20000}) {
    SCOPED_TRACE(maxNodes);
    EGraph limited, free;
    RunReport reports[2];
    for (EGraph *g : {&limited, &free}) {
      Terms t(*g);
      addSum(t, kLeaves);
      // One rule: there is no other to continue with.
      std::vector<Rule> one;
      t.commutative = {"+"};
      one.push_back(t.rule("Both", "(+ ?a (+ ?b ?c))", "(+ (+ ?b ?a) ?c)"));
      RunnerOptions o = options;
      // In the last round the rule was suspended.
      if (g == &free)
        o.maxIterations = reports[0].iterations.size() - 1;
      o.maxNodes = g == &limited ? maxNodes : ~uint64_t(0);
      reports[g == &free] =
          o.maxIterations ? saturate(*g, one, {}, o) : RunReport{};
      ASSERT_TRUE(g->rebuild());
    }
    if (reports[0].stop != StopReason::Nodes)
      continue;
    EXPECT_EQ(reports[0].undone, 1u);
    EXPECT_EQ(limited.numNodes(), free.numNodes());
    EXPECT_EQ(limited.numClasses(), free.numClasses());
    EXPECT_LE(limited.numNodes(), maxNodes);
    // Matches of the undone round are not counted.
    EXPECT_EQ(reports[0].rules[0].newNodes,
              reports[1].iterations.empty() ? 0 : reports[1].rules[0].newNodes);
  }
}

TEST_P(Limits, bytes) {
  addSum(terms, kLeaves);
  rules = sumRules(terms);
  options.maxBytes = 50000;
  RunReport report = run(~uint64_t(0));
  EXPECT_EQ(report.stop, StopReason::Bytes);
  EXPECT_GT(report.undone, 0u);
  EXPECT_LE(graph.bytes(), options.maxBytes);
}

TEST_P(Limits, noRoomAtAll) {
  addSum(terms, kLeaves);
  ClassId a = terms.add("(n x)"), b = terms.add("(m x)");
  rules = sumRules(terms);
  {
    RuleBuilder r("Unite"); // adds nothing and needs no room
    r.root(terms.op("n", 1), 1);
    r.unite(r.constant(a), r.constant(b));
    rules.push_back(r.finish());
  }
  uint64_t given = graph.numNodes();
  RunReport report = run(given);
  EXPECT_EQ(report.stop, StopReason::Nodes);
  EXPECT_EQ(graph.numNodes(), given);
  EXPECT_EQ(graph.find(a), graph.find(b));
}

TEST_P(Limits, nativesThatMakeNodes) {
  // One call would create nodes forever.
  terms.add("(n x)");
  OpId op = graph.addOp("made", 1);
  uint64_t made = 0;
  uint32_t fn = native(
      [&](std::span<const uint32_t> args, uint32_t *out) {
        ClassId c = args[0];
        for (; c != kNone; ++made) {
          out[0] = c;
          c = graph.add(op, terms.payload(), {&c, 1}, graph.currentRule);
        }
        return true;
      },
      1, 1);
  RuleBuilder r("Make");
  auto n = r.root(terms.op("n", 1), 1);
  Reg last = r.rewrite(fn, {r.use(n.child(0))}, 1, /*creates=*/true);
  r.unite(r.use(n.cls), last);
  rules.push_back(r.finish());
  RunReport report = run(1000);
  EXPECT_EQ(report.stop, StopReason::Nodes);
  EXPECT_EQ(made, 999u); // exactly up to the limit
  EXPECT_EQ(graph.numNodes(), 2u);
  EXPECT_EQ(graph.numClassIds(), 2u);
  EXPECT_EQ(report.rules[0].undone, 1u);
  EXPECT_EQ(report.rules[0].newNodes, 0u);
}

TEST_P(Limits, nativesSeeNoClassThatIsGone) {
  // In the undone round a native is called with classes whose ids are reused
  // afterwards; its cached results must not be used.
  options.staged = false;
  for (unsigned i = 0; i != 40; ++i)
    terms.add("(n x" + std::to_string(i) + ")");
  // Holds for classes of type 0; answers about types are cached for good.
  natives.emplace_back(
      [&](std::span<const uint32_t> args, uint32_t *) {
        return graph.classType(args[0]) == 0;
      },
      1, 0, Native::Always);
  auto add = [&](const char *name, unsigned depth, bool asks) {
    RuleBuilder r(name);
    auto n = r.root(terms.op("n", 1), 1);
    Reg c = r.use(n.child(0)), p = r.constant(terms.payload());
    TypeId type = name == std::string("bad");
    for (unsigned i = 0; i != depth; ++i)
      c = r.node(terms.op(name, 1), r.constant(graph.getPayload(type, {})),
                 {c});
    if (asks) {
      r.rewrite(0, {c}, 0);
      r.unite(r.use(n.cls), r.node(terms.op("accepted", 1), p, {c}));
    }
    rules.push_back(r.finish());
  };
  // The first is suspended when the last begins, whose classes are then
  // numbered as those of `bad` were.
  add("first", 2, false);
  add("bad", 1, true);
  add("spacer", 1, false);
  add("good", 1, true);
  RunReport report = run(80 + 80 + 40 + 40);
  EXPECT_GE(report.rules[0].undone, 1u);
  EXPECT_EQ(report.rules[1].undone, 0u);
  EXPECT_TRUE(equal("(n x0)", "(accepted (good x0))"));
  EXPECT_EQ(terms.find("(accepted (bad x0))"), kNone);
}

/// Wall-clock time of `f`, and the processor time that it used.
struct Seconds {
  explicit Seconds(const std::function<void()> &f) {
    auto begin = std::chrono::steady_clock::now();
    std::clock_t worked = std::clock();
    f();
    wall =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
            .count();
    processor = static_cast<double>(std::clock() - worked) / CLOCKS_PER_SEC;
  }
  double wall, processor;
};

/// The limit is a tenth of a second. Machines are shared, so the upper bound
/// for computation is on processor time.
constexpr double kLimit = 0.1, kSlack = 1.5;

TEST_P(Limits, timeInsideOneMatchThatFindsNothing) {
  // 1000^4 candidate matches for one node, all failing.
  ClassId many = terms.add("(g x0)");
  for (unsigned i = 1; i != 1000; ++i)
    graph.unite(many, terms.add("(g x" + std::to_string(i) + ")"));
  ClassId kids[] = {many, many, many};
  graph.add(terms.op("h", 3), terms.payload(), kids);
  terms.add("(k (h (g x0) (g x0) (g x0)) y)");
  rules.push_back(terms.rule(
      "Vain", "(k (h (g ?a) (g ?b) (g ?c)) (never ?a ?b ?c))", "(k ?a ?b)"));
  // Entered last, as written: the operator must exist.
  terms.op("never", 3);
  rules.push_back(
      terms.rule("Vainer", "(h (g ?a) (g ?b) (g (g ?c)))", "(k ?a ?b)"));
  uint64_t given = graph.numNodes();
  options.maxSeconds = kLimit;
  RunReport report;
  Seconds took([&] { report = run(~uint64_t(0)); });
  EXPECT_EQ(report.stop, StopReason::Time);
  EXPECT_LT(took.processor, kLimit + kSlack);
  EXPECT_GE(took.wall, kLimit);
  EXPECT_LE(graph.numNodes(), given);
  EXPECT_EQ(report.iterations.size(), 0u);
}

TEST_P(Limits, timeInNatives) {
  for (unsigned i = 0; i != 20000; ++i)
    terms.add("(n x" + std::to_string(i) + ")");
  uint64_t given = graph.numNodes();
  auto slow = [&](std::span<const uint32_t>, uint32_t *) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return false;
  };
  options.maxSeconds = kLimit;
  enum Place { Left, Right, Creating };
  for (Place place : {Left, Right, Creating})
    for (uint64_t matchLimit : {0, 100000}) {
      SCOPED_TRACE(testing::Message() << place << " " << matchLimit);
      rules.clear();
      natives.clear();
      options.matchLimit = matchLimit;
      uint32_t fn = native(slow, 1, 0);
      RuleBuilder r("Slow");
      auto n = r.root(terms.op("n", 1), 1);
      if (place == Left)
        r.native(fn, {n.child(0)}, {n.child(0)}, 0);
      else
        r.rewrite(fn, {r.use(n.child(0))}, 0, place == Creating);
      Reg c = r.node(terms.op("m", 1), r.constant(terms.payload()),
                     {r.use(n.child(0))});
      r.unite(r.use(n.cls), c);
      rules.push_back(r.finish());
      RunReport report;
      Seconds took([&] { report = run(~uint64_t(0)); });
      EXPECT_EQ(report.stop, StopReason::Time);
      EXPECT_LT(took.wall, kLimit + kSlack);
      EXPECT_EQ(graph.numNodes(), given);
    }
}

TEST_P(Limits, timeWhileAdding) {
  addSum(terms, 16);
  rules = sumRules(terms);
  uint64_t given = graph.numNodes();
  options.maxSeconds = kLimit;
  options.maxBytes = ~uint64_t(0);
  RunReport report;
  Seconds took([&] { report = run(~uint64_t(0)); });
  EXPECT_EQ(report.stop, StopReason::Time);
  EXPECT_LT(took.processor, kLimit + kSlack);
  EXPECT_GT(graph.numNodes(), given);
}

TEST_P(Limits, timeOfOneRebuild) {
  // A rebuild is not interrupted: one union that goes up two terms of 100,000
  // levels, level by level, must be fast.
  OpId ops[] = {terms.op("n", 1), terms.op("m", 1)};
  ClassId low[] = {terms.add("x"), terms.add("y")};
  for (ClassId c : low)
    for (unsigned i = 0; i != 100000; ++i)
      c = graph.add(ops[i % 2], terms.payload(), {&c, 1});
  {
    RuleBuilder r("Unite");
    r.root(terms.op("x", 0), 0);
    r.unite(r.constant(low[0]), r.constant(low[1]));
    rules.push_back(r.finish());
  }
  RunReport report;
  Seconds took([&] { report = run(~uint64_t(0)); });
  EXPECT_EQ(report.stop, StopReason::Saturated);
  EXPECT_EQ(graph.numClasses(), 100001u);
  EXPECT_LT(took.processor, kSlack);
}

TEST_P(Limits, iterations) {
  addSum(terms, kLeaves);
  rules = sumRules(terms);
  options.maxIterations = 3;
  RunReport report = run(~uint64_t(0));
  EXPECT_EQ(report.stop, StopReason::Iterations);
  EXPECT_EQ(report.iterations.size(), 3u);
}

TEST_P(Limits, conflict) {
  terms.add("(n x)");
  ClassId a = graph.add(graph.addOp("typed", 0), graph.getPayload(1, {}), {});
  RuleBuilder r("Wrong");
  auto n = r.root(terms.op("n", 1), 1);
  r.unite(r.use(n.cls), r.constant(a));
  rules.push_back(r.finish());
  RunReport report = run(1000);
  EXPECT_EQ(report.stop, StopReason::Conflict);
  ASSERT_TRUE(graph.conflict());
  EXPECT_EQ(graph.conflict()->rule, 0u);
}

/// (high (high x)) beside a sum that explodes.
std::vector<Rule> highAndSum(Terms &t) {
  addSum(t, kLeaves);
  t.add("(high (high x))");
  std::vector<Rule> all = sumRules(t);
  all.push_back(t.rule("Recover", "(high ?x)", "(known ?x)"));
  all.back().stratum = Stratum::Recovery;
  all.push_back(t.rule("Lower", "(known ?x)", "(low ?x)"));
  all.back().stratum = Stratum::Lowering;
  return all;
}

TEST_P(Limits, recoveryAndLoweringRunWhateverStopsTheSearch) {
  for (const char *why : {"nodes", "bytes", "iterations", "matches"}) {
    SCOPED_TRACE(why);
    EGraph g;
    Terms t(g);
    std::vector<Rule> all = highAndSum(t);
    uint64_t given = g.numNodes();
    RunnerOptions o = options;
    o.maxNodes = why == std::string("nodes") ? 0 : 2000;
    o.maxBytes = why == std::string("bytes") ? 1 : ~uint64_t(0);
    o.maxIterations = why == std::string("iterations") ? 0 : 1000;
    o.matchLimit = why == std::string("matches") ? 1 : 0;
    RunReport report = saturate(g, all, {}, o);
    EXPECT_NE(report.stop, StopReason::Saturated);
    EXPECT_NE(report.stop, StopReason::Unfinished);
    if (why == std::string("nodes"))
      EXPECT_EQ(g.numNodes(), given + 4);
    ClassId low = t.find("(low (low x))");
    ASSERT_NE(low, kNone);
    EXPECT_EQ(g.find(low), g.find(t.find("(high (high x))")));
  }
}

TEST_P(Limits, alternativesAreSuspendedBeforeLowering) {
  // Lowering adds more than the search does, but is required for its result:
  // all alternatives except the last are lowered.
  terms.add("(n x)");
  rules.push_back(terms.rule("Grow", "(n ?x)", "(n (v ?x))"));
  for (const char *right : {"(a (b (c ?x)))", "(d (e (f ?x)))"}) {
    rules.push_back(terms.rule(right, "(n ?x)", right));
    rules.back().stratum = Stratum::Lowering;
  }
  RunReport report = run(500);
  EXPECT_EQ(report.stop, StopReason::Nodes);
  EXPECT_GT(report.rules[0].undone, 0u);
  EXPECT_GT(report.rules[0].useful, 10u);
  EXPECT_GE(report.rules[1].useful + 2, report.rules[0].useful);
  EXPECT_GE(report.rules[2].useful + 2, report.rules[0].useful);
}

TEST_P(Limits, recoveryThatDoesNotEnd) {
  terms.add("(n x)");
  terms.add("(m x)");
  rules.push_back(terms.rule("Grow", "(n ?x)", "(n (v ?x))"));
  rules.back().stratum = Stratum::Recovery;
  rules.push_back(terms.rule("Fine", "(m ?x)", "(k ?x)"));
  rules.back().stratum = Stratum::Recovery;
  RunReport report = run(100);
  EXPECT_EQ(report.stop, StopReason::Unfinished);
  EXPECT_EQ(report.rules[0].undone, 1u);
  EXPECT_EQ(report.rules[1].undone, 0u);
  EXPECT_GT(report.bound, 1000u);
  EXPECT_LE(graph.numNodes(), report.bound);
  EXPECT_TRUE(equal("(m x)", "(k x)"));
}

TEST_P(Limits, theClockIsNoLimitOfRecovery) {
  // Whether it finishes would depend on the machine, so it is an error.
  terms.add("(n x)");
  rules.push_back(terms.rule("Recover", "(n ?x)", "(k ?x)"));
  rules.back().stratum = Stratum::Recovery;
  options.maxSeconds = 1e-9;
  RunReport report = run(100);
  EXPECT_EQ(report.stop, StopReason::Unfinished);
  EXPECT_EQ(report.undone, 0u);
}

TEST_P(Limits, sameGraphEveryTime) {
  std::vector<uint64_t> seen;
  for (unsigned i = 0; i != 3; ++i) {
    EGraph g;
    Terms t(g);
    addMathSeeds(t);
    std::vector<Rule> all = mathRules(t);
    options.maxNodes = 5000;
    options.maxIterations = 60;
    RunReport report = saturate(g, all, {}, options);
    EXPECT_LE(g.numNodes(), 5000u);
    EXPECT_GT(report.undone, 0u);
    seen.insert(seen.end(), {g.numNodes(), g.numClasses(), report.undone,
                             report.iterations.size()});
  }
  for (size_t i = 4; i != seen.size(); ++i)
    EXPECT_EQ(seen[i], seen[i - 4]);
}

} // namespace
