//===- CountsTest.cpp - Graphs whose size is known exactly ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Terms.h"
#include "luminal/EqSat/Core/Extraction.h"
#include "luminal/EqSat/Core/Runner.h"
#include "gtest/gtest.h"

using namespace luminal::eqsat;
using namespace luminal::eqsat::test;

static RunnerOptions unlimited(bool incremental, bool staged) {
  RunnerOptions o;
  o.maxNodes = ~uint64_t(0);
  o.maxBytes = ~uint64_t(0);
  o.maxIterations = ~0u;
  o.matchLimit = 0;
  o.incremental = incremental;
  o.staged = staged;
  return o;
}

/// Naive or incremental, staged or not.
struct Mode {
  bool incremental, staged;
};

class Counts : public testing::TestWithParam<Mode> {};
INSTANTIATE_TEST_SUITE_P(Modes, Counts,
                         testing::Values(Mode{false, false}, Mode{true, false},
                                         Mode{false, true}, Mode{true, true}),
                         [](auto &info) {
                           return std::string(info.param.incremental
                                                  ? "incremental"
                                                  : "naive") +
                                  (info.param.staged ? "Staged" : "");
                         });

TEST_P(Counts, sumsOfDistinctLeaves) {
  uint64_t power3 = 27;
  for (unsigned n = 3; n <= 9; ++n, power3 *= 3) {
    EGraph graph;
    Terms terms(graph);
    addSum(terms, n);
    std::vector<Rule> rules = sumRules(terms);
    RunReport report = saturate(
        graph, rules, {}, unlimited(GetParam().incremental, GetParam().staged));
    EXPECT_EQ(report.stop, StopReason::Saturated);
    EXPECT_EQ(graph.numClasses(), (uint64_t(1) << n) - 1);
    EXPECT_EQ(graph.numNodes(), power3 - (uint64_t(1) << (n + 1)) + 1 + n);
  }
}

/// Rounds can be compared only if each round is complete.
class Rounds : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Modes, Rounds, testing::Bool(), [](auto &info) {
  return info.param ? "incremental" : "naive";
});

TEST_P(Rounds, math) {
  static constexpr uint64_t kNodes[] = {35,  69,   118,  208,  389,
                                        784, 1576, 3160, 8113, 28303};
  static constexpr uint64_t kClasses8 = 3576, kClasses9 = 12445;
  EGraph graph;
  Terms terms(graph);
  addMathSeeds(terms);
  std::vector<Rule> rules = mathRules(terms);
  ASSERT_TRUE(graph.rebuild());
  EXPECT_EQ(graph.numNodes(), kNodes[0]);
  RunnerOptions options = unlimited(GetParam(), false);
  options.maxIterations = 9;
  RunReport report = saturate(graph, rules, {}, options);
  EXPECT_EQ(report.stop, StopReason::Iterations);
  ASSERT_EQ(report.iterations.size(), 9u);
  for (unsigned k = 1; k <= 9; ++k)
    EXPECT_EQ(report.iterations[k - 1].nodes, kNodes[k]) << "round " << k;
  EXPECT_EQ(report.iterations[7].classes, kClasses8);
  EXPECT_EQ(report.iterations[8].classes, kClasses9);
}

static Term product(unsigned first, unsigned last) {
  Term t{"m" + std::to_string(last), {}};
  for (unsigned i = last; i-- != first;)
    t = {"*", {{"m" + std::to_string(i), {}}, t}};
  return t;
}

TEST_P(Counts, chainsOfProducts) {
  for (unsigned n : {2u, 5u, 11u, 21u}) {
    EGraph graph;
    Terms terms(graph);
    terms.add(product(0, n - 1));
    std::vector<Rule> rules;
    rules.push_back(terms.rule("Left", "(* ?a (* ?b ?c))", "(* (* ?a ?b) ?c)"));
    rules.push_back(
        terms.rule("Right", "(* (* ?a ?b) ?c)", "(* ?a (* ?b ?c))"));
    RunReport report = saturate(
        graph, rules, {}, unlimited(GetParam().incremental, GetParam().staged));
    EXPECT_EQ(report.stop, StopReason::Saturated);
    EXPECT_EQ(graph.numClasses(), n * (n + 1) / 2);
    EXPECT_EQ(graph.numNodes(), n + (n * n * n - n) / 6);
  }
}
