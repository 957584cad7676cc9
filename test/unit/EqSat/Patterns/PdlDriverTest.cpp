//===- PdlDriverTest.cpp - Single steps against MLIR's own PDL driver -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random programs and random patterns. MLIR's PatternApplicator tries each
// pattern alone on each op of the program; its result for the op is added to a
// graph by hand. One round of all patterns together must give exactly that
// graph, from exactly as many matches.
//
// Where the two differ by design (docs/EqualitySaturation.md), the driver is
// used differently: it looks at the operands of a commutative op in one order,
// so it is given the pattern in every order; and it has types for attributes
// without one, so such a pattern says that there is one.
//
//===----------------------------------------------------------------------===//

#include "Patterns/RuleLoader.h"
#include "PdlPrograms.h"
#include "Program/Program.h"
#include "Rounds.h"
#include "luminal/EqSat/Core/Runner.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/PDL/IR/PDL.h"
#include "mlir/Dialect/PDLInterp/IR/PDLInterp.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Rewrite/FrozenRewritePatternSet.h"
#include "mlir/Rewrite/PatternApplicator.h"
#include "llvm/ADT/SetOperations.h"
#include "gtest/gtest.h"

#include <map>
#include <set>

using namespace mlir;
using namespace luminal::eqsat;
using namespace luminal::eqsat::test;

namespace {

//===----------------------------------------------------------------------===//
// Native functions
//===----------------------------------------------------------------------===//

bool isZero(Attribute a) {
  auto number = dyn_cast<IntegerAttr>(a);
  return number && number.getValue().isZero();
}

Operation *build(PatternRewriter &r, Value v, Type t) {
  OperationState state(v.getLoc(), "test.wrap");
  state.addOperands(v);
  state.addTypes(t);
  return r.create(state);
}

/// The same functions for the driver and for the engine.
void addNatives(PDLPatternModule &m) {
  using Args = ArrayRef<PDLValue>;
  auto constraint = [&](StringRef name, bool (*holds)(Args, PDLResultList &)) {
    m.registerConstraintFunction(
        name, [=](PatternRewriter &, PDLResultList &results, Args args) {
          // The driver may call this before testing that the value exists.
          auto isThere = [](const PDLValue &v) { return bool(v); };
          return success(llvm::all_of(args, isThere) && holds(args, results));
        });
  };
  auto zero = [](Args args, PDLResultList &) {
    return isZero(args[0].cast<Attribute>());
  };
  constraint("IsZero", zero);
  constraint("FastIsZero", zero);
  constraint("IsI32", [](Args args, PDLResultList &) {
    return args[0].cast<Value>().getType().isInteger(32);
  });
  constraint("IsTyped", [](Args args, PDLResultList &) {
    return isa<TypedAttr>(args[0].cast<Attribute>());
  });
  constraint("IsFloat", [](Args args, PDLResultList &) {
    return isa<FloatType>(args[0].cast<Type>());
  });
  constraint("HasK", [](Args args, PDLResultList &) {
    auto *op = args[0].cast<Operation *>();
    return op->hasAttr("k") && op->getNumOperands() != 0;
  });
  constraint("SameType", [](Args args, PDLResultList &) {
    return args[0].cast<Value>().getType() == args[1].cast<Value>().getType();
  });
  constraint("Next", [](Args args, PDLResultList &results) {
    auto number = dyn_cast<IntegerAttr>(args[0].cast<Attribute>());
    if (number)
      results.push_back(cast<Attribute>(IntegerAttr::get(
          number.getType(), number.getValue().isZero() ? 1 : 0)));
    return bool(number);
  });
  auto typeOf = [](Args args, PDLResultList &results) {
    results.push_back(args[0].cast<Value>().getType());
    return true;
  };
  constraint("TypeOf", typeOf);
  constraint("FastTypeOf", typeOf);
  constraint("First", [](Args args, PDLResultList &results) {
    auto *op = args[0].cast<Operation *>();
    if (op->getNumOperands() != 0)
      results.push_back(op->getOperand(0));
    return op->getNumOperands() != 0;
  });
  constraint("SomeI32", [](Args args, PDLResultList &) {
    return llvm::any_of(args[0].cast<ValueRange>().getTypes(),
                        [](Type t) { return t.isInteger(32); });
  });
  constraint("Tail", [](Args args, PDLResultList &results) {
    auto *op = args[0].cast<Operation *>();
    if (op->getNumOperands() != 0)
      results.push_back(ValueRange(op->getOperands().drop_front()));
    return op->getNumOperands() != 0;
  });
  m.registerRewriteFunction(
      "Reverse", [](PatternRewriter &, PDLResultList &results, Args args) {
        SmallVector<Value> values(args[0].cast<ValueRange>());
        std::reverse(values.begin(), values.end());
        results.push_back(ValueRange(values));
        return success();
      });
  m.registerRewriteFunction(
      "Types", [](PatternRewriter &, PDLResultList &results, Args args) {
        results.push_back(TypeRange(args[0].cast<ValueRange>()));
        return success();
      });
  m.registerRewriteFunction("Bump",
                            [](PatternRewriter &r, Attribute a) -> Attribute {
                              return r.getArrayAttr({a});
                            });
  m.registerRewriteFunction("Build", build);
  m.registerRewriteFunction("Wrap",
                            [](PatternRewriter &r, Value v, Type t) -> Value {
                              return build(r, v, t)->getResult(0);
                            });
}

/// Some of them again, in the fast form.
void addFastNatives(RuleSetBuilder &set) {
  set.constraint("FastIsZero", [](MatchContext &, NativeArgs args, auto &) {
    return isZero(args[0].asAttr());
  });
  set.constraint("FastTypeOf",
                 [](MatchContext &c, NativeArgs args, NativeResults &results) {
                   results.push_back(c.typeOf(args[0].asClass()));
                   return true;
                 });
}

//===----------------------------------------------------------------------===//
// Both sides
//===----------------------------------------------------------------------===//

/// All ops but the last, which reads the values.
auto bodyOf(Block &block) {
  return llvm::make_range(block.begin(), std::prev(block.end()));
}

/// A graph as text: the members of every class. Classes of the program are
/// named by their lowest number, which both sides assign alike; other classes
/// by their contents.
class Canonical {
public:
  Canonical(const EGraph &graph, OpTable &ops, ClassId numGiven)
      : graph(graph), ops(ops), numGiven(numGiven) {}

