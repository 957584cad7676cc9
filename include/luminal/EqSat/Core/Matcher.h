//===- Matcher.h - All rules matched at once ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The left sides of all rules form one trie: rules that begin with the same
// atoms share them, so that a common beginning is matched once. The trie is a
// program over 32-bit registers, run on the frozen part of the graph.
//
// Matching is incremental: every row has the number of the round in which it
// was last touched, and a match counts for a rule only if one of its rows is
// younger than the rule's last run. A branch is skipped where neither the rows
// bound so far nor those that it would enter next are young enough.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_EQSAT_CORE_MATCHER_H
#define LUMINAL_EQSAT_CORE_MATCHER_H

#include "luminal/EqSat/Core/EGraph.h"
#include "luminal/EqSat/Core/Rule.h"

#include <map>

namespace luminal::eqsat {

/// Matches of one rule that are not processed yet: register `stored[i]` of
/// match m is columns[i * kCapacity + m].
struct MatchBuffer {
  static constexpr uint32_t kCapacity = 64;
  /// `numColumns` is at least the number of stored registers.
  MatchBuffer(std::span<const Reg> stored, size_t numColumns)
      : stored(stored), columns(numColumns * kCapacity) {}
  std::span<const Reg> stored;
  std::vector<uint32_t> columns;
  uint32_t size = 0;
  /// The root row of each match.
  NodeRef roots[kCapacity];
};

/// Receives matches.
class MatchSink {
public:
  virtual ~MatchSink();
  /// The buffer of the rule is full, and must be empty afterwards. The graph
  /// may be added to.
  virtual void full(RuleId rule) = 0;
  /// Called at intervals. False stops the matching, also within a root row.
  virtual bool between() = 0;
};

class Matcher {
public:
  /// How one rule takes part in one run.
  struct Query {
    bool active = true;
    /// Matches all of whose rows are of this round or older are left out; 0
    /// leaves out none.
    uint32_t since = 0;
  };

  /// The rules and natives must outlive the matcher.
  Matcher(std::span<const Rule> rules, std::span<Native> natives);

  /// Matches that do not fill a buffer stay in it; there is one for each rule.
  void run(const EGraph &graph, std::span<const Query> queries,
           std::span<MatchBuffer> buffers, MatchSink &sink);

  /// The share of each rule in the rows visited by the last run; a shared
  /// beginning is divided evenly.
  std::vector<double> workShares() const;

private:
  struct Pending {
    Reg reg;
    uint32_t height;
  };
  /// Where a value is found while the rows of a run are looked at together.
  struct Source {
    enum Kind : uint8_t {
      Register, ///< bound before: the same for all rows
      Word,     ///< word `index` of the row
      Column,   ///< written by test `index` of the tail
    } kind;
    uint32_t index;
  };
  /// The atoms behind the last class that a rule enters, where they test only
  /// the contents of a row. Rows are then tested together.
  struct Tail {
    struct Test {
      Atom::Kind kind;
      Source a, b;       ///< `b` of Equal
      uint32_t constant; ///< of Is and Field
    };
    RuleId rule = kNone;
    std::vector<Test> tests;
    /// Those that are read.
    std::vector<uint32_t> words;
    /// One for each stored register of the rule.
    std::vector<Source> stored;
  };
  struct Node {
    Atom atom;
    std::vector<uint32_t> next;
    std::vector<RuleId> accepts;
    /// Classes bound before this atom which it or a later one enters, and how
    /// many levels deep.
    std::vector<Pending> pending;
    std::vector<RuleId> rules;
    /// Index into `tails`, or kNone.
    uint32_t tail = kNone;
    // Of the current run:
    bool live = false;
    uint32_t since = 0;
    mutable uint64_t work = 0;
  };

  void insert(RuleId id, const Rule &rule);
  void findTail(Node &n, std::span<const Rule> rules);
  void prepare(const EGraph &graph, std::span<const Query> queries);
  void spend(uint32_t work);
  bool young(const Node &n) const;
  bool worth(const Node &n, uint32_t stamp) const;
  void step(const Node &n, uint32_t stamp);
  void enter(const Node &n, uint32_t stamp);
  bool holds(const Node &n, uint32_t &stamp);
  void after(const Node &n, uint32_t stamp);
  template <uint32_t K>
  void enterRow(const Node &n, const Table &t, uint32_t row, uint32_t stamp);
  void accept(RuleId rule);
  void enterTogether(const Tail &tail, const Table &t, uint32_t begin,
                     uint32_t end, uint32_t stamp);

  std::span<Native> natives;
  std::vector<Node> nodes;
  std::vector<Tail> tails;
  std::vector<uint32_t> roots;
  uint32_t maxHeight = 0;

  // Of the current run:
  const EGraph *graph = nullptr;
  std::span<const Query> queries;
  std::span<MatchBuffer> buffers;
  MatchSink *sink = nullptr;
  std::vector<uint32_t> regs;
  /// Arguments of the native that is called.
  std::vector<uint32_t> nativeArgs;
  /// levels[h][c]: the youngest row within h levels below class c.
  std::vector<std::vector<uint32_t>> levels;
  uint32_t numRules = 0, spent = 0;
  NodeRef root;
};

} // namespace luminal::eqsat

#endif // LUMINAL_EQSAT_CORE_MATCHER_H
