//===- NativesTest.cpp - Rules that call native functions -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "NativesFixture.h"
#include "Patterns/OpTable.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace luminal::eqsat;

namespace {

TEST_F(Natives, fastConstraintReadsFacts) {
  registerAnalysis("test-value", [](Operation *scope) {
    EXPECT_TRUE(isa<func::FuncOp>(scope));
    return std::make_unique<ValueAnalysis>();
  });
  add("facts", kAddZero, [](RuleSetBuilder &set, PDLPatternModule &) {
    set.constraint("IsZero", [](MatchContext &c, NativeArgs args, auto &) {
      auto v = dyn_cast_or_null<IntegerAttr>(
          c.fact("test-value", args[0].asClass()));
      return v && v.getInt() == 0;
    });
    set.rule({"AddZero", Promise::exact()});
  });
  std::string text = saturate("facts", R"mlir(
    func.func @zero(%x: i32) -> i32 {
      %c = "test.constant"() {value = 0 : i32} : () -> i32
      %n = "test.neg"(%c) : (i32) -> i32
      %r = "test.add"(%x, %n) : (i32, i32) -> i32
      return %r : i32
    }
    func.func @one(%x: i32) -> i32 {
      %c = "test.constant"() {value = 1 : i32} : () -> i32
      %r = "test.add"(%x, %c) : (i32, i32) -> i32
      return %r : i32
    })mlir");
  EXPECT_FALSE(has(functionOf(text, "zero"), "test.add")) << text;
  EXPECT_TRUE(has(functionOf(text, "one"), "test.add")) << text;
}

TEST_F(Natives, ordinaryConstraintSeesAStandIn) {
  add("ordinary", R"mlir(
pdl.pattern @OfI32 : benefit(0) {
  %t = pdl.type
  %x = pdl.operand
  %name = pdl.attribute
  %root = pdl.operation "test.f"(%x : !pdl.value) {"name" = %name} -> (%t : !pdl.type)
  pdl.apply_native_constraint "IsI32"(%x : !pdl.value)
  %length = pdl.apply_native_constraint "LengthOf"(%name : !pdl.attribute) : !pdl.attribute
  pdl.rewrite %root {
    %cost = pdl.attribute = 0 : i64
    %new = pdl.operation "test.g"(%x : !pdl.value) {"length" = %length, "cost" = %cost} -> (%t : !pdl.type)
    pdl.replace %root with %new
  }
})mlir",
      [](RuleSetBuilder &set, PDLPatternModule &module) {
        module.registerConstraintFunction(
            "IsI32", [](PatternRewriter &, Value v) {
              return success(v.getType().isInteger(32));
            });
        module.registerConstraintFunction(
            "LengthOf",
            [](PatternRewriter &r, PDLResultList &results,
               ArrayRef<PDLValue> args) -> LogicalResult {
              auto text = dyn_cast<StringAttr>(args[0].cast<Attribute>());
              if (!text)
                return failure();
              results.push_back(r.getI64IntegerAttr(text.size()));
              return success();
            });
        set.rule({"OfI32", Promise::exact()});
      });
  std::string text = saturate("ordinary", R"mlir(
    func.func @f(%x: i32, %y: i64) -> (i32, i32) {
      %0 = "test.f"(%x) {name = "four"} : (i32) -> i32
      %1 = "test.f"(%y) {name = "four"} : (i64) -> i32
      return %0, %1 : i32, i32
    })mlir");
  EXPECT_TRUE(has(text, "\"test.g\"(%arg0) {cost = 0 : i64, length = 4 : i64}"))
      << text;
  EXPECT_TRUE(has(text, "\"test.f\"(%arg1)")) << text;
}

