//===- Serialize.h - E-graphs in the egraph-serialize form ----------------===//
//
// The common JSON of e-graphs: an object `nodes` of nodes by name, each with
// its operator, its class, its cost and the names of its children (each of
// which stands for its class), and `root_eclasses`. Written, so that other
// extractors and viewers can be run on our graphs; read, so that ours can be
// run on theirs.
//
// Nothing here includes LLVM or MLIR.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_EQSAT_SERIALIZE_H
#define LUMINAL_EQSAT_SERIALIZE_H

#include "luminal/EqSat/Extraction.h"
#include "luminal/Support/Result.h"

#include <string_view>

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

  /// The names of classes and nodes begin with `prefix`.
  void add(const EGraph &graph, std::span<const ClassId> roots,
           const NodeCostFn &cost, const Labels &labels,
           const std::string &prefix);
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

  uint32_t numNodes() const { return names.size(); }
  uint32_t numClasses() const { return classNames.size(); }
  std::span<const ClassId> roots() const { return rootClasses; }
  const std::string &className(ClassId c) const { return classNames[c]; }
  const EGraph &getGraph() const { return graph; }

  enum class Method { BottomUp, GreedyDag };
  /// The choice as JSON: the node taken for each class that the roots need, and
  /// what they cost with shared nodes paid for once (`dag_cost`) or at every
  /// use (`tree_cost`). Fails where a root cannot be computed.
  Result<std::string> extract(Method method) const;

private:
  SerializedGraph() = default;
  double cost(PayloadId payload) const;
  uint32_t nodeOf(PayloadId payload) const;

  std::string fileName;
  EGraph graph;
  std::vector<std::string> names, classNames;
  std::vector<double> costs;
  std::vector<ClassId> rootClasses;
};

} // namespace luminal::eqsat

#endif // LUMINAL_EQSAT_SERIALIZE_H
