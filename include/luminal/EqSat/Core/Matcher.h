//===- Matcher.h - Matching of all rules ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The left sides of all rules form one trie: rules that begin with the same
// atoms share them, so a common prefix is matched once. The trie is a program
// over 32-bit registers that runs on the frozen part of the graph.
//
// Matching is incremental. Every row carries the number of the round in which
// it was last touched, and a match counts for a rule only if one of its rows
// was touched after the rule's last run. A branch of the trie is skipped if
// neither the rows bound so far nor the rows it would enter next are recent
// enough.
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
  /// Called when the buffer of the rule is full; must empty it. The callee may
  /// add to the graph.
  virtual void full(RuleId rule) = 0;
  /// Called at intervals. Returning false stops the matching, even in the
  /// middle of a root row.
  virtual bool between() = 0;
};

class Matcher {
public:
  /// How one rule takes part in one run of the matcher.
  struct Query {
    bool active = true;
    /// Matches all of whose rows were last touched in this round or earlier are
    /// left out; 0 leaves out none.
    uint32_t since = 0;
  };

  /// The rules and natives must outlive the matcher.
  Matcher(std::span<const Rule> rules, std::span<Native> natives);

  /// Matches that do not fill a buffer stay in it. There is one buffer for each
  /// rule.
  void run(const EGraph &graph, std::span<const Query> queries,
           std::span<MatchBuffer> buffers, MatchSink &sink);

  /// Each rule's share of the rows that the last run visited; the work of a
  /// shared prefix is divided evenly.
  std::vector<double> workShares() const;

private:
  struct Pending {
    Reg reg;
    uint32_t height;
  };
  /// Where the value of a register comes from while the rows of a run are
  /// tested together.
  struct Source {
    enum Kind : uint8_t {
      Register, ///< bound earlier: the same for all rows
      Word,     ///< word `index` of the row
      Column,   ///< written by test `index` of the tail
    } kind;
    uint32_t index;
  };
  /// The remaining atoms of a rule after the last class that it enters, if they
  /// only test the contents of a row. Rows are then tested in batches.
  struct Tail {
    struct Test {
      Atom::Kind kind;
      Source a, b;       ///< `b`: only for Equal
      uint32_t constant; ///< for Is and Field
    };
    RuleId rule = kNone;
    std::vector<Test> tests;
    /// The words of the row that the tests or the stored registers read.
    std::vector<uint32_t> words;
    /// The source of each stored register of the rule.
    std::vector<Source> stored;
  };
  struct Node {
    Atom atom;
    std::vector<uint32_t> next;
    std::vector<RuleId> accepts;
    /// Classes bound before this atom that this atom or a later one enters, and
    /// how many levels deep.
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
  /// levels[h][c]: the round of the most recently touched row within h levels
  /// below class c.
  std::vector<std::vector<uint32_t>> levels;
  uint32_t numRules = 0, spent = 0;
  NodeRef root;
};

} // namespace luminal::eqsat

#endif // LUMINAL_EQSAT_CORE_MATCHER_H
