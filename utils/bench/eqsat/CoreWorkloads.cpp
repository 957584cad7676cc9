//===- CoreWorkloads.cpp - The engine without MLIR ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Terms.h"
#include "Workloads.h"
#include "luminal/EqSat/Core/Extraction.h"

#include <functional>
#include <optional>
#include <set>

using namespace luminal::eqsat;
using namespace luminal::eqsat::bench;
using namespace luminal::eqsat::test;

RunnerOptions luminal::eqsat::bench::unlimited() {
  RunnerOptions o;
  o.maxIterations = ~0u;
  o.maxNodes = o.maxBytes = ~uint64_t(0);
  o.matchLimit = 0;
  o.staged = true;
  return o;
}

void luminal::eqsat::bench::runMath(Figures &figures) {
  static constexpr uint64_t kNodes[] = {
      35, 69, 118, 208, 389, 784, 1576, 3160, 8113, 28303, 136446, 1047896};
  static constexpr uint64_t kClasses[] = {3576, 12445, 58464, 443832};
  RunReport report;
  auto run = [&](unsigned rounds) {
    EGraph graph;
    Terms terms(graph);
    addMathSeeds(terms);
    std::vector<Rule> rules = mathRules(terms);
    RunnerOptions options = unlimited();
    options.staged = false; // rounds are compared
    options.maxIterations = rounds;
    report = saturate(graph, rules, {}, options);
  };
  {
    figures.workload("math, 0 rounds");
    EGraph graph;
    Terms terms(graph);
    addMathSeeds(terms);
    figures.add("nodes", double(graph.numNodes()), "",
                Goal::exactly(double(kNodes[0])));
  }
  for (unsigned k = 1; k <= 11; ++k) {
    figures.workload("math, " + std::to_string(k) + " rounds");
    double megabytes;
    {
      MemoryMeter meter;
      run(k);
      megabytes = meter.megabytes();
    }
    double seconds = figures.time([&] { run(k); });
    figures.add("nodes", double(report.nodes), "",
                Goal::exactly(double(kNodes[k])));
    figures.add("classes", double(report.classes), "",
                k >= 8 ? Goal::exactly(double(kClasses[k - 8])) : Goal());
    figures.add("time", seconds * 1e3, "ms",
                k == 11 ? Goal::milliseconds(300) : Goal());
    if (k != 11)
      continue;
    figures.add("memory", megabytes, "MB", Goal::atMost(80));
    figures.add("bytes a node", megabytes * 1e6 / double(report.nodes), "",
                Goal::atMost(64));
    figures.add("of it held at the end",
                double(report.bytes) / double(report.nodes), "");
    figures.add("of it matching", report.matchSeconds * 1e3, "ms");
    figures.add("of it applying", report.applySeconds * 1e3, "ms");
    figures.add("of it rebuilding", report.rebuildSeconds * 1e3, "ms");
  }
}

void luminal::eqsat::bench::runSums(Figures &figures) {
  uint64_t power3 = 9;
  for (unsigned n = 3; n <= 12; ++n) {
    power3 *= 3;
    uint64_t power2 = uint64_t(1) << n;
    figures.workload("sum of " + std::to_string(n));
    RunReport report;
    double seconds = figures.time([&] {
      EGraph graph;
      Terms terms(graph);
      addSum(terms, n);
      std::vector<Rule> rules = sumRules(terms);
      report = saturate(graph, rules, {}, unlimited());
    });
    figures.add("classes", double(report.classes), "",
                Goal::exactly(double(power2 - 1)));
    figures.add("nodes", double(report.nodes), "",
                Goal::exactly(double(power3 - 2 * power2 + 1 + n)));
    figures.add("time", seconds * 1e3, "ms",
                n == 10   ? Goal::milliseconds(80)
                : n == 11 ? Goal::milliseconds(300)
                          : Goal());
  }
}

