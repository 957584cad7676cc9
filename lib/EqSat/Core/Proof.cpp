//===- Proof.cpp - Why two terms are equal --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/EqSat/Core/Proof.h"

#include <algorithm>

using namespace luminal::eqsat;

//===----------------------------------------------------------------------===//
// The log
//===----------------------------------------------------------------------===//

uint32_t ProofLog::addTerm(OpId op, std::span<const uint32_t> children,
                           PayloadId payload, ClassId cls) {
  terms.push_back(
      {op, payload, uint32_t(pool.size()), uint32_t(children.size()), cls});
  pool.insert(pool.end(), children.begin(), children.end());
  up.push_back(kNone);
  upEdge.push_back(kNone);
  size.push_back(1);
  return terms.size() - 1;
}

void ProofLog::link(uint32_t a, uint32_t b, RuleId rule) {
  Edge edge{a, b, rule, nextPart, size_t(kNone)};
  if (rule < kGiven) {
    edge.frame = frames.size();
    frames.insert(frames.end(), next.begin(), next.end());
  }
  auto root = [&](uint32_t t) {
    while (up[t] != kNone)
      t = up[t];
    return t;
  };
  a = root(a);
  b = root(b);
  assert(a != b && "a union of one class with itself");
  if (size[a] < size[b])
    std::swap(a, b);
  up[b] = a;
  upEdge[b] = edges.size();
  size[a] += size[b];
  edges.push_back(edge);
}

void ProofLog::cut(const Mark &mark) {
  // Remove edges in reverse order: the last one hangs one tree below the root
  // of another.
  for (size_t e = edges.size(); e-- != mark.edges;) {
    uint32_t t = kNone;
    for (uint32_t end : {edges[e].a, edges[e].b}) {
      while (up[end] != kNone && upEdge[end] != e)
        end = up[end];
      if (up[end] != kNone)
        t = end;
    }
    size[up[t]] -= size[t];
    up[t] = upEdge[t] = kNone;
  }
  terms.resize(mark.terms);
  pool.resize(mark.pool);
  termOfClass.resize(mark.classes);
  edges.resize(mark.edges);
  frames.resize(mark.frames);
  up.resize(mark.terms);
  upEdge.resize(mark.terms);
  size.resize(mark.terms);
}

bool ProofLog::connected(uint32_t a, uint32_t b, uint32_t bound) const {
  auto root = [&](uint32_t t) {
    while (upEdge[t] < bound)
      t = up[t];
    return t;
  };
  return root(a) == root(b);
}

uint32_t ProofLog::youngest(uint32_t a, uint32_t b) const {
  uint32_t last = 0;
  while (a != b) {
    uint32_t &lower = upEdge[a] < upEdge[b] ? a : b;
    last = std::max(last, upEdge[lower]);
    lower = up[lower];
  }
  return last;
}

//===----------------------------------------------------------------------===//
// Terms
//===----------------------------------------------------------------------===//

static uint64_t mix(uint64_t h, uint64_t x) {
  h = (h ^ x) * 0xbf58476d1ce4e5b9u;
  return h ^ h >> 31;
}

/// Address of the current stack frame; the stack grows down.
static uintptr_t getFrame() {
  return reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
}

bool Explainer::reachesLimit() {
  tooDeep |= stackBytes != 0 && getFrame() + stackBytes < stackBegin;
  return tooDeep;
}

Explainer::Explainer(const EGraph &graph, const ProofLog &log,
                     std::span<const Rule> rules, size_t stackBytes)
    : graph(graph), log(log), rules(rules), stackBytes(stackBytes),
      stackBegin(getFrame()) {
  assert(!graph.isDirty() && "rebuild first");
  // Operands are logged before the terms that use them.
  spelled.resize(log.numTerms());
  for (uint32_t t = 0; t != log.numTerms(); ++t) {
    const ProofLog::Term &term = log.term(t);
    std::vector<uint32_t> operands;
    for (ClassId c : log.children(t))
      operands.push_back(spelled[log.termOf(c)]);
    spelled[t] = intern(term.op, term.payload, operands, term.cls);
    buckets[bucketOf(term.op, term.payload, log.children(t))].push_back(t);
    members[graph.find(term.cls)].push_back(t);
  }
  addChain({}); // the empty one is chain 0
}

