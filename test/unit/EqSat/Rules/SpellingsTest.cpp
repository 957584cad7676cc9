//===- SpellingsTest.cpp - Equal types that are written differently -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random programs whose values are made equal across spellings of their
// extents, in the body of a repeat and outside, with dims that are symbolic in
// one spelling and static in another. Every extracted program verifies, keeps
// the type of each result and computes the same bits.
//
//===----------------------------------------------------------------------===//

#include "Patterns/NativeBridge.h"
#include "Patterns/RuleLoader.h"
#include "Program/Program.h"
#include "Rounds.h"
#include "luminal/Dialect/LLIR/IR/LLIR.h"
#include "luminal/EqSat/Core/Runner.h"
#include "luminal/EqSat/Rules/Rules.h"
#include "luminal/Reference/Interpreter.h"
#include "mlir/Dialect/PDL/IR/PDL.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <cstring>
#include <random>

using namespace mlir;
using namespace luminal;
using namespace luminal::eqsat;

namespace {

/// "same" equals its operand, whatever its type; "twice" is a sum that is made
/// with the type of the root.
constexpr const char *kRules = R"mlir(
  pdl.pattern @Same : benefit(0) attributes {eqsat.promise = "exact"} {
    %t = pdl.type
    %x = pdl.operand
    %name = pdl.attribute = "same"
    %root = pdl.operation "hlir.custom"(%x : !pdl.value) {"name" = %name}
        -> (%t : !pdl.type)
    pdl.rewrite %root {
      pdl.replace %root with (%x : !pdl.value)
    }
  }
  pdl.pattern @Twice : benefit(0) attributes {eqsat.promise = "exact"} {
    %t = pdl.type
    %x = pdl.operand
    %name = pdl.attribute = "twice"
    %root = pdl.operation "hlir.custom"(%x : !pdl.value) {"name" = %name}
        -> (%t : !pdl.type)
    pdl.rewrite %root {
      %new = pdl.operation "hlir.add"(%x, %x : !pdl.value, !pdl.value)
          -> (%t : !pdl.type)
      pdl.replace %root with %new
    }
  }
)mlir";

/// With 5 <= s0 < 64, all of the first list equal s0, and all of the second
/// equal 4.
constexpr const char *kRows[] = {"s0", "s0 mod 64", "min(s0, 63)", "max(s0, 2)",
                                 "(64 * s0 + 7) floordiv 64"};
constexpr const char *kColumns[] = {"", "min(s0, 4)", "4 mod s0"};

/// A type, by its spellings of rows and columns.
using Shape = std::pair<unsigned, unsigned>;

class Generator {
public:
  explicit Generator(uint32_t seed) : rng(seed) {}

  std::string function() {
    std::string arguments, results, types;
    std::vector<Value> pool;
    for (unsigned i = 0; i != 3; ++i) {
      // The first determines s0.
      Shape shape = i == 0 ? Shape(0, 0) : random();
      std::string name = "%a" + std::to_string(i);
      pool.push_back({name, shape});
      arguments += (i ? ", " : "") + name + ": " + tensor(shape, "f32");
    }
    emit(pool, 10, /*depth=*/0);
    for (unsigned i = 0; i != 4; ++i) {
      const Value &v = pool[pool.size() - 1 - rng() % 8];
      results += (i ? ", " : "") + v.name;
      types += (i ? ", " : "") + tensor(v.shape, "f32");
    }
    return "func.func @f(" + arguments + ") -> (" + types +
           ") attributes {hlir.symbols = #hlir.symbols<s0 in [5, 63]>} {\n" +
           text + "return " + results + " : " + types + "\n}\n";
  }

private:
  struct Value {
    std::string name;
    Shape shape;
  };

  Shape random() {
    return {rng() % std::size(kRows), rng() % std::size(kColumns)};
  }
  static std::string tensor(Shape s, const std::string &element) {
    std::string column = kColumns[s.second];
    return "tensor<?x" + (column.empty() ? "4" : std::string("?")) + "x" +
           element + ", #hlir.dims<" + kRows[s.first] +
           (column.empty() ? "" : ", ") + column + ">>";
  }
  static std::string rows(Shape s) {
    return std::string("tensor<?xf32, #hlir.dims<") + kRows[s.first] + ">>";
  }
  std::string fresh() { return "%v" + std::to_string(next++); }
  const Value &any(const std::vector<Value> &pool) {
    return pool[rng() % pool.size()];
  }
  /// A value with the same spelling as `v`; `v` itself if there is no other.
  const Value &like(const std::vector<Value> &pool, const Value &v) {
    for (unsigned i = 0; i != 8; ++i)
      if (const Value &w = any(pool); w.shape == v.shape)
        return w;
    return v;
  }
  void line(const std::string &result, const std::string &op) {
    text += result + " = " + op + "\n";
  }

