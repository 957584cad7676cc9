//===- Proof.h - Why two terms are equal ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A graph with a `ProofLog` logs every term and every union, together with the
// match that made it. From the log an `Explainer` finds the rule applications
// that turn one term into another.
//
// Each class id stands for the term that it was made for. Unions are edges
// between terms. They form a forest, so there is exactly one path between two
// terms of a class. An edge made by a rule is an instance of the rule between
// two fully spelled-out terms. An edge made by congruence follows from the
// equality of the operands, which was established earlier. So a path depends on
// older edges only, and expanding it terminates.
//
// Nothing here includes LLVM or MLIR.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_EQSAT_CORE_PROOF_H
#define LUMINAL_EQSAT_CORE_PROOF_H

#include "luminal/EqSat/Core/Extraction.h"
#include "luminal/EqSat/Core/Rule.h"

#include <map>
#include <unordered_map>

namespace luminal::eqsat {

class ProofLog {
public:
  struct Term {
    OpId op;
    PayloadId payload;
    uint32_t begin; ///< first operand, in the pool of class ids
    uint32_t arity;
    ClassId cls; ///< that the term was made for, or joined
  };
  struct Edge {
    uint32_t a, b; ///< terms
    RuleId rule;   ///< kNone: congruence
    /// The part of the rule's right side that made the edge: the number of the
    /// instruction that added a node to a class, or, after all instructions,
    /// the number of the union.
    uint32_t part;
    /// First register of the match; kNone if no rule made the edge.
    size_t frame;
  };

  /// Called when a class was made for a node. Classes are numbered in this
  /// order.
  void made(OpId op, std::span<const uint32_t> children, PayloadId payload) {
    ClassId c = termOfClass.size();
    termOfClass.push_back(addTerm(op, children, payload, c));
  }
  /// Called when a node was added to an existing class.
  void joined(ClassId c, OpId op, std::span<const uint32_t> children,
              PayloadId payload, RuleId rule) {
    link(termOfClass[c], addTerm(op, children, payload, c), rule);
  }
  /// Called when two classes were merged; the ids are those that the rule used.
  void united(ClassId a, ClassId b, RuleId rule) {
    link(termOfClass[a], termOfClass[b], rule);
  }
  /// Sets the match to which the next calls of `joined` and `united` belong.
  void applying(uint32_t part, std::span<const uint32_t> regs) {
    nextPart = part;
    next.assign(regs.begin(), regs.end());
  }

  /// The sizes of the log at one time; `cut` truncates the log to them.
  struct Mark {
    size_t terms = 0, pool = 0, classes = 0, edges = 0, frames = 0;
  };
  Mark mark() const {
    return {terms.size(), pool.size(), termOfClass.size(), edges.size(),
            frames.size()};
  }
  void cut(const Mark &mark);

  uint32_t numTerms() const { return terms.size(); }
  const Term &term(uint32_t t) const { return terms[t]; }
  std::span<const ClassId> children(uint32_t t) const {
    return {pool.data() + terms[t].begin, terms[t].arity};
  }
  uint32_t termOf(ClassId c) const { return termOfClass[c]; }
  uint32_t numEdges() const { return edges.size(); }
  const Edge &edge(uint32_t e) const { return edges[e]; }
  const uint32_t *frame(const Edge &e) const { return frames.data() + e.frame; }

  /// Whether the terms were already equal before edge `bound` was made.
  bool connected(uint32_t a, uint32_t b, uint32_t bound) const;
  /// The most recent edge on the path between two terms of one class.
  uint32_t youngest(uint32_t a, uint32_t b) const;

private:
  uint32_t addTerm(OpId op, std::span<const uint32_t> children,
                   PayloadId payload, ClassId cls);
  void link(uint32_t a, uint32_t b, RuleId rule);

  std::vector<Term> terms;
  std::vector<ClassId> pool;
  std::vector<uint32_t> termOfClass;
  std::vector<Edge> edges;
  std::vector<uint32_t> frames;
  /// The union forest, linked by size and without path compression, so that
  /// edges become more recent towards the root.
  std::vector<uint32_t> up, upEdge, size;
  uint32_t nextPart = 0;
  std::vector<uint32_t> next;
};

/// A full account of how one term becomes another.
struct Explanation {
  struct Term {
    OpId op;
    PayloadId payload;
    std::vector<uint32_t> operands; ///< terms
    /// A class that contains the term.
    ClassId cls;
  };
  struct Step {
    uint32_t from, to; ///< terms
    /// kNone: `from` and `to` differ only in their operands, and `operands`
    /// proves these equal. Otherwise the step is an instance of this rule.
    RuleId rule = kNone;
    /// Whether `from` is the left side of the rule.
    bool forward = true;
    /// Whether the two operands of a commutative operator are exchanged.
    bool swapped = false;
    /// For each operand of `from`, the chain to the operand of `to`.
    std::vector<uint32_t> operands;
  };
  /// Steps, each of which begins at the term where the previous one ended.
  using Chain = std::vector<uint32_t>;

