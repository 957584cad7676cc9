//===- BottomUp.cpp - Bottom-up extraction --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/EqSat/Core/Extraction.h"

#include <algorithm>
#include <bit>
#include <queue>

using namespace luminal::eqsat;

/// Upper bound of tree prices, which can double with every level of sharing. It
/// is far above any real price and keeps sums finite and comparable.
static constexpr double kHuge = 1e300;

/// Knuth's generalisation of Dijkstra's algorithm: of the classes that can be
/// computed from final classes, the cheapest becomes final. `measure(node)` is
/// the price of a node whose children are all final; it is at least the price
/// of every child. `measure.bound(node)` is a lower bound of that price.
/// `measure.keep(node, price)` is called for each node that becomes final.
template <typename Measure>
Extractor::Choice Extractor::choose(Measure &measure) const {
  uint32_t numClasses = numNames();
  Choice choice{std::vector<uint32_t>(numClasses, kNone),
                std::vector<uint32_t>(numClasses, kNone)};
  std::vector<double> best(numClasses, kInfiniteCost);
  std::vector<uint32_t> bestNode(numClasses, kNone);
  std::vector<uint32_t> missing(nodes.size());
  using Entry = std::pair<double, ClassId>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> queue;
  auto offer = [&](uint32_t n) {
    ClassId c = nodes[n].cls;
    if (choice.node[c] != kNone || measure.bound(n) >= best[c])
      return;
    double price = measure(n);
    if (price >= best[c])
      return;
    best[c] = price;
    bestNode[c] = n;
    queue.push({price, c});
  };
  for (uint32_t n = 0; n != nodes.size(); ++n) {
    missing[n] = children(n).size();
    if (!missing[n])
      offer(n);
  }
  uint32_t rank = 0;
  while (!queue.empty()) {
    auto [price, c] = queue.top();
    queue.pop();
    if (choice.node[c] != kNone || price != best[c])
      continue;
    choice.node[c] = bestNode[c];
    choice.rank[c] = rank++;
    measure.keep(bestNode[c], price);
    for (uint32_t u = useOffset[c]; u != useOffset[c + 1]; ++u)
      if (--missing[uses[u]] == 0)
        offer(uses[u]);
  }
  return choice;
}

/// For each final class, the set of terms that it needs, as a bit set. Bits are
/// numbered in the order in which the classes became final; classes that cost
/// nothing have no bit.
class Extractor::Sets {
public:
  Sets(const Extractor &e, std::span<const double> costs)
      : e(e), costs(costs), sets(e.numNames()), total(e.numNames(), 0.0),
        bit(e.numNames(), kNone) {}

  double bound(uint32_t n) const {
    double most = 0;
    for (ClassId c : e.children(n))
      most = std::max(most, total[c]);
    return std::min(most, kHuge) + costs[n];
  }
  double operator()(uint32_t n) {
    gather(n);
    return gathered + costs[n];
  }
  void keep(uint32_t n, double) {
    ClassId c = e.nodes[n].cls;
    gather(n);
    if (costs[n] > 0) {
      bit[c] = weights.size();
      weights.push_back(costs[n]);
      if (work.size() <= bit[c] / 64)
        work.resize(bit[c] / 64 + 1);
      work[bit[c] / 64] |= uint64_t(1) << (bit[c] % 64);
    }
    total[c] = gathered + costs[n];
    sets[c].assign(work.begin(), work.end());
    bytes += work.size() * 8;
  }
  /// Whether the sets use too much memory. The caller then continues without
  /// them.
  bool tooLarge() const { return bytes > (uint64_t(1) << 28); }

private:
  /// Computes the union of the sets of the children in `work`.
  void gather(uint32_t n) {
    work.clear();
    gathered = 0;
    std::span<const ClassId> children = e.children(n);
    if (tooLarge()) {
      for (ClassId c : children)
        gathered = std::min(gathered + total[c], kHuge);
      return;
    }
    // Begin with the most expensive child; add what the others need beyond it.
    ClassId first = kNone;
    for (ClassId c : children)
      if (first == kNone || total[c] > total[first])
        first = c;
    if (first == kNone)
      return;
    work = sets[first];
    gathered = total[first];
    for (ClassId c : children) {
      if (c == first)
        continue;
      const std::vector<uint64_t> &other = sets[c];
      if (work.size() < other.size())
        work.resize(other.size());
      for (size_t i = 0; i != other.size(); ++i) {
        uint64_t extra = other[i] & ~work[i];
        work[i] |= extra;
        for (; extra; extra &= extra - 1)
          gathered += weights[i * 64 + std::countr_zero(extra)];
      }
    }
  }

  const Extractor &e;
  std::span<const double> costs;
  std::vector<std::vector<uint64_t>> sets;
  std::vector<double> total;
  std::vector<uint32_t> bit;
  std::vector<double> weights;
  std::vector<uint64_t> work;
  double gathered = 0;
  uint64_t bytes = 0;
};

/// The measure that counts shared terms at each use.
class Extractor::Tree {
public:
  Tree(const Extractor &e, std::span<const double> costs)
      : e(e), costs(costs), sum(e.numNames(), 0.0) {}

  double bound(uint32_t n) const { return costs[n]; }
  double operator()(uint32_t n) const {
    double price = costs[n];
    for (ClassId c : e.children(n))
      price = std::min(price + sum[c], kHuge);
    return price;
  }
  void keep(uint32_t n, double price) { sum[e.nodes[n].cls] = price; }

private:
  const Extractor &e;
  std::span<const double> costs;
  std::vector<double> sum;
};

Extractor::Choice
Extractor::cheapestTrees(std::span<const double> costs) const {
  Tree tree(*this, costs);
  return choose(tree);
}

Extractor::Choice Extractor::cheapestSets(std::span<const double> costs) const {
  Sets sets(*this, costs);
  return choose(sets);
}

Selection Extractor::bottomUp(std::span<const ClassId> roots,
                              Perturbation perturbation) const {
  return finish(cheapestTrees(prices(perturbation)), roots);
}
