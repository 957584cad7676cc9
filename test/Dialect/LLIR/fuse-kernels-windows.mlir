// Images of which a convolution reads windows.
// RUN: luminal-opt %s --llir-fuse-kernels | FileCheck %s

// What tells the borders of two images is told by the loops that copy them, and not computed for both.
// CHECK-LABEL: func.func @padded_twice(
// CHECK-NOT: -> tensor<64x58x58xi1> {
// CHECK: return
func.func @padded_twice(%x: tensor<64x56x56xf32>, %y: tensor<64x56x56xf32>, %w: tensor<64x64x3x3xf32>) -> (tensor<64x56x56xf32>, tensor<64x56x56xf32>) {
  %low = llir.constant dense<-1> : tensor<i64>
  %lows = llir.view %low <(d0, d1, d2) -> ()> : tensor<i64> -> tensor<64x58x58xi64>
  %i = llir.iota <(d0, d1, d2) -> (d2 - 1)> : tensor<64x58x58xi64>
  %j = llir.iota <(d0, d1, d2) -> (d1 - 1)> : tensor<64x58x58xi64>
  %n = llir.iota <(d0, d1, d2) -> (56)> : tensor<64x58x58xi64>
  %a = llir.elementwise less_than(%i, %n) : (tensor<64x58x58xi64>, tensor<64x58x58xi64>) -> tensor<64x58x58xi1>
  %b = llir.elementwise less_than(%lows, %i) : (tensor<64x58x58xi64>, tensor<64x58x58xi64>) -> tensor<64x58x58xi1>
  %d = llir.elementwise less_than(%j, %n) : (tensor<64x58x58xi64>, tensor<64x58x58xi64>) -> tensor<64x58x58xi1>
  %e = llir.elementwise less_than(%lows, %j) : (tensor<64x58x58xi64>, tensor<64x58x58xi64>) -> tensor<64x58x58xi1>
  %ab = llir.elementwise mul(%a, %b) : (tensor<64x58x58xi1>, tensor<64x58x58xi1>) -> tensor<64x58x58xi1>
  %de = llir.elementwise mul(%d, %e) : (tensor<64x58x58xi1>, tensor<64x58x58xi1>) -> tensor<64x58x58xi1>
  %c = llir.elementwise mul(%ab, %de) : (tensor<64x58x58xi1>, tensor<64x58x58xi1>) -> tensor<64x58x58xi1>
  %f = llir.constant dense<0.0> : tensor<f32>
  %fs = llir.view %f <(d0, d1, d2) -> ()> : tensor<f32> -> tensor<64x58x58xf32>
  %v = llir.view %x <(d0, d1, d2) -> (d0, max(min(d1 - 1, 55), 0), max(min(d2 - 1, 55), 0))> : tensor<64x56x56xf32> -> tensor<64x58x58xf32>
  %u = llir.view %y <(d0, d1, d2) -> (d0, max(min(d1 - 1, 55), 0), max(min(d2 - 1, 55), 0))> : tensor<64x56x56xf32> -> tensor<64x58x58xf32>
  %p = llir.elementwise select(%c, %v, %fs) : (tensor<64x58x58xi1>, tensor<64x58x58xf32>, tensor<64x58x58xf32>) -> tensor<64x58x58xf32>
  %q = llir.elementwise select(%c, %u, %fs) : (tensor<64x58x58xi1>, tensor<64x58x58xf32>, tensor<64x58x58xf32>) -> tensor<64x58x58xf32>
  %0 = llir.gemm %p, %w k(576) <(d0, d1, d2, d3) -> (d3 floordiv 9, d0 + (d3 floordiv 3) mod 3, d1 + d3 mod 3)>, <(d0, d1, d2, d3) -> (d2, d3 floordiv 9, (d3 floordiv 3) mod 3, d3 mod 3)> : tensor<64x58x58xf32>, tensor<64x64x3x3xf32> -> tensor<56x56x64xf32>
  %1 = llir.view %0 <(d0, d1, d2) -> (d1, d2, d0)> : tensor<56x56x64xf32> -> tensor<64x56x56xf32>
  %2 = llir.gemm %q, %w k(576) <(d0, d1, d2, d3) -> (d3 floordiv 9, d0 + (d3 floordiv 3) mod 3, d1 + d3 mod 3)>, <(d0, d1, d2, d3) -> (d2, d3 floordiv 9, (d3 floordiv 3) mod 3, d3 mod 3)> : tensor<64x58x58xf32>, tensor<64x64x3x3xf32> -> tensor<56x56x64xf32>
  %3 = llir.view %2 <(d0, d1, d2) -> (d1, d2, d0)> : tensor<56x56x64xf32> -> tensor<64x56x56xf32>
  return %1, %3 : tensor<64x56x56xf32>, tensor<64x56x56xf32>
}

