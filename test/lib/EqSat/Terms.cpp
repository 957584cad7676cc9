//===- Terms.cpp - Terms and rules as s-expressions -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Terms.h"

#include <algorithm>

#include <cctype>
#include <cstdio>
#include <cstdlib>

using namespace luminal::eqsat;
using namespace luminal::eqsat::test;

namespace {
struct Parser {
  std::string_view text;
  size_t at = 0;

  [[noreturn]] void fail() {
    fprintf(stderr, "malformed term: %.*s\n", int(text.size()), text.data());
    abort();
  }
  void skip() {
    while (at < text.size() && isspace(static_cast<unsigned char>(text[at])))
      ++at;
  }
  std::string symbol() {
    skip();
    size_t begin = at;
    while (at < text.size() && text[at] != '(' && text[at] != ')' &&
           !isspace(static_cast<unsigned char>(text[at])))
      ++at;
    if (begin == at)
      fail();
    return std::string(text.substr(begin, at - begin));
  }
  Term term() {
    skip();
    if (at == text.size())
      fail();
    if (text[at] != '(')
      return {symbol(), {}};
    ++at;
    Term t{symbol(), {}};
    for (skip(); at < text.size() && text[at] != ')'; skip())
      t.args.push_back(term());
    if (at++ == text.size())
      fail();
    return t;
  }
};
} // namespace

Term luminal::eqsat::test::parseTerm(std::string_view text) {
  Parser p{text};
  Term t = p.term();
  p.skip();
  if (p.at != text.size())
    p.fail();
  return t;
}

std::string Term::str() const {
  std::string s = symbol;
  if (!attribute.empty())
    s += "[" + attribute + "]";
  if (args.empty())
    return s;
  s = "(" + s;
  for (const Term &a : args)
    s += " " + a.str();
  return s + ")";
}

std::string TermRule::str() const {
  static constexpr const char *kNames[] = {"odd", "next", "at-least"};
  std::string s = lhs.str() + " -> " + rhs.str();
  for (const Condition &c : conditions)
    s += std::string(" if ") + (c.negated ? "not " : "") + kNames[c.kind] +
         " " + c.variable + " " + c.result + std::to_string(c.bound);
  return s + " in " + stratumName(stratum) + (byNative ? ", by a native" : "");
}

unsigned luminal::eqsat::test::factOf(const std::string &symbol,
                                      const std::vector<unsigned> &kids) {
  switch (symbol[0]) {
  case 'a':
  case 'b':
  case 'c':
    return symbol[0] - 'a' + 1;
  case 'n':
  case 't':
    return *std::max_element(kids.begin(), kids.end());
  case 'f':
  case '+':
    return *std::min_element(kids.begin(), kids.end());
  }
  return 0;
}

namespace {
class Facts final : public Analysis {
public:
  uint32_t make(const EGraph &graph, OpId op, PayloadId,
                std::span<const ClassId> children) override {
    std::vector<unsigned> kids;
    for (ClassId c : children)
      kids.push_back(graph.fact(0, graph.find(c)));
    return factOf(graph.opName(op), kids);
  }
  std::optional<uint32_t> join(uint32_t a, uint32_t b) override {
    return std::max(a, b);
  }
};
} // namespace

void luminal::eqsat::test::addFacts(EGraph &graph) {
  graph.addAnalysis(std::make_unique<Facts>());
}

OpId Terms::op(const std::string &symbol, uint32_t arity) {
  auto [it, inserted] = ops.try_emplace({symbol, arity}, 0);
  if (inserted)
    it->second = graph.addOp(symbol, arity, commutative.count(symbol));
  return it->second;
}

PayloadId Terms::payloadOf(const Term &term, const Binding &binding) {
  if (term.attribute.empty())
    return payload();
  return payload(term.attribute[0] == '?' ? binding.at(term.attribute)
                                          : std::stoul(term.attribute));
}

/// kNone where a limit is reached.
ClassId Terms::instantiate(const Term &term, const Binding &binding,
                           RuleId rule) {
  if (term.isVariable())
    return binding.at(term.symbol);
  std::vector<ClassId> children;
  for (const Term &a : term.args) {
    children.push_back(instantiate(a, binding, rule));
    if (children.back() == kNone)
      return kNone;
  }
  return graph.add(op(term.symbol, children.size()), payloadOf(term, binding),
                   children, rule);
}

