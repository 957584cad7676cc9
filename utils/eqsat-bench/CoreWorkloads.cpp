//===- CoreWorkloads.cpp - The engine without MLIR ------------------------===//

#include "Terms.h"
#include "Workloads.h"
#include "luminal/EqSat/Extraction.h"

#include <array>
#include <cstdio>

using namespace luminal::eqsat;
using namespace luminal::eqsat::bench;
using namespace luminal::eqsat::test;

RunnerOptions luminal::eqsat::bench::unlimited() {
  RunnerOptions o;
  o.maxIterations = ~0u;
  o.maxNodes = o.maxBytes = ~uint64_t(0);
  o.maxSeconds = 1e9;
  o.staged = true;
  return o;
}

double luminal::eqsat::bench::megabytesOf(const RunReport &report) {
  return double(report.peakBytes) / 1e6;
}

/// Milliseconds of the run, its bytes, and how they fall to a node.
static Row rowOf(std::string name, const RunReport &report, double seconds,
                 double goal) {
  Row row{std::move(name), seconds * 1e3, goal, megabytesOf(report)};
  char text[96];
  snprintf(text, sizeof(text),
           "%zu rounds: match %.1f, apply %.1f, rebuild %.1f ms",
           report.iterations.size(), report.matchSeconds * 1e3,
           report.applySeconds * 1e3, report.rebuildSeconds * 1e3);
  row.note = text;
  return row;
}

double luminal::eqsat::bench::calibrate() {
  EGraph graph;
  Terms terms(graph);
  addSum(terms, 10);
  std::vector<Rule> rules = sumRules(terms);
  saturate(graph, rules, {}, unlimited());

  // Class, operands, and a chain through the sums of each class.
  const Table &sums = graph.table(terms.op("+", 2));
  std::vector<uint32_t> cls, lhs, rhs, next;
  std::vector<uint32_t> head(graph.numClassIds(), kNone);
  std::vector<uint32_t> parent(graph.numClassIds());
  for (ClassId c = 0; c != parent.size(); ++c)
    parent[c] = graph.find(c);
  for (uint32_t row = 0; row != sums.numFrozen(); ++row) {
    cls.push_back(sums.classOf(row));
    lhs.push_back(sums.key(row)[0]);
    rhs.push_back(sums.key(row)[1]);
    next.push_back(head[cls.back()]);
    head[cls.back()] = row;
  }
  auto find = [&](uint32_t c) {
    while (parent[c] != c)
      c = parent[c];
    return c;
  };
  double best = 1e9;
  size_t matches = 0;
  for (unsigned repeat = 0; repeat != 7; ++repeat) {
    std::vector<std::array<uint32_t, 4>> found;
    double start = now();
    for (uint32_t row = 0; row != cls.size(); ++row)
      for (uint32_t inner = head[find(rhs[row])]; inner != kNone;
           inner = next[inner])
        found.push_back({find(cls[row]), find(lhs[row]), find(lhs[inner]),
                         find(rhs[inner])});
    best = std::min(best, now() - start);
    matches = found.size();
  }
  if (matches != 874500)
    fprintf(stderr, "calibrator: %zu matches instead of 874500\n", matches);
  return best / matches * 1e9;
}

Row luminal::eqsat::bench::runMath() {
  static constexpr uint64_t kNodes[] = {
      35, 69, 118, 208, 389, 784, 1576, 3160, 8113, 28303, 136446, 1047896};
  static constexpr uint64_t kClasses[] = {3576, 12445, 58464, 443832};
  EGraph graph;
  Terms terms(graph);
  addMathSeeds(terms);
  std::vector<Rule> rules = mathRules(terms);
  RunnerOptions options = unlimited();
  options.staged = false; // rounds are compared
  options.maxIterations = 11;
  double start = now();
  RunReport report = saturate(graph, rules, {}, options);
  Row row = rowOf("math, 11 rounds", report, now() - start, 300);
  row.goalMegabytes = 80;
  bool right = true;
  for (unsigned k = 1; k <= 11; ++k) {
    right &= report.iterations[k - 1].nodes == kNodes[k];
    if (k >= 8)
      right &= report.iterations[k - 1].classes == kClasses[k - 8];
  }
  char text[64];
  snprintf(text, sizeof(text), "; %.1f bytes/node (peak %.1f, goal 64)",
           double(report.bytes) / report.nodes,
           double(report.peakBytes) / report.nodes);
  row.note += text;
  if (!right)
    row.note = "WRONG counts; " + row.note;
  return row;
}

Row luminal::eqsat::bench::runSum(unsigned n, double goal) {
  EGraph graph;
  Terms terms(graph);
  addSum(terms, n);
  std::vector<Rule> rules = sumRules(terms);
  double start = now();
  RunReport report = saturate(graph, rules, {}, unlimited());
  Row row = rowOf("sum of " + std::to_string(n), report, now() - start, goal);
  uint64_t power3 = 1;
  for (unsigned i = 0; i != n; ++i)
    power3 *= 3;
  uint64_t power2 = uint64_t(1) << n;
  if (graph.numClasses() != power2 - 1 ||
      graph.numNodes() != power3 - 2 * power2 + 1 + n)
    row.note = "WRONG counts; " + row.note;
  return row;
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
} // namespace

Row luminal::eqsat::bench::runChain(unsigned n, double goal,
                                    double goalMegabytes) {
  EGraph graph;
  graph.addAnalysis(std::make_unique<Ends>(graph));
  Terms terms(graph);
  Term product{"m" + std::to_string(n - 1), {}};
  for (unsigned i = n - 1; i-- != 0;)
    product = {"*", {{"m" + std::to_string(i), {}}, product}};
  ClassId root = terms.add(product);
  std::vector<Rule> rules;
  rules.push_back(terms.rule("Left", "(* ?a (* ?b ?c))", "(* (* ?a ?b) ?c)"));
  rules.push_back(terms.rule("Right", "(* (* ?a ?b) ?c)", "(* ?a (* ?b ?c))"));
  double start = now();
  RunReport report = saturate(graph, rules, {}, unlimited());
  Row row = rowOf("chain of " + std::to_string(n), report, now() - start, goal);
  row.goalMegabytes = goalMegabytes;

  start = now();
  Extractor extractor(
      graph, [&](OpId, PayloadId, std::span<const ClassId> kids) -> double {
        if (kids.empty())
          return 0;
        uint32_t a = graph.fact(0, kids[0]), b = graph.fact(0, kids[1]);
        return double(kDims[Ends::begin(a)]) * kDims[Ends::end(a)] *
               kDims[Ends::end(b)];
      });
  ClassId roots[] = {root};
  double cost = extractor.bottomUp(roots).dagCost;
  char text[64];
  snprintf(text, sizeof(text), "; extraction %.1f ms", (now() - start) * 1e3);
  row.note += text;
  bool right = graph.numClasses() == uint64_t(n) * (n + 1) / 2 &&
               graph.numNodes() == n + (uint64_t(n) * n * n - n) / 6;
  for (const Chain &chain : kChains)
    if (chain.matrices == n)
      right &= cost == double(chain.bestCost);
  if (!right)
    row.note = "WRONG counts or cost; " + row.note;
  return row;
}
