//===- EGraph.h - Classes of equal terms in flat tables -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every operator owns one table. A row of it is a node: its key (the classes of
// its children and its payload, stored contiguously), its class, the round in
// which it was last touched, and the rule that made it. An open-addressing
// index of row numbers finds a row by its key. A union-find over class numbers
// (the lower number wins) records which classes are equal.
//
// Between two calls of `rebuild` the graph has a frozen part, sorted by class,
// which the matcher reads, and a tail of new rows, which only `add` sees. So a
// round of matching reads the graph as it was at the beginning of the round,
// however much the round adds. `rebuild` restores congruence and sorts the tail
// into the frozen part.
//
// Nothing here includes LLVM or MLIR.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_EQSAT_CORE_EGRAPH_H
#define LUMINAL_EQSAT_CORE_EGRAPH_H

#include "luminal/EqSat/Core/Ids.h"
#include "luminal/EqSat/Core/Table.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace luminal::eqsat {

class EGraph;
class ProofLog;
class Snapshot;

/// The answer to "are these equal?" where dims may be symbolic.
enum class Equality : uint8_t { No, Unknown, Yes };

/// Computes facts about classes. A fact is a number that the analysis itself
/// interns; 0 means that nothing is known. Facts only ever become stronger.
class Analysis {
public:
  virtual ~Analysis();
  /// The fact about a node, from its operator, payload and children.
  virtual uint32_t make(const EGraph &graph, OpId op, PayloadId payload,
                        std::span<const ClassId> children) = 0;
  /// The fact about a class for which both facts hold; nullopt when they
  /// contradict each other.
  virtual std::optional<uint32_t> join(uint32_t a, uint32_t b) = 0;
};

/// Bounds that are checked at every insertion.
struct GraphLimits {
  /// The most rows that the index of one operator can address.
  static constexpr uint64_t kMostNodes = uint64_t(1) << 29;
  uint64_t maxNodes = kMostNodes;
  uint64_t maxBytes = ~uint64_t(0);
};

enum class Merge : uint8_t {
  Same,     ///< they were one class before
  Merged,   ///< they are one class now
  Refused,  ///< their types are not provably equal
  Conflict, ///< their types or facts contradict each other: see `conflict`
};

/// Two classes that a rule made equal although their types or facts differ.
struct Conflict {
  RuleId rule = kGiven; ///< the rule whose union failed
  ClassId a = kNone, b = kNone;
  TypeId typeA = kNone, typeB = kNone;
  /// The analysis whose facts contradict; kNone when the types do.
  uint32_t analysis = kNone;
};

/// A run of rows [begin, end) of one table that belong to one class.
struct Run {
  OpId op;
  uint32_t begin;
  uint32_t end;
};

/// A row of an operator's table. Rows move when the graph is rebuilt.
struct NodeRef {
  OpId op = kNone;
  uint32_t row = kNone;
  explicit operator bool() const { return op != kNone; }
  bool operator==(const NodeRef &) const = default;
};

/// Earlier facts of classes, in the order in which they were strengthened.
struct FactChange {
  uint32_t analysis;
  ClassId cls;
  uint32_t fact;
};
using FactLog = std::vector<FactChange>;

struct Field {
  NameId name;
  AttrId attr;
  bool operator==(const Field &) const = default;
};

class EGraph {
public:
  EGraph();
  ~EGraph();
  EGraph(const EGraph &) = delete;
  EGraph &operator=(const EGraph &) = delete;

  //===--------------------------------------------------------------------===//
  // Operators and payloads
  //===--------------------------------------------------------------------===//

  /// Adds an operator. The children of a commutative operator are kept sorted.
  OpId addOp(std::string name, uint32_t arity, bool commutative = false);
  uint32_t numOps() const { return ops.size(); }
  const std::string &opName(OpId op) const { return ops[op]; }
  uint32_t arity(OpId op) const { return tables[op]->arity(); }
  bool isCommutative(OpId op) const { return tables[op]->isCommutative(); }

