//===- RandomTest.cpp - Random terms and rules against the slow engine ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "NaiveEGraph.h"
#include "Rounds.h"
#include "Terms.h"
#include "luminal/EqSat/Core/Proof.h"
#include "luminal/EqSat/Core/Runner.h"
#include "gtest/gtest.h"

#include <random>

using namespace luminal::eqsat;
using namespace luminal::eqsat::test;

namespace {

struct Symbol {
  const char *name;
  unsigned arity;
};
constexpr Symbol kSymbols[] = {{"a", 0}, {"b", 0}, {"c", 0}, {"n", 1}, {"m", 1},
                               {"f", 2}, {"g", 2}, {"+", 2}, {"t", 3}};

class Generator {
public:
  explicit Generator(uint64_t seed) : rng(seed) {}

  unsigned below(unsigned n) { return rng() % n; }

  Term term(unsigned depth, const std::vector<std::string> &variables) {
    for (;;) {
      if (!variables.empty() && below(depth == 0 ? 2 : 4) == 0)
        return {variables[below(variables.size())], {}};
      const Symbol &s = kSymbols[below(std::size(kSymbols))];
      if (s.arity > 0 && depth == 0)
        continue;
      return build(s, depth, variables);
    }
  }
  /// With an operator at the top.
  Term pattern(unsigned depth, const std::vector<std::string> &variables) {
    const Symbol &s = kSymbols[3 + below(std::size(kSymbols) - 3)];
    return build(s, depth, variables);
  }
  /// A term with some of its parts made variables: so it matches.
  Term generalise(const Term &t, std::map<std::string, std::string> &names,
                  bool top) {
    if (!top && below(3) == 0) {
      auto [it, inserted] =
          names.try_emplace(t.str(), "?" + std::to_string(names.size()));
      // The same part twice is mostly the same variable.
      if (inserted || below(4) != 0)
        return {it->second, {}};
    }
    Term g{t.symbol, {}};
    if (!t.attribute.empty())
      switch (below(3)) {
      case 0:
        g.attribute = t.attribute;
        break;
      case 1: {
        auto [it, inserted] = names.try_emplace(
            "attribute " + t.attribute, "?p" + std::to_string(names.size()));
        g.attribute =
            inserted || below(4) ? it->second : "?q" + std::to_string(below(9));
        break;
      }
      }
    for (const Term &a : t.args)
      g.args.push_back(generalise(a, names, false));
    return g;
  }
  const Term &part(const Term &t) {
    if (t.args.empty() || below(3) == 0)
      return t;
    return part(t.args[below(t.args.size())]);
  }
  std::mt19937_64 rng;
  /// Attributes for the next terms; one term in `size` plus one gets none.
  std::vector<std::string> attributes;

private:
  Term build(const Symbol &s, unsigned depth,
             const std::vector<std::string> &variables) {
    Term t{s.name, {}};
    if (unsigned k = attributes.empty() ? 0 : below(attributes.size() + 1))
      t.attribute = attributes[k - 1];
    for (unsigned i = 0; i != s.arity; ++i)
      t.args.push_back(term(depth - 1, variables));
    return t;
  }
};

void addOnce(std::vector<std::string> &out, const std::string &name) {
  if (std::find(out.begin(), out.end(), name) == out.end())
    out.push_back(name);
}

void collectVariables(const Term &t, std::vector<std::string> &out,
                      std::vector<std::string> &attributes) {
  if (t.isVariable())
    addOnce(out, t.symbol);
  if (t.attribute[0] == '?')
    addOnce(attributes, t.attribute);
  for (const Term &a : t.args)
    collectVariables(a, out, attributes);
}

double sizeOf(const Term &t) {
  double n = 1;
  for (const Term &a : t.args)
    n += sizeOf(a);
  return n;
}

struct Case {
  std::vector<Term> seeds;
  std::vector<TermRule> rules;
  /// Whether classes have facts.
  bool facts = false;

