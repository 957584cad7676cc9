// The forms that mlir-pdll writes for pure ops, each with a near miss:
// `@f` is rewritten, `@f_not` stays.

// RUN: split-file %s %t
// RUN: mlir-pdll -x=mlir %t/rules.pdll | sed 's/) {$/) attributes {eqsat.promise = "exact"} {/' > %t/rules.mlir
// RUN: luminal-opt %t/input.mlir --allow-unregistered-dialect \
// RUN:   --eqsat-saturate="no-rule-sets rules=%t/rules.mlir cost=attribute allow-unregistered" | FileCheck %s
// RUN: luminal-opt %t/input.mlir --allow-unregistered-dialect \
// RUN:   --eqsat-saturate="no-rule-sets rules=%t/rules.mlir cost=attribute allow-unregistered naive batch" | FileCheck %s

//--- rules.pdll

// Benefit and recursion have no meaning here.
Pattern Short with benefit(3), recursion => replace op<test.short>(x: Value) -> (_: Type) with x;

// An attribute whose type is that of the result; results take their types from
// what is replaced.
Pattern AttrType {
  let r = op<test.attr>(x: Value) {k = a: Attr<t: Type>} -> (t);
  replace r with op<test.new>(x) {cost = attr<"0 : i64">, k = a};
}

Pattern Literals {
  let r = op<test.literal>(x: Value) {mode = attr<"[1, \"fast\"]">} -> (type<"f32">);
  replace r with x;
}

Pattern OperandTypes {
  let r = op<test.types>(x: Value<t: Type>, y: Value<t>) -> (_: Type);
  replace r with op<test.new>(x, y) {cost = attr<"0 : i64">} -> (t);
}

Pattern SameOperand => replace op<test.same>(x: Value, x) -> (_: Type) with x;

// One result, whether its type is named or not.
Pattern OneResult {
  let r = op<test.one>(x: Value) -> (t: Type);
  replace r with op<test.new>(x) {cost = attr<"0 : i64">} -> (t);
}
Pattern Untyped => replace op<test.untyped>(x: Value) with x;

Pattern NoOperands {
  let r = op<test.leaf>() -> (t: Type);
  replace r with op<test.new>() {cost = attr<"0 : i64">} -> (t);
}

Pattern InnerResults {
  let p = op<test.pair>(x: Value) -> (t: Type, _: Type);
  let r = op<test.join>(p.0, p.1) -> (t);
  replace r with p.0;
}

Pattern SeveralValues {
  let r = op<test.swap>(x: Value, y: Value) -> (_: Type, _: Type);
  replace r with (y, x);
}

Pattern SeveralResults {
  let r = op<test.two>(x: Value) -> (t: Type, u: Type);
  rewrite r with {
    let n = op<test.new>(x) {cost = attr<"0 : i64">} -> (u, t);
    replace r with (n.1, n.0);
  };
}

Pattern SecondResult {
  let r = op<test.second>(x: Value) -> (t: Type);
  rewrite r with {
    let n = op<test.new>(x) {cost = attr<"0 : i64">} -> (type<"i8">, t);
    replace r with n.1;
  };
}

Pattern UsedTwice {
  let r = op<test.twice>(x: Value) -> (t: Type);
  rewrite r with {
    let a = op<test.new>(x) {cost = attr<"0 : i64">} -> (t);
    replace r with op<test.newer>(a, a) {cost = attr<"0 : i64">} -> (t);
  };
}

// The right side is a part of the left one.
Pattern Idempotent {
  let i = op<test.idem>(x: Value) -> (t: Type);
  let r = op<test.idem>(i.0) -> (t);
  replace r with i;
}

// Has the same prefix as the pattern above.
Pattern SamePrefix {
  let i = op<test.idem>(x: Value) -> (t: Type);
  let r = op<test.outer>(i.0) -> (t);
  replace r with op<test.new>(i.0) {cost = attr<"0 : i64">} -> (t);
}

//--- input.mlir

// CHECK-LABEL: @short(
// CHECK-NEXT: return %arg0
func.func @short(%x: f32) -> f32 {
  %0 = "test.short"(%x) : (f32) -> f32
  return %0 : f32
}
// CHECK-LABEL: @short_not(
// CHECK-NEXT: "test.short"
func.func @short_not(%x: f32) -> f32 {
  %0 = "test.short"(%x, %x) : (f32, f32) -> f32
  return %0 : f32
}