namespace {
/// Where the product of a class begins and ends, as one number.
class Ends final : public Analysis {
public:
  Ends(EGraph &graph) : graph(graph) {}
  uint32_t make(const EGraph &, OpId op, PayloadId,
                std::span<const ClassId> children) override {
    if (children.empty()) {
      uint32_t i = atoi(graph.opName(op).c_str() + 1);
      return pack(i, i + 1);
    }
    return pack(begin(graph.fact(0, children[0])),
                end(graph.fact(0, children[1])));
  }
  std::optional<uint32_t> join(uint32_t a, uint32_t b) override {
    return a == b ? std::optional(a) : std::nullopt;
  }
  static uint32_t begin(uint32_t fact) { return (fact - 1) / 256; }
  static uint32_t end(uint32_t fact) { return (fact - 1) % 256; }

private:
  static uint32_t pack(uint32_t begin, uint32_t end) {
    return begin * 256 + end + 1;
  }
  EGraph &graph;
};

/// The graph of all ways to multiply the first `n` matrices.
struct ChainGraph {
  explicit ChainGraph(unsigned n) {
    graph.addAnalysis(std::make_unique<Ends>(graph));
    Term product{"m" + std::to_string(n - 1), {}};
    for (unsigned i = n - 1; i-- != 0;)
      product = {"*", {{"m" + std::to_string(i), {}}, product}};
    root = terms.add(product);
    std::vector<Rule> rules;
    rules.push_back(terms.rule("Left", "(* ?a (* ?b ?c))", "(* (* ?a ?b) ?c)"));
    rules.push_back(
        terms.rule("Right", "(* (* ?a ?b) ?c)", "(* ?a (* ?b ?c))"));
    report = saturate(graph, rules, {}, unlimited());
  }
  /// Multiplications of one product.
  double operator()(OpId, PayloadId, std::span<const ClassId> kids) const {
    if (kids.empty())
      return 0;
    uint32_t a = graph.fact(0, kids[0]), b = graph.fact(0, kids[1]);
    return double(kDims[Ends::begin(a)]) * kDims[Ends::end(a)] *
           kDims[Ends::end(b)];
  }

  EGraph graph;
  Terms terms{graph};
  ClassId root;
  RunReport report;
};
} // namespace

static void runChain(Figures &figures, const Chain &chain) {
  unsigned n = chain.matrices;
  figures.workload("chain of " + std::to_string(n));
  RunReport report;
  uint64_t products = 0;
  double cost = 0, extraction = 0, megabytes = 0;
  double seconds = figures.time([&] {
    MemoryMeter meter;
    ChainGraph g(n);
    report = g.report;
    products = g.graph.table(g.terms.op("*", 2)).numRows();
    double start = now();
    Extractor extractor(g.graph, std::cref(g));
    ClassId roots[] = {g.root};
    cost = extractor.bottomUp(roots).dagCost;
    extraction = now() - start;
    megabytes = meter.megabytes();
  });
  uint64_t N = n;
  figures.add("classes", double(report.classes), "",
              Goal::exactly(double(N * (N + 1) / 2)));
  figures.add("products", double(products), "",
              Goal::exactly(double((N * N * N - N) / 6)));
  figures.add("best cost", cost, "", Goal::exactly(double(chain.bestCost)));
  bool last = n == 161;
  figures.add("time", seconds * 1e3, "ms",
              last ? Goal::milliseconds(8000) : Goal());
  figures.add("of it extraction", extraction * 1e3, "ms");
  if (last)
    figures.add("memory", megabytes, "MB", Goal::atMost(300));
}

void luminal::eqsat::bench::runChains(Figures &figures) {
  for (const Chain &chain : kChains)
    runChain(figures, chain);
}

void luminal::eqsat::bench::runCandidates(Figures &figures) {
  figures.workload("candidates, chain of 100");
  ChainGraph g(100);
  figures.add("classes", double(g.report.classes), "", Goal::exactly(5050));
  constexpr unsigned kDraws = 100;
  ClassId roots[] = {g.root};
  std::optional<Extractor> extractor;
  std::optional<Candidates> candidates;
  double session = figures.time([&] {
    extractor.emplace(g.graph, std::cref(g));
    candidates.emplace(*extractor, roots);
  });
  // Programs differ where what the root reaches does.
  std::set<std::vector<uint32_t>> programs;
  double worst = 0;
  double seconds = figures.time([&] {
    for (uint64_t seed = 1; seed <= kDraws; ++seed)
      worst = std::max(worst, candidates->draw({seed, 0.5}).dagCost);
  });
  for (uint64_t seed = 1; seed <= kDraws; ++seed) {
    Selection s = candidates->draw({seed, 0.5});
    std::vector<uint32_t> rows;
    for (ClassId c : extractor->order(s, roots))
      rows.insert(rows.end(), {c, s.chosen[c].row});
    programs.insert(std::move(rows));
  }
  figures.add("session", session * 1e3, "ms");
  figures.add("a candidate", seconds * 1e3 / kDraws, "ms",
              Goal::milliseconds(5));
  figures.add("programs of " + std::to_string(kDraws), double(programs.size()),
              "");
  figures.add("most expensive, against the best",
              worst / candidates->best().dagCost, "");
}
