// RUN: split-file %s %t
// RUN: luminal-opt %t/input.mlir --allow-unregistered-dialect \
// RUN:   --eqsat-saturate="no-rule-sets rules=%t/rules.mlir cost=attribute allow-unregistered" \
// RUN:   | FileCheck %s
// RUN: luminal-opt %t/input.mlir --allow-unregistered-dialect \
// RUN:   --eqsat-saturate="no-rule-sets rules=%t/rules.mlir cost=attribute allow-unregistered naive batch" \
// RUN:   | FileCheck %s

//--- rules.mlir

// a + (b + c) = (a + b) + c.
pdl.pattern @Associate : benefit(0) attributes {eqsat.promise = "rounding(1)"} {
  %t = pdl.type
  %a = pdl.operand
  %b = pdl.operand
  %c = pdl.operand
  %inner = pdl.operation "test.add"(%b, %c : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  %bc = pdl.result 0 of %inner
  %root = pdl.operation "test.add"(%a, %bc : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %root {
    %ab = pdl.operation "test.add"(%a, %b : !pdl.value, !pdl.value) -> (%t : !pdl.type)
    %abv = pdl.result 0 of %ab
    %abc = pdl.operation "test.add"(%abv, %c : !pdl.value, !pdl.value) -> (%t : !pdl.type)
    pdl.replace %root with %abc
  }
}

// a + a is cheap: the same operand twice, and an attribute made on the right side.
pdl.pattern @Double : benefit(0) attributes {eqsat.promise = "exact"} {
  %t = pdl.type
  %a = pdl.operand : %t
  %root = pdl.operation "test.add"(%a, %a : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %root {
    %cost = pdl.attribute = 0.5 : f64
    %new = pdl.operation "test.double"(%a : !pdl.value) {"cost" = %cost} -> (%t : !pdl.type)
    pdl.replace %root with %new
  }
}

// Attributes: one must be this, one is carried over, types are given.
pdl.pattern @Scale : benefit(0) attributes {eqsat.promise = "exact", eqsat.stratum = "lowering"} {
  %t = pdl.type : f32
  %x = pdl.operand
  %mode = pdl.attribute = "fast"
  %by = pdl.attribute
  %root = pdl.operation "test.scale"(%x : !pdl.value) {"mode" = %mode, "by" = %by} -> (%t : !pdl.type)
  pdl.rewrite %root {
    %cost = pdl.attribute = 0.5 : f64
    %new = pdl.operation "test.scaled"(%x : !pdl.value) {"factor" = %by, "cost" = %cost} -> (%t : !pdl.type)
    pdl.replace %root with %new
  }
}

// Several results: taken apart, and replaced one by one.
pdl.pattern @SplitOfJoin : benefit(0) attributes {eqsat.promise = "exact"} {
  %t = pdl.type
  %u = pdl.type
  %v = pdl.type
  %a = pdl.operand
  %b = pdl.operand
  %join = pdl.operation "test.join"(%a, %b : !pdl.value, !pdl.value) -> (%v : !pdl.type)
  %j = pdl.result 0 of %join
  %root = pdl.operation "test.split"(%j : !pdl.value) -> (%t, %u : !pdl.type, !pdl.type)
  pdl.rewrite %root {
    pdl.replace %root with (%a, %b : !pdl.value, !pdl.value)
  }
}
pdl.pattern @JoinOfSplit : benefit(0) attributes {eqsat.promise = "exact"} {
  %t = pdl.type
  %u = pdl.type
  %v = pdl.type
  %a = pdl.operand : %v
  %split = pdl.operation "test.split"(%a : !pdl.value) -> (%t, %u : !pdl.type, !pdl.type)
  %first = pdl.result 0 of %split
  %second = pdl.result 1 of %split
  %root = pdl.operation "test.join"(%first, %second : !pdl.value, !pdl.value) -> (%v : !pdl.type)
  pdl.rewrite %root {
    pdl.replace %root with (%a : !pdl.value)
  }
}

//--- input.mlir

// CHECK-LABEL: func @reassociate
// CHECK-SAME: %[[X:.*]]: f32, %[[Y:.*]]: f32
// CHECK: %[[D:.*]] = "test.double"(%[[X]]) {cost = 5.000000e-01 : f64} : (f32) -> f32
// CHECK: %[[R:.*]] = "test.add"(%[[D]], %[[Y]])
// CHECK: return %[[R]]
func.func @reassociate(%x: f32, %y: f32) -> f32 {
  %0 = "test.add"(%x, %y) : (f32, f32) -> f32
  %1 = "test.add"(%x, %0) : (f32, f32) -> f32
  return %1 : f32
}

// CHECK-LABEL: func @attributes_must_agree
// CHECK-SAME: %[[X:.*]]: f32
// CHECK: %[[A:.*]] = "test.scaled"(%[[X]]) {cost = 5.000000e-01 : f64, factor = 3 : i64}
// CHECK: %[[B:.*]] = "test.scale"(%[[X]]) {by = 3 : i64, mode = "slow"}
// CHECK: %[[C:.*]] = "test.scale"(%[[X]]) {mode = "fast"}
// CHECK: return %[[A]], %[[B]], %[[C]]
func.func @attributes_must_agree(%x: f32) -> (f32, f32, f32) {
  %0 = "test.scale"(%x) {mode = "fast", by = 3} : (f32) -> f32
  %1 = "test.scale"(%x) {mode = "slow", by = 3} : (f32) -> f32
  %2 = "test.scale"(%x) {mode = "fast"} : (f32) -> f32
  return %0, %1, %2 : f32, f32, f32
}

// The given type must be the node's.
// CHECK-LABEL: func @types_must_agree
// CHECK: "test.scale"
func.func @types_must_agree(%x: f64) -> f64 {
  %0 = "test.scale"(%x) {mode = "fast", by = 3} : (f64) -> f64
  return %0 : f64
}

// CHECK-LABEL: func @several_results
// CHECK-SAME: %[[X:.*]]: f32, %[[Y:.*]]: f64
// CHECK-NEXT: return %[[X]], %[[Y]]
func.func @several_results(%x: f32, %y: f64) -> (f32, f64) {
  %0 = "test.join"(%x, %y) : (f32, f64) -> i8
  %1:2 = "test.split"(%0) : (i8) -> (f32, f64)
  return %1#0, %1#1 : f32, f64
}

// CHECK-LABEL: func @results_in_order
// CHECK-SAME: %[[X:.*]]: i8, %[[Y:.*]]: i8
// CHECK: %[[S:.*]]:2 = "test.split"(%[[Y]])
// CHECK: %[[J:.*]] = "test.join"(%[[S]]#1, %[[S]]#0)
// CHECK: return %[[X]], %[[J]]
func.func @results_in_order(%x: i8, %y: i8) -> (i8, i8) {
  %0:2 = "test.split"(%x) : (i8) -> (f32, f32)
  %1 = "test.join"(%0#0, %0#1) : (f32, f32) -> i8
  %2:2 = "test.split"(%y) : (i8) -> (f32, f32)
  %3 = "test.join"(%2#1, %2#0) : (f32, f32) -> i8
  return %1, %3 : i8, i8
}

// Equal terms become one op; unused ones are dropped.
// CHECK-LABEL: func @common_terms
// CHECK-COUNT-1: "test.f"
// CHECK-NOT: "test.f"
// CHECK: return
func.func @common_terms(%x: f32) -> (f32, f32) {
  %0 = "test.f"(%x) : (f32) -> f32
  %1 = "test.f"(%x) : (f32) -> f32
  %2 = "test.unused"(%x) : (f32) -> f32
  return %0, %1 : f32, f32
}

// CHECK-LABEL: func @no_ops
// CHECK-NEXT: return %{{.*}} : f32
func.func @no_ops(%x: f32) -> f32 {
  return %x : f32
}
