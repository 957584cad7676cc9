//===- RulesTest.cpp - Every compiled-in rule fires, and is true ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs that together make every rule fire in every element type that it
// claims are saturated, and the interpreter computes both sides of what the
// rules made equal, on shapes and values of every kind.
//
// With exact rules only, all nodes of a class have the same bits. With all
// rules, each node that a rounding rule made is compared with the definition of
// its class over the same operands, computed in f64, that is, with the left
// side in exact arithmetic. A rule counts as instantiated only if it was held
// to its own promise.
//
//===----------------------------------------------------------------------===//

#include "Judgement.h"
#include "NodeFunction.h"
#include "RuleFixture.h"
#include "luminal/Dialect/LLIR/IR/Functions.h"
#include "luminal/EqSat/Core/Runner.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/IR/Verifier.h"

#include <set>

using namespace mlir;
using namespace luminal;
using namespace luminal::eqsat;
using namespace luminal::test;
using llir::Fn;

namespace {

/// The extents that are used for the symbol of the programs.
constexpr int64_t kExtents[] = {3, 0, 1};

/// The text of a type in a claim.
std::string elementName(Type type) {
  std::string name;
  llvm::raw_string_ostream(name) << getElementTypeOrSelf(type);
  return name;
}

class Rules : public RuleFixture {
protected:
  /// Saturates; evaluates every node; then extracts.
  void check(const RuleProgram &instance, bool exactOnly);
  void checkLeft(const RuleProgram &instance, func::FuncOp function);

