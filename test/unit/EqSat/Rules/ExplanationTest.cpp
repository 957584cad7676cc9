//===- ExplanationTest.cpp - Explanations followed step by step -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks the output of `--eqsat-explain` step by step. Each chain leads from
// the one term to the other; and for every step the interpreter computes the
// term before and the term after, on values of every kind and on finite ones,
// which are compared as the rule promises. Programs are those that make every
// rule fire, the functions of the lit tests, and an archive.
//
// A congruence is as exact as the proofs of its operands: where those use exact
// rules alone, it has the same bits on both sides.
//
//===----------------------------------------------------------------------===//

#include "Judgement.h"
#include "NodeFunction.h"
#include "RuleFixture.h"
#include "luminal/Dialect/LLIR/IR/LLIR.h"
#include "luminal/EqSat/Core/Runner.h"
#include "luminal/EqSat/Program/CostModel.h"
#include "luminal/Target/PT2.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"

#include <set>

using namespace mlir;
using namespace luminal;
using namespace luminal::eqsat;
using namespace luminal::test;
using llir::Fn;

namespace {

using Arguments = std::vector<reference::Tensor>;

/// The results of checking the explanations of a function.
struct Outcome {
  /// Steps that were compared, by the name of the rule ("" is congruence).
  std::map<std::string, unsigned> compared;
  std::vector<std::string> wrong;

  unsigned total() const {
    unsigned n = 0;
    for (const auto &[rule, count] : compared)
      n += count;
    return n;
  }
  bool blames(StringRef rule) const {
    return llvm::any_of(wrong,
                        [&](StringRef text) { return text.starts_with(rule); });
  }
};

/// Follows chains and collects the steps in them.
class Replay {
public:
  Replay(const Explanation &e, const EGraph &graph, ArrayRef<Rule> rules)
      : e(e), graph(graph), rules(rules) {}

  /// Checks that the chain leads from one term to the other; sets `isExact` to
  /// false if a step is equal only up to rounding.
  void checkChain(uint32_t chain, uint32_t from, uint32_t to, bool &isExact) {
    auto [it, isNew] = chains.try_emplace({chain, from, to}, true);
    if (isNew) {
      bool exact = true;
      uint32_t at = from;
      for (uint32_t step : e.chains[chain]) {
        ASSERT_EQ(e.steps[step].from, at);
        checkStep(step, exact);
        if (testing::Test::HasFatalFailure())
          return;
        at = e.steps[step].to;
      }
      ASSERT_EQ(at, to);
      it = chains.insert_or_assign({chain, from, to}, exact).first;
    }
    isExact &= it->second;
  }

  /// Whether both sides of each step have the same bits.
  std::map<uint32_t, bool> steps;

private:
  void checkStep(uint32_t step, bool &isExact) {
    if (auto it = steps.find(step); it != steps.end()) {
      isExact &= it->second;
      return;
    }
    const Explanation::Step &s = e.steps[step];
    bool exact = true;
    if (s.rule == kKnown) {
      // Compare as for an exact rule.
    } else if (s.rule != kNone) {
      ASSERT_LT(s.rule, rules.size());
      exact = rules[s.rule].promise.kind == Promise::Exact;
    } else {
      const Explanation::Term &a = e.terms[s.from], &b = e.terms[s.to];
      ASSERT_EQ(a.op, b.op);
      ASSERT_EQ(a.payload, b.payload);
      ASSERT_TRUE(!s.swapped || graph.isCommutative(a.op));
      ASSERT_EQ(s.operands.size(), a.operands.size());
      for (size_t i = 0; i != s.operands.size(); ++i)
        checkChain(s.operands[i], a.operands[i],
                   b.operands[s.swapped ? 1 - i : i], exact);
    }
    steps[step] = exact;
    isExact &= exact;
  }

  const Explanation &e;
  const EGraph &graph;
  ArrayRef<Rule> rules;
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, bool> chains;
};

class Explanations : public RuleFixture {
protected:
  /// The promises of alternatives are relative to the sum of absolute terms,
  /// which these comparisons do not know (AlternativesTest does), so
  /// alternatives are compared where sums are exact.
  bool isAnyValue = false;

