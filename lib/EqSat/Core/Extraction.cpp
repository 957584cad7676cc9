//===- Extraction.cpp - Extraction ----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds the indexes of a session and evaluates selections. BottomUp.cpp and
// GreedyDag.cpp make the choices.
//
//===----------------------------------------------------------------------===//

#include "luminal/EqSat/Core/Extraction.h"

#include <algorithm>

using namespace luminal::eqsat;

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

void Extractor::reprice(const NodeCostFn &cost) {
  std::vector<double> trips(scopes.list.size(), 1.0);
  for (ScopeId s = 1; s < scopes.list.size(); ++s)
    trips[s] = trips[scopes.list[s].parent] * scopes.list[s].trips;
  for (Node &n : nodes) {
    const Table &t = graph.table(n.ref.op);
    double price = cost(n.ref.op, t.payload(n.ref.row),
                        {t.key(n.ref.row), size_t(t.arity())});
    assert(price < kInfiniteCost && "it could be chosen before");
    n.cost = std::max(price, 0.0) * trips[scopeOf(n.cls)];
  }
}

//===----------------------------------------------------------------------===//
// Scopes
//===----------------------------------------------------------------------===//

/// Adds the nodes scope by scope, from the outermost inwards: a scope computes
/// the nodes that need one of its own leaves and otherwise only values visible
/// from outside.
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
  // By scope and row: number of children that the scope does not see yet; -1
  // for a leaf that it sees.
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

/// Tarjan's algorithm on the classes.
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

//===----------------------------------------------------------------------===//
// Selections
//===----------------------------------------------------------------------===//

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

bool Extractor::canCompute(const Choice &choice,
                           std::span<const ClassId> roots) const {
  return std::all_of(roots.begin(), roots.end(), [&](ClassId root) {
    return choice.node[own(root)] != kNone;
  });
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
  // Search the classes without a choice below the root for one with a node
  // whose children all have a choice. That node is forbidden; if it were
  // allowed, the class could be computed.
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
