//===- engine.cpp - The e-graph engine alone, without MLIR ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/EqSat/Core/Extraction.h"
#include "luminal/EqSat/Core/Runner.h"
#include <cstdio>

using namespace luminal::eqsat;

/// Prints an extracted term.
static void print(const EGraph &graph, const Selection &s, ClassId c) {
  NodeRef node = s.chosen[graph.find(c)];
  const Table &table = graph.table(node.op);
  std::printf(table.arity() ? "(%s" : "%s", graph.opName(node.op).c_str());
  for (unsigned i = 0; i != table.arity(); ++i) {
    std::printf(" ");
    print(graph, s, table.key(node.row)[i]);
  }
  std::printf(table.arity() ? ")" : "");
}

int main() {
  EGraph graph;
  // Operators, and one payload for all: a type, and no attributes.
  OpId mul = graph.addOp("mul", 2, /*commutative=*/true);
  OpId div = graph.addOp("div", 2), shift = graph.addOp("shift", 2);
  OpId a = graph.addOp("a", 0), one = graph.addOp("1", 0);
  OpId two = graph.addOp("2", 0);
  const TypeId type = 0;
  PayloadId plain = graph.getPayload(type, {});

  // (2 * a) / 2
  ClassId twoClass = graph.add(two, plain, {});
  ClassId product = graph.add(
      mul, plain, std::vector<ClassId>{twoClass, graph.add(a, plain, {})});
  ClassId root = graph.add(div, plain, std::vector<ClassId>{product, twoClass});

  std::vector<Rule> rules;
  { // x * 2 = shift(x, 1), in both orders of the product
    RuleBuilder b("shift");
    RuleBuilder::Op m = b.root(mul, 2);
    b.enter(m.child(1), two, 0);
    Reg payload = b.payload(b.constant(type), {});
    Reg by = b.node(one, payload, {});
    b.unite(b.use(m.cls), b.node(shift, payload, {b.use(m.child(0)), by}));
    rules.push_back(b.finish());
  }
  { // (x * y) / y = x: here for numbers without end, where y is not 0
    RuleBuilder b("cancel");
    RuleBuilder::Op d = b.root(div, 2);
    RuleBuilder::Op m = b.enter(d.child(0), mul, 2);
    b.equal(m.child(1), d.child(1));
    b.unite(b.use(d.cls), b.use(m.child(0)));
    rules.push_back(b.finish());
  }

  RunReport report = saturate(graph, rules, {}, RunnerOptions());
  std::printf("%s: %llu nodes, %llu classes\n", stopReasonName(report.stop),
              (unsigned long long)report.nodes,
              (unsigned long long)report.classes);
  Extractor extractor(
      graph, [](OpId, PayloadId, std::span<const ClassId>) { return 1.0; });
  std::vector<ClassId> roots{root, product};
  Selection s = extractor.greedyDag(roots);
  for (ClassId c : roots) {
    print(graph, s, c);
    std::printf("\n");
  }
  std::printf("cost %g\n", s.dagCost);
  return 0;
}
