//===- RulesTest.cpp - Every compiled-in rule fires, and is true ----------===//
//
// Programs that together make every rule fire in every element type that it
// claims are saturated, and the interpreter computes both sides of what the
// rules made equal, on shapes and values of every kind.
//
// With the exact rules alone, every node of every class has the same bits. With
// all rules, each node that a rounding rule made is held against the definition
// of its class over the same operands, computed in f64: what the left side is
// in exact arithmetic. A rule counts as instantiated only where it was held to
// its own promise.
//
//===----------------------------------------------------------------------===//

#include "luminal/EqSat/Rules.h"
#include "NodeFunction.h"
#include "Registry.h"
#include "RuleLoader.h"
#include "RulePrograms.h"
#include "luminal/Dialect/HLIR/Utils/CompositeConstants.h"
#include "luminal/Dialect/LLIR/IR/LLIR.h"
#include "luminal/EqSat/Runner.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/PDL/IR/PDL.h"
#include "mlir/Dialect/PDL/IR/PDLOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/Format.h"
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

/// The extents that the symbol of the programs is given.
constexpr int64_t kExtents[] = {3, 0, 1};

/// What is printed of a type in a claim.
std::string elementName(Type type) {
  std::string name;
  llvm::raw_string_ostream(name) << getElementTypeOrSelf(type);
  return name;
}

class Rules : public testing::Test {
protected:
  Rules() {
    registerAllRuleSets();
    context.loadDialect<func::FuncDialect, pdl::PDLDialect, hlir::HLIRDialect,
                        llir::LLIRDialect>();
    collectLiterals();
    EXPECT_TRUE(succeeded(
        loader.loadSets(UnknownLoc::get(&context), {}, /*all=*/true)));
  }

  Type elementType(StringRef name) {
    std::optional<DType> dtype = dtypeFromName(std::string_view(name));
    return hlir::getElementType(&context, *dtype);
  }
  void collectLiterals();

  OwningOpRef<ModuleOp> build(const RuleProgram &instance);
  /// Saturates; evaluates every node; then extracts.
  void check(const RuleProgram &instance, bool exactOnly);
  void checkLeft(const RuleProgram &instance, func::FuncOp function);
  /// Explains what is equal and evaluates both sides of every rule application
  /// that the explanations name. Returns their number.
  unsigned replay(const RuleProgram &instance, bool exactOnly);
  reference::Tensor random(const Operand &operand, RankedTensorType type,
                           int64_t extent);

  std::vector<reference::Tensor>
  arguments(const RuleProgram &instance, func::FuncOp function, int64_t extent);

  MLIRContext context;
  RuleLoader loader;
  std::mt19937 rng{7};
  /// The numbers that rules name.
  std::vector<double> literals;
  /// By rule: the element types that it claims, and those in which it was held
  /// to its promise.
  std::map<std::string, std::set<std::string>> claimed, held;
};