  std::set<std::string> members() {
    std::set<std::string> all;
    for (ClassId c = 0; c != graph.numClassIds(); ++c)
      if (graph.find(c) == c && !isMadeResult(c))
        for (const std::string &node : nodesOf(c))
          all.insert(label(c) + " = " + node);
    return all;
  }

private:
  /// Results of operations that a pattern made are found by label, if something
  /// uses them.
  bool isMadeResult(ClassId c) const {
    auto runs = graph.runs(c);
    return c >= numGiven && runs.size() == 1 &&
           runs[0].op == ops.projectionOp() && runs[0].end - runs[0].begin == 1;
  }
  std::string label(ClassId c) {
    c = graph.find(c); // the lowest
    if (c < numGiven)
      return "#" + std::to_string(c);
    std::string &text = labels[c];
    if (text.empty())
      for (const std::string &node : nodesOf(c))
        text += "{" + node + "}";
    return text;
  }
  std::set<std::string> nodesOf(ClassId c) {
    std::set<std::string> nodes;
    for (const Run &run : graph.runs(c)) {
      const Table &t = graph.table(run.op);
      for (uint32_t row = run.begin; row != run.end; ++row) {
        std::string text = graph.opName(run.op);
        std::set<std::string> children;
        std::vector<std::string> ordered;
        for (uint32_t i = 0; i != t.arity(); ++i)
          ordered.push_back(label(t.key(row)[i]));
        if (t.isCommutative())
          llvm::sort(ordered);
        for (const std::string &child : ordered)
          text += " " + child;
        llvm::raw_string_ostream(text)
            << " " << ops.attributes(t.payload(row)) << " : "
            << ops.type(graph.payloadType(t.payload(row)));
        nodes.insert(text);
      }
    }
    return nodes;
  }

  const EGraph &graph;
  OpTable &ops;
  ClassId numGiven;
  std::map<ClassId, std::string> labels;
};

class PdlDriver : public testing::Test {
protected:
  PdlDriver() {
    context.loadDialect<func::FuncDialect, arith::ArithDialect, pdl::PDLDialect,
                        pdl_interp::PDLInterpDialect>();
    context.allowUnregisteredDialects();
    context.disableMultithreading();
    registerRuleSet("natives", [](RuleSetBuilder &set) {
      PDLPatternModule module(parseSourceString<ModuleOp>(
          "module {}", set.patterns().getContext()));
      addNatives(module);
      addFastNatives(set);
      set.patterns().add(std::move(module));
    });
  }

  OwningOpRef<ModuleOp> parse(const std::string &text) {
    // The types of the sums are arbitrary.
    ParserConfig config(&context, /*verifyAfterParse=*/false);
    return parseSourceString<ModuleOp>(text, config);
  }

