//===- Proof.h - Why two terms are equal ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A graph with a `ProofLog` logs every term and every union, with the match
// that made it. From the log an `Explainer` finds the rule applications by
// which one term becomes another.
//
// Each class id stands for the term that it was made for. Unions are edges
// between terms; they form a forest, so between two terms of a class there is
// one path. An edge that a rule made is an instance of the rule between two
// terms that are spelled out; an edge that congruence made is equality of the
// operands, which was there before it. So a path depends on older edges only,
// and expanding it terminates.
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
    uint32_t begin; ///< of its operands, as class ids
    uint32_t arity;
    ClassId cls; ///< that it was made for or joined
  };
  struct Edge {
    uint32_t a, b; ///< terms
    RuleId rule;   ///< kNone: congruence
    /// Of the rule's right side: instruction that joined a class, or behind
    /// those the union.
    uint32_t part;
    /// Where the registers of the match begin; kNone where there was none.
    size_t frame;
  };

  /// A class was made for a node; classes are numbered in this order.
  void made(OpId op, std::span<const uint32_t> children, PayloadId payload) {
    ClassId c = termOfClass.size();
    termOfClass.push_back(addTerm(op, children, payload, c));
  }
  /// A node without a class of its own joined a class.
  void joined(ClassId c, OpId op, std::span<const uint32_t> children,
              PayloadId payload, RuleId rule) {
    link(termOfClass[c], addTerm(op, children, payload, c), rule);
  }
  /// Two classes became one; ids as the rule has them.
  void united(ClassId a, ClassId b, RuleId rule) {
    link(termOfClass[a], termOfClass[b], rule);
  }
  /// The match whose unions `joined` and `united` report next.
  void applying(uint32_t part, std::span<const uint32_t> regs) {
    nextPart = part;
    next.assign(regs.begin(), regs.end());
  }

  /// The current size; `cut` truncates to it.
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

  /// Whether the terms were equal before edge `bound` was made.
  bool connected(uint32_t a, uint32_t b, uint32_t bound) const;
  /// The youngest edge between two terms of one class.
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
  /// The forest by size, without shortcuts, so that edges grow younger on the
  /// way up.
  std::vector<uint32_t> up, upEdge, size;
  uint32_t nextPart = 0;
  std::vector<uint32_t> next;
};

/// How one term becomes another, in full.
struct Explanation {
  struct Term {
    OpId op;
    PayloadId payload;
    std::vector<uint32_t> operands; ///< terms
    /// A class that has the term.
    ClassId cls;
  };
  struct Step {
    uint32_t from, to; ///< terms
    /// kNone: `from` and `to` differ in their operands only, which `operands`
    /// proves equal. Else an instance of the rule.
    RuleId rule = kNone;
    /// Whether `from` is the left side.
    bool forward = true;
    /// The operands of a commutative operator changed places.
    bool swapped = false;
    /// For each operand of `from` the chain to that of `to`.
    std::vector<uint32_t> operands;
  };
  /// Steps, each of which begins where the one before ended.
  using Chain = std::vector<uint32_t>;

  std::vector<Term> terms;
  std::vector<Step> steps;
  std::vector<Chain> chains;
};

/// Answers from the log of a rebuilt graph. The rules are those that ran, built
/// to be explained (`RuleBuilder::finish`).
class Explainer {
public:
  /// Proofs nest as deep as terms do, and each level takes stack: from
  /// `stackBytes` on below this call, explaining stops and `isTooDeep` holds;
  /// `result` is then of no use. 0: no limit.
  Explainer(const EGraph &graph, const ProofLog &log,
            std::span<const Rule> rules, size_t stackBytes = 0);

  /// Between the terms that two class ids were made for, which are equal.
  /// Returns a chain of `result`.
  uint32_t explain(ClassId from, ClassId to);
  /// From a term of the log to the one that its class was made for.
  uint32_t explainTerm(uint32_t logged);
  /// From the term of a class id to the one that was selected.
  uint32_t explain(ClassId from, const Extractor &extractor,
                   const Selection &selection, ScopeId scope = 0);

  /// A term of the log in `result`, and the one that a class id was made for.
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
  /// To be asked wherever explaining calls itself.
  bool reachesLimit();
  /// A term with the classes that it had when a rule matched it.
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
  /// Of each logged term: itself spelled out.
  std::vector<uint32_t> spelled;
  std::unordered_map<uint64_t, std::vector<uint32_t>> buckets, termIds;
  /// Logged terms of a class.
  std::unordered_map<ClassId, std::vector<uint32_t>> members;
  std::vector<Tree> trees;
  /// The step of the unfinished chain that leaves each term.
  std::vector<uint32_t> leftBy;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> paths, connections;
  std::map<uint32_t, uint32_t> reversed, edgeChains;
};

} // namespace luminal::eqsat

#endif // LUMINAL_EQSAT_CORE_PROOF_H
