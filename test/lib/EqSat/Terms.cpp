//===- Terms.cpp - Terms and rules as s-expressions -----------------------===//

#include "Terms.h"

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
  if (args.empty())
    return symbol;
  std::string s = "(" + symbol;
  for (const Term &a : args)
    s += " " + a.str();
  return s + ")";
}

OpId Terms::op(const std::string &symbol, uint32_t arity) {
  auto [it, inserted] = ops.try_emplace({symbol, arity}, 0);
  if (inserted)
    it->second = graph.addOp(symbol, arity, commutative.count(symbol));
  return it->second;
}

ClassId Terms::add(const Term &term) {
  std::vector<ClassId> children;
  for (const Term &a : term.args)
    children.push_back(add(a));
  return graph.add(op(term.symbol, children.size()), payload(), children);
}

ClassId Terms::find(const Term &term) {
  std::vector<ClassId> children;
  for (const Term &a : term.args) {
    ClassId c = find(a);
    if (c == kNone)
      return kNone;
    children.push_back(graph.find(c));
  }
  ClassId c =
      graph.lookup(op(term.symbol, children.size()), payload(), children);
  return c == kNone ? kNone : graph.find(c);
}

Rule Terms::rule(std::string name, const Term &lhs, const Term &rhs) {
  RuleBuilder b(std::move(name));
  std::map<std::string, Reg> vars;
  auto match = [&](auto &&self, const Term &t, const Reg *cls) -> Reg {
    OpId id = op(t.symbol, t.args.size());
    RuleBuilder::Op at =
        cls ? b.enter(*cls, id, t.args.size()) : b.root(id, t.args.size());
    for (uint32_t i = 0; i != t.args.size(); ++i) {
      if (!t.args[i].isVariable())
        continue;
      auto [it, inserted] = vars.try_emplace(t.args[i].symbol, at.child(i));
      if (!inserted)
        b.equal(it->second, at.child(i));
    }
    for (uint32_t i = 0; i != t.args.size(); ++i)
      if (!t.args[i].isVariable()) {
        Reg child = at.child(i);
        self(self, t.args[i], &child);
      }
    return at.cls;
  };
  Reg root = match(match, lhs, nullptr);
  auto make = [&](auto &&self, const Term &t) -> Reg {
    if (t.isVariable())
      return b.use(vars.at(t.symbol));
    std::vector<Reg> children;
    for (const Term &a : t.args)
      children.push_back(self(self, a));
    return b.node(op(t.symbol, children.size()), b.constant(payload()),
                  children);
  };
  Reg made = make(make, rhs);
  b.unite(b.use(root), made);
  return b.finish(explained);
}

Term Terms::read(ClassId c, std::span<const NodeRef> chosen) const {
  NodeRef ref = chosen[graph.find(c)];
  const Table &t = graph.table(ref.op);
  Term term{graph.opName(ref.op), {}};
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
