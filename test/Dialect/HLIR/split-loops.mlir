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
// REMARK: remark: [Missed] rows {{.*}}reason="a carried value takes part in more than its own element
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

// -----

// A loop over time that was written out: slices of the inputs along a dim in the middle, in steps of two, and outputs stacked behind
// all others; one trip's output is read alone too.
// CHECK-LABEL: func.func @written_out
// CHECK-SAME:      %[[H:[^:]*]]: tensor<3xf32>, %[[X:[^:]*]]: tensor<1x16x3xf32>
// CHECK:         %[[ROWS:.*]] = hlir.view %[[X]] <(d0, d1) -> (0, 2 * d0, d1)> : tensor<1x16x3xf32> -> tensor<8x3xf32>
// CHECK:         %[[R:.*]]:2 = hlir.repeat 8 carried(%[[H]] : tensor<3xf32>) rows(%[[ROWS]] : tensor<8x3xf32>) stacked 1 {
// CHECK-DAG:     %[[ALL:.*]] = hlir.view %[[R]]#1 <(d0, d1) -> (d1, d0)> : tensor<8x3xf32> -> tensor<3x8xf32>
// CHECK-DAG:     %[[ONE:.*]] = hlir.view %[[R]]#1 <(d0) -> (2, d0)> : tensor<8x3xf32> -> tensor<3xf32>
// CHECK:         return %[[ALL]], %[[R]]#0, %[[ONE]]
func.func @written_out(%h: tensor<3xf32>, %x: tensor<1x16x3xf32>) -> (tensor<3x8xf32>, tensor<3xf32>, tensor<3xf32>) {
  %x0 = hlir.view %x <(d0) -> (0, 0, d0)> : tensor<1x16x3xf32> -> tensor<3xf32>
  %x1 = hlir.view %x <(d0) -> (0, 2, d0)> : tensor<1x16x3xf32> -> tensor<3xf32>
  %x2 = hlir.view %x <(d0) -> (0, 4, d0)> : tensor<1x16x3xf32> -> tensor<3xf32>
  %x3 = hlir.view %x <(d0) -> (0, 6, d0)> : tensor<1x16x3xf32> -> tensor<3xf32>
  %x4 = hlir.view %x <(d0) -> (0, 8, d0)> : tensor<1x16x3xf32> -> tensor<3xf32>
  %x5 = hlir.view %x <(d0) -> (0, 10, d0)> : tensor<1x16x3xf32> -> tensor<3xf32>
  %x6 = hlir.view %x <(d0) -> (0, 12, d0)> : tensor<1x16x3xf32> -> tensor<3xf32>
  %x7 = hlir.view %x <(d0) -> (0, 14, d0)> : tensor<1x16x3xf32> -> tensor<3xf32>
  %r:9 = hlir.repeat 8 carried(%h : tensor<3xf32>) each(%x0, %x1, %x2, %x3, %x4, %x5, %x6, %x7 : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) {
  ^bb0(%c: tensor<3xf32>, %row: tensor<3xf32>):
    %m = hlir.mul %c, %row : tensor<3xf32>
    %n = hlir.sin %m : tensor<3xf32>
    hlir.yield %m, %n : tensor<3xf32>, tensor<3xf32>
  } -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>)
  %i = hlir.iota <(d0, d1) -> (d1)> : tensor<3x8xi64>
  %w0 = hlir.view %r#1 <(d0, d1) -> (d0)> : tensor<3xf32> -> tensor<3x8xf32>
  %w1 = hlir.view %r#2 <(d0, d1) -> (d0)> : tensor<3xf32> -> tensor<3x8xf32>
  %w2 = hlir.view %r#3 <(d0, d1) -> (d0)> : tensor<3xf32> -> tensor<3x8xf32>
  %w3 = hlir.view %r#4 <(d0, d1) -> (d0)> : tensor<3xf32> -> tensor<3x8xf32>
  %w4 = hlir.view %r#5 <(d0, d1) -> (d0)> : tensor<3xf32> -> tensor<3x8xf32>
  %w5 = hlir.view %r#6 <(d0, d1) -> (d0)> : tensor<3xf32> -> tensor<3x8xf32>
  %w6 = hlir.view %r#7 <(d0, d1) -> (d0)> : tensor<3xf32> -> tensor<3x8xf32>
  %w7 = hlir.view %r#8 <(d0, d1) -> (d0)> : tensor<3xf32> -> tensor<3x8xf32>
  %k6 = hlir.constant dense<7> : tensor<i64>
  %b6 = hlir.view %k6 <(d0, d1) -> ()> : tensor<i64> -> tensor<3x8xi64>
  %q6 = hlir.less_than %i, %b6 : tensor<3x8xi64> -> tensor<3x8xi1>
  %s6 = hlir.select %q6, %w6, %w7 : tensor<3x8xi1>, tensor<3x8xf32>
  %k5 = hlir.constant dense<6> : tensor<i64>
  %b5 = hlir.view %k5 <(d0, d1) -> ()> : tensor<i64> -> tensor<3x8xi64>
  %q5 = hlir.less_than %i, %b5 : tensor<3x8xi64> -> tensor<3x8xi1>
  %s5 = hlir.select %q5, %w5, %s6 : tensor<3x8xi1>, tensor<3x8xf32>
  %k4 = hlir.constant dense<5> : tensor<i64>
  %b4 = hlir.view %k4 <(d0, d1) -> ()> : tensor<i64> -> tensor<3x8xi64>
  %q4 = hlir.less_than %i, %b4 : tensor<3x8xi64> -> tensor<3x8xi1>
  %s4 = hlir.select %q4, %w4, %s5 : tensor<3x8xi1>, tensor<3x8xf32>
  %k3 = hlir.constant dense<4> : tensor<i64>
  %b3 = hlir.view %k3 <(d0, d1) -> ()> : tensor<i64> -> tensor<3x8xi64>
  %q3 = hlir.less_than %i, %b3 : tensor<3x8xi64> -> tensor<3x8xi1>
  %s3 = hlir.select %q3, %w3, %s4 : tensor<3x8xi1>, tensor<3x8xf32>
  %k2 = hlir.constant dense<3> : tensor<i64>
  %b2 = hlir.view %k2 <(d0, d1) -> ()> : tensor<i64> -> tensor<3x8xi64>
  %q2 = hlir.less_than %i, %b2 : tensor<3x8xi64> -> tensor<3x8xi1>
  %s2 = hlir.select %q2, %w2, %s3 : tensor<3x8xi1>, tensor<3x8xf32>
  %k1 = hlir.constant dense<2> : tensor<i64>
  %b1 = hlir.view %k1 <(d0, d1) -> ()> : tensor<i64> -> tensor<3x8xi64>
  %q1 = hlir.less_than %i, %b1 : tensor<3x8xi64> -> tensor<3x8xi1>
  %s1 = hlir.select %q1, %w1, %s2 : tensor<3x8xi1>, tensor<3x8xf32>
  %k0 = hlir.constant dense<1> : tensor<i64>
  %b0 = hlir.view %k0 <(d0, d1) -> ()> : tensor<i64> -> tensor<3x8xi64>
  %q0 = hlir.less_than %i, %b0 : tensor<3x8xi64> -> tensor<3x8xi1>
  %s0 = hlir.select %q0, %w0, %s1 : tensor<3x8xi1>, tensor<3x8xf32>
  return %s0, %r#0, %r#3 : tensor<3x8xf32>, tensor<3xf32>, tensor<3xf32>
}

