// RUN: split-file %s %t
// RUN: luminal-opt %t/input.mlir --allow-unregistered-dialect \
// RUN:   --eqsat-saturate="no-rule-sets cost=unit rules=%t/rules.mlir equivalence" | FileCheck %s

// An op with a fixed number of results: mlir-pdll names each by its group, and
// their types are not written.

//--- rules.mlir

pdl.pattern @Groups : benefit(0) attributes {eqsat.promise = "exact"} {
  %x = pdl.operand
  %y = pdl.operand
  %ts = pdl.types
  %given = pdl.operation "arith.mului_extended"(%x, %y : !pdl.value, !pdl.value) -> (%ts : !pdl.range<type>)
  %low = pdl.results 0 of %given -> !pdl.value
  %us = pdl.types
  %root = pdl.operation "arith.xori"(%low, %y : !pdl.value, !pdl.value) -> (%us : !pdl.range<type>)
  pdl.rewrite %root {
    %made = pdl.operation "arith.mulsi_extended"(%x, %y : !pdl.value, !pdl.value)
    %high = pdl.results 1 of %made -> !pdl.value
    %other = pdl.results 1 of %given -> !pdl.value
    %new = pdl.operation "arith.subi"(%high, %other : !pdl.value, !pdl.value)
    pdl.replace %root with %new
  }
}

//--- input.mlir

// CHECK-LABEL: func @low
// CHECK-DAG: %[[LOW:.*]], %[[HIGH:.*]] = arith.mului_extended
// CHECK-DAG: %[[SLOW:.*]], %[[SHIGH:.*]] = arith.mulsi_extended
// CHECK-DAG: %[[H:.*]] = "equivalence.class"(%[[HIGH]])
// CHECK-DAG: %[[S:.*]] = "equivalence.class"(%[[SHIGH]])
// CHECK-DAG: arith.subi %[[S]], %[[H]]
// CHECK: equivalence.yield
func.func @low(%x: i32, %y: i32) -> i32 {
  %low, %high = arith.mului_extended %x, %y : i32
  %0 = arith.xori %low, %y : i32
  return %0 : i32
}

// CHECK-LABEL: func @high
// CHECK-NOT: arith.subi
// CHECK: equivalence.yield
func.func @high(%x: i32, %y: i32) -> i32 {
  %low, %high = arith.mului_extended %x, %y : i32
  %0 = arith.xori %high, %y : i32
  return %0 : i32
}
