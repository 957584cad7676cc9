//===- NaiveEGraph.h - The slow engine that the fast one is held to -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Equality saturation by definition: sets and maps, every match of every rule
// in every round, congruence by comparing everything with everything.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_TEST_LIB_EQSAT_NAIVEEGRAPH_H
#define LUMINAL_TEST_LIB_EQSAT_NAIVEEGRAPH_H

#include "Terms.h"

#include <map>
#include <set>

namespace luminal::eqsat::test {

class NaiveEGraph {
public:
  std::set<std::string> commutative;

  unsigned add(const Term &term) { return instantiate(term, {}); }
  unsigned find(unsigned c) const {
    return parent[c] == c ? c : find(parent[c]);
  }
  /// Matches everything, applies everything, restores congruence. Returns the
  /// number of matches.
  uint64_t round(const std::vector<TermRule> &rules) {
    return round(rules, Stratum::Alternatives);
  }
  /// The same with the rules up to a stratum.
  uint64_t round(const std::vector<TermRule> &rules, Stratum stratum);
  void rebuild();

  uint64_t numNodes() const { return nodes.size(); }
  uint64_t numClasses() const;
  /// Size of the smallest term of each class.
  std::map<unsigned, double> bestSizes() const;

private:
  struct Node {
    std::string symbol, attribute;
    std::vector<unsigned> children;
    auto operator<=>(const Node &) const = default;
  };
  using Binding = std::map<std::string, unsigned>;

  Node canonical(Node n) const;
  unsigned instantiate(const Term &t, const Binding &binding);
  std::vector<Binding> match(const Term &t, unsigned cls,
                             const Binding &binding) const;
  std::vector<Binding> matchNode(const Term &t, const Node &n,
                                 Binding binding) const;

  bool holds(const Condition &c, Binding &binding) const;
  void findFacts();

  std::vector<unsigned> parent;
  /// Facts of classes at the beginning of a round.
  std::map<unsigned, unsigned> facts;
  std::map<Node, unsigned> nodes;
};

} // namespace luminal::eqsat::test

#endif // LUMINAL_TEST_LIB_EQSAT_NAIVEEGRAPH_H
