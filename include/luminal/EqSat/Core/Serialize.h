//===- Serialize.h - E-graphs in the egraph-serialize form ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The common JSON form of e-graphs: an object `nodes` of nodes by name, each
// with its operator, its class, its cost and the names of its children (each
// name stands for that node's class), and `root_eclasses`. It is written so
// that other extractors and viewers can read these graphs, and read so that
// this extractor can run on theirs.
//
// A class that inner scopes compute appears in the file once for each of them,
// with node prices multiplied by the runs of the scope. Extractors choose one
// node for each class, so each scope gets its own choice, and no scope can use
// a value that does not exist in it. `class_data` gives the scope as a path
// from the outermost scope (the format allows strings there).
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

/// Costs from this value on are treated as infinite: JSON has no infinity.
constexpr double kForbiddenCost = 1e300;

/// Writes several rebuilt graphs into one text.
class GraphSerializer {
public:
  struct Labels {
    /// Describes a node, without its children.
    std::function<std::string(OpId, PayloadId)> node;
    /// The type of a class.
    std::function<std::string(TypeId)> type;
  };

  /// Adds a graph. The names of its classes, nodes and scopes begin with
  /// `prefix`. `onNode` is called for each node with its name, the node, and
  /// its class and scope.
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

/// A graph read from a file, only to extract from it. Nodes that a rebuild
/// would merge stay separate, as in the file.
class SerializedGraph {
public:
  /// `name` is put before every error.
  static Result<std::unique_ptr<SerializedGraph>> parse(std::string_view text,
                                                        std::string name);

  uint32_t numNodes() const { return nodeNames.size(); }
  uint32_t numClasses() const { return classNames.size(); }
  std::span<const ClassId> roots() const { return rootClasses; }
  const std::string &className(ClassId c) const { return classNames[c]; }
  const EGraph &getGraph() const { return graph; }

  enum class Method { BottomUp, GreedyDag };
  /// The choice as JSON: the node of each class that the roots need, and the
  /// total cost with shared nodes counted once (`dag_cost`) or at every use
  /// (`tree_cost`). Fails if a root cannot be computed.
  Result<std::string> extract(Method method) const;
  /// Does the same for choices that another extractor made: an object `choices`
  /// of node by class. Only the classes that the roots need are read. Fails if
  /// the choices do not form a program.
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
  /// Whether class `from` may use a value of class `what`: the scope of `what`
  /// is that of `from` or around it.
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