  std::vector<Term> terms;
  std::vector<Step> steps;
  std::vector<Chain> chains;
};

/// Answers from the log of a rebuilt graph. `rules` are the rules that ran;
/// they must have been built to be explained (`RuleBuilder::finish`).
class Explainer {
public:
  /// Proofs nest as deep as terms do, and each level uses stack. When the stack
  /// has grown by `stackBytes` below this call, explaining stops, `isTooDeep`
  /// returns true and `result` is unusable. 0: no limit.
  Explainer(const EGraph &graph, const ProofLog &log,
            std::span<const Rule> rules, size_t stackBytes = 0);

  /// Explains why the terms of two class ids, which must be equal, are equal.
  /// Returns the number of a chain in `result`.
  uint32_t explain(ClassId from, ClassId to);
  /// The chain from a term of the log to the term that its class was made for.
  uint32_t explainTerm(uint32_t logged);
  /// The chain from the term of a class id to the term that was selected for
  /// it.
  uint32_t explain(ClassId from, const Extractor &extractor,
                   const Selection &selection, ScopeId scope = 0);

  /// The number in `result` of a term of the log, and of the term that a class
  /// id was made for.
  uint32_t spell(uint32_t logged) const { return spelled[logged]; }
  uint32_t given(ClassId c) const { return spelled[log.termOf(c)]; }
  /// The term at the end of a chain that begins at `from`.
  uint32_t endOf(uint32_t chain, uint32_t from) const {
    const Explanation::Chain &steps = result.chains[chain];
    return steps.empty() ? from : result.steps[steps.back()].to;
  }

  /// Whether the limit of the stack was reached.
  bool isTooDeep() const { return tooDeep; }

  Explanation result;

private:
  /// Whether the stack limit is reached. Every recursion must ask.
  bool reachesLimit();
  /// A term, with the classes that it and its operands had when a rule matched
  /// it.
  struct Tree {
    uint32_t term;
    ClassId cls = kNone;
    bool leaf = false; ///< the term of `cls` itself
    std::vector<uint32_t> operands;
  };

  uint32_t intern(OpId op, PayloadId payload, std::vector<uint32_t> operands,
                  ClassId cls);
  uint32_t leaf(ClassId c);
  uint32_t node(OpId op, PayloadId payload, std::vector<uint32_t> operands,
                ClassId cls);
  uint32_t treeOf(const Rule &rule, const uint32_t *regs, Reg reg);
  uint32_t matchTree(const Rule &rule, const uint32_t *regs, Reg reg);
  uint64_t bucketOf(OpId op, PayloadId payload, std::span<const ClassId> kids);

  uint32_t path(uint32_t from, uint32_t to);
  uint32_t edgeChain(uint32_t e);
  uint32_t connect(uint32_t from, uint32_t tree, uint32_t bound);
  bool fits(uint32_t term, std::span<const uint32_t> kids, uint32_t bound,
            bool &swapped) const;

  uint32_t addChain(Explanation::Chain steps);
  uint32_t concat(std::span<const uint32_t> chains);
  uint32_t reverse(uint32_t chain);
  uint32_t addStep(Explanation::Step step);
  uint32_t congruence(uint32_t from, uint32_t to, bool swapped,
                      std::vector<uint32_t> operands);

  const EGraph &graph;
  const ProofLog &log;
  std::span<const Rule> rules;
  size_t stackBytes;
  uintptr_t stackBegin;
  bool tooDeep = false;
  /// The number in `result` of each logged term.
  std::vector<uint32_t> spelled;
  std::unordered_map<uint64_t, std::vector<uint32_t>> buckets, termIds;
  /// Logged terms of a class.
  std::unordered_map<ClassId, std::vector<uint32_t>> members;
  std::vector<Tree> trees;
  /// For each term, the step of the unfinished chain that starts at it.
  std::vector<uint32_t> leftBy;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> paths, connections;
  std::map<uint32_t, uint32_t> reversed, edgeChains;
};

} // namespace luminal::eqsat

#endif // LUMINAL_EQSAT_CORE_PROOF_H
