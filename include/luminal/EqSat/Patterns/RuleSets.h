//===- RuleSets.h - Rule sets by name -------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A rule set is a list of named PDL patterns, the native functions that they
// call, and one `RuleInfo` for each pattern: what it promises, and for which
// element types. To add one:
//
//  1. Write `lib/EqSat/Rules/<Theme>.pdll`. Every pattern is named, spells out
//     the operands and the result type of every operation, and ends in
//     `replace root with ...`. That makes the two sides equal; nothing is
//     removed.
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
// `set.patterns()`) works unchanged on stand-ins for IR. If a name has both
// forms, the fast one is used. A name is looked up in the rule's own set first,
// then in the other sets. Native functions have no side effects, and their
// answer depends only on their arguments, on facts about classes among them,
// and on the nodes in those classes (not on nodes below).
//
// The ordinary form sees these stand-ins. A value whose class holds a constant
// (an op without operands that is ConstantLike) is the result of that constant.
// Any other value is a block argument with the type of its class, the same one
// for equal values; it has no defining op and no meaningful uses. An operation
// is the matched one: its name, attributes, result types, and operands that are
// such values; its results have no uses. The parent op is the function, without
// its body. New operations must be pure and made with the given rewriter.
// Changing, replacing or erasing a matched operation or a constant is an error.
//
// A rule in a `.mlir` file (`eqsat-saturate{rules=file.mlir}`) states the same
// as attributes, and may call the native functions of all registered sets:
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
  /// The operation; empty for a leaf.
  std::optional<mlir::OperationName> name;
  mlir::DictionaryAttr attributes;
  llvm::ArrayRef<mlir::Type> operandTypes;
  llvm::ArrayRef<mlir::Type> resultTypes;
  /// The asking analysis' facts about the children; null where nothing is
  /// known. Empty for cost models.
  llvm::ArrayRef<mlir::Attribute> operandFacts;
  /// For cost models only: whether the node has operands, and all of them are
  /// known to be computed from weights alone (the analysis `weight`).
  bool isOfWeights = false;
  /// For a leaf, the value: an argument of the function or of a region, or the
  /// result of an op outside the graph. Null for other nodes.
  mlir::Value leaf;
};

/// Computes facts about classes. A fact is an attribute, or null if nothing is
/// known. Facts only become stronger.
class ClassAnalysis {
public:
  virtual ~ClassAnalysis();
  /// The fact about a node, from the node itself and the facts about its
  /// operands.
  virtual mlir::Attribute make(const NodeView &node) = 0;
  /// The fact of a class for which `a` and `b` both hold (neither is null, and
  /// they differ). nullopt if they contradict each other, which is reported as
  /// an error that names the rule. Facts about floats must not be treated as
  /// contradictory (-0, NaN): return either.
  virtual std::optional<mlir::Attribute> join(mlir::Attribute a,
                                              mlir::Attribute b) = 0;
};

/// `scope` is the function that is saturated (for its symbols).
using AnalysisFactory =
    std::function<std::unique_ptr<ClassAnalysis>(mlir::Operation *scope)>;
/// Registers an analysis whose facts are read as `MatchContext::fact(name, c)`.
void registerAnalysis(llvm::StringRef name, AnalysisFactory factory);

/// Handles types that are equal although they are written differently. Values
/// of both types may be in one class, so a user of a value cannot know which
/// spelling it has. Therefore every op that is made uses one chosen spelling.
class TypeSpellings {
public:
  virtual ~TypeSpellings();
  /// Whether two different types are equal; nullopt for types it does not know,
  /// which counts as not equal. Types found equal share one spelling from then
  /// on.
  virtual std::optional<Equality> compare(mlir::Type a, mlir::Type b) = 0;
  /// The chosen spelling of a type; the type itself if nothing in it was found
  /// equal to something else. Parts of types that were equal must stay equal
  /// after respelling, so that verifiers that compare types or parts of them
  /// still succeed.
  virtual mlir::Type chosen(mlir::Type type) const = 0;

  /// An op with one operand that returns the same value in another spelling.
  struct Conversion {
    llvm::StringRef name;
    mlir::DictionaryAttr attributes;
  };
  /// The possible conversions for values that are not created by the engine and
  /// must keep their types: arguments, function results, regions. The cheapest
  /// one is used.
  virtual llvm::SmallVector<Conversion> conversions(mlir::Type from,
                                                    mlir::Type to) const = 0;
};

/// `scope` is the function that is saturated (for its symbols).
using TypeSpellingsFactory =
    std::function<std::unique_ptr<TypeSpellings>(mlir::Operation *scope)>;
void registerTypeSpellings(TypeSpellingsFactory factory);

/// Calls `found` with each pair of values of a function that are known to be
/// equal before any rule runs; it may add ops to the function.
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
  /// Values that a pattern handles as one range. A function that returns a
  /// range other than one of its argument ranges must make it with
  /// `MatchContext::range`.
  static NativeValue ofClasses(llvm::ArrayRef<ClassId> c) {
    NativeValue v(Kind::Classes, kNone);
    v.matched.operands = c;
    return v;
  }
  /// Types that a pattern handles as one range.
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
  /// The class of a value or of an operation.
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

