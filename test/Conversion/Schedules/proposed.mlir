// What each form of kernel gets, by width of vectors; what stands is kept.
// RUN: luminal-opt %s --llir-schedule-kernels=arch=sapphirerapids | FileCheck %s
// RUN: luminal-opt %s --llir-schedule-kernels=arch=x86-64-v3 | FileCheck %s --check-prefix=NARROW

// All dims are one where memory is.
// CHECK-LABEL: @map
// CHECK: loops<grid(d0*d1:4096 v16)>
// NARROW-LABEL: @map
// NARROW: loops<grid(d0*d1:4096 v8)>
func.func @map(%a: tensor<64x1000xf32>) -> tensor<64x1000xf32> {
  %r = llir.kernel(%a) : (tensor<64x1000xf32>) -> tensor<64x1000xf32> {
  ^bb0(%x: tensor<64x1000xf32>):
    %0 = llir.elementwise sin(%x) : (tensor<64x1000xf32>) -> tensor<64x1000xf32>
    llir.yield %0 : tensor<64x1000xf32>
  }
  return %r : tensor<64x1000xf32>
}

// A transposed read keeps them apart, a short dim takes fewer lanes, and a dim
// of extent 1 has no axis.
// CHECK-LABEL: @transposed
// CHECK: loops<grid(d0, d2:all v8)>
func.func @transposed(%a: tensor<5x1x300xf32>) -> tensor<300x1x5xf32> {
  %r = llir.kernel(%a) : (tensor<5x1x300xf32>) -> tensor<300x1x5xf32> {
  ^bb0(%x: tensor<5x1x300xf32>):
    %0 = llir.view %x <(d0, d1, d2) -> (d2, d1, d0)> : tensor<5x1x300xf32> -> tensor<300x1x5xf32>
    llir.yield %0 : tensor<300x1x5xf32>
  }
  return %r : tensor<300x1x5xf32>
}

// CHECK-LABEL: @softmax
// CHECK: loops<grid(d0*d1) stream(d2:all v16) op0 = pass {lanes = 16, unroll = 2} op3 = keep {result = 0} op4 = pass {lanes = 16, unroll = 2}>
func.func @softmax(%a: tensor<4x3x1000xf32>) -> tensor<4x3x1000xf32> {
  %r = llir.kernel(%a) : (tensor<4x3x1000xf32>) -> tensor<4x3x1000xf32> {
  ^bb0(%x: tensor<4x3x1000xf32>):
    %0 = llir.reduce max %x : tensor<4x3x1000xf32> -> tensor<4x3xf32>
    %1 = llir.view %0 <(d0, d1, d2) -> (d0, d1)> : tensor<4x3xf32> -> tensor<4x3x1000xf32>
    %2 = llir.elementwise sub(%x, %1) : (tensor<4x3x1000xf32>, tensor<4x3x1000xf32>) -> tensor<4x3x1000xf32>
    %3 = llir.elementwise exp(%2) : (tensor<4x3x1000xf32>) -> tensor<4x3x1000xf32>
    %4 = llir.reduce sum %3 : tensor<4x3x1000xf32> -> tensor<4x3xf32>
    %5 = llir.elementwise recip(%4) : (tensor<4x3xf32>) -> tensor<4x3xf32>
    %6 = llir.view %5 <(d0, d1, d2) -> (d0, d1)> : tensor<4x3xf32> -> tensor<4x3x1000xf32>
    %7 = llir.elementwise mul(%3, %6) : (tensor<4x3x1000xf32>, tensor<4x3x1000xf32>) -> tensor<4x3x1000xf32>
    llir.yield %7 : tensor<4x3x1000xf32>
  }
  return %r : tensor<4x3x1000xf32>
}