void Rules::collectLiterals() {
  literals.assign(std::begin(hlir::kErfExponents),
                  std::end(hlir::kErfExponents));
  literals.insert(literals.end(), std::begin(hlir::kErfWeights),
                  std::end(hlir::kErfWeights));
  for (auto &[name, populate] : Registry::get().ruleSets) {
    RewritePatternSet patterns(&context);
    RuleSetBuilder builder(patterns);
    populate(builder);
    patterns.getPDLPatterns().getModule()->walk([&](pdl::AttributeOp op) {
      if (auto number = dyn_cast_or_null<FloatAttr>(op.getValueAttr()))
        if (number.getType().isF64() &&
            std::isfinite(number.getValueAsDouble()))
          literals.push_back(number.getValueAsDouble());
    });
  }
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

/// The number below a half is another one in each type.
APFloat inType(APFloat x, const llvm::fltSemantics &semantics) {
  APFloat next = x;
  next.next(/*nextDown=*/false);
  bool isBelowHalf = next.isExactlyValue(0.5), loses;
  (isBelowHalf ? next : x)
      .convert(semantics, APFloat::rmNearestTiesToEven, &loses);
  if (isBelowHalf)
    next.next(/*nextDown=*/true);
  return isBelowHalf ? next : x;
}

/// Writes every float of a function in one type.
void respell(func::FuncOp function, FloatType type) {
  auto isFloat = [](Type t) {
    return isa<FloatType>(getElementTypeOrSelf(t)) &&
           !hlir::isStorageType(getElementTypeOrSelf(t));
  };
  auto change = [&](Value value) {
    if (isFloat(value.getType()))
      value.setType(
          hlir::withElementType(cast<RankedTensorType>(value.getType()), type));
  };
  for (Value argument : function.getArguments())
    change(argument);
  for (Operation &op : llvm::make_early_inc_range(function.front())) {
    if (auto constant = dyn_cast<hlir::ConstantOp>(op)) {
      auto elements = dyn_cast<DenseFPElementsAttr>(constant.getValue());
      if (elements) {
        SmallVector<APFloat> numbers(elements.getValues<APFloat>());
        for (APFloat &x : numbers)
          x = inType(x, type.getFloatSemantics());
        constant.setValueAttr(DenseElementsAttr::get(
            RankedTensorType::get(elements.getType().getShape(), type),
            numbers));
      }
    }
    for (Value result : op.getResults())
      change(result);
    if (isa<hlir::CastOp>(op) &&
        op.getOperand(0).getType() == op.getResult(0).getType()) {
      op.getResult(0).replaceAllUsesWith(op.getOperand(0));
      op.erase();
    }
  }
}

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
  // What says how large the symbol is, whatever the program.
  types.push_back(
      hlir::getTensorType({Expr::symbol("s0")}, builder.getI1Type()));
  auto function = func::FuncOp::create(builder, loc, "f",
                                       builder.getFunctionType(types, {}));
  hlir::SymbolEntry symbol{"s0", {0, 8}};
  function->setAttr(hlir::kSymbolsAttr,
                    hlir::SymbolsAttr::get(&context, ArrayRef(symbol)));
  Block *body = function.addEntryBlock();
  builder.setInsertionPointToEnd(body);
  Scope scope = hlir::getScope(function);
  hlir::Composer composer(builder, loc, scope);
  SmallVector<Value> arguments(body->args_begin(), body->args_end());
  arguments.pop_back();
  Value result = instance.build(composer, arguments);
  func::ReturnOp::create(builder, loc, result);
  if (!instance.spelledIn.empty())
    respell(function, cast<FloatType>(elementType(instance.spelledIn)));
  function.setFunctionType(builder.getFunctionType(
      body->getArgumentTypes(), body->getTerminator()->getOperandTypes()));
  EXPECT_TRUE(succeeded(verify(*module))) << instance.name;
  return module;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

APFloat convert(double x, const llvm::fltSemantics &semantics) {
  APFloat value(x);
  bool loses;
  value.convert(semantics, APFloat::rmNearestTiesToEven, &loses);
  return value;
}

reference::Tensor Rules::random(const Operand &operand, RankedTensorType type,
                                int64_t extent) {
  auto symbols = [&](std::string_view) { return std::optional(extent); };
  SmallVector<int64_t> shape;
  int64_t n = 1;
  for (const Expr &e : hlir::getExtents(type))
    n *= shape.emplace_back(*e.evaluate(symbols));
  Type element = type.getElementType();
  auto pick = [&](int64_t lo, int64_t hi) {
    return std::uniform_int_distribution<int64_t>(lo, hi)(rng);
  };
  auto staticType = RankedTensorType::get(shape, element);
  if (auto floatType = dyn_cast<FloatType>(element)) {
    const llvm::fltSemantics &semantics = floatType.getFloatSemantics();
    SmallVector<APFloat> specials;
    for (double x : {0.0, -0.0, 1.0, -1.0, 2.5, -3.5, 0.5, -0.5, 7.0, -8.0,
                     0.49999, 65504.0, -1e30, 1e-40})
      specials.push_back(convert(x, semantics));
    for (bool negative : {false, true}) {
      specials.push_back(convert(negative ? -INFINITY : INFINITY, semantics));
      specials.push_back(APFloat::getSmallest(semantics, negative));
      specials.push_back(APFloat::getSmallestNormalized(semantics, negative));
      specials.push_back(APFloat::getLargest(semantics, negative));
    }
    specials.push_back(APFloat::getNaN(semantics));
    SmallVector<APFloat> values;
    for (int64_t k = 0; k != n; ++k) {
      double x = std::normal_distribution<double>(0, 3)(rng);
      if (operand.range) {
        x = std::uniform_real_distribution<double>(operand.range->first,
                                                   operand.range->second)(rng);
      } else if (pick(0, 2) == 0) {
        values.push_back(specials[pick(0, specials.size() - 1)]);
        continue;
      } else if (pick(0, 7) == 0) {
        x = std::ldexp(x, pick(-20, 20));
      }
      values.push_back(convert(x, semantics));
    }
    return *reference::fromAttribute(
        DenseElementsAttr::get(staticType, values));
  }
  unsigned width = element.getIntOrFloatBitWidth();
  SmallVector<APInt> values;
  for (int64_t k = 0; k != n; ++k) {
    int64_t x = pick(-9, 9);
    if (operand.range)
      x = pick(operand.range->first, operand.range->second);
    else if (pick(0, 3) == 0)
      x = pick(INT64_MIN, INT64_MAX);
    else if (pick(0, 7) == 0)
      x = pick(0, 1) ? llvm::minIntN(width) : llvm::maxIntN(width);
    values.emplace_back(width, x, /*isSigned=*/true, /*implicitTrunc=*/true);
  }
  return *reference::fromAttribute(DenseElementsAttr::get(staticType, values));
}

std::vector<reference::Tensor> Rules::arguments(const RuleProgram &instance,
                                                func::FuncOp function,
                                                int64_t extent) {
  std::vector<reference::Tensor> list;
  Operand symbol;
  for (auto [i, type] : llvm::enumerate(function.getFunctionType().getInputs()))
    list.push_back(
        random(i < instance.operands.size() ? instance.operands[i] : symbol,
               cast<RankedTensorType>(type), extent));
  return list;
}

/// The numbers of a tensor of floats.
std::vector<double> numbersOf(MLIRContext *context,
                              const reference::Tensor &tensor) {
  std::vector<double> numbers;
  DenseElementsAttr elements = reference::toAttribute(context, tensor);
  for (APFloat x : elements.getValues<APFloat>()) {
    bool loses;
    x.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &loses);
    numbers.push_back(x.convertToDouble());
  }
  return numbers;
}

