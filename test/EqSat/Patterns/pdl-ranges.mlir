// Patterns with any number of operands or results, each with
// near misses: `@f` is rewritten, `@f_not` stays.

// RUN: split-file %s %t
// RUN: mlir-pdll -x=mlir %t/rules.pdll | sed 's/) {$/) attributes {eqsat.promise = "exact"} {/' > %t/rules.mlir
// RUN: luminal-opt %t/input.mlir --allow-unregistered-dialect \
// RUN:   --eqsat-saturate="no-rule-sets rules=%t/rules.mlir,%t/literal.mlir cost=attribute allow-unregistered report=%t/report.json" | FileCheck %s
// RUN: luminal-opt %t/input.mlir --allow-unregistered-dialect \
// RUN:   --eqsat-saturate="no-rule-sets rules=%t/rules.mlir,%t/literal.mlir cost=attribute allow-unregistered naive batch report=%t/naive.json" | FileCheck %s
// RUN: %python %S/Inputs/check-forms.py %t/report.json %t/naive.json
// RUN: luminal-opt %t/input.mlir --allow-unregistered-dialect -o /dev/null \
// RUN:   --eqsat-saturate="no-rule-sets rules=%t/rules.mlir cost=attribute allow-unregistered explain=-" | FileCheck %s --check-prefix=WHY

// Created ops are verified: one operand is right, two are an error.
// RUN: luminal-opt %t/one.mlir --allow-unregistered-dialect --eqsat-saturate="no-rule-sets rules=%t/wrong.mlir cost=attribute allow-unregistered" | FileCheck %s --check-prefix=ONE
// ONE: hlir.sqrt %arg0
// RUN: not luminal-opt %t/two.mlir --allow-unregistered-dialect --eqsat-saturate="no-rule-sets rules=%t/wrong.mlir cost=attribute allow-unregistered" 2>&1 | FileCheck %s --check-prefix=TWO
// TWO: wrong.mlir:[[#]]:12: error: rule 'Wrong' makes an invalid operation: {{.*}}requires a single operand

// New operators add new forms; the other forms continue if one finds nothing new.
// RUN: mlir-pdll -x=mlir %t/more.pdll | sed 's/) {$/) attributes {eqsat.promise = "exact"} {/' > %t/more-rules.mlir
// RUN: luminal-opt %t/more.mlir --allow-unregistered-dialect --eqsat-saturate="no-rule-sets rules=%t/more-rules.mlir cost=attribute allow-unregistered max-iterations=7 equivalence" | FileCheck %s --check-prefix=MORE
// RUN: luminal-opt %t/more.mlir --allow-unregistered-dialect --eqsat-saturate="no-rule-sets rules=%t/more-rules.mlir cost=attribute allow-unregistered max-iterations=7 equivalence naive batch" | FileCheck %s --check-prefix=MORE
// MORE-COUNT-8: "test.more"
// MORE-NOT: "test.more"
// More forms than the maximum number of rules are an error.
// RUN: %python %S/Inputs/many-results.py 41 > %t/many.mlir
// RUN: not luminal-opt %t/many.mlir --allow-unregistered-dialect --eqsat-saturate="no-rule-sets rules=%t/too-many.mlir cost=unit allow-unregistered" 2>&1 | FileCheck %s --check-prefix=MANY
// MANY: too-many.mlir:[[#]]:1: error: too many rules: at most 65535 can be used at once, and this one has a form for each number of values

//--- more.pdll

Pattern More {
  let r = op<test.more>(x: Value, xs: ValueRange) -> (t: Type);
  replace r with op<test.more>(xs, x, x) -> (t);
}

//--- more.mlir

func.func @f(%x: f32) -> f32 {
  %0 = "test.more"(%x) : (f32) -> f32
  return %0 : f32
}

//--- too-many.mlir

