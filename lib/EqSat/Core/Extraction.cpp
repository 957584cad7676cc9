//===- Extraction.cpp - Choice of one program -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/EqSat/Core/Extraction.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <queue>

using namespace luminal::eqsat;

/// Tree prices double with every level of sharing; far beyond what matters they
/// stay where they are, so that sums remain comparable.
static constexpr double kHuge = 1e300;

Extractor::Extractor(const EGraph &graph, const NodeCostFn &cost, Scopes given)
    : graph(graph), scopes(std::move(given)) {
  assert(!graph.isDirty() && "rebuild first");
  if (scopes.isFlat())
    addNodes(cost);
  else
    addScopedNodes(cost);
  memberOffset.assign(numNames() + 1, 0);
  useOffset.assign(numNames() + 1, 0);
  for (uint32_t n = 0; n != nodes.size(); ++n) {
    ++memberOffset[nodes[n].cls + 1];
    for (ClassId c : children(n))
      ++useOffset[c + 1];
  }
  for (uint32_t c = 0; c != numNames(); ++c) {
    memberOffset[c + 1] += memberOffset[c];
    useOffset[c + 1] += useOffset[c];
  }
  members.resize(memberOffset[numNames()]);
  uses.resize(useOffset[numNames()]);
  std::vector<uint32_t> nextMember(memberOffset), nextUse(useOffset);
  for (uint32_t n = 0; n != nodes.size(); ++n) {
    members[nextMember[nodes[n].cls]++] = n;
    for (ClassId c : children(n))
      uses[nextUse[c]++] = n;
  }
  findComponents();
}

void Extractor::addNodes(const NodeCostFn &cost) {
  for (OpId op = 0; op != graph.numOps(); ++op) {
    const Table &t = graph.table(op);
    for (uint32_t row = 0, e = t.numFrozen(); row != e; ++row) {
      double price = cost(op, t.payload(row), {t.key(row), size_t(t.arity())});
      if (price < kInfiniteCost)
        nodes.push_back({t.classOf(row), std::max(price, 0.0), {op, row}});
    }
  }
}

//===----------------------------------------------------------------------===//
// Scopes
//===----------------------------------------------------------------------===//

/// From the outermost scope inwards: a scope computes what its own leaves add
/// to what is seen from around it.
void Extractor::addScopedNodes(const NodeCostFn &cost) {
  addNodes(cost);
  const std::vector<Node> rows = std::move(nodes);
  nodes.clear();
  childOffset.push_back(0);
  const uint32_t numClasses = graph.numClassIds();
  auto rowChildren = [&](const Node &n) {
    const Table &t = graph.table(n.ref.op);
    return std::span<const ClassId>(t.key(n.ref.row), t.arity());
  };
  std::vector<std::vector<uint32_t>> usesOf(numClasses), rowsOf(numClasses);
  std::vector<std::vector<uint32_t>> leavesOf(scopes.list.size());
  for (uint32_t r = 0; r != rows.size(); ++r) {
    rowsOf[rows[r].cls].push_back(r);
    for (ClassId c : rowChildren(rows[r]))
      usesOf[c].push_back(r);
    const Table &t = graph.table(rows[r].ref.op);
    if (t.arity() == 0)
      leavesOf[scopes.scopeOf(rows[r].ref.op, t.payload(rows[r].ref.row))]
          .push_back(r);
  }
  names.resize(scopes.list.size());
  std::vector<double> trips(scopes.list.size(), 1.0);
  // Children that a scope does not see yet, by row; -1 for a leaf that it does.
  std::vector<std::vector<int32_t>> missing(scopes.list.size());
  for (ScopeId s = 0; s != scopes.list.size(); ++s) {
    ScopeId parent = scopes.list[s].parent;
    if (s != 0) {
      assert(parent < s && "a scope comes after its parent");
      trips[s] = trips[parent] * scopes.list[s].trips;
      missing[s] = missing[parent];
    } else {
      for (const Node &n : rows)
        missing[s].push_back(rowChildren(n).size());
    }
    names[s].assign(numClasses, kNone);
    std::vector<ClassId> computed;
    auto see = [&](uint32_t r) {
      ClassId c = rows[r].cls;
      if (in(c, s) != kNone)
        return;
      names[s][c] = s == 0 ? c : numNames();
      if (s != 0)
        inner.push_back({c, s});
      computed.push_back(c);
    };
    for (uint32_t r : leavesOf[s]) {
      missing[s][r] = -1;
      see(r);
    }
    for (size_t i = 0; i != computed.size(); ++i)
      for (uint32_t r : usesOf[computed[i]])
        if (--missing[s][r] == 0)
          see(r);
    for (ClassId c : computed)
      for (uint32_t r : rowsOf[c]) {
        std::span<const ClassId> kids = rowChildren(rows[r]);
        if (kids.empty() ? missing[s][r] != -1 : missing[s][r] != 0)
          continue;
        nodes.push_back({names[s][c], rows[r].cost * trips[s], rows[r].ref});
        for (ClassId child : kids)
          childNames.push_back(in(child, s));
        childOffset.push_back(childNames.size());
      }
  }
}

