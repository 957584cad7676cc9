//===- NaiveEGraph.cpp - The slow engine that the fast one is held to -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "NaiveEGraph.h"

#include <algorithm>

using namespace luminal::eqsat::test;

NaiveEGraph::Node NaiveEGraph::canonical(Node n) const {
  for (unsigned &c : n.children)
    c = find(c);
  if (n.children.size() == 2 && commutative.count(n.symbol))
    std::sort(n.children.begin(), n.children.end());
  return n;
}

unsigned NaiveEGraph::instantiate(const Term &t, const Binding &binding) {
  if (t.isVariable())
    return binding.at(t.symbol);
  bool bound = t.attribute[0] == '?';
  Node n{t.symbol,
         bound ? std::to_string(binding.at(t.attribute)) : t.attribute,
         {}};
  for (const Term &a : t.args)
    n.children.push_back(instantiate(a, binding));
  n = canonical(n);
  auto [it, inserted] = nodes.try_emplace(n, parent.size());
  if (inserted)
    parent.push_back(parent.size());
  return it->second;
}

std::vector<NaiveEGraph::Binding>
NaiveEGraph::matchNode(const Term &t, const Node &n, Binding binding) const {
  if (t.symbol != n.symbol || t.args.size() != n.children.size())
    return {};
  if (!t.attribute.empty()) {
    if (n.attribute.empty())
      return {};
    if (t.attribute[0] != '?') {
      if (t.attribute != n.attribute)
        return {};
    } else if (auto [it, inserted] =
                   binding.try_emplace(t.attribute, std::stoul(n.attribute));
               !inserted && it->second != std::stoul(n.attribute)) {
      return {};
    }
  }
  std::vector<std::vector<unsigned>> orders{n.children};
  if (n.children.size() == 2 && commutative.count(n.symbol) &&
      n.children[0] != n.children[1])
    orders.push_back({n.children[1], n.children[0]});
  std::vector<Binding> all;
  for (auto &children : orders) {
    std::vector<Binding> partial{binding};
    for (size_t i = 0; i != t.args.size(); ++i) {
      std::vector<Binding> next;
      for (const Binding &b : partial)
        for (Binding &m : match(t.args[i], children[i], b))
          next.push_back(std::move(m));
      partial = std::move(next);
    }
    all.insert(all.end(), partial.begin(), partial.end());
  }
  return all;
}

std::vector<NaiveEGraph::Binding>
NaiveEGraph::match(const Term &t, unsigned cls, const Binding &binding) const {
  if (t.isVariable()) {
    Binding b = binding;
    auto [it, inserted] = b.try_emplace(t.symbol, cls);
    if (!inserted && it->second != cls)
      return {};
    return {b};
  }
  std::vector<Binding> all;
  for (auto &[n, c] : nodes)
    if (c == cls)
      for (Binding &b : matchNode(t, n, binding))
        all.push_back(std::move(b));
  return all;
}

bool NaiveEGraph::holds(const Condition &c, Binding &binding) const {
  unsigned value = binding.at(c.variable);
  switch (c.kind) {
  case Condition::Odd:
    return (value % 2 != 0) != c.negated;
  case Condition::Next:
    return value < 2 &&
           binding.try_emplace(c.result, value + 1).first->second == value + 1;
  case Condition::AtLeast:
    return (facts.at(value) >= c.bound) != c.negated;
  }
  return false;
}

/// Repeats until nothing grows.
void NaiveEGraph::findFacts() {
  facts.clear();
  for (bool changed = true; changed;) {
    changed = false;
    for (auto &[n, c] : nodes) {
      std::vector<unsigned> kids;
      for (unsigned k : n.children)
        kids.push_back(facts[k]);
      unsigned made = factOf(n.symbol, kids), &fact = facts[c];
      changed |= made > fact;
      fact = std::max(fact, made);
    }
  }
}

uint64_t NaiveEGraph::round(const std::vector<TermRule> &rules,
                            Stratum stratum) {
  findFacts();
  struct Match {
    const TermRule *rule;
    unsigned cls;
    Binding binding;
  };
  std::vector<Match> matches;
  for (const TermRule &r : rules)
    if (r.stratum <= stratum)
      for (auto &[n, c] : nodes)
        for (Binding &b : matchNode(r.lhs, n, {}))
          if (std::all_of(r.conditions.begin(), r.conditions.end(),
                          [&](const Condition &c) { return holds(c, b); }))
            matches.push_back({&r, c, std::move(b)});
  for (const Match &m : matches) {
    unsigned a = find(m.cls), b = find(instantiate(m.rule->rhs, m.binding));
    parent[std::max(a, b)] = std::min(a, b);
  }
  rebuild();
  return matches.size();
}

void NaiveEGraph::rebuild() {
  for (bool changed = true; changed;) {
    changed = false;
    std::map<Node, unsigned> renewed;
    for (auto &[n, c] : nodes) {
      auto [it, inserted] = renewed.try_emplace(canonical(n), find(c));
      unsigned a = find(it->second), b = find(c);
      if (a != b) {
        parent[std::max(a, b)] = std::min(a, b);
        changed = true;
      }
      changed |= !(it->first == n);
    }
    for (auto &[n, c] : renewed)
      c = find(c);
    nodes = std::move(renewed);
  }
}

uint64_t NaiveEGraph::numClasses() const {
  std::set<unsigned> classes;
  for (auto &[n, c] : nodes)
    classes.insert(find(c));
  return classes.size();
}

std::map<unsigned, double> NaiveEGraph::bestSizes() const {
  std::map<unsigned, double> best;
  for (bool changed = true; changed;) {
    changed = false;
    for (auto &[n, c] : nodes) {
      double size = 1;
      bool known = true;
      for (unsigned child : n.children) {
        auto it = best.find(child);
        known &= it != best.end();
        if (known)
          size += it->second;
      }
      if (!known)
        continue;
      auto [it, inserted] = best.try_emplace(c, size);
      if (inserted || size < it->second) {
        it->second = size;
        changed = true;
      }
    }
  }
  return best;
}
