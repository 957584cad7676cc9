//===- Extraction.h - Choice of one program -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An `Extractor` is a session over a rebuilt graph: it prices every node and
// builds its indexes once, then chooses any number of times. A choice is a
// `Selection`: one node for each class that can be computed at all. Every
// selection is acyclic: a node is chosen only after all its children.
//
// A program may have scopes: regions that run several times, with leaves that
// exist in them only. A class is computed in the outermost scope that has all
// that one of its nodes needs, once for each run of that scope, and is seen
// from there on inwards. Where two scopes compute the same class and neither is
// in the other, each has a choice of its own.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_EQSAT_CORE_EXTRACTION_H
#define LUMINAL_EQSAT_CORE_EXTRACTION_H

#include "luminal/EqSat/Core/EGraph.h"

#include <functional>
#include <limits>
#include <span>
#include <vector>

namespace luminal::eqsat {

constexpr double kInfiniteCost = std::numeric_limits<double>::infinity();

/// The price of one node by itself, not negative. Infinite: the node may not
/// be chosen.
using NodeCostFn = std::function<double(OpId op, PayloadId payload,
                                        std::span<const ClassId> children)>;

/// Number of a scope; 0 is the whole program.
using ScopeId = uint32_t;

struct Scopes {
  struct Scope {
    ScopeId parent;
    double trips; ///< how often it runs for each run of its parent
  };
  /// A scope comes after its parent.
  std::vector<Scope> list = {{0, 1.0}};
  /// Where a node without children exists. Those with children exist wherever
  /// their children do.
  std::function<ScopeId(OpId op, PayloadId payload)> scopeOf;

  bool isFlat() const { return list.size() == 1; }
  /// Whether what exists in `outer` is seen from `inner`.
  bool isWithin(ScopeId inner, ScopeId outer) const {
    while (inner > outer)
      inner = list[inner].parent;
    return inner == outer;
  }
};

/// A class as it is needed or computed in a scope.
struct ScopedClass {
  ClassId cls;
  ScopeId scope = 0;
};

struct Selection {
  /// By `Extractor::in`; empty where nothing can be chosen.
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
  Extractor(const EGraph &graph, const NodeCostFn &cost, Scopes scopes = {});

  /// Nodes of rules that look for alternatives: `greedyDag` then looks from a
  /// choice without them as well, so that they make no choice worse.
  void setAlternatives(std::function<bool(NodeRef)> isAlternative) {
    alternative = std::move(isAlternative);
  }
  /// Prices every node anew. A node that may not be chosen stays so, and none
  /// may become so. `Candidates` of this extractor keep their choices.
  void reprice(const NodeCostFn &cost);

  /// The name that a class has in a selection as seen from a scope: its own
  /// where the whole program can compute it, else one for the scope that does;
  /// kNone where none around does. Without scopes the class itself, whether it
  /// can be computed or not. Roots are such names.
  ClassId in(ClassId c, ScopeId scope) const;
  /// The class and the scope of such a name.
  ClassId classOf(ClassId name) const;
  ScopeId scopeOf(ClassId name) const;
  /// What child `i` of the node that was chosen is called there.
  ClassId child(const Selection &s, ClassId name, uint32_t i) const;

  /// The least price when shared terms are counted at each use. Exact for that
  /// measure, O(n log n).
  Selection bottomUp(std::span<const ClassId> roots,
                     Perturbation perturbation = {}) const;
  /// Shared terms are counted once: each class takes the node whose terms below
  /// cost least together, then single choices are changed as long as that makes
  /// the whole cheaper. Never worse than `bottomUp`. `dagCost` is in the
  /// true prices whatever the perturbation.
  Selection greedyDag(std::span<const ClassId> roots,
                      Perturbation perturbation = {}) const;

  /// Price of what the roots reach. Infinite where a class has no choice.
  double dagCost(const Selection &s, std::span<const ClassId> roots) const;
  /// What the roots reach, children before parents.
  std::vector<ClassId> order(const Selection &s,
                             std::span<const ClassId> roots) const;
  /// Where a root has no finite price: a class without choice all of whose
  /// children have one, in other words what keeps the root from being
  /// computed. kNone where there is none.
  ClassId blocker(const Selection &s, ClassId root, ScopeId scope = 0) const;

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

  void addNodes(const NodeCostFn &cost);
  void addScopedNodes(const NodeCostFn &cost);
  uint32_t numNames() const { return graph.numClassIds() + inner.size(); }
  /// The name of a root; classes that were united since have the one that is
  /// left.
  ClassId own(ClassId root) const {
    return root < graph.numClassIds() ? graph.find(root) : root;
  }
  void findComponents();
  std::span<const ClassId> children(uint32_t node) const;
  std::vector<double> prices(Perturbation p) const;
  template <typename Measure>
  Choice choose(Measure &measure) const;
  /// The cheapest node of each class, with the terms below it counted at each
  /// use, or once each.
  Choice cheapestTrees(std::span<const double> costs) const;
  Choice cheapestSets(std::span<const double> costs) const;
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
  Scopes scopes;
  std::function<bool(NodeRef)> alternative;
  /// Of names that are not the class's own: what they stand for.
  std::vector<ScopedClass> inner;
  /// Name of each class that a scope computes itself, or kNone.
  std::vector<std::vector<ClassId>> names;
  std::vector<Node> nodes;
  /// Children of the nodes, where scopes give them names.
  std::vector<uint32_t> childOffset;
  std::vector<ClassId> childNames;
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

#endif // LUMINAL_EQSAT_CORE_EXTRACTION_H
