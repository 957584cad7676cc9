//===- Serialize.cpp - E-graphs in the egraph-serialize form --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/EqSat/Core/Serialize.h"
#include "luminal/Support/Json.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

using namespace luminal;
using namespace luminal::eqsat;

static std::string quote(const std::string &text) {
  return nlohmann::json(text).dump(-1, ' ', false,
                                   nlohmann::json::error_handler_t::replace);
}

/// The shortest text that parses back to the number.
static std::string number(double x) { return nlohmann::json(x).dump(); }

//===----------------------------------------------------------------------===//
// Out
//===----------------------------------------------------------------------===//

namespace {

/// Determines which scopes compute a class: those that extraction would use if
/// the class has a node that may be chosen; otherwise those that could compute
/// it if every node were allowed, so that the file shows all classes.
class Places {
public:
  Places(const EGraph &graph, const NodeCostFn &cost, const Scopes &scopes)
      : scopes(scopes) {
    if (scopes.isFlat())
      return;
    allowed.emplace(graph, cost, scopes);
    any.emplace(
        graph, [](OpId, PayloadId, std::span<const ClassId>) { return 0.0; },
        scopes);
  }

  /// The scope whose value of the class is visible in scope `from`, or kNone.
  ScopeId of(ClassId c, ScopeId from) const {
    if (scopes.isFlat())
      return 0;
    for (const Extractor *e : {&*allowed, &*any})
      if (ClassId name = e->in(c, from); name != kNone)
        return e->scopeOf(name);
    return kNone;
  }

  /// Whether a node can be computed in a scope.
  bool has(ScopeId scope, const Table &t, NodeRef ref) const {
    if (scopes.isFlat())
      return true;
    if (t.arity() == 0)
      return scopes.isWithin(scope, scopes.scopeOf(ref.op, t.payload(ref.row)));
    for (uint32_t i = 0; i != t.arity(); ++i)
      if (of(t.key(ref.row)[i], scope) == kNone)
        return false;
    return true;
  }

private:
  const Scopes &scopes;
  std::optional<Extractor> allowed, any;
};

} // namespace

void GraphSerializer::add(const EGraph &graph,
                          std::span<const ScopedClass> rootUses,
                          const NodeCostFn &cost, const Labels &labels,
                          const std::string &prefix, const Scopes &scopes,
                          const OnNode &onNode) {
  assert(!graph.isDirty() && "rebuild first");
  Places places(graph, cost, scopes);
  auto className = [&](ClassId c, ScopeId scope) {
    std::string text = prefix + std::to_string(c);
    return scope == 0 ? text : text + "@" + std::to_string(scope);
  };
  auto separate = [](std::string &list, const char *indent) {
    list += list.empty() ? "\n" : ",\n";
    list += indent;
  };
  std::vector<std::string> paths = {""};
  std::vector<double> trips = {1.0};
  for (ScopeId s = 1; s != scopes.list.size(); ++s) {
    ScopeId parent = scopes.list[s].parent;
    paths.push_back((parent == 0 ? prefix : paths[parent] + "/") +
                    std::to_string(s));
    trips.push_back(trips[parent] * scopes.list[s].trips);
  }
  auto addClass = [&](ClassId c, ScopeId scope) {
    std::string name = className(c, scope);
    uint32_t member = 0;
    for (const Run &run : graph.runs(c))
      for (uint32_t row = run.begin; row != run.end; ++row) {
        const Table &t = graph.table(run.op);
        if (!places.has(scope, t, {run.op, row}))
          continue;
        std::span<const ClassId> children(t.key(row), t.arity());
        double price = cost(run.op, t.payload(row), children);
        if (price < kInfiniteCost)
          price *= trips[scope];
        std::string node = name + "." + std::to_string(member++);
        if (onNode)
          onNode(node, {run.op, row}, {c, scope});
        separate(nodes, "    ");
        nodes += quote(node) +
                 ": {\"op\": " + quote(labels.node(run.op, t.payload(row))) +
                 ", \"children\": [";
        for (size_t i = 0; i != children.size(); ++i)
          nodes += (i ? ", " : "") +
                   quote(className(children[i], places.of(children[i], scope)) +
                         ".0");
        nodes += "], \"eclass\": " + quote(name) +
                 ", \"cost\": " + number(std::min(price, kForbiddenCost)) + "}";
      }
    if (!member)
      return;
    separate(classes, "    ");
    classes +=
        quote(name) + ": {\"type\": " + quote(labels.type(graph.classType(c)));
    if (scope != 0)
      classes += ", \"scope\": " + quote(paths[scope]) +
                 ", \"trips\": " + quote(number(trips[scope]));
    classes += "}";
  };
  for (ClassId c = 0; c != graph.numClassIds(); ++c)
    for (ScopeId s = 0; s != scopes.list.size(); ++s)
      if (!graph.runs(c).empty() && places.of(c, s) == s)
        addClass(c, s);
  std::set<std::string> seen;
  for (ScopedClass root : rootUses) {
    root.cls = graph.find(root.cls);
    ScopeId scope = places.of(root.cls, root.scope);
    // A root that cannot be computed is listed too; its class is missing in
    // `nodes`.
    std::string name = className(root.cls, scope == kNone ? root.scope : scope);
    if (!seen.insert(name).second)
      continue;
    separate(roots, "    ");
    roots += quote(name);
  }
}

