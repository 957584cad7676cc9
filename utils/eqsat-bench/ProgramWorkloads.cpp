//===- ProgramWorkloads.cpp - The engine behind PDL rules -----------------===//

#include "Program.h"
#include "RuleLoader.h"
#include "Workloads.h"
#include "luminal/EqSat/Matcher.h"
#include "luminal/EqSat/Passes.h"
#include "luminal/InitAll.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace luminal::eqsat;
using namespace luminal::eqsat::bench;

static std::unique_ptr<MLIRContext> makeContext() {
  DialectRegistry registry;
  luminal::registerAllDialects(registry);
  auto context =
      std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  context->allowUnregisteredDialects();
  context->loadAllAvailableDialects();
  return context;
}

static constexpr const char *kAssociate = R"mlir(
pdl.pattern @BenchAssociate : benefit(0) {
  %t = pdl.type
  %a = pdl.operand
  %b = pdl.operand
  %c = pdl.operand
  %inner = pdl.operation "bench.add"(%b, %c : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  %bc = pdl.result 0 of %inner
  %root = pdl.operation "bench.add"(%a, %bc : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %root {
    %ab = pdl.operation "bench.add"(%a, %b : !pdl.value, !pdl.value) -> (%t : !pdl.type)
    %abv = pdl.result 0 of %ab
    %abc = pdl.operation "bench.add"(%abv, %c : !pdl.value, !pdl.value) -> (%t : !pdl.type)
    pdl.replace %root with %abc
  }
}
pdl.pattern @BenchCommute : benefit(0) {
  %t = pdl.type
  %a = pdl.operand
  %b = pdl.operand
  %root = pdl.operation "bench.add"(%a, %b : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %root {
    %ba = pdl.operation "bench.add"(%b, %a : !pdl.value, !pdl.value) -> (%t : !pdl.type)
    pdl.replace %root with %ba
  }
})mlir";

static constexpr const char *kProducts = R"mlir(
pdl.pattern @BenchLeft : benefit(0) {
  %t = pdl.type
  %u = pdl.type
  %a = pdl.operand
  %b = pdl.operand
  %c = pdl.operand
  %inner = pdl.operation "bench.matmul"(%b, %c : !pdl.value, !pdl.value) -> (%u : !pdl.type)
  %bc = pdl.result 0 of %inner
  %root = pdl.operation "bench.matmul"(%a, %bc : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %root {
    %v = pdl.apply_native_rewrite "BenchProduct"(%a, %b : !pdl.value, !pdl.value) : !pdl.type
    %ab = pdl.operation "bench.matmul"(%a, %b : !pdl.value, !pdl.value) -> (%v : !pdl.type)
    %abv = pdl.result 0 of %ab
    %abc = pdl.operation "bench.matmul"(%abv, %c : !pdl.value, !pdl.value) -> (%t : !pdl.type)
    pdl.replace %root with %abc
  }
}
pdl.pattern @BenchRight : benefit(0) {
  %t = pdl.type
  %u = pdl.type
  %a = pdl.operand
  %b = pdl.operand
  %c = pdl.operand
  %inner = pdl.operation "bench.matmul"(%a, %b : !pdl.value, !pdl.value) -> (%u : !pdl.type)
  %ab = pdl.result 0 of %inner
  %root = pdl.operation "bench.matmul"(%ab, %c : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %root {
    %v = pdl.apply_native_rewrite "BenchProduct"(%b, %c : !pdl.value, !pdl.value) : !pdl.type
    %bc = pdl.operation "bench.matmul"(%b, %c : !pdl.value, !pdl.value) -> (%v : !pdl.type)
    %bcv = pdl.result 0 of %bc
    %abc = pdl.operation "bench.matmul"(%a, %bcv : !pdl.value, !pdl.value) -> (%t : !pdl.type)
    pdl.replace %root with %abc
  }
})mlir";

static RankedTensorType productType(Type a, Type b) {
  auto l = cast<RankedTensorType>(a), r = cast<RankedTensorType>(b);
  return RankedTensorType::get({l.getDimSize(0), r.getDimSize(1)},
                               l.getElementType());
}

/// m * k * n of each product.
class ProductCost : public CostModel {
  double cost(const NodeView &node) override {
    auto l = cast<RankedTensorType>(node.operandTypes[0]);
    auto r = cast<RankedTensorType>(node.operandTypes[1]);
    return double(l.getDimSize(0)) * l.getDimSize(1) * r.getDimSize(1);
  }
};

static void registerBenchmarks() {
  static bool done = [] {
    registerRuleSet("bench-sum", [](RuleSetBuilder &set) {
      set.patterns().add(PDLPatternModule(parseSourceString<ModuleOp>(
          kAssociate, set.patterns().getContext())));
      set.rules({{"BenchAssociate", Promise::exact()},
                 {"BenchCommute", Promise::exact()}});
    });
    registerRuleSet("bench-products", [](RuleSetBuilder &set) {
      set.patterns().add(PDLPatternModule(
          parseSourceString<ModuleOp>(kProducts, set.patterns().getContext())));
      set.rewrite("BenchProduct", [](MatchContext &c, NativeArgs args,
                                     NativeResults &results) {
        results.push_back(NativeValue(productType(
            c.typeOf(args[0].asClass()), c.typeOf(args[1].asClass()))));
        return true;
      });
      set.rules(
          {{"BenchLeft", Promise::exact()}, {"BenchRight", Promise::exact()}});
    });
    registerCostModel("bench-products", [](Operation *) {
      return std::make_unique<ProductCost>();
    });
    return true;
  }();
  (void)done;
}

/// func.func @f of `op` over `args`, from the right.
static std::string nest(StringRef op, ArrayRef<std::string> types,
                        llvm::function_ref<std::string(unsigned)> typeFrom) {
  std::string text = "func.func @f(";
  llvm::raw_string_ostream os(text);
  for (unsigned i = 0; i != types.size(); ++i)
    os << (i ? ", " : "") << "%a" << i << ": " << types[i];
  os << ") -> " << typeFrom(0) << " {\n";
  unsigned n = types.size();
  for (unsigned i = n - 1; i-- != 0;) {
    os << "  %t" << i << " = \"" << op << "\"(%a" << i << ", ";
    if (i + 2 == n)
      os << "%a" << n - 1;
    else
      os << "%t" << i + 1;
    os << ") : (" << types[i] << ", "
       << (i + 2 == n ? types[n - 1] : typeFrom(i + 1)) << ") -> "
       << typeFrom(i) << "\n";
  }
  os << "  return %t0 : " << typeFrom(0) << "\n}\n";
  return text;
}

namespace {
/// Counts matches and forgets them.
struct Counter final : MatchSink {
  explicit Counter(MatchBuffer &buffer) : buffer(buffer) {}
  void full(RuleId) override {
    count += buffer.size;
    buffer.size = 0;
  }
  bool between() override { return true; }
  MatchBuffer &buffer;
  uint64_t count = 0;
};
} // namespace

Row luminal::eqsat::bench::runMatchRate() {
  registerBenchmarks();
  auto context = makeContext();
  std::string text = nest("bench.add", std::vector<std::string>(10, "f32"),
                          [](unsigned) { return std::string("f32"); });
  auto module = parseSourceString<ModuleOp>(text, context.get());
  auto function = *module->getOps<func::FuncOp>().begin();
  RuleLoader loader;
  std::string sets[] = {"bench-sum"};
  if (failed(loader.loadSets(module->getLoc(), sets, false)))
    return {};
  Program program(function, /*allowUnregistered=*/true);
  NativeBridge natives(program.ops, function);
  if (failed(program.import(natives.scope())))
    return {};
  auto rules = loader.compile(program.ops, natives);
  if (failed(rules))
    return {};
  saturate(program.graph, *rules, natives.natives, unlimited());
  std::span<const Rule> one(rules->data(), 1);
  Matcher matcher(one, natives.natives);
  Matcher::Query query;
  double best = 1e9;
  uint64_t matches = 0;
  for (unsigned repeat = 0; repeat != 7; ++repeat) {
    MatchBuffer buffer(one[0].stored, one[0].numStored());
    Counter counter(buffer);
    double start = now();
    matcher.run(program.graph, {&query, 1}, {&buffer, 1}, counter);
    counter.full(0);
    best = std::min(best, now() - start);
    matches = counter.count;
  }
  Row row{"a + (b + c) from PDL", best * 1e3, 874500 / 50e6 * 1e3};
  row.note = llvm::formatv("{0:F1} M matches/s (goal 50)",
                           double(matches) / best / 1e6);
  if (matches != 874500)
    row.note = "WRONG number of matches; " + row.note;
  return row;
}

Row luminal::eqsat::bench::runChainFromText(unsigned n, double goal) {
  registerBenchmarks();
  auto tensor = [](unsigned rows, unsigned columns) {
    return llvm::formatv("tensor<{0}x{1}xf32>", kDims[rows], kDims[columns])
        .str();
  };
  std::vector<std::string> types;
  for (unsigned i = 0; i != n; ++i)
    types.push_back(tensor(i, i + 1));
  std::string text =
      nest("bench.matmul", types, [&](unsigned i) { return tensor(i, n); });

  double start = now();
  auto context = makeContext();
  auto module = parseSourceString<ModuleOp>(text, context.get());
  SaturatePassOptions options;
  options.ruleSets = {"bench-products"};
  options.cost = "bench-products";
  options.allowUnregistered = true;
  options.maxIterations = ~0u;
  options.maxNodes = options.maxBytes = ~uint64_t(0);
  options.maxSeconds = 1e9;
  options.matchLimit = 0;
  PassManager pm(context.get());
  pm.addPass(createSaturatePass(options));
  Row row{"chain of " + std::to_string(n) + ", text to text", 0, goal};
  if (failed(pm.run(*module))) {
    row.note = "WRONG: the pass failed";
    return row;
  }
  std::string printed;
  llvm::raw_string_ostream os(printed);
  module->print(os);
  row.milliseconds = (now() - start) * 1e3;

  double cost = 0;
  ProductCost model;
  module->walk([&](Operation *op) {
    if (op->getName().getStringRef() != "bench.matmul")
      return;
    auto l = cast<RankedTensorType>(op->getOperand(0).getType());
    auto r = cast<RankedTensorType>(op->getOperand(1).getType());
    cost += double(l.getDimSize(0)) * l.getDimSize(1) * r.getDimSize(1);
  });
  for (const Chain &chain : kChains)
    if (chain.matrices == n && cost != double(chain.bestCost))
      row.note = "WRONG cost";
  return row;
}

std::vector<Row> luminal::eqsat::bench::runModel(const std::string &path) {
  auto context = makeContext();
  std::string name = llvm::sys::path::filename(path).str();
  auto module = parseSourceFile<ModuleOp>(path, context.get());
  if (!module)
    return {{name, 0, 0, 0, 0, "WRONG: it cannot be read"}};
  RuleLoader loader;
  std::vector<std::string> sets;
  for (StringRef s : registeredRuleSets())
    if (!s.starts_with("bench-"))
      sets.push_back(s.str());
  if (failed(loader.loadSets(module->getLoc(), sets, false)))
    return {{name, 0, 0, 0, 0, "WRONG: its rules cannot be loaded"}};
  const CostModelFactory *cost = lookupCostModel("static");
  if (!cost)
    cost = lookupCostModel("unit");

  std::vector<Row> rows;
  for (auto function : module->getOps<func::FuncOp>()) {
    if (function.isDeclaration())
      continue;
    double start = now();
    Program program(function, /*allowUnregistered=*/false);
    NativeBridge natives(program.ops, function);
    if (failed(program.import(natives.scope())))
      return {{name, 0, 0, 0, 0, "WRONG: it does not enter the e-graph"}};
    double built = now();
    uint64_t given = program.graph.numNodes();
    auto rules = loader.compile(program.ops, natives);
    if (failed(rules))
      return {{name, 0, 0, 0, 0, "WRONG: its rules cannot be compiled"}};
    double compiled = now();
    RunnerOptions options;
    options.staged = true;
    options.matchLimit = 20000;
    RunReport report =
        saturate(program.graph, *rules, natives.natives, options);
    double saturated = now();
    Row build{name + ": build", (built - start) * 1e3};
    build.note = llvm::formatv("{0} nodes, {1:F2} M nodes/s", given,
                               given / (built - start) / 1e6);
    Row rulesRow{name + ": compile rules", (compiled - built) * 1e3};
    rulesRow.note = llvm::formatv("{0} rules", rules->size());
    Row run{name + ": saturate", (saturated - compiled) * 1e3, 250,
            megabytesOf(report)};
    run.note = llvm::formatv(
        "{0}; {1} nodes (goal 200000) in {2} rounds, {3:F2} ms a round",
        stopReasonName(report.stop), report.nodes, report.iterations.size(),
        report.seconds / report.iterations.size() * 1e3);
    std::unique_ptr<CostModel> model = (*cost)(natives.scope());
    auto extracted = program.extract(*model);
    Row extract{name + ": extract", (now() - saturated) * 1e3};
    if (succeeded(extracted))
      extract.note = llvm::formatv("{0} ops, {1:F2} M nodes/s", extracted->ops,
                                   report.nodes / (now() - saturated) / 1e6);
    else
      extract.note = "no program of finite price";
    for (Row *row : {&build, &rulesRow, &run, &extract})
      rows.push_back(std::move(*row));
  }
  return rows;
}