ClassId Extractor::in(ClassId c, ScopeId scope) const {
  c = graph.find(c);
  if (scopes.isFlat())
    return c;
  for (;; scope = scopes.list[scope].parent) {
    if (names[scope].size() && names[scope][c] != kNone)
      return names[scope][c];
    if (scope == 0)
      return kNone;
  }
}

ClassId Extractor::classOf(ClassId name) const {
  return name < graph.numClassIds() ? name
                                    : inner[name - graph.numClassIds()].cls;
}

ScopeId Extractor::scopeOf(ClassId name) const {
  return name < graph.numClassIds() ? 0
                                    : inner[name - graph.numClassIds()].scope;
}

ClassId Extractor::child(const Selection &s, ClassId name, uint32_t i) const {
  NodeRef ref = s.chosen[name];
  return in(graph.table(ref.op).key(ref.row)[i], scopeOf(name));
}

/// Tarjan's algorithm over classes.
void Extractor::findComponents() {
  uint32_t numClasses = numNames();
  component.assign(numClasses, kNone);
  std::vector<uint32_t> index(numClasses, kNone), low(numClasses);
  struct Frame {
    ClassId cls;
    uint32_t member, child;
  };
  std::vector<Frame> stack;
  std::vector<ClassId> open;
  uint32_t next = 0, numComponents = 0;
  auto enter = [&](ClassId c) {
    index[c] = low[c] = next++;
    open.push_back(c);
    stack.push_back({c, memberOffset[c], 0});
  };
  for (ClassId start = 0; start != numClasses; ++start) {
    if (index[start] != kNone || memberOffset[start] == memberOffset[start + 1])
      continue;
    enter(start);
    while (!stack.empty()) {
      Frame &f = stack.back();
      ClassId c = f.cls;
      if (f.member != memberOffset[c + 1]) {
        std::span<const ClassId> kids = children(members[f.member]);
        if (f.child == kids.size()) {
          ++f.member;
          f.child = 0;
          continue;
        }
        ClassId child = kids[f.child++];
        if (index[child] == kNone)
          enter(child);
        else if (component[child] == kNone)
          low[c] = std::min(low[c], index[child]);
        continue;
      }
      stack.pop_back();
      if (!stack.empty())
        low[stack.back().cls] = std::min(low[stack.back().cls], low[c]);
      if (low[c] != index[c])
        continue;
      for (ClassId member = kNone; member != c; open.pop_back()) {
        member = open.back();
        component[member] = numComponents;
      }
      ++numComponents;
    }
  }
}

std::span<const ClassId> Extractor::children(uint32_t node) const {
  if (!childOffset.empty())
    return {childNames.data() + childOffset[node],
            childNames.data() + childOffset[node + 1]};
  const Table &t = graph.table(nodes[node].ref.op);
  return {t.key(nodes[node].ref.row), size_t(t.arity())};
}