std::string GraphSerializer::str() const {
  return "{\n  \"nodes\": {" + nodes + "\n  },\n  \"root_eclasses\": [" +
         roots + "\n  ],\n  \"class_data\": {" + classes + "\n  }\n}\n";
}

//===----------------------------------------------------------------------===//
// In
//===----------------------------------------------------------------------===//

/// A path is the names of the scopes from the outermost inwards, separated by
/// '/'.
Status
SerializedGraph::readScopes(const JsonRef &root,
                            const std::map<std::string, ClassId> &classIds) {
  classScopes.resize(numClasses());
  LUMINAL_TRY(classData, root.find("class_data"));
  if (!classData)
    return Status();
  LUMINAL_TRY(list, classData->asObject());
  for (auto &[name, data] : list) {
    LUMINAL_TRY(scope, data.find("scope"));
    if (!scope)
      continue;
    LUMINAL_TRY(path, scope->asString());
    if (("/" + path + "/").find("//") != std::string::npos)
      return scope->error("'" + path +
                          "' is not a path: expected names of scopes, from the "
                          "outermost inwards, with '/' between them");
    if (auto it = classIds.find(name); it != classIds.end())
      classScopes[it->second] = path;
  }
  return Status();
}

bool SerializedGraph::sees(ClassId from, ClassId what) const {
  const std::string &inner = classScopes[from], &outer = classScopes[what];
  return outer.empty() || (inner + "/").starts_with(outer + "/");
}