std::string digits(double x) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.17g", x);
  return text;
}

/// The distance of the numbers of a float type next to `x`.
double ulpOf(double x, FloatType type) {
  const llvm::fltSemantics &semantics = type.getFloatSemantics();
  int least = APFloat::semanticsMinExponent(semantics);
  int exponent = x == 0 || !std::isfinite(x) ? least : std::ilogb(x);
  exponent = std::clamp(exponent, least,
                        int(APFloat::semanticsMaxExponent(semantics)));
  return std::ldexp(1.0, exponent - int(type.getFPMantissaWidth()) + 1);
}

/// Any NaN is NaN.
bool sameBits(double a, double b) {
  return std::isnan(a) ? std::isnan(b)
                       : a == b && std::signbit(a) == std::signbit(b);
}

bool sameBits(MLIRContext *context, const reference::Tensor &a,
              const reference::Tensor &b) {
  if (a.getDType() != b.getDType() || a.getShape() != b.getShape())
    return false;
  if (!isa<FloatType>(hlir::getElementType(context, a.getDType())))
    return std::memcmp(a.data(), b.data(), a.getNumBytes()) == 0;
  std::vector<double> x = numbersOf(context, a), y = numbersOf(context, b);
  return std::equal(x.begin(), x.end(), y.begin(),
                    [](double p, double q) { return sameBits(p, q); });
}

/// Whether `x` of a float type is within `ulps` and `slack` of a number.
bool isClose(double x, double exact, double ulps, double slack,
             FloatType type) {
  if (std::isnan(x) || std::isnan(exact))
    return std::isnan(x) && std::isnan(exact);
  if (x == exact)
    return true;
  double allowed = ulps * ulpOf(exact, type) + slack;
  if (std::isinf(x)) {
    // The type ends half an ulp after its largest number.
    double end =
        APFloat::getLargest(type.getFloatSemantics()).convertToDouble();
    return std::signbit(x) == std::signbit(exact) &&
           std::fabs(exact) + allowed >= end;
  }
  return std::fabs(x - exact) <= allowed;
}

//===----------------------------------------------------------------------===//
// Both sides
//===----------------------------------------------------------------------===//

/// One node, what it is compared with, and how.
struct Comparison {
  OpId op;
  uint32_t row;
  RuleId rule;
  double ulps; ///< negative: the same bits
  unsigned value, expected;
  /// `expected` computed in f32: how far the f64 may itself be off.
  unsigned rough;
  /// The operand whose digits are all that a spelling keeps.
  std::optional<unsigned> kept;
};