  /// The program in a graph, as `import` numbers it, and the replacements of
  /// its ops by the driver.
  struct Expected {
    Expected(MLIRContext *context, func::FuncOp function)
        : ops(graph, context), function(function) {
      for (Value arg : function.getArguments())
        classes[arg] = ops.addLeaf(arg);
      for (Operation &op : bodyOf(function.getBody().front()))
        add(&op, classes);
      numGiven = graph.numClassIds();
    }

    using Classes = llvm::DenseMap<Value, ClassId>;
    ClassId add(Operation *op, Classes &classes) {
      SmallVector<ClassId> operands;
      for (Value v : op->getOperands())
        operands.push_back(classOf(v, classes));
      ClassId node = opClasses[op] = ops.addOperation(op, operands);
      if (op->getBlock() == &function.getBody().front() ||
          op->getNumResults() == 1)
        for (OpResult r : op->getResults())
          classes[r] = ops.addResult(node, r.getResultNumber(), r.getType(),
                                     op->getNumResults());
      return node;
    }
    /// Results of what a pattern made are nodes where something uses them.
    ClassId classOf(Value v, Classes &classes) {
      if (auto it = classes.find(v); it != classes.end())
        return it->second;
      auto r = cast<OpResult>(v);
      return ops.addResult(opClasses.lookup(r.getOwner()), r.getResultNumber(),
                           r.getType(), r.getOwner()->getNumResults());
    }

    EGraph graph;
    OpTable ops;
    func::FuncOp function;
    Classes classes;
    llvm::DenseMap<Operation *, ClassId> opClasses;
    ClassId numGiven = 0;
  };

  /// Tries a single pattern on each op. Returns the number of ops on which it
  /// holds.
  unsigned ask(const std::string &text, bool byOperation, ModuleOp program,
               Expected &expected) {
    RewritePatternSet set(&context);
    PDLPatternModule module(parseSourceString<ModuleOp>(text, &context));
    if (!module.getModule()) {
      ADD_FAILURE() << "no pattern";
      return 0;
    }
    addNatives(module);
    set.add(std::move(module));
    FrozenRewritePatternSet frozen(std::move(set));
    PatternApplicator applicator(frozen);
    applicator.applyDefaultCostModel();
    unsigned hits = 0;
    OwningOpRef<ModuleOp> copy;
    IRMapping mapping;
    for (Operation &given : bodyOf(expected.function.getBody().front())) {
      if (!copy) {
        mapping.clear();
        copy = cast<ModuleOp>(program->clone(mapping));
      }
      Operation *op = mapping.lookup(&given);
      Block *block = op->getBlock();
      PatternRewriter rewriter(&context);
      rewriter.setInsertionPoint(op);
      ++pairs;
      if (failed(applicator.matchAndRewrite(op, rewriter)))
        continue;
      ++hits;
      // The current ops: the given ones without the root, and the new ones.
      Expected::Classes classes;
      llvm::DenseSet<Operation *> known;
      Block &from = expected.function.getBody().front();
      for (BlockArgument arg : from.getArguments())
        classes[mapping.lookup(arg)] = expected.classes.lookup(arg);
      for (Operation &o : bodyOf(from)) {
        if (&o == &given)
          continue;
        known.insert(mapping.lookup(&o));
        for (OpResult r : o.getResults())
          classes[mapping.lookup(r)] = expected.classes.lookup(r);
      }
      for (Operation &o : bodyOf(*block))
        if (!known.contains(&o))
          expected.add(&o, classes);
      for (OpResult r : given.getResults()) {
        // Where the last op uses it.
        Value by = block->back().getOperand(
            llvm::find(from.back().getOperands(), r).getIndex());
        if (byOperation)
          expected.graph.unite(expected.opClasses.lookup(&given),
                               expected.opClasses.lookup(by.getDefiningOp()));
        else
          expected.graph.unite(expected.classes.lookup(r),
                               expected.classOf(by, classes));
      }
      copy = nullptr;
    }
    return hits;
  }