Result<std::unique_ptr<SerializedGraph>>
SerializedGraph::parse(std::string_view text, std::string name) {
  LUMINAL_TRY(document, JsonDocument::parse(text, name));
  LUMINAL_TRY(nodesJson, document.root().at("nodes"));
  LUMINAL_TRY(members, nodesJson.asObject());
  std::unique_ptr<SerializedGraph> g(new SerializedGraph);
  g->fileName = name;

  std::map<std::string, ClassId> classIds;
  for (auto &[id, json] : members) {
    // The operator name is not used, but the format requires it.
    LUMINAL_TRY(op, json.at("op"));
    if (!op.isString())
      return op.asString().takeError();
    LUMINAL_TRY(eclass, json.at("eclass"));
    LUMINAL_TRY(className, eclass.asString());
    double price = 1;
    LUMINAL_TRY(cost, json.find("cost"));
    if (cost) {
      LUMINAL_TRY(value, cost->asDouble());
      if (!(value >= 0))
        return cost->error("is not a cost: expected a nonnegative number");
      price = value;
    }
    // A subsumed node takes part in matching but must never be extracted.
    LUMINAL_TRY(subsumed, json.find("subsumed"));
    if (subsumed) {
      LUMINAL_TRY(flag, subsumed->asBool());
      if (flag)
        price = kInfiniteCost;
    }
    auto [it, inserted] = classIds.try_emplace(className, classIds.size());
    if (inserted)
      g->classNames.push_back(className);
    g->nodeIds[id] = g->numNodes();
    g->nodeClasses.push_back(it->second);
    g->nodeNames.push_back(id);
    g->costs.push_back(price < kForbiddenCost ? price : kInfiniteCost);
  }
  LUMINAL_CHECK(g->readScopes(document.root(), classIds));
  g->nodeChildren.resize(g->numNodes());
  for (uint32_t n = 0; n != g->numNodes(); ++n) {
    LUMINAL_TRY(children, members[n].second.find("children"));
    if (!children)
      continue;
    LUMINAL_TRY(list, children->asArray());
    for (const JsonRef &child : list) {
      LUMINAL_TRY(id, child.asString());
      auto it = g->nodeIds.find(id);
      if (it == g->nodeIds.end())
        return child.error("there is no node '" + id + "'");
      ClassId cls = g->nodeClasses[it->second];
      if (!g->sees(g->nodeClasses[n], cls))
        return child.error("class '" + g->classNames[cls] +
                           "' exists only in scope '" + g->classScopes[cls] +
                           "', which does not contain class '" +
                           g->classNames[g->nodeClasses[n]] + "'");
      g->nodeChildren[n].push_back(cls);
    }
  }
  LUMINAL_TRY(rootsJson, document.root().find("root_eclasses"));
  if (rootsJson) {
    LUMINAL_TRY(list, rootsJson->asArray());
    for (const JsonRef &root : list) {
      LUMINAL_TRY(id, root.asString());
      auto it = classIds.find(id);
      if (it == classIds.end())
        return root.error("there is no class '" + id + "'");
      g->rootClasses.push_back(it->second);
    }
  }

  // Nodes may form cycles, so classes are created first: each begins with an
  // anchor node that costs infinitely much. A payload holds the number of a
  // node.
  EGraph &graph = g->graph;
  OpId anchor = graph.addOp("class", 0);
  auto payload = [&](uint32_t n) {
    Field field{0, n};
    return graph.getPayload(0, {&field, 1});
  };
  for (ClassId c = 0; c != g->numClasses(); ++c)
    graph.add(anchor, payload(g->numNodes() + c), {});
  std::map<uint32_t, OpId> ops;
  for (uint32_t n = 0; n != g->numNodes(); ++n) {
    const std::vector<ClassId> &children = g->nodeChildren[n];
    auto [it, inserted] = ops.try_emplace(children.size(), 0);
    if (inserted)
      it->second = graph.addOp("node", children.size());
    graph.addInto(g->nodeClasses[n], it->second, payload(n), children, kGiven);
  }
  graph.rebuild();
  return g;
}

uint32_t SerializedGraph::nodeOf(PayloadId payload) const {
  return graph.payloadField(payload, 0);
}

double SerializedGraph::cost(PayloadId payload) const {
  uint32_t node = nodeOf(payload);
  return node < costs.size() ? costs[node] : kInfiniteCost;
}

Result<std::string> SerializedGraph::extract(Method method) const {
  Extractor extractor(graph,
                      [&](OpId, PayloadId payload, std::span<const ClassId>) {
                        return cost(payload);
                      });
  bool isTree = method == Method::BottomUp;
  Selection s = isTree ? extractor.bottomUp(rootClasses)
                       : extractor.greedyDag(rootClasses);
  for (size_t i = 0; i != rootClasses.size(); ++i)
    if (!s.chosen[rootClasses[i]])
      return Error(fileName + ".root_eclasses: class '" +
                   classNames[rootClasses[i]] +
                   "' cannot be computed: each of its nodes is in a cycle or "
                   "has infinite cost");
  std::vector<uint32_t> chosen;
  for (ClassId c : extractor.order(s, rootClasses)) {
    NodeRef ref = s.chosen[c];
    chosen.push_back(nodeOf(graph.table(ref.op).payload(ref.row)));
  }
  return write(isTree ? "bottom-up" : "greedy-dag", s.dagCost, chosen);
}

