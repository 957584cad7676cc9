// RUN: luminal-opt %s --hlir-roll-loops="min-trips=2 min-ops=2" | FileCheck %s
// RUN: luminal-opt %s --hlir-roll-loops="min-trips=2 min-ops=2" | luminal-opt --hlir-unroll-loops --hlir-roll-loops="min-trips=2 min-ops=2" | FileCheck %s
// RUN: luminal-opt %s --hlir-roll-loops="min-trips=2 min-ops=2" --remarks-filter=hlir-roll-loops -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: luminal-opt %s --hlir-roll-loops="min-trips=5 min-ops=2" | FileCheck %s --check-prefix=FEW
// RUN: luminal-opt %s --hlir-roll-loops="min-trips=2 min-ops=7" | FileCheck %s --check-prefix=FEW
// RUN: luminal-opt %s --hlir-roll-loops | FileCheck %s --check-prefix=FEW
// RUN: luminal-opt %s --hlir-roll-loops="min-trips=3 min-ops=2" --remarks-filter=hlir-roll-loops -o /dev/null 2>&1 | FileCheck %s --check-prefix=MISSED
//
// FEW-NOT: hlir.repeat

// What a trip reads of the one before is carried, weights are a list, all else is captured.
// CHECK-LABEL: func.func @chain
// CHECK-SAME:      %[[X:.*]]: tensor<4xf32>, %[[K:.*]]: tensor<4xf32>, %[[W0:.*]]: tensor<4xf32>, %[[W1:.*]]: tensor<4xf32>, %[[W2:.*]]: tensor<4xf32>)
// CHECK-NEXT:    %[[R:.*]] = hlir.repeat 3 carried(%[[X]] : tensor<4xf32>) each(%[[W0]], %[[W1]], %[[W2]]
// CHECK-NEXT:    ^bb0(%[[C:.*]]: tensor<4xf32>, %[[W:.*]]: tensor<4xf32>):
// CHECK-NEXT:      %[[S:.*]] = hlir.sin %[[C]]
// CHECK-NEXT:      %[[M:.*]] = hlir.mul %[[S]], %[[W]]
// CHECK-NEXT:      %[[A:.*]] = hlir.add %[[M]], %[[K]]
// CHECK-NEXT:      hlir.yield %[[A]]
// CHECK-NEXT:    } -> tensor<4xf32>
// CHECK-NEXT:    return %[[R]]
// REMARK: loop {{.*}} Function=chain | carried=1, each=1, ops=3, trips=3
func.func @chain(%x: tensor<4xf32>, %k: tensor<4xf32>, %w0: tensor<4xf32>, %w1: tensor<4xf32>, %w2: tensor<4xf32>) -> tensor<4xf32> {
  %0 = hlir.sin %x : tensor<4xf32>
  %1 = hlir.mul %0, %w0 : tensor<4xf32>
  %2 = hlir.add %1, %k : tensor<4xf32>
  %3 = hlir.sin %2 : tensor<4xf32>
  %4 = hlir.mul %3, %w1 : tensor<4xf32>
  %5 = hlir.add %4, %k : tensor<4xf32>
  %6 = hlir.sin %5 : tensor<4xf32>
  %7 = hlir.mul %6, %w2 : tensor<4xf32>
  %8 = hlir.add %7, %k : tensor<4xf32>
  return %8 : tensor<4xf32>
}

