//===- NativeErrorsTest.cpp - Rule sets and native functions refused ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "NativesFixture.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace luminal::eqsat;

namespace {

TEST_F(Natives, everyRuleStatesAPromise) {
  add("silent", kAddZero, [](RuleSetBuilder &set, PDLPatternModule &) {
    set.constraint("IsZero", [](auto &, auto, auto &) { return true; });
  });
  EXPECT_EQ(saturate("silent", "func.func @f() { return }"), "");
  EXPECT_TRUE(has(messages, "rule 'AddZero' cannot be used: rule set 'silent' "
                            "states no promise for it"))
      << messages;
}

/// An ordinary rewrite may only create operations.
TEST_F(Natives, misuseIsAnError) {
  constexpr const char *pattern = R"mlir(
pdl.pattern @R : benefit(0) {
  %t = pdl.type
  %x = pdl.operand
  %root = pdl.operation "test.f"(%x : !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %root {
    %v = pdl.apply_native_rewrite "Go"(%root : !pdl.operation) : !pdl.value
    pdl.replace %root with (%v : !pdl.value)
  }
})mlir";
  auto make = [](PatternRewriter &r, Operation *op, StringRef name) {
    OperationState state(op->getLoc(), name);
    state.addOperands(op->getOperands());
    state.addTypes(op->getResultTypes());
    state.addAttribute("cost", r.getI64IntegerAttr(0));
    return r.create(state);
  };
  using Go = std::function<Value(PatternRewriter &, Operation *)>;
  auto run = [&](StringRef name, Go go) {
    messages.clear();
    add(name, pattern, [=](RuleSetBuilder &set, PDLPatternModule &m) {
      m.registerRewriteFunction(
          "Go", [go](PatternRewriter &r, Operation *op) { return go(r, op); });
      set.rule({"R", Promise::exact()});
    });
    return saturate(name, R"mlir(
      func.func private @g(i8) -> i8
      func.func @f(%x: i8) -> i8 {
        %0 = "test.f"(%x) : (i8) -> i8
        return %0 : i8
      })mlir");
  };
  // Wherever new operations are.
  EXPECT_TRUE(has(run("before",
                      [=](PatternRewriter &r, Operation *op) -> Value {
                        r.setInsertionPoint(op);
                        (void)make(r, op, "test.unused");
                        return make(r, op, "test.new")->getResult(0);
                      }),
                  "\"test.new\"(%arg0)"))
      << messages;
  auto expect = [&](StringRef text, const char *message) {
    EXPECT_EQ(text, "");
    EXPECT_TRUE(has(messages, message)) << messages;
  };
  expect(run("replace",
             [=](PatternRewriter &r, Operation *op) -> Value {
               r.replaceOp(op, op->getOperand(0));
               return nullptr;
             }),
         "native function 'Go' changes an operation in place");
  expect(run("erase",
             [=](PatternRewriter &r, Operation *op) -> Value {
               Value x = op->getOperand(0);
               r.eraseOp(op);
               return x;
             }),
         "native function 'Go' changes an operation in place");
  expect(run("modify",
             [=](PatternRewriter &r, Operation *op) -> Value {
               r.modifyOpInPlace(op,
                                 [&] { op->setAttr("a", r.getUnitAttr()); });
               return op->getOperand(0);
             }),
         "native function 'Go' changes an operation in place");
  expect(run("effects",
             [=](PatternRewriter &r, Operation *op) -> Value {
               return func::CallOp::create(r, op->getLoc(), "g",
                                           op->getResultTypes(),
                                           op->getOperands())
                   .getResult(0);
             }),
         "native function 'Go' makes 'func.call', which the e-graph cannot "
         "hold");
  // A rewrite that fails, or creates nothing, is not a match.
  EXPECT_TRUE(
      has(run("nothing",
              [](PatternRewriter &, Operation *) -> Value { return nullptr; }),
          "test.f"))
      << messages;
}

TEST_F(Natives, everyPromiseHasARule) {
  add("excess", kAddZero, [](RuleSetBuilder &set, PDLPatternModule &) {
    set.constraint("IsZero", [](auto &, auto, auto &) { return true; });
    set.rule({"AddZero", Promise::exact()});
    set.rule({"AddOne", Promise::exact()});
  });
  EXPECT_EQ(saturate("excess", "func.func @f() { return }"), "");
  EXPECT_TRUE(has(messages, "states a promise for 'AddOne', which it does not "
                            "have"))
      << messages;
}

TEST_F(Natives, unknownNativesAreRefused) {
  add("unknown-native", R"mlir(
pdl.pattern @Odd : benefit(0) {
  %t = pdl.type
  %x = pdl.operand
  %root = pdl.operation "test.f"(%x : !pdl.value) -> (%t : !pdl.type)
  pdl.apply_native_constraint "NobodyKnows"(%x : !pdl.value)
  pdl.rewrite %root {
    pdl.replace %root with (%x : !pdl.value)
  }
})mlir",
      [](RuleSetBuilder &set, PDLPatternModule &) {
        set.rule({"Odd", Promise::exact()});
      });
  EXPECT_EQ(saturate("unknown-native", "func.func @f() { return }"), "");
  EXPECT_TRUE(has(messages, "rule 'Odd' cannot be used: no native constraint "
                            "is named 'NobodyKnows'"))
      << messages;
}

TEST_F(Natives, factsThatContradictAreAnError) {
  add("contradiction", R"mlir(
pdl.pattern @Wrong : benefit(0) {
  %t = pdl.type
  %x = pdl.operand
  %y = pdl.operand
  %root = pdl.operation "test.pair"(%x, %y : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %root {
    pdl.replace %root with (%x : !pdl.value)
  }
}
pdl.pattern @AlsoWrong : benefit(0) {
  %t = pdl.type
  %x = pdl.operand
  %y = pdl.operand
  %root = pdl.operation "test.pair"(%x, %y : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %root {
    pdl.replace %root with (%y : !pdl.value)
  }
})mlir",
      [](RuleSetBuilder &set, PDLPatternModule &) {
        set.rules(
            {{"Wrong", Promise::exact()}, {"AlsoWrong", Promise::exact()}});
      });
  registerAnalysis("test-value", [](Operation *) {
    return std::make_unique<ValueAnalysis>();
  });
  EXPECT_EQ(saturate("contradiction", R"mlir(
    func.func @f() -> i8 {
      %0 = "test.constant"() {value = 0 : i8} : () -> i8
      %1 = "test.constant"() {value = 1 : i8} : () -> i8
      %2 = "test.pair"(%0, %1) : (i8, i8) -> i8
      return %2 : i8
    })mlir"),
            "");
  EXPECT_TRUE(has(messages, "makes two values equal about which contradictory "
                            "facts are known"))
      << messages;
  EXPECT_TRUE(has(messages, "'AlsoWrong'")) << messages;
}

} // namespace