/// Each price by itself, so that nobody pays for those that he does not ask
/// for.
class Extractor::Prices {
public:
  Prices(const Extractor &e, Perturbation p) : e(e), p(p) {}
  double operator[](uint32_t n) const {
    double cost = e.nodes[n].cost;
    if (p.strength == 0)
      return cost;
    // splitmix64
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

//===----------------------------------------------------------------------===//
// From the leaves up
//===----------------------------------------------------------------------===//

/// Knuth's generalisation of Dijkstra's algorithm: the cheapest class that can
/// be computed from what is final becomes final. `measure(node)` is the price
/// of a node all of whose children are final, not below any child's, and
/// `measure.bound(node)` is what it comes to at least;
/// `measure.keep(node, price)` is told what becomes final.
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

/// The terms below each class that is final, as bits in the order in which
/// their classes became final. Classes that cost nothing need no bit.
class Extractor::Sets {
public:
  Sets(const Extractor &e, std::span<const double> costs)
      : e(e), costs(costs), sets(e.numNames()), total(e.numNames(), 0.0),
        bit(e.numNames(), kNone) {}

  double bound(uint32_t n) const {
    double dearest = 0;
    for (ClassId c : e.children(n))
      dearest = std::max(dearest, total[c]);
    return std::min(dearest, kHuge) + costs[n];
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
  /// Sets that grow too large are given up: the caller does without.
  bool tooLarge() const { return bytes > (uint64_t(1) << 28); }

private:
  /// The union of what the children need, in `work`.
  void gather(uint32_t n) {
    work.clear();
    gathered = 0;
    std::span<const ClassId> children = e.children(n);
    if (tooLarge()) {
      for (ClassId c : children)
        gathered = std::min(gathered + total[c], kHuge);
      return;
    }
    // Begin with the dearest; add what the others have beyond it.
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

Selection Extractor::finish(const Choice &choice,
                            std::span<const ClassId> roots) const {
  Selection s;
  s.chosen.resize(choice.node.size());
  for (size_t c = 0; c != choice.node.size(); ++c)
    if (choice.node[c] != kNone)
      s.chosen[c] = nodes[choice.node[c]].ref;
  s.dagCost = kInfiniteCost;
  if (!canCompute(choice, roots))
    return s;
  s.dagCost = 0;
  for (ClassId c : order(s, roots))
    s.dagCost += nodes[choice.node[c]].cost;
  return s;
}

/// Shared terms are paid for at each use.
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

Selection Extractor::bottomUp(std::span<const ClassId> roots,
                              Perturbation perturbation) const {
  std::vector<double> costs = prices(perturbation);
  Tree tree(*this, costs);
  return finish(choose(tree), roots);
}

//===----------------------------------------------------------------------===//
// Shared terms
//===----------------------------------------------------------------------===//

/// Classes that have a choice, each before those that it may be computed from.
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

/// Changes choices as long as the whole becomes cheaper. Gives up when it has
/// looked at `budget` nodes.
template <typename Costs>
double Extractor::improve(Choice &choice, const Costs &costs,
                          std::span<const ClassId> roots,
                          std::span<const ClassId> byRank,
                          uint64_t budget) const {
  std::vector<uint32_t> refs(numNames());
  std::vector<ClassId> stack;
  double total = 0;
  uint64_t looked = 0;
  // Counts a use of a class, and of what it needs when it is the first.
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

  // A choice between components cannot close a cycle; within one it must go
  // down in the order in which classes got their first choice.
  auto position = [&](ClassId c) {
    return std::pair(component[c], choice.rank[c]);
  };
  auto take = [&](ClassId c, uint32_t n) {
    // What both need is kept alive in between.
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
  // Takes the node if that makes the whole cheaper.
  auto tryNode = [&](ClassId c, uint32_t n) {
    if (!mayTake(c, n))
      return false;
    uint32_t old = choice.node[c];
    double before = total;
    take(c, n);
    if (total < before - 1e-9 * before)
      return true;
    take(c, old);
    total = before; // no drift from adding and subtracting
    return false;
  };
  // A class that pays only if several others use it: suppose it is there, let
  // each of them decide, and see whether the whole became cheaper.
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

bool Extractor::canCompute(const Choice &choice,
                           std::span<const ClassId> roots) const {
  return std::all_of(roots.begin(), roots.end(), [&](ClassId root) {
    return choice.node[own(root)] != kNone;
  });
}

Extractor::Choice Extractor::greedy(std::span<const double> costs,
                                    std::span<const ClassId> roots) const {
  Tree tree(*this, costs);
  Choice best = choose(tree);
  if (!canCompute(best, roots))
    return best;
  Sets sets(*this, costs);
  Choice shared = choose(sets);
  double treeCost = improve(best, costs, roots, byRank(best));
  double sharedCost = improve(shared, costs, roots, byRank(shared));
  return sharedCost <= treeCost ? shared : best;
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
    root = own(root);
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
      ClassId child = this->child(s, f.cls, f.next++);
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
    if (!s.chosen[own(root)])
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

ClassId Extractor::blocker(const Selection &s, ClassId root,
                           ScopeId scope) const {
  // Among the classes without choice below the root, one whose every node has
  // only children with a choice can be computed from what there is, if only
  // one of its nodes were allowed.
  auto isChosen = [&](ClassId c) {
    ClassId name = in(c, scope);
    return name != kNone && s.chosen[name];
  };
  root = graph.find(root);
  if (isChosen(root))
    return kNone;
  std::vector<uint8_t> seen(graph.numClassIds());
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
          if (isChosen(child))
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
