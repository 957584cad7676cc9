//===- RollLoopsTest.cpp - Random programs, rolled and unrolled -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random programs with recurrences in them, and with what is almost one:
// rolled, and unrolled again, they compute the same bits, and any order of
// their ops rolls to the same text. LUMINAL_LOOPS=N tries N programs
// (docs/Testing.md).
//
//===----------------------------------------------------------------------===//

#include "Rounds.h"
#include "luminal/Dialect/HLIR/Transforms/Passes.h"
#include "luminal/Reference/Interpreter.h"
#include "luminal/Support/Scalar.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "gtest/gtest.h"

#include <cstdlib>
#include <cstring>
#include <random>

using namespace luminal;

namespace {
using Tensors = llvm::SmallVector<reference::Tensor>;

/// The text of a random function.
class Generator {
public:
  explicit Generator(uint64_t seed) : random(seed) {}

  std::string make() {
    unsigned inputs = 2 + pick(3);
    for (unsigned i = 0; i != inputs; ++i)
      values.push_back(addArgument());
    for (unsigned part = 0, parts = 1 + pick(4); part != parts; ++part)
      if (pick(3) == 0)
        makeOps(1 + pick(6));
      else
        makeLoop();
    std::string names, types;
    for (size_t i = 0; i != values.size(); ++i)
      if (i + 3 > values.size() || pick(8) == 0) {
        names += (names.empty() ? "" : ", ") + values[i];
        types += std::string(types.empty() ? "" : ", ") + kType;
      }
    return "func.func @main(" + arguments + ") -> (" + types + ") {\n" + body +
           "  return " + names + " : " + types + "\n}\n";
  }

private:
  static constexpr const char *kType = "tensor<3xf32>";
  unsigned pick(unsigned n) { return random() % n; }

  std::string addArgument() {
    std::string name = "%a" + std::to_string(numArguments++);
    arguments += (arguments.empty() ? "" : ", ") + name + ": " + kType;
    return name;
  }
  std::string any() { return values[pick(values.size())]; }

  std::string emit(unsigned kind, const std::string &x, const std::string &y) {
    static const char *const unary[] = {"sin", "sqrt", "exp2"};
    static const char *const binary[] = {"add", "mul", "mod"};
    std::string name = "%v" + std::to_string(numValues++), type = kType;
    body += "  " + name + " = ";
    if (kind < 2)
      body +=
          std::string("hlir.") + unary[kind] + " " + x + " : " + type + "\n";
    else
      body += std::string("hlir.") + binary[kind % 3] + " " + x + ", " + y +
              " : " + type + "\n";
    return name;
  }
  std::string constant(unsigned number) {
    std::string name = "%v" + std::to_string(numValues++);
    body += "  " + name + " = hlir.constant dense<" + std::to_string(number) +
            ".5> : " + kType + "\n";
    return name;
  }

  void makeOps(unsigned n) {
    for (unsigned i = 0; i != n; ++i)
      values.push_back(emit(pick(8), any(), any()));
  }

  struct Operand {
    enum { Carried, Inner, Fixed, Weight, Constant, Earlier } kind;
    unsigned index;
    std::string value;
  };
  struct Op {
    unsigned kind;
    Operand operands[2];
  };

  void makeLoop() {
    unsigned trips = 2 + pick(5), size = 2 + pick(7), carries = 1 + pick(3);
    bool differ = pick(3) == 0;
    std::vector<Op> ops;
    for (unsigned i = 0; i != size; ++i) {
      Op op{pick(8), {}};
      for (Operand &operand : op.operands) {
        unsigned kind = pick(20);
        if (kind < 6)
          operand = {Operand::Carried, pick(carries), ""};
        else if (kind < 13 && i != 0)
          operand = {Operand::Inner, pick(i), ""};
        else if (kind < 15)
          operand = {Operand::Fixed, 0, any()};
        else if (kind < 16)
          operand = {Operand::Constant, pick(2), ""};
        else if (kind < 17 && pick(4) == 0)
          operand = {Operand::Earlier, pick(size), any()};
        else
          operand = {Operand::Weight, 0, ""};
      }
      ops.push_back(op);
    }
    std::vector<unsigned> next;
    std::vector<std::string> carried;
    for (unsigned c = 0; c != carries; ++c) {
      next.push_back(pick(size));
      carried.push_back(any());
    }
    next[0] = size - 1;
    unsigned oddTrip = pick(6) == 0 ? pick(trips) : trips, oddOp = pick(size);
    std::vector<std::vector<std::string>> made(trips);
    for (unsigned trip = 0; trip != trips; ++trip) {
      for (unsigned i = 0; i != size; ++i) {
        std::string names[2];
        for (unsigned k = 0; k != 2; ++k) {
          const Operand &operand = ops[i].operands[k];
          switch (operand.kind) {
          case Operand::Carried:
            names[k] = carried[operand.index];
            break;
          case Operand::Inner:
            names[k] = made[trip][operand.index];
            break;
          case Operand::Fixed:
            names[k] = operand.value;
            break;
          case Operand::Weight:
            names[k] = addArgument();
            break;
          case Operand::Constant:
            names[k] = constant(operand.index + (differ ? trip : 0));
            break;
          case Operand::Earlier:
            names[k] = trip < 2 ? operand.value : made[trip - 2][operand.index];
            break;
          }
        }
        unsigned kind = ops[i].kind;
        if (trip == oddTrip && i == oddOp)
          kind = (kind + 1) % 8;
        made[trip].push_back(emit(kind, names[0], names[1]));
      }
      for (unsigned c = 0; c != carries; ++c)
        carried[c] = made[trip][next[c]];
    }
    // Read after the loop: the last values, and now and then one of each trip.
    if (pick(3) == 0)
      for (unsigned i = pick(size), trip = 0; trip != trips; ++trip)
        values.push_back(made[trip][i]);
    llvm::append_range(values, carried);
  }