TEST_F(Natives, rewritesMakeAttributesTypesAndOps) {
  add("rewrites", R"mlir(
pdl.pattern @Widen : benefit(0) {
  %t = pdl.type
  %x = pdl.operand
  %root = pdl.operation "test.narrow"(%x : !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %root {
    %wide = pdl.apply_native_rewrite "Wide"(%t : !pdl.type) : !pdl.type
    %cost = pdl.attribute = 0 : i64
    %a = pdl.operation "test.widen"(%x : !pdl.value) {"cost" = %cost} -> (%wide : !pdl.type)
    %av = pdl.result 0 of %a
    %b = pdl.apply_native_rewrite "Chain"(%av, %t : !pdl.value, !pdl.type) : !pdl.value
    %c = pdl.apply_native_rewrite "FastChain"(%b, %t : !pdl.value, !pdl.type) : !pdl.value
    pdl.replace %root with (%c : !pdl.value)
  }
})mlir",
      [](RuleSetBuilder &set, PDLPatternModule &module) {
        set.rewrite("Wide", [](MatchContext &, NativeArgs args,
                               NativeResults &results) {
          auto t = dyn_cast<IntegerType>(args[0].asType());
          if (!t || t.getWidth() > 32)
            return false;
          results.push_back(
              NativeValue(IntegerType::get(t.getContext(), 2 * t.getWidth())));
          return true;
        });
        set.rewrite("FastChain", [](MatchContext &c, NativeArgs args,
                                    NativeResults &results) {
          Builder b(c.getContext());
          results.push_back(NativeValue::ofClass(
              c.create("test.last",
                       b.getDictionaryAttr(
                           b.getNamedAttr("cost", b.getI64IntegerAttr(0))),
                       args[1].asType(), {args[0].asClass()})));
          return true;
        });
        module.registerRewriteFunction(
            "Chain", [](PatternRewriter &r, Value v, Type t) -> Value {
              OperationState first(v.getLoc(), "test.first");
              first.addOperands(v);
              first.addTypes(v.getType());
              first.addAttribute("cost", r.getI64IntegerAttr(0));
              OperationState second(v.getLoc(), "test.second");
              second.addOperands(r.create(first)->getResult(0));
              second.addTypes(t);
              second.addAttribute("cost", r.getI64IntegerAttr(0));
              return r.create(second)->getResult(0);
            });
        set.rule({"Widen", Promise::exact()});
      });
  std::string text = saturate("rewrites", R"mlir(
    func.func @f(%x: i8) -> i8 {
      %0 = "test.narrow"(%x) : (i8) -> i8
      return %0 : i8
    })mlir");
  EXPECT_TRUE(has(text, "\"test.widen\"(%arg0) {cost = 0 : i64} : (i8) -> i16"))
      << text;
  EXPECT_TRUE(has(text, "\"test.first\"(%0) {cost = 0 : i64} : (i16) -> i16"))
      << text;
  EXPECT_TRUE(has(text, "\"test.second\"(%1) {cost = 0 : i64} : (i16) -> i8"))
      << text;
  EXPECT_TRUE(has(text, "\"test.last\"(%2) {cost = 0 : i64} : (i8) -> i8"))
      << text;
}

TEST_F(Natives, matchedOperationsAreArguments) {
  add("operations", R"mlir(
pdl.pattern @FirstUse : benefit(0) {
  %t = pdl.type
  %x = pdl.operand
  %root = pdl.operation "test.f"(%x : !pdl.value) -> (%t : !pdl.type)
  pdl.apply_native_constraint "Marked"(%root : !pdl.operation)
  pdl.apply_native_constraint "AlsoMarked"(%root : !pdl.operation)
  pdl.rewrite %root {
    pdl.replace %root with (%x : !pdl.value)
  }
})mlir",
      [](RuleSetBuilder &set, PDLPatternModule &module) {
        set.constraint("Marked", [](MatchContext &c, NativeArgs args, auto &) {
          return bool(c.attrOf(args[0].asOp(), "marked")) &&
                 args[0].asOp().operands.size() == 1;
        });
        module.registerConstraintFunction("AlsoMarked", [](PatternRewriter &,
                                                           Operation *op) {
          return success(op->hasAttr("marked") && op->getNumOperands() == 1 &&
                         op->getOperand(0).getType().isInteger(8));
        });
        set.rule({"FirstUse", Promise::exact()});
      });
  std::string text = saturate("operations", R"mlir(
    func.func @f(%x: i8) -> (i8, i8) {
      %0 = "test.f"(%x) {marked} : (i8) -> i8
      %1 = "test.f"(%x) : (i8) -> i8
      return %0, %1 : i8, i8
    })mlir");
  EXPECT_TRUE(has(text, "return %arg0, %0")) << text;
}

