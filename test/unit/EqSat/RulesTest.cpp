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
#include "luminal/Dialect/HLIR/Utils/Composites.h"
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

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

/// An operand: extents in text form ("3", "s0"), and what values it gets.
struct Operand {
  std::vector<std::string> extents;
  std::string element;
  /// Integers in [lo, hi]; floats without bounds have all kinds of values.
  std::optional<std::pair<int64_t, int64_t>> range = std::nullopt;
};

using Build = std::function<Value(hlir::Composer &, ArrayRef<Value>)>;

struct Instance {
  std::string name;
  std::vector<Operand> operands;
  Build build;
  /// The functions of the elementwise ops that are left, where given; "softmax"
  /// and the like for other ops. Constants and views do not count.
  std::optional<std::vector<std::string>> left = std::nullopt;
};

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

  OwningOpRef<ModuleOp> build(const Instance &instance);
  /// Saturates; evaluates every node; then extracts.
  void check(const Instance &instance, bool exactOnly);
  void checkLeft(const Instance &instance, func::FuncOp function);
  Tensor random(const Operand &operand, Type type);

  MLIRContext context;
  std::mt19937 rng{7};
  std::set<std::string> fired, known;
};

OwningOpRef<ModuleOp> Rules::build(const Instance &instance) {
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

void Rules::check(const Instance &instance, bool exactOnly) {
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

void Rules::checkLeft(const Instance &instance, func::FuncOp function) {
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
// The programs
//===----------------------------------------------------------------------===//

using C = hlir::Composer;
using Vs = ArrayRef<Value>;

std::vector<Instance> scalarFunctions() {
  std::vector<Instance> list;
  struct Unary {
    const char *fn;
    Value (C::*method)(Value);
  };
  const Unary unary[] = {{"neg", &C::neg},
                         {"abs", &C::abs},
                         {"exp", &C::exp},
                         {"exp2", &C::exp2},
                         {"expm1", &C::expm1},
                         {"log", &C::log},
                         {"log2", &C::log2},
                         {"log1p", &C::log1p},
                         {"sin", &C::sin},
                         {"cos", &C::cos},
                         {"tanh", &C::tanh},
                         {"erf", &C::erf},
                         {"sqrt", &C::sqrt},
                         {"rsqrt", &C::rsqrt},
                         {"recip", &C::recip},
                         {"sigmoid", &C::sigmoid},
                         {"silu", &C::silu},
                         {"gelu", &C::gelu},
                         {"gelu_tanh", &C::geluTanh},
                         {"floor", &C::floor},
                         {"ceil", &C::ceil},
                         {"round", &C::round},
                         {"trunc", &C::trunc},
                         {"is_nan", &C::isNan},
                         {"max", &C::relu}};
  struct Binary {
    const char *fn;
    Value (C::*method)(Value, Value);
  };
  const Binary binary[] = {
      {"add", &C::add},           {"sub", &C::sub},
      {"mul", &C::mul},           {"div", &C::div},
      {"mod", &C::fmod},          {"max", &C::maximum},
      {"min", &C::minimum},       {"pow", &C::pow},
      {"less_than", &C::less},    {"less_equal", &C::lessEqual},
      {"equal", &C::equal},       {"floor_div", &C::floorDiv},
      {"floor_mod", &C::floorMod}};
  for (const char *type : {"f16", "bf16", "f32", "f64"}) {
    for (std::vector<std::string> shape :
         {std::vector<std::string>{"40"}, {"s0", "7"}}) {
      for (const Unary &u : unary)
        list.push_back({std::string(u.fn) + " of " + type,
                        {{shape, type}},
                        [=](C &c, Vs v) { return (c.*u.method)(v[0]); },
                        {{u.fn}}});
      for (const Binary &b : binary)
        list.push_back({std::string(b.fn) + " of " + type,
                        {{shape, type}, {shape, type}},
                        [=](C &c, Vs v) { return (c.*b.method)(v[0], v[1]); },
                        {{b.fn}}});
    }
    list.push_back({std::string("trunc_div of ") + type,
                    {{{"40"}, type}, {{"40"}, type}},
                    [](C &c, Vs v) { return c.truncDiv(v[0], v[1]); },
                    {{"div", "trunc"}}});
    for (double n : {0.25, 2.0, 5.0, -3.0})
      list.push_back({"pow " + std::to_string(n) + " of " + type,
                      {{{"40"}, type}},
                      [=](C &c, Vs v) { return c.powScalar(v[0], n); },
                      {{n == 2 ? "mul" : "pow"}}});
  }
  const Binary integer[] = {
      {"sub", &C::sub},           {"div", &C::truncDiv},
      {"mod", &C::fmod},          {"max", &C::maximum},
      {"min", &C::minimum},       {"less_equal", &C::lessEqual},
      {"equal", &C::equal},       {"floor_div", &C::floorDiv},
      {"floor_mod", &C::floorMod}};
  for (const char *type : {"i32", "i64"}) {
    for (const Binary &b : integer)
      list.push_back({std::string(b.fn) + " of " + type,
                      {{{"200"}, type}, {{"200"}, type}},
                      [=](C &c, Vs v) { return (c.*b.method)(v[0], v[1]); },
                      {{b.fn}}});
    list.push_back({std::string("abs of ") + type,
                    {{{"20"}, type}},
                    [](C &c, Vs v) { return c.abs(v[0]); },
                    {{"abs"}}});
    list.push_back({std::string("x + 0 of ") + type,
                    {{{"20"}, type}},
                    [](C &c, Vs v) { return c.add(v[0], c.splatInt(v[0], 0)); },
                    {{}}});
  }
  const Binary logic[] = {{"mul", &C::logicalAnd},
                          {"or", &C::logicalOr},
                          {"equal", &C::equal},
                          {"less_equal", &C::lessEqual}};
  for (const Binary &b : logic)
    list.push_back({std::string(b.fn) + " of i1",
                    {{{"20"}, "i1"}, {{"20"}, "i1"}},
                    [=](C &c, Vs v) { return (c.*b.method)(v[0], v[1]); },
                    {{b.fn}}});
  list.push_back({"not of i1",
                  {{{"20"}, "i1"}},
                  [](C &c, Vs v) { return c.logicalNot(v[0]); },
                  {{"not"}}});
  return list;
}

/// As models spell them, in the type at hand.
std::vector<Instance> modelSpellings() {
  std::vector<Instance> list;
  auto unary = [&](const char *name, Build build,
                   std::vector<std::string> left) {
    list.push_back(
        {name, {{{"40"}, "f32"}}, std::move(build), std::move(left)});
  };
  auto half = [](C &c, Value x) { return c.mul(x, c.splat(x, 0.5)); };
  auto onePlus = [](C &c, Value x) { return c.add(x, c.splat(x, 1)); };
  auto erfOf = [=](C &c, Value x) {
    return onePlus(c, c.erf(c.mul(x, c.splat(x, std::sqrt(0.5)))));
  };
  auto erfOfQuotient = [=](C &c, Value x) {
    return onePlus(c, c.erf(c.div(x, c.splat(x, std::sqrt(2.0)))));
  };
  auto tanhOf = [=](C &c, Value x) {
    Value cube = c.mul(c.powScalar(x, 3), c.splat(x, 0.044715));
    Value inner = c.mul(c.add(x, cube), c.splat(x, std::sqrt(2 / M_PI)));
    return onePlus(c, c.tanh(inner));
  };
  unary("silu of f32 by sigmoid",
        [](C &c, Vs v) { return c.mul(v[0], c.sigmoid(v[0])); }, {"silu"});
  unary("gelu of f32, half first",
        [=](C &c, Vs v) { return c.mul(half(c, v[0]), erfOf(c, v[0])); },
        {"gelu"});
  unary("gelu of f32, half last",
        [=](C &c, Vs v) { return half(c, c.mul(v[0], erfOf(c, v[0]))); },
        {"gelu"});
  unary(
      "gelu of f32 by division, half first",
      [=](C &c, Vs v) { return c.mul(half(c, v[0]), erfOfQuotient(c, v[0])); },
      {"gelu"});
  unary(
      "gelu of f32 by division, half last",
      [=](C &c, Vs v) { return half(c, c.mul(v[0], erfOfQuotient(c, v[0]))); },
      {"gelu"});
  unary("gelu_tanh of f32, half first",
        [=](C &c, Vs v) { return c.mul(half(c, v[0]), tanhOf(c, v[0])); },
        {"gelu_tanh"});
  unary("gelu_tanh of f32, half last",
        [=](C &c, Vs v) { return half(c, c.mul(v[0], tanhOf(c, v[0]))); },
        {"gelu_tanh"});
  unary("clamp of f32",
        [](C &c, Vs v) {
          Value low = c.splat(v[0], -1), high = c.splat(v[0], 2);
          Value x = c.select(c.less(v[0], low), low, v[0]);
          return c.select(c.less(high, x), high, x);
        },
        {"max", "min"});
  unary("x * 1 of f32",
        [](C &c, Vs v) { return c.mul(v[0], c.splat(v[0], 1)); }, {});
  unary("x - 0 of f32",
        [](C &c, Vs v) { return c.sub(v[0], c.splat(v[0], 0)); }, {});
  unary("-(-x) of f32", [](C &c, Vs v) { return c.neg(c.neg(v[0])); }, {});
  unary("a select of one thing",
        [](C &c, Vs v) {
          return c.select(c.less(v[0], c.splat(v[0], 1)), v[0], v[0]);
        },
        {});
  unary("casts there and back",
        [](C &c, Vs v) {
          MLIRContext *ctx = v[0].getContext();
          Value wide = c.cast(v[0], Float64Type::get(ctx));
          return c.cast(wide, Float32Type::get(ctx));
        },
        {});
  unary("constants fold",
        [](C &c, Vs v) {
          Type f64 = Float64Type::get(v[0].getContext()),
               f32 = Float32Type::get(v[0].getContext());
          Value k = c.recip(c.splat(v[0], 3, f64));
          k = c.add(c.mul(k, k), k);
          return c.add(v[0], c.cast(k, f32));
        },
        {"add"});
  list.push_back({"casts of casts",
                  {{{"40"}, "f16"}},
                  [](C &c, Vs v) {
                    MLIRContext *ctx = v[0].getContext();
                    return c.cast(c.cast(v[0], Float32Type::get(ctx)),
                                  Float64Type::get(ctx));
                  },
                  {{"cast"}}});
  auto wide = [&](const char *name, Value (*fn)(C &, Value, Value),
                  const char *left) {
    list.push_back({name,
                    {{{"40"}, "f32"}, {{"40"}, "f32"}},
                    [=](C &c, Vs v) {
                      MLIRContext *ctx = v[0].getContext();
                      Type f64 = Float64Type::get(ctx);
                      Value y = fn(c, c.cast(v[0], f64), c.cast(v[1], f64));
                      return c.cast(y, Float32Type::get(ctx));
                    },
                    {{left}}});
  };
  wide(
      "a wide maximum", [](C &c, Value a, Value b) { return c.maximum(a, b); },
      "max");
  wide("a wide sum", [](C &c, Value a, Value b) { return c.add(a, b); }, "add");
  wide("a wide root", [](C &c, Value a, Value) { return c.sqrt(a); }, "sqrt");
  wide(
      "a wide magnitude", [](C &c, Value a, Value) { return c.abs(a); }, "abs");
  list.push_back({"a wide comparison and select",
                  {{{"40"}, "f32"}, {{"40"}, "f32"}},
                  [](C &c, Vs v) {
                    MLIRContext *ctx = v[0].getContext();
                    Type f64 = Float64Type::get(ctx),
                         f32 = Float32Type::get(ctx);
                    Value a = c.cast(v[0], f64), b = c.cast(v[1], f64);
                    return c.cast(c.select(c.less(a, b), a, b), f32);
                  },
                  {{"less_than", "select"}}});
  return list;
}

std::vector<Instance> tensorFunctions() {
  std::vector<Instance> list;
  std::pair<int64_t, int64_t> tame{-4, 4};
  for (const char *type : {"f16", "bf16", "f32", "f64"}) {
    for (const char *rows : {"4", "s0"}) {
      Operand x{{rows, "9"}, type, tame};
      list.push_back({std::string("softmax of ") + type,
                      {x},
                      [](C &c, Vs v) { return c.softmax(v[0], 1); },
                      {{"softmax"}}});
      list.push_back({std::string("layer_norm of ") + type,
                      {x},
                      [](C &c, Vs v) { return c.layerNorm(v[0], 1e-5); },
                      {{"layer_norm"}}});
      list.push_back({std::string("rms_norm of ") + type,
                      {x},
                      [](C &c, Vs v) { return c.rmsNorm(v[0], 1e-6); },
                      {{"rms_norm"}}});
      list.push_back({std::string("linear of ") + type,
                      {x, {{"5", "9"}, type, tame}},
                      [](C &c, Vs v) { return c.linear(v[0], v[1]); },
                      {{"gemm"}}});
      list.push_back(
          {std::string("matmul of ") + type,
           {{{"2", rows, "9"}, type, tame}, {{"2", "9", "5"}, type, tame}},
           [](C &c, Vs v) { return c.matmul(v[0], v[1]); },
           {{"gemm"}}});
    }
  }
  // Means that keep the dim, as models write them; the row length is a symbol.
  auto variance = [](C &c, Value x, unsigned axis) {
    return c.mean(c.mul(x, x), {axis}, true);
  };
  auto normalise = [=](C &c, Value x, double eps) {
    unsigned last = hlir::getExtents(x).size() - 1;
    Value v = variance(c, x, last);
    Value scale = c.rsqrt(c.add(v, c.splat(v, eps)));
    SmallVector<Expr> extents = hlir::getExtents(x);
    return c.mul(x, c.broadcastTo(scale, extents));
  };
  for (std::vector<std::string> shape :
       {std::vector<std::string>{"2", "3", "8"},
        {"2", "s0"},
        {"s0", "3 * s0"}}) {
    Operand x{shape, "f32", tame};
    list.push_back({"rms_norm that keeps dims",
                    {x},
                    [=](C &c, Vs v) { return normalise(c, v[0], 1e-6); },
                    {{"rms_norm"}}});
    list.push_back({"layer_norm that keeps dims",
                    {x},
                    [=](C &c, Vs v) {
                      SmallVector<Expr> extents = hlir::getExtents(v[0]);
                      unsigned last = extents.size() - 1;
                      Value mean = c.mean(v[0], {last}, true);
                      return normalise(
                          c, c.sub(v[0], c.broadcastTo(mean, extents)), 1e-5);
                    },
                    {{"layer_norm"}}});
    list.push_back({"softmax that keeps dims",
                    {x},
                    [=](C &c, Vs v) {
                      SmallVector<Expr> extents = hlir::getExtents(v[0]);
                      unsigned last = extents.size() - 1;
                      Value top = c.reduceMax(v[0], {last}, true);
                      Value e = c.exp(c.sub(v[0], c.broadcastTo(top, extents)));
                      return c.div(
                          e,
                          c.broadcastTo(c.reduceSum(e, {last}, true), extents));
                    },
                    {{"softmax"}}});
  }
  return list;
}

std::vector<Instance> structure() {
  std::vector<Instance> list;
  std::pair<int64_t, int64_t> tame{-4, 4};
  Operand x{{"4", "6"}, "f32", tame};
  list.push_back({"views of views",
                  {x},
                  [](C &c, Vs v) {
                    Value t = c.permute(v[0], {1, 0});
                    return c.permute(c.reshape(t, {Expr(6), Expr(2), Expr(2)}),
                                     {1, 2, 0});
                  },
                  {{}}});
  list.push_back(
      {"a permutation and its inverse",
       {x},
       [](C &c, Vs v) { return c.permute(c.permute(v[0], {1, 0}), {1, 0}); },
       {{}}});
  list.push_back({"a view of an index",
                  {},
                  [](C &c, Vs) {
                    Value i = c.iota({Expr(4), Expr(6)},
                                     Expr::dim(0) * Expr(6) + Expr::dim(1));
                    return c.permute(i, {1, 0});
                  },
                  {{"iota"}}});
  Operand y{{"4", "6"}, "f32", {{1, 4}}};
  list.push_back({"arithmetic after views",
                  {y, y},
                  [](C &c, Vs v) {
                    Value a = c.permute(v[0], {1, 0});
                    Value b = c.permute(v[1], {1, 0});
                    Value sum = c.add(c.mul(a, b), c.splat(a, 3));
                    return c.fmod(c.splat(a, 2), c.add(sum, b));
                  },
                  {{"mul", "add", "add", "mod"}}});
  for (Value (C::*method)(Value) :
       {&C::log2, &C::exp2, &C::sin, &C::sqrt, &C::recip, &C::tanh})
    list.push_back(
        {"a function after a view",
         {y},
         [=](C &c, Vs v) { return (c.*method)(c.permute(v[0], {1, 0})); },
         std::nullopt});
  list.push_back({"a cast after a view",
                  {y},
                  [=](C &c, Vs v) {
                    Type f64 = Float64Type::get(v[0].getContext());
                    return c.cast(c.permute(v[0], {1, 0}), f64);
                  },
                  {{"cast"}}});
  list.push_back(
      {"a view that drops elements stays before the function",
       {y},
       [=](C &c, Vs v) { return c.sin(c.slice(v[0], 1, Expr(2), Expr(3))); },
       {{"sin"}}});
  list.push_back({"a product by one whole operand",
                  {{{"50", "8"}, "f32", tame}, {{"8"}, "f32", tame}},
                  [](C &c, Vs v) {
                    SmallVector<Expr> extents = hlir::getExtents(v[0]);
                    return c.reduceSum(
                        c.mul(v[0], c.broadcastTo(v[1], extents)), {1}, false);
                  },
                  {{"gemm"}}});
  list.push_back(
      {"a sum of squares is no gemm",
       {x},
       [](C &c, Vs v) { return c.reduceSum(c.mul(v[0], v[0]), {1}, false); },
       {{"mul", "reduce"}}});
  list.push_back(
      {"an attention of grouped queries",
       {{{"2", "4", "3", "8"}, "f32", tame},
        {{"2", "2", "5", "8"}, "f32", tame}},
       [](C &c, Vs v) {
         // Two queries a key head: the keys are repeated, then transposed.
         Value k =
             c.view(v[1], {Expr(2), Expr(2), Expr(2), Expr(5), Expr(8)},
                    {Expr::dim(0), Expr::dim(1), Expr::dim(3), Expr::dim(4)});
         k = c.reshape(k, {Expr(2), Expr(4), Expr(5), Expr(8)});
         return c.matmul(v[0], c.permute(k, {0, 1, 3, 2}));
       },
       {{"gemm"}}});
  list.push_back({"maximum along an inner axis",
                  {x},
                  [](C &c, Vs v) { return c.reduceMax(v[0], {0}, true); },
                  {{"reduce"}}});
  list.push_back({"minimum of integers",
                  {{{"4", "6"}, "i64"}},
                  [](C &c, Vs v) { return c.reduceMin(v[0], {1}, false); },
                  std::nullopt});
  for (const char *type : {"f32", "i64"}) {
    Operand data{{"10", "3"}, type, tame}, updates{{"4", "3"}, type, tame};
    Operand indices{{"4"}, "i64", {{0, 9}}};
    list.push_back({"rows by index",
                    {data, indices},
                    [](C &c, Vs v) { return c.gather(v[0], v[1]); },
                    {{"gather"}}});
    list.push_back({"rows by known index",
                    {data},
                    [](C &c, Vs v) {
                      return c.gather(
                          v[0], c.iota({Expr::symbol("s0")}, Expr::dim(0) + 2));
                    },
                    {{"iota", "gather"}}});
    for (hlir::Combine combine :
         {hlir::Combine::Set, hlir::Combine::Add, hlir::Combine::Max})
      list.push_back(
          {"rows updated by index",
           {data, indices, updates},
           [=](C &c, Vs v) { return c.scatter(combine, v[0], v[1], v[2]); },
           {{"scatter"}}});
    list.push_back({"rows updated by known index",
                    {data, updates},
                    [](C &c, Vs v) {
                      return c.scatter(
                          hlir::Combine::Set, v[0],
                          c.iota({Expr(4)}, Expr::dim(0) * Expr(2)), v[1]);
                    },
                    {{"iota", "scatter"}}});
  }
  return list;
}

std::vector<Instance> allInstances() {
  std::vector<Instance> list = scalarFunctions();
  for (auto more : {modelSpellings, tensorFunctions, structure})
    llvm::append_range(list, more());
  return list;
}

TEST_F(Rules, EveryRuleFiresAndIsTrue) {
  for (const Instance &instance : allInstances()) {
    check(instance, /*exactOnly=*/true);
    check(instance, /*exactOnly=*/false);
    if (HasFatalFailure())
      return;
  }
  for (const std::string &rule : known)
    EXPECT_TRUE(fired.count(rule)) << "no program makes '" << rule << "' fire";
}

} // namespace