// A value that others read of each trip is one result for each.
// CHECK-LABEL: func.func @outputs
// CHECK:         %[[R:.*]]:4 = hlir.repeat 3
// CHECK:           %[[S:.*]] = hlir.sin
// CHECK:           %[[M:.*]] = hlir.mul
// CHECK:           hlir.yield %[[M]], %[[S]]
// CHECK:         return %[[R]]#1, %[[R]]#0, %[[R]]#3, %[[R]]#2
func.func @outputs(%x: tensor<4xf32>, %k: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = hlir.sin %x : tensor<4xf32>
  %1 = hlir.mul %0, %k : tensor<4xf32>
  %2 = hlir.sin %1 : tensor<4xf32>
  %3 = hlir.mul %2, %k : tensor<4xf32>
  %4 = hlir.sin %3 : tensor<4xf32>
  %5 = hlir.mul %4, %k : tensor<4xf32>
  return %0, %5, %4, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// Constants that differ are a list, equal ones are in the body.
// CHECK-LABEL: func.func @constants
// CHECK-DAG:     %[[C2:.*]] = hlir.constant dense<2.000000e+00>
// CHECK-DAG:     %[[C3:.*]] = hlir.constant dense<3.000000e+00>
// CHECK:         hlir.repeat 2 carried({{.*}}) each(%[[C2]], %[[C3]]
// CHECK-NEXT:    ^bb0(%[[C:.*]]: tensor<4xf32>, %[[N:.*]]: tensor<4xf32>):
// CHECK-NEXT:      %[[M:.*]] = hlir.mul %[[C]], %[[N]]
// CHECK-NEXT:      %[[ONE:.*]] = hlir.constant dense<1.000000e+00>
// CHECK-NEXT:      hlir.add %[[M]], %[[ONE]]
func.func @constants(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c2 = hlir.constant dense<2.0> : tensor<4xf32>
  %c3 = hlir.constant dense<3.0> : tensor<4xf32>
  %c1 = hlir.constant dense<1.0> : tensor<4xf32>
  %d1 = hlir.constant dense<1.0> : tensor<4xf32>
  %0 = hlir.mul %x, %c2 : tensor<4xf32>
  %1 = hlir.add %0, %c1 : tensor<4xf32>
  %2 = hlir.mul %1, %c3 : tensor<4xf32>
  %3 = hlir.add %2, %d1 : tensor<4xf32>
  return %3 : tensor<4xf32>
}

// The first trip is found though its ops do not follow each other: one value that all trips read is made among them.
// CHECK-LABEL: func.func @among
// CHECK:         %[[K:.*]] = hlir.sqrt %{{.*}}
// CHECK:         hlir.repeat 4
// CHECK:           hlir.mul %{{.*}}, %[[K]]
// REMARK: loop {{.*}} Function=among | carried=1, each=0, ops=2, trips=4
func.func @among(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = hlir.sin %x : tensor<4xf32>
  %k = hlir.sqrt %y : tensor<4xf32>
  %1 = hlir.mul %0, %k : tensor<4xf32>
  %2 = hlir.sin %1 : tensor<4xf32>
  %3 = hlir.mul %2, %k : tensor<4xf32>
  %4 = hlir.sin %3 : tensor<4xf32>
  %5 = hlir.mul %4, %k : tensor<4xf32>
  %6 = hlir.sin %5 : tensor<4xf32>
  %7 = hlir.mul %6, %k : tensor<4xf32>
  return %7 : tensor<4xf32>
}

// Two loops, of different bodies.
// CHECK-LABEL: func.func @two
// CHECK:         %[[A:.*]] = hlir.repeat 3
// CHECK:         hlir.repeat 3 carried(%[[A]]
func.func @two(%x: tensor<4xf32>, %k: tensor<4xf32>) -> tensor<4xf32> {
  %0 = hlir.sin %x : tensor<4xf32>
  %1 = hlir.mul %0, %k : tensor<4xf32>
  %2 = hlir.sin %1 : tensor<4xf32>
  %3 = hlir.mul %2, %k : tensor<4xf32>
  %4 = hlir.sin %3 : tensor<4xf32>
  %5 = hlir.mul %4, %k : tensor<4xf32>
  %6 = hlir.sqrt %5 : tensor<4xf32>
  %7 = hlir.add %6, %k : tensor<4xf32>
  %8 = hlir.sqrt %7 : tensor<4xf32>
  %9 = hlir.add %8, %k : tensor<4xf32>
  %10 = hlir.sqrt %9 : tensor<4xf32>
  %11 = hlir.add %10, %k : tensor<4xf32>
  return %11 : tensor<4xf32>
}

// Near misses. A map that differs from trip to trip:
// CHECK-LABEL: func.func @other_map
// CHECK-NOT:     hlir.repeat
func.func @other_map(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = hlir.sin %x : tensor<4xf32>
  %1 = hlir.view %0 <(d0) -> (3 - d0)> : tensor<4xf32> -> tensor<4xf32>
  %2 = hlir.sin %1 : tensor<4xf32>
  %3 = hlir.view %2 <(d0) -> (0)> : tensor<4xf32> -> tensor<4xf32>
  return %3 : tensor<4xf32>
}

// Another op in between,
// CHECK-LABEL: func.func @other_op
// CHECK-NOT:     hlir.repeat
func.func @other_op(%x: tensor<4xf32>, %k: tensor<4xf32>) -> tensor<4xf32> {
  %0 = hlir.sin %x : tensor<4xf32>
  %1 = hlir.mul %0, %k : tensor<4xf32>
  %2 = hlir.sqrt %1 : tensor<4xf32>
  %3 = hlir.sin %2 : tensor<4xf32>
  %4 = hlir.mul %3, %k : tensor<4xf32>
  return %4 : tensor<4xf32>
}

// types that differ by the names of symbols,
// CHECK-LABEL: func.func @other_symbol
// CHECK-NOT:     hlir.repeat
func.func @other_symbol(%x: tensor<?xf32, #hlir.dims<s>>, %y: tensor<?xf32, #hlir.dims<t>>) -> (tensor<?xf32, #hlir.dims<s>>, tensor<?xf32, #hlir.dims<t>>)
    attributes {hlir.symbols = #hlir.symbols<s in [1, 8], t in [1, 8]>} {
  %0 = hlir.sin %x : tensor<?xf32, #hlir.dims<s>>
  %1 = hlir.sqrt %0 : tensor<?xf32, #hlir.dims<s>>
  %2 = hlir.sin %y : tensor<?xf32, #hlir.dims<t>>
  %3 = hlir.sqrt %2 : tensor<?xf32, #hlir.dims<t>>
  return %1, %3 : tensor<?xf32, #hlir.dims<s>>, tensor<?xf32, #hlir.dims<t>>
}

// and trips that read what was computed two trips before: two of them are a loop, more are not.
// CHECK-LABEL: func.func @earlier
// CHECK:         hlir.repeat 2
// MISSED: remark: [Missed] loop {{.*}} Function=earlier | {{.*}}reason="trips read values at different positions"
func.func @earlier(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = hlir.sin %x : tensor<4xf32>
  %1 = hlir.mul %0, %y : tensor<4xf32>
  %2 = hlir.sin %1 : tensor<4xf32>
  %3 = hlir.mul %2, %x : tensor<4xf32>
  %4 = hlir.sin %3 : tensor<4xf32>
  %5 = hlir.mul %4, %1 : tensor<4xf32>
  %6 = hlir.sin %5 : tensor<4xf32>
  %7 = hlir.mul %6, %3 : tensor<4xf32>
  %8 = hlir.sin %7 : tensor<4xf32>
  %9 = hlir.mul %8, %5 : tensor<4xf32>
  return %9 : tensor<4xf32>
}