  void emit(std::vector<Value> &pool, unsigned count, unsigned depth) {
    for (unsigned i = 0; i != count; ++i) {
      const Value v = any(pool), w = like(pool, v);
      std::string type = tensor(v.shape, "f32"), r = fresh();
      Shape shape = v.shape;
      switch (rng() % (depth == 0 ? 9 : 8)) {
      case 0:
      case 1:
      case 2: {
        bool isSame = rng() % 4;
        if (isSame)
          shape = random();
        line(r, "hlir.custom \"" + std::string(isSame ? "same" : "twice") +
                    "\"(" + v.name + ") : (" + type + ") -> " +
                    tensor(shape, "f32"));
        break;
      }
      case 3:
        line(r, "hlir.sin " + v.name + " : " + type);
        break;
      case 4:
        line(r, "hlir.mul " + v.name + ", " + w.name + " : " + type);
        break;
      case 5: {
        std::string c = fresh(), i1 = tensor(v.shape, "i1");
        line(c, "hlir.less_than " + v.name + ", " + w.name + " : " + type +
                    " -> " + i1);
        line(r, "hlir.select " + c + ", " + w.name + ", " + v.name + " : " +
                    i1 + ", " + type);
        break;
      }
      case 6: {
        std::string c = fresh(), i32 = tensor(v.shape, "i32");
        line(c, "hlir.cast " + v.name + " : " + type + " -> " + i32);
        line(r, "hlir.cast " + c + " : " + i32 + " -> " + type);
        break;
      }
      case 7: {
        // Rows as any spelling of them; spread over columns that are, too.
        std::string c = fresh();
        shape = random();
        Shape narrow = random();
        line(c, "hlir.reduce_max " + v.name + " : " + type + " -> " +
                    rows(narrow));
        line(r, "hlir.view " + c + " <(d0, d1) -> (d0)> : " + rows(narrow) +
                    " -> " + tensor(shape, "f32"));
        break;
      }
      default: {
        std::vector<Value> inner = pool;
        inner.push_back({fresh(), v.shape});
        std::string argument = inner.back().name;
        text += r + " = hlir.repeat 2 carried(" + v.name + " : " + type +
                ") {\n^bb0(" + argument + ": " + type + "):\n";
        emit(inner, 5, depth + 1);
        // Use the type of the carried value.
        std::string last = fresh();
        line(last, "hlir.custom \"same\"(" + inner.back().name + ") : (" +
                       tensor(inner.back().shape, "f32") + ") -> " + type);
        text += "hlir.yield " + last + " : " + type + "\n} -> " + type + "\n";
        break;
      }
      }
      pool.push_back({r, shape});
    }
  }

  std::mt19937 rng;
  std::string text;
  unsigned next = 0;
};

std::optional<SmallVector<reference::Tensor>>
customKernel(StringRef name, ArrayRef<reference::Tensor> inputs,
             DictionaryAttr) {
  if (name == "same")
    return SmallVector<reference::Tensor>{inputs[0]};
  std::optional<reference::Tensor> sum =
      reference::Tensor::allocate(inputs[0].getDType(), inputs[0].getShape());
  for (int64_t i = 0; i != sum->getNumElements(); ++i) {
    float x;
    std::memcpy(&x, inputs[0].data() + i * sizeof(x), sizeof(x));
    x += x;
    std::memcpy(sum->mutableData() + i * sizeof(x), &x, sizeof(x));
  }
  return SmallVector<reference::Tensor>{*sum};
}

class Spellings : public testing::Test {
protected:
  Spellings() {
    registerAllRuleSets();
    context.loadDialect<func::FuncDialect, pdl::PDLDialect, hlir::HLIRDialect,
                        llir::LLIRDialect>();
    // An equivalence.graph consists of unregistered ops.
    context.allowUnregisteredDialects();
  }

  /// Text of the results' bytes.
  std::string evaluate(func::FuncOp function) {
    constexpr int64_t kExtent = 9;
    std::mt19937 rng(3);
    std::vector<reference::Tensor> arguments;
    for (unsigned i = 0; i != function.getNumArguments(); ++i) {
      reference::Tensor x =
          *reference::Tensor::allocate(DType::F32, {kExtent, 4});
      for (int64_t k = 0; k != x.getNumElements(); ++k) {
        float value = static_cast<float>(rng() % 2001) / 500.0F - 2.0F;
        std::memcpy(x.mutableData() + k * sizeof(value), &value, sizeof(value));
      }
      arguments.push_back(x);
    }
    auto results =
        reference::evaluate(function, arguments, {.custom = customKernel});
    std::string bytes;
    if (failed(results))
      return bytes;
    for (const reference::Tensor &t : *results)
      bytes.append(t.data(), t.getNumBytes());
    return bytes;
  }