/// Every kind of argument and result, ranges among them, and an operation with
/// many operands.
TEST_F(Natives, ordinaryFunctionsTakeAndReturnEveryKind) {
  add("kinds", R"mlir(
pdl.pattern @Kinds : benefit(0) {
  %a = pdl.type
  %b = pdl.type
  %ts = pdl.types
  %x = pdl.operand
  %k = pdl.attribute
  %inner = pdl.operation "test.pair"(%x : !pdl.value) -> (%a, %b : !pdl.type, !pdl.type)
  %i0 = pdl.result 0 of %inner
  %i1 = pdl.result 1 of %inner
  %all = pdl.results of %inner
  %root = pdl.operation "test.f"(%i0, %i1 : !pdl.value, !pdl.value) {"k" = %k} -> (%ts : !pdl.range<type>)
  %r:3 = pdl.apply_native_constraint "Look"(%x, %root, %k, %a, %all, %ts : !pdl.value, !pdl.operation, !pdl.attribute, !pdl.type, !pdl.range<value>, !pdl.range<type>) : !pdl.attribute, !pdl.type, !pdl.range<type>
  pdl.apply_native_constraint "FastLook"(%all, %ts : !pdl.range<value>, !pdl.range<type>)
  pdl.rewrite %root {
    %i8 = pdl.type : i8
    %both = pdl.range %x, %i1 : !pdl.value, !pdl.value
    %made:2 = pdl.apply_native_rewrite "Make"(%both, %r#2, %r#0 : !pdl.range<value>, !pdl.range<type>, !pdl.attribute) : !pdl.operation, !pdl.range<type>
    %second = pdl.result 1 of %made#0
    %cost = pdl.attribute = 0 : i64
    %new = pdl.operation "test.new"(%second : !pdl.value) {"cost" = %cost, "k" = %r#0} -> (%i8, %made#1 : !pdl.type, !pdl.range<type>)
    %last = pdl.operation "test.last"(%second : !pdl.value) {"cost" = %cost} -> (%ts : !pdl.range<type>)
    pdl.replace %root with %last
  }
})mlir",
      [](RuleSetBuilder &set, PDLPatternModule &module) {
        module.registerConstraintFunction(
            "Look",
            [](PatternRewriter &r, PDLResultList &results,
               ArrayRef<PDLValue> args) -> LogicalResult {
              auto x = args[0].cast<Value>();
              auto *root = args[1].cast<Operation *>();
              auto all = args[4].cast<ValueRange>();
              auto types = args[5].cast<TypeRange>();
              if (root->getNumOperands() != 2 || all.size() != 2 ||
                  root->getOperand(1) != all[1] ||
                  root->getResultTypes() != types ||
                  args[3].cast<Type>() != all[0].getType() ||
                  !isa<IntegerAttr>(args[2].cast<Attribute>()))
                return failure();
              results.push_back(r.getStringAttr("seen"));
              results.push_back(x.getType());
              results.push_back(TypeRange(all));
              return success();
            });
        set.constraint("FastLook",
                       [](MatchContext &c, NativeArgs args, auto &) {
                         return args[0].asClasses().size() == 2 &&
                                c.typeOf(args[0].asClasses()[1]).isInteger(8) &&
                                args[1].asTypes().size() == 1 &&
                                args[1].asTypes()[0].isInteger(32);
                       });
        module.registerRewriteFunction(
            "Make",
            [](PatternRewriter &r, PDLResultList &results,
               ArrayRef<PDLValue> args) -> LogicalResult {
              OperationState state(r.getUnknownLoc(), "test.made");
              state.addOperands(args[0].cast<ValueRange>());
              state.addTypes(args[1].cast<TypeRange>());
              state.addAttribute("note", args[2].cast<Attribute>());
              state.addAttribute("cost", r.getI64IntegerAttr(0));
              results.push_back(r.create(state));
              results.push_back(args[1].cast<TypeRange>());
              return success();
            });
        set.rule({"Kinds", Promise::exact()});
      });
  std::string text = saturate("kinds", R"mlir(
    func.func @f(%x: i64) -> i32 {
      %0:2 = "test.pair"(%x) : (i64) -> (i16, i8)
      %1 = "test.f"(%0#0, %0#1) {k = 3 : i8} : (i16, i8) -> i32
      return %1 : i32
    }
    func.func @not(%x: i64) -> (i32, i64) {
      %0:2 = "test.pair"(%x) : (i64) -> (i16, i8)
      %1 = "test.f"(%0#0, %0#1) {k = "3"} : (i16, i8) -> i32
      %2 = "test.f"(%0#0, %0#1) {k = 3 : i8} : (i16, i8) -> i64
      return %1, %2 : i32, i64
    })mlir");
  auto [yes, no] = StringRef(text).split("@not");
  EXPECT_TRUE(has(yes, "\"test.made\"(%arg0, %0#1) {cost = 0 : i64, note = "
                       "\"seen\"} : (i64, i8) -> (i16, i8)"))
      << messages << text;
  EXPECT_TRUE(has(yes, "\"test.last\"(%1#1)")) << text;
  EXPECT_EQ(no.count("test.f"), 2u) << text;
}

/// Ranges of values that natives create: tested against operands, passed on,
/// mixed with other values, used as operands and as replacements of results.
TEST_F(Natives, rangesOfValuesAreMade) {
  add("ranges", R"mlir(
pdl.pattern @Tail : benefit(0) {
  %t = pdl.type
  %u = pdl.type
  %xs = pdl.operands
  %inner = pdl.operation "test.g"(%xs : !pdl.range<value>) -> (%u : !pdl.type)
  %i = pdl.result 0 of %inner
  %made = pdl.apply_native_constraint "Tail"(%inner : !pdl.operation) : !pdl.range<value>
  %root = pdl.operation "test.f"(%i, %made : !pdl.value, !pdl.range<value>) -> (%t : !pdl.type)
  pdl.rewrite %root {
    %cost = pdl.attribute = 0 : i64
    %new = pdl.operation "test.tail"(%made, %xs : !pdl.range<value>, !pdl.range<value>) {"cost" = %cost} -> (%t : !pdl.type)
    pdl.replace %root with %new
  }
}
pdl.pattern @Seen : benefit(0) {
  %t = pdl.type
  %xs = pdl.operands
  %root = pdl.operation "test.seen"(%xs : !pdl.range<value>) -> (%t : !pdl.type)
  %made = pdl.apply_native_constraint "FastTail"(%root : !pdl.operation) : !pdl.range<value>
  pdl.apply_native_constraint "HasI8"(%made : !pdl.range<value>)
  pdl.apply_native_constraint "FastHasI8"(%made : !pdl.range<value>)
  pdl.rewrite %root {
    %cost = pdl.attribute = 0 : i64
    %new = pdl.operation "test.has"(%made : !pdl.range<value>) {"cost" = %cost} -> (%t : !pdl.type)
    pdl.replace %root with %new
  }
}
pdl.pattern @Turn : benefit(0) {
  %t = pdl.type
  %x = pdl.operand
  %xs = pdl.operands
  %root = pdl.operation "test.turn"(%x, %xs : !pdl.value, !pdl.range<value>) -> (%t : !pdl.type)
  pdl.rewrite %root {
    %cost = pdl.attribute = 0 : i64
    %all = pdl.range %x, %xs : !pdl.value, !pdl.range<value>
    %a = pdl.apply_native_rewrite "Reverse"(%all : !pdl.range<value>) : !pdl.range<value>
    %mixed = pdl.range %x, %a : !pdl.value, !pdl.range<value>
    %b = pdl.apply_native_rewrite "FastReverse"(%mixed : !pdl.range<value>) : !pdl.range<value>
    %types = pdl.apply_native_rewrite "TypesOf"(%b : !pdl.range<value>) : !pdl.range<type>
    %none = pdl.apply_native_rewrite "TypesOf"(%xs : !pdl.range<value>) : !pdl.range<type>
    %both = pdl.range %t, %none : !pdl.type, !pdl.range<type>
    %again = pdl.apply_native_rewrite "Same"(%both : !pdl.range<type>) : !pdl.range<type>
    %many = pdl.operation "test.many"(%b : !pdl.range<value>) {"cost" = %cost} -> (%types : !pdl.range<type>)
    %results = pdl.results of %many
    %new = pdl.operation "test.turned"(%x, %results, %a : !pdl.value, !pdl.range<value>, !pdl.range<value>) {"cost" = %cost} -> (%again : !pdl.range<type>)
    %result = pdl.result 0 of %new
    pdl.replace %root with (%result : !pdl.value)
  }
}
pdl.pattern @Swap : benefit(0) {
  %ts = pdl.types
  %xs = pdl.operands
  %root = pdl.operation "test.swap"(%xs : !pdl.range<value>) -> (%ts : !pdl.range<type>)
  pdl.rewrite %root {
    %a = pdl.apply_native_rewrite "FastReverse"(%xs : !pdl.range<value>) : !pdl.range<value>
    pdl.replace %root with (%a : !pdl.range<value>)
  }
})mlir",
      [](RuleSetBuilder &set, PDLPatternModule &module) {
        using Args = ArrayRef<PDLValue>;
        module.registerConstraintFunction(
            "Tail", [](PatternRewriter &, PDLResultList &results, Args args) {
              auto *op = args[0].cast<Operation *>();
              if (op->getNumOperands() == 0)
                return failure();
              results.push_back(ValueRange(op->getOperands().drop_front()));
              return success();
            });
        set.constraint("FastTail", [](MatchContext &, NativeArgs args,
                                      NativeResults &results) {
          ArrayRef<ClassId> operands = args[0].asOp().operands;
          results.push_back(NativeValue::ofClasses(operands.drop_front()));
          return true;
        });
        module.registerConstraintFunction(
            "HasI8", [](PatternRewriter &, PDLResultList &, Args args) {
              auto values = args[0].cast<ValueRange>();
              return success(llvm::any_of(
                  values, [](Value v) { return v.getType().isInteger(8); }));
            });
        set.constraint(
            "FastHasI8", [](MatchContext &c, NativeArgs args, NativeResults &) {
              return llvm::any_of(args[0].asClasses(), [&](ClassId v) {
                return c.typeOf(v).isInteger(8);
              });
            });
        module.registerRewriteFunction(
            "Reverse",
            [](PatternRewriter &, PDLResultList &results, Args args) {
              SmallVector<Value> values(args[0].cast<ValueRange>());
              std::reverse(values.begin(), values.end());
              results.push_back(ValueRange(values));
              return success();
            });
        set.rewrite("FastReverse", [](MatchContext &c, NativeArgs args,
                                      NativeResults &results) {
          SmallVector<ClassId> values(args[0].asClasses());
          std::reverse(values.begin(), values.end());
          results.push_back(c.range(values));
          return true;
        });
        module.registerRewriteFunction(
            "TypesOf",
            [](PatternRewriter &, PDLResultList &results, Args args) {
              results.push_back(TypeRange(args[0].cast<ValueRange>()));
              return success();
            });
        set.rewrite("Same", [](MatchContext &, NativeArgs args,
                               NativeResults &results) {
          results.push_back(args[0]);
          return true;
        });
        set.rules({{"Tail", Promise::exact()},
                   {"Seen", Promise::exact()},
                   {"Turn", Promise::exact()},
                   {"Swap", Promise::exact()}});
      });
  std::string text = saturate("ranges", R"mlir(
    func.func @tail(%x: i8, %y: i16) -> (i8, i8) {
      %0 = "test.g"(%x, %y, %x) : (i8, i16, i8) -> i8
      %1 = "test.f"(%0, %y, %x) : (i8, i16, i8) -> i8
      %2 = "test.g"(%x) : (i8) -> i8
      %3 = "test.f"(%2) : (i8) -> i8
      return %1, %3 : i8, i8
    }
    func.func @tail_not(%x: i8, %y: i16) -> (i8, i8) {
      %0 = "test.g"(%x, %y) : (i8, i16) -> i8
      %1 = "test.f"(%0, %x) : (i8, i8) -> i8
      %2 = "test.f"(%0) : (i8) -> i8
      return %1, %2 : i8, i8
    }
    func.func @seen(%x: i8, %y: i16) -> (i8, i8) {
      %0 = "test.seen"(%y, %y, %x) : (i16, i16, i8) -> i8
      %1 = "test.seen"(%x, %y) : (i8, i16) -> i8
      return %0, %1 : i8, i8
    }
    func.func @turn(%x: i8, %y: i16) -> (i32, i32) {
      %0 = "test.turn"(%x) : (i8) -> i32
      %1 = "test.turn"(%x, %y) : (i8, i16) -> i32
      return %0, %1 : i32, i32
    }
    func.func @swap(%x: i8, %y: i16) -> (i16, i8, i8) {
      %0:2 = "test.swap"(%x, %y) : (i8, i16) -> (i16, i8)
      %1 = "test.swap"(%x) : (i8) -> i8
      return %0#0, %0#1, %1 : i16, i8, i8
    }
    func.func @swap_not(%x: i8, %y: i16) -> (i16, i8) {
      %0:3 = "test.swap"(%x, %y) : (i8, i16) -> (i16, i8, i8)
      %1 = "test.swap"() : () -> i8
      return %0#0, %1 : i16, i8
    })mlir");
  auto of = [&](StringRef name) { return functionOf(text, name); };
  EXPECT_TRUE(
      has(of("tail"), "\"test.tail\"(%arg1, %arg0, %arg0, %arg1, %arg0)"))
      << messages << text;
  EXPECT_TRUE(has(of("tail"), "\"test.tail\"(%arg0) {")) << text;
  EXPECT_EQ(of("tail_not").count("test.f"), 2u) << text;
  EXPECT_TRUE(has(of("seen"), "\"test.has\"(%arg1, %arg0)")) << text;
  EXPECT_EQ(of("seen").count("test.seen"), 1u) << text;
  // Types of the operands reversed twice; all results between the others.
  EXPECT_TRUE(has(of("turn"), "\"test.turned\"(%arg0, %0#0, %0#1, %arg0) {cost "
                              "= 0 : i64} : (i8, i8, i8, i8) -> i32"))
      << text;
  EXPECT_TRUE(has(of("turn"), "\"test.many\"(%arg0, %arg1, %arg0)")) << text;
  EXPECT_TRUE(has(of("turn"), ", %arg1, %arg0) {cost = 0 : i64} : (i8, i8, "
                              "i16, i8, i16, i8) -> (i32, i16)"))
      << text;
  EXPECT_TRUE(has(of("swap"), "return %arg1, %arg0, %arg0")) << text;
  EXPECT_EQ(of("swap_not").count("test.swap"), 2u) << text;
}

TEST_F(Natives, standInsAreArgumentsOfAFunctionWithoutABody) {
  static unsigned looked = 0, equal = 0;
  add("stand-ins", R"mlir(
pdl.pattern @Look : benefit(0) {
  %t = pdl.type
  %x = pdl.operand
  %y = pdl.operand
  %root = pdl.operation "test.f"(%x, %y : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  %v = pdl.result 0 of %root
  pdl.apply_native_constraint "Look"(%x, %y, %v : !pdl.value, !pdl.value, !pdl.value)
  pdl.rewrite %root {
    pdl.replace %root with (%x : !pdl.value)
  }
}
pdl.pattern @Drop : benefit(0) {
  %t = pdl.type
  %x = pdl.operand
  %root = pdl.operation "test.drop"(%x : !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %root {
    pdl.replace %root with (%x : !pdl.value)
  }
})mlir",
      [](RuleSetBuilder &set, PDLPatternModule &module) {
        module.registerConstraintFunction(
            "Look", [](PatternRewriter &, Value x, Value y, Value v) {
              ++looked;
              for (Value any : {x, y, v})
                EXPECT_TRUE(isa<BlockArgument>(any) && !any.getDefiningOp() &&
                            any.use_empty());
              auto function =
                  dyn_cast<func::FuncOp>(x.getParentBlock()->getParentOp());
              EXPECT_TRUE(function && function.getName() == "f");
              equal += x == y;
              return success(x == y);
            });
        set.rules({{"Look", Promise::exact()},
                   {"Drop", Promise::exact(), Stratum::Canonical}});
      });
  std::string text = saturate("stand-ins", R"mlir(
    func.func @f(%x: i64, %y: i64) -> (i64, i64) {
      %0 = "test.constant"() : () -> i64
      %1 = "test.drop"(%0) : (i64) -> i64
      %2 = "test.f"(%0, %1) : (i64, i64) -> i64
      %3 = "test.f"(%x, %y) : (i64, i64) -> i64
      return %2, %3 : i64, i64
    })mlir");
  EXPECT_TRUE(has(text, "return %0, %1")) << messages << text;
  EXPECT_EQ(text.find("test.drop"), std::string::npos) << text;
  EXPECT_GE(looked, 2u);
  EXPECT_GE(equal, 1u);
}

TEST_F(Natives, operationsOfAnyWidthAreArguments) {
  std::string operands, types;
  for (unsigned i = 0; i != 40; ++i) {
    operands += i ? ", %x" : "%x";
    types += i ? ", !pdl.value" : "!pdl.value";
  }
  static std::string pattern =
      "pdl.pattern @Wide : benefit(0) {\n  %t = pdl.type\n  %x = pdl.operand\n"
      "  %root = pdl.operation \"test.f\"(" +
      operands + " : " + types +
      ") -> (%t : !pdl.type)\n"
      "  pdl.apply_native_constraint \"Wide\"(%root : !pdl.operation)\n"
      "  pdl.rewrite %root {\n    pdl.replace %root with (%x : "
      "!pdl.value)\n  }\n}";
  add("wide", pattern.c_str(), [](RuleSetBuilder &set, PDLPatternModule &m) {
    m.registerConstraintFunction("Wide", [](PatternRewriter &, Operation *op) {
      return success(op->getNumOperands() == 40 &&
                     llvm::all_equal(op->getOperands()));
    });
    set.rule({"Wide", Promise::exact()});
  });
  std::string i64s;
  for (unsigned i = 0; i != 40; ++i)
    i64s += i ? ", i64" : "i64";
  std::string text = saturate(
      "wide", ("func.func @f(%x: i64) -> i64 {\n  %0 = \"test.f\"(" + operands +
               ") : (" + i64s + ") -> i64\n  return %0 : i64\n}")
                  .c_str());
  EXPECT_TRUE(has(text, "return %arg0")) << messages << text;
}

} // namespace