ClassId Terms::add(const Term &term) { return instantiate(term, {}, kGiven); }

ClassId Terms::find(const Term &term) {
  std::vector<ClassId> children;
  for (const Term &a : term.args) {
    ClassId c = find(a);
    if (c == kNone)
      return kNone;
    children.push_back(graph.find(c));
  }
  ClassId c = graph.lookup(op(term.symbol, children.size()),
                           payloadOf(term, {}), children);
  return c == kNone ? kNone : graph.find(c);
}

Rule Terms::rule(std::string name, const TermRule &rule) {
  RuleBuilder b(std::move(name));
  std::map<std::string, Reg> vars;
  auto bind = [&](const std::string &variable, Reg reg) {
    auto [it, inserted] = vars.try_emplace(variable, reg);
    if (!inserted)
      b.equal(it->second, reg);
  };
  auto match = [&](auto &&self, const Term &t, const Reg *cls) -> Reg {
    OpId id = op(t.symbol, t.args.size());
    RuleBuilder::Op at =
        cls ? b.enter(*cls, id, t.args.size()) : b.root(id, t.args.size());
    if (!t.attribute.empty()) {
      Reg attribute = b.field(at.payload, 0);
      if (t.attribute[0] == '?')
        bind(t.attribute, attribute);
      else
        b.is(attribute, std::stoul(t.attribute));
    }
    for (uint32_t i = 0; i != t.args.size(); ++i)
      if (t.args[i].isVariable())
        bind(t.args[i].symbol, at.child(i));
    for (uint32_t i = 0; i != t.args.size(); ++i)
      if (!t.args[i].isVariable()) {
        Reg child = at.child(i);
        self(self, t.args[i], &child);
      }
    return at.cls;
  };
  Reg root = match(match, rule.lhs, nullptr);
  for (const Condition &c : rule.conditions) {
    Reg arg = vars.at(c.variable);
    auto fn = [this, c](std::span<const uint32_t> args, uint32_t *results) {
      switch (c.kind) {
      case Condition::Odd:
        return (args[0] % 2 != 0) != c.negated;
      case Condition::Next:
        results[0] = args[0] + 1;
        return args[0] < 2;
      case Condition::AtLeast:
        return (graph.fact(0, graph.find(args[0])) >= c.bound) != c.negated;
      }
      return false;
    };
    bool isFact = c.kind == Condition::AtLeast, hasResult = !c.result.empty();
    natives.emplace_back(fn, 1, hasResult,
                         isFact ? Native::Round : Native::Always);
    Reg result = b.native(natives.size() - 1, {arg},
                          isFact ? std::vector<Reg>{arg} : std::vector<Reg>{},
                          hasResult);
    if (hasResult)
      bind(c.result, result);
  }
  auto make = [&](auto &&self, const Term &t) -> Reg {
    if (t.isVariable())
      return b.use(vars.at(t.symbol));
    std::vector<Reg> children;
    for (const Term &a : t.args)
      children.push_back(self(self, a));
    Reg made =
        t.attribute[0] == '?'
            ? b.payload(b.constant(0), {{0, b.use(vars.at(t.attribute))}})
            : b.constant(payloadOf(t, {}));
    return b.node(op(t.symbol, children.size()), made, children);
  };
  Reg made;
  if (rule.byNative) {
    std::vector<Reg> args;
    std::vector<std::string> names;
    for (auto &[variable, reg] : vars) {
      names.push_back(variable);
      args.push_back(b.use(reg));
    }
    auto fn = [this, names, rhs = rule.rhs](std::span<const uint32_t> args,
                                            uint32_t *results) {
      Binding binding;
      for (size_t i = 0; i != names.size(); ++i)
        binding[names[i]] = args[i];
      results[0] = instantiate(rhs, binding, graph.currentRule);
      return results[0] != kNone;
    };
    natives.emplace_back(fn, args.size(), 1, Native::None);
    made = b.rewrite(natives.size() - 1, args, 1, /*creates=*/true);
  } else {
    made = make(make, rule.rhs);
  }
  b.unite(b.use(root), made);
  b.rule().stratum = rule.stratum;
  return b.finish(explained);
}

