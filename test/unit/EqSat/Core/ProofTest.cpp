//===- ProofTest.cpp - Explanations as deep as the program ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/EqSat/Core/Proof.h"
#include "gtest/gtest.h"

using namespace luminal::eqsat;

namespace {

/// f(...f(a)) and f(...f(b)), `depth` times, where a and b are equal.
struct Towers {
  EGraph graph;
  ProofLog log;
  ClassId left, right;

  explicit Towers(unsigned depth) {
    graph.proofs = &log;
    PayloadId payload = graph.getPayload(0, {});
    OpId f = graph.addOp("f", 1);
    left = graph.add(graph.addOp("a", 0), payload, {});
    right = graph.add(graph.addOp("b", 0), payload, {});
    ClassId a = left, b = right;
    for (unsigned i = 0; i < depth; ++i) {
      left = graph.add(f, payload, {&left, 1});
      right = graph.add(f, payload, {&right, 1});
    }
    graph.unite(a, b);
    EXPECT_TRUE(graph.rebuild());
  }
};

TEST(Proof, NestsAsDeepAsTerms) {
  Towers towers(1000);
  Explainer explainer(towers.graph, towers.log, {});
  uint32_t chain = explainer.explain(towers.left, towers.right);
  // One congruence in the other, down to the equality that was given.
  unsigned depth = 0;
  while (true) {
    ASSERT_EQ(explainer.result.chains[chain].size(), 1u);
    const Explanation::Step &step =
        explainer.result.steps[explainer.result.chains[chain][0]];
    if (step.operands.empty())
      break;
    chain = step.operands[0];
    ++depth;
  }
  EXPECT_EQ(depth, 1000u);
  EXPECT_FALSE(explainer.isTooDeep());
}

TEST(Proof, StopsAtTheLimitOfTheStack) {
  Towers towers(1000);
  Explainer small(towers.graph, towers.log, {}, 16 << 10);
  small.explain(towers.left, towers.right);
  EXPECT_TRUE(small.isTooDeep());
  Explainer large(towers.graph, towers.log, {}, 7 << 20);
  large.explain(towers.left, towers.right);
  EXPECT_FALSE(large.isTooDeep());
}

} // namespace
