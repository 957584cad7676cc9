// Padding of images whose channels have a sum each in lanes: loops along a line are cut at its borders.
// RUN: luminal-opt %s --llir-fuse-kernels | FileCheck %s

// CHECK-LABEL: func.func @padded(
// CHECK: llir.kernel
// CHECK: llir.elementwise select
// CHECK: llir.gemm
// CHECK-NOT: llir.kernel
// CHECK: return
func.func @padded(%x: tensor<56x58x144xf32>, %w: tensor<9x144xf32>) -> tensor<56x56x144xf32> {
  %low = llir.constant dense<-1> : tensor<i64>
  %lows = llir.view %low <(d0, d1, d2) -> ()> : tensor<i64> -> tensor<58x58x144xi64>
  %j = llir.iota <(d0, d1, d2) -> (d0 - 1)> : tensor<58x58x144xi64>
  %n = llir.iota <(d0, d1, d2) -> (56)> : tensor<58x58x144xi64>
  %a = llir.elementwise less_than(%j, %n) : (tensor<58x58x144xi64>, tensor<58x58x144xi64>) -> tensor<58x58x144xi1>
  %b = llir.elementwise less_than(%lows, %j) : (tensor<58x58x144xi64>, tensor<58x58x144xi64>) -> tensor<58x58x144xi1>
  %c = llir.elementwise mul(%a, %b) : (tensor<58x58x144xi1>, tensor<58x58x144xi1>) -> tensor<58x58x144xi1>
  %f = llir.constant dense<0.0> : tensor<f32>
  %fs = llir.view %f <(d0, d1, d2) -> ()> : tensor<f32> -> tensor<58x58x144xf32>
  %v = llir.view %x <(d0, d1, d2) -> (max(min(d0 - 1, 55), 0), d1, d2)> : tensor<56x58x144xf32> -> tensor<58x58x144xf32>
  %p = llir.elementwise select(%c, %v, %fs) : (tensor<58x58x144xi1>, tensor<58x58x144xf32>, tensor<58x58x144xf32>) -> tensor<58x58x144xf32>
  %0 = llir.gemm %p, %w k(9) <(d0, d1, d2, d3) -> (d0 + d3 floordiv 3, d1 + d3 mod 3, d2)>, <(d0, d1, d2, d3) -> (d3, d2)>
      : tensor<58x58x144xf32>, tensor<9x144xf32> -> tensor<56x56x144xf32>
  return %0 : tensor<56x56x144xf32>
}

// What takes time is computed once, and not for each step of each sum.
// CHECK-LABEL: func.func @computed(
// CHECK: llir.elementwise exp
// CHECK: llir.kernel
// CHECK: llir.gemm
func.func @computed(%x: tensor<58x58x144xf32>, %w: tensor<9x144xf32>) -> tensor<56x56x144xf32> {
  %p = llir.elementwise exp(%x) : (tensor<58x58x144xf32>) -> tensor<58x58x144xf32>
  %0 = llir.gemm %p, %w k(9) <(d0, d1, d2, d3) -> (d0 + d3 floordiv 3, d1 + d3 mod 3, d2)>, <(d0, d1, d2, d3) -> (d3, d2)>
      : tensor<58x58x144xf32>, tensor<9x144xf32> -> tensor<56x56x144xf32>
  return %0 : tensor<56x56x144xf32>
}