pdl.pattern @TooMany : benefit(0) attributes {eqsat.promise = "exact"} {
  %ts = pdl.types
  %a = pdl.operation "test.many" -> (%ts : !pdl.range<type>)
  %us = pdl.types
  %b = pdl.operation "test.many" -> (%us : !pdl.range<type>)
  %vs = pdl.types
  %c = pdl.operation "test.many" -> (%vs : !pdl.range<type>)
  %x = pdl.result 0 of %a
  %y = pdl.result 0 of %b
  %z = pdl.result 0 of %c
  %t = pdl.type
  %r = pdl.operation "test.a"(%x, %y, %z : !pdl.value, !pdl.value, !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %r {
    pdl.replace %r with (%x : !pdl.value)
  }
}

//--- wrong.mlir

pdl.pattern @Wrong : benefit(0) attributes {eqsat.promise = "exact"} {
  %xs = pdl.operands
  %t = pdl.type
  %r = pdl.operation "test.a"(%xs : !pdl.range<value>) -> (%t : !pdl.type)
  pdl.rewrite %r {
    %new = pdl.operation "hlir.sqrt"(%xs : !pdl.range<value>) -> (%t : !pdl.type)
    pdl.replace %r with %new
  }
}

//--- one.mlir

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "test.a"(%x) {cost = 2} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

//--- two.mlir

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "test.a"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

//--- rules.pdll

// Any number of operands, including none.
Pattern All {
  let r = op<test.all>(xs: ValueRange) -> (t: Type);
  replace r with op<test.new>(xs) {cost = attr<"0 : i64">} -> (t);
}

// The operands after the first one, used twice and rotated.
Pattern Rest {
  let r = op<test.rest>(x: Value, xs: ValueRange) -> (t: Type);
  replace r with op<test.new>(xs, x, xs) {cost = attr<"0.5 : f64">} -> (t);
}
// Has the same prefix as the pattern above.
Pattern RestOfTwo {
  let r = op<test.rest>(x: Value, x, xs: ValueRange) -> (t: Type);
  replace r with op<test.two>(xs) {cost = attr<"0 : i64">} -> (t);
}

// The same range twice: as many, and the same ones.
Pattern Same {
  let a = op<test.one>(xs: ValueRange) -> (_: Type);
  let r = op<test.same>(a.0, op<test.other>(xs) -> (_: Type)) -> (t: Type);
  replace r with op<test.new>(xs) {cost = attr<"0 : i64">} -> (t);
}

// The types of a range, as a whole.
Pattern Typed {
  let r = op<test.typed>(xs: ValueRange<ts: TypeRange>) -> (ts);
  replace r with xs;
}

// Replaced by a range: as many results as values.
Pattern Forward => replace op<test.forward>(xs: ValueRange) -> (_: TypeRange) with xs;
Pattern ForwardOne => replace op<test.forward_one>(xs: ValueRange) -> (_: Type) with xs;

// All results of an operation that does not say how many.
Pattern Whole {
  let p = op<test.many>(xs: ValueRange);
  let r = op<test.whole>(p) -> (t: Type);
  replace r with op<test.new>(xs) {cost = attr<"0 : i64">} -> (t);
}
Pattern FirstOfMany {
  let p = op<test.many>(xs: ValueRange);
  let r = op<test.first>(p.0) -> (t: Type);
  replace r with op<test.new>(xs, p) {cost = attr<"0 : i64">} -> (t);
}

// A list of types behind single ones, on both sides.
Pattern TypesBehind {
  let r = op<test.behind>(x: Value) -> (type<"f32">, t: Type, ts: TypeRange);
  replace r with op<test.new>(x) {cost = attr<"0 : i64">} -> (type<"f32">, t, ts);
}

// The rule itself creates operators with more and more operands.
Pattern Fewer {
  let r = op<test.fewer>(x: Value, xs: ValueRange) -> (t: Type);
  replace r with op<test.fewer>(xs) {cost = attr<"0 : i64">} -> (t);
}

// A registered operation has a fixed number of operands.
Pattern Registered {
  let r = op<arith.addi>(xs: ValueRange) -> (t: Type);
  replace r with op<test.sum>(xs) {cost = attr<"0 : i64">} -> (t);
}

//--- literal.mlir

pdl.pattern @LiteralTypes : benefit(0) attributes {eqsat.promise = "exact"} {
  %ts = pdl.types : [f32, i8]
  %xs = pdl.operands : %ts
  %t = pdl.type
  %r = pdl.operation "test.literal"(%xs : !pdl.range<value>) -> (%t : !pdl.type)
  pdl.rewrite %r {
    %cost = pdl.attribute = 0 : i64
    %new = pdl.operation "test.new"(%xs : !pdl.range<value>) {"cost" = %cost} -> (%t : !pdl.type)
    pdl.replace %r with %new
  }
}

//--- input.mlir

// CHECK-LABEL: @all(
// CHECK-NEXT: "test.new"() {cost = 0 : i64} : () -> f32
// CHECK-NEXT: "test.new"(%arg0)
// CHECK-NEXT: "test.new"(%arg0, %arg1)
// CHECK-NEXT: "test.new"(%arg1, %arg0, %arg1)
func.func @all(%x: f32, %y: i8) -> (f32, f32, f32, f32) {
  %0 = "test.all"() : () -> f32
  %1 = "test.all"(%x) : (f32) -> f32
  %2 = "test.all"(%x, %y) : (f32, i8) -> f32
  %3 = "test.all"(%y, %x, %y) : (i8, f32, i8) -> f32
  return %0, %1, %2, %3 : f32, f32, f32, f32
}
// CHECK-LABEL: @all_not(
// CHECK-NEXT: :2 = "test.all"
func.func @all_not(%x: f32) -> f32 {
  %0:2 = "test.all"(%x) : (f32) -> (f32, f32)
  return %0#0 : f32
}

// CHECK-LABEL: @rest(
// CHECK-NEXT: "test.new"(%arg0)
// CHECK-NEXT: "test.new"(%arg1, %arg0, %arg1)
// CHECK-NEXT: "test.new"(%arg0, %arg2, %arg1, %arg0, %arg2)
// CHECK-NEXT: "test.two"() {cost = 0 : i64}
// CHECK-NEXT: "test.two"(%arg1, %arg2) {cost = 0 : i64}
func.func @rest(%x: f32, %y: f32, %z: f32) -> (f32, f32, f32, f32, f32) {
  %0 = "test.rest"(%x) : (f32) -> f32
  %1 = "test.rest"(%x, %y) : (f32, f32) -> f32
  %2 = "test.rest"(%y, %x, %z) : (f32, f32, f32) -> f32
  %3 = "test.rest"(%x, %x) : (f32, f32) -> f32
  %4 = "test.rest"(%x, %x, %y, %z) : (f32, f32, f32, f32) -> f32
  return %0, %1, %2, %3, %4 : f32, f32, f32, f32, f32
}
// CHECK-LABEL: @rest_not(
// CHECK-NEXT: "test.rest"
func.func @rest_not() -> f32 {
  %0 = "test.rest"() : () -> f32
  return %0 : f32
}

// CHECK-LABEL: @same(
// CHECK-NEXT: "test.new"() {cost
// CHECK-NEXT: "test.new"(%arg0, %arg1)
func.func @same(%x: f32, %y: f32) -> (f32, f32) {
  %0 = "test.one"() : () -> f32
  %1 = "test.other"() : () -> f32
  %2 = "test.same"(%0, %1) : (f32, f32) -> f32
  %3 = "test.one"(%x, %y) : (f32, f32) -> f32
  %4 = "test.other"(%x, %y) : (f32, f32) -> f32
  %5 = "test.same"(%3, %4) : (f32, f32) -> f32
  return %2, %5 : f32, f32
}
// CHECK-LABEL: @same_not(
// CHECK: "test.same"
// CHECK: "test.same"
func.func @same_not(%x: f32, %y: f32) -> (f32, f32) {
  %0 = "test.one"(%x, %y) : (f32, f32) -> f32
  %1 = "test.other"(%y, %x) : (f32, f32) -> f32
  %2 = "test.other"(%x) : (f32) -> f32
  %3 = "test.same"(%0, %1) : (f32, f32) -> f32
  %4 = "test.same"(%0, %2) : (f32, f32) -> f32
  return %3, %4 : f32, f32
}

// CHECK-LABEL: @typed(
// CHECK-NEXT: "test.new"(%arg0, %arg1)
// CHECK-NEXT: return %arg0, %arg1, %arg1, %{{.*}} :
func.func @typed(%x: f32, %y: i8) -> (f32, i8, i8, f32) {
  %0:2 = "test.typed"(%x, %y) : (f32, i8) -> (f32, i8)
  %1 = "test.typed"(%y) : (i8) -> i8
  %2 = "test.literal"(%x, %y) : (f32, i8) -> f32
  return %0#0, %0#1, %1, %2 : f32, i8, i8, f32
}
// CHECK-LABEL: @typed_not(
// CHECK-NEXT: "test.typed"
// CHECK-NEXT: "test.typed"
// CHECK-NEXT: "test.literal"
// CHECK-NEXT: "test.literal"
// CHECK-NEXT: "test.literal"
func.func @typed_not(%x: f32, %y: i8) -> (i8, i8, f32, f32, f32) {
  %0:2 = "test.typed"(%x, %y) : (f32, i8) -> (i8, f32)
  %1 = "test.typed"() : () -> i8
  %2 = "test.literal"() : () -> f32
  %3 = "test.literal"(%x, %x) : (f32, f32) -> f32
  %4 = "test.literal"(%x, %y, %x) : (f32, i8, f32) -> f32
  return %0#0, %1, %2, %3, %4 : i8, i8, f32, f32, f32
}

// Each result separately, from left to right.
// WHY-LABEL: explanation of @forward
// WHY: 1: %{{.*}} by Forward ({{.*}}), exact loc
// WHY-NOT: read from right to left
// WHY: claims
// CHECK-LABEL: @forward(
// CHECK-NEXT: return %arg0, %arg1, %arg0, %arg1, %arg1, %arg0
func.func @forward(%x: f32, %y: i8) -> (f32, i8, f32, i8, i8, f32) {
  %0:2 = "test.forward"(%x, %y) : (f32, i8) -> (f32, i8)
  %1:3 = "test.forward"(%x, %y, %y) : (f32, i8, i8) -> (f32, i8, i8)
  %2 = "test.forward_one"(%x) : (f32) -> f32
  return %0#0, %0#1, %1#0, %1#1, %1#2, %2 : f32, i8, f32, i8, i8, f32
}
// CHECK-LABEL: @forward_not(
// CHECK-NEXT: "test.forward"()
// CHECK-NEXT: "test.forward"
// CHECK-NEXT: "test.forward_one"()
// CHECK-NEXT: "test.forward_one"
func.func @forward_not(%x: f32) -> (f32, f32, f32, f32) {
  %0 = "test.forward"() : () -> f32
  %1:2 = "test.forward"(%x) : (f32) -> (f32, f32)
  %2 = "test.forward_one"() : () -> f32
  %3 = "test.forward_one"(%x, %x) : (f32, f32) -> f32
  return %0, %1#0, %2, %3 : f32, f32, f32, f32
}

// CHECK-LABEL: @whole(
// CHECK-NEXT: %[[A:.*]] = "test.new"()
// CHECK-NEXT: %[[B:.*]] = "test.new"(%arg0, %arg1)
// CHECK-NEXT: %[[M:.*]]:2 = "test.many"(%arg0)
// CHECK-NEXT: %[[C:.*]] = "test.new"(%arg0, %[[M]]#0, %[[M]]#1)
// CHECK-NEXT: return %[[A]], %[[B]], %[[C]]
func.func @whole(%x: f32, %y: f32) -> (f32, f32, f32) {
  %0 = "test.many"() : () -> f32
  %1 = "test.whole"(%0) : (f32) -> f32
  %2:3 = "test.many"(%x, %y) : (f32, f32) -> (f32, f32, f32)
  %3 = "test.whole"(%2#0, %2#1, %2#2) : (f32, f32, f32) -> f32
  %4:2 = "test.many"(%x) : (f32) -> (f32, i8)
  %5 = "test.first"(%4#0) : (f32) -> f32
  return %1, %3, %5 : f32, f32, f32
}
// CHECK-LABEL: @whole_not(
// CHECK-COUNT-2: "test.whole"
// CHECK: "test.first"
func.func @whole_not(%x: f32) -> (f32, f32, f32) {
  %0:3 = "test.many"(%x) : (f32) -> (f32, f32, f32)
  %1 = "test.whole"(%0#0, %0#1) : (f32, f32) -> f32
  %2 = "test.whole"(%0#0, %0#2, %0#1) : (f32, f32, f32) -> f32
  %3 = "test.first"(%0#1) : (f32) -> f32
  return %1, %2, %3 : f32, f32, f32
}

// CHECK-LABEL: @behind(
// CHECK-NEXT: :2 = "test.new"(%arg0) {{.*}} : (f32) -> (f32, i8)
// CHECK-NEXT: :4 = "test.new"(%arg1) {{.*}} : (i8) -> (f32, i8, i16, i32)
func.func @behind(%x: f32, %y: i8) -> (i8, i32) {
  %0:2 = "test.behind"(%x) : (f32) -> (f32, i8)
  %1:4 = "test.behind"(%y) : (i8) -> (f32, i8, i16, i32)
  return %0#1, %1#3 : i8, i32
}
// CHECK-LABEL: @behind_not(
// CHECK-NEXT: "test.behind"
// CHECK-NEXT: "test.behind"
func.func @behind_not(%x: f32) -> (f32, i8) {
  %0 = "test.behind"(%x) : (f32) -> f32
  %1:3 = "test.behind"(%x) : (f32) -> (i8, i8, i16)
  return %0, %1#0 : f32, i8
}

// One step of one rule for each number of operands.
// WHY-LABEL: explanation of @fewer
// WHY: %[[FIVE:.*]] = test.fewer(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) : f32
// WHY: %[[NONE:.*]] = test.fewer {cost = 0 : i64} : f32
// WHY: 1: %[[FIVE]] = %{{.*}} by Fewer ({{.*}}rules.pdll:{{[0-9]+}}), exact
// WHY-COUNT-4: by Fewer ({{.*}}rules.pdll:{{[0-9]+}}), exact
// WHY: claims
// WHY-NEXT: %[[FIVE]] = %[[NONE]] by 1, 2, 3, 4, 5
// CHECK-LABEL: @fewer(
// CHECK-NEXT: "test.fewer"() {cost = 0 : i64}
func.func @fewer(%x: f32, %y: f32) -> f32 {
  %0 = "test.fewer"(%x, %y, %x, %y, %y) : (f32, f32, f32, f32, f32) -> f32
  return %0 : f32
}

// Both orders of a commutative op match.
// CHECK-LABEL: @registered(
// CHECK-NEXT: "test.sum"({{%arg0, %arg1|%arg1, %arg0}})
func.func @registered(%x: i8, %y: i8) -> i8 {
  %0 = arith.addi %x, %y : i8
  return %0 : i8
}
