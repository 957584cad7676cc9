//===- Extraction.h - Choice of one program -------------------------------===//
//
// An `Extractor` is a session over a rebuilt graph: it prices every node and
// builds its indexes once, then answers as often as it is asked. An answer is a
// `Selection`: one node for each class that can be computed at all. Every
// selection is acyclic: a node is chosen only after all its children.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_EQSAT_EXTRACTION_H
#define LUMINAL_EQSAT_EXTRACTION_H

#include "luminal/EqSat/EGraph.h"

#include <functional>
#include <limits>
#include <span>
#include <vector>

namespace luminal::eqsat {

constexpr double kInfiniteCost = std::numeric_limits<double>::infinity();

/// The price of one node by itself, not negative. Infinite: the node may not
/// stand in the result.
using NodeCostFn = std::function<double(OpId op, PayloadId payload,
                                        std::span<const ClassId> children)>;

struct Selection {
  /// By class id (of representatives); empty where nothing can be chosen.
  std::vector<NodeRef> chosen;
  /// Sum of the prices of what the roots reach, each node once. Infinite where
  /// a root has no choice.
  double dagCost = 0;
};

/// Random changes of the prices, so that a search sees different programs. The
/// same seed gives the same changes, in any process.
struct Perturbation {
  uint64_t seed = 0;
  /// A price is multiplied by up to 1 + strength, or divided by it.
  double strength = 0;
};

class Extractor {
public:
  Extractor(const EGraph &graph, const NodeCostFn &cost);

  /// The least price when shared terms are paid for at each use. Exact for
  /// that measure, O(n log n).
  Selection bottomUp(std::span<const ClassId> roots,
                     Perturbation perturbation = {}) const;
  /// Shared terms are paid for once: each class takes the node whose terms
  /// below cost least together, then single choices are changed as long as that
  /// makes the whole cheaper. Never worse than `bottomUp`. `dagCost` is in the
  /// true prices whatever the perturbation.
  Selection greedyDag(std::span<const ClassId> roots,
                      Perturbation perturbation = {}) const;

  /// Price of what the roots reach. Infinite where a class has no choice.
  double dagCost(const Selection &s, std::span<const ClassId> roots) const;
  /// Classes that the roots reach, children before parents.
  std::vector<ClassId> order(const Selection &s,
                             std::span<const ClassId> roots) const;
  /// Where a root has no finite price: a class without choice all of whose
  /// children have one, in other words what keeps the root from being
  /// computed. kNone where there is none.
  ClassId blocker(const Selection &s, ClassId root) const;

private:
  friend class Candidates;

  struct Node {
    ClassId cls;
    double cost;
    NodeRef ref;
  };
  /// One node for each class (kNone: none), and the order in which classes got
  /// theirs: that of a node comes after those of its children.
  struct Choice {
    std::vector<uint32_t> node;
    std::vector<uint32_t> rank;
  };
  class Prices;
  class Tree;
  class Sets;

  void findComponents();
  std::span<const ClassId> children(uint32_t node) const;
  std::vector<double> prices(Perturbation p) const;
  template <typename Measure>
  Choice choose(Measure &measure) const;
  Choice greedy(std::span<const double> costs,
                std::span<const ClassId> roots) const;
  bool canCompute(const Choice &choice, std::span<const ClassId> roots) const;
  std::vector<ClassId> byRank(const Choice &choice) const;
  template <typename Costs>
  double improve(Choice &choice, const Costs &costs,
                 std::span<const ClassId> roots,
                 std::span<const ClassId> byRank,
                 uint64_t budget = ~uint64_t(0)) const;
  Selection finish(const Choice &choice, std::span<const ClassId> roots) const;

  const EGraph &graph;
  std::vector<Node> nodes;
  /// Nodes that have a class as a child, one entry for each use.
  std::vector<uint32_t> useOffset, uses;
  /// Nodes of a class.
  std::vector<uint32_t> memberOffset, members;
  /// Strongly connected component of a class; what a class can be computed from
  /// is in components of the same or a lower number.
  std::vector<uint32_t> component;
};

/// Many programs near the best one, for a search that measures them. What does
/// not depend on the prices is done once: a candidate costs a few milliseconds
/// where the graph has thousands of classes.
class Candidates {
public:
  /// The extractor and its graph must outlive it.
  Candidates(const Extractor &extractor, std::span<const ClassId> roots);

  /// What `greedyDag` takes. `dagCost` is infinite where a root cannot be
  /// computed; every candidate is then the same.
  const Selection &best() const { return bestSelection; }
  /// The best one, with single choices changed as long as that makes the whole
  /// cheaper in the perturbed prices. Acyclic as any selection; `dagCost` is in
  /// the true prices.
  Selection draw(Perturbation perturbation) const;

private:
  const Extractor &extractor;
  std::vector<ClassId> roots;
  Extractor::Choice choice;
  std::vector<ClassId> byRank;
  Selection bestSelection;
};

} // namespace luminal::eqsat

#endif // LUMINAL_EQSAT_EXTRACTION_H