  bool isPlain() const {
    return std::all_of(rules.begin(), rules.end(), [](const TermRule &r) {
      return r.conditions.empty() && !r.byNative;
    });
  }
  std::string str() const {
    std::string s;
    for (const Term &t : seeds)
      s += "seed " + t.str() + "\n";
    for (auto &r : rules)
      s += "rule " + r.str() + "\n";
    return s;
  }
};

Case makeCase(uint64_t seed) {
  Generator g(seed);
  Case c;
  // Every third case uses all features, others plain terms.
  bool rich = seed % 3 == 0;
  c.facts = rich && g.below(2);
  const std::vector<std::string> constants{"0", "1", "2"};
  if (rich)
    g.attributes = constants;
  for (unsigned i = 0, n = 1 + g.below(3); i != n; ++i)
    c.seeds.push_back(g.term(2 + g.below(3), {}));
  for (unsigned i = 0, n = 1 + g.below(4); i != n; ++i) {
    if (rich)
      g.attributes = {"0", "1", "?p", "?q"};
    Term lhs = g.pattern(1 + g.below(2), {"?x", "?y", "?z"});
    if (g.below(4) != 0) {
      std::map<std::string, std::string> names;
      lhs = g.generalise(g.part(c.seeds[g.below(c.seeds.size())]), names, true);
    }
    TermRule rule{lhs, {}};
    std::vector<std::string> variables, attributes;
    collectVariables(lhs, variables, attributes);
    for (unsigned k = 0, e = rich ? g.below(3) : 0; k != e; ++k) {
      if (c.facts && !variables.empty() && g.below(2)) {
        rule.conditions.push_back({Condition::AtLeast,
                                   variables[g.below(variables.size())], "",
                                   1 + g.below(3)});
      } else if (!attributes.empty() && g.below(2)) {
        std::string of = attributes[g.below(attributes.size())];
        // Usually a new name; otherwise the result must equal an existing one.
        std::string result = g.below(3) ? "?r" + std::to_string(k) : "?p";
        rule.conditions.push_back({Condition::Next, of, result});
        addOnce(attributes, result);
      } else if (!attributes.empty()) {
        rule.conditions.push_back({Condition::Odd,
                                   attributes[g.below(attributes.size())], "",
                                   0, g.below(2) != 0});
      }
    }
    if (rich) {
      g.attributes = constants;
      g.attributes.insert(g.attributes.end(), attributes.begin(),
                          attributes.end());
      rule.stratum = Stratum(g.below(kNumStrata));
      rule.byNative = g.below(6) == 0;
    }
    rule.rhs = g.term(g.below(3), variables);
    c.rules.push_back(rule);
  }
  return c;
}

constexpr unsigned kRounds = 4;
constexpr uint64_t kMaxNodes = 150;

/// The result of the slow engine, round by round, up to a size.
struct Expected {
  std::vector<std::pair<uint64_t, uint64_t>> rounds;
  bool saturated = false;
  /// Rounds that changed something.
  unsigned grown = 0;
  NaiveEGraph graph;
  std::vector<unsigned> seeds;
};

Expected runOnce(const Case &c) {
  Expected e;
  e.graph.commutative = {"+"};
  for (const Term &t : c.seeds)
    e.seeds.push_back(e.graph.add(t));
  for (unsigned s = 0; s != kNumStrata; ++s) {
    if (std::none_of(c.rules.begin(), c.rules.end(), [&](const TermRule &r) {
          return r.stratum == Stratum(s);
        }))
      continue;
    for (bool changed = true; changed;) {
      if (e.rounds.size() >= kRounds || e.graph.numNodes() >= kMaxNodes)
        return e;
      auto before = std::pair(e.graph.numNodes(), e.graph.numClasses());
      e.graph.round(c.rules, Stratum(s));
      auto after = std::pair(e.graph.numNodes(), e.graph.numClasses());
      e.rounds.push_back(after);
      // Nodes and classes only disappear by unions, which lower one of the two.
      changed = before != after;
      e.grown += changed;
    }
  }
  e.saturated = true;
  return e;
}

/// The result of the naive engine. A case that does not saturate only gets
/// rules of the stratum that the limits bound.
Expected runNaive(Case &c) {
  Expected e = runOnce(c);
  if (e.saturated)
    return e;
  for (TermRule &r : c.rules)
    r.stratum = Stratum::Alternatives;
  return runOnce(c);
}

/// False if the run did not end: a banned rule may miss a union that would have
/// stopped another rule from growing for ever.
bool compare(const Case &c, const Expected &e, bool incremental, bool staged,
             uint64_t matchLimit = 0) {
  bool ended = true;
  [&] { // ASSERT_* returns nothing
    EGraph graph;
    if (c.facts)
      addFacts(graph);
    Terms terms(graph);
    terms.commutative = {"+"};
    std::vector<ClassId> seeds;
    for (const Term &t : c.seeds)
      seeds.push_back(terms.add(t));
    std::vector<Rule> rules;
    for (size_t i = 0; i != c.rules.size(); ++i) {
      rules.push_back(terms.rule("r" + std::to_string(i), c.rules[i]));
      // Some have their own limit.
      if (matchLimit && i % 2)
        rules.back().matchLimit = 3;
    }
    RunnerOptions options;
    options.maxNodes = 3000;
    options.incremental = incremental;
    options.staged = staged;
    options.matchLimit = matchLimit;
    bool byRound = !staged && !matchLimit;
    if (byRound)
      options.maxIterations = e.rounds.size();
    RunReport report;
    if (options.maxIterations != 0)
      report = saturate(graph, rules, terms.natives, options);
    else
      ASSERT_TRUE(graph.rebuild());
    if (matchLimit && report.stop != StopReason::Saturated) {
      ended = false;
      return;
    }
    if (!byRound) {
      ASSERT_EQ(report.stop, StopReason::Saturated);
    } else {
      ASSERT_GE(report.iterations.size(), e.rounds.size());
      for (size_t r = 0; r != e.rounds.size(); ++r) {
        ASSERT_EQ(report.iterations[r].nodes, e.rounds[r].first)
            << "nodes after round " << r + 1;
        ASSERT_EQ(report.iterations[r].classes, e.rounds[r].second)
            << "classes after round " << r + 1;
      }
    }
    ASSERT_EQ(graph.numNodes(), e.graph.numNodes());
    ASSERT_EQ(graph.numClasses(), e.graph.numClasses());
    // Equal terms, and the smallest term of each class.
    Extractor extractor(
        graph, [](OpId, PayloadId, std::span<const ClassId>) { return 1.0; });
    Selection s = extractor.bottomUp(seeds);
    std::map<unsigned, double> best = e.graph.bestSizes();
    for (size_t i = 0; i != seeds.size(); ++i) {
      ASSERT_EQ(sizeOf(terms.read(seeds[i], s.chosen)),
                best.at(e.graph.find(e.seeds[i])));
      for (size_t j = 0; j != i; ++j)
        ASSERT_EQ(graph.find(seeds[i]) == graph.find(seeds[j]),
                  e.graph.find(e.seeds[i]) == e.graph.find(e.seeds[j]));
    }
  }();
  return ended;
}

/// Reads an explanation without trust: chains are unbroken, congruence steps
/// differ in equal operands only, rule steps are instances of their rules, term
/// by term.
class ProofChecker {
public:
  ProofChecker(const Explanation &e, const EGraph &graph,
               const std::vector<TermRule> &rules)
      : e(e), graph(graph), rules(rules) {}