uint32_t Explainer::intern(OpId op, PayloadId payload,
                           std::vector<uint32_t> operands, ClassId cls) {
  uint64_t h = mix(mix(op, payload), operands.size());
  for (uint32_t t : operands)
    h = mix(h, t);
  std::vector<uint32_t> &list = termIds[h];
  for (uint32_t t : list) {
    const Explanation::Term &there = result.terms[t];
    if (there.op == op && there.payload == payload &&
        there.operands == operands)
      return t;
  }
  list.push_back(result.terms.size());
  result.terms.push_back({op, payload, std::move(operands), cls});
  return list.back();
}

/// A hash that is equal for all terms that can be congruent.
uint64_t Explainer::bucketOf(OpId op, PayloadId payload,
                             std::span<const ClassId> kids) {
  std::vector<ClassId> classes;
  for (ClassId c : kids)
    classes.push_back(graph.find(c));
  if (graph.isCommutative(op))
    std::sort(classes.begin(), classes.end());
  uint64_t h = mix(op, payload);
  for (ClassId c : classes)
    h = mix(h, c);
  return h;
}

uint32_t Explainer::leaf(ClassId c) {
  trees.push_back({spelled[log.termOf(c)], c, true, {}});
  return trees.size() - 1;
}

uint32_t Explainer::node(OpId op, PayloadId payload,
                         std::vector<uint32_t> operands, ClassId cls) {
  std::vector<uint32_t> terms;
  for (uint32_t t : operands)
    terms.push_back(trees[t].term);
  uint32_t term = intern(op, payload, std::move(terms), cls);
  trees.push_back({term, cls, false, std::move(operands)});
  return trees.size() - 1;
}

/// The term that the left side matched at a match register.
uint32_t Explainer::matchTree(const Rule &rule, const uint32_t *regs, Reg reg) {
  auto value = [&](Reg m) {
    auto it = std::find(rule.stored.begin(), rule.stored.end(), m);
    assert(it != rule.stored.end() && "the rule was not built to be explained");
    return regs[it - rule.stored.begin()];
  };
  for (const Atom &atom : rule.lhs)
    if (atom.kind == Atom::Enter && atom.a == reg) {
      std::vector<uint32_t> operands;
      for (uint32_t i = 0; i != atom.count; ++i)
        operands.push_back(matchTree(rule, regs, atom.dst + i));
      return node(atom.b, value(atom.dst + atom.count), std::move(operands),
                  value(reg));
    }
  return leaf(value(reg));
}

/// The term that a right-side register stands for.
uint32_t Explainer::treeOf(const Rule &rule, const uint32_t *regs, Reg reg) {
  if (reg < rule.numStored())
    return matchTree(rule, regs, rule.stored[reg]);
  for (const Instruction &i : rule.rhs)
    if (i.kind == Instruction::Node && i.dst == reg) {
      std::vector<uint32_t> operands;
      for (Reg r : i.args)
        operands.push_back(treeOf(rule, regs, r));
      return node(i.a, regs[i.b], std::move(operands),
                  i.into == kNone ? regs[reg] : regs[i.into]);
    }
  return leaf(regs[reg]); // created by a native function
}

//===----------------------------------------------------------------------===//
// Chains
//===----------------------------------------------------------------------===//

uint32_t Explainer::addStep(Explanation::Step step) {
  result.steps.push_back(std::move(step));
  return result.steps.size() - 1;
}

uint32_t Explainer::addChain(Explanation::Chain steps) {
  if (steps.empty() && !result.chains.empty())
    return 0;
  result.chains.push_back(std::move(steps));
  return result.chains.size() - 1;
}

uint32_t Explainer::concat(std::span<const uint32_t> chains) {
  Explanation::Chain all;
  leftBy.resize(result.terms.size(), kNone);
  auto shorten = [&](size_t size) {
    for (; all.size() != size; all.pop_back())
      leftBy[result.steps[all.back()].from] = kNone;
  };
  for (uint32_t c : chains)
    for (uint32_t step : result.chains[c]) {
      leftBy[result.steps[step].from] = all.size();
      all.push_back(step);
      // The step returns to an earlier term: drop the detour.
      if (uint32_t i = leftBy[result.steps[step].to]; i != kNone)
        shorten(i);
    }
  Explanation::Chain whole = all;
  shorten(0);
  return addChain(std::move(whole));
}

