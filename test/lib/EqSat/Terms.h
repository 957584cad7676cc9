//===- Terms.h - Terms and rules as s-expressions -------------------------===//
//
// A small front end to the core, for tests and benchmarks: terms are written
// `(+ x (* 2 y))`, rules as two terms in which `?a` is a variable.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_TEST_LIB_EQSAT_TERMS_H
#define LUMINAL_TEST_LIB_EQSAT_TERMS_H

#include "luminal/EqSat/EGraph.h"
#include "luminal/EqSat/Extraction.h"
#include "luminal/EqSat/Rule.h"

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace luminal::eqsat::test {

/// A parsed s-expression: a symbol and its arguments.
struct Term {
  std::string symbol;
  std::vector<Term> args;
  bool isVariable() const { return args.empty() && symbol[0] == '?'; }
  bool operator==(const Term &) const = default;
  std::string str() const;
};
/// Aborts on malformed text: it stands in the test.
Term parseTerm(std::string_view text);

/// Operators of one graph by symbol and arity.
class Terms {
public:
  explicit Terms(EGraph &graph) : graph(graph) {}

  /// Symbols that are made commutative operators when they are first seen.
  std::set<std::string> commutative;
  /// Whether rules are made to be explained.
  bool explained = false;

  OpId op(const std::string &symbol, uint32_t arity);
  PayloadId payload() { return graph.getPayload(0, {}); }
  ClassId add(const Term &term);
  ClassId add(std::string_view text) { return add(parseTerm(text)); }
  /// kNone where the graph does not have the term.
  ClassId find(const Term &term);
  ClassId find(std::string_view text) { return find(parseTerm(text)); }
  Rule rule(std::string name, const Term &lhs, const Term &rhs);
  Rule rule(std::string name, std::string_view lhs, std::string_view rhs) {
    return rule(std::move(name), parseTerm(lhs), parseTerm(rhs));
  }
  /// The term that choice `chosen` of each class spells.
  Term read(ClassId c, std::span<const NodeRef> chosen) const;

private:
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