// CHECK-LABEL: @attr(
// CHECK-NEXT: "test.new"(%arg0) {cost = 0 : i64, k = 1.000000e+00 : f32} : (i8) -> f32
func.func @attr(%x: i8) -> f32 {
  %0 = "test.attr"(%x) {k = 1.0 : f32} : (i8) -> f32
  return %0 : f32
}
// CHECK-LABEL: @attr_not(
// CHECK-NEXT: "test.attr"(%arg0) {k = 1
// CHECK-NEXT: "test.attr"(%arg0) {k = "f32"}
func.func @attr_not(%x: i8) -> (f32, f32) {
  %0 = "test.attr"(%x) {k = 1 : i32} : (i8) -> f32
  %1 = "test.attr"(%x) {k = "f32"} : (i8) -> f32
  return %0, %1 : f32, f32
}

// CHECK-LABEL: @literal(
// CHECK-NEXT: return %arg0
func.func @literal(%x: f32) -> f32 {
  %0 = "test.literal"(%x) {mode = [1, "fast"]} : (f32) -> f32
  return %0 : f32
}
// CHECK-LABEL: @literal_not(
// CHECK-NEXT: "test.literal"(%arg0)
// CHECK-NEXT: "test.literal"(%arg1)
func.func @literal_not(%x: f32, %y: f64) -> (f32, f64) {
  %0 = "test.literal"(%x) {mode = [1, "slow"]} : (f32) -> f32
  %1 = "test.literal"(%y) {mode = [1, "fast"]} : (f64) -> f64
  return %0, %1 : f32, f64
}

// CHECK-LABEL: @types(
// CHECK-NEXT: "test.new"(%arg0, %arg1)
func.func @types(%x: f32, %y: f32) -> f32 {
  %0 = "test.types"(%x, %y) : (f32, f32) -> f32
  return %0 : f32
}
// CHECK-LABEL: @types_not(
// CHECK-NEXT: "test.types"
func.func @types_not(%x: f32, %y: f64) -> f32 {
  %0 = "test.types"(%x, %y) : (f32, f64) -> f32
  return %0 : f32
}

// CHECK-LABEL: @same(
// CHECK-NEXT: return %arg0
func.func @same(%x: f32) -> f32 {
  %0 = "test.same"(%x, %x) : (f32, f32) -> f32
  return %0 : f32
}
// CHECK-LABEL: @same_not(
// CHECK-NEXT: "test.same"
func.func @same_not(%x: f32, %y: f32) -> f32 {
  %0 = "test.same"(%x, %y) : (f32, f32) -> f32
  return %0 : f32
}

// CHECK-LABEL: @one(
// CHECK-NEXT: %[[N:.*]] = "test.new"(%arg0)
// CHECK-NEXT: return %[[N]], %arg0
func.func @one(%x: f32) -> (f32, f32) {
  %0 = "test.one"(%x) : (f32) -> f32
  %1 = "test.untyped"(%x) : (f32) -> f32
  return %0, %1 : f32, f32
}
// CHECK-LABEL: @one_not(
// CHECK-NEXT: :2 = "test.one"
// CHECK-NEXT: :2 = "test.untyped"
func.func @one_not(%x: f32) -> (f32, f32) {
  %0:2 = "test.one"(%x) : (f32) -> (f32, f32)
  %1:2 = "test.untyped"(%x) : (f32) -> (f32, f32)
  return %0#1, %1#0 : f32, f32
}

// CHECK-LABEL: @leaf(
// CHECK-NEXT: "test.new"() {cost = 0 : i64} : () -> f32
func.func @leaf() -> f32 {
  %0 = "test.leaf"() : () -> f32
  return %0 : f32
}
// CHECK-LABEL: @leaf_not(
// CHECK-NEXT: "test.leaf"
func.func @leaf_not(%x: f32) -> f32 {
  %0 = "test.leaf"(%x) : (f32) -> f32
  return %0 : f32
}

