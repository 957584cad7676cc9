// Why the extracted program is equal to the given one, or two values to each other.

// RUN: luminal-opt %s --eqsat-saturate="explain=%t.txt report=%t.json" -o /dev/null
// RUN: FileCheck %s --input-file=%t.txt
// RUN: FileCheck %s --input-file=%t.json --check-prefix=JSON
// RUN: luminal-opt %s --eqsat-saturate="explain=- explain-values=twice,product" -o /dev/null | FileCheck %s --check-prefix=VALUES
// RUN: luminal-opt %s --eqsat-saturate="explain=- explain-values=once,product" -o /dev/null | FileCheck %s --check-prefix=DIFFER
// RUN: luminal-opt %s --eqsat-saturate="report=%t.none.json" -o /dev/null
// RUN: not grep explanation %t.none.json

// RUN: not luminal-opt %s --eqsat-saturate="explain=- explain-values=once,never" -o /dev/null 2>&1 | FileCheck %s --check-prefix=NAME
// NAME: explain.mlir:[[#]]:1: error: no value has the name location 'never'
// RUN: not luminal-opt %s --eqsat-saturate="explain=- explain-values=once" -o /dev/null 2>&1 | FileCheck %s --check-prefix=COUNT
// COUNT: error: explain-values takes two names, not 1
// RUN: not luminal-opt %s --eqsat-saturate="explain-values=once,twice" -o /dev/null 2>&1 | FileCheck %s --check-prefix=NOWHERE
// NOWHERE: error: explain-values needs explain=FILE
// RUN: not luminal-opt %s --allow-unregistered-dialect --eqsat-saturate="explain=- equivalence" -o /dev/null 2>&1 | FileCheck %s --check-prefix=GRAPH
// GRAPH: error: explain cannot be combined with equivalence, which extracts no program
// RUN: not luminal-opt %s --eqsat-saturate="explain=%t.txt/none" -o /dev/null 2>&1 | FileCheck %s --check-prefix=FILE
// FILE: error: {{.*}}none: cannot be written

// The sum is explained with the steps that it depends on: each follows from those before it.
// CHECK-LABEL: explanation of @main
// CHECK-NEXT: terms
// CHECK-DAG:    %[[X:.*]] = leaf {index = 0 : i64} : tensor<4xf32>
// CHECK-DAG:    %[[P:.*]] = hlir.mul(
// CHECK-DAG:    %[[S:.*]] = hlir.add(
// CHECK: steps
// CHECK:   [[NEG:[0-9]+]]: %{{.*}} = %{{.*}} by NegNeg (lib/EqSat/Rules/Views.pdll:{{[0-9]+}}), exact loc("product") loc("twice")
// CHECK:   [[SUM:[0-9]+]]: %[[S]] = %{{.*}} because operands are equal: {{.*}}[[NEG]]{{.*}} loc("sum")
// CHECK:   [[SUB:[0-9]+]]: %{{.*}} = %{{.*}} by Sub (lib/EqSat/Rules/Arithmetic.pdll:{{[0-9]+}}), exact loc("sum")
// CHECK: claims
// CHECK-NEXT: operand 0 of func.return loc({{.*}}): %[[S]] = %{{.*}} by [[SUM]], [[SUB]]

// JSON: "explanation": {
// JSON:   "claims": [
// JSON:     "proved": true
// JSON:   "steps": [
// JSON:     "promise": "exact"
// JSON:     "rule": "{{.*}}"
// JSON:   "terms": [

// VALUES: 'twice' and 'product' loc({{.*}}): %{{[0-9]+}} = %{{[0-9]+}} by {{[0-9]}}
// DIFFER: 'once' and 'product' loc({{.*}}): not found equal
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %one = hlir.constant dense<-1.0> : tensor<f32> loc("minus one")
  %all = hlir.view %one <(d0) -> ()> : tensor<f32> -> tensor<4xf32>
  %0 = hlir.mul %x, %y : tensor<4xf32> loc("product")
  %1 = hlir.mul %0, %all : tensor<4xf32> loc("once")
  %2 = hlir.mul %1, %all : tensor<4xf32> loc("twice")
  %3 = hlir.add %2, %1 : tensor<4xf32> loc("sum")
  return %3 : tensor<4xf32>
}
