//===- Serialize.h - E-graphs in the egraph-serialize form ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The common JSON of e-graphs: an object `nodes` of nodes by name, each with
// its operator, its class, its cost and the names of its children (each of
// which stands for its class), and `root_eclasses`. Written, so that other
// extractors and viewers can be run on our graphs; read, so that ours can be
// run on theirs.
//
// A class that inner scopes compute is in the file once for each of them, its
// nodes at their price for all runs: extractors choose one node for a class, so
// each scope has a choice of its own, and none can take a value where it does
// not exist. `class_data` names the scope, as the path to it from the outermost
// one (the format allows strings there).
//
// Nothing here includes LLVM or MLIR.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_EQSAT_CORE_SERIALIZE_H
#define LUMINAL_EQSAT_CORE_SERIALIZE_H

#include "luminal/EqSat/Core/Extraction.h"
#include "luminal/Support/Result.h"

#include <map>
#include <string_view>

namespace luminal {
class JsonRef;
}

namespace luminal::eqsat {

/// Costs from here on are infinite, for which JSON has no number.
constexpr double kForbiddenCost = 1e300;

/// Writes rebuilt graphs into one text, each under a name of its own.
class GraphSerializer {
public:
  struct Labels {
    /// What a node is, beside its children.
    std::function<std::string(OpId, PayloadId)> node;
    /// The type of a class.
    std::function<std::string(TypeId)> type;
  };

  /// The names of classes, nodes and scopes begin with `prefix`. `onNode` is
  /// called with the name of each node, what it is and where.
  using OnNode =
      std::function<void(const std::string &name, NodeRef, ScopedClass)>;
  void add(const EGraph &graph, std::span<const ScopedClass> roots,
           const NodeCostFn &cost, const Labels &labels,
           const std::string &prefix, const Scopes &scopes = {},
           const OnNode &onNode = nullptr);
  std::string str() const;

private:
  std::string nodes, classes, roots;
};

/// A graph from a file: never changed, only extracted from. Nodes that a
/// rebuild would find equal stay apart, as the file has them.
class SerializedGraph {
public:
  /// `name` begins every error.
  static Result<std::unique_ptr<SerializedGraph>> parse(std::string_view text,
                                                        std::string name);

  uint32_t numNodes() const { return nodeNames.size(); }
  uint32_t numClasses() const { return classNames.size(); }
  std::span<const ClassId> roots() const { return rootClasses; }
  const std::string &className(ClassId c) const { return classNames[c]; }
  const EGraph &getGraph() const { return graph; }

  enum class Method { BottomUp, GreedyDag };
  /// The choice as JSON: the node taken for each class that the roots need, and
  /// what they cost with shared nodes counted once (`dag_cost`) or at every use
  /// (`tree_cost`). Fails where a root cannot be computed.
  Result<std::string> extract(Method method) const;
  /// The same of choices that another extractor made: an object `choices` of
  /// node by class, of which those that the roots need are looked at. Fails
  /// where they are no program.
  Result<std::string> price(std::string_view choices, std::string name) const;
  /// The names of the nodes that such choices take, children before parents.
  Result<std::vector<std::string>> check(std::string_view choices,
                                         std::string name) const;

private:
  SerializedGraph() = default;
  double cost(PayloadId payload) const;
  uint32_t nodeOf(PayloadId payload) const;
  Status readScopes(const JsonRef &root,
                    const std::map<std::string, ClassId> &classIds);
  /// Whether a value of one class exists where another is computed.
  bool sees(ClassId from, ClassId what) const;
  Result<std::vector<uint32_t>> chosenNodes(std::string_view choices,
                                            std::string name) const;
  std::string write(const std::string &extractor, double dagCost,
                    std::span<const uint32_t> chosen) const;

  std::string fileName;
  EGraph graph;
  std::vector<std::string> nodeNames, classNames;
  /// Path of the scope of each class, empty for the whole program.
  std::vector<std::string> classScopes;
  std::vector<ClassId> nodeClasses;
  std::vector<std::vector<ClassId>> nodeChildren;
  std::map<std::string, uint32_t> nodeIds;
  std::vector<double> costs;
  std::vector<ClassId> rootClasses;
};

} // namespace luminal::eqsat

#endif // LUMINAL_EQSAT_CORE_SERIALIZE_H
