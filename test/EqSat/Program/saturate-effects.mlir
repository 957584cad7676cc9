// RUN: luminal-opt %s --allow-unregistered-dialect --eqsat-saturate="no-rule-sets cost=unit" | FileCheck %s

// Ops that are not known to be pure stay where they are, in their order; the
// pure ones between them are placed before their first use.

// CHECK-LABEL: func @order
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>
func.func @order(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: "test.effect"(%[[X]])
  // CHECK-NEXT: %[[A:.*]] = hlir.sqrt %[[X]]
  // CHECK-NEXT: %[[S:.*]] = "test.source"(%[[A]])
  // CHECK-NEXT: %[[B:.*]] = hlir.add
  // CHECK-NEXT: "test.effect"(%[[B]])
  // CHECK-NEXT: return %[[B]]
  %0 = hlir.sqrt %x : tensor<4xf32>
  "test.effect"(%x) : (tensor<4xf32>) -> ()
  %1 = hlir.sqrt %x : tensor<4xf32>
  %2 = "test.source"(%1) : (tensor<4xf32>) -> tensor<4xf32>
  %3 = hlir.add %2, %0 : tensor<4xf32>
  "test.effect"(%3) : (tensor<4xf32>) -> ()
  %4 = hlir.add %0, %2 : tensor<4xf32>
  return %4 : tensor<4xf32>
}
