//===- Extraction.h - Extraction ------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An `Extractor` is a session over a rebuilt graph: it prices every node and
// builds its indexes once, then chooses any number of times. A choice is a
// `Selection`: one node for each class that can be computed at all. Every
// selection is acyclic: a node is chosen only after all its children.
//
// A program may have scopes: regions, such as loop bodies, that run several
// times and have leaves that exist only inside them. A class is computed in the
// outermost scope in which all children of one of its nodes exist, once for
// each run of that scope, and is visible there and in all scopes inside it. If
// two scopes compute the same class and neither contains the other, each has
// its own choice.
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

/// The price of one node without its children, not negative. A node with an
/// infinite price must not be chosen.
using NodeCostFn = std::function<double(OpId op, PayloadId payload,
                                        std::span<const ClassId> children)>;

/// Number of a scope; 0 is the whole program.
using ScopeId = uint32_t;

struct Scopes {
  struct Scope {
    ScopeId parent;
    double trips; ///< how often it runs for each run of its parent
  };
  /// Parents come before their children.
  std::vector<Scope> list = {{0, 1.0}};
  /// The scope in which a node without children exists. A node with children
  /// exists wherever all its children do.
  std::function<ScopeId(OpId op, PayloadId payload)> scopeOf;

  bool isFlat() const { return list.size() == 1; }
  /// Whether a value of scope `outer` is visible in scope `inner`.
  bool isWithin(ScopeId inner, ScopeId outer) const {
    while (inner > outer)
      inner = list[inner].parent;
    return inner == outer;
  }
};

/// A class together with the scope that needs or computes it.
struct ScopedClass {
  ClassId cls;
  ScopeId scope = 0;
};

struct Selection {
  /// The chosen node of each name (see `Extractor::in`); empty for a name that
  /// cannot be computed.
  std::vector<NodeRef> chosen;
  /// Sum of the prices of all chosen nodes that the roots reach, each counted
  /// once. Infinite if a root has no choice.
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

  /// Says which nodes were made by rules that look for alternatives.
  /// `greedyDag` then also starts from a choice without such nodes, so that
  /// they never make the result worse.
  void setAlternatives(std::function<bool(NodeRef)> isAlternative) {
    alternative = std::move(isAlternative);
  }
  /// Prices every node again. A node that may not be chosen stays forbidden,
  /// and no other node may become forbidden. `Candidates` of this extractor
  /// keep their choices.
  void reprice(const NodeCostFn &cost);

  /// The name under which a scope sees a class in a selection. If the whole
  /// program can compute the class, the name is the class itself; otherwise it
  /// identifies the class together with the scope that computes it. kNone if
  /// neither the scope nor any scope around it computes the class. In a program
  /// without scopes the name is always the class itself, whether it can be
  /// computed or not. Roots are given as such names.
  ClassId in(ClassId c, ScopeId scope) const;
  /// The class and the scope that a name stands for.
  ClassId classOf(ClassId name) const;
  ScopeId scopeOf(ClassId name) const;
  /// The name of child `i` of the node that was chosen for `name`.
  ClassId child(const Selection &s, ClassId name, uint32_t i) const;

  /// The cheapest selection when a shared term is paid for at each use. Exact
  /// for that measure; O(n log n).
  Selection bottomUp(std::span<const ClassId> roots,
                     Perturbation perturbation = {}) const;
  /// A cheap selection when a shared term is paid for once. Each class takes
  /// the node whose set of terms is cheapest; then single choices are changed
  /// while that lowers the total. Never worse than `bottomUp`. `dagCost` is in
  /// the unperturbed prices.
  Selection greedyDag(std::span<const ClassId> roots,
                      Perturbation perturbation = {}) const;

  /// Price of all nodes that the roots reach. Infinite if a class has no
  /// choice.
  double dagCost(const Selection &s, std::span<const ClassId> roots) const;
  /// All names that the roots reach, children before parents.
  std::vector<ClassId> order(const Selection &s,
                             std::span<const ClassId> roots) const;
  /// Explains why a root has no finite price: returns a class without a choice
  /// all of whose children have one, that is, the lowest class that blocks the
  /// root. kNone if there is none.
  ClassId blocker(const Selection &s, ClassId root, ScopeId scope = 0) const;

private:
  friend class Candidates;

  struct Node {
    ClassId cls;
    double cost;
    NodeRef ref;
  };
  /// One node for each name (kNone: none), and the rank in which each name was
  /// decided: a node is decided after its children.
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
  /// The current name of a root, whose class may have been merged since.
  ClassId own(ClassId root) const {
    return root < graph.numClassIds() ? graph.find(root) : root;
  }
  void findComponents();
  std::span<const ClassId> children(uint32_t node) const;
  std::vector<double> prices(Perturbation p) const;
  template <typename Measure>
  Choice choose(Measure &measure) const;
  /// The cheapest node of each class, where the terms below it are counted at
  /// each use (trees) or once each (sets).
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
  /// The classes and scopes of names from `graph.numClassIds()` on, which are
  /// not classes themselves.
  std::vector<ScopedClass> inner;
  /// The name of each class that a scope computes itself, or kNone, by scope
  /// and class.
  std::vector<std::vector<ClassId>> names;
  std::vector<Node> nodes;
  /// Names of the children of each node; used only with scopes.
  std::vector<uint32_t> childOffset;
  std::vector<ClassId> childNames;
  /// Nodes that have a class as a child, one entry for each use.
  std::vector<uint32_t> useOffset, uses;
  /// Nodes of a class.
  std::vector<uint32_t> memberOffset, members;
  /// Strongly connected component of a class. Children are in the same
  /// component or in one with a lower number.
  std::vector<uint32_t> component;
};

/// Draws many programs near the best one, for a search that measures them. Work
/// that does not depend on the prices is done once, so a candidate costs a few
/// milliseconds for a graph of thousands of classes.
class Candidates {
public:
  /// The extractor and its graph must outlive it.
  Candidates(const Extractor &extractor, std::span<const ClassId> roots);

  /// The selection of `greedyDag`. If a root cannot be computed, its `dagCost`
  /// is infinite and every candidate equals it.
  const Selection &best() const { return bestSelection; }
  /// The best selection, with single choices changed while that lowers the
  /// total in the perturbed prices. Acyclic like every selection; `dagCost` is
  /// in the unperturbed prices.
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
