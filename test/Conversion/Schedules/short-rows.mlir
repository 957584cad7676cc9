// Rows so short that adding up their lanes takes longer than reading them one by one.
// RUN: luminal-opt %s --llir-schedule-kernels=arch=znver4 | FileCheck %s
// RUN: luminal-opt %s --llir-schedule-kernels=arch=x86-64-v3 | FileCheck %s --check-prefix=NARROW

// CHECK-LABEL: @three
// CHECK: loops<grid(d0:64 v16) stream(d1:all) op0 = pass {lanes = 1, unroll = 1}>
// A vector of 8 is as fast along them.
// NARROW-LABEL: @three
// NARROW: loops<grid(d0) stream(d1:all v4) op0 = pass {lanes = 4, unroll = 1}>
func.func @three(%a: tensor<50000x3xf32>) -> tensor<50000xf32> {
  %r = llir.kernel(%a) : (tensor<50000x3xf32>) -> tensor<50000xf32> {
  ^bb0(%x: tensor<50000x3xf32>):
    %0 = llir.reduce sum %x : tensor<50000x3xf32> -> tensor<50000xf32>
    llir.yield %0 : tensor<50000xf32>
  }
  return %r : tensor<50000xf32>
}

// CHECK-LABEL: @seven
// CHECK: loops<grid(d0) stream(d1:all v8) op0 = pass {lanes = 8, unroll = 1}>
func.func @seven(%a: tensor<50000x7xf32>) -> tensor<50000xf32> {
  %r = llir.kernel(%a) : (tensor<50000x7xf32>) -> tensor<50000xf32> {
  ^bb0(%x: tensor<50000x7xf32>):
    %0 = llir.reduce sum %x : tensor<50000x7xf32> -> tensor<50000xf32>
    llir.yield %0 : tensor<50000xf32>
  }
  return %r : tensor<50000xf32>
}

// Windows of a line.
// CHECK-LABEL: @pool
// CHECK: loops<grid(d0, d1:64 v16) stream(d2:all) op1 = pass {lanes = 1, unroll = 1}>
func.func @pool(%a: tensor<128x1000xf32>) -> tensor<128x499xf32> {
  %r = llir.kernel(%a) : (tensor<128x1000xf32>) -> tensor<128x499xf32> {
  ^bb0(%x: tensor<128x1000xf32>):
    %0 = llir.view %x <(d0, d1, d2) -> (d0, 2 * d1 + d2)> : tensor<128x1000xf32> -> tensor<128x499x3xf32>
    %1 = llir.reduce max %0 : tensor<128x499x3xf32> -> tensor<128x499xf32>
    llir.yield %1 : tensor<128x499xf32>
  }
  return %r : tensor<128x499xf32>
}
