//===- RuleSets.h - Rules by name, and what they build on -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A rule set is a list of named PDL patterns, the native functions that they
// call, and one line for each of what it promises in which element types. To
// add one:
//
//  1. Write `lib/EqSat/Rules/<Theme>.pdll`. Every pattern is named, spells out
//     the operands and the result type of every operation, and ends in
//     `replace root with ...`: that makes the two sides equal, it removes
//     nothing.
//
//       Constraint IsZero(x: Value);          // a fast native, see below
//       Pattern AddZero {
//         let root = op<hlir.add>(x: Value, z: Value) -> (t: Type);
//         IsZero(z);
//         replace root with x;
//       }
//
//  2. Turn it into a header and include that in one `.cpp`, in a namespace of
//     its own (the generated populate function has one fixed name):
//
//       add_mlir_pdll_library(... ) in lib/EqSat/Rules/CMakeLists.txt
//
//       namespace luminal::eqsat::identities {
//       #include "Identities.h.inc"
//       }
//       static void populate(RuleSetBuilder &set) {
//         identities::populateGeneratedPDLLPatterns(set.patterns());
//         set.constraint("IsZero", [](MatchContext &c, NativeArgs args, auto &)
//         {
//           return isZero(c.fact("constant", args[0].asClass()));
//         });
//         set.rule({"AddZero", Promise::exact(), Stratum::Canonical});
//       }
//       void luminal::eqsat::registerIdentityRules() {
//         registerRuleSet("identities", populate);
//       }
//
//     and call the registration from `registerAllRuleSets` (lib/EqSat/Rules).
//
// Native functions come in two forms. The fast form is registered by name as
// above and sees class ids, facts and the graph. The ordinary PDL form
// (`Constraint F(x: Value) [{ ... }]` in PDLL, or registered on
// `set.patterns()`) works unchanged on stand-ins. Where a name has both, the
// fast form is taken. A name is looked up in the rule's own set first, then in
// the other sets. Native functions have no side effects, and their answer
// depends only on their arguments, on facts about classes among them, and on
// the nodes in those classes (not below).
//
// What the ordinary form sees: a value whose class holds a constant (an op
// without operands that is ConstantLike) is the result of that constant; any
// other is a block argument of the type of its class, the same one for equal
// values, whatever computes it: it has no defining op, and its uses say
// nothing. An operation is the one that was matched: name, attributes, result
// types, and such values as operands; nothing uses its results. The parent op
// is the function, without its body. New operations go through the rewriter
// that is given and are pure; what is matched, and the constants, may not be
// changed, replaced or erased: that is an error.
//
// A rule in a `.mlir` file (`eqsat-saturate{rules=file.mlir}`) states the same
// as attributes, and may call every native that a registered set has:
//
//   pdl.pattern @AddZero : benefit(0) attributes {
//       eqsat.promise = "exact",       // or "finite", "rounding(2)"
//       eqsat.stratum = "recovery",    // default: "alternatives"
//       eqsat.dtypes = [f32, f64]      // element types; default: every one
//   } { ... }
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_EQSAT_PATTERNS_RULESETS_H
#define LUMINAL_EQSAT_PATTERNS_RULESETS_H

#include "luminal/EqSat/Core/EGraph.h"
#include "luminal/EqSat/Core/Rule.h"
#include "mlir/IR/Attributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/IR/TypeRange.h"
#include "llvm/ADT/FunctionExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"

#include <functional>
#include <memory>

namespace mlir {
class DialectRegistry;
class RewritePatternSet;
} // namespace mlir

namespace luminal::eqsat {

class OpTable;

//===----------------------------------------------------------------------===//
// Facts about classes
//===----------------------------------------------------------------------===//

/// A node as an analysis or a cost model sees it.
struct NodeView {
  /// Empty for a value that comes from outside the graph (`leaf` is set).
  std::optional<mlir::OperationName> name;
  mlir::DictionaryAttr attributes;
  llvm::ArrayRef<mlir::Type> operandTypes;
  llvm::ArrayRef<mlir::Type> resultTypes;
  /// Facts about the children, by the analysis that asks; null where nothing
  /// is known. Empty in cost models.
  llvm::ArrayRef<mlir::Attribute> operandFacts;
  /// In cost models: whether it has operands, and all of them are known to be
  /// computed from weights alone (the analysis `weight`).
  bool isOfWeights = false;
  /// An argument of the function or of a region, or the result of an op that
  /// stays outside.
  mlir::Value leaf;
};

/// A fact is an attribute, or null where nothing is known. Facts only become
/// stronger.
class ClassAnalysis {
public:
  virtual ~ClassAnalysis();
  /// What is known of a node from itself and the facts about its operands.
  virtual mlir::Attribute make(const NodeView &node) = 0;
  /// The fact of a class for which both hold (neither is null, and they
  /// differ). Nothing where they contradict each other: an error that names
  /// the rule. Float facts never contradict (-0, NaN): take either.
  virtual std::optional<mlir::Attribute> join(mlir::Attribute a,
                                              mlir::Attribute b) = 0;
};

/// `scope` is the function that is saturated (for its symbols).
using AnalysisFactory =
    std::function<std::unique_ptr<ClassAnalysis>(mlir::Operation *scope)>;
/// Facts are read by this name: `MatchContext::fact("constant", c)`.
void registerAnalysis(llvm::StringRef name, AnalysisFactory factory);

/// Types that are equal although they are written differently. Values of both
/// may be in one class, so a user of a value cannot know how its type is
/// written. Therefore every op that is made uses one spelling.
class TypeSpellings {
public:
  virtual ~TypeSpellings();
  /// Whether two different types are equal, for types that it knows (nullopt
  /// for others). Without an answer they are not. Those that it finds equal
  /// have one spelling from then on.
  virtual std::optional<Equality> compare(mlir::Type a, mlir::Type b) = 0;
  /// The one spelling of a type; itself where nothing in it was found equal.
  /// Types whose parts agree must agree in the same parts once they are spelled
  /// so: what verifies by comparing types, or parts of them, still verifies.
  virtual mlir::Type chosen(mlir::Type type) const = 0;

