//===- Rule.h - A rewrite rule, ready to be matched -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A rule is a list of atoms (the left side: what must hold) and a list of
// instructions (the right side: what is then also true), both over numbered
// registers. `RuleBuilder` makes one; the PDL compiler and tests use it.
//
// The order in which the left side is built is the order in which it is tested,
// and registers are numbered in that order: rules that begin alike share their
// beginning in the matcher. So build one operation with all tests on it before
// entering the next.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_EQSAT_CORE_RULE_H
#define LUMINAL_EQSAT_CORE_RULE_H

#include "luminal/EqSat/Core/Buffer.h"
#include "luminal/EqSat/Core/Ids.h"

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace luminal::eqsat {

using Reg = uint32_t;

/// What a rule guarantees about the values it calls equal.
struct Promise {
  enum Kind : uint8_t {
    Exact,    ///< the same bits
    Rounding, ///< error against float64 at most `ulps` of the element (scalar
              ///< functions) or of the sum of absolute terms (reductions)
    Finite,   ///< the same bits where all values are finite; fires only where
              ///< that is proved
  };
  Kind kind = Exact;
  double ulps = 0;
  /// Where matches differ (by element type, by the function in them): what the
  /// rule promises of the best of them; `ulps` is of the worst.
  double leastUlps = 0;
  static Promise exact() { return {Exact, 0, 0}; }
  static Promise rounding(double ulps) { return {Rounding, ulps, ulps}; }
  static Promise rounding(double least, double most) {
    return {Rounding, most, least};
  }
  static Promise finite() { return {Finite, 0, 0}; }
  /// "exact", "rounding(2)", "rounding(0.5..2)", "finite".
  std::string str() const;
};

/// Which promises are admitted.
struct PrecisionPolicy {
  /// The widest rounding; below 0 none.
  double maxUlps = 1e300;
  bool admitsFinite = true;
  static PrecisionPolicy exact() { return {-1, false}; }
  /// Whether some match of a rule with this promise is admitted.
  bool admits(const Promise &p) const {
    switch (p.kind) {
    case Promise::Exact:
      return true;
    case Promise::Finite:
      return admitsFinite;
    case Promise::Rounding:
      return p.leastUlps <= maxUlps;
    }
    return false;
  }
};

/// Rules enter in this order; each stratum runs to its end before the next one
/// adds its rules to those that already run. So a rule that makes structure
/// which later rules need stays active beside them. The first three always run
/// to their end; limits bound the last one.
enum class Stratum : uint8_t {
  Canonical,    ///< what only tidies up
  Recovery,     ///< functions from what they are composed of
  Lowering,     ///< what runs, from what is computed
  Alternatives, ///< where neither side is always better: may go on for ever
};
constexpr unsigned kNumStrata = 4;
const char *stratumName(Stratum s);

/// A native function of the matcher. Reads `args` (what their registers hold:
/// classes, attributes, types, payloads) and writes `results`; false where the
/// constraint does not hold. It must be a function of its arguments, of the
/// facts about classes among them, and of the nodes in those classes.
using NativeFn =
    std::function<bool(std::span<const uint32_t> args, uint32_t *results)>;

/// A native function with what it answered before.
class Native {
public:
  /// How long an answer holds.
  enum Memory : uint8_t {
    None,  ///< not remembered: it adds nodes
    Round, ///< it may look at facts and nodes, of which there are more next
           ///< round
    Always ///< it looks at its arguments and their types only
  };
  /// `looks`, where given, counts how often functions looked at facts and
  /// nodes: an answer for which it stood still holds always.
  Native(NativeFn fn, uint32_t numArgs, uint32_t numResults, Memory memory,
         const uint64_t *looks = nullptr)
      : fn(std::move(fn)), numArgs(numArgs), numResults(numResults),
        memory(memory), looks(looks) {}
  Native(Native &&) = default;
  Native &operator=(Native &&) = delete;

  bool call(std::span<const uint32_t> args, uint32_t *results, uint32_t round);
  /// Many calls, which wait for memory together. Argument k of call c is
  /// columns[args[k] * stride + c], and so are the results, from column `dst`
  /// on. Writes those of `calls` for which the function holds to `holds` and
  /// returns their number.
  uint32_t call(uint32_t *columns, uint32_t stride, std::span<const Reg> args,
                Reg dst, std::span<const uint16_t> calls, uint16_t *holds,
                uint32_t round);
  /// Forgets every answer: class ids in arguments mean other classes now.
  void forget();

private:
  uint32_t stride() const { return 1 + numArgs + numResults; }
  template <typename F>
  decltype(auto) sized(F &&f) const;
  template <uint32_t N>
  uint32_t *place(const uint32_t *args, uint64_t hash);
  template <uint32_t N>
  uint32_t *answer(const uint32_t *args, uint64_t hash, uint32_t round);
  void grow();

  NativeFn fn;
  uint32_t numArgs, numResults;
  Memory memory;
  const uint64_t *looks;
  /// Open addressing: until when the answer holds, and whether it is yes;
  /// arguments; results.
  std::unique_ptr<ByteCounter> counter = std::make_unique<ByteCounter>();
  Buffer<uint32_t> entries{*counter};
  uint32_t capacity = 0, used = 0;
  /// Of the calls at hand: arguments, hashes, results.
  std::vector<uint32_t> words;
  std::vector<uint64_t> hashes;
  std::vector<uint32_t> made;
};

/// One test of a left side.
struct Atom {
  enum Kind : uint8_t {
    /// Each row of operator `b` in class reg `a`: its `count` children to
    /// `dst`..., payload after them. At the root, reg `a` is written with the
    /// row's class.
    Enter,
    Equal,     ///< reg `a` == reg `b`
    Is,        ///< reg `a` == constant `b`
    Field,     ///< attribute named `b` of the payload in reg `a`, to `dst`
    NodeType,  ///< result type of the payload in reg `a`, to `dst`
    ClassType, ///< type of the class in reg `a`, to `dst`
    Native,    ///< native `a` on `args`, `count` results to `dst`...
  };
  Kind kind;
  uint32_t a = 0, b = 0;
  Reg dst = 0;
  uint32_t count = 0;
  std::vector<Reg> args;
  /// Those of `args` that hold classes: a change of one is a new match.
  std::vector<Reg> classArgs;
  bool operator==(const Atom &) const = default;
};

/// One step of a right side. Registers below `Rule::numStored` hold what the
/// match left behind, then come constants, then what instructions write.
struct Instruction {
  enum Kind : uint8_t {
    Node,    ///< the class of operator `a` with payload reg `b`, to `dst`
    Payload, ///< type reg `b` and fields (names, args), to `dst`
    Native,  ///< native `a` on `args`, `b` results to `dst`...
  };
  Kind kind;
  uint32_t a = 0, b = 0;
  Reg dst = 0;
  std::vector<Reg> args;
  std::vector<NameId> names;
  /// Register of the class that the node joins, where that is known.
  Reg into = kNone;
  /// A native that adds nodes: runs only when the match is applied.
  bool creates = false;
  /// The node is what the left side says, and `into` what the right side does.
  bool isLeft = false;
};

struct Rule {
  std::string name;
  /// Where the rule is written, for messages.
  std::string location;
  Promise promise;
  Stratum stratum = Stratum::Alternatives;
  /// At most this many useful matches a round before the rule is banned for
  /// some rounds; 0 for the runner's own default.
  uint64_t matchLimit = 0;
  /// Nodes that all rules that state one may add, in nodes that the strata
  /// before the alternatives left; they rest when that is spent. 0: no bound.
  double growth = 0;
  /// The element types that it claims, for reports; empty is every one.
  std::vector<std::string> dtypes;
  /// Where it rounds otherwise in each of them: by how many ulps.
  std::vector<double> ulps;
  /// By the precision policy; else it never fires.
  bool admitted = true;
  /// Where one rule is several, one for each number of values in a range: the
  /// first of them, for reports. kNone: it is one, or the first.
  RuleId formOf = kNone;

  std::vector<Atom> lhs;
  uint32_t numMatchRegs = 0;
  /// Match registers that the right side reads.
  std::vector<Reg> stored;
  std::vector<uint32_t> constants;
  std::vector<Instruction> rhs;
  uint32_t numRegs = 0;
  /// Pairs of right-side registers whose classes are equal: what the left side
  /// says, then what the right side does.
  std::vector<std::pair<Reg, Reg>> unions;

  /// Whether a native adds nodes of its own.
  bool creates = false;
  /// Whether a match stays one when classes become one: nothing on the left
  /// side looks at more than nodes.
  bool lasting = true;
  /// The first of `stored` hold classes.
  uint32_t numStoredClasses = 0;

  /// The promise in one element type.
  Promise promiseIn(const std::string &dtype) const;
  uint32_t numStored() const { return stored.size(); }
};

/// Builds a rule, left side first.
class RuleBuilder {
public:
  /// An operation that is matched: where its parts are.
  struct Op {
    Reg cls;
    Reg children; ///< the first of them
    uint32_t arity;
    Reg payload;
    Reg child(uint32_t i) const { return children + i; }
  };

  explicit RuleBuilder(std::string name);

  //===--------------------------------------------------------------------===//
  // Left side, in match registers
  //===--------------------------------------------------------------------===//

  Op root(OpId op, uint32_t arity);
  Op enter(Reg cls, OpId op, uint32_t arity);
  void equal(Reg a, Reg b);
  void is(Reg reg, uint32_t constant);
  Reg field(Reg payload, NameId name);
  Reg nodeType(Reg payload);
  Reg classType(Reg cls);
  /// Returns the first of `numResults` registers.
  Reg native(uint32_t fn, std::vector<Reg> args, std::vector<Reg> classArgs,
             uint32_t numResults);

  //===--------------------------------------------------------------------===//
  // Right side, in right-side registers
  //===--------------------------------------------------------------------===//

  /// Carries a match register over.
  Reg use(Reg matchReg);
  Reg constant(uint32_t value);
  /// Fields are sorted by name here.
  Reg payload(Reg type, std::vector<std::pair<NameId, Reg>> fields);
  Reg node(OpId op, Reg payload, std::vector<Reg> children);
  Reg rewrite(uint32_t fn, std::vector<Reg> args, uint32_t numResults,
              bool creates = false);
  /// `left` is, or is made of, what the left side matched.
  void unite(Reg left, Reg right);

  Rule &rule() { return result; }
  /// Numbers the registers for good. The builder is used up. A rule that is to
  /// be explained carries every match register over.
  Rule finish(bool explained = false);

private:
  struct Temp {
    enum { Stored, Constant, Computed } kind;
    uint32_t index;
  };
  Reg fresh(uint32_t n = 1);
  Reg temp(decltype(Temp::kind) kind, uint32_t index);

  Rule result;
  std::vector<bool> holdsClass;
  Reg nextMatch = 0;
  std::vector<Temp> temps;
};

} // namespace luminal::eqsat

#endif // LUMINAL_EQSAT_CORE_RULE_H