std::string SerializedGraph::write(const std::string &extractor, double dagCost,
                                   std::span<const uint32_t> chosen) const {
  std::vector<double> tree(numClasses());
  std::string choices;
  for (uint32_t n : chosen) {
    ClassId c = nodeClasses[n];
    tree[c] = costs[n];
    for (ClassId child : nodeChildren[n])
      tree[c] += tree[child];
    choices += (choices.empty() ? "\n    " : ",\n    ") + quote(classNames[c]) +
               ": " + quote(nodeNames[n]);
  }
  double treeCost = 0;
  std::vector<uint8_t> seen(numClasses());
  for (ClassId root : rootClasses)
    if (!seen[root]++)
      treeCost += tree[root];
  return "{\n  \"extractor\": " + quote(extractor) +
         ",\n  \"dag_cost\": " + number(dagCost) +
         ",\n  \"tree_cost\": " + number(treeCost) + ",\n  \"choices\": {" +
         choices + "\n  }\n}\n";
}

//===----------------------------------------------------------------------===//
// Choices that others made
//===----------------------------------------------------------------------===//

Result<std::vector<uint32_t>>
SerializedGraph::chosenNodes(std::string_view text, std::string name) const {
  LUMINAL_TRY(document, JsonDocument::parse(text, name));
  LUMINAL_TRY(choices, document.root().at("choices"));
  LUMINAL_TRY(list, choices.asObject());
  std::map<std::string, JsonRef> given(list.begin(), list.end());
  // The nodes on the current path, each with its next child.
  std::vector<std::pair<uint32_t, size_t>> stack;
  enum State : uint8_t { New, Open, Done };
  std::vector<State> states(numClasses(), New);
  auto enter = [&](ClassId c) -> Status {
    if (states[c] == Done)
      return Status();
    auto it = given.find(classNames[c]);
    if (it == given.end())
      return choices.error("class '" + classNames[c] +
                           "' is needed and has no choice");
    const JsonRef &choice = it->second;
    LUMINAL_TRY(id, choice.asString());
    auto node = nodeIds.find(id);
    if (node == nodeIds.end())
      return choice.error("there is no node '" + id + "'");
    ClassId owner = nodeClasses[node->second];
    if (!sees(c, owner))
      return choice.error(
          "node '" + id + "' exists only in scope '" + classScopes[owner] +
          "', which does not contain class '" + classNames[c] + "'");
    if (owner != c)
      return choice.error("node '" + id + "' belongs to class '" +
                          classNames[owner] + "'");
    if (costs[node->second] == kInfiniteCost)
      return choice.error("node '" + id + "' has infinite cost");
    if (states[c] == Open)
      return choice.error("node '" + id + "' depends on itself");
    states[c] = Open;
    stack.push_back({node->second, 0});
    return Status();
  };
  std::vector<uint32_t> chosen;
  for (ClassId root : rootClasses) {
    LUMINAL_CHECK(enter(root));
    while (!stack.empty()) {
      uint32_t n = stack.back().first;
      if (stack.back().second != nodeChildren[n].size()) {
        LUMINAL_CHECK(enter(nodeChildren[n][stack.back().second++]));
        continue;
      }
      states[nodeClasses[n]] = Done;
      chosen.push_back(n);
      stack.pop_back();
    }
  }
  return chosen;
}

Result<std::string> SerializedGraph::price(std::string_view choices,
                                           std::string name) const {
  LUMINAL_TRY(chosen, chosenNodes(choices, name));
  double dagCost = 0;
  for (uint32_t n : chosen)
    dagCost += costs[n];
  return write("given", dagCost, chosen);
}

Result<std::vector<std::string>>
SerializedGraph::check(std::string_view choices, std::string name) const {
  LUMINAL_TRY(chosen, chosenNodes(choices, name));
  std::vector<std::string> list;
  for (uint32_t n : chosen)
    list.push_back(nodeNames[n]);
  return list;
}
