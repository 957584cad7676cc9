// RUN: luminal-opt %s --split-input-file --llir-form-recurrences | FileCheck %s
// RUN: luminal-opt %s --split-input-file --llir-form-recurrences --remarks-filter=llir-form-recurrences 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK

// What only the loop reads element by element is computed in its region, views become maps, also of what all trips read.
// CHECK-LABEL: func.func @sunk
// CHECK-SAME:      %[[H:.*]]: tensor<4x3xf32>, %[[X:.*]]: tensor<3x9x4xf32>, %[[K:.*]]: tensor<3xf32>
// CHECK-NEXT:    %[[R:.*]]:2 = llir.recurrence trips <() -> (9)> carried(%[[H]] : tensor<4x3xf32>) inputs(%[[K]], %[[X]] : tensor<3xf32>, tensor<3x9x4xf32>) maps [#hlir.map<(d0, d1, d2) -> (d2)>, #hlir.map<(d0, d1, d2) -> (d2, d0, d1)>] : tensor<4x3xf32>, tensor<9x4x3xf32> {
// CHECK-NEXT:    ^bb0(%[[S:.*]]: tensor<4x3xf32>, %[[A:.*]]: tensor<4x3xf32>, %[[ROW:.*]]: tensor<4x3xf32>):
// CHECK-NEXT:      %[[M:.*]] = llir.elementwise mul(%[[S]], %[[A]])
// CHECK-NEXT:      %[[E:.*]] = llir.elementwise sin(%[[ROW]])
// CHECK-NEXT:      %[[N:.*]] = llir.elementwise add(%[[M]], %[[E]])
// CHECK-NEXT:      llir.yield %[[N]], %[[M]]
// CHECK:         return %[[R]]#0, %[[R]]#1
// REMARK: remark: [Passed] recurrence {{.*}}inputs=2, trips=9
func.func @sunk(%h: tensor<4x3xf32>, %x: tensor<3x9x4xf32>, %k: tensor<3xf32>) -> (tensor<4x3xf32>, tensor<9x4x3xf32>) {
  %v = llir.view %x <(d0, d1, d2) -> (d2, d0, d1)> : tensor<3x9x4xf32> -> tensor<9x4x3xf32>
  %s = llir.elementwise sin(%v) : (tensor<9x4x3xf32>) -> tensor<9x4x3xf32>
  %all = llir.view %k <(d0, d1) -> (d1)> : tensor<3xf32> -> tensor<4x3xf32>
  %r:2 = hlir.repeat 9 carried(%h : tensor<4x3xf32>) rows(%s : tensor<9x4x3xf32>) stacked 1 {
  ^bb0(%c: tensor<4x3xf32>, %row: tensor<4x3xf32>):
    %m = llir.elementwise mul(%c, %all) : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
    %n = llir.elementwise add(%m, %row) : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
    hlir.yield %n, %m : tensor<4x3xf32>, tensor<4x3xf32>
  } -> (tensor<4x3xf32>, tensor<9x4x3xf32>)
  return %r#0, %r#1 : tensor<4x3xf32>, tensor<9x4x3xf32>
}

// -----

// Near misses of that: what is read elsewhere too is in memory anyway. A constant is written where it is read.
// CHECK-LABEL: func.func @read_twice
// CHECK-NEXT:    %[[E:.*]] = llir.elementwise sin
// CHECK-NEXT:    %{{.*}} = llir.recurrence trips <() -> (n)> carried(%{{.*}}) inputs(%[[E]] : tensor<?x4xf32, #hlir.dims<n>>)
// CHECK-NEXT:    ^bb0(%[[S:.*]]: tensor<4xf32>, %[[ROW:.*]]: tensor<4xf32>):
// CHECK-NEXT:      %[[HALF:.*]] = llir.constant dense<5.000000e-01>
// CHECK-NEXT:      %[[ALL:.*]] = llir.view %[[HALF]]
// CHECK-NEXT:      llir.elementwise mul(%[[S]], %[[ALL]])
func.func @read_twice(%h: tensor<4xf32>, %x: tensor<?x4xf32, #hlir.dims<n>>) -> (tensor<4xf32>, tensor<?x4xf32, #hlir.dims<n>>)
    attributes {hlir.symbols = #hlir.symbols<n in [1, 64]>} {
  %s = llir.elementwise sin(%x) : (tensor<?x4xf32, #hlir.dims<n>>) -> tensor<?x4xf32, #hlir.dims<n>>
  %half = llir.constant dense<0.5> : tensor<f32>
  %all = llir.view %half <(d0) -> ()> : tensor<f32> -> tensor<4xf32>
  %r = hlir.repeat ? carried(%h : tensor<4xf32>) rows(%s : tensor<?x4xf32, #hlir.dims<n>>) {
  ^bb0(%c: tensor<4xf32>, %row: tensor<4xf32>):
    %m = llir.elementwise mul(%c, %all) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %n = llir.elementwise add(%m, %row) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    hlir.yield %n : tensor<4xf32>
  } -> tensor<4xf32>
  return %r, %s : tensor<4xf32>, tensor<?x4xf32, #hlir.dims<n>>
}

// -----

// A state that is read at another index is none, nor one that is reduced.
// CHECK-LABEL: func.func @turned
// CHECK:         hlir.repeat
// REMARK: remark: [Missed] recurrence {{.*}}reads what number 0 carries at another index than its own
func.func @turned(%h: tensor<4xf32>, %x: tensor<9x4xf32>) -> tensor<4xf32> {
  %r = hlir.repeat 9 carried(%h : tensor<4xf32>) rows(%x : tensor<9x4xf32>) {
  ^bb0(%c: tensor<4xf32>, %row: tensor<4xf32>):
    %t = llir.view %c <(d0) -> (3 - d0)> : tensor<4xf32> -> tensor<4xf32>
    %n = llir.elementwise add(%t, %row) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    hlir.yield %n : tensor<4xf32>
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @turned_back
// CHECK:         llir.recurrence
func.func @turned_back(%h: tensor<2x2xf32>, %x: tensor<9x4xf32>) -> tensor<2x2xf32> {
  %r = hlir.repeat 9 carried(%h : tensor<2x2xf32>) rows(%x : tensor<9x4xf32>) {
  ^bb0(%c: tensor<2x2xf32>, %row: tensor<4xf32>):
    %t = llir.view %c <(d0) -> (d0 floordiv 2, d0 mod 2)> : tensor<2x2xf32> -> tensor<4xf32>
    %n = llir.elementwise add(%t, %row) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %b = llir.view %n <(d0, d1) -> (d0 * 2 + d1)> : tensor<4xf32> -> tensor<2x2xf32>
    hlir.yield %b : tensor<2x2xf32>
  } -> tensor<2x2xf32>
  return %r : tensor<2x2xf32>
}

// -----

// CHECK-LABEL: func.func @reduced
// CHECK:         hlir.repeat
// REMARK: remark: [Missed] recurrence {{.*}}is not of one element at a time
func.func @reduced(%h: tensor<f32>, %x: tensor<9x4xf32>) -> tensor<f32> {
  %r = hlir.repeat 9 carried(%h : tensor<f32>) rows(%x : tensor<9x4xf32>) {
  ^bb0(%c: tensor<f32>, %row: tensor<4xf32>):
    %t = llir.reduce sum %row : tensor<4xf32> -> tensor<f32>
    %n = llir.elementwise add(%t, %c) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    hlir.yield %n : tensor<f32>
  } -> tensor<f32>
  return %r : tensor<f32>
}
