// RUN: luminal-opt %s --hlir-unroll-loops | FileCheck %s
// RUN: luminal-opt %s --hlir-unroll-loops --mlir-print-debuginfo | FileCheck %s --check-prefix=LOC
// RUN: not luminal-opt %s --hlir-unroll-loops=max-ops=8 2>&1 | FileCheck %s --check-prefix=MANY

// Loops in loops, ops of any dialect; values of each trip.
// CHECK-LABEL: func.func @nest
// CHECK-SAME:      %[[X:.*]]: tensor<4xf32>, %[[A:.*]]: tensor<4xf32>, %[[B:.*]]: tensor<4xf32>)
// CHECK-NEXT:    %[[S:.*]] = llir.elementwise sin(%[[X]])
// CHECK-NEXT:    %[[M0:.*]] = hlir.mul %[[S]], %[[A]]
// CHECK-NEXT:    %[[M1:.*]] = hlir.mul %[[M0]], %[[A]]
// CHECK-NEXT:    %[[S1:.*]] = llir.elementwise sin(%[[M1]])
// CHECK-NEXT:    %[[M2:.*]] = hlir.mul %[[S1]], %[[B]]
// CHECK-NEXT:    %[[M3:.*]] = hlir.mul %[[M2]], %[[B]]
// CHECK-NEXT:    return %[[M3]], %[[S]], %[[S1]]
// LOC-LABEL: func.func @nest
// LOC: elementwise {{.*}} loc([[FIRST:#loc[0-9]*]])
// LOC: elementwise {{.*}} loc([[SECOND:#loc[0-9]*]])
// LOC-DAG: [[FIRST]] = loc("first")
// LOC-DAG: [[SECOND]] = loc("second")
// MANY: error: 'func.func' op has 13 ops once its loops are unrolled, at most 8 are allowed
func.func @nest(%x: tensor<4xf32>, %a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %r:3 = hlir.repeat 2 carried(%x : tensor<4xf32>) each(%a, %b : tensor<4xf32>, tensor<4xf32>) {
  ^bb0(%c: tensor<4xf32>, %w: tensor<4xf32>):
    %s = llir.elementwise sin(%c) : (tensor<4xf32>) -> tensor<4xf32> loc(fused<{hlir.trips = [loc("first"), loc("second")]}>["first"])
    %q = hlir.repeat 2 carried(%s : tensor<4xf32>) {
    ^bb0(%d: tensor<4xf32>):
      %m = hlir.mul %d, %w : tensor<4xf32>
      hlir.yield %m : tensor<4xf32>
    } -> tensor<4xf32>
    hlir.yield %q, %s : tensor<4xf32>, tensor<4xf32>
  } -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  return %r#0, %r#1, %r#2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