  /// By rule: the element types that it claims, and those for which its promise
  /// was checked.
  std::map<std::string, std::set<std::string>> claimed, held;
};

//===----------------------------------------------------------------------===//
// Both sides
//===----------------------------------------------------------------------===//

/// One node, its expected value, and the comparison.
struct Comparison {
  OpId op;
  uint32_t row;
  RuleId rule;
  double ulps; ///< negative: the same bits
  unsigned value, expected;
  /// `expected` computed in f32, which shows how inaccurate the f64 value may
  /// be.
  unsigned rough;
  /// The operand whose precision limits a spelling.
  std::optional<unsigned> kept;
  /// The sum of the absolute terms of a product.
  std::optional<unsigned> terms;
};

void Rules::check(const RuleProgram &instance, bool exactOnly) {
  OwningOpRef<ModuleOp> module = build(instance);
  auto function = *module->getOps<func::FuncOp>().begin();
  Program program(function, /*allowUnregistered=*/false);
  NativeBridge natives(program.ops, function,
                       exactOnly ? PrecisionPolicy::exact()
                                 : PrecisionPolicy());
  ASSERT_TRUE(succeeded(program.import(natives.scope())));
  FailureOr<LoadedRules> rules = loader.compile(program.ops, natives);
  ASSERT_TRUE(succeeded(rules));
  for (const Rule &rule : rules->all)
    claimed[rule.name] = {rule.dtypes.begin(), rule.dtypes.end()};

  EGraph &graph = program.graph;
  OpTable &ops = program.ops;
  std::vector<std::pair<ClassId, RuleId>> merged;
  graph.onMerge = [&](ClassId winner, ClassId, RuleId rule) {
    if (rule < rules->all.size())
      merged.push_back({winner, rule});
  };
  RunReport run = saturate(graph, *rules, RunnerOptions());
  ASSERT_EQ(run.stop, StopReason::Saturated)
      << instance.name << ": " << stopReasonName(run.stop);

  auto hold = [&](RuleId rule, Type type) {
    const Rule &r = rules->all[rule];
    if ((r.promise.kind == Promise::Exact) == exactOnly)
      held[r.name].insert(elementName(type));
  };
  for (auto [c, rule] : merged)
    hold(rule, ops.type(graph.classType(graph.find(c))));

  NodeFunction nodes(program, function, literals);
  std::vector<Comparison> comparisons;
  Builder b(&context);
  nodes.forEachNode([&](OpId op, uint32_t row) {
    const Table &table = graph.table(op);
    RuleId rule = table.rule(row);
    if (rule < rules->all.size()) {
      hold(rule, ops.type(graph.payloadType(table.payload(row))));
      for (uint32_t i = 0; i != table.arity(); ++i)
        hold(rule, ops.type(graph.classType(graph.find(table.key(row)[i]))));
    }
    if (nodes.isDefinition(op, row))
      return;
    if (exactOnly) {
      unsigned value = nodes.valueOfNode(op, row);
      unsigned expected = nodes.valueOfClass(table.classOf(row));
      comparisons.push_back({op, row, rule, -1, value, expected, 0, {}, {}});
      return;
    }
    if (rule >= rules->all.size() ||
        rules->all[rule].promise.kind != Promise::Rounding)
      return;
    auto exact = nodes.definitionOver(op, row, b.getF64Type());
    auto rough = nodes.definitionOver(op, row, b.getF32Type());
    if (!exact || !rough)
      return;
    Comparison c{op,
                 row,
                 rule,
                 rules->all[rule]
                     .promiseIn(elementName(
                         ops.type(graph.payloadType(table.payload(row)))))
                     .ulps,
                 nodes.valueOfNode(op, row),
                 *exact,
                 *rough,
                 {},
                 nodes.termsOf(op, row)};
    auto fn = ops.attributes(table.payload(row)).getAs<llir::FnAttr>("fn");
    // A rule promises at most the accuracy of its function's code.
    if (fn)
      EXPECT_GE(c.ulps,
                llir::getUlps(fn.getValue(),
                              getElementTypeOrSelf(ops.type(
                                  graph.payloadType(table.payload(row))))))
          << rules->all[rule].name;
    // Spellings of gelu add 1 to a number next to -1.
    if (fn && (fn.getValue() == Fn::Gelu || fn.getValue() == Fn::GeluTanh))
      c.kept = nodes.valueOfClass(table.key(row)[0]);
    comparisons.push_back(c);
  });

  unsigned failures = 0;
  for (int64_t extent : kExtents) {
    auto results = nodes.evaluate(arguments(instance, function, extent));
    ASSERT_TRUE(succeeded(results)) << instance.name;
    for (const Comparison &c : comparisons) {
      Standard standard{&(*results)[c.expected], c.ulps};
      if (c.ulps >= 0)
        standard.rough = &(*results)[c.rough];
      if (c.kept)
        standard.kept = &(*results)[*c.kept];
      if (c.terms)
        standard.terms = &(*results)[*c.terms];
      const Table &table = graph.table(c.op);
      for (const std::string &wrong :
           judge(&context, (*results)[c.value], standard)) {
        if (++failures > 5)
          break;
        std::string attributes;
        llvm::raw_string_ostream(attributes)
            << ops.attributes(table.payload(c.row)) << " of "
            << getElementTypeOrSelf(
                   ops.type(graph.payloadType(table.payload(c.row))));
        ADD_FAILURE() << instance.name
                      << (exactOnly ? " (exact rules): " : ": ")
                      << ops.opName(c.op)->getStringRef().str() << attributes
                      << " by "
                      << (c.rule < rules->all.size() ? rules->all[c.rule].name
                                                     : "the program")
                      << " " << wrong;
      }
    }
  }

  if (exactOnly)
    return;
  std::unique_ptr<CostModel> cost =
      (*lookupCostModel("static"))(natives.scope(), {});
  FailureOr<ExtractionReport> extracted = program.extract(*cost);
  ASSERT_TRUE(succeeded(extracted)) << instance.name;
  EXPECT_TRUE(succeeded(verify(*module))) << instance.name;
  checkLeft(instance, function);
}

void Rules::checkLeft(const RuleProgram &instance, func::FuncOp function) {
  std::vector<std::string> left;
  for (Operation &op : function.getBody().front().without_terminator()) {
    if (isa<llir::ConstantOp, llir::ViewOp>(op))
      continue;
    if (auto elementwise = dyn_cast<llir::ElementwiseOp>(op))
      left.push_back(llir::stringifyFn(elementwise.getFn()).str());
    else
      left.push_back(op.getName().stripDialect().str());
    EXPECT_EQ(op.getName().getDialectNamespace(), "llir") << instance.name;
  }
  if (!instance.left || left == *instance.left)
    return;
  std::string text;
  llvm::raw_string_ostream os(text);
  function.print(os);
  EXPECT_EQ(left, *instance.left) << instance.name << "\n" << text;
}

TEST_F(Rules, EveryRuleIsTrueInEveryTypeThatItClaims) {
  std::vector<RuleProgram> programs = allRulePrograms();
  for (size_t i = 0; i < programs.size(); ++i)
    for (bool isExact : {true, false}) {
      if (isCheckTaken(i, isExact))
        check(programs[i], isExact);
      if (HasFatalFailure())
        return;
    }
  if (kRuleProgramStride > 1)
    return;
  for (const auto &[rule, dtypes] : claimed) {
    EXPECT_FALSE(dtypes.empty()) << rule << " claims no element type";
    for (const std::string &dtype : dtypes)
      EXPECT_TRUE(held[rule].count(dtype))
          << "no program holds " << rule << " to its promise in " << dtype;
  }
}

} // namespace
