//===- Extraction.cpp - Choice of one program -----------------------------===//

#include "luminal/EqSat/Extraction.h"

#include <algorithm>
#include <queue>

using namespace luminal::eqsat;

/// Tree prices double with every level of sharing; far beyond what matters they
/// stay where they are, so that sums remain comparable.
static constexpr double kHuge = 1e300;

Extractor::Extractor(const EGraph &graph, const NodeCostFn &cost)
    : graph(graph) {
  assert(!graph.isDirty() && "rebuild first");
  uint32_t numClasses = graph.numClassIds();
  memberOffset.assign(numClasses + 1, 0);
  useOffset.assign(numClasses + 1, 0);
  for (OpId op = 0; op != graph.numOps(); ++op) {
    const Table &t = graph.table(op);
    for (uint32_t row = 0, e = t.numFrozen(); row != e; ++row) {
      const uint32_t *key = t.key(row);
      double price = cost(op, t.payload(row), {key, size_t(t.arity())});
      if (!(price < kInfiniteCost))
        continue;
      nodes.push_back({t.classOf(row), std::max(price, 0.0), {op, row}});
      ++memberOffset[t.classOf(row) + 1];
      for (uint32_t i = 0; i != t.arity(); ++i)
        ++useOffset[key[i] + 1];
    }
  }
  for (uint32_t c = 0; c != numClasses; ++c) {
    memberOffset[c + 1] += memberOffset[c];
    useOffset[c + 1] += useOffset[c];
  }
  members.resize(memberOffset[numClasses]);
  uses.resize(useOffset[numClasses]);
  std::vector<uint32_t> nextMember(memberOffset), nextUse(useOffset);
  for (uint32_t n = 0; n != nodes.size(); ++n) {
    members[nextMember[nodes[n].cls]++] = n;
    for (ClassId c : children(n))
      uses[nextUse[c]++] = n;
  }
}

std::span<const ClassId> Extractor::children(uint32_t node) const {
  const Table &t = graph.table(nodes[node].ref.op);
  return {t.key(nodes[node].ref.row), size_t(t.arity())};
}

Selection Extractor::bottomUp(std::span<const double> costs) const {
  uint32_t numClasses = graph.numClassIds();
  Selection s;
  s.chosen.resize(numClasses);
  std::vector<double> best(numClasses, kInfiniteCost);
  std::vector<uint32_t> bestNode(numClasses, kNone);
  std::vector<uint32_t> missing(nodes.size());
  std::vector<double> sum(costs.begin(), costs.end());
  using Entry = std::pair<double, ClassId>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> queue;
  auto offer = [&](uint32_t n) {
    ClassId c = nodes[n].cls;
    if (s.chosen[c] || sum[n] >= best[c])
      return;
    best[c] = sum[n];
    bestNode[c] = n;
    queue.push({sum[n], c});
  };
  for (uint32_t n = 0; n != nodes.size(); ++n) {
    missing[n] = children(n).size();
    if (!missing[n])
      offer(n);
  }
  // Prices only grow upward, so the cheapest class in the queue is final.
  while (!queue.empty()) {
    auto [price, c] = queue.top();
    queue.pop();
    if (s.chosen[c] || price != best[c])
      continue;
    s.chosen[c] = nodes[bestNode[c]].ref;
    for (uint32_t u = useOffset[c]; u != useOffset[c + 1]; ++u) {
      uint32_t n = uses[u];
      sum[n] = std::min(sum[n] + price, kHuge);
      if (--missing[n] == 0)
        offer(n);
    }
  }
  return s;
}

Selection Extractor::bottomUp(std::span<const ClassId> roots) const {
  std::vector<double> costs(nodes.size());
  for (uint32_t n = 0; n != nodes.size(); ++n)
    costs[n] = nodes[n].cost;
  Selection s = bottomUp(std::span<const double>(costs));
  s.dagCost = dagCost(s, roots);
  return s;
}

Selection Extractor::greedyDag(std::span<const ClassId> roots) const {
  return bottomUp(roots);
}

std::vector<ClassId> Extractor::order(const Selection &s,
                                      std::span<const ClassId> roots) const {
  std::vector<ClassId> result;
  std::vector<uint8_t> seen(s.chosen.size());
  struct Frame {
    ClassId cls;
    uint32_t next;
  };
  std::vector<Frame> stack;
  for (ClassId root : roots) {
    root = graph.find(root);
    if (!s.chosen[root] || seen[root])
      continue;
    seen[root] = 1;
    stack.push_back({root, 0});
    while (!stack.empty()) {
      Frame &f = stack.back();
      NodeRef ref = s.chosen[f.cls];
      const Table &t = graph.table(ref.op);
      if (f.next == t.arity()) {
        result.push_back(f.cls);
        stack.pop_back();
        continue;
      }
      ClassId child = t.key(ref.row)[f.next++];
      if (!seen[child]) {
        seen[child] = 1;
        stack.push_back({child, 0});
      }
    }
  }
  return result;
}

double Extractor::dagCost(const Selection &s,
                          std::span<const ClassId> roots) const {
  for (ClassId root : roots)
    if (!s.chosen[graph.find(root)])
      return kInfiniteCost;
  std::vector<double> price(s.chosen.size());
  for (const Node &n : nodes)
    if (s.chosen[n.cls] == n.ref)
      price[n.cls] = n.cost;
  double total = 0;
  for (ClassId c : order(s, roots))
    total += price[c];
  return total;
}

ClassId Extractor::blocker(const Selection &s, ClassId root) const {
  // Among the classes without choice below the root, one whose every node has
  // only children with a choice can be computed from what there is, if only
  // one of its nodes were allowed.
  root = graph.find(root);
  if (s.chosen[root])
    return kNone;
  std::vector<uint8_t> seen(s.chosen.size());
  std::vector<ClassId> work{root};
  seen[root] = 1;
  for (size_t i = 0; i != work.size(); ++i) {
    bool reachable = false;
    for (const Run &run : graph.runs(work[i]))
      for (uint32_t row = run.begin; row != run.end; ++row) {
        const Table &t = graph.table(run.op);
        bool ready = true;
        for (uint32_t k = 0; k != t.arity(); ++k) {
          ClassId child = t.key(row)[k];
          if (s.chosen[child])
            continue;
          ready = false;
          if (!seen[child]) {
            seen[child] = 1;
            work.push_back(child);
          }
        }
        reachable |= ready;
      }
    if (reachable)
      return work[i];
  }
  return root;
}