// -----

// Near misses of that: one step is of another length.
// CHECK-LABEL: func.func @uneven
// CHECK-NOT:     rows(
// CHECK:         hlir.repeat 8 carried(%{{.*}} : tensor<3xf32>) each(
func.func @uneven(%h: tensor<3xf32>, %x: tensor<1x16x3xf32>) -> (tensor<3x8xf32>, tensor<3xf32>, tensor<3xf32>) {
  %x0 = hlir.view %x <(d0) -> (0, 0, d0)> : tensor<1x16x3xf32> -> tensor<3xf32>
  %x1 = hlir.view %x <(d0) -> (0, 2, d0)> : tensor<1x16x3xf32> -> tensor<3xf32>
  %x2 = hlir.view %x <(d0) -> (0, 4, d0)> : tensor<1x16x3xf32> -> tensor<3xf32>
  %x3 = hlir.view %x <(d0) -> (0, 7, d0)> : tensor<1x16x3xf32> -> tensor<3xf32>
  %x4 = hlir.view %x <(d0) -> (0, 8, d0)> : tensor<1x16x3xf32> -> tensor<3xf32>
  %x5 = hlir.view %x <(d0) -> (0, 10, d0)> : tensor<1x16x3xf32> -> tensor<3xf32>
  %x6 = hlir.view %x <(d0) -> (0, 12, d0)> : tensor<1x16x3xf32> -> tensor<3xf32>
  %x7 = hlir.view %x <(d0) -> (0, 14, d0)> : tensor<1x16x3xf32> -> tensor<3xf32>
  %r:9 = hlir.repeat 8 carried(%h : tensor<3xf32>) each(%x0, %x1, %x2, %x3, %x4, %x5, %x6, %x7 : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) {
  ^bb0(%c: tensor<3xf32>, %row: tensor<3xf32>):
    %m = hlir.mul %c, %row : tensor<3xf32>
    %n = hlir.sin %m : tensor<3xf32>
    hlir.yield %m, %n : tensor<3xf32>, tensor<3xf32>
  } -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>)
  %i = hlir.iota <(d0, d1) -> (d1)> : tensor<3x8xi64>
  %w0 = hlir.view %r#1 <(d0, d1) -> (d0)> : tensor<3xf32> -> tensor<3x8xf32>
  %w1 = hlir.view %r#2 <(d0, d1) -> (d0)> : tensor<3xf32> -> tensor<3x8xf32>
  %w2 = hlir.view %r#3 <(d0, d1) -> (d0)> : tensor<3xf32> -> tensor<3x8xf32>
  %w3 = hlir.view %r#4 <(d0, d1) -> (d0)> : tensor<3xf32> -> tensor<3x8xf32>
  %w4 = hlir.view %r#5 <(d0, d1) -> (d0)> : tensor<3xf32> -> tensor<3x8xf32>
  %w5 = hlir.view %r#6 <(d0, d1) -> (d0)> : tensor<3xf32> -> tensor<3x8xf32>
  %w6 = hlir.view %r#7 <(d0, d1) -> (d0)> : tensor<3xf32> -> tensor<3x8xf32>
  %w7 = hlir.view %r#8 <(d0, d1) -> (d0)> : tensor<3xf32> -> tensor<3x8xf32>
  %k6 = hlir.constant dense<7> : tensor<i64>
  %b6 = hlir.view %k6 <(d0, d1) -> ()> : tensor<i64> -> tensor<3x8xi64>
  %q6 = hlir.less_than %i, %b6 : tensor<3x8xi64> -> tensor<3x8xi1>
  %s6 = hlir.select %q6, %w6, %w7 : tensor<3x8xi1>, tensor<3x8xf32>
  %k5 = hlir.constant dense<6> : tensor<i64>
  %b5 = hlir.view %k5 <(d0, d1) -> ()> : tensor<i64> -> tensor<3x8xi64>
  %q5 = hlir.less_than %i, %b5 : tensor<3x8xi64> -> tensor<3x8xi1>
  %s5 = hlir.select %q5, %w5, %s6 : tensor<3x8xi1>, tensor<3x8xf32>
  %k4 = hlir.constant dense<5> : tensor<i64>
  %b4 = hlir.view %k4 <(d0, d1) -> ()> : tensor<i64> -> tensor<3x8xi64>
  %q4 = hlir.less_than %i, %b4 : tensor<3x8xi64> -> tensor<3x8xi1>
  %s4 = hlir.select %q4, %w4, %s5 : tensor<3x8xi1>, tensor<3x8xf32>
  %k3 = hlir.constant dense<4> : tensor<i64>
  %b3 = hlir.view %k3 <(d0, d1) -> ()> : tensor<i64> -> tensor<3x8xi64>
  %q3 = hlir.less_than %i, %b3 : tensor<3x8xi64> -> tensor<3x8xi1>
  %s3 = hlir.select %q3, %w3, %s4 : tensor<3x8xi1>, tensor<3x8xf32>
  %k2 = hlir.constant dense<3> : tensor<i64>
  %b2 = hlir.view %k2 <(d0, d1) -> ()> : tensor<i64> -> tensor<3x8xi64>
  %q2 = hlir.less_than %i, %b2 : tensor<3x8xi64> -> tensor<3x8xi1>
  %s2 = hlir.select %q2, %w2, %s3 : tensor<3x8xi1>, tensor<3x8xf32>
  %k1 = hlir.constant dense<2> : tensor<i64>
  %b1 = hlir.view %k1 <(d0, d1) -> ()> : tensor<i64> -> tensor<3x8xi64>
  %q1 = hlir.less_than %i, %b1 : tensor<3x8xi64> -> tensor<3x8xi1>
  %s1 = hlir.select %q1, %w1, %s2 : tensor<3x8xi1>, tensor<3x8xf32>
  %k0 = hlir.constant dense<1> : tensor<i64>
  %b0 = hlir.view %k0 <(d0, d1) -> ()> : tensor<i64> -> tensor<3x8xi64>
  %q0 = hlir.less_than %i, %b0 : tensor<3x8xi64> -> tensor<3x8xi1>
  %s0 = hlir.select %q0, %w0, %s1 : tensor<3x8xi1>, tensor<3x8xf32>
  return %s0, %r#0, %r#3 : tensor<3x8xf32>, tensor<3xf32>, tensor<3xf32>
}