uint32_t Explainer::reverse(uint32_t chain) {
  if (chain == 0 || reachesLimit())
    return 0;
  if (auto it = reversed.find(chain); it != reversed.end())
    return it->second;
  Explanation::Chain back;
  Explanation::Chain steps = result.chains[chain];
  for (auto it = steps.rbegin(); it != steps.rend(); ++it) {
    Explanation::Step step = result.steps[*it];
    std::swap(step.from, step.to);
    step.forward = !step.forward;
    for (uint32_t &c : step.operands)
      c = reverse(c);
    if (step.swapped)
      std::swap(step.operands[0], step.operands[1]);
    back.push_back(addStep(std::move(step)));
  }
  uint32_t id = addChain(std::move(back));
  reversed[chain] = id;
  reversed[id] = chain;
  return id;
}

uint32_t Explainer::congruence(uint32_t from, uint32_t to, bool swapped,
                               std::vector<uint32_t> operands) {
  if (from == to)
    return 0;
  return addChain(
      {addStep({from, to, kNone, true, swapped, std::move(operands)})});
}

/// Whether the operands of a logged term were equal to these classes before
/// edge `bound`; `swapped` says whether in exchanged order.
bool Explainer::fits(uint32_t term, std::span<const uint32_t> kids,
                     uint32_t bound, bool &swapped) const {
  std::span<const ClassId> own = log.children(term);
  for (bool swap : {false, true}) {
    if (swap && !(own.size() == 2 && graph.isCommutative(log.term(term).op)))
      break;
    bool equal = true;
    for (uint32_t i = 0; i != own.size() && equal; ++i)
      equal = log.connected(log.termOf(own[i]),
                            log.termOf(kids[swap ? 1 - i : i]), bound);
    if (equal) {
      swapped = swap;
      return true;
    }
  }
  return false;
}

/// The chain from a logged term to a tree to which it was equal before edge
/// `bound`.
uint32_t Explainer::connect(uint32_t from, uint32_t tree, uint32_t bound) {
  if (trees[tree].leaf)
    return path(from, log.termOf(trees[tree].cls));
  if (spelled[from] == trees[tree].term || reachesLimit())
    return 0;
  if (auto it = connections.find({from, tree}); it != connections.end())
    return it->second;
  uint32_t term = trees[tree].term;
  std::vector<ClassId> kids;
  for (uint32_t t : trees[tree].operands)
    kids.push_back(trees[t].cls);
  // The graph contains the node, so a congruent term was logged.
  OpId op = result.terms[term].op;
  PayloadId payload = result.terms[term].payload;
  uint32_t witness = kNone;
  bool swapped = false;
  for (uint32_t w : buckets[bucketOf(op, payload, kids)])
    if (log.term(w).op == op && log.term(w).payload == payload &&
        log.connected(w, from, bound) && fits(w, kids, bound, swapped)) {
      witness = w;
      break;
    }
  assert(witness != kNone && "a match of what the graph did not have");
  std::vector<uint32_t> operands;
  for (uint32_t i = 0; i != kids.size(); ++i)
    operands.push_back(connect(log.termOf(log.children(witness)[i]),
                               trees[tree].operands[swapped ? 1 - i : i],
                               bound));
  uint32_t there = path(from, witness);
  uint32_t parts[] = {
      there, congruence(spelled[witness], term, swapped, std::move(operands))};
  uint32_t chain = concat(parts);
  connections[{from, tree}] = chain;
  return chain;
}