/// The state that a fast native function can read.
class MatchContext {
public:
  MatchContext(EGraph &graph, OpTable &ops, mlir::Operation *scope,
               const PrecisionPolicy &policy = {})
      : policy(policy), graph(graph), ops(ops), scopeOp(scope) {}

  /// For native functions of rules whose promise depends on the match.
  const PrecisionPolicy policy;

  mlir::MLIRContext *getContext() const;
  /// The function that is saturated, without its body; it has the symbols.
  mlir::Operation *scope() const { return scopeOp; }

  mlir::Type typeOf(ClassId c) const;
  /// The fact about a class; null if nothing is known.
  mlir::Attribute fact(llvm::StringRef analysis, ClassId c) const;
  /// Attribute of a matched operation, null where it has none.
  mlir::Attribute attrOf(const MatchedOp &op, llvm::StringRef name) const;
  /// Result type of a matched operation.
  mlir::Type typeOf(const MatchedOp &op) const;

  /// Calls `f` for each node of operator `name` in the class until it returns
  /// false. Allowed for classes among the arguments, and below them only for
  /// nodes of the program as given: the native is not called again when nodes
  /// are added further below.
  void forEachNode(ClassId c, llvm::StringRef name,
                   llvm::function_ref<bool(const MatchedOp &)> f) const;

  /// Adds a node and returns its class. Only for rewrites that return a value.
  ClassId create(llvm::StringRef name, mlir::DictionaryAttr attributes,
                 mlir::Type type, llvm::ArrayRef<ClassId> operands);
  /// Adds a node like `op`, which must have one result, with other operands.
  ClassId create(mlir::Operation *op, llvm::ArrayRef<ClassId> operands);
  /// Makes a range of these values, to be returned.
  NativeValue range(llvm::ArrayRef<ClassId> values) {
    return NativeValue::ofClasses(
        ranges.emplace_back(values.begin(), values.end()));
  }

private:
  friend class NativeBridge;
  EGraph &graph;
  OpTable &ops;
  mlir::Operation *scopeOp;
  /// How often facts and nodes were read; there may be more of them in the next
  /// round.
  mutable uint64_t looks = 0;
  /// Storage of the ranges that the running native function returns.
  std::vector<std::vector<ClassId>> ranges;
};

/// A constraint; returns false if it does not hold. Results are pushed in the
/// order in which the pattern declares them.
using FastConstraint =
    std::function<bool(MatchContext &, NativeArgs, NativeResults &)>;
/// A rewrite; returns false if the right side does not exist, which drops the
/// match.
using FastRewrite =
    std::function<bool(MatchContext &, NativeArgs, NativeResults &)>;

//===----------------------------------------------------------------------===//
// Rule sets
//===----------------------------------------------------------------------===//

/// Properties of a rule besides its pattern.
struct RuleInfo {
  llvm::StringRef name;
  Promise promise;
  Stratum stratum = Stratum::Alternatives;
  /// Number of useful matches in a round above which the rule is banned for
  /// some rounds; 0 for the runner's default.
  uint64_t matchLimit = 0;
  /// Element types for which the rule is valid; it fires only if the root and
  /// the values that the right side reads have one of them. Empty means all.
  llvm::SmallVector<mlir::Type> dtypes = {};
  /// The rounding error in ulps for each of `dtypes`, in their order, if it
  /// depends on the type. The rule does not fire for types whose error is not
  /// admitted.
  llvm::SmallVector<double> ulps = {};
  /// Set if the error depends on more than the element type. `ulps` is then the
  /// worst case, and a native function of the rule checks each match against
  /// `MatchContext::policy`.
  bool asksPolicy = false;
  /// Bound on the nodes that all rules with a `growth` may add together, as a
  /// multiple of the nodes that recovery and lowering left. These rules stop
  /// when it is reached. 0: bounded only by the limits.
  double growth = 0;
  /// Set if tests show that everything the rule makes verifies; otherwise every
  /// operation is verified before it enters the graph.
  bool isTrusted = true;
};

class RuleSetBuilder {
public:
  explicit RuleSetBuilder(mlir::RewritePatternSet &patterns)
      : patternSet(patterns) {}

  /// The list to which generated PDLL patterns are added.
  mlir::RewritePatternSet &patterns() { return patternSet; }
  void constraint(llvm::StringRef name, FastConstraint fn) {
    fastConstraints[name] = std::move(fn);
  }
  void rewrite(llvm::StringRef name, FastRewrite fn) {
    fastRewrites[name] = std::move(fn);
  }
  /// Describes a pattern. A pattern without a description and a description
  /// without a pattern are errors.
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

/// Registers dialects whose ops the rules may create although the program has
/// none of them.
void registerRuleDialects(std::function<void(mlir::DialectRegistry &)> insert);

/// Registers a rule set. Sets run in the order of registration; registering a
/// name again has no effect.
void registerRuleSet(llvm::StringRef name, RuleSetPopulate populate);
/// Names in the order of registration.
llvm::SmallVector<llvm::StringRef> registeredRuleSets();

} // namespace luminal::eqsat

#endif // LUMINAL_EQSAT_PATTERNS_RULESETS_H