  void check(uint32_t seed, RuleLoader &loader, StringRef model) {
    std::string given = Generator(seed).function();
    auto module = parseSourceString<ModuleOp>(given, &context);
    ASSERT_TRUE(module) << given;
    auto function = *module->getOps<func::FuncOp>().begin();
    FunctionType type = function.getFunctionType();
    std::string expected = evaluate(function);
    ASSERT_FALSE(expected.empty()) << given;

    Program program(function, /*allowUnregistered=*/false);
    NativeBridge natives(program.ops, function, PrecisionPolicy::exact());
    ASSERT_TRUE(succeeded(program.import(natives.scope())));
    auto rules = loader.compile(program.ops, natives, false);
    ASSERT_TRUE(succeeded(rules));
    RunReport run = saturate(program.graph, *rules, RunnerOptions());
    ASSERT_TRUE(succeeded(natives.checkMisuse())) << given;
    ASSERT_NE(run.stop, StopReason::Conflict) << given;
    checkEquivalence(program, model, expected);
    if (HasFailure())
      return;
    auto cost = (*lookupCostModel(model))(natives.scope(), {});
    Perturbation perturbation;
    if (seed % 2)
      perturbation = {seed, 2.0};
    auto choose = [&](const Extractor &extractor,
                      std::span<const ClassId> roots) -> FailureOr<Selection> {
      return extractor.greedyDag(roots, perturbation);
    };
    ASSERT_TRUE(succeeded(program.extract(*cost, nullptr, choose))) << given;

    std::string taken;
    llvm::raw_string_ostream os(taken);
    module->print(os, OpPrintingFlags().printGenericOpForm());
    ASSERT_TRUE(succeeded(verify(*module))) << given << taken;
    EXPECT_EQ(function.getFunctionType(), type);
    EXPECT_EQ(evaluate(function), expected) << given << taken;
    united += StringRef(given).contains("\"same\"") &&
              !StringRef(taken).contains("\"same\"");
  }

  /// The saturated graph as MLIR, written, read and extracted from.
  void checkEquivalence(Program &program, StringRef model,
                        const std::string &expected) {
    ASSERT_TRUE(succeeded(program.checkEquivalence()));
    std::string text;
    llvm::raw_string_ostream os(text);
    program.toEquivalence().get()->print(os);
    auto module = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(module) << text;
    auto function = *module->getOps<func::FuncOp>().begin();
    Program again(function, /*allowUnregistered=*/false);
    NativeBridge natives(again.ops, function);
    ASSERT_TRUE(succeeded(again.import(natives.scope()))) << text;
    ASSERT_TRUE(again.graph.rebuild()) << text;
    auto cost = (*lookupCostModel(model))(natives.scope(), {});
    ASSERT_TRUE(succeeded(again.extract(*cost))) << text;
    ASSERT_TRUE(succeeded(verify(*module))) << text;
    EXPECT_EQ(evaluate(function), expected) << text;
  }

  MLIRContext context;
  unsigned united = 0;
};

TEST_F(Spellings, randomUnionsVerifyAndCompute) {
  auto module = parseSourceString<ModuleOp>(kRules, &context);
  ASSERT_TRUE(module);
  RuleLoader loader;
  ASSERT_TRUE(succeeded(loader.loadModule(*module)));
  const uint64_t programs = luminal::test::countRounds(400, 80);
  for (uint32_t seed = 0; seed != programs && !HasFailure(); ++seed)
    check(seed, loader, "unit");
  EXPECT_GT(united, programs * 3 / 4);
}

/// The lowered ops are of another dialect too.
TEST_F(Spellings, randomUnionsAreLowered) {
  auto module = parseSourceString<ModuleOp>(kRules, &context);
  ASSERT_TRUE(module);
  RuleLoader loader;
  ASSERT_TRUE(
      succeeded(loader.loadSets(UnknownLoc::get(&context), {}, /*all=*/true)));
  ASSERT_TRUE(succeeded(loader.loadModule(*module)));
  for (uint32_t seed = 1000; seed != 1040 && !HasFailure(); ++seed)
    check(seed, loader, "static");
  EXPECT_GT(united, 30u);
}

} // namespace