Term Terms::read(ClassId c, std::span<const NodeRef> chosen) const {
  NodeRef ref = chosen[graph.find(c)];
  const Table &t = graph.table(ref.op);
  Term term{graph.opName(ref.op), {}};
  if (AttrId a = graph.payloadField(t.payload(ref.row), 0); a != kNone)
    term.attribute = std::to_string(a);
  for (uint32_t i = 0; i != t.arity(); ++i)
    term.args.push_back(read(t.key(ref.row)[i], chosen));
  return term;
}

ClassId luminal::eqsat::test::addSum(Terms &terms, unsigned n) {
  Term sum{"x" + std::to_string(n - 1), {}};
  for (unsigned i = n - 1; i-- != 0;)
    sum = {"+", {{"x" + std::to_string(i), {}}, sum}};
  return terms.add(sum);
}

std::vector<Rule> luminal::eqsat::test::sumRules(Terms &terms) {
  std::vector<Rule> rules;
  rules.push_back(terms.rule("Commute", "(+ ?a ?b)", "(+ ?b ?a)"));
  rules.push_back(
      terms.rule("Associate", "(+ ?a (+ ?b ?c))", "(+ (+ ?a ?b) ?c)"));
  return rules;
}

void luminal::eqsat::test::addMathSeeds(Terms &terms) {
  for (const char *seed :
       {"(i (ln x) x)", "(i (+ x (cos x)) x)", "(i (* (cos x) x) x)",
        "(d x (+ 1 (* 2 x)))", "(d x (- (pow x 3) (* 7 (pow x 2))))",
        "(+ (* y (+ x y)) (- (+ x 2) (+ x x)))",
        "(/ 1 (- (/ (+ 1 (sqrt five)) 2) (/ (- 1 (sqrt five)) 2)))"})
    terms.add(seed);
}

std::vector<Rule> luminal::eqsat::test::mathRules(Terms &terms) {
  static constexpr const char *kRules[][3] = {
      {"CommuteAdd", "(+ ?a ?b)", "(+ ?b ?a)"},
      {"CommuteMul", "(* ?a ?b)", "(* ?b ?a)"},
      {"AssociateAdd", "(+ ?a (+ ?b ?c))", "(+ (+ ?a ?b) ?c)"},
      {"AssociateMul", "(* ?a (* ?b ?c))", "(* (* ?a ?b) ?c)"},
      {"SubOfAdd", "(- ?a ?b)", "(+ ?a (* -1 ?b))"},
      {"AddZero", "(+ ?a 0)", "?a"},
      {"MulZero", "(* ?a 0)", "0"},
      {"MulOne", "(* ?a 1)", "?a"},
      {"SubSelf", "(- ?a ?a)", "0"},
      {"Distribute", "(* ?a (+ ?b ?c))", "(+ (* ?a ?b) (* ?a ?c))"},
      {"Factor", "(+ (* ?a ?b) (* ?a ?c))", "(* ?a (+ ?b ?c))"},
      {"MulPow", "(* (pow ?a ?b) (pow ?a ?c))", "(pow ?a (+ ?b ?c))"},
      {"PowOne", "(pow ?x 1)", "?x"},
      {"PowTwo", "(pow ?x 2)", "(* ?x ?x)"},
      {"DiffAdd", "(d ?x (+ ?a ?b))", "(+ (d ?x ?a) (d ?x ?b))"},
      {"DiffMul", "(d ?x (* ?a ?b))", "(+ (* ?a (d ?x ?b)) (* ?b (d ?x ?a)))"},
      {"DiffSin", "(d ?x (sin ?x))", "(cos ?x)"},
      {"DiffCos", "(d ?x (cos ?x))", "(* -1 (sin ?x))"},
      {"IntOne", "(i 1 ?x)", "?x"},
      {"IntCos", "(i (cos ?x) ?x)", "(sin ?x)"},
      {"IntSin", "(i (sin ?x) ?x)", "(* -1 (cos ?x))"},
      {"IntAdd", "(i (+ ?f ?g) ?x)", "(+ (i ?f ?x) (i ?g ?x))"},
      {"IntSub", "(i (- ?f ?g) ?x)", "(- (i ?f ?x) (i ?g ?x))"},
      {"IntParts", "(i (* ?a ?b) ?x)",
       "(- (* ?a (i ?b ?x)) (i (* (d ?x ?a) (i ?b ?x)) ?x))"},
  };
  std::vector<Rule> rules;
  for (auto &[name, lhs, rhs] : kRules)
    rules.push_back(terms.rule(name, lhs, rhs));
  return rules;
}