// CHECK-LABEL: @pair(
// CHECK-NEXT: %[[P:.*]]:2 = "test.pair"(%arg0)
// CHECK-NEXT: return %[[P]]#0
func.func @pair(%x: f32) -> f32 {
  %0:2 = "test.pair"(%x) : (f32) -> (f32, i8)
  %1 = "test.join"(%0#0, %0#1) : (f32, i8) -> f32
  return %1 : f32
}
// Results in another order, of another operation, of another type.
// CHECK-LABEL: @pair_not(
// CHECK-COUNT-3: "test.join"
func.func @pair_not(%x: f32, %y: f32) -> (f32, f32, f64) {
  %0:2 = "test.pair"(%x) : (f32) -> (f32, f32)
  %1:2 = "test.pair"(%y) : (f32) -> (f32, f32)
  %2 = "test.join"(%0#1, %0#0) : (f32, f32) -> f32
  %3 = "test.join"(%0#0, %1#1) : (f32, f32) -> f32
  %4 = "test.join"(%0#0, %0#1) : (f32, f32) -> f64
  return %2, %3, %4 : f32, f32, f64
}

// CHECK-LABEL: @swap(
// CHECK-NEXT: return %arg1, %arg0
func.func @swap(%x: f32, %y: i8) -> (i8, f32) {
  %0:2 = "test.swap"(%x, %y) : (f32, i8) -> (i8, f32)
  return %0#0, %0#1 : i8, f32
}
// CHECK-LABEL: @swap_not(
// CHECK-NEXT: "test.swap"
func.func @swap_not(%x: f32, %y: i8) -> (i8, f32) {
  %0:3 = "test.swap"(%x, %y) : (f32, i8) -> (i8, f32, f32)
  return %0#0, %0#1 : i8, f32
}

// CHECK-LABEL: @two(
// CHECK-NEXT: %[[N:.*]]:2 = "test.new"(%arg0) {{.*}} : (f32) -> (i8, f32)
// CHECK-NEXT: return %[[N]]#1, %[[N]]#0
func.func @two(%x: f32) -> (f32, i8) {
  %0:2 = "test.two"(%x) : (f32) -> (f32, i8)
  return %0#0, %0#1 : f32, i8
}
// CHECK-LABEL: @two_not(
// CHECK-NEXT: "test.two"
func.func @two_not(%x: f32) -> f32 {
  %0 = "test.two"(%x) : (f32) -> f32
  return %0 : f32
}

// CHECK-LABEL: @second(
// CHECK-NEXT: %[[N:.*]]:2 = "test.new"(%arg0) {{.*}} : (f32) -> (i8, f32)
// CHECK-NEXT: return %[[N]]#1
func.func @second(%x: f32) -> f32 {
  %0 = "test.second"(%x) : (f32) -> f32
  return %0 : f32
}

// CHECK-LABEL: @twice(
// CHECK-NEXT: %[[N:.*]] = "test.new"(%arg0)
// CHECK-NEXT: "test.newer"(%[[N]], %[[N]])
func.func @twice(%x: f32) -> f32 {
  %0 = "test.twice"(%x) : (f32) -> f32
  return %0 : f32
}

// CHECK-LABEL: @idem(
// CHECK-NEXT: %[[I:.*]] = "test.idem"(%arg0)
// CHECK-NEXT: %[[N:.*]] = "test.new"(%[[I]])
// CHECK-NEXT: return %[[I]], %[[N]]
func.func @idem(%x: f32) -> (f32, f32) {
  %0 = "test.idem"(%x) : (f32) -> f32
  %1 = "test.idem"(%0) : (f32) -> f32
  %2 = "test.idem"(%1) : (f32) -> f32
  %3 = "test.outer"(%2) : (f32) -> f32
  return %2, %3 : f32, f32
}
// CHECK-LABEL: @idem_not(
// CHECK-COUNT-2: "test.idem"
// CHECK: "test.outer"
func.func @idem_not(%x: f32) -> (f32, f64) {
  %0 = "test.idem"(%x) : (f32) -> f64
  %1 = "test.idem"(%0) : (f64) -> f32
  %2 = "test.outer"(%1) : (f32) -> f64
  return %1, %2 : f32, f64
}