  /// The payload with this type and these fields, sorted by name.
  PayloadId getPayload(TypeId t, std::span<const Field> fields) {
    if (fields.empty() && t < plainPayloads.size() && plainPayloads[t] != kNone)
      return plainPayloads[t];
    return findPayload(t, fields);
  }
  uint32_t numPayloads() const { return payloads.size(); }
  TypeId payloadType(PayloadId p) const { return payloads[p].type; }
  std::span<const Field> payloadFields(PayloadId p) const {
    return {fieldPool.data() + payloads[p].begin, payloads[p].count};
  }
  /// The attribute of that name; kNone if the payload has none.
  AttrId payloadField(PayloadId p, NameId name) const {
    for (const Field &f : payloadFields(p))
      if (f.name == name)
        return f.attr;
    return kNone;
  }

  /// Decides whether two different types are equal. If unset, they are not.
  std::function<Equality(TypeId, TypeId)> compareTypes;

  //===--------------------------------------------------------------------===//
  // Nodes and classes
  //===--------------------------------------------------------------------===//

  ClassId find(ClassId c) const {
    while (parent[c] != c)
      c = parent[c];
    return c;
  }
  uint32_t numClassIds() const { return parent.size(); }
  TypeId classType(ClassId c) const { return type[c]; }

  /// The class of the node, or kNone. Children may be any ids that the graph
  /// returned, current or merged since.
  ClassId lookup(OpId op, PayloadId payload,
                 std::span<const ClassId> children) const;
  /// The class of the node, which is added if it does not exist. kNone if a
  /// limit is reached.
  ClassId add(OpId op, PayloadId payload, std::span<const ClassId> children,
              RuleId rule = kGiven);
  /// Adds the node to class `c`, without creating a class for it.
  Merge addInto(ClassId c, OpId op, PayloadId payload,
                std::span<const ClassId> children, RuleId rule);
  /// Variants that take a key: children, then payload. They sort the children
  /// of a commutative operator in place.
  ClassId lookupKey(OpId op, uint32_t *key) const {
    const Table &t = *tables[op];
    sortChildren(t, key);
    uint32_t row = t.find(key);
    return row == kNone ? kNone : t.classOf(row);
  }
  ClassId addKey(OpId op, uint32_t *key, RuleId rule);
  Merge addKeyInto(ClassId c, OpId op, uint32_t *key, RuleId rule);
  /// Variants that take a sorted key and its hash, for a key that is known to
  /// be absent.
  ClassId insert(OpId op, const uint32_t *key, uint64_t hash, RuleId rule);
  Merge insertInto(ClassId c, OpId op, const uint32_t *key, uint64_t hash,
                   RuleId rule);
  /// Merges two classes.
  Merge unite(ClassId a, ClassId b, RuleId rule = kGiven);

  /// A rule that made a node of the class, or kGiven. Slow: for messages.
  RuleId makerOf(ClassId c) const;

  /// Makes a row count as new in the next round.
  void touch(NodeRef node) {
    tables[node.op]->setStamp(node.row, now, /*onlyMoved=*/false);
    tables[node.op]->stale = true;
    dirty = true;
  }

  /// Restores congruence after a batch of `add` and `unite`. False on a
  /// conflict.
  bool rebuild();
  /// Whether anything changed since the last rebuild.
  bool isDirty() const { return dirty; }

  /// Sets the limits, and forgets that an earlier limit was hit.
  void setLimits(const GraphLimits &l) {
    limits = l;
    limits.maxNodes = std::min(l.maxNodes, GraphLimits::kMostNodes);
    hit = 0;
  }
  /// The limit that made `add` fail: 'n'odes, 'b'ytes, or 0.
  char limitHit() const { return hit; }
  const std::optional<Conflict> &conflict() const { return failure; }

  uint64_t numNodes() const { return liveRows; }
  /// Number of classes at the last rebuild.
  uint64_t numClasses() const { return liveClasses; }
  uint64_t bytes() const { return counter.bytes; }
  /// The largest value of `bytes` so far.
  uint64_t peakBytes() const { return counter.peak; }