  bool isChain(uint32_t chain, uint32_t from, uint32_t to) {
    auto [it, inserted] = seen.insert({chain, from, to});
    if (!inserted)
      return true;
    for (uint32_t step : e.chains[chain]) {
      if (e.steps[step].from != from || !isStep(e.steps[step]))
        return false;
      from = e.steps[step].to;
      ++steps;
    }
    return from == to;
  }
  unsigned steps = 0;

private:
  bool isStep(const Explanation::Step &s) {
    const Explanation::Term &from = e.terms[s.from], &to = e.terms[s.to];
    if (s.rule != kNone) {
      const TermRule &rule = rules[s.rule];
      std::map<std::string, uint32_t> binding;
      return isInstance(rule.lhs, s.forward ? s.from : s.to, binding,
                        /*isRight=*/false) &&
             isInstance(rule.rhs, s.forward ? s.to : s.from, binding,
                        /*isRight=*/true);
    }
    if (from.op != to.op || from.payload != to.payload ||
        s.operands.size() != from.operands.size() ||
        (s.swapped && graph.opName(from.op) != "+"))
      return false;
    for (size_t i = 0; i != s.operands.size(); ++i)
      if (!isChain(s.operands[i], from.operands[i],
                   to.operands[s.swapped ? 1 - i : i]))
        return false;
    return true;
  }
  bool isInstance(const Term &pattern, uint32_t term,
                  std::map<std::string, uint32_t> &binding, bool isRight) {
    if (pattern.isVariable())
      return binding.try_emplace(pattern.symbol, term).first->second == term;
    const Explanation::Term &t = e.terms[term];
    if (graph.opName(t.op) != pattern.symbol ||
        t.operands.size() != pattern.args.size())
      return false;
    // A left side without an attribute does not test it.
    if (AttrId a = graph.payloadField(t.payload, 0);
        pattern.attribute.empty()
            ? isRight && a != kNone
            : (pattern.attribute[0] == '?'
                   ? a == kNone || binding.try_emplace(pattern.attribute, a)
                                           .first->second != a
                   : std::to_string(a) != pattern.attribute))
      return false;
    for (size_t i = 0; i != t.operands.size(); ++i)
      if (!isInstance(pattern.args[i], t.operands[i], binding, isRight))
        return false;
    return true;
  }