// A convolution copies its image once: the border joins it. Not where the results are stored by channels, nor where a size
// is not known, for then the image is computed for each element of each window.
// CHECK-LABEL: func.func @padded(
// CHECK: llir.kernel
// CHECK: llir.elementwise select
// CHECK: llir.gemm
// CHECK-NOT: llir.kernel
// CHECK-LABEL: func.func @padded_by_channels(
// CHECK: llir.elementwise select
// CHECK: llir.kernel
// CHECK: llir.gemm
// CHECK-LABEL: func.func @padded_unknown(
// CHECK: llir.elementwise select
// CHECK: llir.kernel
// CHECK: llir.gemm
func.func @padded(%x: tensor<64x56x56xf32>, %w: tensor<64x64x3x3xf32>) -> tensor<64x56x56xf32> {
  %low = llir.constant dense<-1> : tensor<i64>
  %lows = llir.view %low <(d0, d1, d2) -> ()> : tensor<i64> -> tensor<64x58x58xi64>
  %i = llir.iota <(d0, d1, d2) -> (d2 - 1)> : tensor<64x58x58xi64>
  %n = llir.iota <(d0, d1, d2) -> (56)> : tensor<64x58x58xi64>
  %a = llir.elementwise less_than(%i, %n) : (tensor<64x58x58xi64>, tensor<64x58x58xi64>) -> tensor<64x58x58xi1>
  %b = llir.elementwise less_than(%lows, %i) : (tensor<64x58x58xi64>, tensor<64x58x58xi64>) -> tensor<64x58x58xi1>
  %c = llir.elementwise mul(%a, %b) : (tensor<64x58x58xi1>, tensor<64x58x58xi1>) -> tensor<64x58x58xi1>
  %v = llir.view %x <(d0, d1, d2) -> (d0, max(min(d1 - 1, 55), 0), max(min(d2 - 1, 56 - 1), 0))> : tensor<64x56x56xf32> -> tensor<64x58x58xf32>
  %f = llir.constant dense<0.0> : tensor<f32>
  %fs = llir.view %f <(d0, d1, d2) -> ()> : tensor<f32> -> tensor<64x58x58xf32>
  %p = llir.elementwise select(%c, %v, %fs) : (tensor<64x58x58xi1>, tensor<64x58x58xf32>, tensor<64x58x58xf32>) -> tensor<64x58x58xf32>
  %0 = llir.gemm %p, %w k(576) <(d0, d1, d2, d3) -> (d3 floordiv 9, d0 + (d3 floordiv 3) mod 3, d1 + d3 mod 3)>, <(d0, d1, d2, d3) -> (d2, d3 floordiv 9, (d3 floordiv 3) mod 3, d3 mod 3)> : tensor<64x58x58xf32>, tensor<64x64x3x3xf32> -> tensor<56x56x64xf32>
  %1 = llir.view %0 <(d0, d1, d2) -> (d1, d2, d0)> : tensor<56x56x64xf32> -> tensor<64x56x56xf32>
  return %1 : tensor<64x56x56xf32>
}
func.func @padded_by_channels(%x: tensor<64x56x56xf32>, %w: tensor<64x64x3x3xf32>) -> tensor<56x56x64xf32> {
  %low = llir.constant dense<-1> : tensor<i64>
  %lows = llir.view %low <(d0, d1, d2) -> ()> : tensor<i64> -> tensor<64x58x58xi64>
  %i = llir.iota <(d0, d1, d2) -> (d2 - 1)> : tensor<64x58x58xi64>
  %n = llir.iota <(d0, d1, d2) -> (56)> : tensor<64x58x58xi64>
  %a = llir.elementwise less_than(%i, %n) : (tensor<64x58x58xi64>, tensor<64x58x58xi64>) -> tensor<64x58x58xi1>
  %b = llir.elementwise less_than(%lows, %i) : (tensor<64x58x58xi64>, tensor<64x58x58xi64>) -> tensor<64x58x58xi1>
  %c = llir.elementwise mul(%a, %b) : (tensor<64x58x58xi1>, tensor<64x58x58xi1>) -> tensor<64x58x58xi1>
  %v = llir.view %x <(d0, d1, d2) -> (d0, max(min(d1 - 1, 55), 0), max(min(d2 - 1, 56 - 1), 0))> : tensor<64x56x56xf32> -> tensor<64x58x58xf32>
  %f = llir.constant dense<0.0> : tensor<f32>
  %fs = llir.view %f <(d0, d1, d2) -> ()> : tensor<f32> -> tensor<64x58x58xf32>
  %p = llir.elementwise select(%c, %v, %fs) : (tensor<64x58x58xi1>, tensor<64x58x58xf32>, tensor<64x58x58xf32>) -> tensor<64x58x58xf32>
  %0 = llir.gemm %p, %w k(576) <(d0, d1, d2, d3) -> (d3 floordiv 9, d0 + (d3 floordiv 3) mod 3, d1 + d3 mod 3)>, <(d0, d1, d2, d3) -> (d2, d3 floordiv 9, (d3 floordiv 3) mod 3, d3 mod 3)> : tensor<64x58x58xf32>, tensor<64x64x3x3xf32> -> tensor<56x56x64xf32>
  return %0 : tensor<56x56x64xf32>
}
func.func @padded_unknown(%x: tensor<64x56x?xf32, #hlir.dims<s>>, %w: tensor<64x64x3x3xf32>) -> tensor<64x56x?xf32, #hlir.dims<s>> attributes {hlir.symbols = #hlir.symbols<s in [40, 256]>} {
  %low = llir.constant dense<-1> : tensor<i64>
  %lows = llir.view %low <(d0, d1, d2) -> ()> : tensor<i64> -> tensor<64x58x?xi64, #hlir.dims<s + 2>>
  %i = llir.iota <(d0, d1, d2) -> (d2 - 1)> : tensor<64x58x?xi64, #hlir.dims<s + 2>>
  %n = llir.iota <(d0, d1, d2) -> (s)> : tensor<64x58x?xi64, #hlir.dims<s + 2>>
  %a = llir.elementwise less_than(%i, %n) : (tensor<64x58x?xi64, #hlir.dims<s + 2>>, tensor<64x58x?xi64, #hlir.dims<s + 2>>) -> tensor<64x58x?xi1, #hlir.dims<s + 2>>
  %b = llir.elementwise less_than(%lows, %i) : (tensor<64x58x?xi64, #hlir.dims<s + 2>>, tensor<64x58x?xi64, #hlir.dims<s + 2>>) -> tensor<64x58x?xi1, #hlir.dims<s + 2>>
  %c = llir.elementwise mul(%a, %b) : (tensor<64x58x?xi1, #hlir.dims<s + 2>>, tensor<64x58x?xi1, #hlir.dims<s + 2>>) -> tensor<64x58x?xi1, #hlir.dims<s + 2>>
  %v = llir.view %x <(d0, d1, d2) -> (d0, max(min(d1 - 1, 55), 0), max(min(d2 - 1, s - 1), 0))> : tensor<64x56x?xf32, #hlir.dims<s>> -> tensor<64x58x?xf32, #hlir.dims<s + 2>>
  %f = llir.constant dense<0.0> : tensor<f32>
  %fs = llir.view %f <(d0, d1, d2) -> ()> : tensor<f32> -> tensor<64x58x?xf32, #hlir.dims<s + 2>>
  %p = llir.elementwise select(%c, %v, %fs) : (tensor<64x58x?xi1, #hlir.dims<s + 2>>, tensor<64x58x?xf32, #hlir.dims<s + 2>>, tensor<64x58x?xf32, #hlir.dims<s + 2>>) -> tensor<64x58x?xf32, #hlir.dims<s + 2>>
  %0 = llir.gemm %p, %w k(576) <(d0, d1, d2, d3) -> (d3 floordiv 9, d0 + (d3 floordiv 3) mod 3, d1 + d3 mod 3)>, <(d0, d1, d2, d3) -> (d2, d3 floordiv 9, (d3 floordiv 3) mod 3, d3 mod 3)> : tensor<64x58x?xf32, #hlir.dims<s + 2>>, tensor<64x64x3x3xf32> -> tensor<56x?x64xf32, #hlir.dims<s>>
  %1 = llir.view %0 <(d0, d1, d2) -> (d1, d2, d0)> : tensor<56x?x64xf32, #hlir.dims<s>> -> tensor<64x56x?xf32, #hlir.dims<s>>
  return %1 : tensor<64x56x?xf32, #hlir.dims<s>>
}

// A product as wide as the rows before and after it: all that reads a row in one space shares its values.
// CHECK-LABEL: func.func @rows_around_a_square_product
// CHECK: llir.kernel
// CHECK: %[[S:.*]] = llir.reduce sum %[[X:.*]] : tensor<6x32xf32> -> tensor<6xf32>
// CHECK-NEXT: %[[R:.*]] = llir.elementwise rsqrt(%[[S]]) : (tensor<6xf32>) -> tensor<6xf32>
// CHECK-NEXT: %[[V:.*]] = llir.view %[[R]] <(d0, d1) -> (d0)> : tensor<6xf32> -> tensor<6x32xf32>
// CHECK-NEXT: %[[M:.*]] = llir.elementwise mul(%[[X]], %[[V]])
// CHECK-NEXT: %[[G:.*]] = llir.gemm %[[M]],
// CHECK-NEXT: llir.reduce sum %[[G]] : tensor<6x32xf32> -> tensor<6xf32>
// CHECK-NOT: llir.kernel
func.func @rows_around_a_square_product(%x: tensor<6x32xf32>, %w: tensor<32x32xf32>) -> tensor<6x32xf32> {
  %s = llir.reduce sum %x : tensor<6x32xf32> -> tensor<6xf32>
  %r = llir.elementwise rsqrt(%s) : (tensor<6xf32>) -> tensor<6xf32>
  %v = llir.view %r <(d0, d1) -> (d0)> : tensor<6xf32> -> tensor<6x32xf32>
  %m = llir.elementwise mul(%x, %v) : (tensor<6x32xf32>, tensor<6x32xf32>) -> tensor<6x32xf32>
  %g = llir.gemm %m, %w k(32) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<6x32xf32>, tensor<32x32xf32> -> tensor<6x32xf32>
  %t = llir.reduce sum %g : tensor<6x32xf32> -> tensor<6xf32>
  %q = llir.elementwise rsqrt(%t) : (tensor<6xf32>) -> tensor<6xf32>
  %u = llir.view %q <(d0, d1) -> (d0)> : tensor<6xf32> -> tensor<6x32xf32>
  %y = llir.elementwise mul(%g, %u) : (tensor<6x32xf32>, tensor<6x32xf32>) -> tensor<6x32xf32>
  return %y : tensor<6x32xf32>
}