  void compare(uint64_t seed) {
    std::mt19937_64 rng(seed);
    Source source = makeSource(rng);
    std::string text = source.text(), all;
    OwningOpRef<ModuleOp> program = parse(text);
    ASSERT_TRUE(program) << text;
    Expected expected(&context, *program->getOps<func::FuncOp>().begin());
    std::vector<std::optional<unsigned>> hits;
    std::vector<std::string> texts;
    for (unsigned i = 0; i != kPatterns; ++i) {
      test::Pattern p = makePattern(source, i, rng);
      SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + p.texts[0] + text);
      unsigned n = 0;
      for (const std::string &order : p.texts)
        n += ask(order, p.byOperation, *program, expected);
      ASSERT_FALSE(HasFailure());
      // Two operand orders may be one match.
      hits.push_back(p.texts.size() == 1 ? std::optional(n) : std::nullopt);
      all += texts.emplace_back(p.texts[0]);
      matched += n != 0;
      commuted += p.texts.size() > 1 && n != 0;
      total += n;
    }
    ASSERT_TRUE(expected.graph.rebuild());

    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + all + text);
    auto function = *program->getOps<func::FuncOp>().begin();
    RuleLoader loader;
    ASSERT_TRUE(succeeded(loader.loadSets(function.getLoc(), {}, false)));
    ASSERT_TRUE(succeeded(loader.loadBuffer(
        &context, llvm::MemoryBuffer::getMemBuffer(all), /*isTrusted=*/true)));
    Program p(function, /*allowUnregistered=*/true);
    const bool explained = seed % 2;
    if (explained)
      p.keepProofs();
    NativeBridge natives(p.ops, function);
    ASSERT_TRUE(succeeded(p.import(natives.scope())));
    ASSERT_EQ(p.graph.numClassIds(), expected.numGiven);
    auto rules = loader.compile(p.ops, natives, explained);
    ASSERT_TRUE(succeeded(rules));
    RunnerOptions options;
    options.maxIterations = 1;
    options.matchLimit = 0;
    RunReport report = saturate(p.graph, *rules, options);
    ASSERT_NE(report.stop, StopReason::Conflict);
    std::vector<uint64_t> matches(kPatterns);
    for (unsigned i = 0; i != rules->all.size(); ++i)
      matches[rules->all[i].formOf == kNone ? i : rules->all[i].formOf] +=
          report.rules[i].matches;
    for (unsigned i = 0; i != kPatterns; ++i) {
      if (hits[i])
        ASSERT_EQ(matches[i], *hits[i]) << "by " << texts[i] << "of " << text;
      ranged += StringRef(texts[i]).contains("pdl.operands") && matches[i];
    }
    using Members = std::set<std::string>;
    Members found = Canonical(p.graph, p.ops, expected.numGiven).members();
    Members asked =
        Canonical(expected.graph, expected.ops, expected.numGiven).members();
    EXPECT_EQ(llvm::set_difference(found, asked), Members());
    EXPECT_EQ(llvm::set_difference(asked, found), Members());
    if (explained)
      explain(p.graph, rules->all);
  }

  /// Every term has an explanation with consecutive steps; the steps of a rule
  /// begin or end with an op that has the name of its root.
  void explain(const EGraph &graph, ArrayRef<Rule> rules) {
    const ProofLog &log = *graph.proofs;
    Explainer explainer(graph, log, {rules.data(), rules.size()});
    for (uint32_t t = 0; t != log.numTerms(); ++t) {
      uint32_t chain = explainer.explainTerm(t), at = explainer.spell(t);
      for (uint32_t s : explainer.result.chains[chain]) {
        const Explanation::Step &step = explainer.result.steps[s];
        ASSERT_EQ(step.from, at);
        at = step.to;
        if (step.rule >= rules.size())
          continue;
        ++steps;
        const Atom &root = rules[step.rule].lhs[0];
        auto isRoot = [&](uint32_t term) {
          OpId op = explainer.result.terms[term].op;
          return op == root.b || graph.opName(op) == "result";
        };
        EXPECT_TRUE(isRoot(step.forward ? step.from : step.to));
      }
      EXPECT_EQ(at, explainer.given(graph.find(log.term(t).cls)));
    }
  }

  static constexpr unsigned kPatterns = 6;
  MLIRContext context;
  unsigned pairs = 0, matched = 0, commuted = 0, total = 0, ranged = 0,
           steps = 0;
};

TEST_F(PdlDriver, oneStep) {
  const uint64_t programs = luminal::test::countRounds(1000, 50);
  for (uint64_t seed = 0; seed != programs; ++seed) {
    compare(seed);
    if (HasFailure())
      return;
  }
  printf("%u pairs, %u matches, %u patterns with one, %u of them with ranges\n",
         pairs, total, matched, ranged);
  // Some match, some do not.
  EXPECT_GT(pairs, programs * kPatterns * 10);
  EXPECT_GT(matched, programs * kPatterns / 2);
  EXPECT_LT(matched, programs * kPatterns);
  EXPECT_GT(commuted, programs / 4);
  EXPECT_GT(ranged, programs / 2);
  EXPECT_GT(steps, programs);
}

} // namespace
