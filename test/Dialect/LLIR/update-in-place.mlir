// RUN: luminal-opt %s --llir-fuse-kernels --llir-update-in-place | FileCheck %s

// The state's only later reader moves before the update.
// CHECK-LABEL: func.func @state
// CHECK: llir.kernel(%arg0)
// CHECK: llir.kernel(%arg0, %arg1, %arg2) {in_place}
func.func @state(%s: tensor<8xf32> {hlir.kind = "state"}, %i: tensor<2xi64>, %u: tensor<2xf32>)
    -> (tensor<8xf32> {hlir.updates = 0 : i64}, tensor<8xf32>) {
  %0 = llir.scatter set %s, %i, %u {checked} : tensor<8xf32>, tensor<2xi64>, tensor<2xf32>
  %1 = llir.elementwise neg(%s) : (tensor<8xf32>) -> tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// An update along another dim, by views on both sides, is one kernel in place.
// CHECK-LABEL: func.func @moved
// CHECK: llir.kernel(%arg0, %arg1, %arg2) {in_place}
// CHECK-NOT: llir.kernel
func.func @moved(%s: tensor<3x8xf32> {hlir.kind = "state"}, %i: tensor<2xi64>, %u: tensor<2x3xf32>)
    -> (tensor<3x8xf32> {hlir.updates = 0 : i64}) {
  %v = llir.view %s <(d0, d1) -> (d1, d0)> : tensor<3x8xf32> -> tensor<8x3xf32>
  %0 = llir.scatter set %v, %i, %u {checked} : tensor<8x3xf32>, tensor<2xi64>, tensor<2x3xf32>
  %1 = llir.view %0 <(d0, d1) -> (d1, d0)> : tensor<8x3xf32> -> tensor<3x8xf32>
  return %1 : tensor<3x8xf32>
}

// An input belongs to the caller: it is copied.
// CHECK-LABEL: func.func @input
// CHECK: llir.kernel
// CHECK-NOT: in_place
func.func @input(%s: tensor<8xf32>, %i: tensor<2xi64>, %u: tensor<2xf32>) -> tensor<8xf32> {
  %0 = llir.scatter set %s, %i, %u {checked} : tensor<8xf32>, tensor<2xi64>, tensor<2xf32>
  return %0 : tensor<8xf32>
}
