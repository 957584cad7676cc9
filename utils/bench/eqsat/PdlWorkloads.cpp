//===- PdlWorkloads.cpp - The engine behind PDL rules ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Patterns/RuleLoader.h"
#include "Program/Program.h"
#include "Workloads.h"
#include "luminal/EqSat/Core/Matcher.h"
#include "luminal/EqSat/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace luminal::eqsat;
using namespace luminal::eqsat::bench;

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
    registerCostModel("bench-products",
                      [](Operation *, const luminal::MachineModel &) {
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

void luminal::eqsat::bench::runMatchRate(Figures &figures) {
  figures.workload("a + (b + c) from PDL");
  registerBenchmarks();
  auto context = makeContext();
  std::string text = nest("bench.add", std::vector<std::string>(10, "f32"),
                          [](unsigned) { return std::string("f32"); });
  auto module = parseSourceString<ModuleOp>(text, context.get());
  auto function = *module->getOps<func::FuncOp>().begin();
  RuleLoader loader;
  std::string sets[] = {"bench-sum"};
  if (failed(loader.loadSets(module->getLoc(), sets, false)))
    return figures.fail("its rules cannot be loaded");
  Program program(function, /*allowUnregistered=*/true);
  NativeBridge natives(program.ops, function);
  if (failed(program.import(natives.scope())))
    return figures.fail("it does not enter the e-graph");
  auto rules = loader.compile(program.ops, natives);
  if (failed(rules))
    return figures.fail("its rules cannot be compiled");
  saturate(program.graph, *rules, unlimited());
  std::span<const Rule> one(rules->all.data(), 1);
  Matcher matcher(one, natives.natives);
  Matcher::Query query;
  MatchBuffer buffer(one[0].stored, one[0].numStored());
  uint64_t matches = 0;
  double seconds = 1e300;
  for (unsigned repeat = 0; repeat != 3; ++repeat)
    seconds = std::min(seconds, figures.time([&] {
      Counter counter(buffer);
      matcher.run(program.graph, {&query, 1}, {&buffer, 1}, counter);
      counter.full(0);
      matches = counter.count;
    }));
  figures.add("matches", double(matches), "", Goal::exactly(874500));
  figures.add("rate", double(matches) / seconds / 1e6, "M/s", Goal::rate(50));
}

void luminal::eqsat::bench::runChainFromText(Figures &figures) {
  const Chain &chain = kChains[std::size(kChains) - 1];
  unsigned n = chain.matrices;
  figures.workload("chain of " + std::to_string(n) + ", as text");
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

  double cost = 0, megabytes = 0;
  bool ran = false;
  double seconds = figures.time([&] {
    MemoryMeter meter;
    auto context = makeContext();
    auto module = parseSourceString<ModuleOp>(text, context.get());
    SaturatePassOptions options;
    options.ruleSets = {"bench-products"};
    options.cost = "bench-products";
    options.allowUnregistered = true;
    Limits limits;
    limits.maxIterations = ~0u;
    limits.maxNodes = limits.maxBytes = ~uint64_t(0);
    limits.matchLimit = 0;
    PassManager pm(context.get());
    pm.addPass(createSaturatePass(options, limits));
    ran = succeeded(pm.run(*module));
    std::string printed;
    llvm::raw_string_ostream os(printed);
    module->print(os);
    megabytes = meter.megabytes();
    cost = 0;
    module->walk([&](Operation *op) {
      if (op->getName().getStringRef() != "bench.matmul")
        return;
      auto l = cast<RankedTensorType>(op->getOperand(0).getType());
      auto r = cast<RankedTensorType>(op->getOperand(1).getType());
      cost += double(l.getDimSize(0)) * l.getDimSize(1) * r.getDimSize(1);
    });
  });
  if (!ran)
    return figures.fail("the pass failed");
  figures.add("cost of the program", cost, "",
              Goal::exactly(double(chain.bestCost)));
  figures.add("text to text", seconds * 1e3, "ms", Goal::milliseconds(10000));
  figures.add("memory", megabytes, "MB", Goal::atMost(300));
}
