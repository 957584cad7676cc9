//===- Rule.h - A rewrite rule, ready to be matched -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A rule is a list of atoms (the left side: the conditions) and a list of
// instructions (the right side: the terms that then exist and are equal), both
// over numbered registers. `RuleBuilder` makes one; the PDL compiler and tests
// use it.
//
// The left side is tested in the order in which it is built, and registers are
// numbered in that order: rules with the same prefix share it in the matcher.
// So add all tests of one operation before entering the next.
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
    Rounding, ///< error against float64 of at most `ulps`: of the element for
              ///< scalar functions, of the sum of absolute terms for reductions
    Finite,   ///< the same bits if all values are finite; fires only where that
              ///< is proved
  };
  Kind kind = Exact;
  double ulps = 0;
  /// When the bound depends on the match (its element type or function), `ulps`
  /// is the worst bound that the rule promises and this is the best.
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

/// The promises that a user admits.
struct PrecisionPolicy {
  /// The largest rounding error that is admitted, in ulps; below 0 none.
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

/// Strata start in this order. Each one runs to its end before the next one
/// adds its rules to those already running, so a rule that makes terms for
/// later rules stays active beside them. The first three always run to their
/// end; the limits bound only the last.
enum class Stratum : uint8_t {
  Canonical,    ///< simplification
  Recovery,     ///< composed arithmetic to the function it computes
  Lowering,     ///< HLIR to LLIR
  Alternatives, ///< neither side is always better; may never end
};
constexpr unsigned kNumStrata = 4;
const char *stratumName(Stratum s);

/// A native function of the matcher. It reads `args` (the contents of the
/// argument registers: classes, attributes, types, payloads) and writes
/// `results`; it returns false if the constraint does not hold. The answer must
/// depend only on the arguments, on facts about classes among them, and on the
/// nodes in those classes.
using NativeFn =
    std::function<bool(std::span<const uint32_t> args, uint32_t *results)>;

/// A native function with a cache of its answers.
class Native {
public:
  /// How long a cached answer is valid.
  enum Memory : uint8_t {
    None,  ///< not cached: the function adds nodes
    Round, ///< until the next round, which may have more of the facts and
           ///< nodes that the function reads
    Always ///< for ever: the function reads only its arguments and their types
  };
  /// `looks`, if given, counts how often native functions read facts and nodes:
  /// an answer computed without changing that count is valid for ever.
  Native(NativeFn fn, uint32_t numArgs, uint32_t numResults, Memory memory,
         const uint64_t *looks = nullptr)
      : fn(std::move(fn)), numArgs(numArgs), numResults(numResults),
        memory(memory), looks(looks) {}
  Native(Native &&) = default;
  Native &operator=(Native &&) = delete;

  bool call(std::span<const uint32_t> args, uint32_t *results, uint32_t round);
  /// Makes many calls, whose memory accesses overlap. Argument k of call c is
  /// columns[args[k] * stride + c]; result r is columns[(dst + r) * stride +
  /// c]. Writes those of `calls` for which the function holds to `holds`, and
  /// returns their number.
  uint32_t call(uint32_t *columns, uint32_t stride, std::span<const Reg> args,
                Reg dst, std::span<const uint16_t> calls, uint16_t *holds,
                uint32_t round);
  /// Drops all answers, because class ids in their arguments now mean other
  /// classes.
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
  /// Open-addressing table. An entry holds until when its answer is valid and
  /// whether the answer is yes, then the arguments, then the results.
  std::unique_ptr<ByteCounter> counter = std::make_unique<ByteCounter>();
  Buffer<uint32_t> entries{*counter};
  uint32_t capacity = 0, used = 0;
  /// Arguments, hashes and results of the calls of the current batch.
  std::vector<uint32_t> words;
  std::vector<uint64_t> hashes;
  std::vector<uint32_t> made;
};

/// One test of a left side.
struct Atom {
  enum Kind : uint8_t {
    /// For each row of operator `b` in the class in register `a`: writes its
    /// `count` children to `dst`..., then its payload. At the root, register
    /// `a` receives the row's class.
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
  /// Those of `args` that hold classes. When one of these classes changes, the
  /// match counts as new.
  std::vector<Reg> classArgs;
  bool operator==(const Atom &) const = default;
};

/// One step of a right side. Registers below `Rule::numStored` hold values of
/// the match; then come constants, then the values that instructions write.
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
  /// Register of the class to which the node is added, if it is known
  /// beforehand.
  Reg into = kNone;
  /// A native that adds nodes: runs only when the match is applied.
  bool creates = false;
  /// In the union, the node is the left side's term and `into` the right
  /// side's; otherwise the other way round.
  bool isLeft = false;
};

struct Rule {
  std::string name;
  /// Where the rule is written, for messages.
  std::string location;
  Promise promise;
  Stratum stratum = Stratum::Alternatives;
  /// The number of useful matches in a round above which the rule is banned for
  /// some rounds; 0 for the runner's default.
  uint64_t matchLimit = 0;
  /// Bound on the nodes that all rules with a `growth` may add together, as a
  /// multiple of the nodes that exist when the alternatives start. These rules
  /// stop when it is reached. 0: no bound.
  double growth = 0;
  /// The element types for which the rule is stated, for reports; empty means
  /// all.
  std::vector<std::string> dtypes;
  /// The bound in ulps for each of `dtypes`, if it depends on the type.
  std::vector<double> ulps;
  /// Whether the precision policy admits the rule; otherwise it never fires.
  bool admitted = true;
  /// A pattern over a range of values becomes one rule for each number of
  /// values. This is the first of these rules, for reports; kNone for the first
  /// itself and for other rules.
  RuleId formOf = kNone;

  std::vector<Atom> lhs;
  uint32_t numMatchRegs = 0;
  /// Registers of the match that the right side reads.
  std::vector<Reg> stored;
  std::vector<uint32_t> constants;
  std::vector<Instruction> rhs;
  uint32_t numRegs = 0;
  /// Pairs of right-side registers whose classes become equal: the left side's
  /// term, then the right side's.
  std::vector<std::pair<Reg, Reg>> unions;

  /// Whether a native function of the right side adds nodes.
  bool creates = false;
  /// Whether a match stays valid when classes are merged, because the left side
  /// tests nothing but nodes.
  bool lasting = true;
  /// How many of `stored` hold classes; these come first.
  uint32_t numStoredClasses = 0;

  /// The promise for one element type.
  Promise promiseIn(const std::string &dtype) const;
  uint32_t numStored() const { return stored.size(); }
};

/// Builds a rule, left side first.
class RuleBuilder {
public:
  /// A matched operation: the registers of its parts.
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

  /// Makes a match register available on the right side.
  Reg use(Reg matchReg);
  Reg constant(uint32_t value);
  /// The fields may be in any order.
  Reg payload(Reg type, std::vector<std::pair<NameId, Reg>> fields);
  Reg node(OpId op, Reg payload, std::vector<Reg> children);
  Reg rewrite(uint32_t fn, std::vector<Reg> args, uint32_t numResults,
              bool creates = false);
  /// `left` is a register that was matched, or is built from such registers.
  void unite(Reg left, Reg right);

  Rule &rule() { return result; }
  /// Assigns the final register numbers; the builder must not be used
  /// afterwards. A rule that is to be explained keeps every match register.
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
