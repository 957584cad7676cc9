//===- RulesTest.cpp - Every compiled-in rule fires, and is true ----------===//
//
// Programs that together make every rule fire are saturated, and then every
// node of every class is evaluated on the values of its operand classes and
// compared with the value of its own class: so both sides of every rule
// application are held against each other. With the exact rules alone, bit by
// bit; with all rules, within what they promise.
//
//===----------------------------------------------------------------------===//

#include "luminal/EqSat/Rules.h"
#include "NodeEvaluator.h"
#include "Program.h"
#include "RuleLoader.h"
#include "RulePrograms.h"
#include "luminal/Dialect/LLIR/IR/LLIR.h"
#include "luminal/EqSat/Runner.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/PDL/IR/PDL.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "gtest/gtest.h"

#include <cmath>
#include <random>
#include <set>

using namespace mlir;
using namespace luminal;
using namespace luminal::eqsat;
using namespace luminal::test;
using llir::Fn;

namespace {

constexpr int64_t kSymbolValue = 3;

class Rules : public testing::Test {
protected:
  Rules() {
    registerAllRuleSets();
    context.loadDialect<func::FuncDialect, pdl::PDLDialect, hlir::HLIRDialect,
                        llir::LLIRDialect>();
  }

  Type elementType(StringRef name) {
    std::optional<DType> dtype = dtypeFromName(std::string_view(name));
    return hlir::getElementType(&context, *dtype);
  }

  OwningOpRef<ModuleOp> build(const RuleProgram &instance);
  /// Saturates; evaluates every node; then extracts.
  void check(const RuleProgram &instance, bool exactOnly);
  void checkLeft(const RuleProgram &instance, func::FuncOp function);
  /// Explains what is equal and evaluates both sides of every rule application
  /// that the explanations name. Returns their number.
  unsigned replay(const RuleProgram &instance, bool exactOnly);
  Tensor random(const Operand &operand, Type type);

