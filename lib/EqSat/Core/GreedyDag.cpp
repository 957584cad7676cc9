//===- GreedyDag.cpp - Greedy DAG extraction ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/EqSat/Core/Extraction.h"

#include <algorithm>
#include <cmath>

using namespace luminal::eqsat;

/// Perturbed prices, computed on demand.
class Extractor::Prices {
public:
  Prices(const Extractor &e, Perturbation p) : e(e), p(p) {}
  double operator[](uint32_t n) const {
    double cost = e.nodes[n].cost;
    if (p.strength == 0)
      return cost;
    // splitmix64 as a hash of the seed and the node.
    uint64_t z = p.seed + (uint64_t(n) + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    double unit = double((z ^ z >> 31) >> 11) * 0x1p-53;
    double factor = 1 + p.strength * std::fabs(2 * unit - 1);
    return unit < 0.5 ? cost / factor : cost * factor;
  }

private:
  const Extractor &e;
  Perturbation p;
};

std::vector<double> Extractor::prices(Perturbation p) const {
  Prices price(*this, p);
  std::vector<double> costs(nodes.size());
  for (uint32_t n = 0; n != nodes.size(); ++n)
    costs[n] = price[n];
  return costs;
}

/// The classes with a choice, each before the classes that may be computed from
/// it.
std::vector<ClassId> Extractor::byRank(const Choice &choice) const {
  std::vector<ClassId> list;
  for (ClassId c = 0; c != choice.node.size(); ++c)
    if (choice.node[c] != kNone)
      list.push_back(c);
  auto position = [&](ClassId c) {
    return std::pair(component[c], choice.rank[c]);
  };
  std::sort(list.begin(), list.end(),
            [&](ClassId a, ClassId b) { return position(a) > position(b); });
  return list;
}

/// Changes single choices while that lowers the total price, and stops after
/// visiting `budget` nodes.
template <typename Costs>
double Extractor::improve(Choice &choice, const Costs &costs,
                          std::span<const ClassId> roots,
                          std::span<const ClassId> byRank,
                          uint64_t budget) const {
  std::vector<uint32_t> refs(numNames());
  std::vector<ClassId> stack;
  double total = 0;
  uint64_t looked = 0;
  // Counts a use of a class and, if it is the first, a use of everything it
  // needs.
  auto add = [&](ClassId c) {
    stack.push_back(c);
    while (!stack.empty()) {
      ClassId d = stack.back();
      stack.pop_back();
      ++looked;
      if (refs[d]++ != 0)
        continue;
      uint32_t n = choice.node[d];
      total += costs[n];
      for (ClassId child : children(n))
        stack.push_back(child);
    }
  };
  auto drop = [&](ClassId c) {
    stack.push_back(c);
    while (!stack.empty()) {
      ClassId d = stack.back();
      stack.pop_back();
      ++looked;
      if (--refs[d] != 0)
        continue;
      uint32_t n = choice.node[d];
      total -= costs[n];
      for (ClassId child : children(n))
        stack.push_back(child);
    }
  };
  for (ClassId root : roots)
    add(own(root));

  // A choice whose children are in other components cannot close a cycle.
  // Within a component, children must have been decided earlier than the class.
  auto position = [&](ClassId c) {
    return std::pair(component[c], choice.rank[c]);
  };
  auto take = [&](ClassId c, uint32_t n) {
    // Add before dropping, so that terms that both nodes need stay alive.
    uint32_t old = choice.node[c];
    for (ClassId child : children(n))
      add(child);
    for (ClassId child : children(old))
      drop(child);
    total += costs[n] - costs[old];
    choice.node[c] = n;
  };
  auto mayTake = [&](ClassId c, uint32_t n) {
    ++looked;
    if (n == choice.node[c])
      return false;
    for (ClassId child : children(n))
      if (choice.node[child] == kNone || position(child) >= position(c))
        return false;
    return true;
  };
  // Takes the node if that lowers the total price.
  auto tryNode = [&](ClassId c, uint32_t n) {
    if (!mayTake(c, n))
      return false;
    uint32_t old = choice.node[c];
    double before = total;
    take(c, n);
    if (total < before - 1e-9 * before)
      return true;
    take(c, old);
    total = before; // avoids drift from adding and subtracting
    return false;
  };
  // A class may pay off only if several of its users choose it together: assume
  // that it is computed, let each user decide, and keep the changes if the
  // total price is lower.
  std::vector<std::pair<ClassId, uint32_t>> undo;
  auto tryShared = [&](ClassId d) {
    uint32_t users = 0;
    for (uint32_t u = useOffset[d]; u != useOffset[d + 1] && users < 2; ++u) {
      ++looked;
      users += refs[nodes[uses[u]].cls] != 0;
    }
    if (users < 2)
      return false;
    double before = total;
    undo.clear();
    add(d);
    for (uint32_t u = useOffset[d]; u != useOffset[d + 1]; ++u) {
      ClassId c = nodes[uses[u]].cls;
      uint32_t old = choice.node[c];
      if (refs[c] && tryNode(c, uses[u]))
        undo.push_back({c, old});
    }
    drop(d);
    if (total < before - 1e-9 * before)
      return true;
    for (; !undo.empty(); undo.pop_back())
      take(undo.back().first, undo.back().second);
    total = before;
    return false;
  };
  constexpr unsigned kMaxPasses = 8;
  for (unsigned pass = 0; pass != kMaxPasses; ++pass) {
    bool changed = false;
    for (ClassId c : byRank) {
      if (!refs[c] || looked > budget)
        continue;
      for (uint32_t m = memberOffset[c]; m != memberOffset[c + 1]; ++m)
        changed |= tryNode(c, members[m]);
    }
    for (ClassId c : byRank)
      if (!refs[c] && costs[choice.node[c]] > 0 && looked <= budget)
        changed |= tryShared(c);
    if (!changed)
      break;
  }
  return total;
}

Extractor::Choice Extractor::greedy(std::span<const double> costs,
                                    std::span<const ClassId> roots) const {
  Choice best = cheapestTrees(costs);
  if (!canCompute(best, roots))
    return best;
  Choice shared = cheapestSets(costs);
  double least = improve(best, costs, roots, byRank(best));
  auto offer = [&](Choice &choice) {
    double cost = improve(choice, costs, roots, byRank(choice));
    if (cost > least)
      return;
    least = cost;
    std::swap(best, choice);
  };
  offer(shared);
  std::vector<double> without(costs.begin(), costs.end());
  bool any = false;
  for (uint32_t n = 0; alternative && n != nodes.size(); ++n)
    if (alternative(nodes[n].ref)) {
      // More expensive than a whole program without the node.
      without[n] += 1 + 2 * std::max(least, costs[n]);
      any = true;
    }
  if (any) {
    for (Choice choice : {cheapestTrees(without), cheapestSets(without)}) {
      improve(choice, without, roots, byRank(choice));
      offer(choice);
    }
  }
  return best;
}

Selection Extractor::greedyDag(std::span<const ClassId> roots,
                               Perturbation perturbation) const {
  return finish(greedy(prices(perturbation), roots), roots);
}

Candidates::Candidates(const Extractor &extractor,
                       std::span<const ClassId> givenRoots)
    : extractor(extractor), roots(givenRoots.begin(), givenRoots.end()),
      choice(extractor.greedy(extractor.prices({}), roots)),
      byRank(extractor.byRank(choice)),
      bestSelection(extractor.finish(choice, roots)) {}

Selection Candidates::draw(Perturbation perturbation) const {
  if (!extractor.canCompute(choice, roots))
    return bestSelection;
  constexpr uint64_t kLooksPerClass = 24;
  Extractor::Choice drawn = choice;
  extractor.improve(drawn, Extractor::Prices(extractor, perturbation), roots,
                    byRank, byRank.size() * kLooksPerClass);
  return extractor.finish(drawn, roots);
}
