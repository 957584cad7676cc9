//===- Terms.h - Terms and rules as s-expressions -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A small front end to the core, for tests and benchmarks: terms are written
// `(+ x (* 2 y))`, rules as two terms in which `?a` is a variable.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_TEST_LIB_EQSAT_TERMS_H
#define LUMINAL_TEST_LIB_EQSAT_TERMS_H

#include "luminal/EqSat/Core/EGraph.h"
#include "luminal/EqSat/Core/Extraction.h"
#include "luminal/EqSat/Core/Rule.h"

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace luminal::eqsat::test {

/// A parsed s-expression: a symbol, its arguments, and an attribute (a number),
/// which the text form lacks. In a pattern the attribute may be a variable; if
/// empty, it is not tested. In other terms, empty means that there is no
/// attribute.
struct Term {
  std::string symbol;
  std::vector<Term> args;
  std::string attribute = "";
  bool isVariable() const { return args.empty() && symbol[0] == '?'; }
  bool operator==(const Term &) const = default;
  std::string str() const;
};
/// Aborts on malformed text: it is part of the test.
Term parseTerm(std::string_view text);

/// A condition of a rule in addition to its left side, on variables bound
/// there.
struct Condition {
  enum Kind {
    Odd,    ///< the attribute `variable` is odd
    Next,   ///< `result` is one more than the attribute, which is below 2
    AtLeast ///< the fact of the class `variable` is at least `bound`
  } kind;
  std::string variable, result = "";
  unsigned bound = 0;
  bool negated = false;
};

/// A rule over terms.
struct TermRule {
  Term lhs, rhs;
  std::vector<Condition> conditions = {};
  Stratum stratum = Stratum::Alternatives;
  /// Whether a native function makes the right side.
  bool byNative = false;

  std::string str() const;
};

/// A fact, from 0 (unknown) to 3, of a node, computed from those of its
/// children. It is monotonic, and a class has the largest fact of its nodes.
unsigned factOf(const std::string &symbol, const std::vector<unsigned> &kids);
/// Registers these facts as the first analysis.
void addFacts(EGraph &graph);

/// Operators of one graph by symbol and arity.
class Terms {
public:
  explicit Terms(EGraph &graph) : graph(graph) {}

  /// Symbols that become commutative operators.
  std::set<std::string> commutative;
  /// Whether rules are made to be explained.
  bool explained = false;

  OpId op(const std::string &symbol, uint32_t arity);
  PayloadId payload() { return graph.getPayload(0, {}); }
  PayloadId payload(AttrId attribute) {
    Field field{0, attribute};
    return graph.getPayload(0, {&field, 1});
  }
  ClassId add(const Term &term);
  ClassId add(std::string_view text) { return add(parseTerm(text)); }
  /// kNone where the graph does not have the term.
  ClassId find(const Term &term);
  ClassId find(std::string_view text) { return find(parseTerm(text)); }
  Rule rule(std::string name, const TermRule &rule);
  Rule rule(std::string name, const Term &lhs, const Term &rhs) {
    return this->rule(std::move(name), TermRule{lhs, rhs});
  }
  Rule rule(std::string name, std::string_view lhs, std::string_view rhs) {
    return rule(std::move(name), parseTerm(lhs), parseTerm(rhs));
  }
  /// The native functions of the rules.
  std::vector<Native> natives;
  /// The term that the choices `chosen` form for a class.
  Term read(ClassId c, std::span<const NodeRef> chosen) const;

private:
  using Binding = std::map<std::string, uint32_t>;
  PayloadId payloadOf(const Term &term, const Binding &binding);
  ClassId instantiate(const Term &term, const Binding &binding, RuleId rule);

  EGraph &graph;
  std::map<std::pair<std::string, uint32_t>, OpId> ops;
};

/// Right-nested sum of `n` distinct leaves and the rules of associativity and
/// commutativity.
ClassId addSum(Terms &terms, unsigned n);
std::vector<Rule> sumRules(Terms &terms);

/// The microbenchmark of symbolic differentiation and integration.
void addMathSeeds(Terms &terms);
std::vector<Rule> mathRules(Terms &terms);

} // namespace luminal::eqsat::test

#endif // LUMINAL_TEST_LIB_EQSAT_TERMS_H