  /// Explains every term of the graph, and the program that is extracted;
  /// compares both sides of every step on each set of arguments. The last set
  /// is finite.
  void explain(func::FuncOp function, ArrayRef<Arguments> arguments,
               const PrecisionPolicy &policy, Outcome &outcome,
               bool everyTerm = true);
  /// For a function with arbitrary argument values: sets of values of every
  /// kind, then one of finite ones. One set of large tensors has as many values
  /// of every kind as all sets of small ones.
  std::vector<Arguments> anyArguments(func::FuncOp function);
};

void Explanations::explain(func::FuncOp function, ArrayRef<Arguments> arguments,
                           const PrecisionPolicy &policy, Outcome &outcome,
                           bool everyTerm) {
  Program program(function, /*allowUnregistered=*/false);
  program.keepProofs();
  NativeBridge natives(program.ops, function, policy);
  ASSERT_TRUE(succeeded(program.import(natives.scope())));
  FailureOr<LoadedRules> rules =
      loader.compile(program.ops, natives, /*explained=*/true);
  ASSERT_TRUE(succeeded(rules));
  EGraph &graph = program.graph;
  ASSERT_EQ(saturate(graph, *rules, RunnerOptions()).stop,
            StopReason::Saturated);

  Explainer explainer(graph, *graph.proofs, rules->all);
  struct Claim {
    uint32_t chain, from, to;
  };
  std::vector<Claim> claims;
  const ProofLog &log = *graph.proofs;
  for (uint32_t t = 0; everyTerm && t != log.numTerms(); ++t)
    claims.push_back({explainer.explainTerm(t), explainer.spell(t),
                      explainer.given(graph.find(log.term(t).cls))});
  // Exact rules alone do not lower everything.
  if (policy.maxUlps >= 0) {
    std::unique_ptr<CostModel> cost =
        (*lookupCostModel("static"))(natives.scope(), {});
    ASSERT_TRUE(succeeded(program.extract(
        *cost, [&](const Extractor &extractor, const Selection &selection) {
          for (auto [root, scope] : program.roots()) {
            uint32_t chain =
                explainer.explain(root, extractor, selection, scope);
            uint32_t from = explainer.given(root);
            claims.push_back({chain, from, explainer.endOf(chain, from)});
          }
          return success();
        })));
  }
  const Explanation &e = explainer.result;
  Replay replay(e, graph, rules->all);
  for (Claim claim : claims) {
    bool isExact = true;
    ASSERT_NO_FATAL_FAILURE(
        replay.checkChain(claim.chain, claim.from, claim.to, isExact));
  }

  NodeFunction nodes(program, function, literals);
  struct Sides {
    std::string name;
    Promise promise;
    unsigned value, expected, rough = 0;
    std::optional<unsigned> kept = std::nullopt, terms = std::nullopt;
  };
  std::vector<Sides> comparisons;
  Builder b(&context);
  for (auto [step, isExact] : replay.steps) {
    const Explanation::Step &s = e.steps[step];
    if (s.rule == kNone || s.rule == kKnown) {
      if (isExact)
        comparisons.push_back({s.rule == kNone ? "" : "known integers",
                               Promise::exact(), nodes.valueOfTerm(e, s.to),
                               nodes.valueOfTerm(e, s.from)});
      continue;
    }
    const Rule &rule = rules->all[s.rule];
    if (isAnyValue && rule.growth > 0)
      continue;
    uint32_t left = s.forward ? s.from : s.to,
             right = s.forward ? s.to : s.from;
    std::string dtype;
    llvm::raw_string_ostream(dtype) << getElementTypeOrSelf(
        program.ops.type(graph.payloadType(e.terms[right].payload)));
    Sides sides{rule.name, rule.promiseIn(dtype), nodes.valueOfTerm(e, right),
                0};
    if (rule.promise.kind == Promise::Rounding) {
      sides.expected = nodes.termOver(e, left, right, b.getF64Type());
      sides.rough = nodes.termOver(e, left, right, b.getF32Type());
      sides.terms = nodes.termsOf(e, right);
      // Spellings of gelu add 1 to a number next to -1.
      auto fn = program.ops.attributes(e.terms[right].payload)
                    .getAs<llir::FnAttr>("fn");
      if (fn && (fn.getValue() == Fn::Gelu || fn.getValue() == Fn::GeluTanh))
        sides.kept = nodes.valueOfTerm(e, e.terms[right].operands[0]);
    } else {
      sides.expected = nodes.valueOfTerm(e, left);
    }
    comparisons.push_back(sides);
  }
  for (const Arguments &list : arguments) {
    bool isFinite = &list == &arguments.back();
    auto results = nodes.evaluate(list);
    ASSERT_TRUE(succeeded(results));
    for (const Sides &s : comparisons) {
      if (s.promise.kind == Promise::Finite && !isFinite)
        continue;
      Standard standard{&(*results)[s.expected]};
      if (s.promise.kind == Promise::Rounding) {
        standard.ulps = s.promise.ulps;
        standard.rough = &(*results)[s.rough];
      }
      if (s.kept)
        standard.kept = &(*results)[*s.kept];
      if (s.terms)
        standard.terms = &(*results)[*s.terms];
      std::vector<std::string> wrong =
          judge(&context, (*results)[s.value], standard);
      if (!wrong.empty())
        outcome.wrong.push_back(s.name + " " + wrong.front());
    }
  }
  for (const Sides &s : comparisons)
    ++outcome.compared[s.name];
}

std::vector<Arguments> Explanations::anyArguments(func::FuncOp function) {
  reference::SymbolValues symbols;
  if (auto known =
          function->getAttrOfType<hlir::SymbolsAttr>(hlir::kSymbolsAttr))
    for (const hlir::SymbolEntry &entry : known.getEntries())
      symbols[entry.name.str()] = std::max<int64_t>(
          entry.range.lo, entry.range.hi.value_or(3) < 3 ? *entry.range.hi : 3);
  std::vector<Arguments> sets;
  int64_t elements = 0;
  for (unsigned numSets = 5; sets.size() < numSets;) {
    Arguments &set = sets.emplace_back();
    for (Type type : function.getFunctionType().getInputs()) {
      auto tensor = cast<RankedTensorType>(type);
      Operand operand;
      if (!isa<FloatType>(tensor.getElementType()))
        operand.range = {0, 3}; // some of these are indices
      else if (sets.size() == numSets)
        operand.range = {-4, 4};
      set.push_back(random(operand, tensor, symbols));
      elements += set.back().getNumElements();
    }
    if (sets.size() == 1 && elements > 10000)
      numSets = 2;
  }
  return sets;
}

std::string joined(const std::vector<std::string> &lines) {
  std::string text;
  for (const std::string &line : lines)
    text += "\n  " + line;
  return text;
}

TEST_F(Explanations, OfEveryRule) {
  Outcome exact, all;
  std::vector<RuleProgram> programs = allRulePrograms();
  for (size_t i = 0; i < programs.size(); ++i) {
    const RuleProgram &instance = programs[i];
    SCOPED_TRACE(instance.name);
    for (bool isExact : {true, false}) {
      OwningOpRef<ModuleOp> module = build(instance);
      auto function = *module->getOps<func::FuncOp>().begin();
      Outcome &outcome = isExact ? exact : all;
      // Draw for each instance, so that all builds use the same numbers.
      Arguments drawn(arguments(instance, function, 3));
      if (!isCheckTaken(i, isExact))
        continue;
      ASSERT_NO_FATAL_FAILURE(explain(
          function, drawn,
          isExact ? PrecisionPolicy::exact() : PrecisionPolicy(), outcome));
      EXPECT_EQ(joined(outcome.wrong), "");
      outcome.wrong.clear();
    }
  }
  EXPECT_GT(exact.total(), 300u / kCheckStride);
  EXPECT_GT(all.total(), kCheckStride == 1 ? exact.total() : 0u);
}

TEST_F(Explanations, OfTheProgramsOfTheLitTests) {
  isAnyValue = true;
  std::error_code code;
  std::set<std::string> files;
  for (llvm::sys::fs::directory_iterator
           it(LUMINAL_SOURCE_DIR "/test/EqSat/Rules", code),
       end;
       it != end && !code; it.increment(code))
    if (StringRef(it->path()).ends_with(".mlir"))
      files.insert(it->path());
  ASSERT_FALSE(code);
  Outcome outcome;
  unsigned functions = 0;
  for (const std::string &file : files) {
    auto text = llvm::MemoryBuffer::getFile(file);
    ASSERT_TRUE(static_cast<bool>(text)) << file;
    SmallVector<StringRef> parts;
    (*text)->getBuffer().split(parts, "// -----\n");
    for (StringRef part : parts) {
      auto module = parseSourceString<ModuleOp>(part, &context, file);
      ASSERT_TRUE(module) << file;
      for (auto function : module->getOps<func::FuncOp>()) {
        SCOPED_TRACE(file + " @" + function.getSymName().str());
        if (functions++ % kRuleProgramStride)
          continue;
        ASSERT_NO_FATAL_FAILURE(explain(function, anyArguments(function),
                                        PrecisionPolicy(), outcome));
        EXPECT_EQ(joined(outcome.wrong), "");
        outcome.wrong.clear();
      }
    }
  }
  EXPECT_GT(functions, 100u);
  if (kRuleProgramStride > 1)
    return;
  for (const char *rule : {"Softmax", "RMSNorm", "LayerNorm", "GeluTanh",
                           "Gemm", "NarrowUnary", "CastTwice"})
    EXPECT_GT(outcome.compared[rule], 0u) << rule;
}

TEST_F(Explanations, OfAnArchive) {
  isAnyValue = true;
  OwningOpRef<ModuleOp> module = importPT2(
      &context, LUMINAL_SOURCE_DIR "/test/Models/Inputs/transformer/model.pt2");
  ASSERT_TRUE(module);
  auto function = *module->getOps<func::FuncOp>().begin();
  Outcome outcome;
  explain(function, anyArguments(function), PrecisionPolicy(), outcome,
          /*everyTerm=*/false);
  EXPECT_EQ(joined(outcome.wrong), "");
  EXPECT_GT(outcome.compared["Gemm"], 0u);
  EXPECT_GT(outcome.total(), 100u);
}

/// Each of these rules promises too much, which the explanations of a program
/// on which it fires must reveal.
TEST_F(Explanations, OfWrongRules) {
  struct Wrong {
    const char *name, *rule, *body;
  };
  const Wrong wrongs[] = {
      {"WrongForNegativeZero",
       R"mlir(
    pdl.pattern @WrongForNegativeZero : benefit(0) attributes {eqsat.promise = "exact"} {
      %t = pdl.type : tensor<64xf32>
      %x = pdl.operand : %t
      %value = pdl.attribute = dense<0.0> : tensor<64xf32>
      %c = pdl.operation "hlir.constant" {"value" = %value} -> (%t : !pdl.type)
      %zero = pdl.result 0 of %c
      %root = pdl.operation "hlir.add"(%x, %zero : !pdl.value, !pdl.value) -> (%t : !pdl.type)
      pdl.rewrite %root {
        pdl.replace %root with (%x : !pdl.value)
      }
    })mlir",
       R"mlir(
    %c = hlir.constant dense<0.0> : tensor<64xf32>
    %0 = hlir.add %x, %c : tensor<64xf32>
    %r = hlir.mul %0, %y : tensor<64xf32>)mlir"},
      {"WrongByAnUlp",
       R"mlir(
    pdl.pattern @WrongByAnUlp : benefit(0) attributes {eqsat.promise = "rounding(0)"} {
      %t = pdl.type : tensor<64xf32>
      %x = pdl.operand : %t
      %y = pdl.operand : %t
      %inner = pdl.operation "hlir.mul"(%x, %x : !pdl.value, !pdl.value) -> (%t : !pdl.type)
      %square = pdl.result 0 of %inner
      %root = pdl.operation "hlir.mul"(%square, %y : !pdl.value, !pdl.value) -> (%t : !pdl.type)
      pdl.rewrite %root {
        %0 = pdl.operation "hlir.mul"(%x, %y : !pdl.value, !pdl.value) -> (%t : !pdl.type)
        %1 = pdl.result 0 of %0
        %2 = pdl.operation "hlir.mul"(%x, %1 : !pdl.value, !pdl.value) -> (%t : !pdl.type)
        pdl.replace %root with %2
      }
    })mlir",
       R"mlir(
    %0 = hlir.mul %x, %x : tensor<64xf32>
    %r = hlir.mul %0, %y : tensor<64xf32>)mlir"},
      // With a native: the type does not matter.
      {"WrongForFiniteValues",
       R"mlir(
    pdl.pattern @WrongForFiniteValues : benefit(0) attributes {eqsat.promise = "finite"} {
      %t = pdl.type : tensor<64xf32>
      %x = pdl.operand : %t
      pdl.apply_native_constraint "IsFloat"(%t : !pdl.type)
      %inner = pdl.operation "hlir.recip"(%x : !pdl.value) -> (%t : !pdl.type)
      %recip = pdl.result 0 of %inner
      %root = pdl.operation "hlir.mul"(%x, %recip : !pdl.value, !pdl.value) -> (%t : !pdl.type)
      pdl.rewrite %root {
        %value = pdl.attribute = dense<1.0> : tensor<64xf32>
        %one = pdl.operation "hlir.constant" {"value" = %value} -> (%t : !pdl.type)
        pdl.replace %root with %one
      }
    })mlir",
       R"mlir(
    %0 = hlir.recip %x : tensor<64xf32>
    %1 = hlir.mul %x, %0 : tensor<64xf32>
    %r = hlir.add %1, %y : tensor<64xf32>)mlir"},
      // One form of a rule with a range.
      {"WrongOverARange",
       R"mlir(
    pdl.pattern @WrongOverARange : benefit(0) attributes {eqsat.promise = "exact"} {
      %t = pdl.type : tensor<64xf32>
      %x = pdl.operand : %t
      %xs = pdl.operands
      %root = pdl.operation "hlir.mod"(%x, %xs : !pdl.value, !pdl.range<value>) -> (%t : !pdl.type)
      pdl.rewrite %root {
        %new = pdl.operation "hlir.mod"(%xs, %x : !pdl.range<value>, !pdl.value) -> (%t : !pdl.type)
        pdl.replace %root with %new
      }
    })mlir",
       R"mlir(
    %0 = hlir.mod %x, %y : tensor<64xf32>
    %r = hlir.add %0, %y : tensor<64xf32>)mlir"},
  };
  for (const Wrong &wrong : wrongs) {
    SCOPED_TRACE(wrong.name);
    loader.clear();
    Location loc = UnknownLoc::get(&context);
    ASSERT_TRUE(succeeded(loader.loadSets(loc, {}, /*all=*/true)));
    ASSERT_TRUE(succeeded(loader.loadBuffer(
        &context, llvm::MemoryBuffer::getMemBuffer(wrong.rule, "wrong.mlir"))));
    std::string text = std::string("func.func @main(%x: tensor<64xf32>, "
                                   "%y: tensor<64xf32>) -> tensor<64xf32> {") +
                       wrong.body + "\n return %r : tensor<64xf32> }";
    auto module = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(module);
    auto function = *module->getOps<func::FuncOp>().begin();
    Outcome outcome;
    ASSERT_NO_FATAL_FAILURE(
        explain(function, anyArguments(function), PrecisionPolicy(), outcome));
    EXPECT_GT(outcome.compared[wrong.name], 0u);
    EXPECT_TRUE(outcome.blames(wrong.name)) << joined(outcome.wrong);
  }
}

} // namespace