void Rules::check(const RuleProgram &instance, bool exactOnly) {
  OwningOpRef<ModuleOp> module = build(instance);
  auto function = *module->getOps<func::FuncOp>().begin();
  Program program(function, /*allowUnregistered=*/false);
  NativeBridge natives(program.ops, function);
  ASSERT_TRUE(succeeded(program.import(natives.scope())));
  FailureOr<std::vector<Rule>> rules = loader.compile(program.ops, natives);
  ASSERT_TRUE(succeeded(rules));
  for (const Rule &rule : *rules)
    claimed[rule.name] = {rule.dtypes.begin(), rule.dtypes.end()};

  EGraph &graph = program.graph;
  OpTable &ops = program.ops;
  std::vector<std::pair<ClassId, RuleId>> merged;
  graph.onMerge = [&](ClassId winner, ClassId, RuleId rule) {
    if (rule < rules->size())
      merged.push_back({winner, rule});
  };
  RunnerOptions options;
  if (exactOnly)
    options.maxUlps = -1;
  RunReport run = saturate(graph, *rules, natives.natives, options);
  ASSERT_EQ(run.stop, StopReason::Saturated)
      << instance.name << ": " << stopReasonName(run.stop);

  auto hold = [&](RuleId rule, Type type) {
    const Rule &r = (*rules)[rule];
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
    if (rule < rules->size()) {
      hold(rule, ops.type(graph.payloadType(table.payload(row))));
      for (uint32_t i = 0; i != table.arity(); ++i)
        hold(rule, ops.type(graph.classType(graph.find(table.key(row)[i]))));
    }
    if (nodes.isDefinition(op, row))
      return;
    if (exactOnly) {
      unsigned value = nodes.valueOfNode(op, row);
      unsigned expected = nodes.valueOfClass(table.classOf(row));
      comparisons.push_back({op, row, rule, -1, value, expected, 0, {}});
      return;
    }
    if (rule >= rules->size() ||
        (*rules)[rule].promise.kind != Promise::Rounding)
      return;
    auto exact = nodes.definitionOver(op, row, b.getF64Type());
    auto rough = nodes.definitionOver(op, row, b.getF32Type());
    if (!exact || !rough)
      return;
    Comparison c{op,
                 row,
                 rule,
                 (*rules)[rule].promise.ulps,
                 nodes.valueOfNode(op, row),
                 *exact,
                 *rough,
                 {}};
    // Spellings of gelu add 1 to a number next to -1.
    auto fn = ops.attributes(table.payload(row)).getAs<llir::FnAttr>("fn");
    if (fn && (fn.getValue() == Fn::Gelu || fn.getValue() == Fn::GeluTanh))
      c.kept = nodes.valueOfClass(table.key(row)[0]);
    comparisons.push_back(c);
  });

  unsigned failures = 0;
  for (int64_t extent : kExtents) {
    auto results = nodes.evaluate(arguments(instance, function, extent));
    ASSERT_TRUE(succeeded(results)) << instance.name;
    for (const Comparison &c : comparisons) {
      const reference::Tensor &value = (*results)[c.value];
      const reference::Tensor &expected = (*results)[c.expected];
      ASSERT_EQ(value.getShape(), expected.getShape());
      const Table &table = graph.table(c.op);
      Type element = getElementTypeOrSelf(
          ops.type(graph.payloadType(table.payload(c.row))));
      auto fail = [&](const Twine &is, const Twine &wanted) {
        if (++failures > 5)
          return;
        std::string attributes;
        llvm::raw_string_ostream(attributes)
            << ops.attributes(table.payload(c.row)) << " of " << element;
        ADD_FAILURE() << instance.name
                      << (exactOnly ? " (exact rules): " : ": ")
                      << ops.opName(c.op)->getStringRef().str() << attributes
                      << " by "
                      << (c.rule < rules->size() ? (*rules)[c.rule].name
                                                 : "the program")
                      << " is " << is.str() << ", the other side "
                      << wanted.str();
      };
      if (!isa<FloatType>(element)) {
        if (std::memcmp(value.data(), expected.data(), value.getNumBytes()))
          fail("an integer", "another");
        continue;
      }
      auto type = cast<FloatType>(element);
      std::vector<double> x = numbersOf(&context, value),
                          y = numbersOf(&context, expected), rough, kept;
      if (c.ulps >= 0)
        rough = numbersOf(&context, (*results)[c.rough]);
      if (c.kept)
        kept = numbersOf(&context, (*results)[*c.kept]);
      for (size_t k = 0; k != x.size(); ++k) {
        bool ok = sameBits(x[k], y[k]);
        if (c.ulps >= 0) {
          // What f32 loses, f64 loses 2^29 times less of; some bits always.
          double off = std::isfinite(rough[k]) ? std::fabs(rough[k] - y[k])
                                               : std::fabs(y[k]) * 0x1p-18;
          double slack = off * 0x1p-22 + std::fabs(y[k]) * 0x1p-47;
          if (c.kept)
            slack += std::fabs(kept[k]) * 0x1p-50;
          ok = isClose(x[k], y[k], c.ulps, slack, type);
        }
        if (!ok)
          fail(digits(x[k]), digits(y[k]));
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

/// Follows the chains of an explanation, and collects the rule applications in
/// them.
class Replay {
public:
  Replay(const Explanation &e, const Program &program, ArrayRef<Rule> rules)
      : e(e), program(program), rules(rules) {}

  /// Whether the chain leads from one term to the other.
  void checkChain(uint32_t chain, uint32_t from, uint32_t to) {
    if (!seen.insert({chain, from, to}).second)
      return;
    for (uint32_t step : e.chains[chain]) {
      const Explanation::Step &s = e.steps[step];
      ASSERT_EQ(s.from, from);
      from = s.to;
      if (s.rule != kNone) {
        ASSERT_LT(s.rule, rules.size());
        applied.insert(step);
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

  std::set<uint32_t> applied;

private:
  const Explanation &e;
  const Program &program;
  ArrayRef<Rule> rules;
  std::set<std::tuple<uint32_t, uint32_t, uint32_t>> seen;
};

unsigned Rules::replay(const RuleProgram &instance, bool exactOnly) {
  OwningOpRef<ModuleOp> module = build(instance);
  auto function = *module->getOps<func::FuncOp>().begin();
  Program program(function, /*allowUnregistered=*/false);
  program.keepProofs();
  NativeBridge natives(program.ops, function);
  if (failed(program.import(natives.scope()))) {
    ADD_FAILURE() << instance.name;
    return 0;
  }
  FailureOr<std::vector<Rule>> rules =
      loader.compile(program.ops, natives, /*explained=*/true);
  RunnerOptions options;
  if (exactOnly)
    options.maxUlps = -1;
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
  const Explanation &e = explainer.result;
  Replay check(e, program, *rules);
  for (Claim claim : claims)
    check.checkChain(claim.chain, claim.from, claim.to);

  // How far a rounding rule may be off is what the test below is about.
  NodeFunction nodes(program, function, literals);
  struct Sides {
    const Rule *rule;
    unsigned from, to;
  };
  std::vector<Sides> comparisons;
  for (uint32_t step : check.applied) {
    const Explanation::Step &s = e.steps[step];
    const Rule &rule = (*rules)[s.rule];
    if (rule.promise.kind != Promise::Rounding)
      comparisons.push_back(
          {&rule, nodes.valueOfTerm(e, s.from), nodes.valueOfTerm(e, s.to)});
  }
  auto results = nodes.evaluate(arguments(instance, function, kExtents[0]));
  if (failed(results)) {
    ADD_FAILURE() << instance.name;
    return 0;
  }
  for (const Sides &s : comparisons)
    EXPECT_TRUE(sameBits(&context, (*results)[s.from], (*results)[s.to]))
        << s.rule->name << " at " << s.rule->location;
  return check.applied.size();
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

TEST_F(Rules, EveryRuleIsTrueInEveryTypeThatItClaims) {
  for (const RuleProgram &instance : allRulePrograms()) {
    check(instance, /*exactOnly=*/true);
    check(instance, /*exactOnly=*/false);
    if (HasFatalFailure())
      return;
  }
  for (const auto &[rule, dtypes] : claimed) {
    EXPECT_FALSE(dtypes.empty()) << rule << " claims no element type";
    for (const std::string &dtype : dtypes)
      EXPECT_TRUE(held[rule].count(dtype))
          << "no program holds " << rule << " to its promise in " << dtype;
  }
}

} // namespace