/// The chain from end `a` to end `b` of an edge.
uint32_t Explainer::edgeChain(uint32_t e) {
  if (auto it = edgeChains.find(e); it != edgeChains.end())
    return it->second;
  const ProofLog::Edge &edge = log.edge(e);
  uint32_t chain = 0;
  if (edge.frame != size_t(kNone)) {
    const Rule &rule = rules[edge.rule];
    const uint32_t *regs = log.frame(edge);
    Reg a, b;
    bool forward = true;
    if (edge.part < rule.rhs.size()) {
      forward = !rule.rhs[edge.part].isLeft;
      a = rule.rhs[edge.part].into;
      b = rule.rhs[edge.part].dst;
    } else {
      std::tie(a, b) = rule.unions[edge.part - rule.rhs.size()];
    }
    uint32_t left = treeOf(rule, regs, a), right = treeOf(rule, regs, b);
    uint32_t step = addStep(
        {trees[left].term, trees[right].term, edge.rule, forward, false, {}});
    uint32_t in = connect(edge.a, left, e), out = connect(edge.b, right, e);
    uint32_t parts[] = {in, addChain({step}), reverse(out)};
    chain = concat(parts);
  } else if (edge.rule == kNone) {
    // Find two terms of these classes whose operands had become equal.
    [&] {
      for (uint32_t u : members[graph.find(log.term(edge.a).cls)])
        if (log.connected(u, edge.a, e))
          for (uint32_t v : buckets[bucketOf(
                   log.term(u).op, log.term(u).payload, log.children(u))]) {
            bool swapped = false;
            if (log.term(v).op != log.term(u).op ||
                log.term(v).payload != log.term(u).payload ||
                !log.connected(v, edge.b, e) ||
                !fits(u, log.children(v), e, swapped))
              continue;
            std::vector<uint32_t> operands;
            for (uint32_t i = 0; i != log.term(u).arity; ++i)
              operands.push_back(
                  path(log.termOf(log.children(u)[i]),
                       log.termOf(log.children(v)[swapped ? 1 - i : i])));
            uint32_t parts[] = {path(edge.a, u),
                                congruence(spelled[u], spelled[v], swapped,
                                           std::move(operands)),
                                path(v, edge.b)};
            chain = concat(parts);
            return;
          }
      assert(false && "congruence without congruent terms");
    }();
  } else {
    chain = addChain({addStep(
        {spelled[edge.a], spelled[edge.b], edge.rule, true, false, {}})});
  }
  edgeChains[e] = chain;
  return chain;
}

uint32_t Explainer::path(uint32_t from, uint32_t to) {
  if (spelled[from] == spelled[to] || reachesLimit())
    return 0;
  if (auto it = paths.find({from, to}); it != paths.end())
    return it->second;
  // Expand the most recent edge between two terms first, then the paths to its
  // ends. Uses a work list, because paths in a large class are long.
  struct Part {
    uint32_t from, to, edge; ///< the edge to expand, or kNone for a path
  };
  std::vector<Part> work{{from, to, kNone}};
  std::vector<uint32_t> chains;
  while (!work.empty()) {
    auto [begin, end, e] = work.back();
    work.pop_back();
    if (e != kNone) {
      uint32_t chain = edgeChain(e);
      chains.push_back(begin == log.edge(e).a ? chain : reverse(chain));
    } else if (auto it = paths.find({begin, end}); it != paths.end()) {
      chains.push_back(it->second);
    } else if (spelled[begin] != spelled[end]) {
      uint32_t last = log.youngest(begin, end);
      uint32_t a = log.edge(last).a, b = log.edge(last).b;
      if (!log.connected(begin, a, last))
        std::swap(a, b);
      work.push_back({b, end, kNone});
      work.push_back({a, b, last});
      work.push_back({begin, a, kNone});
    }
  }
  uint32_t chain = concat(chains);
  paths[{from, to}] = chain;
  return chain;
}

uint32_t Explainer::explain(ClassId from, ClassId to) {
  assert(graph.find(from) == graph.find(to) && "they are not equal");
  return path(log.termOf(from), log.termOf(to));
}

uint32_t Explainer::explainTerm(uint32_t logged) {
  return path(logged, log.termOf(graph.find(log.term(logged).cls)));
}

uint32_t Explainer::explain(ClassId from, const Extractor &extractor,
                            const Selection &selection, ScopeId scope) {
  std::unordered_map<ClassId, uint32_t> treeOf;
  ClassId root = extractor.in(from, scope);
  for (ClassId name : extractor.order(selection, {&root, 1})) {
    NodeRef ref = selection.chosen[name];
    const Table &t = graph.table(ref.op);
    std::vector<uint32_t> operands;
    for (uint32_t i = 0; i != t.arity(); ++i)
      operands.push_back(treeOf.at(extractor.child(selection, name, i)));
    treeOf[name] = node(ref.op, t.payload(ref.row), std::move(operands),
                        extractor.classOf(name));
  }
  return connect(log.termOf(from), treeOf.at(root), kNone);
}
