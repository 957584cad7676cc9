// RUN: luminal-opt %s --split-input-file --hlir-split-loops | FileCheck %s
// RUN: luminal-opt %s --split-input-file --hlir-split-loops --remarks-filter=hlir-split-loops 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK

// A reduction of what a trip reads is taken for all trips before the loop, one of what it made behind it; what is read of a trip
// alone, and what all trips read, stays where it is.
// CHECK-LABEL: func.func @split
// CHECK-SAME:      %[[H:[^:]*]]: tensor<4xf32>, %[[X:[^:]*]]: tensor<9x4x3xf32>, %[[K:[^:]*]]: tensor<4xf32>
// CHECK:         %[[SUMS:.*]] = hlir.reduce_sum %[[X]] : tensor<9x4x3xf32> -> tensor<9x4xf32>
// CHECK:         %[[R:.*]]:2 = hlir.repeat 9 carried(%[[H]] : tensor<4xf32>) rows(%[[SUMS]] : tensor<9x4xf32>) stacked 1 {
// CHECK-NEXT:    ^bb0(%[[S:.*]]: tensor<4xf32>, %[[ROW:.*]]: tensor<4xf32>):
// CHECK-NEXT:      %[[M:.*]] = hlir.mul %[[S]], %[[K]]
// CHECK-NEXT:      %[[N:.*]] = hlir.add %[[M]], %[[ROW]]
// CHECK-NEXT:      hlir.yield %[[N]], %[[N]]
// CHECK:         %[[Y:.*]] = hlir.reduce_sum %[[R]]#1 : tensor<9x4xf32> -> tensor<9xf32>
// CHECK:         return %[[R]]#0, %[[Y]]
// REMARK: split-loops.mlir:[[# @LINE + 3]]:{{.*}} remark: [Passed] rows
func.func @split(%h: tensor<4xf32>, %x: tensor<9x4x3xf32>, %k: tensor<4xf32>) -> (tensor<4xf32>, tensor<9xf32>) {
  // A line of code
  %r:2 = hlir.repeat 9 carried(%h : tensor<4xf32>) rows(%x : tensor<9x4x3xf32>) stacked 1 {
  ^bb0(%s: tensor<4xf32>, %row: tensor<4x3xf32>):
    %sum = hlir.reduce_sum %row : tensor<4x3xf32> -> tensor<4xf32>
    %m = hlir.mul %s, %k : tensor<4xf32>
    %n = hlir.add %m, %sum : tensor<4xf32>
    %y = hlir.reduce_sum %n : tensor<4xf32> -> tensor<f32>
    hlir.yield %n, %y : tensor<4xf32>, tensor<f32>
  } -> (tensor<4xf32>, tensor<9xf32>)
  return %r#0, %r#1 : tensor<4xf32>, tensor<9xf32>
}

// -----

// Nothing that is carried: no loop is left of it but the state, and what is stacked is computed for all trips.
// CHECK-LABEL: func.func @independent
// CHECK-SAME:      %[[X:[^:]*]]: tensor<9x4xf32>, %[[K:[^:]*]]: tensor<4xf32>
// CHECK:         %[[ALL:.*]] = hlir.view %[[K]] <(d0, d1) -> (d1)> : tensor<4xf32> -> tensor<9x4xf32>
// CHECK:         %[[M:.*]] = hlir.mul %[[X]], %[[ALL]] : tensor<9x4xf32>
// CHECK:         hlir.reduce_max %[[M]] : tensor<9x4xf32> -> tensor<9xf32>
func.func @independent(%x: tensor<9x4xf32>, %k: tensor<4xf32>, %h: tensor<4xf32>) -> (tensor<4xf32>, tensor<9xf32>) {
  %r:2 = hlir.repeat 9 carried(%h : tensor<4xf32>) rows(%x : tensor<9x4xf32>) stacked 1 {
  ^bb0(%s: tensor<4xf32>, %row: tensor<4xf32>):
    %m = hlir.mul %row, %k : tensor<4xf32>
    %y = hlir.reduce_max %m : tensor<4xf32> -> tensor<f32>
    hlir.yield %m, %y : tensor<4xf32>, tensor<f32>
  } -> (tensor<4xf32>, tensor<9xf32>)
  return %r#0, %r#1 : tensor<4xf32>, tensor<9xf32>
}

// -----

// A state that is summed takes part in more than its own element: lists in place of rows, and the outputs joined.
// CHECK-LABEL: func.func @expanded
// CHECK:         hlir.repeat 3 carried(%{{.*}} : tensor<4xf32>) each(%{{.*}}, %{{.*}}, %{{.*}} : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
// CHECK:         } -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
// CHECK:         hlir.select
// REMARK: remark: [Missed] rows {{.*}}reason="what is carried takes part in more than its own element
func.func @expanded(%h: tensor<4xf32>, %x: tensor<3x4xf32>) -> (tensor<4xf32>, tensor<3x4xf32>) {
  %r:2 = hlir.repeat 3 carried(%h : tensor<4xf32>) rows(%x : tensor<3x4xf32>) stacked 1 {
  ^bb0(%s: tensor<4xf32>, %row: tensor<4xf32>):
    %sum = hlir.reduce_sum %s : tensor<4xf32> -> tensor<f32>
    %all = hlir.view %sum <(d0) -> ()> : tensor<f32> -> tensor<4xf32>
    %n = hlir.add %all, %row : tensor<4xf32>
    hlir.yield %n, %n : tensor<4xf32>, tensor<4xf32>
  } -> (tensor<4xf32>, tensor<3x4xf32>)
  return %r#0, %r#1 : tensor<4xf32>, tensor<3x4xf32>
}