// Elements of a row far apart: vectors of rows.
// CHECK-LABEL: @across
// CHECK: loops<grid(d0, d1:64 v64) stream(d2:all) op1 = pass {lanes = 1, unroll = 2}>
func.func @across(%a: tensor<3x50x1000xf32>) -> tensor<3x1000xf32> {
  %r = llir.kernel(%a) : (tensor<3x50x1000xf32>) -> tensor<3x1000xf32> {
  ^bb0(%x: tensor<3x50x1000xf32>):
    %0 = llir.view %x <(d0, d1, d2) -> (d0, d2, d1)> : tensor<3x50x1000xf32> -> tensor<3x1000x50xf32>
    %1 = llir.reduce sum %0 : tensor<3x1000x50xf32> -> tensor<3x1000xf32>
    llir.yield %1 : tensor<3x1000xf32>
  }
  return %r : tensor<3x1000xf32>
}

// Windows of an image, contiguous in neither direction: vectors of short rows.
// CHECK-LABEL: @windows
// CHECK: loops<grid(d0, d1:all v16) stream(d2:all) op1 = pass {lanes = 1, unroll = 2}>
// NARROW-LABEL: @windows
// NARROW: loops<grid(d0, d1:all v8) stream(d2:all) op1 = pass {lanes = 1, unroll = 2}>
func.func @windows(%a: tensor<112x112xf32>) -> tensor<55x55xf32> {
  %r = llir.kernel(%a) : (tensor<112x112xf32>) -> tensor<55x55xf32> {
  ^bb0(%x: tensor<112x112xf32>):
    %0 = llir.view %x <(d0, d1, d2) -> (d0 * 2 + d2 floordiv 3, d1 * 2 + d2 mod 3)> : tensor<112x112xf32> -> tensor<55x55x9xf32>
    %1 = llir.reduce max %0 : tensor<55x55x9xf32> -> tensor<55x55xf32>
    llir.yield %1 : tensor<55x55xf32>
  }
  return %r : tensor<55x55xf32>
}

// What follows a sum is no reason to cut it: few results are dot products.
// CHECK-LABEL: @few_results
// CHECK: loops<grid(d1:512) op0 = dot {lanes = 16, rows = 1, width = 8}>
func.func @few_results(%a: tensor<1x512xf32>, %b: tensor<64x512xf32>) -> tensor<1x64xf32> {
  %r = llir.kernel(%a, %b) : (tensor<1x512xf32>, tensor<64x512xf32>) -> tensor<1x64xf32> {
  ^bb0(%x: tensor<1x512xf32>, %y: tensor<64x512xf32>):
    %0 = llir.gemm %x, %y k(512) <(d0, d1, d2) -> (0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<1x512xf32>, tensor<64x512xf32> -> tensor<1x64xf32>
    %1 = llir.elementwise gelu(%0) : (tensor<1x64xf32>) -> tensor<1x64xf32>
    llir.yield %1 : tensor<1x64xf32>
  }
  return %r : tensor<1x64xf32>
}

// CHECK-LABEL: @scatter
// CHECK: loops<grid(d1*d2:1536 v16) op0 = ordered>
func.func @scatter(%a: tensor<9x100x50xf32>, %i: tensor<4xi64>, %u: tensor<4x100x50xf32>) -> tensor<9x100x50xf32> {
  %r = llir.kernel(%a, %i, %u) : (tensor<9x100x50xf32>, tensor<4xi64>, tensor<4x100x50xf32>) -> tensor<9x100x50xf32> {
  ^bb0(%x: tensor<9x100x50xf32>, %j: tensor<4xi64>, %v: tensor<4x100x50xf32>):
    %0 = llir.scatter set %x, %j, %v {checked} : tensor<9x100x50xf32>, tensor<4xi64>, tensor<4x100x50xf32>
    llir.yield %0 : tensor<9x100x50xf32>
  }
  return %r : tensor<9x100x50xf32>
}

// CHECK-LABEL: @kept
// CHECK: loops<grid(d0:2 v2)>
func.func @kept(%a: tensor<64xf32>) -> tensor<64xf32> {
  %r = llir.kernel(%a) loops<grid(d0:2 v2)> : (tensor<64xf32>) -> tensor<64xf32> {
  ^bb0(%x: tensor<64xf32>):
    %0 = llir.elementwise sin(%x) : (tensor<64xf32>) -> tensor<64xf32>
    llir.yield %0 : tensor<64xf32>
  }
  return %r : tensor<64xf32>
}