  /// An op of one operand that leaves a value as it is, in another spelling.
  struct Conversion {
    llvm::StringRef name;
    mlir::DictionaryAttr attributes;
  };
  /// Those that there are, for what is not made and has its type: arguments,
  /// results of functions, regions. The cheapest is taken.
  virtual llvm::SmallVector<Conversion> conversions(mlir::Type from,
                                                    mlir::Type to) const = 0;
};

/// `scope` is the function that is saturated (for its symbols).
using TypeSpellingsFactory =
    std::function<std::unique_ptr<TypeSpellings>(mlir::Operation *scope)>;
void registerTypeSpellings(TypeSpellingsFactory factory);

/// Calls `found` with each two values of a function that are known to be equal
/// before any rule runs; it may add ops to it.
using FindEqualities = std::function<void(
    mlir::Operation *function,
    llvm::function_ref<void(mlir::Value, mlir::Value)> found)>;
void registerEqualities(FindEqualities find);

//===----------------------------------------------------------------------===//
// Fast native functions
//===----------------------------------------------------------------------===//

/// A matched operation: its node, not only its class.
struct MatchedOp {
  ClassId cls;
  OpId op;
  PayloadId payload;
  llvm::ArrayRef<ClassId> operands;
};

/// An argument or result of a fast native function.
class NativeValue {
public:
  NativeValue(mlir::Attribute a) : kind(Kind::Attr), attr(a) {}
  NativeValue(mlir::Type t) : kind(Kind::Type), type(t) {}
  static NativeValue ofClass(ClassId c) { return NativeValue(Kind::Class, c); }
  /// Values that a pattern takes as one range. One that a function returns and
  /// does not take in one piece is a `MatchContext::range`.
  static NativeValue ofClasses(llvm::ArrayRef<ClassId> c) {
    NativeValue v(Kind::Classes, kNone);
    v.matched.operands = c;
    return v;
  }
  /// Types that a pattern takes or makes as one range.
  static NativeValue ofTypes(mlir::MLIRContext *context,
                             mlir::TypeRange types) {
    NativeValue v(types.size() == 1 ? types[0]
                                    : mlir::TupleType::get(context, types));
    v.kind = Kind::Types;
    return v;
  }
  static NativeValue ofOp(MatchedOp op) {
    NativeValue v(Kind::Op, op.cls);
    v.matched = op;
    return v;
  }

  enum class Kind : uint8_t { Class, Attr, Type, Op, Classes, Types };
  Kind getKind() const { return kind; }
  /// Of a value, or of an operation.
  ClassId asClass() const { return cls; }
  mlir::Attribute asAttr() const { return attr; }
  mlir::Type asType() const { return type; }
  const MatchedOp &asOp() const { return matched; }
  llvm::ArrayRef<ClassId> asClasses() const { return matched.operands; }
  llvm::ArrayRef<mlir::Type> asTypes() const {
    if (auto tuple = mlir::dyn_cast<mlir::TupleType>(type))
      return tuple.getTypes();
    return type;
  }

private:
  NativeValue(Kind k, ClassId c) : kind(k), cls(c) {}
  Kind kind;
  ClassId cls = kNone;
  mlir::Attribute attr;
  mlir::Type type;
  MatchedOp matched{};
};

using NativeArgs = llvm::ArrayRef<NativeValue>;
using NativeResults = llvm::SmallVectorImpl<NativeValue>;

/// What a fast native function can read.
class MatchContext {
public:
  MatchContext(EGraph &graph, OpTable &ops, mlir::Operation *scope,
               const PrecisionPolicy &policy = {})
      : policy(policy), graph(graph), ops(ops), scopeOp(scope) {}

  /// For natives of rules whose promise depends on the match.
  const PrecisionPolicy policy;