  //===--------------------------------------------------------------------===//
  // The frozen part
  //===--------------------------------------------------------------------===//

  const Table &table(OpId op) const { return *tables[op]; }
  /// The rows of a class: one run for each operator, by ascending operator.
  std::span<const Run> runs(ClassId c) const {
    if (c + 1 >= runOffset.size())
      return {};
    return {runPool.data() + runOffset[c], runPool.data() + runOffset[c + 1]};
  }
  /// Number of the current round. Rows touched since the last rebuild carry
  /// this number.
  uint32_t round() const { return now; }
  /// The round in which the rows or facts of a class last changed.
  uint32_t classStamp(ClassId c) const { return stamp[c]; }

  //===--------------------------------------------------------------------===//
  // Facts about classes
  //===--------------------------------------------------------------------===//

  /// Must be called before any node is added. Returns the number of the
  /// analysis.
  uint32_t addAnalysis(std::unique_ptr<Analysis> analysis);
  uint32_t numAnalyses() const { return analyses.size(); }
  uint32_t fact(uint32_t analysis, ClassId c) const {
    return facts[analysis][c];
  }

  /// The rule that is being applied, for native functions that add nodes.
  RuleId currentRule = kGiven;

  /// Called for every union at the moment it is made, in order. Unions made by
  /// congruence are included; their rule is kNone.
  std::function<void(ClassId winner, ClassId loser, RuleId rule)> onMerge;

  /// The log of unions for proofs, or null. Must be set before any node is
  /// added.
  ProofLog *proofs = nullptr;

private:
  friend class Snapshot;

  struct Payload {
    TypeId type;
    uint32_t begin;
    uint32_t count;
  };
  static constexpr RuleId kCongruence = kNone;

  static void sortChildren(const Table &t, uint32_t *key) {
    if (t.isCommutative() && key[0] > key[1])
      std::swap(key[0], key[1]);
  }
  PayloadId findPayload(TypeId t, std::span<const Field> fields);
  ClassId newClass(TypeId t);
  bool checkLimits();
  Equality typesEqual(TypeId a, TypeId b) const;
  void flatten();
  void canonicaliseRows();
  template <uint32_t K>
  void mergeRow(Table &t, uint32_t row, uint64_t hash);
  void closeByUses();
  bool readFacts(OpId op, uint32_t row);
  bool recomputeFacts();
  void setFact(size_t analysis, ClassId c, uint32_t fact) {
    if (factLog)
      factLog->push_back({uint32_t(analysis), c, facts[analysis][c]});
    facts[analysis][c] = fact;
  }
  void sortTables();
  void indexRuns();

  ByteCounter counter;
  std::vector<std::string> ops;
  std::vector<std::unique_ptr<Table>> tables;
  std::vector<Payload> payloads;
  std::vector<Field> fieldPool;
  std::vector<uint32_t> payloadSlots;
  /// The payload without fields of each type, or kNone.
  std::vector<PayloadId> plainPayloads;

  Buffer<ClassId> parent;
  Buffer<TypeId> type;
  Buffer<uint32_t> stamp;
  Buffer<uint32_t> runOffset;
  Buffer<Run> runPool;
  std::vector<std::unique_ptr<Analysis>> analyses;
  std::vector<Buffer<uint32_t>> facts;
  /// Classes whose facts changed since their parents last read them.
  std::vector<ClassId> changedFacts;
  std::vector<ClassId> losers;
  /// Log of the current snapshot; null without a snapshot.
  FactLog *factLog = nullptr;

  GraphLimits limits;
  std::optional<Conflict> failure;
  uint64_t liveRows = 0;
  uint64_t liveClasses = 0;
  uint32_t now = 1;
  bool dirty = false;
  char hit = 0;
};

} // namespace luminal::eqsat

#endif // LUMINAL_EQSAT_CORE_EGRAPH_H
