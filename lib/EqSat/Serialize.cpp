//===- Serialize.cpp - E-graphs in the egraph-serialize form --------------===//

#include "luminal/EqSat/Serialize.h"
#include "luminal/Support/Json.h"

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

using namespace luminal;
using namespace luminal::eqsat;

static std::string quote(const std::string &text) {
  return nlohmann::json(text).dump(-1, ' ', false,
                                   nlohmann::json::error_handler_t::replace);
}

/// The shortest text that reads back as the number.
static std::string number(double x) { return nlohmann::json(x).dump(); }

//===----------------------------------------------------------------------===//
// Out
//===----------------------------------------------------------------------===//

void GraphSerializer::add(const EGraph &graph, std::span<const ClassId> rootIds,
                          const NodeCostFn &cost, const Labels &labels,
                          const std::string &prefix) {
  assert(!graph.isDirty() && "rebuild first");
  auto className = [&](ClassId c) { return prefix + std::to_string(c); };
  auto separate = [](std::string &list, const char *indent) {
    list += list.empty() ? "\n" : ",\n";
    list += indent;
  };
  for (ClassId c = 0; c != graph.numClassIds(); ++c) {
    uint32_t member = 0;
    for (const Run &run : graph.runs(c))
      for (uint32_t row = run.begin; row != run.end; ++row) {
        const Table &t = graph.table(run.op);
        std::span<const ClassId> children(t.key(row), t.arity());
        double price = cost(run.op, t.payload(row), children);
        separate(nodes, "    ");
        nodes += quote(className(c) + "." + std::to_string(member++)) +
                 ": {\"op\": " + quote(labels.node(run.op, t.payload(row))) +
                 ", \"children\": [";
        for (size_t i = 0; i != children.size(); ++i)
          nodes += (i ? ", " : "") + quote(className(children[i]) + ".0");
        nodes += "], \"eclass\": " + quote(className(c)) +
                 ", \"cost\": " + number(std::min(price, kForbiddenCost)) + "}";
      }
    if (!member)
      continue;
    separate(classes, "    ");
    classes += quote(className(c)) +
               ": {\"type\": " + quote(labels.type(graph.classType(c))) + "}";
  }
  std::vector<uint8_t> seen(graph.numClassIds());
  for (ClassId root : rootIds) {
    root = graph.find(root);
    if (seen[root]++)
      continue;
    separate(roots, "    ");
    roots += quote(className(root));
  }
}

std::string GraphSerializer::str() const {
  return "{\n  \"nodes\": {" + nodes + "\n  },\n  \"root_eclasses\": [" +
         roots + "\n  ],\n  \"class_data\": {" + classes + "\n  }\n}\n";
}

//===----------------------------------------------------------------------===//
// In
//===----------------------------------------------------------------------===//

namespace {
struct FileNode {
  JsonRef json;
  ClassId cls;
  std::vector<ClassId> children;
};
} // namespace

Result<std::unique_ptr<SerializedGraph>>
SerializedGraph::parse(std::string_view text, std::string name) {
  LUMINAL_TRY(document, JsonDocument::parse(text, name));
  LUMINAL_TRY(nodesJson, document.root().at("nodes"));
  LUMINAL_TRY(members, nodesJson.asObject());
  std::unique_ptr<SerializedGraph> g(new SerializedGraph);
  g->fileName = name;

  std::vector<FileNode> nodes;
  std::map<std::string, uint32_t> nodeIds;
  std::map<std::string, ClassId> classIds;
  for (auto &[id, json] : members) {
    // What an operator is called decides nothing here, but it must be there.
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
        return cost->error("is no cost: expected a number that is not "
                           "negative");
      price = value;
    }
    // Subsumed: there to be matched, not to be extracted.
    LUMINAL_TRY(subsumed, json.find("subsumed"));
    if (subsumed) {
      LUMINAL_TRY(flag, subsumed->asBool());
      if (flag)
        price = kInfiniteCost;
    }
    auto [it, inserted] = classIds.try_emplace(className, classIds.size());
    if (inserted)
      g->classNames.push_back(className);
    nodeIds[id] = nodes.size();
    nodes.push_back({json, it->second, {}});
    g->names.push_back(id);
    g->costs.push_back(price < kForbiddenCost ? price : kInfiniteCost);
  }
  for (FileNode &node : nodes) {
    LUMINAL_TRY(children, node.json.find("children"));
    if (!children)
      continue;
    LUMINAL_TRY(list, children->asArray());
    for (const JsonRef &child : list) {
      LUMINAL_TRY(id, child.asString());
      auto it = nodeIds.find(id);
      if (it == nodeIds.end())
        return child.error("there is no node '" + id + "'");
      node.children.push_back(nodes[it->second].cls);
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

  // A class comes before its nodes, which may be in a cycle: each begins as a
  // node of its own that costs too much. A payload is the number of a node.
  EGraph &graph = g->graph;
  OpId anchor = graph.addOp("class", 0);
  auto payload = [&](uint32_t n) {
    Field field{0, n};
    return graph.getPayload(0, {&field, 1});
  };
  for (ClassId c = 0; c != g->numClasses(); ++c)
    graph.add(anchor, payload(g->numNodes() + c), {});
  std::map<uint32_t, OpId> ops;
  for (uint32_t n = 0; n != nodes.size(); ++n) {
    auto [it, inserted] = ops.try_emplace(nodes[n].children.size(), 0);
    if (inserted)
      it->second = graph.addOp("node", nodes[n].children.size());
    graph.addInto(nodes[n].cls, it->second, payload(n), nodes[n].children,
                  kGiven);
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
                   "' cannot be computed: every way to it is a cycle or costs "
                   "infinitely much");
  std::vector<double> tree(numClasses());
  std::string choices;
  for (ClassId c : extractor.order(s, rootClasses)) {
    NodeRef ref = s.chosen[c];
    const Table &t = graph.table(ref.op);
    tree[c] = cost(t.payload(ref.row));
    for (uint32_t i = 0; i != t.arity(); ++i)
      tree[c] += tree[t.key(ref.row)[i]];
    choices += (choices.empty() ? "\n    " : ",\n    ") + quote(classNames[c]) +
               ": " + quote(names[nodeOf(t.payload(ref.row))]);
  }
  double treeCost = 0;
  std::vector<uint8_t> seen(numClasses());
  for (ClassId root : rootClasses)
    if (!seen[root]++)
      treeCost += tree[root];
  return std::string("{\n  \"extractor\": ") +
         (isTree ? "\"bottom-up\"" : "\"greedy-dag\"") +
         ",\n  \"dag_cost\": " + number(s.dagCost) +
         ",\n  \"tree_cost\": " + number(treeCost) + ",\n  \"choices\": {" +
         choices + "\n  }\n}\n";
}
