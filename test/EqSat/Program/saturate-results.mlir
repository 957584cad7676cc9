// RUN: split-file %s %t
// RUN: luminal-opt %t/input.mlir --allow-unregistered-dialect \
// RUN:   --eqsat-saturate="no-rule-sets rules=%t/rules.mlir cost=attribute allow-unregistered" | FileCheck %s

// Lists of result types: of any length, or spelled out; results taken one by
// one or all together; right sides that nest.

//--- rules.mlir

pdl.pattern @AnyLength : benefit(0) attributes {eqsat.promise = "exact"} {
  %types = pdl.types
  %x = pdl.operand
  %root = pdl.operation "test.any"(%x : !pdl.value) -> (%types : !pdl.range<type>)
  pdl.rewrite %root {
    %cost = pdl.attribute = 0.5 : f64
    %new = pdl.operation "test.some"(%x : !pdl.value) {"cost" = %cost} -> (%types : !pdl.range<type>)
    pdl.replace %root with %new
  }
}

pdl.pattern @SpelledOut : benefit(0) attributes {eqsat.promise = "exact"} {
  %types = pdl.types : [i8, f32]
  %x = pdl.operand
  %root = pdl.operation "test.pair"(%x : !pdl.value) -> (%types : !pdl.range<type>)
  pdl.rewrite %root {
    %cost = pdl.attribute = 0.5 : f64
    %new = pdl.operation "test.two"(%x : !pdl.value) {"cost" = %cost} -> (%types : !pdl.range<type>)
    %all = pdl.results of %new
    pdl.replace %root with (%all : !pdl.range<value>)
  }
}

// f(x) = h(g(x, second of p(x)), first of p(x)): constants, results and
// intermediate operations in one right side.
pdl.pattern @Nested : benefit(0) attributes {eqsat.promise = "exact"} {
  %t = pdl.type
  %x = pdl.operand
  %root = pdl.operation "test.nest"(%x : !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %root {
    %free = pdl.attribute = 0 : i64
    %i8 = pdl.type : i8
    %p = pdl.operation "test.p"(%x : !pdl.value) {"cost" = %free} -> (%t, %i8 : !pdl.type, !pdl.type)
    %first = pdl.result 0 of %p
    %second = pdl.result 1 of %p
    %g = pdl.operation "test.g"(%x, %second : !pdl.value, !pdl.value) {"cost" = %free} -> (%t : !pdl.type)
    %gv = pdl.result 0 of %g
    %h = pdl.operation "test.h"(%gv, %first : !pdl.value, !pdl.value) {"cost" = %free} -> (%t : !pdl.type)
    pdl.replace %root with %h
  }
}

//--- input.mlir

// CHECK-LABEL: func @any_length
// CHECK-SAME: %[[X:.*]]: f32
// CHECK-NEXT: %[[A:.*]] = "test.some"(%[[X]]) {{.*}} : (f32) -> f64
// CHECK-NEXT: %[[B:.*]]:3 = "test.some"(%[[X]]) {{.*}} : (f32) -> (f64, i8, f32)
// CHECK-NEXT: return %[[A]], %[[B]]#2, %[[B]]#1
func.func @any_length(%x: f32) -> (f64, f32, i8) {
  %0 = "test.any"(%x) : (f32) -> f64
  %1:3 = "test.any"(%x) : (f32) -> (f64, i8, f32)
  return %0, %1#2, %1#1 : f64, f32, i8
}

// CHECK-LABEL: func @spelled_out
// CHECK-SAME: %[[X:.*]]: f32
// CHECK-NEXT: %[[A:.*]]:2 = "test.two"(%[[X]]) {{.*}} : (f32) -> (i8, f32)
// CHECK-NEXT: %[[B:.*]]:2 = "test.pair"(%[[X]]) : (f32) -> (f32, i8)
// CHECK-NEXT: return %[[A]]#0, %[[A]]#1, %[[B]]#0
func.func @spelled_out(%x: f32) -> (i8, f32, f32) {
  %0:2 = "test.pair"(%x) : (f32) -> (i8, f32)
  %1:2 = "test.pair"(%x) : (f32) -> (f32, i8)
  return %0#0, %0#1, %1#0 : i8, f32, f32
}

// CHECK-LABEL: func @nested
// CHECK-SAME: %[[X:.*]]: f32
// CHECK-NEXT: %[[P:.*]]:2 = "test.p"(%[[X]]) {cost = 0 : i64} : (f32) -> (f32, i8)
// CHECK-NEXT: %[[G:.*]] = "test.g"(%[[X]], %[[P]]#1) {cost = 0 : i64} : (f32, i8) -> f32
// CHECK-NEXT: %[[H:.*]] = "test.h"(%[[G]], %[[P]]#0) {cost = 0 : i64} : (f32, f32) -> f32
// CHECK-NEXT: return %[[H]]
func.func @nested(%x: f32) -> f32 {
  %0 = "test.nest"(%x) : (f32) -> f32
  return %0 : f32
}