  const Explanation &e;
  const EGraph &graph;
  const std::vector<TermRule> &rules;
  std::set<std::tuple<uint32_t, uint32_t, uint32_t>> seen;
};

/// Explains every term by the term of its class, and the smallest term of each
/// seed by the seed. Returns the number of steps.
unsigned explain(const Case &c, const Expected &e, bool staged) {
  EGraph graph;
  ProofLog log;
  graph.proofs = &log;
  Terms terms(graph);
  terms.commutative = {"+"};
  terms.explained = true;
  std::vector<ClassId> seeds;
  for (const Term &t : c.seeds)
    seeds.push_back(terms.add(t));
  std::vector<Rule> rules;
  for (size_t i = 0; i != c.rules.size(); ++i)
    rules.push_back(terms.rule("r" + std::to_string(i), c.rules[i]));
  RunnerOptions options;
  options.staged = staged;
  options.maxNodes = 3000;
  if (!e.saturated)
    options.maxIterations = std::max<size_t>(1, e.rounds.size());
  saturate(graph, rules, {}, options);
  if (e.saturated) {
    EXPECT_EQ(graph.numNodes(), e.graph.numNodes());
    EXPECT_EQ(graph.numClasses(), e.graph.numClasses());
  }

  Explainer explainer(graph, log, rules);
  struct Claim {
    uint32_t chain, from, to;
  };
  std::vector<Claim> claims;
  for (uint32_t t = 0; t != log.numTerms(); ++t) {
    uint32_t chain = explainer.explainTerm(t);
    claims.push_back({chain, explainer.spell(t),
                      explainer.given(graph.find(log.term(t).cls))});
  }
  Extractor extractor(
      graph, [](OpId, PayloadId, std::span<const ClassId>) { return 1.0; });
  Selection s = extractor.bottomUp(seeds);
  for (ClassId seed : seeds) {
    uint32_t chain = explainer.explain(seed, extractor, s);
    uint32_t from = explainer.given(seed), to = explainer.endOf(chain, from);
    claims.push_back({chain, from, to});
    auto spell = [&](auto &&self, uint32_t t) -> Term {
      Term term{graph.opName(explainer.result.terms[t].op), {}};
      if (AttrId a = graph.payloadField(explainer.result.terms[t].payload, 0);
          a != kNone)
        term.attribute = std::to_string(a);
      for (uint32_t o : explainer.result.terms[t].operands)
        term.args.push_back(self(self, o));
      return term;
    };
    EXPECT_EQ(spell(spell, to), terms.read(seed, s.chosen));
  }
  // The checker itself refuses a proof with a step that does not hold.
  for (Claim claim : claims)
    if (!explainer.result.chains[claim.chain].empty()) {
      Explanation wrong = explainer.result;
      wrong.steps[wrong.chains[claim.chain].front()].to = claim.from;
      EXPECT_FALSE(ProofChecker(wrong, graph, c.rules)
                       .isChain(claim.chain, claim.from, claim.to));
      wrong = explainer.result;
      wrong.chains[claim.chain].pop_back();
      EXPECT_FALSE(ProofChecker(wrong, graph, c.rules)
                       .isChain(claim.chain, claim.from, claim.to));
      break;
    }
  ProofChecker checker(explainer.result, graph, c.rules);
  for (Claim claim : claims)
    EXPECT_TRUE(checker.isChain(claim.chain, claim.from, claim.to));
  return checker.steps;
}

/// A tenth of the cases for each test, so that they run in parallel.
class Random : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(Tenths, Random, testing::Range(0u, 10u));

TEST_P(Random, againstTheSlowEngine) {
  const uint64_t cases = luminal::test::countRounds(10000, 500);
  uint64_t saturated = 0, grown = 0, endless = 0, steps = 0;
  for (uint64_t i = 0; i != cases; ++i) {
    uint64_t seed = GetParam() * cases + i;
    Case c = makeCase(seed);
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + c.str());
    Expected e = runNaive(c);
    saturated += e.saturated && e.grown;
    grown += e.grown > 1;
    compare(c, e, /*incremental=*/true, /*staged=*/false);
    compare(c, e, /*incremental=*/false, /*staged=*/false);
    if (e.saturated) {
      compare(c, e, /*incremental=*/true, /*staged=*/true);
      endless += !compare(c, e, /*incremental=*/true, /*staged=*/false, 1) ||
                 !compare(c, e, /*incremental=*/true, /*staged=*/true, 2);
    }
    if (i % 4 == 0 && c.isPlain())
      steps += explain(c, e, e.saturated && i % 8 == 0);
    if (HasFailure())
      return;
  }
  EXPECT_GT(steps, cases / 2);
  // The cases are not trivial.
  EXPECT_GT(saturated, cases / 20);
  EXPECT_GT(grown, cases / 20);
  EXPECT_LT(endless, saturated / 50);
}

} // namespace
