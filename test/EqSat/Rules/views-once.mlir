// An op moves down a view once. A class that is already a view through the same map gets no second spelling of its
// source: an op that leaves its operand unchanged, or two that undo each other, would make new ones for ever.

// RUN: luminal-opt %s --eqsat-saturate | FileCheck %s
// RUN: luminal-opt %s --eqsat-saturate --remarks-filter=eqsat-saturate -o %t 2>&1 | FileCheck %s --check-prefix=STOP

// STOP: saturation {{.*}} Function=mul_one {{.*}} stop=saturated
// STOP: saturation {{.*}} Function=neg_neg {{.*}} stop=saturated
// STOP: saturation {{.*}} Function=chain {{.*}} stop=saturated

// CHECK-LABEL: func.func @mul_one(
// CHECK-NEXT: %[[R:.*]] = llir.view %arg0
// CHECK-NEXT: return %[[R]]
func.func @mul_one(%x: tensor<4xf32>) -> tensor<4x8xf32> {
  %c = hlir.constant dense<1.0> : tensor<f32>
  %one = hlir.view %c <(d0, d1) -> ()> : tensor<f32> -> tensor<4x8xf32>
  %0 = hlir.view %x <(d0, d1) -> (d0)> : tensor<4xf32> -> tensor<4x8xf32>
  %1 = hlir.mul %0, %one : tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @neg_neg(
// CHECK-NEXT: %[[R:.*]] = llir.view %arg0
// CHECK-NEXT: return %[[R]]
func.func @neg_neg(%x: tensor<4xf32>) -> tensor<4x8xf32> {
  %c = hlir.constant dense<-1.0> : tensor<f32>
  %minus = hlir.view %c <(d0, d1) -> ()> : tensor<f32> -> tensor<4x8xf32>
  %0 = hlir.view %x <(d0, d1) -> (d0)> : tensor<4xf32> -> tensor<4x8xf32>
  %1 = hlir.mul %0, %minus : tensor<4x8xf32>
  %2 = hlir.mul %1, %minus : tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}

// Each op is still moved, and all of them.
// CHECK-LABEL: func.func @chain(
// CHECK-NEXT: %[[A:.*]] = llir.elementwise mod(%arg0, %arg1) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %[[B:.*]] = llir.elementwise mod(%[[A]], %arg1) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %[[C:.*]] = llir.elementwise sin(%[[B]]) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %[[R:.*]] = llir.view %[[C]]
// CHECK-NEXT: return %[[R]]
func.func @chain(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4x8xf32> {
  %0 = hlir.view %x <(d0, d1) -> (d0)> : tensor<4xf32> -> tensor<4x8xf32>
  %1 = hlir.view %y <(d0, d1) -> (d0)> : tensor<4xf32> -> tensor<4x8xf32>
  %2 = hlir.mod %0, %1 : tensor<4x8xf32>
  %3 = hlir.mod %2, %1 : tensor<4x8xf32>
  %4 = hlir.sin %3 : tensor<4x8xf32>
  return %4 : tensor<4x8xf32>
}