  mlir::MLIRContext *getContext() const;
  /// The function that is saturated, without its body: for its symbols.
  mlir::Operation *scope() const { return scopeOp; }

  mlir::Type typeOf(ClassId c) const;
  /// Null where nothing is known.
  mlir::Attribute fact(llvm::StringRef analysis, ClassId c) const;
  /// Attribute of a matched operation, null where it has none.
  mlir::Attribute attrOf(const MatchedOp &op, llvm::StringRef name) const;
  /// Result type of a matched operation.
  mlir::Type typeOf(const MatchedOp &op) const;

  /// Calls `f` for each node of operator `name` in the class until it returns
  /// false. For classes among the arguments, and for what the program says
  /// below them: a native is not asked again when only that changes.
  void forEachNode(ClassId c, llvm::StringRef name,
                   llvm::function_ref<bool(const MatchedOp &)> f) const;

  /// The class of a new node. Only in rewrites that return a value.
  ClassId create(llvm::StringRef name, mlir::DictionaryAttr attributes,
                 mlir::Type type, llvm::ArrayRef<ClassId> operands);
  /// The same of a node like `op`, which has one result.
  ClassId create(mlir::Operation *op, llvm::ArrayRef<ClassId> operands);
  /// A range of these values, to be returned.
  NativeValue range(llvm::ArrayRef<ClassId> values) {
    return NativeValue::ofClasses(
        ranges.emplace_back(values.begin(), values.end()));
  }

private:
  friend class NativeBridge;
  EGraph &graph;
  OpTable &ops;
  mlir::Operation *scopeOp;
  /// How often facts and nodes were read, of which there may be more in the
  /// next round.
  mutable uint64_t looks = 0;
  /// What the function that runs returns.
  std::vector<std::vector<ClassId>> ranges;
};

/// A constraint: false where it does not hold. Results are pushed in the order
/// in which the pattern declares them.
using FastConstraint =
    std::function<bool(MatchContext &, NativeArgs, NativeResults &)>;
/// A rewrite: false where the right side does not exist (the match is
/// dropped).
using FastRewrite =
    std::function<bool(MatchContext &, NativeArgs, NativeResults &)>;

//===----------------------------------------------------------------------===//
// Rule sets
//===----------------------------------------------------------------------===//

/// What a rule states beside its pattern.
struct RuleInfo {
  llvm::StringRef name;
  Promise promise;
  Stratum stratum = Stratum::Alternatives;
  /// Useful matches a round before the rule is banned for some rounds; 0 for
  /// the runner's default.
  uint64_t matchLimit = 0;
  /// Element types in which the rule is true, and in which alone it fires: of
  /// the root and of the values that the right side reads. Empty is every one.
  llvm::SmallVector<mlir::Type> dtypes = {};
  /// Where it rounds otherwise in each of `dtypes`: by how many ulps, in their
  /// order. It does not fire in those where that is not admitted.
  llvm::SmallVector<double> ulps = {};
  /// Matches differ in more than the type, `ulps` is of the worst, and a native
  /// of the rule asks the policy about each (`MatchContext::policy`).
  bool asksPolicy = false;
  /// Nodes that all rules that state one may add, in nodes that recovery and
  /// lowering left; they rest when that is spent. 0: only the limits bound it.
  double growth = 0;
  /// Whether tests cover that what the rule makes verifies; else every
  /// operation is verified before it enters the graph.
  bool isTrusted = true;
};

class RuleSetBuilder {
public:
  explicit RuleSetBuilder(mlir::RewritePatternSet &patterns)
      : patternSet(patterns) {}

  /// Where generated PDLL patterns go.
  mlir::RewritePatternSet &patterns() { return patternSet; }
  void constraint(llvm::StringRef name, FastConstraint fn) {
    fastConstraints[name] = std::move(fn);
  }
  void rewrite(llvm::StringRef name, FastRewrite fn) {
    fastRewrites[name] = std::move(fn);
  }
  /// A pattern without a line of its own, and a line without a pattern, are
  /// errors.
  void rule(const RuleInfo &info) { infos.push_back(info); }
  void rules(llvm::ArrayRef<RuleInfo> list) {
    infos.append(list.begin(), list.end());
  }

  llvm::StringMap<FastConstraint> fastConstraints;
  llvm::StringMap<FastRewrite> fastRewrites;
  llvm::SmallVector<RuleInfo> infos;

private:
  mlir::RewritePatternSet &patternSet;
};

using RuleSetPopulate = std::function<void(RuleSetBuilder &)>;

/// Adds dialects whose ops the rules make but programs need not hold.
void registerRuleDialects(std::function<void(mlir::DialectRegistry &)> insert);

/// Makes a rule set known. Sets run in the order of their registration; a
/// second registration of a name is ignored.
void registerRuleSet(llvm::StringRef name, RuleSetPopulate populate);
/// Names in the order of registration.
llvm::SmallVector<llvm::StringRef> registeredRuleSets();

} // namespace luminal::eqsat

#endif // LUMINAL_EQSAT_PATTERNS_RULESETS_H