  std::mt19937_64 random;
  std::string arguments, body;
  std::vector<std::string> values;
  unsigned numArguments = 0, numValues = 0;
};

class RollLoops : public testing::Test {
protected:
  RollLoops() {
    context.loadDialect<mlir::func::FuncDialect, hlir::HLIRDialect>();
    context.disableMultithreading();
  }

  mlir::OwningOpRef<mlir::ModuleOp> parse(const std::string &text) {
    return mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  }
  static mlir::func::FuncOp functionOf(mlir::ModuleOp module) {
    return *module.getOps<mlir::func::FuncOp>().begin();
  }
  bool run(mlir::ModuleOp module, std::unique_ptr<mlir::Pass> pass) {
    mlir::PassManager pm(&context);
    pm.addNestedPass<mlir::func::FuncOp>(std::move(pass));
    return mlir::succeeded(pm.run(module));
  }
  bool roll(mlir::ModuleOp module) {
    return run(module,
               hlir::createRollLoopsPass({/*minTrips=*/2, /*minOps=*/2}));
  }
  static std::string textOf(mlir::ModuleOp module) {
    std::string text;
    llvm::raw_string_ostream(text) << module;
    return text;
  }
  static unsigned countLoops(mlir::ModuleOp module) {
    unsigned n = 0;
    module.walk([&](hlir::RepeatOp) { ++n; });
    return n;
  }

  /// The bytes of the results on the same random arguments each time.
  std::string evaluate(mlir::ModuleOp module) {
    mlir::func::FuncOp function = functionOf(module);
    std::mt19937_64 random(7);
    Tensors arguments;
    for (unsigned i = 0; i != function.getNumArguments(); ++i) {
      auto tensor = reference::Tensor::allocate(DType::F32, {3});
      for (unsigned k = 0; k != 3; ++k)
        storeFloat(DType::F32, double(int64_t(random() % 4001) - 2000) / 1000,
                   tensor->mutableData() + size_t(k) * sizeof(float));
      arguments.push_back(*tensor);
    }
    auto results = reference::evaluate(function, arguments);
    std::string bytes;
    if (mlir::succeeded(results))
      for (const reference::Tensor &tensor : *results)
        bytes.append(tensor.data(), tensor.getNumBytes());
    return bytes;
  }

  /// Another order of the ops in which each comes after its operands.
  static void shuffle(mlir::ModuleOp module, std::mt19937_64 &random) {
    mlir::Block &block = functionOf(module).getBody().front();
    std::vector<mlir::Operation *> left;
    for (mlir::Operation &op : block.without_terminator())
      left.push_back(&op);
    llvm::DenseSet<mlir::Operation *> waiting(left.begin(), left.end());
    while (!left.empty()) {
      size_t i = random() % left.size();
      mlir::Operation *op = left[i];
      if (llvm::any_of(op->getOperands(), [&](mlir::Value v) {
            return waiting.contains(v.getDefiningOp());
          }))
        continue;
      op->moveBefore(block.getTerminator());
      waiting.erase(op);
      left.erase(left.begin() + i);
    }
  }

  mlir::MLIRContext context;
};

TEST_F(RollLoops, SameBits) {
  const uint64_t programs = test::countRounds(2000, 400);
  unsigned rolled = 0;
  for (uint64_t seed = 0; seed != programs; ++seed) {
    std::string text = Generator(seed).make();
    SCOPED_TRACE(testing::Message() << "seed " << seed << "\n" << text);
    auto module = parse(text);
    ASSERT_TRUE(module);
    std::string expected = evaluate(*module);
    ASSERT_FALSE(expected.empty());
    ASSERT_TRUE(roll(*module));
    rolled += countLoops(*module) != 0;
    ASSERT_EQ(evaluate(*module), expected) << textOf(*module);
    ASSERT_TRUE(run(*module, hlir::createUnrollLoopsPass()));
    EXPECT_EQ(countLoops(*module), 0u);
    ASSERT_EQ(evaluate(*module), expected) << textOf(*module);
  }
  // Many programs hold a recurrence.
  EXPECT_GT(rolled, programs / 3);
}

TEST_F(RollLoops, AnyOrderGivesTheSameModule) {
  std::mt19937_64 random(11);
  unsigned rolled = 0;
  for (uint64_t seed = 0; rolled < 12; ++seed) {
    std::string text = Generator(seed).make(), first;
    for (unsigned order = 0; order != 100; ++order) {
      auto module = parse(text);
      ASSERT_TRUE(module);
      if (order != 0)
        shuffle(*module, random);
      ASSERT_TRUE(roll(*module));
      // Where nothing is rolled, the order stays as it was.
      if (countLoops(*module) == 0 && order == 0)
        break;
      rolled += order == 0;
      if (order == 0)
        first = textOf(*module);
      ASSERT_EQ(textOf(*module), first) << "seed " << seed << "\n" << text;
    }
  }
  EXPECT_GE(rolled, 12u);
}

TEST_F(RollLoops, UnrollIsTheInverse) {
  // The same module, text by text, after both.
  std::string text = Generator(3).make();
  auto flat = parse(text);
  ASSERT_TRUE(roll(*flat));
  ASSERT_NE(countLoops(*flat), 0u);
  ASSERT_TRUE(run(*flat, hlir::createUnrollLoopsPass()));
  std::string once = textOf(*flat);
  ASSERT_TRUE(roll(*flat));
  ASSERT_TRUE(run(*flat, hlir::createUnrollLoopsPass()));
  EXPECT_EQ(textOf(*flat), once);
}
} // namespace