// -----

// Two trips' outputs are the other way round.
// CHECK-LABEL: func.func @swapped
// CHECK-NOT:     rows(
// CHECK:         hlir.repeat 8 carried(%{{.*}} : tensor<3xf32>) each(
func.func @swapped(%h: tensor<3xf32>, %x: tensor<1x16x3xf32>) -> (tensor<3x8xf32>, tensor<3xf32>, tensor<3xf32>) {
  %x0 = hlir.view %x <(d0) -> (0, 0, d0)> : tensor<1x16x3xf32> -> tensor<3xf32>
  %x1 = hlir.view %x <(d0) -> (0, 2, d0)> : tensor<1x16x3xf32> -> tensor<3xf32>
  %x2 = hlir.view %x <(d0) -> (0, 4, d0)> : tensor<1x16x3xf32> -> tensor<3xf32>
  %x3 = hlir.view %x <(d0) -> (0, 6, d0)> : tensor<1x16x3xf32> -> tensor<3xf32>
  %x4 = hlir.view %x <(d0) -> (0, 8, d0)> : tensor<1x16x3xf32> -> tensor<3xf32>
  %x5 = hlir.view %x <(d0) -> (0, 10, d0)> : tensor<1x16x3xf32> -> tensor<3xf32>
  %x6 = hlir.view %x <(d0) -> (0, 12, d0)> : tensor<1x16x3xf32> -> tensor<3xf32>
  %x7 = hlir.view %x <(d0) -> (0, 14, d0)> : tensor<1x16x3xf32> -> tensor<3xf32>
  %r:9 = hlir.repeat 8 carried(%h : tensor<3xf32>) each(%x0, %x1, %x2, %x3, %x4, %x5, %x6, %x7 : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) {
  ^bb0(%c: tensor<3xf32>, %row: tensor<3xf32>):
    %m = hlir.mul %c, %row : tensor<3xf32>
    %n = hlir.sin %m : tensor<3xf32>
    hlir.yield %m, %n : tensor<3xf32>, tensor<3xf32>
  } -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>)
  %i = hlir.iota <(d0, d1) -> (d1)> : tensor<3x8xi64>
  %w0 = hlir.view %r#1 <(d0, d1) -> (d0)> : tensor<3xf32> -> tensor<3x8xf32>
  %w1 = hlir.view %r#2 <(d0, d1) -> (d0)> : tensor<3xf32> -> tensor<3x8xf32>
  %w2 = hlir.view %r#4 <(d0, d1) -> (d0)> : tensor<3xf32> -> tensor<3x8xf32>
  %w3 = hlir.view %r#3 <(d0, d1) -> (d0)> : tensor<3xf32> -> tensor<3x8xf32>
  %w4 = hlir.view %r#5 <(d0, d1) -> (d0)> : tensor<3xf32> -> tensor<3x8xf32>
  %w5 = hlir.view %r#6 <(d0, d1) -> (d0)> : tensor<3xf32> -> tensor<3x8xf32>
  %w6 = hlir.view %r#7 <(d0, d1) -> (d0)> : tensor<3xf32> -> tensor<3x8xf32>
  %w7 = hlir.view %r#8 <(d0, d1) -> (d0)> : tensor<3xf32> -> tensor<3x8xf32>
  %k6 = hlir.constant dense<7> : tensor<i64>
  %b6 = hlir.view %k6 <(d0, d1) -> ()> : tensor<i64> -> tensor<3x8xi64>
  %q6 = hlir.less_than %i, %b6 : tensor<3x8xi64> -> tensor<3x8xi1>
  %s6 = hlir.select %q6, %w6, %w7 : tensor<3x8xi1>, tensor<3x8xf32>
  %k5 = hlir.constant dense<6> : tensor<i64>
  %b5 = hlir.view %k5 <(d0, d1) -> ()> : tensor<i64> -> tensor<3x8xi64>
  %q5 = hlir.less_than %i, %b5 : tensor<3x8xi64> -> tensor<3x8xi1>
  %s5 = hlir.select %q5, %w5, %s6 : tensor<3x8xi1>, tensor<3x8xf32>
  %k4 = hlir.constant dense<5> : tensor<i64>
  %b4 = hlir.view %k4 <(d0, d1) -> ()> : tensor<i64> -> tensor<3x8xi64>
  %q4 = hlir.less_than %i, %b4 : tensor<3x8xi64> -> tensor<3x8xi1>
  %s4 = hlir.select %q4, %w4, %s5 : tensor<3x8xi1>, tensor<3x8xf32>
  %k3 = hlir.constant dense<4> : tensor<i64>
  %b3 = hlir.view %k3 <(d0, d1) -> ()> : tensor<i64> -> tensor<3x8xi64>
  %q3 = hlir.less_than %i, %b3 : tensor<3x8xi64> -> tensor<3x8xi1>
  %s3 = hlir.select %q3, %w3, %s4 : tensor<3x8xi1>, tensor<3x8xf32>
  %k2 = hlir.constant dense<3> : tensor<i64>
  %b2 = hlir.view %k2 <(d0, d1) -> ()> : tensor<i64> -> tensor<3x8xi64>
  %q2 = hlir.less_than %i, %b2 : tensor<3x8xi64> -> tensor<3x8xi1>
  %s2 = hlir.select %q2, %w2, %s3 : tensor<3x8xi1>, tensor<3x8xf32>
  %k1 = hlir.constant dense<2> : tensor<i64>
  %b1 = hlir.view %k1 <(d0, d1) -> ()> : tensor<i64> -> tensor<3x8xi64>
  %q1 = hlir.less_than %i, %b1 : tensor<3x8xi64> -> tensor<3x8xi1>
  %s1 = hlir.select %q1, %w1, %s2 : tensor<3x8xi1>, tensor<3x8xf32>
  %k0 = hlir.constant dense<1> : tensor<i64>
  %b0 = hlir.view %k0 <(d0, d1) -> ()> : tensor<i64> -> tensor<3x8xi64>
  %q0 = hlir.less_than %i, %b0 : tensor<3x8xi64> -> tensor<3x8xi1>
  %s0 = hlir.select %q0, %w0, %s1 : tensor<3x8xi1>, tensor<3x8xf32>
  return %s0, %r#0, %r#3 : tensor<3x8xf32>, tensor<3xf32>, tensor<3xf32>
}