  MLIRContext context;
  std::mt19937 rng{7};
  std::set<std::string> fired, known;
};

OwningOpRef<ModuleOp> Rules::build(const RuleProgram &instance) {
  Location loc = NameLoc::get(StringAttr::get(&context, instance.name));
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  OpBuilder builder(&context);
  builder.setInsertionPointToEnd(module->getBody());
  SmallVector<Type> types;
  for (const Operand &operand : instance.operands) {
    SmallVector<Expr> extents;
    for (const std::string &text : operand.extents)
      extents.push_back(*Expr::parse(text));
    types.push_back(hlir::getTensorType(extents, elementType(operand.element)));
  }
  auto function = func::FuncOp::create(builder, loc, "f",
                                       builder.getFunctionType(types, {}));
  hlir::SymbolEntry symbol{"s0", {1, 8}};
  function->setAttr(hlir::kSymbolsAttr,
                    hlir::SymbolsAttr::get(&context, ArrayRef(symbol)));
  Block *body = function.addEntryBlock();
  builder.setInsertionPointToEnd(body);
  Scope scope = hlir::getScope(function);
  hlir::Composer composer(builder, loc, scope);
  SmallVector<Value> arguments(body->args_begin(), body->args_end());
  Value result = instance.build(composer, arguments);
  func::ReturnOp::create(builder, loc, result);
  function.setFunctionType(builder.getFunctionType(types, result.getType()));
  EXPECT_TRUE(succeeded(verify(*module))) << instance.name;
  return module;
}

Tensor Rules::random(const Operand &operand, Type type) {
  Tensor t;
  t.element = cast<RankedTensorType>(type).getElementType();
  t.shape = shapeOf(type, {{"s0", kSymbolValue}});
  int64_t n = 1;
  for (int64_t extent : t.shape)
    n *= extent;
  const long double inf = std::numeric_limits<long double>::infinity();
  const long double specials[] = {
      0.0L, -0.0L, 1.0L,   -1.0L, 2.5L,  -3.5L,    0.5L,   -0.5L,   inf,
      -inf, NAN,   1e-40L, 7.0L,  -8.0L, 65504.0L, -1e30L, 0.49999L};
  auto pick = [&](int64_t lo, int64_t hi) {
    return std::uniform_int_distribution<int64_t>(lo, hi)(rng);
  };
  for (int64_t k = 0; k != n; ++k) {
    if (t.isFloat()) {
      long double x = std::normal_distribution<double>(0, 3)(rng);
      if (operand.range)
        x = std::uniform_real_distribution<double>(operand.range->first,
                                                   operand.range->second)(rng);
      else if (pick(0, 3) == 0)
        x = specials[pick(0, std::size(specials) - 1)];
      else if (pick(0, 7) == 0)
        x = std::ldexp(x, pick(-20, 20));
      t.f.push_back(roundTo(x, t.element));
      continue;
    }
    if (t.element.isInteger(1)) {
      t.i.push_back(pick(0, 1));
      continue;
    }
    bool is32 = t.element.isInteger(32);
    int64_t low = is32 ? INT32_MIN : INT64_MIN,
            high = is32 ? INT32_MAX : INT64_MAX;
    if (operand.range)
      t.i.push_back(pick(operand.range->first, operand.range->second));
    else
      t.i.push_back(pick(0, 3) == 0   ? pick(low, high)
                    : pick(0, 7) == 0 ? (pick(0, 1) ? low : high)
                                      : pick(-9, 9));
  }
  return t;
}

//===----------------------------------------------------------------------===//
// Values of classes
//===----------------------------------------------------------------------===//

/// Ulps that a node of this type may be off its class, beyond what the rule
/// promises. What is wider than the program's own type is a spelling on its way
/// to be rounded: there exp and pow lose as many ulps as the exponent has.
struct Tolerance {
  double ulps;
  long double relative = 0, absolute = 0;
};

bool matches(long double a, long double b, Type type, Tolerance t) {
  if (std::isnan(a) || std::isnan(b))
    return std::isnan(a) && std::isnan(b);
  if (t.ulps < 0) // the same bits
    return a == b && std::signbit(a) == std::signbit(b);
  if (a == b)
    return true;
  // What overflows on one side only is next to the largest number.
  long double allowed =
      t.ulps * ulpOf(b, type) + t.relative * std::fabs(b) + t.absolute;
  return std::fabs(a - b) <= allowed;
}

void Rules::check(const RuleProgram &instance, bool exactOnly) {
  OwningOpRef<ModuleOp> module = build(instance);
  auto function = *module->getOps<func::FuncOp>().begin();
  RuleLoader loader;
  ASSERT_TRUE(succeeded(loader.loadSets(module->getLoc(), {}, /*all=*/true)));
  Program program(function, /*allowUnregistered=*/false);
  NativeBridge natives(program.ops, function);
  ASSERT_TRUE(succeeded(program.import(natives.scope())));
  FailureOr<std::vector<Rule>> rules = loader.compile(program.ops, natives);
  ASSERT_TRUE(succeeded(rules));

  // The loosest promise among the rules that made or joined each class.
  EGraph &graph = program.graph;
  std::vector<std::pair<ClassId, RuleId>> touched;
  graph.onMerge = [&](ClassId winner, ClassId, RuleId rule) {
    if (rule < rules->size())
      touched.push_back({winner, rule});
  };
  RunnerOptions options;
  if (exactOnly)
    options.maxUlps = 0;
  RunReport run = saturate(graph, *rules, natives.natives, options);
  ASSERT_EQ(run.stop, StopReason::Saturated)
      << instance.name << ": " << stopReasonName(run.stop);
  for (auto [rule, report] : llvm::zip_equal(*rules, run.rules)) {
    known.insert(rule.name);
    if (report.useful)
      fired.insert(rule.name);
  }

  // Values of leaves.
  Symbols symbols{{"s0", kSymbolValue}};
  std::map<ClassId, Tensor> values;
  OpTable &ops = program.ops;
  const Table &leaves = graph.table(ops.leafOp());
  for (uint32_t row = 0; row != leaves.numRows(); ++row) {
    auto argument = cast<BlockArgument>(ops.leafValue(leaves.payload(row)));
    values[graph.find(leaves.classOf(row))] =
        random(instance.operands[argument.getArgNumber()], argument.getType());
  }
  unsigned width = 0;
  for (const Operand &operand : instance.operands)
    if (auto type = dyn_cast<FloatType>(elementType(operand.element)))
      width = std::max(width, type.getWidth());

  std::map<ClassId, double> promised;
  auto promise = [&](ClassId c, RuleId rule) {
    if (rule >= rules->size())
      return;
    const Promise &p = (*rules)[rule].promise;
    double ulps = p.kind == Promise::Rounding ? p.ulps : -1;
    auto [it, inserted] = promised.try_emplace(graph.find(c), ulps);
    it->second = std::max(it->second, ulps);
  };
  for (auto [c, rule] : touched)
    promise(c, rule);

  auto evaluateRow = [&](OpId op, uint32_t row) -> std::optional<Tensor> {
    const Table &table = graph.table(op);
    SmallVector<const Tensor *> operands;
    for (uint32_t i = 0; i != table.arity(); ++i) {
      auto it = values.find(graph.find(table.key(row)[i]));
      if (it == values.end())
        return std::nullopt;
      operands.push_back(&it->second);
    }
    PayloadId payload = table.payload(row);
    std::optional<Tensor> value =
        evaluate(*ops.opName(op), ops.attributes(payload),
                 ops.type(graph.payloadType(payload)), operands, symbols);
    EXPECT_TRUE(value) << "no definition of "
                       << ops.opName(op)->getStringRef().str();
    return value;
  };
  auto isNode = [&](OpId op) {
    return op != ops.leafOp() && op != ops.projectionOp();
  };

  // First the program as given, then what rules made.
  for (bool given : {true, false}) {
    for (bool changed = true; changed;) {
      changed = false;
      for (OpId op = 0; op != graph.numOps(); ++op) {
        const Table &table = graph.table(op);
        for (uint32_t row = 0; isNode(op) && row != table.numRows(); ++row) {
          ClassId c = graph.find(table.classOf(row));
          if (values.count(c) || (given && table.rule(row) != kGiven))
            continue;
          if (std::optional<Tensor> value = evaluateRow(op, row)) {
            values[c] = std::move(*value);
            changed = true;
          }
        }
      }
    }
  }
  for (OpId op = 0; op != graph.numOps(); ++op)
    for (uint32_t row = 0; isNode(op) && row != graph.table(op).numRows();
         ++row)
      promise(graph.table(op).classOf(row), graph.table(op).rule(row));

  // Spellings of gelu that add 1 to a number next to -1 keep digits of x only:
  // those of the type at hand, or those of f64 for the composer's.
  std::map<ClassId, std::pair<ClassId, bool>> cancelling;
  for (OpId op = 0; op != graph.numOps(); ++op)
    for (uint32_t row = 0; isNode(op) && row != graph.table(op).numRows();
         ++row) {
      const Table &table = graph.table(op);
      auto fn = ops.attributes(table.payload(row)).getAs<llir::FnAttr>("fn");
      if (!fn || (fn.getValue() != Fn::Gelu && fn.getValue() != Fn::GeluTanh))
        continue;
      RuleId rule = table.rule(row);
      bool narrowed =
          rule < rules->size() && (*rules)[rule].name == "NarrowUnary";
      cancelling[graph.find(table.classOf(row))] = {
          graph.find(table.key(row)[0]), narrowed};
    }
  // The sum of absolute terms of a sum of products; nothing of other nodes.
  auto absoluteTerms = [&](OpId op, uint32_t row) -> std::optional<Tensor> {
    static const std::set<std::string> sums = {
        "hlir.reduce_sum", "llir.reduce",   "llir.gemm",
        "llir.layer_norm", "llir.rms_norm", "llir.softmax"};
    if (!sums.count(ops.opName(op)->getStringRef().str()))
      return std::nullopt;
    const Table &table = graph.table(op);
    std::vector<Tensor> absolute;
    for (uint32_t i = 0; i != table.arity(); ++i) {
      absolute.push_back(values[graph.find(table.key(row)[i])]);
      for (long double &x : absolute.back().f)
        x = std::fabs(x);
    }
    SmallVector<const Tensor *> operands;
    for (const Tensor &t : absolute)
      operands.push_back(&t);
    PayloadId payload = table.payload(row);
    std::optional<Tensor> terms =
        evaluate(*ops.opName(op), ops.attributes(payload),
                 ops.type(graph.payloadType(payload)), operands, symbols);
    // What a norm divides by is about the largest element.
    if (ops.opName(op)->getStringRef().ends_with("_norm"))
      for (long double &x : terms->f)
        x = 2;
    return terms;
  };
  std::map<ClassId, Tensor> terms;
  for (OpId op = 0; op != graph.numOps(); ++op)
    for (uint32_t row = 0; isNode(op) && row != graph.table(op).numRows();
         ++row)
      if (std::optional<Tensor> t = absoluteTerms(op, row))
        terms[graph.find(graph.table(op).classOf(row))] = std::move(*t);

  unsigned failures = 0;
  for (OpId op = 0; op != graph.numOps(); ++op) {
    const Table &table = graph.table(op);
    for (uint32_t row = 0; isNode(op) && row != table.numRows(); ++row) {
      ClassId c = graph.find(table.classOf(row));
      ASSERT_TRUE(values.count(c));
      std::optional<Tensor> value = evaluateRow(op, row);
      ASSERT_TRUE(value);
      const Tensor &expected = values[c];
      ASSERT_EQ(value->shape, expected.shape);
      auto it = promised.find(c);
      double ulps = it == promised.end() ? -1 : it->second;
      Tolerance tolerance{ulps};
      if (expected.isFloat() && !exactOnly) {
        // Both sides are rounded, and so are what they read: a function and
        // its copy below a view may have been computed by different members of
        // the class of their operand.
        tolerance.ulps = std::max(ulps, 0.0) + 1;
        unsigned bits = cast<FloatType>(expected.element).getWidth();
        if (bits > width || bits == 64) {
          unsigned p = cast<FloatType>(expected.element).getFPMantissaWidth();
          tolerance.relative = std::ldexp(1.0L, 12 - int(p));
          tolerance.absolute = std::ldexp(1.0L, 3 - int(p));
        }
      }
      for (size_t k = 0; k != expected.size(); ++k) {
        Tolerance at = tolerance;
        if (auto it = cancelling.find(c);
            it != cancelling.end() && at.ulps >= 0) {
          long double x = values[it->second.first].f[k];
          at.absolute += it->second.second ? std::fabs(x) * 0x1p-47L
                                           : 2 * ulpOf(x, expected.element);
        }
        if (auto it = terms.find(c); it != terms.end() && at.ulps >= 0)
          at.absolute += at.ulps * ulpOf(it->second.f[k], expected.element);
        bool ok = expected.isFloat() ? matches(value->f[k], expected.f[k],
                                               expected.element, at)
                                     : value->i[k] == expected.i[k];
        if (ok || ++failures > 5)
          continue;
        std::string operands;
        for (uint32_t i = 0; i != table.arity(); ++i) {
          const Tensor &x = values[graph.find(table.key(row)[i])];
          if (x.size() == expected.size())
            operands += " " + (x.isFloat() ? std::to_string(x.f[k])
                                           : std::to_string(x.i[k]));
        }
        RuleId rule = table.rule(row);
        std::string attributes;
        llvm::raw_string_ostream(attributes)
            << ops.attributes(table.payload(row));
        ADD_FAILURE() << instance.name
                      << (exactOnly ? " (exact rules): " : ": ")
                      << ops.opName(op)->getStringRef().str() << attributes
                      << " of" << operands << " by "
                      << (rule < rules->size() ? (*rules)[rule].name
                                               : "the program")
                      << " is "
                      << (expected.isFloat() ? (double)value->f[k]
                                             : (double)value->i[k])
                      << ", its class is "
                      << (expected.isFloat() ? (double)expected.f[k]
                                             : (double)expected.i[k]);
      }
    }
  }

  if (exactOnly)
    return;
  std::unique_ptr<CostModel> cost =
      (*lookupCostModel("static"))(natives.scope());
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

//===----------------------------------------------------------------------===//
// Explanations
//===----------------------------------------------------------------------===//

namespace {
/// Evaluates the terms of an explanation on given leaves and checks its steps.
class Replay {
public:
  Replay(const Explanation &e, Program &program, ArrayRef<Rule> rules,
         std::function<Tensor(Value)> leaf)
      : e(e), program(program), rules(rules), leaf(std::move(leaf)) {}

  const Tensor &value(uint32_t term) {
    auto [it, inserted] = values.try_emplace(term);
    if (!inserted)
      return it->second;
    const Explanation::Term &t = e.terms[term];
    OpTable &ops = program.ops;
    if (t.op == ops.leafOp())
      return values[term] = leaf(ops.leafValue(t.payload));
    SmallVector<const Tensor *> operands;
    for (uint32_t o : t.operands)
      operands.push_back(&value(o));
    std::optional<Tensor> result =
        evaluate(*ops.opName(t.op), ops.attributes(t.payload),
                 ops.type(program.graph.payloadType(t.payload)), operands,
                 {{"s0", kSymbolValue}});
    EXPECT_TRUE(result) << program.graph.opName(t.op);
    return values[term] = result ? std::move(*result) : Tensor();
  }

  /// Whether the chain leads from one term to the other by steps each of which
  /// holds for the values at hand.
  void checkChain(uint32_t chain, uint32_t from, uint32_t to) {
    if (!seen.insert({chain, from, to}).second)
      return;
    for (uint32_t step : e.chains[chain]) {
      const Explanation::Step &s = e.steps[step];
      ASSERT_EQ(s.from, from);
      from = s.to;
      if (s.rule != kNone) {
        if (checked.insert(step).second)
          checkRule(s);
        continue;
      }
      const Explanation::Term &a = e.terms[s.from], &b = e.terms[s.to];
      ASSERT_EQ(a.op, b.op);
      ASSERT_EQ(a.payload, b.payload);
      ASSERT_TRUE(!s.swapped || program.graph.isCommutative(a.op));
      for (size_t i = 0; i != s.operands.size(); ++i)
        checkChain(s.operands[i], a.operands[i],
                   b.operands[s.swapped ? 1 - i : i]);
    }
    ASSERT_EQ(from, to);
  }
  unsigned numChecked() const { return checked.size(); }

private:
  void checkRule(const Explanation::Step &s) {
    ASSERT_LT(s.rule, rules.size());
    const Rule &rule = rules[s.rule];
    const Tensor &a = value(s.from), &b = value(s.to);
    ASSERT_EQ(a.shape, b.shape) << rule.name;
    if (rule.promise.kind == Promise::Rounding)
      return; // how far it may be off is what the test below is about
    for (size_t k = 0; k != a.size(); ++k)
      ASSERT_TRUE(a.isFloat()
                      ? matches(a.f[k], b.f[k], a.element, Tolerance{-1})
                      : a.i[k] == b.i[k])
          << rule.name << " at " << rule.location << ": element " << k << ", "
          << (a.isFloat() ? double(a.f[k]) : double(a.i[k])) << " and "
          << (b.isFloat() ? double(b.f[k]) : double(b.i[k]));
  }

  const Explanation &e;
  Program &program;
  ArrayRef<Rule> rules;
  std::function<Tensor(Value)> leaf;
  std::map<uint32_t, Tensor> values;
  std::set<std::tuple<uint32_t, uint32_t, uint32_t>> seen;
  std::set<uint32_t> checked;
};
} // namespace

unsigned Rules::replay(const RuleProgram &instance, bool exactOnly) {
  OwningOpRef<ModuleOp> module = build(instance);
  auto function = *module->getOps<func::FuncOp>().begin();
  RuleLoader loader;
  Program program(function, /*allowUnregistered=*/false);
  program.keepProofs();
  NativeBridge natives(program.ops, function);
  if (failed(loader.loadSets(module->getLoc(), {}, /*all=*/true)) ||
      failed(program.import(natives.scope()))) {
    ADD_FAILURE() << instance.name;
    return 0;
  }
  FailureOr<std::vector<Rule>> rules =
      loader.compile(program.ops, natives, /*explained=*/true);
  RunnerOptions options;
  if (exactOnly)
    options.maxUlps = 0;
  EXPECT_EQ(saturate(program.graph, *rules, natives.natives, options).stop,
            StopReason::Saturated);
  EGraph &graph = program.graph;
  Explainer explainer(graph, *graph.proofs, *rules);
  struct Claim {
    uint32_t chain, from, to;
  };
  std::vector<Claim> claims;
  const ProofLog &log = *graph.proofs;
  for (uint32_t t = 0; t != log.numTerms(); ++t)
    claims.push_back({explainer.explainTerm(t), explainer.spell(t),
                      explainer.given(graph.find(log.term(t).cls))});
  std::map<unsigned, Tensor> arguments;
  Replay check(explainer.result, program, *rules, [&](Value v) {
    unsigned i = cast<BlockArgument>(v).getArgNumber();
    auto [it, inserted] = arguments.try_emplace(i);
    if (inserted)
      it->second = random(instance.operands[i], v.getType());
    return it->second;
  });
  for (Claim claim : claims)
    check.checkChain(claim.chain, claim.from, claim.to);
  return check.numChecked();
}

TEST_F(Rules, ExplanationsReplay) {
  unsigned steps = 0;
  for (const RuleProgram &instance : allRulePrograms()) {
    SCOPED_TRACE(instance.name);
    steps += replay(instance, /*exactOnly=*/true);
    replay(instance, /*exactOnly=*/false);
    if (HasFatalFailure())
      return;
  }
  EXPECT_GT(steps, 300u);
}

TEST_F(Rules, EveryRuleFiresAndIsTrue) {
  for (const RuleProgram &instance : allRulePrograms()) {
    check(instance, /*exactOnly=*/true);
    check(instance, /*exactOnly=*/false);
    if (HasFatalFailure())
      return;
  }
  for (const std::string &rule : known)
    EXPECT_TRUE(fired.count(rule)) << "no program makes '" << rule << "' fire";
}

} // namespace
