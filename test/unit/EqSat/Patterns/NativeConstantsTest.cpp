//===- NativeConstantsTest.cpp - Constants that native functions see ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Constants of classes, as MLIR's matchers find them: `matchPattern(v,
// m_Zero())`.
//
//===----------------------------------------------------------------------===//

#include "NativesFixture.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace luminal::eqsat;

namespace {

using Args = ArrayRef<PDLValue>;

class NativeConstants : public Natives {
protected:
  NativeConstants() { context.loadDialect<arith::ArithDialect>(); }
};

const std::string kAddConstant = std::string(kAddZero) + R"mlir(
pdl.pattern @Vanishes : benefit(0) {
  %t = pdl.type
  %x = pdl.operand
  %root = pdl.operation "test.vanish"(%x : !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %root {
    %zero = pdl.attribute = 0 : i32
    %cost = pdl.attribute = 1 : i64
    %new = pdl.operation "arith.constant" {"value" = %zero} -> (%t : !pdl.type)
    pdl.replace %root with %new
  }
})mlir";

void addZero(RuleSetBuilder &set, PDLPatternModule &module) {
  module.registerConstraintFunction("IsZero", [](PatternRewriter &, Value v) {
    return success(matchPattern(v, m_Zero()));
  });
  set.rules({{"AddZero", Promise::exact()}, {"Vanishes", Promise::exact()}});
}

TEST_F(NativeConstants, areWhatDefinesAValue) {
  add("constants", kAddConstant.c_str(), addZero);
  std::string text = saturate("constants", R"mlir(
    func.func @zero(%x: i32) -> i32 {
      %c = arith.constant {cost = 1 : i64} 0 : i32
      %r = "test.add"(%x, %c) {cost = 1 : i64} : (i32, i32) -> i32
      return %r : i32
    }
    func.func @one(%x: i32) -> i32 {
      %c = arith.constant {cost = 1 : i64} 1 : i32
      %r = "test.add"(%x, %c) {cost = 1 : i64} : (i32, i32) -> i32
      return %r : i32
    }
    func.func @argument(%x: i32) -> i32 {
      %r = "test.add"(%x, %x) {cost = 1 : i64} : (i32, i32) -> i32
      return %r : i32
    })mlir");
  ASSERT_FALSE(text.empty()) << messages;
  EXPECT_FALSE(has(functionOf(text, "zero"), "test.add")) << text;
  EXPECT_TRUE(has(functionOf(text, "one"), "test.add")) << text;
  EXPECT_TRUE(has(functionOf(text, "argument"), "test.add")) << text;
}

/// A native that was called before the constant was found is called again.
TEST_F(NativeConstants, areSeenWhenTheyAreFound) {
  add("found-constants", kAddConstant.c_str(), addZero);
  std::string text = saturate("found-constants", R"mlir(
    func.func @f(%x: i32) -> i32 {
      %v = "test.vanish"(%x) {cost = 9 : i64} : (i32) -> i32
      %0 = "test.add"(%x, %v) {cost = 1 : i64} : (i32, i32) -> i32
      %w = "test.vanish"(%0) {cost = 9 : i64} : (i32) -> i32
      %1 = "test.add"(%0, %w) {cost = 1 : i64} : (i32, i32) -> i32
      return %1 : i32
    })mlir");
  ASSERT_FALSE(text.empty()) << messages;
  EXPECT_FALSE(has(text, "test.add")) << text;
}

/// Operands of a matched operation are constants, too, and a constant may be
/// returned, used as an operand, and read.
TEST_F(NativeConstants, areOperandsAndResults) {
  add("constant-operands", R"mlir(
pdl.pattern @Shift : benefit(0) {
  %t = pdl.type
  %x = pdl.operand
  %c = pdl.operand
  %root = pdl.operation "test.mul"(%x, %c : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  pdl.apply_native_constraint "IsByPowerOfTwo"(%root : !pdl.operation)
  pdl.rewrite %root {
    %cost = pdl.attribute = 0 : i64
    %by = pdl.apply_native_rewrite "Log2"(%c : !pdl.value) : !pdl.value
    %new = pdl.operation "test.shl"(%x, %by : !pdl.value, !pdl.value) {"cost" = %cost} -> (%t : !pdl.type)
    pdl.replace %root with %new
  }
}
pdl.pattern @Second : benefit(0) {
  %t = pdl.type
  %xs = pdl.operands
  %root = pdl.operation "test.select"(%xs : !pdl.range<value>) -> (%t : !pdl.type)
  pdl.rewrite %root {
    %one = pdl.apply_native_rewrite "FirstConstant"(%xs : !pdl.range<value>) : !pdl.value
    pdl.replace %root with (%one : !pdl.value)
  }
})mlir",
      [](RuleSetBuilder &set, PDLPatternModule &module) {
        module.registerConstraintFunction(
            "IsByPowerOfTwo", [](PatternRewriter &, Operation *op) {
              APInt value;
              return success(
                  matchPattern(op->getOperand(1), m_ConstantInt(&value)) &&
                  value.isPowerOf2());
            });
        module.registerRewriteFunction(
            "Log2", [](PatternRewriter &r, Value c) -> Value {
              APInt value;
              matchPattern(c, m_ConstantInt(&value));
              // The same type, by way of the constant itself.
              auto op = c.getDefiningOp<arith::ConstantOp>();
              Operation *made = arith::ConstantOp::create(
                  r, op.getLoc(),
                  r.getIntegerAttr(op.getType(), value.logBase2()));
              return made->getResult(0);
            });
        module.registerRewriteFunction(
            "FirstConstant",
            [](PatternRewriter &, PDLResultList &results, Args args) {
              for (Value v : args[0].cast<ValueRange>())
                if (v.getDefiningOp<arith::ConstantOp>()) {
                  results.push_back(v);
                  return success();
                }
              return failure();
            });
        set.rules({{"Shift", Promise::exact()}, {"Second", Promise::exact()}});
      });
  std::string text = saturate("constant-operands", R"mlir(
    func.func @eight(%x: i32) -> i32 {
      %c = arith.constant 8 : i32
      %r = "test.mul"(%x, %c) {cost = 5 : i64} : (i32, i32) -> i32
      return %r : i32
    }
    func.func @nine(%x: i32) -> i32 {
      %c = arith.constant 9 : i32
      %r = "test.mul"(%x, %c) {cost = 5 : i64} : (i32, i32) -> i32
      return %r : i32
    }
    func.func @select(%x: i32) -> (i32, i32) {
      %a = arith.constant 5 : i32
      %b = arith.constant 6 : i32
      %r = "test.select"(%x, %a, %b) {cost = 5 : i64} : (i32, i32, i32) -> i32
      %s = "test.select"(%x, %x) {cost = 5 : i64} : (i32, i32) -> i32
      return %r, %s : i32, i32
    })mlir");
  ASSERT_FALSE(text.empty()) << messages;
  EXPECT_TRUE(has(functionOf(text, "eight"), "test.shl")) << text;
  EXPECT_TRUE(has(functionOf(text, "eight"), "arith.constant 3 : i32")) << text;
  EXPECT_FALSE(has(functionOf(text, "nine"), "test.shl")) << text;
  EXPECT_EQ(functionOf(text, "select").count("test.select"), 1u) << text;
  EXPECT_TRUE(has(functionOf(text, "select"), "constant 5")) << text;
  EXPECT_FALSE(has(functionOf(text, "select"), "constant 6")) << text;
}

/// The function may not change a constant that it is shown.
TEST_F(NativeConstants, areNotChanged) {
  auto change = [](PatternRewriter &r, Operation *op) {
    r.modifyOpInPlace(op,
                      [&] { op->setAttr("value", r.getI32IntegerAttr(7)); });
  };
  auto erase = [](PatternRewriter &r, Operation *op) { r.eraseOp(op); };
  unsigned number = 0;
  using Misuse = std::function<void(PatternRewriter &, Operation *)>;
  for (Misuse bad : {Misuse(change), Misuse(erase)}) {
    std::string name = "bad-constants-" + std::to_string(number++);
    add(name, kAddConstant.c_str(),
        [bad](RuleSetBuilder &set, PDLPatternModule &module) {
          module.registerConstraintFunction(
              "IsZero", [bad](PatternRewriter &r, Value v) {
                if (Operation *op = v.getDefiningOp())
                  bad(r, op);
                return success();
              });
          set.rules(
              {{"AddZero", Promise::exact()}, {"Vanishes", Promise::exact()}});
        });
    messages.clear();
    EXPECT_EQ(saturate(name, R"mlir(
    func.func @f(%x: i32) -> i32 {
      %c = arith.constant 0 : i32
      %0 = "test.add"(%x, %c) : (i32, i32) -> i32
      %1 = "test.add"(%0, %c) : (i32, i32) -> i32
      return %1 : i32
    })mlir"),
              "");
    EXPECT_TRUE(has(messages, "'IsZero' changes an operation in place"))
        << messages;
  }
}

} // namespace
